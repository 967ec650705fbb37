"""Arms at the floor, readings and switches are three steps: outcomes can be forecast before any switch is trained, and nothing of it changes then."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest
import torch
from corpora import read_folder, refusal
from interruptible import TABLE_SETTING
from networks import same_state
from tiny_study import EVERY, FEW, SCALE, SEEDS, provenance, reader_of, weak_scale

from audit.records import record_bytes
from rankcollapse import experiments_arms, treatments
from rankcollapse.checkpoint import STATES, load_states, save_states
from rankcollapse.engine import Stack
from rankcollapse.experiments_arms import bench_of, sites_of, switch_set, treat_set
from rankcollapse.experiments_drivers import describe_arms, train_named
from rankcollapse.params import SetArms
from rankcollapse.readings import Reader, measure_readings
from rankcollapse.treatments import is_switch, pauses, replay, treat

ROLE = "deep"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test with checkpoints of its own, on one core."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})


@pytest.fixture
def tables(monkeypatch):
    """The names of the runs of every table that is trained from here on."""
    trained, train = [], train_named

    def listed(bench, name, runs):
        trained.append([run.name for run in runs])
        return train(bench, name, runs)

    monkeypatch.setattr(experiments_arms, "train_named", listed)
    return trained


def own(study):
    """The calibration of the depth."""
    return getattr(study.records.calibration, ROLE)


def treat_again(study, ends: Path, scale=SCALE):
    """The arms at the floor once more."""
    driven = study.states / ROLE / "drivers"
    return treat_set(provenance("treatments"), scale, ROLE, "main", own(study), study.records.drivers[ROLE], str(study.data), driven, ends)


def switch_again(study, ends: Path, scale=SCALE, weak: float | None = None):
    """The switches once more, from the ends in a folder."""
    records, driven = study.records, study.states / ROLE / "drivers"
    drivers, weak = records.drivers[ROLE], weak or weak_scale(records.checks[ROLE])
    reader = reader_of(records.calibration, ROLE, study.data, drivers.floor, scale)
    return switch_set(provenance("switches"), scale, ROLE, "main", own(study), weak, drivers, reader, str(study.data), driven, ends)


def with_arms(every: tuple[str, ...], few: tuple[str, ...] = ()):
    """The scale with other arms of the main set."""
    return SCALE.model_copy(update={"arms": {"main": SetArms(every=every, few=few, few_events=1)}})


def test_no_switch_is_trained_before_it_is_forecast(study, tables):
    """The first step trains every arm that is no switch, the pauses and the controls; the last one the switches and replays, and nothing twice."""
    treat_again(study, Path("ends"))
    switch_again(study, study.states / ROLE / "treated")
    arms, epsilon, late = ({name.partition("/")[0] for name in names} for names in tables)
    assert epsilon == {"epsilon"} and arms | epsilon == {arm for arm in (*EVERY, *FEW) if not is_switch(arm)} | {"paused_1", "paused_2", "control"}
    assert late == {arm for arm in (*EVERY, *FEW) if is_switch(arm)} | {f"replay_{arm}_{n}" for arm in ("03", "1") for n in (1, 3)}


def test_the_floor_does_not_depend_on_the_switches(study, monkeypatch):
    """With every switch at another scale the first step's record, what it leaves and what is read from it have the same bytes; the last step's has not."""
    records, driven, before = study.records, study.states / ROLE / "drivers", study.states / ROLE / "treated"
    for name in treatments.SWITCHES:
        monkeypatch.setitem(treatments.SWITCHES, name, 0.9)
    strange = SCALE.model_copy(update={"study": SCALE.study.model_copy(update={"delayed_skip": 0.9})})
    treated = treat_again(study, Path("ends"), strange)
    assert record_bytes(treated) == record_bytes(records.treated[ROLE]) and read_folder(Path("ends")) == read_folder(before)
    reader = reader_of(records.calibration, ROLE, study.data, records.drivers[ROLE].floor)
    read = measure_readings(provenance("readings"), ROLE, reader, records.drivers[ROLE], treated, weak_scale(records.checks[ROLE]), driven, Path("ends"))
    assert record_bytes(read) == record_bytes(records.readings[ROLE])
    assert switch_again(study, before, strange).branches != records.switched[ROLE].branches


def test_switching_leaves_what_it_set_out_from(study):
    """The saved states and ends have the same bytes after the switches; doing them again gives the record's bytes."""
    folders = [study.states / ROLE / step for step in ("drivers", "treated")]
    before = [read_folder(folder) for folder in folders]
    again = switch_again(study, folders[1])
    assert [read_folder(folder) for folder in folders] == before and record_bytes(again) == record_bytes(study.records.switched[ROLE])


