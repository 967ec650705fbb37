"""The first registered test and the delayed switch: thresholds from main, forecasts of the replication, and what came of them.

Three steps, each a record: `fit_main` sees main's outcomes, `forecast_set` sees readings of the replication alone, `evaluate_path` sees its
outcomes. Main comes in as the frozen thresholds' record and in no other way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose

import numpy as np
import scipy

from audit.records import Provenance, Quantity, Refusal
from rankcollapse.arm_records import SetRecords
from rankcollapse.evidence import count, number, whole
from rankcollapse.own_tests import (
    count_markers,
    interpret,
    judge_arms,
    judge_epsilon,
    judge_function,
    order_positions,
    read_ageing,
    read_law,
)
from rankcollapse.params import ROLES, Role, Scale
from rankcollapse.path_rows import WEAK, collect_rows, delay_of, delayed_arms, keep_rows, list_cells, ranked_arms, read_arm
from rankcollapse.records import Calibration
from rankcollapse.records_readings import Readings
from rankcollapse.records_tests import DelayTests, FirstTest, Forecast, ForecastRow, Functions, MainThresholds, Measured, PathTests, RoleClasses
from rankcollapse.registered import (
    DelayTest,
    Measure,
    Row,
    Thresholds,
    classify_held_out,
    classify_rows,
    fit_thresholds,
    order_delays,
    rank_rows,
    total,
)
from rankcollapse.statistics import censor
from rankcollapse.thresholds import classify_by_depth, majority

MEASURES: tuple[Measure, ...] = ("opening", "loss_gap", "grad_norm", "residual", "rho_hinge")
"""The predictor, its rivals, and the hinge's force."""
SEED = 0
"""Of the permutations where there are too many orders to go through."""


def fit_main(provenance: Provenance, scale: Scale, calibration: Calibration, main: SetRecords) -> MainThresholds:
    """Thresholds of every measure at the weak scale, by depth, from the events of main; a depth with fewer than two of a class has none."""
    weak = collect_rows(scale, calibration, main, [WEAK])
    ranked = collect_rows(scale, calibration, main, ranked_arms(scale))
    fitted = {measure: fit_thresholds(weak, measure) for measure in MEASURES}
    return MainThresholds(
        provenance=provenance, **fitted, **{role: divide_classes(weak, role, fitted["opening"]) for role in ROLES},
        ranking=rank_rows(ranked, "opening", scale.branches.switch_steps, np.random.default_rng(SEED)),
        weak=keep_rows(weak), ranked=keep_rows(ranked),
    )  # fmt: skip


def divide_classes(rows: Sequence[Row], role: Role, thresholds: Thresholds) -> RoleClasses:
    """The two classes of one depth, and how its threshold divides them."""
    own = [row for row in rows if row.role == role]
    return RoleClasses(
        recovered=count([row.recovered for row in own]),
        failed=count([not row.recovered for row in own]),
        correct=count(classify_rows(own, thresholds, "opening")),
    )


def thresholds_of(main: MainThresholds, measure: Measure) -> Thresholds:
    """Main's thresholds of a measure."""
    found: Thresholds = getattr(main, measure)
    return found


def forecast_set(provenance: Provenance, scale: Scale, readings: Mapping[Role, Readings], main: MainThresholds) -> Forecast:
    """What main's thresholds and the openings say of every event under every switch, from states before any switch."""
    rows = forecast_rows(scale, readings, main)
    said = [row.recovers["opening"] for row in rows if "opening" in row.recovers]
    return Forecast(provenance=provenance, rows=rows, recover=count(said))


def forecast_rows(scale: Scale, readings: Mapping[Role, Readings], main: MainThresholds) -> tuple[ForecastRow, ...]:
    """One row an event and switch, arm by arm within a depth."""
    cells = list_cells(readings, (WEAK, *delayed_arms(scale)))
    rows = [(arm, Row(seed, role, read_arm(readings[role], seed, arm, scale), None, delay_of(arm))) for role, seed, arm in cells]
    places = place_rows([(arm, row) for arm, row in rows])
    return tuple(
        ForecastRow(
            seed=row.seed, role=row.role, arm=arm, delay=row.delay, scores={measure: row.score(measure) for measure in MEASURES},
            recovers=say_recovery(row, main) if arm == WEAK else {}, place=place,
        )
        for (arm, row), place in zip(rows, places, strict=True)
    )  # fmt: skip


