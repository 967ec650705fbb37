"""Recoveries, times and gaps of branches made by hand: measured every second step from step 20 on, recovered from rank 2 on."""

from __future__ import annotations

import pytest
from corpora import refusal
from made_records import SAVED, beside, branch, make_cell
from one_set import SCALE

from rankcollapse import recoveries
from rankcollapse.seed_cells import Control
from rankcollapse.treatments import Site, list_arms

BACK, GONE = (1, 1, 3, 3, 3), (1.0,) * 5
TIMES = {
    "at the end of the first window": ((3, 3, 3, 3, 3), {}, (2, 2)),
    "the window's median reaches the threshold": (BACK, {}, (4, 4)),
    "never": (GONE, {}, (None, None)),
    "reached and not held": ((1, 1, 3, 0.9, 1), {}, (None, None)),
    "too late to be held": ((1, 1, 1, 1, 9), {}, (None, None)),
    "at floor is collapsed": ((9, 9, 9, 9, 9), {"at_floor": (True,) * 5}, (None, None)),
    "rank without residual": (BACK, {"residual": (0.01,) * 5}, (4, None)),
    "residual later": (BACK, {"residual": (0.01, 0.01, 0.01, 0.2, 0.2)}, (4, 6)),
    "diverged after it": (BACK, {"row": {"diverged_at": 29}}, (4, 4)),
}


@pytest.mark.parametrize("kind", TIMES)
def test_times(kind):
    """Window of two, held for one more: steps from the branch's start to the window's end, by rank and by rank and residual."""
    ranks, more, expected = TIMES[kind]
    cell = make_cell(switches=[branch("switch_03", 1, ranks, **more)])
    found = recoveries.judge_arms(cell)["switch_03"][0]
    assert (found.rank, found.effective) == expected and found.budget == 8


def test_a_delayed_branch_counts_from_its_own_start():
    """The same ranks three steps later take as long."""
    cell = make_cell(switches=[branch("delay_1", 1, BACK, start=SAVED + 3)], beyond=(beside(1, (25, 31), (3.0, 3.0)),))
    assert recoveries.judge_arms(cell)["delay_1"][0].rank == 4


@pytest.mark.parametrize("arm", list_arms(SCALE))
def test_budgets_are_those_that_were_trained(arm):
    """Of every arm there is."""
    run = list_arms(SCALE)[arm](Site(1, type("Origin", (), {"step": SAVED}), 0.1, 0.2, SCALE, {}))
    assert recoveries.budget_of(branch(arm, 1, row={"term": run.term}), SCALE) == run.steps


def test_an_arm_in_numbers():
    """Two events, one of which comes back after four of eight steps; losses 3.5 and 5 beside a control at 3 when they end."""
    losses = (5.0, 5.0, 4.5, 4.0, 3.5)
    rows = [branch("switch_03", 2, GONE, residual=(0.1,) * 5), branch("switch_03", 1, BACK, loss=losses, row={"clip_share": 0.5})]
    found = recoveries.value_arms(recoveries.judge_arms(make_cell(switches=rows)), 2.0)
    expected = {
        "branches": (1, 1), "recovered_rank": (1, 0), "recovered_effective": (1, 0), "T_rec": (4, 9), "T_recovered": (4,), "T_over_budget": (0.5, 1.125),
        "half_gap": (6, 9), "rank_end": (3, 1), "rank_end_over_threshold": (1.5, 0.5), "residual_end": (0.5, 0.1), "loss_gap_end": (0.5, 2.0),
        "clip_share": (0.5, 0.25),
    }  # fmt: skip
    assert {key.removeprefix("switch_03."): own for key, own in found.items() if key.startswith("switch_03.")} == expected
    assert {key: own for key, own in found.items() if key.startswith("delay_0.")} == {f"delay_0.{key}": own for key, own in expected.items()}


def test_what_recovered_nowhere_has_no_times():
    """No key rather than no value; times are censored at the budget of a loss arm, 4 steps."""
    rows = [branch("hinge_4x_unclipped", 1, (1.0,) * 3, row={"term": "hinge", "added_target": 0.4, "first_added": 0.41})]
    found = recoveries.value_arms(recoveries.judge_arms(make_cell(branches=rows)), 2.0)
    assert found["unclipped_hinge_4x.T_rec"] == (5,) and "unclipped_hinge_4x.T_recovered" not in found
    assert found["unclipped_hinge_4x.first_added"] == (0.41,) and "hinge_4x_unclipped.T_rec" not in found


GAPS = {
    "half-way exactly": ((5, 4, 5, 5, 5), 2),
    "before any update": ((3.9, 5, 5, 5, 5), 0),
    "never": ((5, 5, 5, 5, 4.1), None),
}


@pytest.mark.parametrize("kind", GAPS)
def test_half_of_the_gap(kind):
    """The first loss within one nat of the control's 3, of a gap of two at saving."""
    losses, expected = GAPS[kind]
    cell = make_cell(switches=[branch("switch_03", 1, loss=tuple(map(float, losses)))])
    assert recoveries.judge_arms(cell)["switch_03"][0].half_gap == expected


def test_half_of_the_gap_to_a_control_that_moves():
    """The control falls to 2 at step 28: a loss of 3.7 is 0.7 above the 3 at step 25, and 1.03 above the 2.67 at step 26."""
    cell = make_cell(switches=[branch("switch_03", 1, loss=(5.0, 5.0, 5.0, 3.7, 2.9))], beyond=(beside(1, (25, 28), (3.0, 2.0)),))
    assert recoveries.judge_arms(cell)["switch_03"][0].half_gap == 8
    cell = make_cell(switches=[branch("switch_03", 1, loss=(5.0, 5.0, 5.0, 3.6, 2.9))], beyond=(beside(1, (25, 28), (3.0, 2.0)),))
    assert recoveries.judge_arms(cell)["switch_03"][0].half_gap == 6


