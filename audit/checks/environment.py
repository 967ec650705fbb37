"""A319: no variable of the environment brought code from elsewhere into a run."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.environment import injected
from audit.finding import Finding, Severity


def check(context: Context) -> Iterator[Finding]:
    """Every run log that shows its environment: a finding under a seal, else, or where `audit.toml` admits the variable as foreign, a note."""
    for path, log in context.readable_logs.items():
        names = injected(log.environment or {})
        if names:
            weight = Severity.FINDING if log.seals and set(names) - set(context.config.foreign) else Severity.NOTE
            what = "its run started with code from outside the project brought in by its environment"
            cure = f"unset {' '.join(names)}, run again"
            yield Finding(code="A319", severity=weight, place=path, what=what, observed=", ".join(names), cure=cure)


def count(context: Context) -> str:
    """How many run logs show it."""
    return f"{sum(log.environment is not None for log in context.readable_logs.values())} of {len(context.run_logs)} run logs show it"
