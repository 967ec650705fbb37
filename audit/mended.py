"""Outcomes beside or after the first one: the first counts, and a second one is declared, with both digests, or a finding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from audit.context import Context
from audit.difference import Difference
from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.load import parse_json
from audit.logs import open_logs
from audit.registration import Registration, Seal
from audit.verdict import judge
from audit.versions import Version, first_versions, moved_quantities, outcome_versions, pairs, sealed_tolerances


@dataclass(frozen=True)
class Mended:
    """A first outcome, and another one under the same seal."""

    path: str
    first: Version
    other: Version
    how: str
    """In what they differ."""
    expected: str
    observed: str

    @property
    def row(self) -> Difference:
        """As registered and run are compared: the first record's digest and the other's."""
        return Difference(kind="outcome", what=self.path, registered=self.first.sha256[:12], run=self.other.sha256[:12])


def judged_paths(registration: Registration, seal: Seal) -> list[str]:
    """The records that hold the metrics, without frozen ones, which are older than the seal by nature."""
    return sorted({prediction.metric.file for prediction in registration.predictions} - set(seal.origins.values()))


def find_mended(context: Context, name: str, path: str) -> tuple[Mended, ...]:
    """Each committed outcome that differs from a first one beyond tolerance, or gives another verdict; found once a context."""
    known: dict[tuple[str, str], tuple[Mended, ...]] = context.__dict__.setdefault("_mended", {})
    if (name, path) not in known:
        known[name, path] = tuple(_compare(context, context.registrations[name], context.seals[name], path))
    return known[name, path]


def first_outcomes(context: Context, registration: Registration) -> dict[str, tuple[Version, ...]]:
    """File of each metric -> the committed versions that no other came before; of a closed one, only where it was closed with another."""
    seal, outcome = context.seals.get(registration.id), context.outcomes.get(registration.id)
    if seal is None or seal.post_hoc:
        return {}
    found = {path: tuple(first_versions(context, _versions(context, seal, path))) for path in judged_paths(registration, seal)}
    closed = outcome.records if outcome else {}
    return {path: firsts for path, firsts in found.items() if closed.get(path) not in {version.blob for version in firsts}}


def _versions(context: Context, seal: Seal, path: str) -> list[Version]:
    outcome = context.outcomes.get(seal.id)
    logs = open_logs(context, outcome.commit) if outcome else open_logs(context)
    return outcome_versions(context, logs, seal, sha256_bytes(context.bytes_of(context.seal_path(seal.id)) or b""), path)


def _compare(context: Context, registration: Registration, seal: Seal, path: str) -> Iterator[Mended]:
    versions = _versions(context, seal, path)
    sealed = sealed_tolerances(registration, path)
    for first, other in pairs(first_versions(context, versions), versions):
        if moved := moved_quantities(first.record, other.record, sealed):
            how, (before, after) = f"differs in {len(moved)} quantities", (f"{moved[0]} as", moved[0])
            yield Mended(path, first, other, how, f"{before} in blob {first.blob[:10]}, committed first", f"{after} in blob {other.blob[:10]}")
        elif flipped := _flipped(context, registration, seal, path, first, other):
            name, before, after = flipped
            how = f"gives {name} another verdict"
            yield Mended(path, first, other, how, f"{before} by blob {first.blob[:10]}, committed first", f"{after} by blob {other.blob[:10]}")


def _flipped(context: Context, registration: Registration, seal: Seal, path: str, first: Version, other: Version) -> tuple[str, str, str] | None:
    """A prediction to which two versions give other verdicts, however near they are: a record's own tolerance is nobody's registration."""
    predictions = tuple(item for item in registration.predictions if item.metric.file == path and item.metric.tolerance is None)
    about = registration.model_copy(update={"predictions": predictions})

    def verdicts(version: Version) -> dict[str, str]:
        def read(file: str) -> Any:
            return version.record if file == path else parse_json(context.bytes_of(seal.copy_of(file)) or b"", file)

        try:
            return {item.prediction.id: item.verdict for item in judge(about, read)}
        except Refusal:
            return {}

    before, after = verdicts(first), verdicts(other)
    return next(((name, before[name], after[name]) for name in sorted(before.keys() & after.keys()) if before[name] != after[name]), None)
