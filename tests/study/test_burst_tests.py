"""The second registered test on made-up networks whose outcome is known: every quantity, what is undecided, and records that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from made_bursts import (
    CALIBRATION,
    DEVELOPMENT,
    LARGE,
    M1,
    M2,
    SCALE,
    SMALL,
    WORLD,
    Network,
    change,
    development_of,
    judge_world,
    main_readings,
    provenance,
    readings_of,
    records_of,
    threshold,
)

from audit.quantities import summary_fault, walk_quantities
from audit.records import Refusal, parse_model, record_bytes
from rankcollapse.burst_claims import claim_quantities
from rankcollapse.burst_records import BurstForecast, BurstTests
from rankcollapse.burst_tests import evaluate_bursts, forecast_bursts
from rankcollapse.claims import needed_readings


def test_every_prediction_of_the_paper_like_world():
    """Eight that recover, the wider open the sooner, after the smaller burst, none after the larger: the counts and correlations of each test."""
    found = judge_world()
    assert found.m1.qk_over_collapsed.values == pytest.approx([1e5 * 2**-seed for seed in range(8)]) and found.m1.below.value == 8  # T0
    assert found.m1.test.frozen.value == 8 == found.m2.test.frozen.value and found.fitted.value == 1  # T1
    assert found.both.development.value == 15 and len(found.both.development.values) == 16 and found.separates.value == 1  # T1b
    assert (found.both.multiplier.value, found.both.loss_gap.value, found.both.grad_norm.value) == (16, 16, 8)  # T2
    assert found.m1.test.opening.rho.value == pytest.approx(-1) and found.m1.test.opening.p.value == pytest.approx(1 / 40320)  # T3
    assert found.m1.test.loss_gap_ranking.rho.value == found.m1.test.grad_norm_ranking.rho.value == pytest.approx(-1)  # T3r
    assert found.both.gap_above.value == 1 and found.both.recovered.value == 8  # T4
    assert found.m1.T_rec.values == tuple(40.0 + 20 * seed for seed in range(8)) and set(found.m2.T_rec.values) == {301.0}
    assert found.m1.test.distinct.value == 8 and found.m2.test.opening.strata.value == 0


def test_the_world_can_lose():
    """Closed, the wrong way round, without a gap: T0 has fewer networks, T3 a positive correlation, T4 no share."""
    networks = [Network(1e-7 * 2**seed, 20 + 20 * seed, end_gap=0.04) for seed in range(8)]
    found = judge_world({M1: networks, M2: LARGE})
    assert sum(value >= 100 for value in found.m1.qk_over_collapsed.values) == 4 and found.m1.test.frozen.value == 3
    assert found.m1.test.opening.rho.value == pytest.approx(1) and found.m1.test.opening.p.value == 1 and found.both.gap_above.value == 0


def test_gaps_are_of_recovered_networks_of_both_multipliers():
    """Two of m1 do not recover and one of m2 does: seven networks, one of them within the registered gap."""
    small = change(change(change(SMALL, 0, back=None), 1, back=None), 2, end_gap=0.05)
    found = judge_world({M1: small, M2: change(LARGE, 4, back=100)})
    assert found.both.recovered.value == 7 and found.both.gap_above.value == pytest.approx(6 / 7)
    assert found.m1.loss_gap_end.values == pytest.approx([0.05] + [0.3] * 5) and found.m2.loss_gap_end.values == pytest.approx([0.3])


def test_a_network_that_diverges_in_its_burst():
    """It has no reading: closed, not recovered, wrong by every rule and every rival, in no correlation, and in the counts all the same."""
    found = judge_world({M1: change(SMALL, 3, diverged="burst"), M2: LARGE})
    assert found.m1.read.values == (1, 1, 1, 0, 1, 1, 1, 1) == found.m1.finite.values and found.networks.value == 8
    assert len(found.m1.qk.values) == 7 and found.m1.qk_over_collapsed.values[3] == 0 and found.m1.T_rec.values[3] == 301
    test = found.m1.test
    assert [quantity.values[3] for quantity in (test.frozen, test.development, test.multiplier, test.loss_gap, test.recovered)] == [0] * 5
    assert test.frozen.value == 7 and len(test.frozen.values) == 8 and found.both.multiplier.value == 15 and test.distinct.value == 7
    assert found.m1.updates_to_collapse.values == (10, 10, 10, 51, 10, 10, 10, 10) and found.m1.rank_rise.values[3] == 0


def test_a_network_that_diverges_later():
    """It was read and forecast, and counts as not recovered even though its rank had come back."""
    found = judge_world({M1: change(SMALL, 0, diverged="after"), M2: LARGE})
    assert found.m1.read.value == 8 and found.m1.finite.values == (0, *(1,) * 7)
    assert found.m1.test.recovered.values == (0, *(1,) * 7) and found.m1.test.frozen.value == 7 and found.both.recovered.value == 7


def test_all_diverge():
    """Nothing to read: numbers without values, no summary that does not follow, and no error."""
    found = judge_world({M1: [Network(1.0, None, diverged="burst")] * 8, M2: LARGE})
    assert found.m1.qk.values == () and found.m1.test.frozen.value == 0 and found.m1.test.opening.strata.value == 0
    assert found.both.recovered.value == 0 and found.both.gap_above.value == 0


@pytest.mark.parametrize("rank", ["lower", "higher"])
def test_recoveries_with_another_threshold(rank):
    """A rank that comes back to 1.9 recovers with 1.8 and not with 2; one that comes back to 2.1 recovers with 2 and not with 2.2."""
    table, records = {"lower": 1.9, "higher": 2.1}, records_of()
    branches = tuple(
        run if run.arm != "after_40" else run.model_copy(update={"trajectory": run.trajectory.model_copy(update={"rank": (table[rank],) * 31})})
        for run in records.after.branches
    )
    records = records._replace(after=records.after.model_copy(update={"branches": branches}))
    found = evaluate(records)
    assert (found.m2.recovered_lower.value, found.m2.test.recovered.value, found.m2.recovered_higher.value) == {"lower": (8, 0, 0), "higher": (8, 8, 0)}[rank]


def evaluate(records, frozen=None, main=None):
    """The test of changed records."""
    given = (records, development_of(), frozen or threshold(-5.5), main or main_readings(1e-8))
    return evaluate_bursts(provenance("burst_tests"), SCALE, CALIBRATION, *given, np.random.default_rng(0))


def test_without_thresholds():
    """No frozen threshold, development networks of one outcome: nothing is forecast, the counts say so, and every network counts as wrong."""
    same = {M1: DEVELOPMENT[M1], M2: DEVELOPMENT[M1]}
    found = judge_world(frozen=threshold(None), development=same)
    assert (found.fitted.value, found.separates.value, found.m1.test.frozen.value, found.both.development.value) == (0, 0, 0, 0)
    mixed = {M1: [Network(1e-4, 20), Network(1e-7, 20)], M2: DEVELOPMENT[M2]}
    assert judge_world(development=mixed).separates.value == 0  # a threshold with an error is one, and does not separate


def test_forecast():
    """Made from readings and thresholds alone: by every rule, at or above its threshold; development's lies midway in log10."""
    found = records_of().forecast
    assert found.rows[0].recovers == {"frozen": True, "opening": True, "multiplier": True, "loss_gap": True, "grad_norm": False}
    assert found.rows[8].recovers == dict.fromkeys(found.rows[0].recovers, False)
    assert found.thresholds["opening"].value.value == pytest.approx((np.log10(1e-4) + np.log10(2e-6)) / 2)
    assert found.thresholds["multiplier"].value.value == pytest.approx(-np.log10(np.sqrt(M1 * M2))) and found.rows[0].scores["multiplier"] == -np.log10(M1)
    assert parse_model(BurstForecast, found.model_dump(mode="json"), "forecast") == found


