"""The first registered test and the delayed switch on a study made by hand: thresholds, forecasts, every quantity a prediction names."""

from __future__ import annotations

from math import log, log10, sqrt

import pytest
from made_events import CALIBRATION, PROVENANCE, ROLE, SCALE, make_run
from made_sets import make_study

from audit.records import Refusal, read_model, write_record
from rankcollapse import treatments
from rankcollapse.claims import needed_readings
from rankcollapse.path_rows import SKIPS, UNDELAYED, WEAK, collect_rows, delayed_arms, find_time, ranked_arms
from rankcollapse.path_tests import claim_quantities, evaluate_path, fit_main, forecast_set
from rankcollapse.records_tests import Forecast, MainThresholds, PathTests

MAIN, REPLICATION = make_study("main"), make_study("replication")
FITTED = fit_main(PROVENANCE, SCALE, CALIBRATION, MAIN)
FORECAST = forecast_set(PROVENANCE, SCALE, REPLICATION.readings, FITTED)
TESTS = evaluate_path(PROVENANCE, SCALE, CALIBRATION, REPLICATION, FITTED, FORECAST)


def test_arms_are_the_treatments():
    """The names and scales that rows are read at are those that are trained."""
    assert WEAK == treatments.WEAK and SKIPS == treatments.SWITCHES and SKIPS[UNDELAYED] == SCALE.study.delayed_skip
    assert delayed_arms(SCALE) == ("switch_03", "delay_1", "delay_2", "delay_3") and ranked_arms(SCALE) == ("switch_03", "delay_2", "delay_3")
    assert set(delayed_arms(SCALE)) <= treatments.list_arms(SCALE).keys()


@pytest.mark.parametrize("time", [8, 10, 40, 94, None])
def test_times_are_those_of_the_rank_rule(time):
    """The end of the first trailing window that recovers and holds, from the branch's start; effectively, with the residual too."""
    assert find_time(make_run(1, "arm", time), ROLE, SCALE) == time
    assert find_time(make_run(1, "arm", time, residual=0.081), ROLE, SCALE, effective=True) == time
    assert find_time(make_run(1, "arm", time, residual=0.079), ROLE, SCALE, effective=True) is None
    assert find_time(make_run(1, "arm", time, floor=True), ROLE, SCALE) is None


def test_what_does_not_hold_is_no_recovery():
    """A window that recovers at the end of the budget has nothing after it to hold."""
    assert find_time(make_run(1, "arm", 96), ROLE, SCALE) is None


def test_rows_hold_what_was_read_before_the_switch():
    """Opening, gap to the healthy control, norm, residual and force at each switch, and the delay's place."""
    rows = collect_rows(SCALE, CALIBRATION, REPLICATION, ["switch_weak", "delay_2"])
    assert [(row.role, row.seed, row.delay) for row in rows[:5]] == [("shallow", seed, 0) for seed in (1, 2, 3, 4)] + [("shallow", 1, 2)]
    assert rows[0].readings == {"opening": 1e-5, "loss_gap": 1.0, "grad_norm": 1.0, "residual": 1e-6, "rho_hinge": 0.1} and rows[0].time is None
    aged = next(row for row in rows if (row.role, row.seed, row.delay) == ("deep", 2, 2))
    assert aged.readings["opening"] == pytest.approx(1e-3) and aged.time == 40


def test_an_event_without_a_run_is_refused():
    """A branch that was not trained, or a collapse that was not read, is a gap and no outcome."""
    cut = REPLICATION.switched["deep"].model_copy(update={"branches": REPLICATION.switched["deep"].branches[1:]})
    with pytest.raises(Refusal, match="no run of this arm"):
        collect_rows(SCALE, CALIBRATION, REPLICATION._replace(switched={**REPLICATION.switched, "deep": cut}), ["switch_weak"])
    with pytest.raises(Refusal, match="no state at a skip scale of 0.6"):
        collect_rows(SCALE, CALIBRATION, REPLICATION, ["switch_06"])
    deep = REPLICATION.readings["deep"]
    unread = REPLICATION._replace(readings={**REPLICATION.readings, "deep": deep.model_copy(update={"events": deep.events[1:]})})
    with pytest.raises(Refusal, match="was not read"):
        collect_rows(SCALE, CALIBRATION, unread, ["switch_weak"])


