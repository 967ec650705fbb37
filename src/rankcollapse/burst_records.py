"""The records of the second registered test: networks read at the end of their bursts, what is forecast from that, and what came of it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from audit.records import Frozen, Quantity, Record
from rankcollapse.arm_records import Continuations, Development, Excursions
from rankcollapse.records_readings import StateRow
from rankcollapse.registered import BurstTest, Fitted


class BurstNetwork(Frozen):
    """One network at the end of its burst, before any update at the base rate; nothing is trained to read it."""

    seed: int
    multiplier: float
    state: StateRow
    """At a skip scale of 1; `opening` is the predictor and `gradient_norm` a rival."""
    loss_gap: float
    """Task loss on the gradient probe above the paired control's at the same step, nats per token: a rival."""
    qk_over_healthy: float
    """Median over blocks of the query-key gradient norm over the paired control's in the same block."""


class BurstControl(Frozen):
    """The paired control at the step at which the bursts of its network end."""

    seed: int
    state: StateRow


class BurstReadings(Record):
    """What is read at the end of the bursts; a network that diverged in its burst left no state and has no row."""

    kind: Literal["burst_readings"] = "burst_readings"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    seeds: tuple[int, ...]
    multipliers: tuple[float, ...]
    """m1 and m2."""
    networks: tuple[BurstNetwork, ...]
    """By multiplier, then by seed."""
    controls: tuple[BurstControl, ...]


class BurstForecastRow(Frozen):
    """What each rule says of one network."""

    seed: int
    multiplier: float
    scores: dict[str, float]
    """By measure, in log10, turned so that more means faster recovery."""
    recovers: dict[str, bool]
    """By rule; a rule without a threshold says nothing."""


class BurstForecast(Record):
    """Forecasts by the sealed rules before any network is continued: `frozen` by the threshold of the first registered test,
    `opening`, `multiplier`, `loss_gap` and `grad_norm` by thresholds of the development networks."""

    kind: Literal["burst_forecast"] = "burst_forecast"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    thresholds: dict[str, Fitted]
    """By rule; absent where either outcome has fewer than two networks to fit from."""
    rows: tuple[BurstForecastRow, ...]
    """By multiplier, then by seed; a network that diverged in its burst has none."""


class MultiplierTest(Frozen):
    """The networks of one multiplier. Counts and times are over all of them, in the order of the seeds; `qk`, `qk_over_healthy`, `loss_gap`
    and `grad_norm` over those that were read (`read`)."""

    multiplier: Quantity
    below: Quantity
    """Networks below the collapse threshold at the end of the burst."""
    read: Quantity
    """Networks that did not diverge in the burst."""
    finite: Quantity
    """Networks that diverged neither in the burst nor after it."""
    updates_to_collapse: Quantity
    """Updates of the burst to the first measurement below the collapse threshold; the burst's updates + 1 where there is none."""
    qk: Quantity
    """The predictor."""
    qk_over_collapsed: Quantity
    """Over the median of the main study's saved collapses, every network; 0 for one that was not read, so that it counts as closed."""
    qk_over_healthy: Quantity
    loss_gap: Quantity
    grad_norm: Quantity
    T_rec: Quantity
    """Steps from the end of the burst to recovery by rank; the budget + 1 where there is none."""
    recovered_lower: Quantity
    """Networks that recover with the threshold 10 % lower."""
    recovered_higher: Quantity
    rank_rise: Quantity
    """Rank at the end of the budget minus rank at the end of the burst; 0 for a network that diverged."""
    loss_gap_end: Quantity
    """Probe loss above the paired control's at the end of the budget, networks that recovered by rank."""
    test: BurstTest
    """T1 to T3r. A network that was not read counts as not recovered and as wrong by every rule, since none could say anything of it;
    it is in no rank correlation."""


class BothTest(Frozen):
    """Networks of both multipliers, those of m1 first."""

    development: Quantity
    """T1b: correct by the development networks' threshold."""
    multiplier: Quantity
    """T2's rivals, by theirs."""
    loss_gap: Quantity
    grad_norm: Quantity
    gap_above: Quantity
    """T4: share of the networks recovered by rank that end more than the registered gap above their controls."""
    recovered: Quantity
    """How many these are."""
    rho_size: Quantity
    """Size of Spearman's correlation of predictor and time over the networks read, both multipliers pooled."""
    T_rec_spread: Quantity
    """Of the networks of m1 that recovered, the longest time over the shortest; 0 where none did."""


class BurstTests(Record):
    """The second registered test: quantities that its predictions and the claims name; no verdict is given here."""

    kind: Literal["burst_tests"] = "burst_tests"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    networks: Quantity
    """Of each multiplier."""
    collapsed_qk: Quantity
    """The predictor's median over the main study's saved collapses."""
    fitted: Quantity
    """1 where the first registered test froze a threshold for this depth."""
    separates: Quantity
    """1 where the development networks' threshold separates them without an error."""
    m1: MultiplierTest
    m2: MultiplierTest
    both: BothTest


class BurstRecords(NamedTuple):
    """What is known of the networks of the test when it is judged."""

    excursions: Excursions
    readings: BurstReadings
    forecast: BurstForecast
    after: Continuations


class DevelopmentRecords(NamedTuple):
    """What is known of the development networks."""

    development: Development
    readings: BurstReadings