def test_forecasts_are_what_is_judged():
    """A forecast that was changed afterwards, one row or the threshold, is refused; so is a frozen threshold other than the forecast's."""
    records = records_of()
    row = records.forecast.rows[0]
    turned = row.model_copy(update={"recovers": row.recovers | {"frozen": False}})
    changed = records.forecast.model_copy(update={"rows": (turned, *records.forecast.rows[1:])})
    for bad, frozen in ((records._replace(forecast=changed), None), (records, threshold(-4.0))):
        with pytest.raises(Refusal, match="do not follow from readings and thresholds"):
            evaluate(bad, frozen)


MISMATCHES = {
    "not continued": (lambda records: {"after": records.after.model_copy(update={"branches": records.after.branches[1:]})}, "read, not continued"),
    "no burst": (lambda records: {"excursions": records.excursions.model_copy(update={"bursts": records.excursions.bursts[1:]})}, "no burst"),
}


@pytest.mark.parametrize("kind", MISMATCHES)
def test_records_of_other_networks_are_refused(kind):
    """A network that is missing from one of the records is never taken for one that did not recover."""
    change_records, observed = MISMATCHES[kind]
    records = records_of()
    with pytest.raises(Refusal, match="not of the same networks") as caught:
        evaluate(records._replace(**change_records(records)))
    assert observed in str(caught.value)


