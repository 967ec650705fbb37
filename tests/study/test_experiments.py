"""The experiments on a study of seconds: thresholds, floors, events, branches and paths follow from what was measured."""

from __future__ import annotations

import os
from math import sqrt
from pathlib import Path
from statistics import fmean, median

import pytest
import torch
from corpora import refusal
from networks import same_state
from tiny_study import SCALE, SEEDS, provenance

from audit.records import record_bytes
from rankcollapse import events, experiments
from rankcollapse.checkpoint import load_states
from rankcollapse.engine import Trajectory
from rankcollapse.params import ROLES
from rankcollapse.quantities import count, exact
from rankcollapse.records import FloorRow
from rankcollapse.tables import ARMS, LOSS_ARMS, SWITCHES, control, drive, longest, treat, warm_up


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


def grid(*stayed: int) -> list[FloorRow]:
    """Rows for the floors 0.02, 0.01 and 0.005 with two seeds."""
    flags = [[True] * n + [False] * (2 - n) for n in stayed]
    return [FloorRow(floor=exact(floor, digits=3), settled=count(f), stayed=count(f)) for floor, f in zip((0.02, 0.01, 0.005), flags, strict=True)]


GRIDS = {
    "the first": ([grid(2, 2, 2)], 0.02),
    "the first at which all stay": ([grid(1, 2, 2)], 0.01),
    "one that holds for both depths": ([grid(2, 2, 2), grid(0, 1, 2)], 0.005),
    "a lucky larger floor counts": ([grid(2, 0, 2)], 0.02),
}


@pytest.mark.parametrize("name", GRIDS)
def test_choice_of_floor(name):
    """The largest floor at which every seed of every depth collapsed and stayed, printed with the digits that show it."""
    grids, expected = GRIDS[name]
    floor = experiments.largest_floor("calibrate", grids, 2)
    assert floor.value == expected and float(f"{floor.value:.{floor.digits}f}") == expected


def test_no_floor_is_refused():
    """Where no floor holds for all, one line shows the counts and the cure."""
    line = refusal(experiments.largest_floor, "calibrate", [grid(0, 1, 1), grid(2, 2, 1)], 2)
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
    assert refusal(experiments.calibrate_role, "shallow", SCALE, (5, 6), str(study.data), provenance("calibrate")) == (
        "calibrate shallow: a healthy network lies below the recovery threshold; expected >= 2.000; found 1.000; cure: train longer before the ramp (driver.warm)"
    )


