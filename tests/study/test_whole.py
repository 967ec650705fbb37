"""Every experiment of the whole study on a scale of seconds: records say what was trained, and states lie where readings look for them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from corpora import refusal
from networks import SETTING as TINY
from networks import same_state
from tiny_arms import ROLE, SCALE, SEEDS, run_whole
from tiny_study import provenance

from audit.records import parse_model, read_json, record_bytes
from rankcollapse import experiments_bursts
from rankcollapse.checkpoint import load_states
from rankcollapse.checks import choose_weak
from rankcollapse.drivers import closely
from rankcollapse.engine import Trajectory, fresh_state
from rankcollapse.experiments_checks import judge
from rankcollapse.experiments_drivers import find_dip, judge_intact, leave_set

FOUND = ("checks", "drivers", "treatments", "readings", "switches", "intact", "development", "bursts", "after")


@pytest.fixture(scope="module")
def whole(study, tmp_path_factory):
    """All of it, run once; the steps of the seed set are those of the tiny study."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("whole"))
        patch.setattr(os, "sched_getaffinity", lambda _: {0})
        return run_whole(study.data, study.states / ROLE, study.records)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test with checkpoints of its own, on one core."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})


def states_of(whole, stage: str):
    """The states that an experiment saved."""
    return load_states(whole.states / stage / "states.safetensors")[0]


@pytest.mark.parametrize("name", FOUND)
def test_records_are_read_back(whole, tmp_path, name):
    """Written as records are, each comes back as it was, under a kind of its own."""
    record = getattr(whole, name)
    Path("record.json").write_bytes(record_bytes(record))
    assert parse_model(type(record), read_json(Path("record.json")), "record") == record
    assert len({getattr(whole, other).kind for other in FOUND}) == len(FOUND) and record.role == ROLE and record.depth == 3


def test_drivers_are_watched_closely(whole):
    """Every measurement is one of the cadence, with its marker; the event is the driver's last, and its control was measured there too."""
    for event, driver, beside in zip(whole.drivers.events, whole.drivers.drivers, whole.drivers.controls, strict=True):
        run = driver.trajectory
        assert run.step == tuple(step for step in (5, 10, 13, 14, 15, 16, 17, 22, 27, 30) if step <= event.saved) and run.step[-1] == event.saved
        assert len(run.extra["cosine"]) == len(run.step) and beside.trajectory.extra == {}
        assert event.loss_gap == event.loss - beside.trajectory.loss[beside.trajectory.step.index(event.saved)]
        assert beside.trajectory.step == (0, 5, 10, 13, 14, 15, 16, 17, 22, 27, 30)
    assert closely(5, SCALE) == ((5, 5), (13, 1), (17, 5)) and not whole.drivers.unsettled and not whole.drivers.dips
    assert set(states_of(whole, "drivers")) == {f"{kind}-{seed}" for kind in ("event", "control") for seed in SEEDS}


DIPS = {
    "never below": ([3.0] * 5, None),
    "heals by itself": ([3.0, 1.2, 1.1, 3.0, 3.0], (15, 2, 1.1, True)),
    "comes and goes": ([3.0, 1.2, 3.0, 1.3, 3.0], (15, 2, 1.2, True)),
    "still below at the end": ([3.0, 3.0, 3.0, 3.0, 1.0], (30, 1, 1.0, False)),
    "the early dip is none": ([1.0, 3.0, 3.0, 3.0, 3.0], None),
}


@pytest.mark.parametrize("kind", DIPS)
def test_dips(kind):
    """First step, measurements and lowest rank below 1.5 after the warm-up, and whether the network is above it at the end."""
    ranks, expected = DIPS[kind]
    dip = find_dip(3, Trajectory(step=[5, 15, 20, 25, 30], rank=ranks, at_floor=[False] * 5), 1.5, SCALE)
    assert (dip and (dip.detected, dip.measurements, dip.lowest, dip.healed)) == expected


def test_a_recorded_delayed_switch_leaves_the_untreated_branch(whole):
    """The saved pause after the longest delay is the untreated branch's last state; what is measured there differs by the skip scale alone."""
    ends = states_of(whole, "treated")
    rows = {run.name: run.trajectory for run in (*whole.treatments.branches, *whole.switches.branches)}
    for seed in SEEDS:
        assert same_state(ends[f"paused_2-{seed}"], ends[f"untreated-{seed}"])
        assert ends[f"paused_1-{seed}"].step == rows[f"delay_1/{seed}"].step[0]
        delayed, stayed = rows[f"delay_2/{seed}"], rows[f"untreated/{seed}"]
        assert delayed.step[0] == stayed.step[-1] and delayed.skip[0] == 0.3 and stayed.skip[-1] == 0.0 and delayed.loss[0] != stayed.loss[-1]


