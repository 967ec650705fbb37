"""The command `audit changes`: which sentences to read again because a value, verdict or claim in them moved between two commits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from audit.claims import find_claims
from audit.compare import committed, files_at, resolve
from audit.context import Context
from audit.denominator import verdict_words
from audit.document import load_document, template_paths
from audit.finding import Refusal, escape, several
from audit.load import parse_json
from audit.numbers.format import format_quantity
from audit.numbers.keys import Keys
from audit.numbers.scan import Scan
from audit.prose import Prose
from audit.provenance import provenance_values
from audit.records import RunLog, parse_model
from audit.render import MACROS, Generated, render_template

__all__ = ["Move", "Sentence", "list_moved", "main"]

HERE = "the working tree"
NOTHING = "nothing"


@dataclass(frozen=True)
class Move:
    """One thing that prints otherwise now."""

    what: str
    """The key, the prediction, or the condition of a claim."""
    before: str
    after: str


@dataclass(frozen=True)
class Sentence:
    """A sentence to read again, or a table."""

    place: str
    text: str
    """With `[before -> after]` where something moved; for a table how many lines differ."""
    moved: tuple[Move, ...]


class State:
    """What the manuscript of the working tree prints from the records of one state of the history."""

    def __init__(self, context: Context):
        self.context, self.keys, self.words = context, Keys.of(context), verdict_words(context)
        self._shown: dict[tuple[str, str, str], str] = {}

    @cached_property
    def provenance(self) -> dict[str, str]:
        """The values of `\\prov`."""
        return provenance_values(self.context)

    @cached_property
    def claims(self) -> dict[str, str]:
        """Condition -> whether it holds."""
        words = {True: "holds", False: "does not hold", None: "not evaluated here"}
        return {claim.use.key: "cannot be read" if claim.fault else words[claim.truth] for claim in find_claims(self.context)}

    def shown(self, command: str, option: str, key: str) -> str:
        """What a use prints, or the verdict that chooses its branch, or whether its claim holds; computed once a use."""
        use = command, option, key
        if use not in self._shown:
            self._shown[use] = self._show(*use)
        return self._shown[use]

    def _show(self, command: str, option: str, key: str) -> str:
        if command == "val":
            try:
                return format_quantity(self.keys.resolve(key, ""), option)
            except Refusal:
                return NOTHING
        if command in ("verdict", "ifverdict"):
            return self.words.get(key, NOTHING)
        if command == "prov":
            return self.provenance.get(key, NOTHING)
        return self.claims.get(key, NOTHING) if command == "claim" else key

    @cached_property
    def tables(self) -> dict[str, list[str]]:
        """Template -> the lines that it gives."""
        found = {}
        for path in template_paths(self.context):
            made = Generated()
            with suppress(Refusal):  # a table that does not render is A408, or came later than these records
                render_template(self.context, self.keys, path, "", made, set())
            found |= {path.relative_to(self.context.root).as_posix(): lines_of(data) for name, data in made.files.items() if name != MACROS}
        return found


def lines_of(generated: bytes) -> list[str]:
    """The lines of a generated file below its header."""
    return [line for line in generated.decode().splitlines() if not line.startswith("% ")]


def context_at(context: Context, revision: str) -> Context:
    """The project with the records, run logs and parameters of a commit, and everything else as it is here."""
    records, parameters = committed(context, revision)
    if not records:
        raise Refusal(revision, "holds no records", cure="name a commit that holds results")
    history, commit, logs = context.history, resolve(context, revision), {}
    for path in files_at(history, commit, context.config.paths.results):
        if path.endswith(".run.json"):
            with suppress(Refusal):
                logs[path] = parse_model(RunLog, parse_json(history.bytes_at(commit, path) or b"", path), path)
    other = Context(context.root, context.config)
    other.__dict__.update(records=records, run_logs=logs, parameters=parameters, history=history, _document=load_document(context))
    return other


def last_other(context: Context) -> str | None:
    """The newest commit, from HEAD along first parents, in which a record that the manuscript can cite differs from the one here."""
    history, commit = context.history, context.history.head
    here = {path: None if (data := context.bytes_of(path)) is None else history.blob_id(data) for path in context.config.records.values()}
    while all(history.blob_at(commit, path) == blob for path, blob in here.items()):
        parents = history.log.parents.get(commit, ())
        if not parents or parents[0] not in history.log.parents:
            return None
        commit = parents[0]
    return commit


def list_moved(before: State, after: State) -> tuple[list[Sentence], int]:
    """The sentences and tables in which something prints otherwise, and how many cited values moved and print as before."""
    scans = load_document(after.context).all
    sentences = [sentence for scan in scans for sentence in moved_in(scan, before, after)]
    then, now = before.tables, after.tables
    for place in sorted(then.keys() & now.keys()):
        gone, new = Counter(then[place]) - Counter(now[place]), Counter(now[place]) - Counter(then[place])
        if count := max(gone.total(), new.total()):
            sentences.append(Sentence(place, f"the table it makes differs in {several(count, 'line')}", ()))
    cited = {use.key for use in load_document(after.context).uses() if use.command == "val"}
    other = {key for key in cited if before.keys.quantities.get(key) != after.keys.quantities.get(key)}
    return sentences, len(other - {move.what for sentence in sentences for move in sentence.moved})


def moved_in(scan: Scan, before: State, after: State) -> Iterator[Sentence]:
    """The sentences of one source in which something prints otherwise."""
    prose, uses = Prose(scan), scan.reading.uses
    pairs = [(before.shown(*use[:3]), after.shown(*use[:3])) for use in uses]
    found: dict[tuple[int, int], list[int]] = {}
    for number, (old, new) in enumerate(pairs):
        if old != new:
            found.setdefault(prose.sentence(uses[number][3]), []).append(number)

    def prints(number: int) -> str:
        old, new = pairs[number]
        return new if old == new or uses[number][0] == "ifverdict" else f"[{old} -> {new}]"

    for (start, end), numbers in sorted(found.items()):
        moves = dict.fromkeys(Move(uses[number][2], *pairs[number]) for number in numbers)
        yield Sentence(scan.place(uses[numbers[0]][3]), prose.spell(start, end, prints), tuple(moves))


def main(first: str | None, second: str | None, form: str) -> None:
    """List what to read again; by default since the last commit with other values of the cited records."""
    context = Context.open()
    if load_document(context).main is None:
        raise Refusal(context.config.paths.manuscript, "no manuscript", cure="write it, or name it in audit.toml under [paths]")
    start = last_other(context) if first is None else first
    end = HERE if second is None else resolve(context, second)[:10]
    sentences: list[Sentence] = []
    same = 0
    if start is not None:
        before, after = State(context_at(context, start)), State(context if second is None else context_at(context, second))
        start = resolve(context, start)[:10]
        sentences, same = list_moved(before, after)
    for line in [as_json(start, end, sentences, same)] if form == "json" else as_text(start, end, sentences, same):
        print(line)


def as_text(start: str | None, end: str, sentences: list[Sentence], same: int) -> Iterator[str]:
    """One line a sentence, one indented line for what moved in it, and the sum."""
    if start is None:
        yield "no commit holds other values of the records that the manuscript can cite"
        return
    for sentence in sentences:
        yield escape(f"{sentence.place}: {sentence.text}")
        yield from (escape(f"    {move.what}: {move.before} -> {move.after}") for move in sentence.moved)
    yield f"{several(len(sentences), 'place')} to read again from {start} to {end}; {several(same, 'cited value')} moved and print as before"


def as_json(start: str | None, end: str, sentences: list[Sentence], same: int) -> str:
    """The same as one JSON object."""
    shown: dict[str, Any] = {"kind": "reread", "version": 1, "from": start, "to": end, "sentences": [asdict(sentence) for sentence in sentences]}
    return json.dumps({**shown, "moved_and_print_as_before": same}, indent=1, ensure_ascii=False)
