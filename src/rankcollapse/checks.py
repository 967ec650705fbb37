"""What calibration tries on its own collapses: whether they stay, whether the hinge differs by where and how much, and the weak skip scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from rankcollapse.engine import Run
from rankcollapse.treatments import Added, Site, pushed, switched, untreated


def check_losses(site: Site, depth: int) -> list[Run]:
    """The untreated copy, and the hinge on every block, on the last one alone, and at ten times the matched loss (source paper, appendix A)."""
    once, tenfold = Added("hinge", 1), Added("hinge", 10)
    return [
        untreated(site),
        pushed(site, "check_every", once),
        replace(pushed(site, "check_last", once), blocks=(depth - 1,)),
        pushed(site, "check_tenfold", tenfold),
    ]


def try_scales(site: Site, scales: Sequence[float]) -> list[Run]:
    """A switch to each scale of the grid, for as long as the weak switch will be followed."""
    return [switched(site, name_scale(skip), skip) for skip in scales]


def name_scale(skip: float) -> str:
    """The arm of a scale of the grid."""
    return f"weak_{skip:g}"


def choose_weak(effective: Mapping[float, Sequence[bool]]) -> float:
    """The scale of the grid at which the share of collapses that recover effectively is nearest a half; ties go to the smaller scale.

    A rank wanders in a collapse and may come back alone for a while: it cannot choose a scale.
    """
    return min(sorted(effective), key=lambda skip: abs(share(effective[skip]) - Fraction(1, 2)))


def in_band(flags: Sequence[bool], low: float, high: float) -> bool:
    """Whether both outcomes are there often enough for one of them to be forecast."""
    return low <= share(flags) <= high


def share(flags: Sequence[bool]) -> Fraction:
    """Share of flags that are up, exactly, so that a third and two thirds are equally far from a half; 0 of none."""
    return Fraction(sum(map(bool, flags)), max(len(flags), 1))