def test_main_fixes_a_threshold_a_depth():
    """Midpoints in log10 of 1e-5 and 1e-3, and of 1e-3 and 1e-1; classes, in-sample errors and chances beside; rivals that order nothing."""
    assert FITTED.opening.of("deep") == pytest.approx(-4) and FITTED.opening.of("shallow") == pytest.approx(-2)
    assert FITTED.opening.deep.chance.value == pytest.approx(1 / 6) and FITTED.loss_gap.deep.errors.value == 2
    assert FITTED.deep.recovered.values == (0, 0, 1, 1) and FITTED.deep.failed.value == 2 and FITTED.deep.correct.value == 4
    assert FITTED.ranking.rho.values == pytest.approx((-1, -1, -1, -1, -sqrt(0.6))) and len(FITTED.weak) == 8 and len(FITTED.ranked) == 24


def test_a_forecast_needs_no_outcome():
    """One row an event and switch: by each threshold, by main's classes, and the order within depth and delay; no branch is read."""
    assert len(FORECAST.rows) == 8 * 5
    rows = {(row.role, row.seed, row.arm): row for row in FORECAST.rows}
    assert rows["deep", 2, "switch_weak"].recovers == {
        "opening": False, "loss_gap": False, "grad_norm": False, "residual": False, "rho_hinge": False, "majority": True, "depth": True
    }  # fmt: skip
    assert rows["deep", 3, "switch_weak"].recovers["opening"] and rows["deep", 3, "switch_weak"].scores["opening"] == pytest.approx(-3.5)
    assert rows["shallow", 4, "delay_2"].place == 4 and rows["shallow", 4, "delay_2"].recovers == {} and rows["deep", 4, "switch_weak"].place == 1
    assert FORECAST.recover.values == (0, 0, 1, 1, 0, 0, 1, 1)


def test_another_forecast_is_refused():
    """A score, a word or a place changed, a row left out or twice, readings made anew: none of it was said before; round-off is no change."""
    first, *rest = FORECAST.rows
    changed = first.model_copy(update={"scores": {**first.scores, "opening": first.scores["opening"] + 1e-6}})
    turned = first.model_copy(update={"recovers": {**first.recovers, "opening": not first.recovers["opening"]}})
    moved, fewer = first.model_copy(update={"place": first.place + 1}), first.model_copy(update={"scores": {"opening": first.scores["opening"]}})
    for rows in ((changed, *rest), (turned, *rest), (moved, *rest), (fewer, *rest), tuple(rest), (first, *FORECAST.rows)):
        with pytest.raises(Refusal, match="is not what the frozen thresholds say"):
            evaluate_path(PROVENANCE, SCALE, CALIBRATION, REPLICATION, FITTED, FORECAST.model_copy(update={"rows": rows}))
    rounded = first.model_copy(update={"scores": {**first.scores, "opening": first.scores["opening"] + 1e-15}})
    again = FORECAST.model_copy(update={"rows": (rounded, *rest)})
    assert evaluate_path(PROVENANCE, SCALE, CALIBRATION, REPLICATION, FITTED, again) == TESTS
    with pytest.raises(Refusal, match="forecast"):
        evaluate_path(PROVENANCE, SCALE, CALIBRATION, MAIN, FITTED, FORECAST)


def test_classification():
    """Six of eight by the thresholds, four by main's tied classes; of four that depth alone has otherwise, three for the opening."""
    found = TESTS.test1
    assert found.classified.correct.values == (1, 1, 1, 1, 1, 0, 0, 1) == found.opening.correct.values == found.forecast.values
    assert (found.classified.majority.value, found.classified.depth.value, found.classified.fitted.value) == (4, 4, 2)
    assert found.classified.least_class.value == 4 and found.disagreeing.values == (1, 1, 1, 0)


