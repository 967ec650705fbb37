"""The arms of a saved collapse: what each name stands for, in training and on paper; forks, clocks and clipping as the study needs them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from corpora import refusal
from interruptible import TABLE_SETTING, train_runs
from networks import same_state
from tiny_arms import EVERY, FEW, SCALE, lend
from tiny_study import SCALE as BEFORE

from rankcollapse import treatments
from rankcollapse.ageing import age, reset_moments
from rankcollapse.checks import check_losses, choose_weak, in_band, try_scales
from rankcollapse.engine import Fork, Run, fresh_state
from rankcollapse.fanout import clear_checkpoints, cut_table
from rankcollapse.params import SetArms
from rankcollapse.schedule import HELD, at, constant
from rankcollapse.treatments import Site

SAVED, FLOOR, WEAK = 22, 0.02, 0.15
PAUSE = SAVED + SCALE.study.delays[-1]


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch):
    """Terms and readings that are not there yet."""
    lend(monkeypatch)


def site(seed: int = 0, step: int = SAVED) -> Site:
    """A collapse saved at a step, as its table names it."""
    return Site(seed, Fork(f"event/{seed}", step), FLOOR, WEAK, SCALE)


ARMS = {  # steps, skip scale at the start and the end, term, added loss, exempt, measured every, step it sets out at
    "untreated": (7, FLOOR, FLOOR, "none", 0.0, False, 5, SAVED),
    "ramp": (9, FLOOR, 1.0, "none", 0.0, False, 5, SAVED),
    "switch_weak": (8, WEAK, WEAK, "none", 0.0, False, 1, SAVED),
    "switch_03": (8, 0.3, 0.3, "none", 0.0, False, 1, SAVED),
    "switch_06": (8, 0.6, 0.6, "none", 0.0, False, 1, SAVED),
    "switch_1": (8, 1.0, 1.0, "none", 0.0, False, 1, SAVED),
    "delay_1": (8, 0.3, 0.3, "none", 0.0, False, 1, SAVED + 3),
    "delay_2": (8, 0.3, 0.3, "none", 0.0, False, 1, SAVED + 7),
    "penalty_1x": (4, FLOOR, FLOOR, "penalty", 0.1, False, 5, SAVED),
    "penalty_4x": (4, FLOOR, FLOOR, "penalty", 0.4, False, 5, SAVED),
    "hinge_1x": (4, FLOOR, FLOOR, "hinge", 0.1, False, 5, SAVED),
    "hinge_4x": (4, FLOOR, FLOOR, "hinge", 0.4, False, 5, SAVED),
    "cosine_1x": (4, FLOOR, FLOOR, "cosine", 0.1, False, 5, SAVED),
    "penalty_1x_unclipped": (4, FLOOR, FLOOR, "penalty", 0.1, True, 5, SAVED),
    "hinge_1x_unclipped": (4, FLOOR, FLOOR, "hinge", 0.1, True, 5, SAVED),
    "hinge_4x_unclipped": (4, FLOOR, FLOOR, "hinge", 0.4, True, 5, SAVED),
    "hinge_10x_unclipped": (4, FLOOR, FLOOR, "hinge", 1.0, True, 5, SAVED),
}


@pytest.mark.parametrize("arm", ARMS)
def test_what_an_arm_stands_for(arm):
    """Budget, skip scale, added loss, clipping, cadence and origin of every arm there is."""
    run = treatments.list_arms(SCALE)[arm](site())
    assert run.name == f"{arm}/0" and run.seed == 0 and run.blocks is None
    found = (run.steps, at(run.skip, run.start), at(run.skip, run.end), run.term, run.added, run.exempt, run.measure_every, run.start)
    assert found == pytest.approx(ARMS[arm]) if found[3] == "none" else found == ARMS[arm]
    assert run.origin == (Fork("untreated/0", run.start) if arm.startswith("delay_") else Fork("event/0", SAVED))
    assert run.learning_rate is None and run.weight_decay is None


def test_no_other_arm():
    """The names are those of the table above; the reversed ramp is at 1 when its steps are over, and half-way in between."""
    assert set(treatments.list_arms(SCALE)) == set(ARMS)
    ramp = treatments.list_arms(SCALE)["ramp"](site())
    assert [at(ramp.skip, SAVED + step) for step in (0, 3, 6, 9)] == pytest.approx([FLOOR, 0.51, 1, 1])


FAULTS = {
    "unknown arm": ({"main": SetArms(every=("untreated", "hinge_2x"))}, "main", "params.yaml: arms.main names no arm; expected untreated, ramp, "),
    "unknown descriptive arm": ({"main": SetArms(every=("ramp",), few=("delay_3",))}, "main", "params.yaml: arms.main names no arm; expected "),
    "no arms for a set": ({"main": SetArms(every=("ramp",))}, "replication", "params.yaml: no arms for the seed set 'replication'; expected main"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_arms_that_are_not_there(kind):
    """One line names the set and what is known."""
    arms, name, line = FAULTS[kind]
    assert refusal(treatments.arms_of, SCALE.model_copy(update={"arms": arms}), name).startswith(line)


def test_a_scale_without_the_whole_study():
    """The study before it has no such values; asking for them is refused in one line."""
    assert BEFORE.study is None and BEFORE.arms == {}
    assert refusal(treatments.list_arms, BEFORE) == "params.yaml: this scale has no values for the whole study; expected scales.<scale>.study"


def test_descriptive_arms_are_of_the_first_collapses():
    """Collapse by collapse, the longest run first; the few arms of as many collapses as the set says."""
    runs = treatments.treat([site(7), site(3), site(5)], SetArms(every=EVERY, few=FEW, few_events=2))
    assert [run.seed for run in runs] == [7] * 12 + [3] * 12 + [5] * 8
    assert {run.name.partition("/")[0] for run in runs if run.seed == 5} == set(EVERY)
    for seed in (7, 3, 5):
        steps = [run.steps for run in runs if run.seed == seed]
        assert steps == sorted(steps, reverse=True)


def test_a_further_seed_leaves_the_blocks_before_it(tmp_path):
    """The blocks of the origins' generation and of the forks' stay as they are, but for the last of each, which the new runs join."""
    arms = SetArms(every=EVERY, few=FEW, few_events=2)

    def blocks(*seeds: int) -> list[list[tuple[str, ...]]]:
        runs = treatments.treat([replace(site(seed), origin=replace(fresh_state(seed, TABLE_SETTING), step=SAVED)) for seed in seeds], arms)
        jobs = cut_table("t", runs, 3, setting=TABLE_SETTING, folder=tmp_path, probe=torch.zeros(2, 7).numpy(), data={}, store=tmp_path, seconds=1.0)
        names = [tuple(run.name for run in job.runs) for job in jobs]
        return [[row for row in names if row[0].startswith("delay") == late] for late in (False, True)]

    for few, more in zip(blocks(0, 1, 2), blocks(0, 1, 2, 3), strict=True):
        assert few[:-1] == more[: len(few) - 1] and len(more) > len(few) - 1 and set(few[-1]) <= set(more[len(few) - 1])


def test_pauses_are_the_delayed_switches_origins():
    """A run of no step per delay of the set, where the delayed switch leaves the untreated branch."""
    runs = treatments.pauses([site(0), site(3)], SetArms(every=EVERY))
    assert [(run.name, run.steps, run.origin) for run in runs[:2]] == [
        ("paused_1/0", 0, Fork("untreated/0", SAVED + 3)), ("paused_2/0", 0, Fork("untreated/0", SAVED + 7))
    ]  # fmt: skip
    assert len(runs) == 4 and treatments.pauses([site(0)], SetArms(every=("untreated", "ramp"))) == []


def test_a_control_is_measured_where_arms_end():
    """It lasts to the end of the seed's last arm, and is measured at each end that lies ahead of it."""
    arms = treatments.treat([site(0), site(1)], SetArms(every=EVERY, few=FEW, few_events=1))
    run = treatments.accompany(0, Fork("healthy/0", 27), arms, SCALE)
    ends = sorted({arm.end for arm in arms if arm.seed == 0})
    assert ends == [26, 29, 30, 31, 33, 37] and (run.start, run.end) == (27, 37) and at(run.skip, 30) == 1.0
    assert [step for step in range(27, 38) if run.is_due(step)] == [27, 29, 30, 31, 33, 37]
    assert treatments.accompany(0, Fork("healthy/0", 50), arms, SCALE).steps == 1


