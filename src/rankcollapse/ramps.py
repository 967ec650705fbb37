"""What trajectories say about the ramp: when markers cross half-way, and at which skip scales rank is lost, kept and found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from audit.records import Refusal
from rankcollapse.events import collapsed_rank, find_recovery
from rankcollapse.records import Trajectory

MARKERS = ("gap", "cosine", "loss_gap")
"""Spectral gap, mean squared cosine, loss gap: the order predicted in the source paper, appendix G."""


class Passage(NamedTuple):
    """A driver's measurement at a skip scale on its way down."""

    step: int
    skip: float
    rank: float


class Hysteresis(NamedTuple):
    """Skip scales at collapse and at recovery on the reversed ramp; None where the rank did not come back.

    `first` is that of the first measurement of the window that recovers, and the ratio is its own: the window's end alone lies at many times
    the scale of the collapse, whatever the rank does.
    """

    collapse: float
    recovery: float | None
    first: float | None
    ratio: float | None


def cross_half(steps: Sequence[int], values: Sequence[float], start: int, end: int) -> int | None:
    """First measured step after `start` at which a marker is half-way from its value before the ramp to its value at detection.

    The value before is that of the last measurement up to step `start`, the value at detection that of the measurement at step `end`.
    None where the two are equal.
    """
    before = max(index for index, step in enumerate(steps) if step <= start)
    until = steps.index(end)
    whole = values[until] - values[before]
    if whole == 0:
        return None
    return next(steps[index] for index in range(before + 1, until + 1) if (values[index] - values[before]) / whole >= 0.5)


def cross_markers(steps: Sequence[int], series: Mapping[str, Sequence[float]], start: int, end: int) -> dict[str, int | None]:
    """The crossing step of every marker."""
    return {name: cross_half(steps, series[name], start, end) for name in MARKERS}


def is_ordered(crossings: Mapping[str, int | None]) -> bool:
    """Whether the markers crossed one strictly after the other, in the predicted order."""
    found = [crossings[name] for name in MARKERS]
    return all(one is not None and other is not None and one < other for one, other in pairwise(found))


def is_loss_not_later(crossings: Mapping[str, int | None]) -> bool:
    """Whether the loss gap crossed no later than either spectral marker."""
    loss, others = crossings["loss_gap"], [crossings[name] for name in MARKERS[:-1]]
    return loss is not None and all(other is None or loss <= other for other in others)


def subtract_control(place: str, driver: Trajectory, control: Trajectory) -> list[float]:
    """Loss above the healthy control's at the same step, nats, at every measurement of the driver; Refusal where the control has none."""
    beside = dict(zip(control.step, control.loss, strict=True))
    missing = [step for step in driver.step if step not in beside]
    if missing:
        raise Refusal(place, "its healthy control was not measured beside it", expected=f"step {missing[0]}", cure="run the stages again")
    return [loss - beside[step] for step, loss in zip(driver.step, driver.loss, strict=True)]


def pass_scale(driver: Trajectory, scale: float) -> Passage | None:
    """The driver's first measurement at or below a skip scale on its way down; None where it never came so far. At floor is rank 1."""
    ranks = collapsed_rank(driver.rank, driver.at_floor)
    return next((Passage(*row) for row in zip(driver.step, driver.skip, ranks, strict=True) if row[1] <= scale), None)


def read_hysteresis(collapse: float, ramp: Trajectory, threshold: float, window: int, hold: int) -> Hysteresis:
    """The skip scale at which the rank came back on a reversed ramp, by the recovery rule of `events`, against where it was lost."""
    found = find_recovery([(collapsed_rank(ramp.rank, ramp.at_floor), threshold)], window, hold)
    if found is None:
        return Hysteresis(collapse, None, None, None)
    first = ramp.skip[found - window + 1]
    return Hysteresis(collapse, ramp.skip[found], first, first / collapse if collapse > 0 else None)


def find_scale(ramp: Trajectory, scale: float) -> float | None:
    """Step at which a rising skip scale reaches a value, on the line between two measurements; None where it does not."""
    for index, skip in enumerate(ramp.skip):
        if skip >= scale:
            before = max(index - 1, 0)
            rise = skip - ramp.skip[before]
            return ramp.step[index] if rise <= 0 else ramp.step[index] - (skip - scale) / rise * (ramp.step[index] - ramp.step[before])
    return None