def place_rows(rows: Sequence[tuple[str, Row]]) -> list[float]:
    """Per row, its mid-rank within depth and arm, the largest opening first."""
    strata: dict[tuple[str, str], list[int]] = {}
    for index, (arm, row) in enumerate(rows):
        strata.setdefault((row.role, arm), []).append(index)
    places = [0.0] * len(rows)
    for members in strata.values():
        for index, place in zip(members, scipy.stats.rankdata([-rows[index][1].score("opening") for index in members]), strict=True):
            places[index] = float(place)
    return places


def say_recovery(row: Row, main: MainThresholds) -> dict[str, bool]:
    """Whether one event should recover at the weak scale, by each threshold that its depth has, and by what needs no measurement."""
    limits = {measure: thresholds_of(main, measure).of(row.role) for measure in MEASURES}
    before = [(kept.role, kept.time is not None) for kept in main.weak]
    plain = {"majority": majority([flag for _, flag in before]), "depth": classify_by_depth(before, [row.role])[0]}
    return {measure: row.score(measure) >= limit for measure, limit in limits.items() if limit is not None} | plain


def evaluate_path(
    provenance: Provenance, scale: Scale, calibration: Calibration, replication: SetRecords, main: MainThresholds, forecast: Forecast
) -> PathTests:
    """Every registered quantity of the replication; Refusal where its forecast is not what main's thresholds say of its readings."""
    refuse_other_forecast(forecast, forecast_rows(scale, replication.readings, main))
    weak, ranked, delayed = (collect_rows(scale, calibration, replication, arms) for arms in ([WEAK], ranked_arms(scale), delayed_arms(scale)))
    outcome = judge_arms(scale, calibration, replication)
    return PathTests(
        provenance=provenance,
        test1=judge_first(scale, weak, ranked, main, forecast),
        delay=judge_delays(scale, delayed),
        ageing=read_ageing(scale, calibration, replication),
        order=order_positions(scale, replication),
        function=Functions(**{role: judge_function(scale, calibration, replication, role) for role in ROLES}),
        epsilon=judge_epsilon(scale, calibration, replication),
        markers=count_markers(scale, calibration, replication),
        interpretation=interpret(outcome),
        outcome=outcome,
        law=read_law(scale, replication),
        weak=keep_rows(weak),
        ranked=keep_rows(ranked),
        delayed=keep_rows(delayed),
    )


def refuse_other_forecast(forecast: Forecast, again: Sequence[ForecastRow]) -> None:
    """Refuse a forecast of other events, or one that differs from what the frozen rule says of the readings."""
    kept = {(row.role, row.seed, row.arm): row for row in forecast.rows}
    wanted = {(row.role, row.seed, row.arm): row for row in again}
    strange = next((key for key in sorted(kept.keys() | wanted.keys()) if not says_the_same(kept.get(key), wanted.get(key))), None)
    if strange is not None or len(kept) != len(forecast.rows):
        place = "forecast" if strange is None else "forecast, {}, seed {}, {}".format(*strange)
        raise Refusal(
            place, "is not what the frozen thresholds say of the readings", expected="the forecast made from these very readings",
            cure="restore both as they were before the switches; a new forecast would come after its outcome",
        )  # fmt: skip


def says_the_same(one: ForecastRow | None, other: ForecastRow | None) -> bool:
    """Whether two rows forecast the same of the same event, from scores that agree to the round-off of a logarithm on another machine."""
    if one is None or other is None or one.model_copy(update={"scores": other.scores}) != other or one.scores.keys() != other.scores.keys():
        return False
    return all(isclose(score, other.scores[measure], rel_tol=1e-9, abs_tol=1e-9) for measure, score in one.scores.items())


def judge_first(scale: Scale, weak: Sequence[Row], ranked: Sequence[Row], main: MainThresholds, forecast: Forecast) -> FirstTest:
    """Predictor and rivals against recovery at the weak scale and against times at the ranked switches."""
    before, budget = [kept.row() for kept in main.weak], scale.branches.switch_steps
    generator = np.random.default_rng(SEED)
    measured = {
        measure: Measured(
            **dict(rank_rows(ranked, measure, budget, generator)), correct=count(classify_rows(weak, thresholds_of(main, measure), measure))
        )
        for measure in MEASURES
    }
    said = {(row.role, row.seed): row.recovers for row in forecast.rows if row.arm == WEAK}
    by = {name: [said[row.role, row.seed].get(name) for row in weak] for name in ("opening", "depth")}
    differing = [(one, row) for one, other, row in zip(by["opening"], by["depth"], weak, strict=True) if one is not None and one != other]
    return FirstTest(
        **measured,
        classified=classify_held_out(before, weak, main.opening),
        disagreeing=count([one == row.recovered for one, row in differing]),
        forecast=count([one == row.recovered for one, row in zip(by["opening"], weak, strict=True)]),
        distinct=whole(len(set(censor([row.time for row in ranked], budget)))),
    )


