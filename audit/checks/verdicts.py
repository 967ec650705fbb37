"""A309, A316: the verdicts' record says what the registration and the records say, and what the first outcome was."""

from __future__ import annotations

from collections.abc import Iterator

from audit.chain import standing_amendments
from audit.context import Context
from audit.evaluate import AmendedVerdict, Verdicts, compute_verdicts, files_read, read_record
from audit.finding import Finding, Refusal, Severity
from audit.records import Quantity, parse_model


def check(context: Context) -> Iterator[Finding]:
    """Every verdicts' record, judged again from its files."""
    for path, record in context.records.items():
        if record.get("kind") == "verdicts":
            try:
                yield from _again(context, path, parse_model(Verdicts, record, path))
            except Refusal as refusal:
                yield Finding(code="A309", place=path, what=f"cannot be judged again: {refusal}")


def count(context: Context) -> str:
    """How many verdicts."""
    records = [record.get("predictions") for record in context.records.values() if record.get("kind") == "verdicts"]
    return f"{sum(len(predictions) for predictions in records if isinstance(predictions, list))} verdicts"


def _again(context: Context, path: str, stored: Verdicts) -> Iterator[Finding]:
    registration = context.registrations.get(stored.registration)
    if registration is None:
        yield Finding(code="A309", place=path, what=f"judges {stored.registration}, which is no registration here")
        return
    seal, links = context.seals.get(registration.id), standing_amendments(context, registration.id)
    unmet, files = registration.unmet(context.parameters), files_read(context, registration, links)
    again = compute_verdicts(registration, stored.provenance, unmet, lambda file: read_record(context, files[file]), seal, links)
    if seal is None:  # A103: nobody knows its warnings
        again = again.model_copy(update={"warnings": stored.warnings})
    cure = f"audit evaluate {registration.id} (dvc repro{' --force' if links else ''})"
    for said, computed in zip(stored.predictions, again.predictions, strict=False):
        moved = [name for name in type(said).model_fields if getattr(said, name) != getattr(computed, name)]
        if moved:
            name = "verdict" if "verdict" in moved else moved[0]
            expected, observed = (show(getattr(row, name)) for row in (computed, said))
            if expected == observed:
                name, expected, observed = f"{name} (unit, printed form or values per unit)", "", ""
            what = f"the {name.replace('amended', 'amended verdict')} does not follow"
            yield Finding(code="A309", place=f"{path}:{said.id}", what=what, expected=expected, observed=observed, cure=cure)
            return
    yield from _first_outcome(context, path, stored)
    if stored != again:
        yield Finding(code="A309", place=path, what="counts, reading, predictions or amendments do not follow from the verdicts", cure=cure)


def show(value: object) -> str:
    """A field of a verdict, short enough for a line."""
    if isinstance(value, AmendedVerdict):
        return f"{value.verdict} by amendment {value.number}, sealed {value.sealed}"
    return str(value.value) if isinstance(value, Quantity) else str(value)[:60]


def _first_outcome(context: Context, path: str, stored: Verdicts) -> Iterator[Finding]:
    """The first outcome is the one that counts: a later run of a closed registration may not report another verdict."""
    outcome = context.outcomes.get(stored.registration)
    if outcome is None or not stored.evaluated:
        return
    history, data = context.history, context.record_bytes[path]
    committed = history.bytes_at(history.head, path) == data
    for row in stored.predictions:
        first = outcome.verdicts.get(row.id)
        if first is not None and first != row.verdict:
            yield Finding(
                code="A316", severity=Severity.FINDING if committed else Severity.NOTE, place=f"{path}:{row.id}",
                what="a later run gives another verdict than the closed outcome", expected=first, observed=row.verdict,
                cure=f"report the first: restore {path} from commit {outcome.commit[:10]}",
            )  # fmt: skip