def test_ranking():
    """Perfect in four of five strata that count, three ties in the fifth; the gap orders one; the force none; p for strata and for networks."""
    found = TESTS.test1
    assert found.opening.rho.values == pytest.approx((-1, -1, -1, -1, -sqrt(0.6))) and found.opening.strata.value == 5
    assert found.opening.p.value == pytest.approx(24.0**-4 / 4) and found.opening.p_networks.value == pytest.approx(24.0**-2)
    assert found.loss_gap.rho.value == pytest.approx(-1 / 5) and found.rho_hinge.rho.value == 0 and found.rho_hinge.p_networks.value == 1
    assert found.distinct.value == 8  # 10, 20, 30, 40, 60, 80, 90, and none within the budget


def test_delays():
    """Page's L by hand at both depths; recoveries lost to the longest delay; the middle one doubles the time at the deep one alone."""
    deep, shallow = TESTS.delay.deep, TESTS.delay.shallow
    assert (deep.L.values, deep.expected.value, deep.p.value) == ((30,) * 4, 100, pytest.approx(24.0**-4))
    assert shallow.L.value == 4 * (2.5 + 2 + 7.5 + 16)
    assert (deep.failures.value, deep.lost.value, deep.returns.value, deep.seeds.value) == (3, 3, 0, 4) and shallow.lost.value == 4
    assert deep.lost.values == (0, 1, 1, 1) and deep.slowing.values == pytest.approx((log(2),) * 4)
    assert TESTS.delay.slowing_difference.value == pytest.approx(log(2)) and TESTS.delay.seeds.value == 4
    assert TESTS.delay.mixed["deep"].values == (0, 1, 1, 1) and TESTS.delay.mixed["shallow"].value == 4


def test_a_depth_without_events_is_undecided():
    """No seeds, and nothing that could be met: p 1, no failure, no recovery lost."""
    empty = {"drivers": "events", "readings": "events", "switched": "branches", "treated": "branches"}
    alone = REPLICATION._replace(
        **{
            part: {**getattr(REPLICATION, part), "deep": getattr(REPLICATION, part)["deep"].model_copy(update={field: ()})}
            for part, field in empty.items()
        }
    )
    found = evaluate_path(PROVENANCE, SCALE, CALIBRATION, alone, FITTED, forecast_set(PROVENANCE, SCALE, alone.readings, FITTED))
    assert (found.delay.deep.seeds.value, found.delay.deep.p.value, found.delay.seeds.value, found.delay.mixed["deep"].value) == (0, 1, 0, 0)
    assert found.test1.classified.events.value == 4 and found.test1.opening.strata.value == 2
    assert found.delay.deep.returns.summary == TESTS.delay.deep.returns.summary and found.ageing.fallen.value == 4


def test_claims_get_their_readings():
    """Every key of the claims that this test answers for; without a threshold at a depth, none is counted and its chance is 1."""
    found = claim_quantities(TESTS, FITTED, 100)
    assert {key for key in needed_readings() if key.startswith("test1.")} == found.keys()
    assert found["test1.T_rec.deep"].values == (10, 20, 30, 40) and found["test1.rho_hinge.shallow"].values == (0.1,) * 4
    assert found["test1.by_seed.predictor_deep"].values == pytest.approx([10.0**-seed for seed in (1, 2, 3, 4)])
    assert found["test1.threshold.value.deep"].value == pytest.approx(-4) and found["test1.threshold.main_correct.deep"].value == 4
    without = FITTED.model_copy(update={"opening": FITTED.opening.model_copy(update={"deep": None})})
    found = claim_quantities(TESTS, without, 100)
    assert found["test1.threshold.value.deep"].values == () and found["test1.threshold.chance.deep"].value == 1


def test_records_are_read_back(tmp_path):
    """What is written is what is read, and a forecast read back is still the one that was made."""
    for record, kind in ((FITTED, MainThresholds), (FORECAST, Forecast), (TESTS, PathTests)):
        write_record(tmp_path / "record.json", record)
        again = read_model(kind, tmp_path / "record.json")
        assert again == record
        if kind is Forecast:
            assert evaluate_path(PROVENANCE, SCALE, CALIBRATION, REPLICATION, FITTED, again) == TESTS
    assert log10(1e-4) == FORECAST.rows[1].scores["opening"]
