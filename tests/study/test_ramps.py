"""Rules on trajectories and on profiles: made-up series whose answer is plain."""

from __future__ import annotations

import pytest
from corpora import refusal

from rankcollapse import path_rules, ramps
from rankcollapse.records import Profile, Trajectory


def trajectory(**series) -> Trajectory:
    """A trajectory with these series; what is not given does not matter."""
    number = len(series["step"])
    plain = {"skip": (1.0,) * number, "rank": (3.0,) * number, "residual": (0.5,) * number, "loss": (5.0,) * number, "at_floor": (False,) * number}
    return Trajectory(**plain | {name: tuple(values) for name, values in series.items()})


STEPS = (0, 10, 20, 30, 40, 50)
CROSSES = {
    "falling, half-way exactly": ((8.0, 8.0, 6.0, 5.0, 3.0, 2.0), 10, 50, 30),
    "rising": ((0.0, 0.0, 0.1, 0.2, 0.9, 1.0), 10, 50, 40),
    "only at detection": ((1.0, 1.0, 1.0, 1.0, 1.0, 0.0), 10, 50, 50),
    "the first of two crossings": ((1.0, 1.0, 0.0, 1.0, 0.1, 0.0), 10, 50, 20),
    "before the ramp does not count": ((1.0, 0.0, 1.0, 1.0, 1.0, 0.0), 20, 50, 50),
    "after detection does not count": ((1.0, 1.0, 0.4, 0.5, 0.0, 9.0), 10, 30, 20),
    "a ramp that starts between measurements": ((1.0, 1.0, 0.9, 0.2, 0.1, 0.0), 15, 50, 30),
    "no change": ((1.0, 1.0, 2.0, 3.0, 2.0, 1.0), 10, 50, None),
}


@pytest.mark.parametrize("kind", CROSSES)
def test_half_way(kind):
    """The first measurement half-way between the last value before the ramp and the value at detection."""
    values, start, end, expected = CROSSES[kind]
    assert ramps.cross_half(STEPS, values, start, end) == expected


ORDERS = {
    "as predicted": ((10, 20, 30), True, False),
    "a tie": ((10, 10, 30), False, False),
    "loss first": ((20, 30, 10), False, True),
    "all at once": ((10, 10, 10), False, True),
    "the gap never": ((None, 20, 30), False, False),
    "the loss never": ((10, 20, None), False, False),
}


@pytest.mark.parametrize("kind", ORDERS)
def test_order_of_markers(kind):
    """Strictly one after the other, or not; and the loss no later than either of the others."""
    steps, ordered, early = ORDERS[kind]
    crossings = dict(zip(ramps.MARKERS, steps, strict=True))
    assert (ramps.is_ordered(crossings), ramps.is_loss_not_later(crossings)) == (ordered, early)


def test_markers_of_a_driver():
    """Each marker has its own crossing; the loss gap is the driver's loss over the control's at the same steps, whatever else it measured."""
    driver = trajectory(step=STEPS, loss=(5.0, 5.0, 5.1, 5.9, 6.0, 6.0))
    control = trajectory(step=(0, 5, *STEPS[1:], 60), loss=(5.0, 9.0, 4.9, 4.8, 4.7, 4.6, 4.5, 4.0))
    gap = ramps.subtract_control("driver", driver, control)
    assert gap == pytest.approx([0, 0.1, 0.3, 1.2, 1.4, 1.5])
    series = {"gap": (0.5, 0.5, 0.1, 0, 0, 0), "cosine": (0.1, 0.1, 0.2, 0.3, 0.9, 1.0), "loss_gap": gap}
    crossings = ramps.cross_markers(driver.step, series, 10, 50)
    assert crossings == {"gap": 20, "cosine": 40, "loss_gap": 30}
    assert not ramps.is_ordered(crossings) and not ramps.is_loss_not_later(crossings)
    line = refusal(ramps.subtract_control, "seed 3", driver, trajectory(step=(0, 10, 30)))
    assert line == "seed 3: its healthy control was not measured beside it; expected step 20; cure: run the stages again"


def test_the_driver_at_a_held_scale():
    """The first measurement at or below it; at floor counts as rank 1; a scale never reached has none."""
    driver = trajectory(step=(0, 10, 20, 30), skip=(1.0, 0.5, 0.25, 0.01), rank=(4.0, 3.5, 3.0, 2.5), at_floor=(False, False, False, True))
    assert ramps.pass_scale(driver, 0.5) == (10, 0.5, 3.5) and ramps.pass_scale(driver, 0.3) == (20, 0.25, 3.0)
    assert ramps.pass_scale(driver, 0.1) == (30, 0.01, 1.0) and ramps.pass_scale(driver, 0.001) is None


