"""Schedules as functions of a run's own clock: piecewise linear, constant beyond their ends."""

from __future__ import annotations

from bisect import bisect_right

Schedule = tuple[tuple[int, float], ...]


def constant(value: float) -> Schedule:
    """The same value at every step."""
    return ((0, value),)


def ramp_down(start: int, steps: int, floor: float) -> Schedule:
    """1 until `start`, linearly to `floor` over `steps`, then held."""
    return ((start, 1.0), (start + steps, floor))


def ramp_up(start: int, steps: int, floor: float) -> Schedule:
    """`floor` at `start`, linearly to 1 over `steps`, then held."""
    return ((start, floor), (start + steps, 1.0))


def at(schedule: Schedule, step: int) -> float:
    """The value of a schedule at a step."""
    index = bisect_right([knot for knot, _ in schedule], step)
    if index == 0:
        return schedule[0][1]
    if index == len(schedule):
        return schedule[-1][1]
    (left, low), (right, high) = schedule[index - 1], schedule[index]
    return low + (high - low) * (step - left) / (right - left)