def judge_delays(scale: Scale, rows: Sequence[Row]) -> DelayTests:
    """D1 to D4."""
    budget, generator = scale.branches.switch_steps, np.random.default_rng(SEED)
    own = {role: order_delays(rows, role, budget, generator) if any(row.role == role for row in rows) else NO_DELAYS for role in ROLES}
    return DelayTests(
        **own,
        slowing_difference=number(own["deep"].slowing.value - own["shallow"].slowing.value, 2),
        seeds=whole(min(int(test.seeds.value) for test in own.values())),
        mixed={role: count(mix_outcomes([row for row in rows if row.role == role])) for role in ROLES},
    )


def mix_outcomes(rows: Sequence[Row]) -> list[bool]:
    """Per seed, in order, whether some of its switches recover and others do not."""
    return [len({row.recovered for row in rows if row.seed == seed}) == 2 for seed in sorted({row.seed for row in rows})]


NO_DELAYS = DelayTest(
    L=total([], 1), expected=number(0.0, 1), p=number(1.0, 4), seeds=whole(0), returns=total([]), failures=whole(0), lost=total([]),
    slowing=number(0.0, 2),
)  # fmt: skip
"""Of a depth at which nothing settled: no seeds, which leaves it undecided."""


def claim_quantities(tests: PathTests, main: MainThresholds, budget: int) -> dict[str, Quantity]:
    """The readings of the claims that begin with `test1.`, by key; times are those of the undelayed switch, budget + 1 where none."""
    first = tests.test1
    found: dict[str, Quantity] = {
        "test1.P1.correct": first.classified.correct, "test1.P2.rho": first.opening.rho, "test1.P3.rho": first.rho_hinge.rho,
        "test1.P4.depth.correct": first.classified.depth, "test1.main.rho": main.ranking.rho,
        "test1.disagreeing.predictor_correct": first.disagreeing,
        "test1.P4.loss_gap.correct": first.loss_gap.correct, "test1.P4.loss_gap.rho": first.loss_gap.rho,
        "test1.P4.grad_norm.correct": first.grad_norm.correct, "test1.P4.grad_norm.rho": first.grad_norm.rho,
    }  # fmt: skip
    undelayed = [kept.row() for kept in tests.delayed if kept.delay == 0]
    for role in ROLES:
        own = [row for row in undelayed if row.role == role]
        found[f"test1.T_rec.{role}"] = list_values(censor([row.time for row in own], budget), 0)
        found[f"test1.rho_hinge.{role}"] = list_values([row.readings["rho_hinge"] for row in own], 3)
        found |= {f"test1.threshold.{name}.{role}": value for name, value in describe_threshold(main, role).items()}
    return found | pair_depths(undelayed)


def pair_depths(rows: Sequence[Row]) -> dict[str, Quantity]:
    """The openings of seeds that were saved at both depths, at the undelayed switch, whose scale is one for both."""
    openings = {(row.role, row.seed): row.readings["opening"] for row in rows}
    seeds = [seed for role, seed in openings if role == "shallow" and ("deep", seed) in openings]
    return {f"test1.by_seed.predictor_{role}": list_values([openings[role, seed] for seed in seeds], 2) for role in ROLES}


def describe_threshold(main: MainThresholds, role: Role) -> dict[str, Quantity]:
    """A depth's threshold of the opening; without one a value that counts none, and a chance of 1."""
    fitted = getattr(main.opening, role)
    nothing = Quantity(value=0, digits=0, style="integer", tolerance=0.0, summary="count", values=())
    return {
        "value": nothing if fitted is None else fitted.value,
        "chance": number(1.0, 3) if fitted is None else fitted.chance,
        "main_correct": getattr(main, role).correct,
    }


def list_values(values: Sequence[float], digits: int) -> Quantity:
    """Values by event with their median; a count of nothing where there are none."""
    if not values:
        return count([])
    return Quantity(value=float(np.median(values)), digits=digits, tolerance=0.0, summary="median", values=tuple(values))
