"""Arms of the study of attention's spectra: what each is, that two stretches are one run, and what they cost by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from networks import same_bits
from tiny_spectral import PLAN, SCALE

from rankcollapse.engine import Trajectory
from rankcollapse.experiments_spectral import is_start, join, whole
from rankcollapse.model import Shape
from rankcollapse.schedule import at, cosine_decay, find_fault, tabulate
from rankcollapse.spectral_arms import FORETOLD, Arm, count_extra, list_arms, make_runs


def test_cosine_decay():
    """The peak at once or at the end of a rising warm-up, half of it in the middle, nothing at the end; it covers the run and no more."""
    plain, warm = cosine_decay(8e-3, 400), cosine_decay(8e-3, 400, 80)
    assert [at(plain, step) for step in (0, 100, 200, 300, 400)] == pytest.approx([8e-3, 8e-3 * (1 + 0.5**0.5) / 2, 4e-3, 8e-3 * (1 - 0.5**0.5) / 2, 0])
    assert [at(warm, step) for step in (0, 39, 79, 80, 240, 400)] == pytest.approx([1e-4, 4e-3, 8e-3, 8e-3, 4e-3, 0])
    assert max(tabulate(warm, 0, 400)) == 8e-3 == max(tabulate(plain, 0, 400)) and min(tabulate(warm, 0, 399)) > 0
    for schedule in (plain, warm):
        assert find_fault(schedule, 0, 400) == find_fault(schedule, 40, 400) == "" and find_fault(schedule, 0, 401) == "covers steps 0 to 400"


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
