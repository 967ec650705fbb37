"""The records of the registered tests: thresholds of main, forecasts before any switch, and what came out; free of torch."""

from __future__ import annotations

from typing import Literal

from audit.records import Frozen, Quantity, Record
from rankcollapse.params import Role
from rankcollapse.registered import Classified, DelayTest, Measure, Ranking, Row, Thresholds


class RowRecord(Frozen):
    """A row of the registered tests as it is kept: one event after one switch."""

    seed: int
    role: Role
    delay: int
    """Place of the delay in the rising list of delays; 0 is none."""
    readings: dict[Measure, float]
    """Before any update."""
    time: float | None = None
    """Steps to recovery by the rank rule; absent where there was none within the budget."""

    def row(self) -> Row:
        """As the tests read it."""
        return Row(self.seed, self.role, self.readings, self.time, self.delay)


class RoleClasses(Frozen):
    """The events of one depth at the weak scale, in the order of the rows; the values are 0 or 1."""

    recovered: Quantity
    failed: Quantity
    correct: Quantity
    """Classified by the depth's own threshold as they came out: in sample; none where there is no threshold."""


class MainThresholds(Record):
    """What main fixes for the replication: a threshold of each measure and depth at the weak scale, and the rows they come from."""

    kind: Literal["thresholds"] = "thresholds"
    version: Literal[1] = 1
    opening: Thresholds
    loss_gap: Thresholds
    grad_norm: Thresholds
    residual: Thresholds
    rho_hinge: Thresholds
    shallow: RoleClasses
    deep: RoleClasses
    ranking: Ranking
    """The opening against times at the ranked switches of main: seen before anything was registered."""
    weak: tuple[RowRecord, ...]
    ranked: tuple[RowRecord, ...]


class ForecastRow(Frozen):
    """What is said of one event under one switch, from its state before the switch."""

    seed: int
    role: Role
    arm: str
    delay: int
    scores: dict[Measure, float]
    """log10 of each reading, turned so that more means faster."""
    recovers: dict[str, bool]
    """At the weak scale: by each measure's threshold, by main's larger class (`majority`), by that of the depth (`depth`); where there is one."""
    place: float
    """Rank within depth and delay, from the first that should recover; by the opening, ties share one."""


class Forecast(Record):
    """Outcomes forecast from states alone: no switch had been trained."""

    kind: Literal["forecast"] = "forecast"
    version: Literal[1] = 1
    rows: tuple[ForecastRow, ...]
    recover: Quantity
    """Events said to recover at the weak scale, by the threshold of the opening; the values are 0 or 1, of depths with a threshold."""


class Measured(Ranking):
    """A measure under the first registered test."""

    correct: Quantity
    """At the weak scale, by main's thresholds of this measure."""


class FirstTest(Frozen):
    """The first registered test: predictor and rivals on the replication."""

    opening: Measured
    loss_gap: Measured
    grad_norm: Measured
    residual: Measured
    rho_hinge: Measured
    classified: Classified
    """By the opening, beside what needs no measurement."""
    disagreeing: Quantity
    """Of the events that opening and depth alone classify differently, those that the opening has right."""
    forecast: Quantity
    """Events at the weak scale that came out as the opening's forecast said before they were trained."""
    distinct: Quantity
    """Distinct times at the ranked switches."""


class DelayTests(Frozen):
    """The delayed switch on the replication."""

    shallow: DelayTest
    deep: DelayTest
    slowing_difference: Quantity
    """The deeper stack's slowing minus the shallower one's, both as medians over seeds."""
    seeds: Quantity
    """At the depth that has fewer."""
    mixed: dict[Role, Quantity]
    """By depth, seeds that recover at some delays and fail at others: without one no recovery could have returned."""


class ArmOutcome(Frozen):
    """An arm over the events of both depths that got it, shallow ones first."""

    recovered_rank: Quantity
    recovered_effective: Quantity
    events: Quantity