STAGES = {
    "calibrate": lambda scale, study: experiments.calibrate(provenance("calibrate"), scale, (5, 6), str(study.data)),
    "collapse": lambda scale, study: experiments.collapse(
        provenance("collapse"), scale, "shallow", study.records.calibration, (5, 6), str(study.data), Path("states")
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
    """Each stage that trains keeps its checkpoints apart, under the name in its provenance."""
    folders = {folder.name: len(list(folder.glob("*.safetensors"))) for folder in (study.data.parent / ".checkpoints").iterdir()}
    assert set(folders) == {"calibrate", "collapse", "branch"} and min(folders.values()) > 1


def test_events_are_what_the_drivers_show(study, role):
    """Detected, settled and saved where the rules say, with the values of that measurement and the control's loss beside it."""
    record, own = study.records.collapsed[role], getattr(study.records.calibration, role)
    assert [event.seed for event in record.events] == list(SEEDS) and record.unsettled == ()
    for event, driver, beside in zip(record.events, record.drivers, record.controls, strict=True):
        run, place = driver.trajectory, driver.trajectory.step.index(event.saved)
        assert run.rank[run.step.index(event.detected)] < own.collapse_threshold.value and event.detected > SCALE.driver.warm
        assert event.saved >= event.detected + SCALE.rules.settle_after and place == len(run.step) - 1
        assert (event.rank, event.residual, event.loss, event.at_floor) == (run.rank[place], run.residual[place], run.loss[place], run.at_floor[place])
        assert event.loss_gap == event.loss - beside.trajectory.loss[beside.trajectory.step.index(event.saved)]


def test_a_control_is_one_trajectory_from_the_start(study, role):
    """Warm-up and continuation are joined: every fifth step once, from 0 to the end of the hold, at skip scale 1."""
    for run in study.records.collapsed[role].controls:
        assert run.trajectory.step == tuple(range(0, 36, 5)) and set(run.trajectory.skip) == {1.0}


def test_saved_states_are_the_events(study, role):
    """The file holds each event at its own step and each control at its end, and nothing else."""
    states, _ = load_states(study.states / role / "states.safetensors")
    record = study.records.collapsed[role]
    assert {name: state.step for name, state in states.items()} == {f"event-{e.seed}": e.saved for e in record.events} | {f"control-{seed}": 35 for seed in SEEDS}


def test_every_event_gets_every_treatment(study, role):
    """One branch per event and arm, from the saved step on, at the treatment's scale, for the treatment's steps."""
    record = study.records.branched[role]
    assert sorted(run.name for run in record.branches) == sorted(f"{arm}/{seed}" for arm in ARMS for seed in SEEDS)
    saved = {event.seed: event for event in study.records.collapsed[role].events}
    for run in record.branches:
        steps, skip = run.trajectory.step, run.trajectory.skip
        assert steps[0] == saved[run.seed].saved
        assert steps[-1] - steps[0] == (20 if run.arm == "ramp" else 10)
        if run.arm == "ramp":
            assert skip == pytest.approx([0, 0.5, 1, 1, 1])
        else:
            assert skip == pytest.approx([SWITCHES.get(run.arm, 0.0)] * len(skip))


def test_an_untreated_branch_starts_as_the_event_was_saved(study, role):
    """Its first measurement is the event's: the same network, probe and scale."""
    saved = {event.seed: event for event in study.records.collapsed[role].events}
    for run in study.records.branched[role].branches:
        if run.arm == "untreated":
            event = saved[run.seed]
            assert (run.trajectory.rank[0], run.trajectory.loss[0]) == pytest.approx((event.rank, event.loss), rel=1e-4)


def test_loss_arms_add_what_they_were_asked_to(study, role):
    """At switch-on the added loss is 1x or 4x the matched one on the probe, hence about as much on the first batch; others add none."""
    for run in study.records.branched[role].branches:
        times = LOSS_ARMS.get(run.arm, ("none", 0))[1]
        assert run.added_target == pytest.approx(0.1 * times) and run.first_added == pytest.approx(0.1 * times, rel=0.3)
        assert (run.term, run.term_weight > 0) == (LOSS_ARMS.get(run.arm, ("none", 0))[0], times > 0)


def test_controls_reach_every_branchs_end(study, role):
    """A control was measured at the last step of each branch of its seed."""
    for run in study.records.branched[role].branches:
        own = [c for c in (*study.records.collapsed[role].controls, *study.records.branched[role].controls) if c.seed == run.seed]
        assert run.trajectory.step[-1] in {step for c in own for step in c.trajectory.step}


def test_paths_have_an_entry_per_block(study, role):
    """Every profile has one norm per block, query-key and value parts add up to the whole, and healthy differs from collapsed."""
    depth = study.records.paths[role].depth
    for event in study.records.paths[role].events:
        for profile in (event.collapsed, event.healthy, event.hinge, event.switch_03, event.switch_1):
            assert len(profile.qkv) == depth
            assert [q**2 for q in profile.qkv] == pytest.approx([qk**2 + v**2 for qk, v in zip(profile.qk, profile.v, strict=True)])
        assert event.collapsed != event.healthy and event.unseen_loss != event.unseen_loss_healthy


def test_paths_read_the_rank_on_the_rank_probe(study, role):
    """The rank before and right after a switch is the event's rank and the switch branch's first rank."""
    for path, event in zip(study.records.paths[role].events, study.records.collapsed[role].events, strict=True):
        first = {run.arm: run.trajectory.rank[0] for run in study.records.branched[role].branches if run.seed == path.seed}
        assert path.rank_before == pytest.approx(event.rank, rel=1e-4)
        assert (path.rank_at_03, path.rank_at_1) == pytest.approx((first["switch_03"], first["switch_1"]), rel=1e-4)


def test_paths_do_not_depend_on_threads(study):
    """The path record has the same bytes on one core and on two."""
    record, own = study.records, study.records.calibration.shallow
    bytes_ = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        bytes_.append(record_bytes(experiments.measure_paths(provenance("path"), SCALE, "shallow", own, record.collapsed["shallow"], str(study.data), study.states / "shallow")))
    torch.set_num_threads(1)
    assert bytes_[0] == bytes_[1] == record_bytes(record.paths["shallow"])


def test_the_same_experiment_twice(study, tmp_path):
    """Record and saved states are the same bytes and bits; other seeds give others."""
    run = lambda seeds, out: experiments.collapse(provenance("collapse"), SCALE, "shallow", study.records.calibration, seeds, str(study.data), out)  # noqa: E731
    again, other = run(SEEDS, tmp_path / "again"), run((1, 2), tmp_path / "other")
    assert record_bytes(again) == record_bytes(study.records.collapsed["shallow"]) != record_bytes(other)
    states, before = (load_states(folder / "states.safetensors")[0] for folder in (tmp_path / "again", study.states / "shallow"))
    assert set(states) == set(before) and all(same_state(states[name], before[name]) for name in states)


def test_a_seed_that_does_not_settle_is_counted_and_not_treated(study, tmp_path):
    """At a floor that collapses nothing, all seeds are unsettled, only controls are saved, and branches and paths are empty."""
    healthy = study.records.calibration.model_copy(update={"floor": exact(0.99, digits=2)})
    arguments = (SCALE, "deep", healthy.deep)
    record = experiments.collapse(provenance("collapse"), SCALE, "deep", healthy, SEEDS, str(study.data), tmp_path / "states")
    assert (record.events, record.unsettled) == ((), SEEDS) and len(record.drivers) == 2
    assert set(load_states(tmp_path / "states" / "states.safetensors")[0]) == {f"control-{seed}" for seed in SEEDS}
    assert experiments.branch(provenance("branch"), *arguments, record, str(study.data), tmp_path / "states").branches == ()
    assert experiments.measure_paths(provenance("path"), *arguments, record, str(study.data), tmp_path / "states").events == ()


def test_tables_have_runs_of_different_names_and_the_right_length(study):
    """Drivers and controls continue the warm-up's clock; a treatment's rows start at the event; the longest is what controls cover."""
    state = load_states(study.states / "shallow" / "states.safetensors")[0]["event-0"]
    rows = [*warm_up(SEEDS, SCALE), *drive(SEEDS, [state, state], 0.01, SCALE, None), *control(SEEDS, [state, state], 7, SCALE), *treat(0, state, 0.01, SCALE)]
    assert len({run.name for run in rows}) == len(rows) == 6 + len(ARMS)
    assert all(run.origin is state for run in rows[2:]) and all(run.origin is None and run.steps == 5 for run in rows[:2])
    assert longest(SCALE) == max(run.steps for run in rows[6:]) == 20
    assert events.find_collapse([5, 10], [1.0, 1.0], 2.0, SCALE.driver.warm) == 1