def test_what_arms_left_at_the_floor_is_saved(whole):
    """Every branch that the path is read from, each pause and each control, at its own end; nothing of the unclipped arms or the ramp."""
    saved = {event.seed: event.saved for event in whole.drivers.events}
    every = {"untreated": 7, "epsilon": 7, "paused_1": 3, "paused_2": 7, "penalty_1x": 4, "hinge_4x": 4}
    steps = {f"{name}-{seed}": saved[seed] + late for name, late in every.items() for seed in SEEDS}
    steps |= {f"{name}-{SEEDS[0]}": saved[SEEDS[0]] + late for name, late in {"cosine_1x": 4, "aged_decay_0": 7}.items()}
    ends = {name: state.step for name, state in states_of(whole, "treated").items()}
    assert {name: step for name, step in ends.items() if "control" not in name} == steps
    assert {name: step for name, step in ends.items() if "control" in name} == {f"control-{run.seed}": run.trajectory.step[-1] for run in whole.treatments.controls}


def test_controls_are_measured_where_any_arm_ends(whole):
    """Beside each collapse: at every end that lies after the driver's hold, those of delayed switches included."""
    for control in whole.treatments.controls:
        ends = {run.arm: run.trajectory.step[-1] for run in (*whole.treatments.branches, *whole.switches.branches) if run.seed == control.seed}
        assert {end for end in ends.values() if end > 30} <= set(control.trajectory.step)
        assert (ends["ramp"], ends["delay_1"], ends["delay_2"], control.trajectory.step[-1]) == (31, 33, 37, 37)


def test_replays_agree_with_what_was_logged(whole):
    """One row per collapse, switch and number of updates: the rank is that which the branch logged there, where there is such a branch."""
    logged = {run.name: run.trajectory for run in whole.switches.branches}
    assert [(row.seed, row.skip, row.updates) for row in whole.switches.replays] == [(seed, skip, n) for seed in SEEDS for skip in (0.3, 1.0) for n in (1, 3)]
    for row in whole.switches.replays:
        branch = logged.get({0.3: "switch_03", 1.0: "switch_1"}[row.skip] + f"/{row.seed}")
        assert (branch is None) == (row.logged is None) == (row.skip == 1.0 and row.seed == SEEDS[1])
        if branch is not None:
            place = branch.step.index(branch.step[0] + row.updates)
            assert (row.rank, row.logged, row.error) == (branch.rank[place], branch.rank[place], 0.0) and row.loss == branch.loss[place]


def test_checks_on_the_calibrations_own_collapses(whole):
    """Four branches and the weak grid per settled seed; counts are those of the branches, and the choice follows from the grid."""
    record, own = whole.checks, getattr(whole.calibration, ROLE)
    assert record.settled == (5, 6) and record.unsettled == () and record.floor == whole.calibration.floor.value
    names = ("untreated", "check_every", "check_last", "check_tenfold", "weak_0.3", "weak_0.6")
    assert [run.name for run in record.branches] == [f"{name}/{seed}" for seed in (5, 6) for name in names]
    for row, arm in zip(record.weak_grid, ("weak_0.3", "weak_0.6"), strict=True):
        trajectories = [run.trajectory for run in record.branches if run.arm == arm]
        flags = [judge(Trajectory(**dict(t) | {"rank": list(t.rank)}), own, SCALE).rank for t in trajectories]
        assert row.recovered.values == tuple(map(int, flags)) and set(trajectories[0].skip) == {row.skip.value}
    assert record.weak_scale.value == choose_weak({row.skip.value: row.effective.values for row in record.weak_grid}) and record.stayed.value == 2


def test_intact_drivers_are_judged_by_the_uncentred_rank(whole):
    """The collapse threshold, which a rank can be below; one verdict per seed and arm; without the reading nothing is trained."""
    record, low = whole.intact, getattr(whole.calibration, ROLE).collapse_threshold.value
    assert [arm.arm for arm in record.arms] == ["decay", "gain_4", "gain_8"] and record.threshold == low and record.healthy_rank > 1
    assert all(len(arm.detected.values) == 2 for arm in record.arms) and all(set(run.trajectory.skip) == {1.0} for run in record.runs)
    plan = SCALE.study.intact.model_copy(update={"readings": ()})
    blind = SCALE.model_copy(update={"study": SCALE.study.model_copy(update={"intact": plan})})
    line = refusal(leave_set, provenance("intact"), blind, ROLE, getattr(whole.calibration, ROLE), (7,), "nowhere")
    assert line.endswith("expected uncentred_rank in study.intact.readings")


