"""A317: what a run loaded is the project's, Python's, or an installed package's."""

from __future__ import annotations

from collections.abc import Iterator

from audit.config import NAME
from audit.context import Context
from audit.finding import Finding, Severity
from audit.packages import strangers


def check(context: Context) -> Iterator[Finding]:
    """Every run log that names modules of nobody's: a finding under a seal, else a note; `audit.toml` may admit a module by name."""
    for path, log in context.readable_logs.items():
        strange = strangers(log.foreign or (), context.config.foreign)
        if strange:
            weight = Severity.FINDING if log.seals else Severity.NOTE
            observed = strange[0] + (f" and {len(strange) - 1} more" if len(strange) > 1 else "")
            what = "its run loaded code that is neither the project's nor Python's nor in a package's RECORD"
            cure = f"remove it and run again; if it is meant (_virtualenv), name it as foreign in {NAME}"
            yield Finding(code="A317", severity=weight, place=path, what=what, observed=observed, cure=cure)
    admitted = sorted({name for log in context.readable_logs.values() for name in log.foreign or ()} & set(context.config.foreign))
    if admitted:
        what = "admits modules that are neither the project's nor Python's nor a package's"
        yield Finding(code="A317", severity=Severity.NOTE, place=NAME, what=what, observed=", ".join(admitted))


def count(context: Context) -> str:
    """How many run logs say so."""
    return f"{sum(log.foreign is not None for log in context.readable_logs.values())} of {len(context.run_logs)} run logs name what they loaded"
