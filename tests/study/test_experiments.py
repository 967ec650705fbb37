"""The experiments on a study of seconds: thresholds, floors, events, branches and readings follow from what was measured."""

from __future__ import annotations

import os
from math import sqrt
from pathlib import Path
from statistics import fmean, median

import pytest
import torch
from corpora import refusal
from networks import same_state
from tiny_study import CALIBRATION, EVERY, FEW, SCALE, SEEDS, provenance, reader_of, run_set, weak_scale

from audit.records import record_bytes
from rankcollapse import events, experiments, experiments_drivers, kernel, readings
from rankcollapse.checkpoint import load_states
from rankcollapse.engine import Trajectory
from rankcollapse.params import ROLES
from rankcollapse.quantities import count, exact
from rankcollapse.records import FloorRow
from rankcollapse.tables import control, drive, warm_up
from rankcollapse.treatments import ADDED, SWITCHES, Site, treat


@pytest.fixture(params=ROLES)
def role(request):
    """Both depths in turn."""
    return request.param


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test with checkpoints of its own, on one core."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})


def test_healthy_values_are_the_controls_last_medians(study, role):
    """The healthy rank is the mean over seeds of the median of the last window; thresholds and s0 follow from it."""
    own, window = getattr(study.records.calibration, role), SCALE.rules.settle_window
    controls = [run.trajectory for run in own.runs if run.arm == "control"]
    level = fmean(median(run.rank[-window:]) for run in controls)
    assert len(controls) == 2 and own.healthy_rank.value == pytest.approx(level)
    assert own.collapse_threshold.value == pytest.approx(0.7 * level) and own.recover_threshold.value == pytest.approx(0.8 * level)
    spread = own.healthy_rank.tolerance
    assert spread > 0
    assert (own.collapse_threshold.tolerance, own.recover_threshold.tolerance) == pytest.approx((0.7 * spread, 0.8 * spread))
    assert own.healthy_q == pytest.approx(sqrt(level - 1))
    assert own.healthy_residual.value == pytest.approx(fmean(median(run.residual[-window:]) for run in controls))
    assert all(set(run.skip) == {1.0} for run in controls)


def test_the_floor_is_the_largest_that_holds_everywhere(study, role):
    """At 0.5 not every seed collapses, at 0 every one does and stays; the drivers' own trajectories say the same."""
    calibration = study.records.calibration
    own = getattr(calibration, role)
    assert calibration.floor.value == 0.0 == own.edge.value and [row.floor.value for row in own.grid] == [0.5, 0.0]
    assert own.grid[0].stayed.value < 2 and own.grid[1].stayed.value == own.grid[1].settled.value == 2
    last = [run.trajectory for run in own.runs if run.name.startswith("driver/0/")]
    assert len(last) == 2 and all(run.rank[-1] < own.collapse_threshold.value and run.skip[-1] == 0 for run in last)


def grid(*stayed: int, lost: tuple[int, int, int] | None = None) -> list[FloorRow]:
    """Rows for the floors 0.02, 0.01 and 0.005 with two seeds: how many stayed, and of how many the residual went too."""
    flags, spent = ([[True] * n + [False] * (2 - n) for n in numbers] for numbers in (stayed, lost or stayed))
    return [
        FloorRow(floor=exact(floor, digits=3), settled=count(f), stayed=count(f), effective=count(g))
        for floor, f, g in zip((0.02, 0.01, 0.005), flags, spent, strict=True)
    ]


GRIDS = {
    "the first": ([grid(2, 2, 2)], 0.02),
    "the first at which all stay": ([grid(1, 2, 2)], 0.01),
    "one that holds for both depths": ([grid(2, 2, 2), grid(0, 1, 2)], 0.005),
    "a lucky larger floor counts": ([grid(2, 0, 2)], 0.02),
    "the first at which the residual goes too": ([grid(2, 2, 2), grid(2, 2, 2, lost=(1, 2, 2))], 0.01),
    "by rank where the residual goes nowhere": ([grid(1, 2, 2, lost=(0, 1, 1))], 0.01),
}


