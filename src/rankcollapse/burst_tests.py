"""The second registered test: forecasts from networks at the end of their bursts, and the quantities that its predictions name.

A network that diverged has no reading and counts as not recovered; no rule could say anything of it, so that it counts as wrong by every
one, the rivals included, and as closed. Nothing here trains, and no verdict is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

import numpy as np

from audit.records import Provenance, Quantity, Refusal
from rankcollapse.burst_outcomes import Followed, count_updates, develop_rows, find_time, follow_networks, make_row, measure_gap, measure_rise
from rankcollapse.burst_records import (
    BothTest,
    BurstForecast,
    BurstForecastRow,
    BurstReadings,
    BurstRecords,
    BurstTests,
    DevelopmentRecords,
    MultiplierTest,
)
from rankcollapse.params import Role, Scale
from rankcollapse.path_rules import LEAST
from rankcollapse.quantities import count, exact, trained
from rankcollapse.records import RoleCalibration
from rankcollapse.records_readings import Readings
from rankcollapse.registered import BurstTest, Fitted, Measure, Row, Thresholds, fit_thresholds, judge_burst
from rankcollapse.statistics import censor, spearman

RULES: Mapping[str, Measure] = {
    "frozen": "opening", "opening": "opening", "multiplier": "multiplier", "loss_gap": "loss_gap", "grad_norm": "grad_norm",
}  # fmt: skip
"""What each rule reads: `frozen` has the first registered test's threshold, the others have the development networks'."""
LOWER, HIGHER = 0.9, 1.1
"""Factors on the recovery threshold, for how far a count of recoveries hangs on it."""
OPEN = 100.0
"""Times the collapsed median from which the path counts as open (T0)."""
GAP = 0.05
"""Nats above the paired control that a recovered network is said to end with (T4)."""


def fit_rules(development: Sequence[Row], frozen: Thresholds, role: str) -> dict[str, Fitted]:
    """Thresholds by rule, without those that could not be fitted."""
    fitted = {rule: frozen if rule == "frozen" else fit_thresholds(development, measure) for rule, measure in RULES.items()}
    found = {rule: getattr(thresholds, role) for rule, thresholds in fitted.items()}
    return {rule: threshold for rule, threshold in found.items() if threshold is not None}


def forecast_rows(readings: BurstReadings, thresholds: Mapping[str, Fitted]) -> tuple[BurstForecastRow, ...]:
    """What each rule says of each network that was read: recovery at or above its threshold."""
    found = []
    for network in readings.networks:
        row = make_row(network, readings.role, None)
        scores = {measure: row.score(measure) for measure in row.readings}
        says = {rule: scores[RULES[rule]] >= float(threshold.value.value) for rule, threshold in thresholds.items()}
        found.append(BurstForecastRow(seed=network.seed, multiplier=network.multiplier, scores=scores, recovers=says))
    return tuple(found)


def forecast_bursts(
    provenance: Provenance, scale: Scale, calibration: RoleCalibration,
    readings: BurstReadings, development: DevelopmentRecords, frozen: Thresholds,
) -> BurstForecast:  # fmt: skip
    """Forecasts of every network that was read, by every rule that has a threshold; to be written before any network is continued."""
    thresholds = fit_rules(develop_rows(development, calibration, scale), frozen, readings.role)
    return BurstForecast(
        provenance=provenance, role=readings.role, depth=readings.depth, thresholds=thresholds, rows=forecast_rows(readings, thresholds)
    )


@dataclass(frozen=True)
class Court:
    """What the networks of both multipliers are judged with."""

    scale: Scale
    role: Role
    collapse: float
    """Rank below which a network counts as collapsed."""
    recover: float
    """Rank at which a network counts as recovered."""
    closed: float
    """Median predictor of the main study's saved collapses."""
    development: Sequence[Row]
    frozen: Thresholds
    generator: np.random.Generator

    def show(
        self, values: Sequence[float], digits: int, unit: str = "1", style: Literal["fixed", "scientific"] = "fixed"
    ) -> Quantity:
        """The median of trained values; 0 without a summary where there are none."""
        if not values:
            return Quantity(value=0, unit=unit, digits=digits, style=style, tolerance=0.0, values=())
        return trained(values, self.scale, digits=digits, unit=unit, style=style)

    def budget(self) -> int:
        """Steps after the burst."""
        return self.scale.study.bursts.after

    def judge(self, multiplier: float, below: Quantity, networks: Sequence[Followed]) -> MultiplierTest:
        """The networks of one multiplier."""
        read, updates = [one.network for one in networks if one.network], self.scale.study.bursts.updates
        gaps = [gap for one in networks if one.time is not None and (gap := measure_gap(one.branch, one.control)) is not None]
        return MultiplierTest(
            multiplier=exact(multiplier, digits=1),
            below=below,
            read=count([one.network is not None for one in networks]),
            finite=count([one.finite for one in networks]),
            updates_to_collapse=self.show([count_updates(one.burst, self.collapse, updates) for one in networks], 0, "steps"),
            qk=self.show([network.state.opening for network in read], 1, style="scientific"),
            qk_over_collapsed=self.show(
                [one.network.state.opening / max(self.closed, LEAST) if one.network else 0.0 for one in networks], 1, style="scientific"
            ),
            qk_over_healthy=self.show([network.qk_over_healthy for network in read], 2),
            loss_gap=self.show([network.loss_gap for network in read], 2, "nats"),
            grad_norm=self.show([network.state.gradient_norm for network in read], 2),
            T_rec=self.show(censor([one.time for one in networks], self.budget()), 0, "steps"),
            recovered_lower=self.count_recovered(networks, LOWER),
            recovered_higher=self.count_recovered(networks, HIGHER),
            rank_rise=self.show([measure_rise(one.branch) for one in networks], 2),
            loss_gap_end=self.show(gaps, 2, "nats"),
            test=self.test(networks),
        )

    def count_recovered(self, networks: Sequence[Followed], factor: float) -> Quantity:
        """Networks that recover by rank at another threshold."""
        return count([find_time(one.branch, factor * self.recover, self.scale.rules) is not None for one in networks])

    def test(self, networks: Sequence[Followed]) -> BurstTest:
        """T1 to T3r over the networks that were read; those that were not are put in as wrong and not recovered."""
        rows = make_rows(networks, self.role)
        found, read = judge_burst(rows, self.frozen, self.development, self.budget(), self.generator), [one.network is not None for one in networks]
        counts = ("frozen", "development", "multiplier", "loss_gap", "grad_norm", "recovered")
        return found.model_copy(update={name: fill(getattr(found, name), read) for name in counts})

    def pool(self, m1: MultiplierTest, m2: MultiplierTest, networks: Sequence[Sequence[Followed]]) -> BothTest:
        """Both multipliers together."""
        rows = [row for own in networks for row in make_rows(own, self.role)]
        gaps = [gap for one in (m1, m2) for gap in one.loss_gap_end.values or ()]
        times, above = [one.time for one in networks[0] if one.time is not None], [gap > GAP for gap in gaps]
        rho = spearman([row.score("opening") for row in rows], censor([row.time for row in rows], self.budget())) if rows else 0.0
        joint = {name: join(getattr(m1.test, name), getattr(m2.test, name)) for name in ("development", "multiplier", "loss_gap", "grad_norm")}
        return BothTest(
            **joint, gap_above=share(above), recovered=exact(len(gaps)), rho_size=exact(abs(rho), digits=2),
            T_rec_spread=exact(max(times) / max(min(times), 1.0) if times else 0.0, digits=1),
        )  # fmt: skip


