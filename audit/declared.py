"""What a project declares of how its runs differ from what was registered: `prereg/<id>.deviations.yaml`."""

from __future__ import annotations

from audit.context import Context
from audit.difference import Declared, Difference, parse_declared
from audit.finding import Refusal


def deviations_path(context: Context, name: str) -> str:
    """Where the deviations of a registration are declared."""
    return f"{context.config.paths.prereg}/{name}.deviations.yaml"


def read_declared(context: Context, name: str) -> tuple[Declared, ...]:
    """What the working tree declares for a registration; () where it declares nothing."""
    path = deviations_path(context, name)
    data = context.bytes_of(path)
    return () if data is None else parse_declared(data, path)


def declared_outcomes(context: Context, name: str) -> tuple[Declared, ...]:
    """The declared deviations that name two outcomes; () where the file declares nothing (A120 says so)."""
    try:
        return tuple(entry for entry in read_declared(context, name) if entry.kind == "outcome")
    except Refusal:
        return ()


def give_reasons(rows: tuple[Difference, ...], declared: tuple[Declared, ...]) -> tuple[Difference, ...]:
    """Each difference with the reason of the first entry that declares it."""
    reasons = {row: next((entry.why for entry in declared if entry.covers(row)), None) for row in rows}
    return tuple(row.model_copy(update={"why": why}) for row, why in reasons.items())
