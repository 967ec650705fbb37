"""Ramps, markers, drivers and controls made by hand: warm until step 5, down to the floor of 0.1 at step 15, recovered from rank 2 on."""

from __future__ import annotations

import pytest
from corpora import refusal
from made_records import branch, control, driver, make_cell

from rankcollapse import ramp_summary

SKIPS = (0.1, 0.4, 0.7, 1.0, 1.0)
"""Of a reversed ramp of six steps, measured every second one."""


def ramp(seed: int, ranks=(1, 1, 3, 3, 3), **more):
    """A reversed ramp; by default back at a skip scale of 0.7."""
    return branch("ramp", seed, ranks, **{"skip": SKIPS} | more)


def test_hysteresis():
    """Lost at 0.12 and found at 0.7 by a window from 0.4 on, or never; 4/3 steps to 0.3, on the line between measurements, as the schedule says."""
    cell = make_cell(branches=[ramp(1), ramp(2, (1.0,) * 5)])
    found = ramp_summary.value_hysteresis(cell)
    assert found["hyst.skip_at_collapse"] == (0.12, 0.12) and found["hyst.skip_at_collapse_over_floor"] == pytest.approx((1.2, 1.2))
    assert found["hyst.skip_at_recovery"] == (0.7, 1.1) and found["hyst.ratio"] == pytest.approx((0.4 / 0.12, 0))
    assert found["hyst.steps_to_03_over_arithmetic"] == pytest.approx((1, 1))


def test_hysteresis_from_a_scale_of_nothing():
    """A skip scale of 0 counts as 0.001 in a ratio."""
    found = ramp_summary.value_hysteresis(make_cell(branches=[ramp(1)], skip=0.0))
    assert found["hyst.ratio"] == pytest.approx((400,)) and found["hyst.skip_at_collapse_over_floor"] == pytest.approx((0.01, 0.01))


STEPS = {
    "slower than scheduled": ((0.1, 0.2, 0.4, 0.7, 1.0), 2.25),
    "broken off before": ((0.1, 0.1, 0.1, 0.2, 0.2), None),
}


@pytest.mark.parametrize("kind", STEPS)
def test_steps_of_the_ramp_to_where_a_switch_goes(kind):
    """0.3 half-way between steps 2 and 4: three steps for 4/3; no value where the scale was never reached."""
    skips, expected = STEPS[kind]
    found = ramp_summary.value_hysteresis(make_cell(branches=[ramp(1, skip=skips)]))
    assert found.get("hyst.steps_to_03_over_arithmetic") == (pytest.approx((expected,)) if expected else None)


def test_without_a_ramp():
    """Only what the drivers say."""
    assert set(ramp_summary.value_hysteresis(make_cell())) == {"hyst.skip_at_collapse", "hyst.skip_at_collapse_over_floor"}


def alter(seed: int, **extra):
    """The driver with other markers."""
    row = driver(seed)
    return row.model_copy(update={"trajectory": row.trajectory.model_copy(update={"extra": row.trajectory.extra | extra})})


def test_markers():
    """Half-way at steps 12, 13 and 14; the second driver's gap says nothing and its cosine is late."""
    cell = make_cell(drivers=(driver(1), alter(2, gap=(8.0,) * 8, cosine=(0.0, 0, 0, 0, 0, 0, 1, 1))))
    assert ramp_summary.value_markers(cell) == {
        "markers.gap_crossed": (12, 16), "markers.cosine_crossed": (13, 15), "markers.loss_crossed": (14, 14), "markers.ordered": (1, 0),
        "markers.loss_not_later": (0, 1),
    }  # fmt: skip


def test_markers_need_their_readings_and_their_control():
    """Each in one line."""
    row = driver(1)
    blind = row.model_copy(update={"trajectory": row.trajectory.model_copy(update={"extra": {"cosine": row.trajectory.extra["cosine"]}})})
    line = refusal(ramp_summary.value_markers, make_cell(seeds=(1,), drivers=(blind,)))
    assert line == "summary deep: seed 1: the driver has no gap; expected gap, cosine; cure: name them in study.readings"
    line = refusal(ramp_summary.value_markers, make_cell(seeds=(1,), controls=()))
    assert line == "summary deep: seed 1: no healthy control beside the driver; cure: run the stages again"


def test_drivers_on_their_way_down():
    """Rank 3.8 at 0.5, 3.4 at 0.28, 3 at 0.19: the first measurements at or below 0.6, 0.3 and the weak scale of 0.2."""
    assert ramp_summary.value_driver(make_cell(seeds=(1,))) == {
        "driver.rank_at_06": (3.8,), "driver.rank_at_03": (3.4,), "driver.rank_at_weak": (3.0,), "driver.rank_at_weak_over_threshold": (1.5,),
    }  # fmt: skip


def test_a_scale_that_no_driver_comes_to():
    """A weak scale below the floor is read at the driver's end, where it has collapsed."""
    assert ramp_summary.rank_at(driver(1).trajectory, 0.05) == 1


CONTROLS = {
    "dips and recovers": ((4, 1.2, 1.8, 3, 3, 3, 3, 3, 3, 3, 4), (1, 0.4, 1.6)),
    "never dips": ((4,) * 11, (0, 0, 0)),
    "healthy at the start of the ramp": ((4, 1.2, 3, 3, 3, 3, 3, 3, 3, 3, 3), (1, 0.4, 1)),
    "not healthy at its end": ((4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1.9), (0, 0, 5.2)),
}


@pytest.mark.parametrize("kind", CONTROLS)
def test_controls(kind):
    """Below 1.5 at all, the last such step, and the first step from which it stays at 2, over the ramp's first step, 5."""
    ranks, expected = CONTROLS[kind]
    found = ramp_summary.value_controls(make_cell(seeds=(1,), controls=(control(1, ranks),)))
    names = ("controls.dipped_early", "controls.last_dip_over_ramp_start", "controls.recovered_over_ramp_start")
    assert [found[name] for name in names] == [(value,) for value in expected]
    assert found["controls.last_dip"] == (5 * expected[1],)
