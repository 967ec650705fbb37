"""The arms of a saved collapse: what each name stands for, in training and on paper; forks, clocks and clipping as the study needs them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from corpora import refusal
from interruptible import TABLE_SETTING, train_runs
from networks import same_state
from tiny_arms import EVERY, FEW, SCALE

from rankcollapse import treatments
from rankcollapse.checks import check_losses, choose_weak, in_band, try_scales
from rankcollapse.engine import Fork, Run, fresh_state
from rankcollapse.fanout import cut_table
from rankcollapse.params import SetArms
from rankcollapse.schedule import HELD, at, constant
from rankcollapse.treatments import Site, is_switch, reset_moments

SAVED, FLOOR, WEAK = 22, 0.02, 0.15
PAUSE = SAVED + SCALE.study.delays[-1]


def site(seed: int = 0, step: int = SAVED) -> Site:
    """A collapse saved at a step, as its table names it."""
    return Site(seed, Fork(f"event/{seed}", step), FLOOR, WEAK, SCALE)


ARMS = {  # steps, skip scale at the start and the end, term, added loss, exempt, measured every, step it sets out at
    "untreated": (7, FLOOR, FLOOR, "none", 0.0, False, 5, SAVED),
    "epsilon": (7, FLOOR, FLOOR, "none", 0.0, False, 5, SAVED),
    "ramp": (9, FLOOR, 1.0, "none", 0.0, False, 5, SAVED),
    "switch_weak": (8, WEAK, WEAK, "none", 0.0, False, 1, SAVED),
    "switch_03": (8, 0.3, 0.3, "none", 0.0, False, 1, SAVED),
    "switch_06": (8, 0.6, 0.6, "none", 0.0, False, 1, SAVED),
    "switch_1": (8, 1.0, 1.0, "none", 0.0, False, 1, SAVED),
    "delay_1": (8, 0.3, 0.3, "none", 0.0, False, 1, SAVED + 3),
    "delay_2": (8, 0.3, 0.3, "none", 0.0, False, 1, SAVED + 7),
    "aged_decay_0": (7, FLOOR, FLOOR, "none", 0.0, False, 5, SAVED),
    "decay_0": (8, 0.3, 0.3, "none", 0.0, False, 1, SAVED + 7),
    "reset": (8, 0.3, 0.3, "none", 0.0, False, 1, SAVED + 7),
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
    assert run.origin == (Fork("untreated/0", run.start) if run.start > SAVED else Fork("event/0", SAVED))
    assert run.learning_rate is None and (run.weight_decay is None) == (arm != "aged_decay_0")


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


def test_which_arms_are_switches():
    """Those that set the scale back at once, delayed ones included, and nothing that stays at the floor or goes up slowly."""
    switches = {"switch_weak", "switch_03", "switch_06", "switch_1", "delay_1", "delay_2", "decay_0", "reset"}
    assert {arm for arm in treatments.list_arms(SCALE) if is_switch(arm)} == switches
    sites, arms = [site(0), site(3)], SCALE.arms["main"]
    both = [treatments.treat(sites, arms, lambda arm, wanted=wanted: is_switch(arm) is wanted) for wanted in (False, True)]
    assert sorted(run.name for runs in both for run in runs) == sorted(run.name for run in treatments.treat(sites, arms))
    assert not {run.name.partition("/")[0] for run in both[0]} & switches and {run.name.partition("/")[0] for run in both[1]} == switches


def test_aged_networks_stand_in_for_forks():
    """With what the stretches at the floor left, the arms after a delay set out from it and nothing else changes; the others do not look at it."""
    aged = aged_site(0).aged
    origins = {"delay_1": "paused_1", "delay_2": "paused_2", "decay_0": "aged_decay_0", "reset": "reset"}
    for arm, build in treatments.list_arms(SCALE).items():
        with_states, plain = build(replace(site(), aged=aged)), build(site())
        assert with_states.origin is aged[origins[arm]] if arm in origins else with_states.origin == plain.origin, arm
        assert replace(with_states, origin=plain.origin) == plain, arm


def test_descriptive_arms_are_of_the_first_collapses():
    """Collapse by collapse, the longest run first; the few arms of as many collapses as the set says."""
    runs = treatments.treat([site(7), site(3), site(5)], SetArms(every=EVERY, few=FEW, few_events=2))
    assert [run.seed for run in runs] == [7] * 16 + [3] * 16 + [5] * 9
    assert {run.name.partition("/")[0] for run in runs if run.seed == 5} == set(EVERY)
    for seed in (7, 3, 5):
        steps = [run.steps for run in runs if run.seed == seed]
        assert steps == sorted(steps, reverse=True)


def aged_site(seed: int) -> Site:
    """A collapse with its states: where it was saved, and what its stretches at the floor left."""
    state = fresh_state(seed, TABLE_SETTING)
    left = {"paused_1": 3, "paused_2": 7, "aged_decay_0": 7, "reset": 7}
    aged = {name: replace(state, step=SAVED + late) for name, late in left.items()}
    return replace(site(seed), origin=replace(state, step=SAVED), aged=aged)


TABLES = {
    "at the floor": lambda sites, arms: treatments.treat(sites, arms, lambda arm: not is_switch(arm)),
    "pauses": lambda sites, arms: [*treatments.treat(sites, arms, lambda arm: arm == "untreated"), *treatments.pauses(sites, arms)],
    "switches": lambda sites, arms: treatments.treat(sites, arms, is_switch),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_further_seed_leaves_the_blocks_before_it(tmp_path, kind):
    """The blocks of each generation stay as they are, but for the last of each, which the new runs join."""

    def blocks(*seeds: int) -> list[list[tuple[str, ...]]]:
        runs = TABLES[kind]([aged_site(seed) for seed in seeds], SetArms(every=EVERY, few=FEW, few_events=2))
        jobs = cut_table("t", runs, 3, setting=TABLE_SETTING, folder=tmp_path, probe=torch.zeros(2, 7).numpy(), data={}, store=tmp_path, seconds=1.0)
        generations = [[job for job in jobs if isinstance(job.runs[0].origin, Fork) is forked] for forked in (False, True)]
        return [[tuple(run.name for run in job.runs) for job in generation] for generation in generations if generation]

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
    own, arms = real(), treatments.list_arms(SCALE)
    aged = table(arms["untreated"](own))["untreated/0"][1]
    empty = reset_moments(aged)
    assert torch.equal(empty.weights, aged.weights) and empty.step == aged.step == PAUSE and not empty.moment1.any() and not empty.moment2.any()
    assert aged.moment1.any()
    stretch, decays = arms["aged_decay_0"](own), Run("decays", 0, 7, constant(FLOOR), origin=own.origin)
    assert {at(stretch.weight_decay, step) for step in range(SAVED, PAUSE + 1)} == {0.0} and stretch.end == PAUSE
    ends = {name: result[1] for name, result in table(stretch, decays).items()}
    assert ends["aged_decay_0/0"].weights.norm() > ends["decays"].weights.norm() and same_state(ends["decays"], aged)
    later = replace(own, aged={"aged_decay_0": ends["aged_decay_0/0"], "reset": empty})
    after, reset = (arms[arm](later) for arm in ("decay_0", "reset"))
    assert after.weight_decay is None is reset.weight_decay and (after.start, reset.start) == (PAUSE, PAUSE) and at(after.skip, PAUSE) == 0.3
    straight = Run("straight", 0, 8, constant(0.3), origin=empty)
    results = table(after, reset, straight)
    assert same_state(results["reset/0"][1], results["straight"][1]) and results["reset/0"][0].trained == 8
