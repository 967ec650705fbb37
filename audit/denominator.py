"""The denominator: every sealed registration that history holds, what became of it, and the counts over all of them."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from audit.chance import Chance, registered_chance
from audit.config import NAME
from audit.context import Context
from audit.document import Document, load_document
from audit.finding import Refusal
from audit.load import parse_json
from audit.logs import open_logs
from audit.registration import ID, Prediction, Registration, Seal, parse_registration, parse_seal, seed_counts

__all__ = ["Registered", "State", "count_all", "expect_met", "phrase", "read_reasons", "registered", "verdict_records", "verdict_words"]

VERDICTS = ("met", "missed", "undecided")
WORD = re.compile(r"[^\W\d_]{2,}")


class State(StrEnum):
    """What became of a sealed registration."""

    JUDGED = "judged"
    PARTLY = "run, not judged"
    PASSED = "not run, and one sealed after it was judged"
    WAITING = "not run yet"
    ELSEWHERE = "not run, not for these parameters"
    DROPPED = "sealed, gone from the tree"


@dataclass(frozen=True)
class Registered:
    """A sealed registration, in the tree or in history alone, with its verdicts."""

    id: str
    registration: Registration
    """As the tree has it, or, where it was dropped, as the commit that brought the seal had it."""
    seal: Seal
    verdicts: Mapping[str, str]
    """Prediction -> met, missed or undecided; empty where it was not judged."""
    state: State
    sets: Mapping[str, int] = field(default_factory=dict)
    """Seeds by set, of the registration whose seal gives them."""

    def chance_of(self, prediction: Prediction) -> Chance | None:
        """The chance of one of its predictions under its null, over the units it is about."""
        return registered_chance(self.registration, prediction, self.sets)


def registered(context: Context) -> dict[str, Registered]:
    """Every registration that was ever sealed, by id, once a context; an unreadable one is a finding of other checks."""
    if "_registered" not in context.__dict__:
        read = (read_sealed(context, name, path) for name, path in sealed_paths(context).items())
        sealed = [found for found in read if found is not None]
        judged = {registration.id: read_verdicts(context, registration) for registration, _, _ in sealed}
        owners = {registration.id: registration for registration, _, _ in sealed}
        passed = {earlier for registration, seal, _ in sealed if judged[registration.id] for earlier in seal.ledger}
        context.__dict__["_registered"] = {
            registration.id: Registered(
                registration.id, registration, seal, judged[registration.id],
                state_of(context, registration, judged[registration.id], dropped=dropped, passed=registration.id in passed),
                seed_counts(registration, owners),
            )
            for registration, seal, dropped in sealed
        }  # fmt: skip
    made: dict[str, Registered] = context.__dict__["_registered"]
    return made


def state_of(context: Context, registration: Registration, verdicts: Mapping[str, str], *, dropped: bool, passed: bool) -> State:
    """What became of a registration with these verdicts."""
    if dropped:
        return State.DROPPED
    if verdicts:
        return State.JUDGED
    if has_run(context, registration.id):
        return State.PARTLY
    if passed:
        return State.PASSED
    return State.WAITING if context.holds(registration) else State.ELSEWHERE


def sealed_paths(context: Context) -> dict[str, str]:
    """Id -> path of every seal that was ever committed; those of the working tree where there is no history to ask."""
    try:
        paths = [path for folder in registration_folders(context) for path in context.history.paths_ever(folder, ".seal.json")]
    except Refusal:
        return {name: context.seal_path(name) for name in sorted(context.seals)}
    found: dict[str, str] = {}
    for path in paths:
        found.setdefault(path.rpartition("/")[2].removesuffix(".seal.json"), path)
    return {name: found[name] for name in sorted(found) if ID.fullmatch(name)}


def registration_folders(context: Context) -> list[str]:
    """The folder of registrations, and those that an earlier `audit.toml` named: a configuration cannot leave one out."""
    folders = {context.config.paths.prereg: None}
    for blob in context.history.versions(NAME):
        try:
            named = tomllib.loads(context.history.objects.blob(blob).decode()).get("paths", {}).get("prereg", "prereg")
        except (ValueError, AttributeError):
            continue
        folders[str(named)] = None
    return list(folders)


def read_sealed(context: Context, name: str, path: str) -> tuple[Registration, Seal, bool] | None:
    """Registration and seal, and whether they were dropped from the tree; None where they cannot be read."""
    here = context.seal_path(name) == path and (context.root / path).exists()
    if here and (context.root / f"{context.config.paths.prereg}/{name}.yaml").exists():
        registration, seal = context.registrations.get(name), context.seals.get(name)
        return (registration, seal, False) if registration and seal else None
    try:
        return (*read_buried(context, path), True)
    except Refusal:
        return None


def read_buried(context: Context, path: str) -> tuple[Registration, Seal]:
    """Registration and seal as the commit that brought the seal held them."""
    history = context.history
    for blob in history.versions(path):
        seal = parse_seal(history.objects.blob(blob), path)
        for commit in history.introductions(blob):
            text = history.bytes_at(commit, seal.registration)
            if text is not None:
                return parse_registration(text, seal.registration), seal
    raise Refusal(path, "no commit holds the seal together with its registration")


def has_run(context: Context, name: str) -> bool:
    """Whether any run log of the history or the working tree, or any record that is here, names the seal of the registration."""
    if any(name in said.seals for said in context.provenance.values()):
        return True
    try:
        return open_logs(context).any_under(name)
    except Refusal:
        return False


def verdict_records(context: Context) -> dict[str, tuple[str, dict[str, Any]]]:
    """Registration id -> path and plain record of its verdicts; looked for once a context."""
    if "_verdicts" not in context.__dict__:
        context.__dict__["_verdicts"] = {
            str(record.get("registration")): (path, record)
            for path, record in context.records.items()
            if record.get("kind") == "verdicts" and isinstance(record.get("predictions"), list)
        }
    found: dict[str, tuple[str, dict[str, Any]]] = context.__dict__["_verdicts"]
    return found


def verdict_words(context: Context) -> dict[str, str]:
    """`registration.prediction` -> met, missed, undecided (each `(post hoc)` where it was sealed after its outcome), or not evaluated here."""
    rows = ((name, row) for name, (_, record) in verdict_records(context).items() for row in record["predictions"])
    return {f"{name}.{row['id']}": f"{row['verdict']}{' (post hoc)' if row.get('post_hoc') and row['verdict'] in VERDICTS else ''}" for name, row in rows}


def read_verdicts(context: Context, registration: Registration) -> dict[str, str]:
    """The verdicts of a registration: of its closed outcome, else of its verdicts' record here, else of the committed one; {} if any lacks."""
    outcome = context.outcomes.get(registration.id)
    if outcome is not None:
        return dict(outcome.verdicts)
    path, record = verdict_records(context).get(registration.id, (context.verdicts_path(registration.id), {}))
    found = words_of(record) or words_of(committed_record(context, path))
    return found if found.keys() >= {prediction.id for prediction in registration.predictions} else {}