class Ageing(Frozen):
    """What time at the floor does to the opening, which weights hold it, and whether the optimiser or the decay do."""

    falls_L: Quantity
    """Page's L of an opening that falls with the delay, within networks of both depths; the values are the networks' own."""
    falls_expected: Quantity
    falls_p: Quantity
    networks: Quantity
    opening: dict[str, Quantity]
    """By arm, over the networks: before any update at the delayed switch's scale."""
    fallen: Quantity
    """Networks whose opening after the longest delay lies below the saved collapse's by more than the factor."""
    restored: dict[str, Quantity]
    """By group of weights, over the fallen networks: its return to the saved values brings the opening to within the factor."""
    unrestored: dict[str, Quantity]
    """By group, over the fallen networks: it does not."""
    times: dict[str, Quantity]
    """By arm, over the networks that have all three: steps to recovery, budget + 1 where none."""
    sooner: dict[str, Quantity]
    """By arm, over the same networks: recovered in fewer steps than after the longest delay as it is."""


class PositionOrder(Frozen):
    """The order of what is left of the tokens in saved collapses of uniform attention, in double precision."""

    events: Quantity
    """Events whose attention is nearly uniform: those that are looked at."""
    position: Quantity
    """Median over sequences of the size of Spearman's correlation of u1 and position, by event looked at."""
    pearson: Quantity
    pearson_log: Quantity
    healthy: Quantity
    """The same of position in the healthy control."""
    frequency: Quantity
    """The rival: with the training frequency of the position's token."""
    short: Quantity
    """Events whose correlation with position is below what was registered."""
    healthy_ordered: Quantity
    """Events whose healthy control is ordered as well."""
    beaten: Quantity
    """Events whose u1 goes with frequency as much as with position, or more."""
    at_floor: Quantity


class FunctionTest(Frozen):
    """Rank without function at one depth: the hinge at four times the matched loss."""

    events: Quantity
    recovered_rank: Quantity
    recovered_effective: Quantity
    away: Quantity
    """Events that end further from the unigram loss than registered."""
    rank_alone: Quantity
    """Events that recover by rank, not effectively, and end beside the unigram loss."""
    loss_over_unigram: Quantity


class Functions(Frozen):
    """Rank without function by depth."""

    shallow: FunctionTest
    deep: FunctionTest


class Markers(Frozen):
    """The order in which the markers of the collapse cross on the way down, over the events of both depths."""

    ordered: Quantity
    """Gap, cosine, loss gap, each strictly before the next."""
    loss_not_later: Quantity


class EpsilonTest(Frozen):
    """Untreated copies with a smaller epsilon of Adam, over the events of both depths that have one, each beside its untreated twin."""

    events: Quantity
    recovered_effective: Quantity
    left: Quantity
    """Copies that end below the unigram loss by more than registered."""
    left_untreated: Quantity
    """Twins that do."""
    lower: Quantity
    """Copies that end at a lower loss than their twins."""
    signal: Quantity
    """Share of the blocks in which single precision has the query-key gradient and not its own rounding, by event."""


class Interpretation(Frozen):
    """The row of the table of outcomes that was fixed in advance; the values are 0 or 1."""

    row: str
    both_fail_untreated_stays: Quantity


class Law(Frozen):
    """The slope-two law, by event with points enough; a check of algebra, not registered."""

    slope: Quantity
    events: Quantity


class PathTests(Record):
    """Every quantity that a registration of the replication names, and what is printed beside."""

    kind: Literal["tests"] = "tests"
    version: Literal[1] = 1
    test1: FirstTest
    delay: DelayTests
    ageing: Ageing
    order: PositionOrder
    function: Functions
    epsilon: EpsilonTest
    markers: Markers
    interpretation: Interpretation
    outcome: dict[str, ArmOutcome]
    law: Law
    weak: tuple[RowRecord, ...]
    ranked: tuple[RowRecord, ...]
    delayed: tuple[RowRecord, ...]