def test_hysteresis():
    """The scale at the end of the first held window, and that at its start over the collapse's; ranks at floor do not count; none without recovery."""
    skip = tuple(0.1 * number for number in range(1, 9))
    up = trajectory(step=tuple(range(8)), skip=skip, rank=(9.0, 9, 1, 3, 3, 3, 3, 3), at_floor=(True, True, False, False, False, False, False, False))
    found = ramps.read_hysteresis(0.02, up, 2.5, 2, 1)
    assert found.recovery == pytest.approx(0.5) and (found.first, found.ratio) == pytest.approx((0.4, 20)) and found.collapse == 0.02
    assert ramps.read_hysteresis(0.02, up, 4.0, 2, 1) == (0.02, None, None, None)
    assert ramps.read_hysteresis(0.0, up, 2.5, 2, 1).ratio is None


def test_without_hysteresis_the_ratio_is_small():
    """A rank that is back at the first step up has a ratio near 1, although the window of five measurements ends at seven times the scale."""
    up = trajectory(step=tuple(range(0, 80, 10)), skip=tuple(0.02 + 0.03 * number for number in range(8)), rank=(3.0,) * 8)
    found = ramps.read_hysteresis(0.02, up, 2.5, 5, 3)
    assert (found.recovery, found.ratio) == pytest.approx((0.14, 1))


SCALES = {
    "between two measurements": ((0.0, 0.1, 0.5), 0.3, 15.0),
    "at one": ((0.0, 0.3, 0.6), 0.3, 10.0),
    "at the first": ((0.3, 0.4, 0.5), 0.3, 0.0),
    "held": ((0.1, 0.1, 0.1), 0.3, None),
    "set at once": ((0.5, 0.5, 0.5), 0.3, 0.0),
}


@pytest.mark.parametrize("kind", SCALES)
def test_the_step_of_a_scale(kind):
    """On the line between the measurements around it: half-way from 0.1 to 0.5 at 0.3."""
    skip, scale, expected = SCALES[kind]
    assert ramps.find_scale(trajectory(step=(0, 10, 20), skip=skip), scale) == (None if expected is None else pytest.approx(expected))


CLOSED = Profile(qkv=(1e-8, 1e-5, 1e-2), qk=(1e-12, 1e-11, 1e-10), v=(1e-8, 1e-5, 1e-2))
OPENED = Profile(qkv=(5e-2, 2e-2, 4e-2), qk=(3e-2, 1e-2, 2e-2), v=(4e-2, 1.5e-2, 3e-2))


def test_rules_of_a_path():
    """Last over first, share on the value, the rule in every block (its bound included), relative to healthy, closed, and the opening."""
    assert path_rules.last_over_first(CLOSED.qkv) == pytest.approx(1e6)
    assert path_rules.value_shares(CLOSED) == (1, 1, 1) and min(path_rules.value_shares(OPENED)) == pytest.approx(0.75)
    assert path_rules.is_open(OPENED.qk) and path_rules.is_open(OPENED.qkv) and not path_rules.is_open(CLOSED.qkv)
    assert not path_rules.is_open((1.0, 0.0099, 1.0)) and path_rules.is_open((1.0, 0.0099, 1.0), 5e-3)
    assert path_rules.is_open_relative(OPENED.qk, OPENED.qk) and not path_rules.is_open_relative(CLOSED.qk, OPENED.qk)
    assert path_rules.is_open_relative((1e-3, 1e-3), (1e-2, 9e-3)) and not path_rules.is_open_relative((1e-3, 1e-3), (1e-2, 1.1e-2))
    assert path_rules.is_closed(CLOSED.qk, OPENED.qk) and not path_rules.is_closed(OPENED.qk, OPENED.qk)
    assert not path_rules.is_closed((1e-12, 1e-3), (1e-2, 1e-2)) and path_rules.is_closed((9e-5, 0.0), (1e-2, 1e-2))
    assert path_rules.blocks_with_signal((1.0, 0.9, 0.95, -0.99)) == (0, 2)
    assert path_rules.opening(OPENED) == 2e-2 and path_rules.opening(OPENED.model_copy(update={"qk": (1e-2, 3e-2)})) == 2e-2


def test_nothing_divides_by_zero():
    """A norm of 0 in the first block, in all of them, or in the healthy network gives a number."""
    still = Profile(qkv=(0.0, 0.0), qk=(0.0, 0.0), v=(0.0, 0.0))
    assert path_rules.last_over_first(still.qkv) == 0 and path_rules.last_over_first((0.0, 1.0)) == pytest.approx(1e30)
    assert path_rules.value_shares(still) == (0, 0) and path_rules.over_healthy(still.qk, still.qk) == (0, 0)
    assert not path_rules.is_open(still.qk) and path_rules.opening(still) == 0