@pytest.mark.parametrize("name", GRIDS)
def test_choice_of_floor(name):
    """The largest floor at which every seed of every depth collapsed, stayed and lost its residual, printed with the digits that show it."""
    grids, expected = GRIDS[name]
    floor = experiments.choose_floor("calibrate", grids, 2)
    assert floor.value == expected and float(f"{floor.value:.{floor.digits}f}") == expected


def test_no_floor_is_refused():
    """Where no floor holds for all, one line shows the counts and the cure."""
    line = refusal(experiments.choose_floor, "calibrate", [grid(0, 1, 1), grid(2, 2, 1)], 2)
    assert line == (
        "calibrate: no floor of the grid collapses every seed for good; found 0.02: 0/2, 0.01: 1/2, 0.005: 1/2; 0.02: 2/2, 0.01: 2/2, 0.005: 1/2; "
        "cure: add a smaller floor to driver.floors"
    )


SETTLING = {
    "stays": ([1.0] * 6, (True, True)),
    "never collapses": ([3.0] * 6, (False, False)),
    "comes back above recovery": ([1.0, 1.0, 1.0, 1.0, 3.0, 3.0], (True, False)),
    "comes back, but not to recovery": ([1.0, 1.0, 1.0, 1.0, 1.9, 1.9], (True, True)),
    "collapses too late to settle": ([3.0, 3.0, 3.0, 3.0, 3.0, 1.0], (False, False)),
}


@pytest.mark.parametrize("name", SETTLING)
def test_settled_and_stayed(name):
    """Collapse below 1.5 settles after five steps; it stayed when no later median of two reached 2."""
    ranks, expected = SETTLING[name]
    trajectory = Trajectory(step=[10, 15, 20, 25, 30, 35], rank=ranks, at_floor=[False] * 6)
    assert experiments.settle(trajectory, SCALE, 1.5, 2.0) == expected


def test_an_unhealthy_control_is_refused(study, monkeypatch):
    """A control below the recovery threshold stops the calibration with both values and the cure."""
    runs = {5: 4.0, 6: 1.0}
    result = lambda run: (Trajectory(step=[1], rank=[runs[run.seed]] * 2, residual=[1.0] * 2), None)  # noqa: E731
    monkeypatch.setattr(experiments.Bench, "train", lambda bench, name, table: [result(run) for run in table])
    monkeypatch.setattr(experiments, "drive", lambda *_: [])
    assert refusal(experiments.calibrate_role, "shallow", SCALE, CALIBRATION, str(study.data), provenance("calibrate")) == (
        "calibrate shallow: a healthy network lies below the recovery threshold; expected >= 2.000; found 1.000; cure: train longer before the ramp (driver.warm)"
    )


