"""Schedules: piecewise linear between knots, constant beyond them, on a run's own clock."""

from __future__ import annotations

import pytest

from rankcollapse.schedule import at, constant, ramp_down, ramp_up

POINTS = {
    "constant": (constant(0.3), {0: 0.3, 10_000: 0.3}),
    "ramp down": (ramp_down(300, 100, 0.01), {0: 1, 300: 1, 301: 1 - 0.0099, 350: 0.505, 399: 0.0199, 400: 0.01, 900: 0.01}),
    "ramp down to zero": (ramp_down(10, 2, 0.0), {10: 1, 11: 0.5, 12: 0}),
    "ramp up": (ramp_up(655, 300, 0.01), {0: 0.01, 655: 0.01, 805: 0.505, 955: 1, 2000: 1}),
}


@pytest.mark.parametrize("name", POINTS)
def test_values_at_knots_between_and_beyond(name):
    """A schedule has its knots' values, the line between them, and the end values beyond."""
    schedule, points = POINTS[name]
    assert {step: at(schedule, step) for step in points} == pytest.approx(points)


def test_up_mirrors_down():
    """The reversed ramp passes the same scales in the reverse order."""
    down, up = ramp_down(5, 40, 0.02), ramp_up(5, 40, 0.02)
    assert [at(up, 5 + step) for step in range(41)] == pytest.approx([at(down, 45 - step) for step in range(41)])