def real(**changes) -> Site:
    """A site whose origin is a state: an initial network, said to have reached the step."""
    return replace(site(), origin=replace(fresh_state(0, TABLE_SETTING), step=SAVED), **changes)


def step_up(step: int) -> tuple[tuple[int, float], ...]:
    """The floor before a step, 0.3 from it on, without a fork."""
    return ((0, FLOOR), (step - 1, FLOOR), (step, 0.3), (HELD, 0.3))


@pytest.mark.parametrize("block", [1, 4])
def test_a_delayed_switch_is_the_untreated_run_until_it(table, block):
    """One long run whose skip scale steps up after the delay has the delayed branch's bits; the pause is the untreated state of that step.

    The stretch at the floor is trained once: by the untreated branch.
    """
    own, arms = real(), treatments.list_arms(SCALE)
    straight = Run("straight", 0, 15, step_up(PAUSE), measure_every=1, origin=own.origin)
    part = Run("part", 0, 3, constant(FLOOR), origin=own.origin)
    [first, second] = treatments.pauses([own], SetArms(every=EVERY))
    results = table(arms["delay_1"](own), arms["delay_2"](own), straight, arms["untreated"](own), part, first, second, block=block)
    assert same_state(results["paused_1/0"][1], results["part"][1]) and same_state(results["paused_2/0"][1], results["untreated/0"][1])
    assert same_state(results["delay_2/0"][1], results["straight"][1]) and not same_state(results["delay_1/0"][1], results["straight"][1])
    delayed, whole = results["delay_2/0"][0], results["straight"][0]
    assert delayed.step == list(range(PAUSE, PAUSE + 9)) and delayed.rank == whole.rank[7:] and delayed.loss == whole.loss[7:]
    assert set(delayed.skip) == {0.3} and delayed.trained == 8 and results["paused_1/0"][0].trained == 0


