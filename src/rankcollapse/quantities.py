"""Per-unit values as quantities: the summary, the printed digits, and the tolerance of a trained value."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Literal

from audit.records import Quantity
from rankcollapse.params import Scale

SUMMARIES = {"median": median, "mean": fmean, "min": min, "max": max, "sum": sum}


def trained(
    values: Sequence[float],
    scale: Scale,
    summary: Literal["median", "mean", "min", "max", "sum"] = "median",
    *,
    digits: int,
    unit: str = "1",
    style: Literal["fixed", "scientific", "integer", "percent"] = "fixed",
) -> Quantity:
    """A summary of values that come from training: it agrees within the declared share of the range between its units."""
    tolerance = scale.rules.tolerance * (max(values) - min(values))
    return Quantity(
        value=SUMMARIES[summary](values), unit=unit, digits=digits, style=style, tolerance=tolerance, summary=summary, values=tuple(values)
    )


def exact(value: float | int, *, digits: int = 0, unit: str = "1") -> Quantity:
    """A value that is set, not measured."""
    return Quantity(value=value, unit=unit, digits=digits, style="fixed" if digits else "integer", tolerance=0.0)


def count(flags: Sequence[bool]) -> Quantity:
    """How many units a condition holds for; a flip is never within tolerance."""
    return Quantity(value=sum(map(bool, flags)), digits=0, style="integer", tolerance=0.0, summary="count", values=tuple(int(flag) for flag in flags))