def test_a_control_between_its_measurements():
    """On the line between its neighbours; at a branch's end only as far as the drivers went, and never outside."""
    control = Control("seed 1", {20: 3.0, 25: 2.0, 30: 1.0}, until=25)
    assert (control.near(20), control.near(22), control.near(29)) == pytest.approx((3.0, 2.6, 1.2))
    assert control.at(22) == pytest.approx(2.6) and control.at(30) == 1.0
    line = "seed 1: its healthy control was not measured beside it; expected step {}; found steps 20 to 30; cure: run the stages again"
    assert refusal(control.at, 29) == line.format(29) and refusal(control.near, 31) == line.format(31) and refusal(control.near, 19) == line.format(19)


def test_a_branch_that_ends_where_its_control_was_not_measured():
    """One line; not so for one that diverged there, whose end nobody foresaw."""
    longer = branch("switch_03", 1, (1.0,) * 7)
    line = refusal(recoveries.judge_arms, make_cell(switches=[longer]))
    assert line == (
        "summary deep: seed 1: its healthy control was not measured beside it; expected step 32; found steps 0 to 34; cure: run the stages again"
    )
    broken = longer.model_copy(update={"diverged_at": 33})
    assert recoveries.judge_arms(make_cell(switches=[broken]))["switch_03"][0].gap_end == 2.5


STRAY = {"of the second event alone": [2], "of a seed without a collapse": [7]}


@pytest.mark.parametrize("kind", STRAY)
def test_an_arm_is_that_of_the_first_events(kind):
    """Anything else would put values beside the wrong events."""
    cell = make_cell(switches=[branch("switch_06", seed) for seed in STRAY[kind]])
    assert refusal(recoveries.judge_arms, cell) == f"summary deep: switch_06: not an arm of the first collapses; expected seeds 1; found seeds {STRAY[kind][0]}"


def test_matched_losses():
    """Within a tenth of the target, above or below; switches add nothing and do not count."""
    added = [("penalty_1x", 0.1, 0.109), ("penalty_4x", 0.4, 0.355), ("hinge_1x", 0.1, 0.091), ("cosine_1x", 0.1, 0.0)]
    rows = [branch(arm, 1, row={"term": "penalty", "added_target": target, "first_added": first}) for arm, target, first in added]
    exempt = branch("hinge_1x_unclipped", 1, row={"term": "hinge", "added_target": 0.1, "first_added": 0.1, "exempt": True})
    arms = recoveries.judge_arms(make_cell(branches=[*rows, exempt, branch("untreated", 1)]))
    assert recoveries.value_matched(arms) == {"treat.matched_within_tenth": (1, 0, 1, 0)}
    assert recoveries.value_matched({"untreated": arms["untreated"]}) == {}


def test_what_recovered_is_pooled():
    """Ramp, 0.3 and 0.6 for the pinned population, every switch for the wider one, the undelayed switch once in each."""
    low, high = (4.0, 4.0, 4.0, 4.0, 3.5), (4.0,) * 5
    rows = [branch("switch_03", 1, BACK, loss=low), branch("switch_06", 1, BACK, loss=high), branch("switch_weak", 1, BACK, loss=low)]
    rows += [branch("delay_2", 1, BACK, loss=high), branch("delay_1", 1, GONE), branch("reset", 1, BACK)]
    found = recoveries.value_pools(recoveries.judge_arms(make_cell(branches=[branch("ramp", 1, GONE), branch("hinge_1x", 1, BACK)], switches=rows)))
    assert found["recovered.loss_gap_end"] == (0.5, 1.0) and found["recovered.gap_end_over_gap_saved"] == (0.25, 0.5)
    assert sorted(found["recovered_all.loss_gap_end"]) == [0.5, 0.5, 1.0, 1.0]
    assert recoveries.value_pools(recoveries.judge_arms(make_cell(branches=[branch("ramp", 1, GONE)]))) == {}


def test_delays():
    """First event: back, gone, back, gone; second: back, back, gone, gone."""
    outcomes = {"switch_03": (BACK, BACK), "delay_1": (GONE, BACK), "delay_2": (BACK, GONE), "delay_3": (GONE, GONE)}
    rows = [branch(arm, seed, ranks) for arm, pair in outcomes.items() for seed, ranks in zip((1, 2), pair, strict=True)]
    found = recoveries.value_delays(recoveries.judge_arms(make_cell(switches=rows)))
    assert found == {"delay.undelayed_recovered": (1, 1), "delay.share_recovered": pytest.approx((1 / 3, 1 / 3)), "delay.returned": (1, 0)}
    assert recoveries.value_delays(recoveries.judge_arms(make_cell(switches=rows[:2]))) == {}
    again = [branch(arm, 1, ranks) for arm, ranks in (("switch_03", GONE), ("delay_1", BACK), ("delay_10", BACK), ("delay_2", GONE))]
    found = recoveries.value_delays(recoveries.judge_arms(make_cell(switches=again)))
    assert found["delay.returned"] == (1,) and found["delay.share_recovered"] == pytest.approx((2 / 3,)) and found["delay.undelayed_recovered"] == (0,)