def test_branches_do_not_depend_on_which_switches_follow(study):
    """Without any switch in the set, arms at the floor and what they leave are bit for bit the same; only pauses and the controls' length differ."""
    floor = with_arms(*(tuple(arm for arm in arms if not is_switch(arm)) for arms in (EVERY, FEW)))
    treated, record = treat_again(study, Path("ends"), floor), study.records.treated[ROLE]
    assert treated.branches == record.branches
    few, many = (load_states(folder / STATES)[0] for folder in (Path("ends"), study.states / ROLE / "treated"))
    assert {name.rpartition("-")[0] for name in set(many) - set(few)} == {"paused_1", "paused_2"} and set(few) <= set(many)
    assert all(same_state(few[name], many[name]) for name in few if not name.startswith("control"))
    for short, long in zip(treated.controls, record.controls, strict=True):
        assert short.trajectory.step[-1] == 31 < 37 == long.trajectory.step[-1]


def test_switches_from_saved_ends_are_forks_of_one_table(study):
    """Everything in one table, delays as forks of the untreated branch: the switches' rows, and the states they end in, are bit for bit the same."""
    records, folder = study.records, study.states / ROLE
    drivers, weak, arms = records.drivers[ROLE], weak_scale(records.checks[ROLE]), SCALE.arms["main"]
    bench = bench_of("one table", provenance("one"), SCALE, ROLE, own(study), str(study.data))
    forks, saved = sites_of(drivers, folder / "drivers", weak, SCALE), sites_of(drivers, folder / "drivers", weak, SCALE, folder / "treated")
    unforked = ("decay_0", "reset")
    rows = [run for run in treat(forks, arms) if not run.name.startswith(unforked)]
    together = train_named(bench, "all", [*rows, *pauses(forks, arms), *(run for site in forks for run in replay(site))])
    late = [run for run in treat(saved, arms, is_switch) if not run.name.startswith(unforked)]
    apart = train_named(bench, "late", late)
    forked = [run for run in rows if is_switch(run.name.partition("/")[0])]
    expected = [row for row in records.switched[ROLE].branches if row.arm not in unforked]
    assert {run.name for run in late if run.name.startswith("delay_")} == {f"delay_{n}/{seed}" for n in (1, 2) for seed in SEEDS}
    assert list(describe_arms(forked, together)) == expected == list(describe_arms(late, apart)) and len(expected) == 10
    assert all(same_state(apart[run.name][1], together[run.name][1]) for run in late)


def test_ageing_arms_set_out_from_what_was_saved(study):
    """`reset` is `delay_2` with emptied moments: the first measurement is its own, and no later one; `decay_0` sets out from the network aged without decay."""
    rows = {run.name: run.trajectory for run in study.records.switched[ROLE].branches}
    seed, ends = SEEDS[0], load_states(study.states / ROLE / "treated" / STATES)[0]
    reset, delayed, decayed = (rows[f"{arm}/{seed}"] for arm in ("reset", "delay_2", "decay_0"))
    assert reset.step == delayed.step == decayed.step
    assert (reset.rank[0], reset.loss[0], reset.residual[0]) == (delayed.rank[0], delayed.loss[0], delayed.residual[0])
    assert all(one != other for one, other in zip(reset.loss[1:], delayed.loss[1:], strict=True)) and decayed.loss[0] != delayed.loss[0]
    [first, _] = sites_of(study.records.drivers[ROLE], study.states / ROLE / "drivers", 0.3, SCALE, study.states / ROLE / "treated")
    assert not first.aged["reset"].moment1.any() and not first.aged["reset"].moment2.any()
    assert torch.equal(first.aged["reset"].weights, ends[f"paused_2-{seed}"].weights) and ends[f"paused_2-{seed}"].moment1.any()
    assert same_state(first.aged["aged_decay_0"], ends[f"aged_decay_0-{seed}"])
    stretch = next(run for run in study.records.treated[ROLE].branches if run.arm == "aged_decay_0")
    assert stretch.seed == seed and ends[f"aged_decay_0-{seed}"].step == stretch.trajectory.step[-1] == delayed.step[0]
    assert ends[f"aged_decay_0-{seed}"].weights.norm() > ends[f"untreated-{seed}"].weights.norm()