def make_rows(networks: Sequence[Followed], role: Role) -> list[Row]:
    """The networks that were read as rows of the registered tests."""
    return [make_row(one.network, role, one.time) for one in networks if one.network]


def fill(counted: Quantity, read: Sequence[bool]) -> Quantity:
    """Flags of the networks that were read as flags of all: 0 for those that were not."""
    values = iter(counted.values or ())
    return count([bool(next(values)) if one else False for one in read])


def join(one: Quantity, other: Quantity) -> Quantity:
    """Two counts as one."""
    return count([bool(flag) for counted in (one, other) for flag in counted.values or ()])


def share(flags: Sequence[bool]) -> Quantity:
    """The share of units a condition holds for; 0 without units."""
    if not flags:
        return Quantity(value=0.0, digits=2, tolerance=0.0, values=())
    return Quantity(value=sum(flags) / len(flags), digits=2, tolerance=0.0, summary="share", values=tuple(map(int, flags)))


def check_forecast(forecast: BurstForecast, readings: BurstReadings, thresholds: Mapping[str, Fitted]) -> None:
    """Refusal unless the forecasts are those that readings and thresholds give: what is judged is what was said beforehand."""
    if forecast.thresholds != dict(thresholds) or forecast.rows != forecast_rows(readings, thresholds):
        what = "the forecasts of the bursts do not follow from readings and thresholds"
        raise Refusal("burst_tests", what, expected="those made before any network was continued", cure="rerun what came after them")


def read_collapsed(main: Readings) -> list[float]:
    """The predictor of the main study's saved collapses; Refusal where there is none to compare with."""
    found = [event.collapsed.opening for event in main.events]
    if not found:
        raise Refusal("burst_tests", f"no saved collapse of the main study at the {main.role} depth", expected="one at least")
    return found


def evaluate_bursts(
    provenance: Provenance, scale: Scale, calibration: RoleCalibration, bursts: BurstRecords, development: DevelopmentRecords,
    frozen: Thresholds, main: Readings, generator: np.random.Generator,
) -> BurstTests:  # fmt: skip
    """T0 to T4 from what was read and forecast at the end of the bursts and what came of the networks.

    `frozen` are the first registered test's thresholds, `main` the main study's readings at the same depth; `generator` is for permutations
    of more than eight networks. Refusal where records are not of the same networks, or forecasts not those of the readings.
    """
    readings, collapsed = bursts.readings, read_collapsed(main)
    develop = develop_rows(development, calibration, scale)
    thresholds = fit_rules(develop, frozen, readings.role)
    check_forecast(bursts.forecast, readings, thresholds)
    collapse, recover = float(calibration.collapse_threshold.value), float(calibration.recover_threshold.value)
    court = Court(scale, readings.role, collapse, recover, median(collapsed), develop, frozen, generator)
    networks = [follow_networks(bursts, multiplier, recover, scale.rules) for multiplier in readings.multipliers]
    below = [excursion.below for excursion in bursts.excursions.excursions]
    m1, m2 = (court.judge(*each) for each in zip(readings.multipliers, below, networks, strict=True))
    return BurstTests(
        provenance=provenance, role=readings.role, depth=readings.depth, networks=exact(len(readings.seeds)),
        collapsed_qk=trained(collapsed, scale, digits=1, style="scientific"), fitted=exact(int("frozen" in thresholds)),
        separates=exact(int("opening" in thresholds and thresholds["opening"].errors.value == 0)),
        m1=m1, m2=m2, both=court.pool(m1, m2, networks),
    )  # fmt: skip
