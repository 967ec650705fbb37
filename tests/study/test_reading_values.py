"""Named numbers from rows of readings: made-up rows whose numbers are plain."""

from __future__ import annotations

import pytest
from made_readings import COLLAPSED, EVENT, HEALTHY, profile, state

from rankcollapse import reading_values as values
from rankcollapse.records import Profile
from rankcollapse.records_readings import BlockRow, BranchEnd, CurvePoint, ReplayRow
from rankcollapse.treatments import READ, WEAK

REPLAYS = tuple(
    ReplayRow(seed=1, skip=0.3, updates=number, rank=rank, residual=0.5, at_floor=number == 50, loss=5.0, task=HEALTHY, logged=2.0, error=error)
    for number, rank, error in ((4, 1.9, 0.05), (20, 2.1, 0.03), (50, 9.0, 0.01))
)
FOUND = values.value_event(EVENT, REPLAYS, 2.0)
EXPECTED = {
    "path.collapsed.qkv_first": 1e-3,
    "path.collapsed.v_share": 1.0,
    "path.collapsed.qk": 1e-8,
    "path.collapsed.qk_over_healthy_max": 2.5e-6,
    "path.collapsed.hinge_first": 0.4,
    "path.collapsed.hinge_last": 1e-3,
    "path.healthy.qk": 2e-2,
    "path.healthy.qkv_median": 13**0.5 * 1e-2,
    "path.healthy.rule_met": 1.0,
    "path.switch_weak.qk": 2e-4,
    "path.switch_weak.rank_above_before": 1.0,
    "path.switch_03.qk": 2e-3,
    "path.switch_03.qk_rise_min": 2e5,
    "path.switch_03.qk_over_healthy": 0.1,
    "path.switch_03.rule_met": 0.0,
    "path.switch_03.rule_met_qkv": 1.0,
    "path.switch_03.open_in_every_block": 1.0,
    "path.switch_03.rank_above_before": 0.0,
    "path.switch_03.rank_above_after_4": 0.0,
    "path.switch_03.rank_above_after_20": 1.0,
    "path.switch_03.rank_above_after_50": 0.0,
    "path.switch_03.rank_above_after_first": 0.0,
    "path.switch_03.rank_above_after_last": 0.0,
    "path.switch_03.grad_norm": 4.0,
    "path.switch_03.residual": 0.01,
    "path.switch_1.qk_over_healthy": 2.0,
    "path.switch_1.rule_met": 1.0,
    "path.switch_1.rank_above_before": 0.0,
    "force.hinge_1x.rho": 0.1,
    "force.hinge_over_penalty": 25.0,
    "force.line.penalty_start": 0.004,
    "force.line.penalty_end": 0.02,
    "entropy.collapsed": 0.97,
    "entropy.healthy": 0.6,
    "state.healthy_at_floor.loss_minus_collapsed": 4.0,
    "state.healthy_at_floor.grad_norm_over_collapsed": 50.0,
    "state.healthy_at_floor.grad_norm": 50.0,
    "state.collapsed.grad_norm": 1.0,
    "order.collapsed": 0.95,
    "order.healthy": 0.2,
    "order.frequency": 0.2,
}


def test_the_first_and_the_last_look_at_a_replay():
    """Whatever the numbers of updates; of the last of two looks, the rank is back."""
    found = values.value_event(EVENT, REPLAYS[1::-1], 2.0)
    assert (found["path.switch_03.rank_above_after_first"], found["path.switch_03.rank_above_after_last"]) == (0.0, 1.0)
    assert not [key for key in values.value_event(EVENT, (), 2.0) if "rank_above_after" in key]


@pytest.mark.parametrize("key", EXPECTED)
def test_numbers_of_an_event(key):
    """Each by hand; a rank at floor is not above anything, whatever its value."""
    assert FOUND[key] == pytest.approx(EXPECTED[key], rel=1e-3, abs=1e-12)


