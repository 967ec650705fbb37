"""A209: the times that a run log gives are plausible; only ever a note, since no date decides anything."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from audit.context import Context
from audit.finding import Finding, Refusal, Severity
from audit.records import RunLog


def check(context: Context) -> Iterator[Finding]:
    """Every readable run log of the working tree."""
    for path, log in context.run_logs.items():
        if not isinstance(log, Refusal):
            yield from _implausible(context, path, log)


def _implausible(context: Context, path: str, log: RunLog) -> Iterator[Finding]:
    start, end = _read(log.started), _read(log.ended)
    if start is None or end is None:
        observed = log.started if start is None else log.ended
        yield _note(path, "gives a time that is none", "a date with its time zone", observed)
        return
    if end < start:
        yield _note(path, "ends before it starts", f"an end after {log.started}", log.ended)
    if context.history.knows(log.commit) and start < context.history.date(log.commit):
        made = _show(context.history.date(log.commit))
        yield _note(path, "starts before the commit it says it started from was made", f"a start after {made}", log.started)


def _read(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _show(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):  # git takes dates that no calendar has
        return f"{seconds} seconds after 1970"


def _note(path: str, what: str, expected: str, observed: str) -> Finding:
    cure = "look whether a clock was wrong; dates decide nothing here"
    return Finding(code="A209", severity=Severity.NOTE, place=path, what=what, expected=expected, observed=observed, cure=cure)