def test_another_epsilon_is_trained_with_that_epsilon_alone(study):
    """The arm's networks are those of the untreated copy under Adam's epsilon of 1e-12, bit for bit, and not those of the usual one."""
    assert SCALE.study.epsilon == 1e-12 != SCALE.optimiser.epsilon
    small = SCALE.model_copy(update={"optimiser": SCALE.optimiser.model_copy(update={"epsilon": 1e-12})})
    treat_again(study, Path("ends"), small.model_copy(update={"arms": with_arms(("untreated",)).arms}))
    apart, ends = (load_states(folder / STATES)[0] for folder in (Path("ends"), study.states / ROLE / "treated"))
    for seed in SEEDS:
        assert same_state(ends[f"epsilon-{seed}"], apart[f"untreated-{seed}"])
        assert ends[f"untreated-{seed}"].step == ends[f"epsilon-{seed}"].step and not same_state(ends[f"untreated-{seed}"], ends[f"epsilon-{seed}"])


STEPS = {
    "the floor": lambda study, scale: (treat_again(study, Path("ends"), scale), study.records.treated[ROLE]),
    "the switches": lambda study, scale: (switch_again(study, study.states / ROLE / "treated", scale), study.records.switched[ROLE]),
}


@pytest.mark.parametrize("kind", STEPS)
def test_an_interrupted_step_ends_in_the_same_bytes(study, monkeypatch, kind):
    """Interrupted at its twentieth update, a step goes on from its checkpoints: fewer updates are made, and record and ends have the bytes of one go."""
    scale, step, counts = SCALE.model_copy(update={"checkpoint_seconds": 0.0}), Stack.step, [0]

    def counted(stack):
        counts[-1] += 1
        if len(counts) == 1 and counts[0] == 20:
            raise KeyboardInterrupt
        step(stack)

    monkeypatch.setattr(Stack, "step", counted)
    with pytest.raises(KeyboardInterrupt):
        STEPS[kind](study, scale)
    counts.append(0)
    again, before = STEPS[kind](study, scale)
    assert record_bytes(again) == record_bytes(before)
    assert kind != "the floor" or read_folder(Path("ends")) == read_folder(study.states / ROLE / "treated")
    shutil.rmtree(".checkpoints")
    counts.append(0)
    STEPS[kind](study, scale)
    assert counts[0] == 20 and 0 < counts[1] == counts[2] - 19


MISSING = {
    "paused_1": ("run delay_1/0: origin does not exist; expected a run of the same table; found untreated/0"),
    "paused_2": ("run delay_2/0: origin does not exist; expected a run of the same table; found untreated/0"),
    "aged_decay_0": ("run decay_0/0: origin does not exist; expected a run of the same table; found untreated/0"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_switch_without_its_aged_network_is_refused(study, name):
    """Where the first step left no such network, the last one trains nothing and says what the switch should have set out from."""
    ends, _ = load_states(study.states / ROLE / "treated" / STATES)
    save_states(Path("ends") / STATES, {key: state for key, state in ends.items() if key != f"{name}-{SEEDS[0]}"})
    assert refusal(switch_again, study, Path("ends")) == MISSING[name] and not Path(".checkpoints").exists()


def test_each_seeds_networks_are_its_own(study):
    """A seed whose digits end another's does not get its networks."""
    state = replace(load_states(study.states / ROLE / "treated" / STATES)[0]["untreated-0"])
    ends = {"paused_1-3": state, "paused_1-13": replace(state, step=1), "paused_2-13": replace(state, step=2), "untreated-3": state}
    found = {seed: experiments_arms.aged_states(ends, seed, SCALE) for seed in (3, 13)}
    assert sorted(found[3]) == ["paused_1", "untreated"] and sorted(found[13]) == ["paused_1", "paused_2", "reset"]
    assert (found[3]["paused_1"].step, found[13]["paused_1"].step, found[13]["reset"].step) == (state.step, 1, 2)


def test_a_set_with_no_switch_at_all(study):
    """Arms at the floor alone: the last step trains nothing, replays nothing and writes an empty record."""
    record = switch_again(study, study.states / ROLE / "treated", with_arms(("untreated", "ramp")))
    assert (record.branches, record.replays) == ((), ()) and not Path(".checkpoints").exists()


def test_unigram_loss_by_hand():
    """Counts 5, 1, 0, 0, one added to each: shares 0.6, 0.2, 0.1, 0.1; the first token of a sequence is not predicted."""
    tokens = torch.tensor([[3, 0, 1, 2], [0, 0, 0, 3]])
    reader = Reader(TABLE_SETTING, SCALE.study, tokens, tokens, np.array([5, 1, 0, 0]), 0.0, 0.1, {})
    assert reader.unigram_loss() == pytest.approx(-(3 * log(0.6) + log(0.2) + 2 * log(0.1)) / 6, rel=1e-12)