def test_orders_count_the_fall():
    """From 1e-8 in the first block to 1e-2 in the last: six orders; a first block of nothing is as small as a number may be."""
    fading = EVENT.model_copy(update={"collapsed": state(0.0, profile(1e-8, 1e-5, 1e-2, v=0.0))})
    assert values.value_path(fading)["path.collapsed.orders"] == pytest.approx(6)
    silent = EVENT.model_copy(update={"collapsed": state(0.0, profile(0.0, 0.0, 0.0, v=0.0))})
    assert values.value_path(silent)["path.collapsed.orders"] == pytest.approx(-30)


def test_the_share_of_values_is_that_of_the_median_block():
    """Shares 0.1, 0.9 and 1: 0.9."""
    shared = Profile(qkv=(1.0, 1.0, 2.0), qk=(0.1,) * 3, v=(0.1, 0.9, 2.0))
    assert values.value_path(EVENT.model_copy(update={"collapsed": state(0.0, shared)}))["path.collapsed.v_share"] == 0.9


def test_the_middle_block():
    """Of four blocks the third, of twelve the seventh."""
    for ranks, middle in (((9.0, 8.0, 7.0, 6.0), 7.0), (tuple(map(float, range(12, 0, -1))), 6.0)):
        blocks = BlockRow(rank=ranks, q=ranks, residual=ranks, at_floor=(False,) * len(ranks))
        end = BranchEnd(seed=1, arm="hinge_1x", state=state(0.0, COLLAPSED).model_copy(update={"blocks": blocks}))
        assert values.value_end(end, 5.0)["rank_end_middle"] == middle


def test_the_end_of_a_branch():
    """First, middle and last block, as they are and over the healthy rank; a block at floor counts as collapsed."""
    end = BranchEnd(seed=1, arm="hinge_1x", state=state(0.0, COLLAPSED, rank=7.0, at_floor=True))
    assert values.value_end(end, 5.0) == pytest.approx(
        {"rank_end_first": 4.0, "rank_end_middle": 2.0, "rank_end_last": 1.0, "rank_end_first_over_healthy": 0.8, "rank_end_last_over_healthy": 0.2, "entropy_end": 0.9}
    )


def test_the_synthetic_curve():
    """The largest relative error of each term, and the hinge's variation at 0.1 and below alone."""

    def point(delta: float, hinge: float, penalty: float = 1.0) -> CurvePoint:
        return CurvePoint(delta=delta, q=1.0, sigma=1.0, penalty=penalty, hinge=hinge, cosine=1.0, penalty_closed=1.0, hinge_closed=hinge, cosine_closed=1.0)

    found = values.value_synthetic([point(1.0, 9.0), point(0.1, 1.02), point(1e-4, 1.0, 1.001)])
    assert found["synth.hinge.spread_below_tenth"] == pytest.approx(0.02) and found["synth.penalty.error"] == pytest.approx(1e-3)
    assert found["synth.hinge.error"] == found["synth.cosine.error"] == 0


def test_a_weak_scale_that_equals_another_keeps_its_name():
    """Switches go by their place: replays at 0.3 are those of the switch to 0.3, never of a weak scale that happens to be 0.3 too."""
    assert EVENT.switches[0].skip == EVENT.switches[1].skip == 0.3
    assert not [key for key in FOUND if key.startswith("path.switch_weak.rank_above_after")] and "path.switch_03.rank_above_after_4" in FOUND


def test_switches_are_those_that_readings_hold():
    """The weak one first, then those whose path is read."""
    assert values.SWITCHED == (WEAK, *READ)


def test_columns_and_errors():
    """One tuple a key in the order of the events; rows of other keys are an error, not a gap; replays without a log have none."""
    assert values.make_columns([{"a": 1.0, "b": 2.0}, {"b": 3.0, "a": 4.0}]) == {"a": (1.0, 4.0), "b": (2.0, 3.0)} and values.make_columns([]) == {}
    with pytest.raises(ValueError, match="different keys"):
        values.make_columns([{"a": 1.0}, {"b": 1.0}])
    assert values.list_errors([*REPLAYS, REPLAYS[0].model_copy(update={"error": None})]) == (0.05, 0.03, 0.01)