def test_no_collapse_to_compare_with():
    """T0 needs the main study's collapses."""
    with pytest.raises(Refusal, match="no saved collapse of the main study at the deep depth"):
        evaluate(records_of(), main=main_readings())


def test_the_development_networks_were_continued():
    """A development network that was read and not continued has no outcome to fit from."""
    development = development_of()
    cut = development._replace(development=development.development.model_copy(update={"branches": ()}))
    with pytest.raises(Refusal, match="was read and not continued"):
        forecast_bursts(provenance("burst_forecast"), SCALE, CALIBRATION, readings_of(WORLD), cut, threshold(-5.5))


WORLDS = {"paper-like": WORLD, "one diverged": {M1: change(SMALL, 3, diverged="burst"), M2: LARGE}, "none recovers": {M1: LARGE, M2: LARGE}}


@pytest.mark.parametrize("kind", WORLDS)
def test_record_and_claims(kind):
    """The record comes back from its bytes, every summary follows from its values, and every reading of the bursts that claims need is there."""
    found = judge_world({M1: WORLDS[kind][M1], M2: WORLDS[kind].get(M2, LARGE)})
    assert BurstTests.model_validate_json(record_bytes(found)) == found
    quantities = claim_quantities(found)
    for _, quantity in walk_quantities(found.model_dump(mode="python")):
        assert summary_fault(parse_model(type(found.networks), quantity, "quantity")) is None
    assert all(summary_fault(quantity) is None for quantity in quantities.values())
    assert set(quantities) >= {key for key in needed_readings() if key.startswith("burst.")}


def test_claim_quantities():
    """What is compared network by network is of those read at both multipliers; flags and counts are of all."""
    found = claim_quantities(judge_world({M1: SMALL, M2: change(LARGE, 0, diverged="burst")}))
    assert found["burst.m1.qk.deep"].values == tuple(one.opening for one in SMALL[1:]) and len(found["burst.m2.qk.deep"].values) == 7
    assert len(found["burst.m1.T_rec.deep"].values) == len(found["burst.m1.grad_norm.deep"].values) == 7
    assert found["burst.m2.recovered_rank.deep"].values == (0,) * 8 == found["burst.m2.recovered_lower_threshold"].values
    assert found["burst.m1.T_rec_spread"].value == 180 / 40 and found["burst.T0.open.deep"].value == 8
    assert found["burst.m1.rho_size"].value == pytest.approx(1) and 0.8 < found["burst.pooled.rho_size"].value < 1
    assert found["burst.m1.rank_rise.deep"].values == pytest.approx((1.3,) * 8) and found["burst.m2.finite.deep"].values == (0, *(1,) * 7)
    assert found["burst.m1.qk_over_healthy.deep"].values == pytest.approx([one.opening / 1e-2 for one in SMALL])
