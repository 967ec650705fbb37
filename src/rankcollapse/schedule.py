"""Schedules as functions of a run's own clock: piecewise linear between their first and their last knot."""

from __future__ import annotations

from bisect import bisect_right
from math import cos, isfinite, pi

import numpy as np

Schedule = tuple[tuple[int, float], ...]
HELD = 10**9
"""Step of the last knot of a schedule that holds its value for as long as a run may last."""


def constant(value: float) -> Schedule:
    """The same value at every step."""
    return ((0, value), (HELD, value))


def ramp(start: int, steps: int, before: float, after: float) -> Schedule:
    """`before` until `start`, linearly to `after` over `steps`, then held."""
    return ((0, before), (start, before), (start + steps, after), (HELD, after))


def ramp_down(start: int, steps: int, floor: float) -> Schedule:
    """1 until `start`, linearly to `floor` over `steps`, then held."""
    return ramp(start, steps, 1.0, floor)


def ramp_up(start: int, steps: int, floor: float) -> Schedule:
    """`floor` until `start`, linearly to 1 over `steps`, then held."""
    return ramp(start, steps, floor, 1.0)


def cosine_decay(peak: float, steps: int, warm: int = 0, *, hold: int = 0, start: int = 0) -> Schedule:
    """Half a cosine from `peak` to 0 over `steps` steps from `start` on; a knot at every step.

    Before it come a linear warm-up over the first `warm` steps and `peak` as it is until `hold` steps have passed.
    """
    rising, fall = [peak * (step + 1) / warm for step in range(warm)], max(warm, hold)
    falling = [peak * (1 + cos(pi * (step - fall) / (steps - fall))) / 2 for step in range(fall, steps + 1)]
    return tuple(enumerate([*rising, *[peak] * (fall - warm), *falling], start))


def burst(start: int, steps: int, value: float, factor: float) -> Schedule:
    """`value`, times `factor` from step `start` on for `steps` steps."""
    raised = ((start, factor * value), (start + steps - 1, factor * value), (start + steps, value), (HELD, value))
    return raised if start == 0 else ((0, value), (start - 1, value), *raised)


def at(schedule: Schedule, step: int) -> float:
    """The value of a schedule at a step; beyond its knots the nearest one's."""
    index = bisect_right([knot for knot, _ in schedule], step)
    if index == 0:
        return schedule[0][1]
    if index == len(schedule):
        return schedule[-1][1]
    (left, low), (right, high) = schedule[index - 1], schedule[index]
    return low + (high - low) * (step - left) / (right - left)


def tabulate(schedule: Schedule, start: int, steps: int) -> np.ndarray:
    """The values at `steps` steps and at the one after them, as float64."""
    return np.array([at(schedule, step) for step in range(start, start + steps + 1)])


def find_fault(schedule: Schedule, start: int, end: int) -> str:
    """What is wrong with a schedule for a run from `start` to `end`, in a few words; empty where nothing is."""
    knots = [knot for knot, _ in schedule]
    if not knots or any(right < left for left, right in zip(knots, knots[1:])):
        return "knots do not ascend" if knots else "no knots"
    if not all(isfinite(value) for _, value in schedule):
        return "a value is not finite"
    if knots[0] > start or knots[-1] < end:
        return f"covers steps {knots[0]} to {knots[-1]}"
    return ""
