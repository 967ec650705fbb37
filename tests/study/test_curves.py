"""From records to what a figure shows: smoothed ranks, medians over networks, recovery times, predictors."""

from __future__ import annotations

import numpy as np
import pytest
from courses import RULES, flat, rise, row
from invented import invent

from rankcollapse import curves
from rankcollapse.curves import Time, find_opening, list_cells, recovery_time, smooth_rank


@pytest.fixture(scope="module")
def records():
    """A small study that never ran."""
    return invent(seeds=2, depths=(3, 9), few=1)


def test_recovery_time_is_the_windows_end():
    """A jump at a known step: the median of five crosses at the third measurement after it, and the rule holds there."""
    jump = row("delay_1/1", range(100, 131, 2), flat(0.3), lambda at: np.where(at >= 110, 3.0, 1.0), flat(5.0), np.random.default_rng(0))
    assert recovery_time(jump, 1.5, RULES) == Time(14, False)
    assert recovery_time(row("delay_1/1", range(100, 131, 2), flat(0.3), rise(100, np.inf), flat(5.0), np.random.default_rng(0)), 1.5, RULES) == Time(
        30, True
    )


def test_predictor_is_read_where_the_run_sets_out(records):
    """A switch has the reading at its own scale, a delayed one that after its delay, and an aged network of another kind has none."""
    cell = list_cells(records.calibration, records.main, None)[0]
    event, aged = cell.readings()[0], cell.aged()
    found = {arm: find_opening(cell, cell.of_arm(arm)[0]) for arm in ("switch_weak", "switch_03", "switch_06", "delay_2", "reset")}
    assert found == {
        "switch_weak": event.switches[0].opening,
        "switch_03": event.switches[1].opening,
        "switch_06": None,
        "delay_2": next(row.state.opening for row in aged if (row.seed, row.delay) == (event.seed, 150)),
        "reset": None,
    }


def test_curves_are_trailing_medians_with_floors_at_one():
    """A curve starts at the first full window and shows a rank at floor as 1."""
    run = row("ramp/1", range(7), flat(1.0), flat(1.0), flat(5.0), np.random.default_rng(0)).trajectory
    run = run.model_copy(update={"rank": (1.0, 9.0, 2.0, 3.0, 4.0, 5.0, 6.0), "at_floor": (False,) * 6 + (True,)})
    assert smooth_rank(run, 5) == ([4, 5, 6], [3.0, 4.0, 3.0])
    assert smooth_rank(run, 2) == ([1, 2, 3, 4, 5, 6], [5.0, 5.5, 2.5, 3.5, 4.5, 3.0])


def test_median_course_is_over_shared_steps():
    """Of three courses, the median where all were measured; of none, nothing."""
    courses = [[(0, 1.0), (5, 2.0), (10, 9.0)], [(5, 4.0), (10, 1.0)], [(0, 3.0), (5, 3.0), (10, 2.0), (15, 8.0)]]
    assert curves.median_course(courses) == [(5, 3.0), (10, 2.0)] and curves.median_course([]) == []


def test_zeros_are_lifted_onto_a_logarithmic_axis():
    """A zero lies a decade below the smallest value; where all are zero there is nothing to draw."""
    assert curves.lift_zeros(np.array([0.0, 1e-3, 2.0])).tolist() == pytest.approx([1e-4, 1e-3, 2.0])
    assert np.isnan(curves.lift_zeros(np.zeros(2))).all()
