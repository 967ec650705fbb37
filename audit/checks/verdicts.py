"""A309: the verdicts' record says what the registration and the records say."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.evaluate import Verdicts, compute_verdicts, metric_files, read_record
from audit.finding import Finding, Refusal
from audit.records import parse_model


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
    unmet, files = registration.unmet(context.parameters), metric_files(context, registration)
    again = compute_verdicts(registration, stored.provenance, unmet, lambda file: read_record(context, files[file]))
    cure = f"audit evaluate {registration.id} (dvc repro)"
    for said, computed in zip(stored.predictions, again.predictions, strict=False):
        if said != computed:
            place = f"{path}:{said.id}"
            yield Finding(code="A309", place=place, what="the verdict does not follow", expected=computed.verdict, observed=said.verdict, cure=cure)
            return
    if stored != again:
        yield Finding(code="A309", place=path, what="counts, reading or predictions do not follow from the verdicts", cure=cure)