INTACT = {
    "never": ([3.0] * 5, 0, 0),
    "only before the warm-up's end": ([1.0, 3.0, 3.0, 3.0, 3.0], 0, 0),
    "detected, not settled": ([3.0, 1.0, 3.0, 3.0, 3.0], 1, 0),
    "settled": ([3.0, 1.0, 1.0, 1.0, 1.0], 1, 1),
}


@pytest.mark.parametrize("kind", INTACT)
def test_an_intact_collapse_would_be_seen(kind):
    """Below 1.5 after the warm-up is a detection, and staying there for five steps with its median of two a settled collapse."""
    series, detected, settled = INTACT[kind]
    arm = judge_intact("gain_4", [Trajectory(step=[5, 10, 15, 20, 25], extra={"uncentred_rank": series})], SCALE, 1.5)
    assert (arm.detected.value, arm.settled.value) == (detected, settled)


def test_development_chooses_the_multipliers(whole):
    """The whole grid and its doubles are tried; m1 is chosen from what lay below the threshold, m2 is twice it, and both go on."""
    record, low = whole.development, getattr(whole.calibration, ROLE).collapse_threshold.value
    assert [each.multiplier for each in record.excursions] == [20.0, 40.0, 80.0] and record.m2.value == 2 * record.m1.value
    for each in record.excursions:
        ends = [run.trajectory for run in record.bursts if run.name.startswith(f"burst_{each.multiplier:g}/")]
        assert each.rank == tuple(run.rank[-1] for run in ends) and each.below.values == tuple(int(run.rank[-1] < low) for run in ends)
    below = {each.multiplier: each.below.value == 2 for each in record.excursions}
    assert record.m1.value == (20.0 if below[20.0] else 40.0) and record.all_below == below[record.m1.value]
    assert {run.arm for run in record.branches} == {f"after_{record.m1.value:g}", f"after_{record.m2.value:g}"} and len(record.branches) == 4


def test_continuations_go_on_from_the_saved_networks(whole):
    """First measurement after a burst is its last: same network, step and probe; the paired control likewise."""
    ends = {run.name: run.trajectory for run in (*whole.bursts.bursts, *whole.bursts.controls)}
    rows = [*whole.after.branches, *whole.after.controls]
    assert len(rows) == 9 and {run.start for run in rows} == {9} and {run.trajectory.step[-1] for run in rows} == {15}
    for run in rows:
        before = ends[run.name.replace("after_", "burst_")]
        assert (run.trajectory.rank[0], run.trajectory.loss[0]) == (before.rank[-1], before.loss[-1])
    steps = {name: state.step for name, state in states_of(whole, "bursts").items()}
    assert steps == {f"{name}-{seed}": 9 for name in ("m1", "m2", "control") for seed in (11, 12, 13)}


def test_a_burst_that_diverges_is_counted(whole, monkeypatch):
    """It has no rank, does not lie below the threshold, is not saved and not continued; the others are."""
    rows = {
        "burst_20/1": (Trajectory(step=[9], rank=[1.0], loss=[5.0], at_floor=[False]), fresh := "state"),
        "burst_20/2": (Trajectory(step=[5], rank=[1.2], loss=[4.0], at_floor=[False], diverged_at=7), fresh),
        "control/1": (Trajectory(step=[9], rank=[3.0], loss=[4.5], at_floor=[False]), fresh),
        "control/2": (Trajectory(step=[9], rank=[3.0], loss=[4.5], at_floor=[False]), fresh),
    }
    judged = experiments_bursts.judge_excursion(20.0, (1, 2), rows, 1.5)
    assert (judged.below.values, judged.diverged.values, judged.rank, judged.loss_gap) == ((1, 0), (0, 1), (1.0, None), (0.5, None))
    ends = experiments_bursts.last_states((1, 2), {"m1": "burst_20", "m2": "burst_40", "control": "control"}, rows)
    assert sorted(ends) == ["control-1", "control-2", "m1-1"]
    monkeypatch.setattr(experiments_bursts, "train_named", lambda *_: {})
    runs, _ = experiments_bursts.follow(
        type("Bench", (), {"scale": SCALE}), (1, 2), (20.0, 40.0), {name: replace(fresh_state(0, TINY), step=9) for name in ends}
    )  # fmt: skip
    assert [run.name for run in runs] == ["after_20/1", "control/1", "control/2"]