def test_a_delayed_switch_needs_the_untreated_branch(table):
    """Without it in the table, or with one that ends before the delay, the table is refused."""
    arms = treatments.list_arms(SCALE)
    assert "origin does not exist" in refusal(table, arms["delay_1"](real()))
    short = SCALE.model_copy(update={"branches": SCALE.branches.model_copy(update={"untreated_steps": 6})})
    assert "origin untreated/0 is never at that step" in refusal(table, *(treatments.list_arms(short)[arm](real(scale=short)) for arm in ("untreated", "delay_2")))


def test_replayed_updates_are_those_of_the_branch(table):
    """The chain of replays ends bit for bit where a run of as many updates does, and reads the ranks that the branch has logged."""
    own = real()
    direct = [Run(f"direct_{updates}", 0, updates, constant(0.3), origin=own.origin) for updates in (1, 3)]
    results = table(*treatments.replay(own), treatments.list_arms(SCALE)["switch_03"](own), *direct)
    for updates in (1, 3):
        assert same_state(results[f"replay_03_{updates}/0"][1], results[f"direct_{updates}"][1])
    logged = results["switch_03/0"][0]
    for name in ("replay_03_1/0", "replay_03_3/0"):
        again = results[name][0]
        assert again.rank == logged.rank[again.step[0] - SAVED : again.step[-1] - SAVED + 1]
    assert results["replay_1_3/0"][0].skip == [1.0, 1.0, 1.0] and results["replay_1_3/0"][1].step == SAVED + 3


