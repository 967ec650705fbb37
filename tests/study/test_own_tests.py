"""The questions of our own on a study made by hand: what ages, what order is left, rank without function, and the table of outcomes."""

from __future__ import annotations

import pytest
from made_events import CALIBRATION, SCALE
from made_sets import make_study

from audit.records import Refusal
from rankcollapse.own_tests import count_markers, interpret, judge_arms, judge_epsilon, judge_function, order_positions, read_ageing, read_law

REPLICATION = make_study("replication")


def test_the_opening_falls():
    """Page's L of eight networks by hand, with a tie in each deep one; the p of a perfect order given the ties."""
    found = read_ageing(SCALE, CALIBRATION, REPLICATION)
    assert found.falls_L.value == 4 * 30 + 4 * 29.5 and found.falls_p.value == pytest.approx(12.0**-4 * 24.0**-4) and found.networks.value == 8
    assert found.falls_L.values == (30,) * 4 + (29.5,) * 4 and found.falls_expected.value == 200
    assert list(found.opening) == ["delay_0", "delay_1", "delay_2", "delay_3"]
    assert found.opening["delay_3"].values[4:] == pytest.approx([1e-3, 1e-4, 1e-5, 1e-6])


def test_swaps_are_counted_over_fallen_networks():
    """Seven have fallen; embeddings and MLP restore all but the one they overshoot, query and key one; an opening that stayed is not asked."""
    found = read_ageing(SCALE, CALIBRATION, REPLICATION)
    assert found.fallen.values == (1, 1, 1, 1, 1, 1, 0, 1)
    assert found.restored["embeddings_mlp"].values == (1, 1, 1, 1, 1, 0, 1) and found.unrestored["embeddings_mlp"].value == 1
    assert found.restored["query_key"].values == (0, 0, 0, 0, 0, 0, 1)


def test_arms_that_age_otherwise_are_paired():
    """Times of the two events that have all three arms; sooner is strictly sooner, and never is budget + 1."""
    found = read_ageing(SCALE, CALIBRATION, REPLICATION)
    assert {arm: quantity.values for arm, quantity in found.times.items()} == {"delay_3": (90, 101), "reset": (50, 101), "decay_0": (92, 20)}
    assert found.sooner["reset"].values == (1, 0) and found.sooner["decay_0"].values == (0, 1)


def test_order_of_positions():
    """Seven of eight are uniform; medians of sizes, one below the target, one with a rival as good, no healthy one ordered."""
    found = order_positions(SCALE, REPLICATION)
    assert found.events.values == (1,) * 7 + (0,) and found.position.values == (0.95, 0.95, 0.95, 0.95, 0.85, 0.95, 0.95)
    assert found.short.values == (0, 0, 0, 0, 1, 0, 0) and found.beaten.values == (0, 0, 0, 0, 0, 1, 0)
    assert found.healthy.value == 0.1 and found.healthy_ordered.value == 0 == found.at_floor.value


def test_rank_without_function():
    """Of four, three by rank, one of these effectively, two far from the unigram loss: one has rank alone; no events at the other depth."""
    found = judge_function(SCALE, CALIBRATION, REPLICATION, "shallow")
    assert (found.recovered_rank.values, found.recovered_effective.values) == ((1, 1, 0, 1), (0, 0, 0, 1))
    assert found.away.values == (0, 1, 1, 0) and found.rank_alone.values == (1, 0, 0, 0) and found.loss_over_unigram.value == pytest.approx(0.035)
    assert judge_function(SCALE, CALIBRATION, REPLICATION, "deep").events.value == 0
    lost = REPLICATION._replace(readings={**REPLICATION.readings, "shallow": REPLICATION.readings["shallow"].model_copy(update={"ends": ()})})
    with pytest.raises(Refusal, match="no last state"):
        judge_function(SCALE, CALIBRATION, lost, "shallow")


def test_outcome_and_its_row():
    """Recoveries of each arm over both depths; the hinge alone repairs here, and every other row can come out."""
    outcome = judge_arms(SCALE, CALIBRATION, REPLICATION)
    assert outcome["untreated"].events.value == 8 and outcome["untreated"].recovered_rank.value == 0
    assert outcome["switch_03"].recovered_rank.value == 8 and outcome["hinge_4x"].recovered_effective.value == 1
    assert interpret(outcome).row == "hinge_alone_repairs" and interpret(outcome).both_fail_untreated_stays.value == 0
    failing, repairing = outcome["untreated"], outcome["hinge_4x"]
    assert interpret({"untreated": failing, "hinge_1x": failing, "penalty_4x": failing}).both_fail_untreated_stays.value == 1
    assert interpret({"untreated": failing, "penalty_4x": repairing}).row == "penalty_alone_repairs"
    assert interpret({"untreated": failing, "penalty_1x": repairing, "hinge_4x": repairing}).row == "both_repair"
    assert interpret({"untreated": repairing, "hinge_4x": failing}).row == "untreated_recovers"


def test_epsilon():
    """Two of four copies recover effectively, two leave the plateau and so does one twin; three end lower; three blocks of four have a signal."""
    found = judge_epsilon(SCALE, CALIBRATION, REPLICATION)
    assert found.events.value == 4 and found.recovered_effective.values == (0, 1, 0, 1)
    assert found.left.values == (1, 0, 0, 1) and found.left_untreated.values == (0, 0, 0, 1) and found.lower.values == (1, 1, 0, 1)
    assert found.signal.values == (0.75,) * 4


def test_markers():
    """Six in order; in one the loss gap lies between the two; in one all cross at one measurement, which is no order, and the loss is no later."""
    found = count_markers(SCALE, CALIBRATION, REPLICATION)
    assert found.ordered.values == (1, 0, 1, 1, 1, 1, 0, 1) and found.loss_not_later.values == (0,) * 6 + (1, 0)


def test_the_law_is_read_where_it_has_points():
    """The median over seven slopes; one event has too few points."""
    found = read_law(SCALE, REPLICATION)
    assert found.slope.values == (2.0,) * 7 and found.events.values == (1, 1, 1, 1, 0, 1, 1, 1)
