"""A309, A316: the verdicts' record says what the registration and the records say, and what the first outcome was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from audit.chain import standing_amendments
from audit.context import Context
from audit.evaluate import files_read, read_record
from audit.finding import Finding, Refusal, Severity
from audit.judged import AmendedVerdict, PredictionVerdict, Verdicts, compute_verdicts
from audit.kept import kept_bytes, kept_outcome
from audit.mended import first_outcomes
from audit.records import Quantity, parse_model
from audit.registration import Registration
from audit.versions import Version


def check(context: Context) -> Iterator[Finding]:
    """Every verdicts' record, judged again from its files; what a closed registration keeps, from the files it was closed with."""
    for path, record in context.records.items():
        if record.get("kind") == "verdicts":
            try:
                if (lost := _not_kept(context, path, str(record.get("registration")))) is not None:
                    yield lost
                    continue
                yield from _again(context, path, parse_model(Verdicts, record, path))
            except Refusal as refusal:
                closed = str(record.get("registration")) in context.outcomes  # whose records lie in history
                severity = Severity.UNCHECKED if closed and context.lacks_history() else Severity.FINDING
                yield Finding(code="A309", severity=severity, place=path, what=f"cannot be judged again: {refusal}")


def count(context: Context) -> str:
    """How many verdicts."""
    records = [record.get("predictions") for record in context.records.values() if record.get("kind") == "verdicts"]
    return f"{sum(len(predictions) for predictions in records if isinstance(predictions, list))} verdicts"


def _not_kept(context: Context, path: str, name: str) -> Finding | None:
    """The finding that a closed registration is shown otherwise than it was closed, now that the parameters are those of another one."""
    kept = kept_bytes(context, name, path)
    if kept is None or kept == context.record_bytes[path]:
        return None
    words = ", ".join(f"{prediction} {verdict}" for prediction, verdict in context.outcomes[name].verdicts.items())
    what = f"is not the record that {name} was closed with, and the parameters are now those of another registration"
    return Finding(code="A309", place=path, what=what, expected=words, cure=context.judging(name, amended=True))


def _again(context: Context, path: str, stored: Verdicts) -> Iterator[Finding]:
    registration = context.registrations.get(stored.registration)
    if registration is None:
        yield Finding(code="A309", place=path, what=f"judges {stored.registration}, which is no registration here")
        return
    seal, links = context.seals.get(registration.id), standing_amendments(context, registration.id)
    unmet, files = registration.unmet(context.parameters), files_read(context, registration, links)
    outcome = kept_outcome(context, registration.id) if kept_bytes(context, registration.id, path) else None
    commit = outcome.commit if outcome else None
    firsts = _firsts(context, registration)
    if firsts is None and any(row.later for row in stored.predictions):
        return  # the order check says that history cannot be read
    again = compute_verdicts(
        registration, stored.provenance, None if outcome else unmet, lambda file: read_record(context, files[file], commit), seal, links,
        firsts,
    )  # fmt: skip
    if outcome:  # its form may be an older one
        again = _in_form_of(stored, again)
    if seal is None:  # A103: nobody knows its warnings
        again = again.model_copy(update={"warnings": stored.warnings})
    cure = context.judging(registration.id, amended=bool(links))
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


def _firsts(context: Context, registration: Registration) -> Mapping[str, tuple[Version, ...]] | None:
    """The first outcomes by file; None where there is no whole history to find them in."""
    try:
        return first_outcomes(context, registration)
    except Refusal:
        return None


def _in_form_of(stored: Verdicts, again: Verdicts) -> Verdicts:
    """What was judged again, with those fields only that the stored record has, too."""
    left_out = {name: None for name in Verdicts.model_fields if name not in stored.model_fields_set}
    rows = {row.id: [name for name in PredictionVerdict.model_fields if name not in row.model_fields_set] for row in stored.predictions}
    predictions = tuple(row.model_copy(update=dict.fromkeys(rows.get(row.id, ()))) for row in again.predictions)
    return again.model_copy(update={**left_out, "version": again.version, "kind": again.kind, "predictions": predictions})


def show(value: object) -> str:
    """A field of a verdict, short enough for a line."""
    if isinstance(value, AmendedVerdict):
        return f"{value.verdict} by amendment {value.number}, sealed {value.sealed}"
    return str(value.value) if isinstance(value, Quantity) else str(value)[:60]


def _first_outcome(context: Context, path: str, stored: Verdicts) -> Iterator[Finding]:
    """The first outcome is the one that counts: a later run of a closed registration may not report another verdict."""
    outcome = context.outcomes.get(stored.registration)
    if outcome is None:
        return
    if not stored.evaluated:
        expected = ", ".join(f"{name} {verdict}" for name, verdict in outcome.verdicts.items())
        what, cure = "was closed, and is shown as not evaluated here", "report its outcome"
        severity = Severity.FINDING if kept_outcome(context, stored.registration) else Severity.NOTE  # a note in an exploratory run
        yield Finding(code="A316", severity=severity, place=path, what=what, expected=expected, cure=cure)
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