def words_of(record: Any) -> dict[str, str]:
    """Prediction -> verdict of a plain verdicts' record, without what was not evaluated."""
    rows = record.get("predictions") if isinstance(record, dict) else None
    plain = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {str(row.get("id")): str(row["verdict"]) for row in plain if row.get("verdict") in VERDICTS}


def committed_record(context: Context, path: str) -> Any:
    """A record as HEAD holds it, or None."""
    try:
        data = context.history.bytes_at(context.history.head, path)
        return None if data is None else parse_json(data, path)
    except Refusal:
        return None


def count_all(entries: Iterable[Registered]) -> dict[str, int]:
    """Predictions by verdict over registrations; those without one are `unjudged`, those sealed after their outcome `post_hoc` whatever they
    came to, all together are `registered`."""
    found: Counter[str] = Counter()
    for entry in entries:
        given = (entry.verdicts.get(prediction.id, "unjudged") for prediction in entry.registration.predictions)
        found.update("post_hoc" if entry.seal.post_hoc and verdict in VERDICTS else verdict for verdict in given)
    return {**{name: found[name] for name in (*VERDICTS, "unjudged", "post_hoc")}, "registered": found.total()}


def expect_met(entries: Iterable[Registered]) -> tuple[Fraction, int]:
    """How many predictions chance would meet on average, each under its own null, and of how many a chance is known; post hoc ones never count.

    Expectations add up whether or not predictions depend on each other. One that is undecided cannot be met, so that this is an upper bound.
    """
    rows = [(entry, prediction) for entry in entries if not entry.seal.post_hoc for prediction in entry.registration.predictions]
    known = [chance.value for entry, prediction in rows if (chance := entry.chance_of(prediction)) is not None]
    return sum(known, Fraction(0)), len(known)


def phrase(counts: Mapping[str, int]) -> str:
    """`k met, m missed, u undecided of n registered`, and how many of these have no verdict."""
    unjudged = f", {counts['unjudged']} not judged" if counts["unjudged"] else ""
    unjudged += f", {counts['post_hoc']} post hoc" if counts["post_hoc"] else ""
    return f"{counts['met']} met, {counts['missed']} missed, {counts['undecided']} undecided{unjudged} of {counts['registered']} registered"


def read_reasons(context: Context) -> dict[str, str]:
    """Registration -> the reason that the document gives with `\\unjudged{registration}{reason}` where LaTeX typesets it."""
    return find_reasons(load_document(context))


def find_reasons(document: Document) -> dict[str, str]:
    """The reasons of a document; "" where there are no words in the second argument."""
    found = {}
    for scan in document.scans:
        for command, _, key, offset, _ in scan.reading.uses:
            if command == "unjudged" and offset not in scan.reading.optional:
                found[key] = second_argument(scan.reading.source, offset)
    return found


def second_argument(source: str, offset: int) -> str:
    """The text of the argument after the one that opens at `offset`, blanks as one; "" where it holds no word."""
    text = re.sub(r"(?<!\\)%[^\n]*\n", "", source[offset : offset + 4000])
    body = re.match(r"\{[^{}]*\}\s*\{", text)
    if body is None:
        return ""
    depth, end = 1, body.end()
    while end < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    words = " ".join(text[body.end() : end - 1].split())
    return words if WORD.search(re.sub(r"\\[A-Za-z@]+", "", words)) else ""