def unclipped_and_not(data, clip: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights after the arm hinge 4x unclipped, and after hinge 4x, at a clipping norm."""
    setting = replace(TABLE_SETTING, optimiser=TABLE_SETTING.optimiser.model_copy(update={"clip": clip}))
    arms = treatments.list_arms(SCALE)
    runs = [replace(arms[arm](real()), name=arm) for arm in ("hinge_4x_unclipped", "hinge_4x")]
    results = train_runs(data, tuple(runs), setting, seconds=1e9)
    clear_checkpoints("table")
    return results[0][1].weights, results[1][1].weights


def test_the_unclipped_arm_is_another_only_where_clipping_acts(data, table):
    """Under a norm that nothing reaches both arms are one; under a small one they are not."""
    loose, tight = unclipped_and_not(data, 1e6), unclipped_and_not(data, 0.05)
    moved = (loose[1] - real().origin.weights).norm()
    assert (loose[0] - loose[1]).norm() < 1e-3 * moved < 0.1 * (tight[0] - tight[1]).norm()


def test_checks_of_the_hinge():
    """On every block at the matched loss, on the last block alone, at ten times; and the untreated copy."""
    runs = {run.name: run for run in check_losses(site(), 3)}
    assert {name: (run.term, run.added, run.blocks) for name, run in runs.items()} == {
        "untreated/0": ("none", 0.0, None), "check_every/0": ("hinge", 0.1, None), "check_last/0": ("hinge", 0.1, (2,)), "check_tenfold/0": ("hinge", 1.0, None)
    }  # fmt: skip
    assert {at(run.skip, run.start) for run in runs.values()} == {FLOOR}


def test_the_weak_grid_is_a_switch_each():
    """Name, scale, budget and cadence are those of the weak switch."""
    runs = try_scales(site(), (0.05, 0.1))
    assert [(run.name, at(run.skip, SAVED), run.steps, run.measure_every) for run in runs] == [("weak_0.05/0", 0.05, 8, 1), ("weak_0.1/0", 0.1, 8, 1)]


WEAK_CASES = {
    "one of two": ({0.05: [0, 0], 0.1: [1, 0], 0.2: [1, 1]}, 0.1, True),
    "ties go to the smaller": ({0.05: [1, 0, 0], 0.1: [1, 1, 0], 0.2: [1, 1, 1]}, 0.05, True),
    "nearest to a half, in any order": ({0.2: [1, 1, 1, 0], 0.05: [0, 0, 0, 0], 0.1: [1, 1, 0, 0]}, 0.1, True),
    "all or nothing": ({0.05: [0, 0], 0.1: [1, 1]}, 0.05, False),
    "one value": ({0.1: [1, 1, 1]}, 0.1, False),
}


@pytest.mark.parametrize("kind", WEAK_CASES)
def test_choice_of_the_weak_scale(kind):
    """The scale at which recoveries come nearest to a half; whether the share lies in the band of 30 to 70 % is said beside it."""
    grid, expected, inside = WEAK_CASES[kind]
    assert choose_weak(grid) == expected and in_band(grid[expected], 0.3, 0.7) is inside


def test_what_ages(table):
    """The reset arm has the aged weights and no moments; the other ages without decay, and decays from the switch on."""
    own = real()
    [aged] = [result[1] for name, result in table(treatments.list_arms(SCALE)["untreated"](own)).items()]
    empty = reset_moments(aged)
    assert torch.equal(empty.weights, aged.weights) and empty.step == aged.step == PAUSE and not empty.moment1.any() and not empty.moment2.any()
    assert aged.moment1.any()
    stretch, after, reset = age(own, empty)
    assert [(run.name, run.start, run.steps) for run in (stretch, after, reset)] == [
        ("aged_decay_0/0", SAVED, 7), ("decay_0/0", PAUSE, 8), ("reset/0", PAUSE, 8)
    ]  # fmt: skip
    assert at(stretch.weight_decay, SAVED) == 0.0 and after.weight_decay is None and at(stretch.skip, SAVED) == FLOOR and at(after.skip, PAUSE) == 0.3
    results = table(stretch, after, reset, Run("decays", 0, 7, constant(FLOOR), origin=own.origin))
    ends = [results[name][1].weights for name in ("aged_decay_0/0", "decays")]
    assert ends[0].norm() > ends[1].norm() and results["reset/0"][0].trained == 8
