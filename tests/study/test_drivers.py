"""Drivers of the whole study: watched closely near the floor, or with the skip connection intact."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from corpora import refusal
from interruptible import TABLE_SETTING
from networks import same_state
from tiny_arms import SCALE

from rankcollapse.drivers import closely, control_closely, drive_closely, leave_intact
from rankcollapse.engine import describe_runs, fresh_state
from rankcollapse.engine.stack import plan_runs
from rankcollapse.events import Settled
from rankcollapse.params import Driver
from rankcollapse.schedule import at
from rankcollapse.tables import drive, warm_up, warmed

LAPTOP = SCALE.model_copy(
    update={
        "driver": Driver(warm=300, ramp=300, hold=120, floors=(0.01,)),
        "rules": SCALE.rules.model_copy(update={"measure_driver": 5}),
        "study": SCALE.study.model_copy(update={"near_floor": 20}),
    }
)


def due(cadence, start: int, end: int) -> list[int]:
    """Steps at which a run of this cadence is measured."""
    [run] = drive_closely([0], [replace(fresh_state(0, TABLE_SETTING), step=start)], 0.01, LAPTOP, None)
    run = replace(run, measure_every=cadence, steps=end - start)
    return [step for step in range(start, end + 1) if run.is_due(step)]


def test_every_fifth_step_and_every_step_within_twenty_of_the_floor():
    """At laptop values: 300, 305, ..., 580, then 581, 582, ..., 620, then 625, 630 to the end."""
    steps = due(closely(300, LAPTOP), 300, 720)
    assert steps == [*range(300, 580, 5), *range(580, 620), *range(620, 721, 5)]
    assert {step for step in range(300, 721) if abs(step - 600) <= 20} <= set(steps)


def test_a_wide_band_starts_with_the_run():
    """Where the band is longer than the ramp, every step from the start on is measured, and none before is asked for."""
    wide = LAPTOP.model_copy(update={"study": LAPTOP.study.model_copy(update={"near_floor": 400})})
    assert due(closely(300, wide), 300, 320) == list(range(300, 321)) and closely(300, wide)[1] == (300, 1)


def test_drivers_and_controls_are_those_before_under_closer_watch():
    """Schedule, budget, stop rule and origin are those of `tables.drive`; only what is measured differs, and alike for the control."""
    stop, origins = Settled(1.5, 5, 5, 2), warmed((0, 3), SCALE)
    for close, before in zip(drive_closely((0, 3), origins, 0.1, SCALE, stop), drive((0, 3), origins, 0.1, SCALE, stop), strict=True):
        assert replace(close, measure_every=before.measure_every, readings=()) == before and close.readings == SCALE.study.readings
    drivers, controls = drive_closely((0, 3), origins, 0.1, SCALE, stop), control_closely((0, 3), origins, SCALE)
    for driver, beside in zip(drivers, controls, strict=True):
        steps = range(driver.start, driver.end + 1)
        assert [driver.is_due(step) for step in steps] == [beside.is_due(step) for step in steps] and driver.end == beside.end
        assert {at(beside.skip, step) for step in steps} == {1.0} and beside.readings == () and beside.stop is None


def test_close_watch_changes_no_network(table):
    """A driver measured closely ends bit for bit as one that is not, with its markers beside every measurement."""
    warm, origins = warm_up((0,), SCALE), warmed((0,), SCALE)
    [close] = drive_closely((0,), origins, 0.0, SCALE, None)
    [far] = drive((0,), origins, 0.0, SCALE, None)
    results = table(*warm, replace(close, name="close"), replace(far, name="far"))
    assert same_state(results["close"][1], results["far"][1])
    trajectory = results["close"][0]
    assert trajectory.step == [5, 10, 13, 14, 15, 16, 17, 22, 27, 30] and results["far"][0].step == list(range(5, 31, 5))
    assert len(trajectory.extra["cosine"]) == len(trajectory.step) and trajectory.skip[-1] == 0.0


def test_the_skip_stays_intact():
    """Weight decay goes linearly from the optimiser's to 10 after the warm-up; gains scale the initial weights; the skip scale is 1 throughout."""
    runs = {run.name: run for run in leave_intact((7, 8), SCALE)}
    assert list(runs) == ["warm/7", "warm/8", "decay/7", "decay/8", "gain_4/7", "gain_8/7", "gain_4/8", "gain_8/8"]
    numbers = plan_runs(list(runs.values()), TABLE_SETTING)
    assert (numbers[..., 0] == 1.0).all() and (numbers[..., 1] == TABLE_SETTING.optimiser.learning_rate).all()
    decay = np.concatenate([np.linspace(0.1, 10.0, 11), [10.0, 10.0]])
    assert numbers[2, :, 2] == pytest.approx(decay) and (numbers[[0, 1, 4, 5, 6, 7], :, 2] == 0.1).all()
    assert [run.gain for run in runs.values()] == [1, 1, 1, 1, 4, 8, 4, 8]
    assert {run.readings for run in runs.values()} == {("uncentred_rank",)} and {run.start for name, run in runs.items() if "gain" in name} == {0}
    assert (runs["decay/7"].start, runs["decay/7"].end, runs["gain_8/8"].end) == (5, 17, 12)


def test_an_intact_driver_in_training(table):
    """With ten times the gain the first weights are ten times as large; heavy decay leaves smaller weights than the usual one."""
    results = table(*leave_intact((7,), SCALE), *control_closely((7,), warmed((7,), SCALE), SCALE))
    assert results["gain_8/7"][0].step == [0, 5, 10, 12] and len(results["decay/7"][0].extra["uncentred_rank"]) == len(results["decay/7"][0].step)
    assert results["decay/7"][1].weights.norm() < 0.97 * results["control/7"][1].weights.norm()
    assert results["gain_8/7"][1].weights.norm() > 1.5 * results["gain_4/7"][1].weights.norm()


def test_unknown_markers_are_refused():
    """A reading that there is not is one line with the known ones."""
    strange = SCALE.model_copy(update={"study": SCALE.study.model_copy(update={"readings": ("entropy",)})})
    line = refusal(drive_closely, (0,), warmed((0,), SCALE), 0.1, strange, None)
    assert line.startswith("run driver/0.1/0: unknown reading 'entropy'; expected cosine, effective_rank")


def test_a_later_cadence_is_described_for_the_checkpoint():
    """What a checkpoint must match holds the whole run but its origin's tensors, whatever step the cadence and the schedules start at."""
    [run] = drive_closely((0,), [replace(fresh_state(0, TABLE_SETTING), step=5)], 0.1, SCALE, Settled(1.5, 5, 5, 2))
    plain = replace(run, origin=None, measure_every=5)
    [described] = describe_runs([run], TABLE_SETTING)["runs"]
    assert described == asdict(plain) | {"measure_every": ((5, 5), (13, 1), (17, 5)), "start": 5}
