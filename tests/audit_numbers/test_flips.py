"""This repository's own manuscript with each verdict and each condition flipped: what a reader reads changes, or LaTeX stops."""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from audit.building import build
from audit.checks.verdicts import check as check_verdicts
from audit.context import Context
from audit.denominator import verdict_words
from audit.document import load_document
from audit.pdf import extract_text
from audit.render import Generated, build_definitions, generate, render_template
from audit.reread import State, lines_of, list_moved
from audit.verdict import reading_of

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("met", "missed", "undecided")
LEAST = 6
"""Words of a branch that is looked for in the PDF, and branches that have to be found."""
READ = ("history", "parameters", "pipeline", "record_bytes", "registrations", "run_log_bytes", "run_logs", "seals", "outcomes")
"""What the repository on disk says, whatever its records are changed to in memory."""
KEPT = ("_logs", "_orders")
"""What follows from files and history alone, and takes long."""
PREDICTIONS = "manuscript/tables/predictions.tex.j2"
COPIED = ("audit.toml", "params.yaml", "manuscript", "results", "prereg")


@cache
def honest() -> Context:
    """The repository as it is."""
    return Context.open(ROOT)


@cache
def as_it_is() -> State:
    """What the manuscript prints from the records as they are."""
    return State(honest())


class Flipped(State):
    """What it prints after a flip; of the tables that of the predictions alone, which takes no tenth of the time of all."""

    @cached_property
    def tables(self) -> dict[str, list[str]]:
        """The table of predictions."""
        made = Generated()
        render_template(self.context, self.keys, ROOT / PREDICTIONS, "", made, set())
        return {PREDICTIONS: lines_of(made.files["predictions.tex"])}


def altered(records: dict[str, Any]) -> Context:
    """The repository with other records."""
    made = Context(ROOT, honest().config)
    made.__dict__.update({name: getattr(honest(), name) for name in READ}, records=records, _document=load_document(honest()))
    made.__dict__.update({name: honest().__dict__.setdefault(name, {}) for name in KEPT})
    return made


def verdict_uses() -> list[str]:
    """Every prediction whose verdict the manuscript shows or chooses a sentence by."""
    return sorted({use.key for use in load_document(honest()).uses() if use.command in ("verdict", "ifverdict")})


def flip(flips: dict[str, str]) -> Context:
    """The repository after these predictions (`registration.prediction`) came out so, as the evaluation would have recorded it."""
    records = dict(honest().records)
    for path in {honest().config.records[key.partition(".")[0]] for key in flips}:
        records[path] = copy.deepcopy(records[path])
    for key, word in flips.items():
        registration, _, prediction = key.partition(".")
        record = records[honest().config.records[registration]]
        next(row for row in record["predictions"] if row["id"] == prediction)["verdict"] = word
        given = {row["id"]: row["verdict"] for row in record["predictions"]}
        for name in WORDS:
            record[name]["value"] = sum(verdict == name for verdict in given.values())
        record["reading"] = reading_of(honest().registrations[registration], given) or "none was fixed"
    return altered(records)


def others(key: str) -> list[str]:
    """The verdicts that a prediction did not get."""
    return [word for word in WORDS if word != as_it_is().words[key]]


FLIPS = [(key, word) for key in verdict_uses() for word in others(key)]


def test_the_manuscript_shows_every_verdict_and_binds_sentences() -> None:
    """So that the tests below have something to flip."""
    own = {name: registration for name, registration in honest().registrations.items() if name != "pilot"}  # the pilot stands in the table alone
    assert {f"{name}.{registration.primary}" for name, registration in own.items()} <= set(verdict_uses()) and len(own) == 11
    assert len(FLIPS) == 2 * len(verdict_uses())
    assert any(use.command == "ifverdict" for use in load_document(honest()).uses())


@pytest.mark.parametrize(("key", "word"), FLIPS)
def test_a_flipped_verdict_changes_every_sentence_that_hangs_on_it(key: str, word: str) -> None:
    """Each `\\verdict` and `\\ifverdict` of it reads otherwise, the macro has the word, and the table of predictions its row."""
    before, after = as_it_is(), Flipped(flip({key: word}))
    sentences, _ = list_moved(before, after)
    moved = [sentence for sentence in sentences if any(move.what == key for move in sentence.moved)]
    places = {use.place for use in load_document(honest()).uses() if use.key == key and use.command in ("verdict", "ifverdict")}
    assert len(moved) <= len(places) and moved
    back = {sentence.place: sentence.text for sentence in list_moved(after, before)[0]}
    assert all(back[sentence.place] != sentence.text for sentence in moved)
    definitions = build_definitions(after.context, load_document(after.context), after.keys, set())
    assert_printed(definitions, "\n".join(after.tables[PREDICTIONS]), key, word)


@pytest.mark.parametrize(("key", "word"), FLIPS[:4])
def test_generated_files_are_those_definitions_and_tables(key: str, word: str) -> None:
    """What is looked at above for each flip is what `audit render` and `audit changes` make."""
    after = State(flip({key: word}))
    files = {name: data.decode() for name, data in generate(after.context).files.items()}
    assert build_definitions(after.context, load_document(after.context), after.keys, set()) in files["macros.tex"]
    assert after.tables[PREDICTIONS] == lines_of(files["predictions.tex"].encode()) == Flipped(after.context).tables[PREDICTIONS]
    assert_printed(files["macros.tex"], files["predictions.tex"], key, word)


