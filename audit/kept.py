"""What a closed registration keeps once the parameters are those of another one: the files of its outcome, byte for byte."""

from __future__ import annotations

from audit.context import Context
from audit.finding import Refusal
from audit.load import write_bytes
from audit.records import log_path
from audit.registration import Outcome


def kept_outcome(context: Context, name: str) -> Outcome | None:
    """The outcome of a closed registration after which the project moved on to another one; None in an exploratory run, too."""
    registration, outcome = context.registrations.get(name), context.outcomes.get(name)
    if registration is None or outcome is None or context.holds(registration):
        return None
    return outcome if any(context.holds(other) for other in context.registrations.values()) else None


def kept_bytes(context: Context, name: str, path: str) -> bytes | None:
    """The bytes of a record or run log that a closed registration was closed with, or None where it keeps none there."""
    outcome = kept_outcome(context, name)
    blob = {**outcome.records, **outcome.logs}.get(path) if outcome else None
    if outcome is None or blob is None:
        return None
    if context.history.blob_at(outcome.commit, path) != blob:
        what = f"names {path}, which commit {outcome.commit[:10]} does not hold with these bytes"
        raise Refusal(context.outcome_path(name), what, expected=blob[:10], cure=f"git log -- {context.outcome_path(name)}; restore the outcome")
    return context.history.objects.blob(blob)


def is_kept(context: Context, path: str) -> bool:
    """Whether a record here is the verdicts of a closed registration, whose sources have moved on to another one."""
    record = context.records[path]
    name = str(record.get("registration")) if record.get("kind") == "verdicts" else ""
    return kept_bytes(context, name, path) == context.record_bytes[path]


def keep_verdicts(context: Context, name: str, path: str) -> bool:
    """Write the verdicts' record and run log that a closed registration keeps, and say so; False where it is to be evaluated."""
    kept = {place: kept_bytes(context, name, place) for place in (path, log_path(path))}
    if None in kept.values():
        return False
    for place, data in kept.items():
        write_bytes(context.root / place, data or b"")
    outcome = context.outcomes[name]
    shown = ", ".join(f"{prediction} {verdict}" for prediction, verdict in outcome.verdicts.items())
    print(
        f"{name}: closed with {shown}; {path} stays as commit {outcome.commit[:10]} has it ({context.registrations[name].unmet(context.parameters)})"
    )
    return True