STAGES = {
    "calibrate": lambda scale, study: experiments.calibrate(provenance("calibrate"), scale, (5, 6), str(study.data)),
    "drivers": lambda scale, study: experiments_drivers.drive_set(
        provenance("drivers"), scale, "shallow", study.records.calibration, (5, 6), str(study.data), Path("states")
    ),
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_network_that_diverges_in_the_warm_up_is_refused(study, stage):
    """A learning rate at which weights overflow stops both stages that warm up, before anything is driven or saved."""
    wild = SCALE.model_copy(update={"optimiser": SCALE.optimiser.model_copy(update={"learning_rate": 1e30})})
    line = refusal(STAGES[stage], wild, study)
    assert line == f"{stage} shallow: seed 5: diverged in the warm-up; found step 1; cure: lower optimiser.learning_rate"
    assert not Path("states").exists()


def test_checkpoints_lie_in_a_folder_per_stage(study):
    """Each stage that trains keeps its checkpoints apart, under the name in its provenance; reading has none."""
    folders = {folder.name: len(list(folder.glob("*.safetensors"))) for folder in (study.data.parent / ".checkpoints").iterdir()}
    assert {"calibrate", "checks", "drivers", "treatments", "switches"} <= set(folders) and min(folders.values()) > 1 and "readings" not in folders


def test_events_are_what_the_drivers_show(study, role):
    """Detected, settled and saved where the rules say, with the values of that measurement and the control's loss beside it."""
    record, own = study.records.drivers[role], getattr(study.records.calibration, role)
    assert [event.seed for event in record.events] == list(SEEDS) and record.unsettled == ()
    for event, driver, beside in zip(record.events, record.drivers, record.controls, strict=True):
        run, place = driver.trajectory, driver.trajectory.step.index(event.saved)
        assert run.rank[run.step.index(event.detected)] < own.collapse_threshold.value and event.detected > SCALE.driver.warm
        assert event.saved >= event.detected + SCALE.rules.settle_after and place == len(run.step) - 1
        assert (event.rank, event.residual, event.loss, event.at_floor) == (run.rank[place], run.residual[place], run.loss[place], run.at_floor[place])
        assert event.loss_gap == event.loss - beside.trajectory.loss[beside.trajectory.step.index(event.saved)]


def test_a_control_is_one_trajectory_from_the_start(study, role):
    """Warm-up and continuation are joined: each step of the close watch once, from 0 to the end of the hold, at skip scale 1."""
    for run in study.records.drivers[role].controls:
        assert run.trajectory.step == (0, 5, 10, 13, 14, 15, 16, 17, 22, 27, 30) and set(run.trajectory.skip) == {1.0}


def test_saved_states_are_the_events(study, role):
    """The file holds each event at its own step and each control at its end, and nothing else."""
    states, _ = load_states(study.states / role / "drivers" / "states.safetensors")
    record = study.records.drivers[role]
    assert {name: state.step for name, state in states.items()} == {f"event-{e.seed}": e.saved for e in record.events} | {f"control-{seed}": 30 for seed in SEEDS}


def arms(study, role):
    """Every arm of a role: those at the floor and the switches."""
    return [*study.records.treated[role].branches, *study.records.switched[role].branches]


LATE = {"delay_1": 3, "delay_2": 7, "decay_0": 7, "reset": 7}
"""Steps at the floor before an arm sets out."""
BUDGETS = {"untreated": 7, "epsilon": 7, "ramp": 9, "aged_decay_0": 7}


def test_every_event_gets_every_treatment(study, role):
    """One branch per event and arm, descriptive ones of the first event, from its own step on, at its scale, for its steps."""
    expected = {f"{arm}/{seed}" for seed in SEEDS for arm in EVERY} | {f"{arm}/{SEEDS[0]}" for arm in FEW}
    assert sorted(run.name for run in arms(study, role)) == sorted(expected)
    saved = {event.seed: event.saved for event in study.records.drivers[role].events}
    fixed = SWITCHES | {"switch_weak": study.records.switched[role].weak_scale} | dict.fromkeys(LATE, 0.3)
    for run in arms(study, role):
        steps, skip = run.trajectory.step, run.trajectory.skip
        assert run.start == steps[0] == saved[run.seed] + LATE.get(run.arm, 0) and run.diverged_at is None
        assert steps[-1] - steps[0] == BUDGETS.get(run.arm, 4 if run.arm in ADDED else 8)
        assert run.exempt == (run.arm in ADDED and ADDED[run.arm].exempt)
        if run.arm == "ramp":
            assert (steps, skip) == ((22, 27, 31), pytest.approx([0, 5 / 6, 1]))
        else:
            assert skip == (fixed.get(run.arm, 0.0),) * len(skip)


def test_an_untreated_branch_starts_as_the_event_was_saved(study, role):
    """Its first measurement is the event's: the same network, probe and scale."""
    saved = {event.seed: event for event in study.records.drivers[role].events}
    for run in study.records.treated[role].branches:
        if run.arm == "untreated":
            event = saved[run.seed]
            assert (run.trajectory.rank[0], run.trajectory.loss[0]) == pytest.approx((event.rank, event.loss), rel=1e-4)


def test_loss_arms_add_what_they_were_asked_to(study, role):
    """At switch-on the added loss is so many times the matched one on the probe, hence about as much on the first batch; others add none.

    Of one term at one state it is proportional to the times exactly.
    """
    for run in arms(study, role):
        times = ADDED[run.arm].times if run.arm in ADDED else 0
        assert run.added_target == pytest.approx(0.1 * times) and run.first_added == pytest.approx(0.1 * times, rel=0.6)
        assert (run.term, run.term_weight > 0) == (ADDED[run.arm].term if run.arm in ADDED else "none", times > 0)
    added = {run.arm: run.first_added for run in arms(study, role) if run.seed == SEEDS[0]}
    assert added["hinge_10x_unclipped"] == pytest.approx(2.5 * added["hinge_4x"], rel=1e-6)


def test_readings_have_an_entry_per_block(study, role):
    """Every profile has one norm per block, query-key and value parts add up to the whole, and healthy differs from collapsed."""
    record = study.records.readings[role]
    assert [event.seed for event in record.events] == list(SEEDS) and record.depth == getattr(SCALE.depths, role)
    for event in record.events:
        states = (event.collapsed, event.healthy, event.healthy_at_floor, *event.switches)
        for profile in (*(state.task for state in states), event.hinge):
            assert len(profile.qkv) == record.depth
            assert [q**2 for q in profile.qkv] == pytest.approx([qk**2 + v**2 for qk, v in zip(profile.qk, profile.v, strict=True)])
        assert event.collapsed.task != event.healthy.task and event.collapsed.loss != event.healthy.loss


def test_what_is_read_before_a_switch_is_what_the_switch_sets_out_from(study, role):
    """The rank read without any update is the event's own, and the first that each switch logs, delayed ones included."""
    first = {run.name: run.trajectory.rank[0] for run in study.records.switched[role].branches}
    record, weak = study.records.readings[role], study.records.switched[role].weak_scale
    for row, event in zip(record.events, study.records.drivers[role].events, strict=True):
        assert row.collapsed.blocks.rank[-1] == pytest.approx(event.rank, rel=1e-4)
        found = {state.skip: state.blocks.rank[-1] for state in row.switches}
        for arm, skip in {"switch_weak": weak, "switch_03": 0.3, "switch_1": 1.0}.items():
            if f"{arm}/{row.seed}" in first:
                assert found[skip] == pytest.approx(first[f"{arm}/{row.seed}"], rel=1e-4)
    assert [(row.seed, row.delay) for row in record.aged] == [(seed, delay) for seed in SEEDS for delay in (3, 7)]
    for row in record.aged:
        number = {3: 1, 7: 2}[row.delay]
        assert row.state.skip == 0.3 and row.state.blocks.rank[-1] == pytest.approx(first[f"delay_{number}/{row.seed}"], rel=1e-4)


def test_readings_do_not_depend_on_threads(study, monkeypatch):
    """The record has the same bytes on one thread and on two, PyTorch's and the kernel's."""
    record, role, folder = study.records, "shallow", study.states / "shallow"
    bytes_, before = [], kernel.Threads.count
    for threads in (1, 2):
        monkeypatch.setattr(readings, "prepare_threads", lambda number=threads: (torch.set_num_threads(number), kernel.Threads.use(number)))
        reader = reader_of(record.calibration, role, study.data, record.drivers[role].floor)
        arguments = record.drivers[role], record.treated[role], weak_scale(record.checks[role]), folder / "drivers", folder / "treated"
        bytes_.append(record_bytes(readings.measure_readings(provenance("readings"), role, reader, *arguments)))
        assert torch.get_num_threads() == threads == kernel.Threads.count
    torch.set_num_threads(1)
    kernel.Threads.use(before)
    assert bytes_[0] == bytes_[1] == record_bytes(record.readings[role])


def test_the_same_set_twice(study, tmp_path):
    """Every record and every saved state is the same bytes and bits; other seeds give others."""
    found = study.records
    again, other = (found._replace(drivers={}, treated={}, readings={}, switched={}) for _ in range(2))
    run_set(again, "shallow", study.data, tmp_path / "again")
    run_set(other, "shallow", study.data, tmp_path / "other", seeds=(1, 2))
    for name in ("drivers", "treated", "readings", "switched"):
        bytes_ = [record_bytes(getattr(each, name)["shallow"]) for each in (again, found, other)]
        assert bytes_[0] == bytes_[1] != bytes_[2], name
    for step in ("drivers", "treated"):
        states, before = (load_states(folder / step / "states.safetensors")[0] for folder in (tmp_path / "again", study.states / "shallow"))
        assert set(states) == set(before) and all(same_state(states[name], before[name]) for name in states)


def test_a_further_seed_leaves_the_others_as_they_are(study, tmp_path):
    """Driver, arms, readings and switches of a seed have the same bytes whatever seeds stand after it in the set."""
    one = study.records._replace(drivers={}, treated={}, readings={}, switched={})
    run_set(one, "shallow", study.data, tmp_path, seeds=SEEDS[:1])
    rows = {"drivers": ("events", "drivers", "controls"), "treated": ("branches", "controls"), "readings": ("events", "ends", "aged"), "switched": ("branches", "replays")}
    for name, lists in rows.items():
        alone, both = (getattr(each, name)["shallow"] for each in (one, study.records))
        for rows_of in lists:
            own = tuple(row for row in getattr(both, rows_of) if row.seed == SEEDS[0])
            assert own == getattr(alone, rows_of) and own, (name, rows_of)


def test_a_seed_that_does_not_settle_is_counted_and_not_treated(study, tmp_path):
    """At a floor that collapses nothing all seeds are unsettled, only controls are saved, and every later record is without rows."""
    healthy = study.records._replace(
        calibration=study.records.calibration.model_copy(update={"floor": exact(0.99, digits=2)}), drivers={}, treated={}, readings={}, switched={}
    )
    run_set(healthy, "deep", study.data, tmp_path / "states")
    record, treated, read, switched = (getattr(healthy, name)["deep"] for name in ("drivers", "treated", "readings", "switched"))
    assert (record.events, record.unsettled) == ((), SEEDS) and len(record.drivers) == 2
    assert set(load_states(tmp_path / "states" / "drivers" / "states.safetensors")[0]) == {f"control-{seed}" for seed in SEEDS}
    assert load_states(tmp_path / "states" / "treated" / "states.safetensors")[0] == {}
    assert (treated.branches, treated.controls, read.events, read.ends, read.aged, switched.branches, switched.replays) == ((),) * 7
    assert (treated.depth, treated.delays, switched.delays, switched.weak_scale) == (3, (3, 7), (3, 7), study.records.switched["deep"].weak_scale)
    assert read.unigram_loss == study.records.readings["deep"].unigram_loss > 0


def test_tables_have_runs_of_different_names_and_the_right_length(study):
    """Drivers and controls continue the warm-up's clock; an arm's row starts at the event."""
    state = load_states(study.states / "shallow" / "drivers" / "states.safetensors")[0]["event-0"]
    treated = treat([Site(0, state, 0.01, 0.3, SCALE)], SCALE.arms["main"])
    rows = [*warm_up(SEEDS, SCALE), *drive(SEEDS, [state, state], 0.01, SCALE, None), *control(SEEDS, [state, state], 7, SCALE), *treated]
    assert len({run.name for run in rows}) == len(rows) == 6 + len(EVERY) + len(FEW)
    assert all(run.origin is state for run in rows[2:] if run.name.partition("/")[0] not in LATE)
    assert all(run.origin is None and run.steps == 5 for run in rows[:2])
    assert events.find_collapse([5, 10], [1.0, 1.0], 2.0, SCALE.driver.warm) == 1