def assert_printed(macros: str, predictions: str, key: str, word: str) -> None:
    """The macro of a prediction has the word, and its row in the table ends with it."""
    assert rf"\@namedef{{audit@verdict@{key}}}{{{word}}}" in macros
    registration, _, prediction = key.partition(".")
    table = [line for line in rows_of(predictions, registration) if re.match(rf"{prediction}\*? &", line)]
    assert table and table[0].split("\\\\")[0].strip().endswith(word)


def rows_of(table: str, registration: str) -> list[str]:
    """The lines of one registration in the table of predictions."""
    return table.partition(rf"\textbf{{{registration}}}")[2].partition(r"\textbf{")[0].splitlines()


@pytest.mark.parametrize("key", sorted({use.key for use in load_document(honest()).uses() if use.command == "ifverdict"}))
def test_sentences_written_in_advance_differ_by_outcome(key: str) -> None:
    """No two of the three branches say the same, so that every flip is one that a reader sees."""
    scan = load_document(honest()).scans[0]
    for command, _, name, offset, _ in scan.reading.uses:
        if command == "ifverdict" and name == key:
            assert len(set(branches(scan.reading.source, offset))) == 3


def branches(source: str, offset: int) -> list[str]:
    """The three arguments after the one that opens at `offset`, blanks as one."""
    return [" ".join(argument.split()) for argument in read_arguments(source, offset)][1:4]


def read_arguments(source: str, offset: int) -> Iterator[str]:
    """Arguments in braces, one after the other, from a place of the source."""
    for _ in range(4):
        offset = source.index("{", offset)
        depth, end = 1, offset + 1
        while depth:
            depth += {"{": 1, "}": -1}.get(source[end], 0)
            end += 1
        yield source[offset + 1 : end - 1]
        offset = end


def test_the_reading_fixed_in_advance_follows_the_verdicts() -> None:
    """The paragraph below the table of predictions is the registered one for these verdicts, whichever they are."""
    found = {}
    for flips in ({}, {"pilot.P1": "met"}, {"pilot.P1": "met", "pilot.P3": "missed"}, {"pilot.P3": "missed"}):
        table = "\n".join(rows_of("\n".join(Flipped(flip(flips)).tables[PREDICTIONS]), "pilot"))
        found[str(flips)] = re.search(r"Reading fixed in advance\.\} (.*)\} \\\\", table)[1]  # type: ignore[index]
    texts = {reading.text for reading in honest().registrations["pilot"].readings}
    assert set(found.values()) == texts and len(found) == len(texts)


@pytest.mark.parametrize(("key", "word"), FLIPS[:4])
def test_a_verdict_flipped_by_hand_is_found(key: str, word: str) -> None:
    """The audit judges again: nobody flips a verdict's record and keeps it."""
    assert any(finding.code == "A309" for finding in check_verdicts(flip({key: word})))
    assert not any(finding.code == "A309" for finding in check_verdicts(honest()))


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the manuscript and what it is made from, to build in."""
    for name in COPIED:
        source, target = ROOT / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("generated", "*.pdf.tmp", "states"))
        else:
            shutil.copy(source, target)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typeset(root: Path, generated: Generated) -> str:
    """The text of the PDF from these generated files, blanks as one and without hyphens at line ends; LaTeX goes on from the pages before."""
    folder, out = root / "manuscript/generated", root / "out"
    folder.mkdir(exist_ok=True)
    for name, data in generated.files.items():
        (folder / name).write_bytes(data)
    out.mkdir(exist_ok=True)
    build(Context.open(root), out)
    text = extract_text(out / "paper.pdf")
    return " ".join(text.replace("-\n", "").split())


def test_the_text_of_the_pdf_follows_the_verdicts(elsewhere: Path) -> None:
    """All verdicts flipped, once to each of the other two: every branch of the sentences written in advance is printed once, and only then."""
    states = [honest(), *(flip({key: others(key)[number] for key in verdict_uses()}) for number in (0, 1))]
    assert len({frozenset(generate(state).files) for state in states}) == 1
    texts = [(verdict_words(state), typeset(elsewhere, generate(state)).replace("-", "")) for state in states]
    scan, seen = load_document(honest()).scans[0], 0
    chosen = [(key, branches(scan.reading.source, offset)) for command, _, key, offset, _ in scan.reading.uses if command == "ifverdict"]
    nests = [branch for _, own in chosen for branch in own if "\\ifverdict" in branch]
    for key, own in chosen:
        for word, branch in zip(WORDS, own, strict=True):
            plain = branch.replace("--", "–").replace("'", "’")
            if "\\" in plain or len(plain.split()) < LEAST or any(branch in nest for nest in nests):
                continue  # holds values or mathematics, is too short to stand in one place only, or hangs on another verdict too
            seen += 1
            words = plain.replace("-", "").split()
            for given, text in texts:
                printed = " ".join(words) in text
                wanted = given[key] == word
                assert printed == wanted or (wanted and is_cut(words, text)), (key, word, plain)
    assert seen >= LEAST


def is_cut(words: list[str], text: str) -> bool:
    """Whether the words stand in a text with the end of a page somewhere between them: its number, and what floats above or below the text."""
    pairs = ((" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words)))
    return any(re.search(rf"{re.escape(head)} (?:.{{0,4000}} )??\d+ (?:.{{0,4000}} )??{re.escape(tail)}", text) for head, tail in pairs)
