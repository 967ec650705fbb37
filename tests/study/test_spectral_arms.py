"""Arms of the study of attention's spectra: what each is, that two stretches are one run, and what they cost by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from networks import same_bits
from tiny_spectral import PLAN, RESTART, RESTARTED, SCALE

from rankcollapse.engine import Fork, Trajectory
from rankcollapse.experiments_spectral import after, is_start, join, states_of, whole
from rankcollapse.model import Shape
from rankcollapse.schedule import at, constant, cosine_decay, find_fault, tabulate
from rankcollapse.spectral_arms import FORETOLD, Arm, count_extra, list_arms, make_runs, teach


def test_cosine_decay():
    """The peak at once or at the end of a rising warm-up, half of it in the middle, nothing at the end; it covers the run and no more."""
    plain, warm = cosine_decay(8e-3, 400), cosine_decay(8e-3, 400, 80)
    assert [at(plain, step) for step in (0, 100, 200, 300, 400)] == pytest.approx([8e-3, 8e-3 * (1 + 0.5**0.5) / 2, 4e-3, 8e-3 * (1 - 0.5**0.5) / 2, 0])
    assert [at(warm, step) for step in (0, 39, 79, 80, 240, 400)] == pytest.approx([1e-4, 4e-3, 8e-3, 8e-3, 4e-3, 0])
    assert max(tabulate(warm, 0, 400)) == 8e-3 == max(tabulate(plain, 0, 400)) and min(tabulate(warm, 0, 399)) > 0
    for schedule in (plain, warm):
        assert find_fault(schedule, 0, 400) == find_fault(schedule, 40, 400) == "" and find_fault(schedule, 0, 401) == "covers steps 0 to 400"


def test_a_decay_that_is_held_and_begins_later():
    """The peak from step 300 to 500, half of it in the middle of the fall, nothing at 700; a warm-up rises inside the hold, or outlasts it."""
    held, warm = cosine_decay(8e-3, 400, hold=200, start=300), cosine_decay(8e-3, 400, 80, hold=200, start=300)
    assert [at(held, step) for step in (300, 400, 500, 550, 600, 700)] == pytest.approx([8e-3, 8e-3, 8e-3, 8e-3 * (1 + 0.5**0.5) / 2, 4e-3, 0])
    assert [at(warm, step) for step in (300, 339, 379, 380, 500, 600, 700)] == pytest.approx([1e-4, 4e-3, 8e-3, 8e-3, 8e-3, 4e-3, 0])
    assert cosine_decay(8e-3, 400, 80, hold=40) == cosine_decay(8e-3, 400, 80) and [step for step, _ in held] == list(range(300, 701))
    for schedule in (held, warm):
        assert find_fault(schedule, 300, 700) == find_fault(schedule, 320, 700) == "" and find_fault(schedule, 299, 700) == "covers steps 300 to 700"


def test_what_is_learnt_first():
    """A run a seed at the gentle rate, measured every 20 steps; none where arms begin with the first weights."""
    runs = teach([7, 8], RESTARTED) + teach([7], RESTARTED, "rms")
    assert [(run.name, run.seed, run.query_key) for run in runs] == [("learnt_none/7", 7, "none"), ("learnt_none/8", 8, "none"), ("learnt_rms/7", 7, "rms")]
    for run in runs:
        assert (run.steps, run.learning_rate, run.optimiser, run.origin, run.readings) == (40, constant(2e-3), "adamw", None, FORETOLD)
        assert [step for step in range(41) if run.is_due(step)] == [0, 20, 40]
    assert teach([7, 8], SCALE) == [] == teach([7], SCALE, "rms")


def test_arms_are_what_their_names_say():
    """AdamW in all but three kinds; one normalises queries and keys, one clips, one warms up."""
    found = {name: make_runs(name, arm, 4e-3, [7], SCALE, foretold=False)[0] for name, arm in list_arms(PLAN).items()}
    assert {name: (run.optimiser, run.query_key) for name, run in found.items()} == {
        "adamw": ("adamw", "none"), "warm_up": ("adamw", "none"), "low_rate": ("adamw", "none"), "adamw2_1": ("adamw2", "none"), "adamw2_2": ("adamw2", "none"),
        "sigma": ("sigma", "none"), "qk_norm": ("adamw", "rms"), "qk_clip": ("adamw", "clip"),
    }  # fmt: skip
    assert [found[f"adamw2_{place}"].tau for place in (1, 2)] == list(PLAN.taus) and found["qk_clip"].logit_limit == PLAN.logit_limit
    assert [name for name, run in found.items() if run.learning_rate != cosine_decay(4e-3, 40)] == ["warm_up", "low_rate"]
    assert found["warm_up"].learning_rate == cosine_decay(4e-3, 40, 10) and found["low_rate"].learning_rate == cosine_decay(1e-3, 40)


@pytest.mark.parametrize("plan", [PLAN, PLAN.model_copy(update={"at": 13}), PLAN.model_copy(update={"at": 25})])
def test_every_arm_is_measured_at_the_same_steps(plan):
    """Two stretches train no step twice and none not at all, and are measured when one stretch is, wherever the warning falls."""
    scale = SCALE.model_copy(update={"spectral": plan})
    (one,), (start, rest) = (make_runs("adamw", Arm(), 4e-3, [7], scale, foretold=foretold) for foretold in (False, True))
    assert (start.start, start.end, rest.start, rest.end) == (0, plan.at, plan.at, 40) and is_start(start) and not is_start(rest)
    due = [[step for step in range(run.start, run.end + 1) if run.is_due(step)] for run in (start, rest, one)]
    assert due[0][-1] == due[1][0] == plan.at and sorted({*due[0], *due[1]}) == due[2]


LEARNT = {7: Fork("learnt_none/7", 40)}


@pytest.mark.parametrize("name", list_arms(RESTART))
def test_an_arm_goes_on_from_what_was_learnt(name):
    """From step 40 to 80 under a schedule that covers no step more, measured at the same steps whether in one stretch or in two."""
    arm = list_arms(RESTART)[name]
    (one,), (start, rest) = (make_runs(name, arm, 4e-3, [7], RESTARTED, foretold, LEARNT) for foretold in (False, True))
    assert [(run.start, run.end) for run in (one, start, rest)] == [(40, 80), (40, 50), (50, 80)]
    assert one.origin == start.origin == LEARNT[7] and rest.origin == Fork(f"{name}_start/7", 50)
    due = [[step for step in range(run.start, run.end + 1) if run.is_due(step)] for run in (one, start, rest)]
    assert due == [[40, 45, 50, 55, 60, 70, 80], [40, 45, 50], [50, 55, 60, 70, 80]]
    assert one.learning_rate == start.learning_rate == rest.learning_rate and find_fault(one.learning_rate, 40, 80) == ""
    peak = 1e-3 if name == "low_rate" else 4e-3
    rates = [at(one.learning_rate, step) for step in (40, 60, 70, 80)]
    assert rates == pytest.approx([peak / 10 if name == "warm_up" else peak, peak, peak / 2, 0])
    assert find_fault(one.learning_rate, 39, 80) == "covers steps 40 to 80" == find_fault(one.learning_rate, 40, 81)


def test_an_arm_goes_on_from_its_own_kind_of_network():
    """Normalised queries and keys were so from the start; every other arm shares what was learnt without."""
    assert {name: arm.taught for name, arm in list_arms(RESTART).items()} == {name: "rms" if name == "qk_norm" else "none" for name in list_arms(RESTART)}
    learnt = {name: (Trajectory(step=[0]), name) for name in ("learnt_none/7", "learnt_none/12", "learnt_rms/7")}
    assert states_of(learnt, Arm()) == {7: "learnt_none/7", 12: "learnt_none/12"} and states_of(learnt, Arm({"query_key": "rms"})) == {7: "learnt_rms/7"}
    then = Trajectory(step=[40])
    assert after(learnt, Arm(), 9, then) is then and states_of({}, Arm()) == {}


def test_two_stretches_after_a_learnt_start_are_one_run(table):
    """Bit for bit, with what was learnt in front of them; the measurement that they share is the one that knows its gradient."""
    learnt = table(*teach([7], RESTARTED))
    states = states_of(learnt, Arm())
    (unbroken,), (start, rest) = (make_runs("adamw", Arm(), 2e-2, [7], RESTARTED, foretold, states) for foretold in (False, True))
    unbroken = replace(unbroken, name="unbroken/7", readings=FORETOLD)
    results = table(start, rest, unbroken)
    one, two = results["unbroken/7"], whole(rest, results)
    assert all(same_bits(getattr(one[1], name), getattr(two[1], name)) for name in ("weights", "moment1", "moment2"))
    one, two = (after(learnt, Arm(), 7, trajectory) for trajectory, _ in (one, two))
    for each in fields(Trajectory):
        assert getattr(one, each.name) == getattr(two, each.name), each.name
    assert two.step == [0, 20, 40, 45, 50, 55, 60, 70, 80] and two.trained == 80 and min(two.extra["gradient_norm"][1:]) > 0
    assert two.loss[:3] == learnt["learnt_none/7"][0].loss


def test_two_stretches_are_one_run(table):
    """Bit for bit, readings included: what is foretold from is what a run without a break would have shown, its last gradient too."""
    (unbroken,), (start, rest) = (make_runs("adamw", Arm(), 4e-3, [7], SCALE, foretold=foretold) for foretold in (False, True))
    unbroken = replace(unbroken, name="unbroken/7", readings=FORETOLD)
    results = table(start, rest, unbroken)
    one, two = results["unbroken/7"], whole(rest, results)
    for each in fields(Trajectory):
        assert getattr(one[0], each.name) == getattr(two[0], each.name), each.name
    assert all(same_bits(getattr(one[1], name), getattr(two[1], name)) for name in ("weights", "moment1", "moment2"))
    assert two[0].step == [0, 5, 10, 15, 20, 30, 40] and min(two[0].extra["gradient_norm"][1:]) > 0 and two[0].trained == 40


def test_a_run_that_broke_in_its_first_stretch_keeps_what_was_measured():
    """Nothing is dropped where the second stretch never began."""
    first = Trajectory(step=[0, 5], loss=[5.0, 6.0], extra={"sec_max": [0.1, 0.2]}, trained=7, clipped=3, diverged_at=7)
    found = join(first, Trajectory(extra={"sec_max": []}, diverged_at=7))
    assert (found.step, found.loss, found.extra, found.diverged_at, found.trained, found.clipped) == ([0, 5], [5.0, 6.0], {"sec_max": [0.1, 0.2]}, 7, 7, 3)


def test_operations_added():
    """One block of width 2, one head, three tokens, a vocabulary of five, two sequences, counted by hand."""
    shape = Shape(depth=1, width=2, heads=1, context=3, vocabulary=5)
    step = 3 * (2 * 6 * 12 * 4 + 2 * 2 * 9 * 2 + 2 * 6 * 5 * 2)
    matrices = 5 * 2 + 3 * 2 + 12 * 4
    assert shape.matrices == matrices
    assert count_extra(shape, 2) == pytest.approx({"adamw2": 2 * 2 * 4 * matrices / step, "sigma": 12 * 48 / step, "qk_clip": (2 * 6 * 2 * 4 + 2 * 2 * 9 * 2) / step})
