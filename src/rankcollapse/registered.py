"""The registered tests of the path: from rows of switched networks to the quantities that predictions name; no verdict is given here.

A row is one network after one change (a switch, or the end of a burst). Every measure is turned to a score of which more means faster
recovery, in log10, so that predictor and rivals meet the same threshold rule and the same ranks. What may leave a prediction undecided is a
count beside it (`strata`, `least_class`, `fitted`, `seeds`, `failures`, `distinct`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Literal

import numpy as np

from audit.records import Frozen, Quantity, Refusal
from rankcollapse.evidence import Role, count, number, whole
from rankcollapse.params import ROLES
from rankcollapse.statistics import (
    Larger,
    RankTest,
    Stratum,
    align,
    censor,
    count_returns,
    order_within_rows,
    rank_within_strata,
    slowing,
)
from rankcollapse.thresholds import classify_by_depth, correct, fit_threshold, majority, smallest_class

Measure = Literal["opening", "loss_gap", "grad_norm", "residual", "rho_hinge", "multiplier"]
LARGER: Mapping[Measure, Larger] = {
    "opening": "faster", "loss_gap": "slower", "grad_norm": "faster", "residual": "faster", "rho_hinge": "faster", "multiplier": "slower",
}  # fmt: skip
"""What a larger reading was said to mean before any run; the opening is the median over blocks of the query-key gradient."""
LEAST_READING = 1e-30
"""What a reading of 0 or less counts as: a logarithm has to exist, and ranks do not ask which."""


@dataclass(frozen=True)
class Row:
    """One network after one change; `time` in steps or None where the rank did not recover within the budget."""

    seed: int
    role: Role
    readings: Mapping[Measure, float]
    time: float | None
    delay: int = 0
    """Place of the delay in the rising list of delays; 0 is none."""

    @property
    def recovered(self) -> bool:
        """By the rank rule, within the budget."""
        return self.time is not None

    def score(self, measure: Measure) -> float:
        """log10 of a reading, turned so that more means faster."""
        return align([log10(max(self.readings[measure], LEAST_READING))], LARGER[measure])[0]


class Ranking(Frozen):
    """How a measure ranks recovery times within strata."""

    rho: Quantity
    """Mean of Spearman's correlation of score and time over strata (the values); negative where more means faster."""
    p: Quantity
    """Permutation p of a rho as low, each stratum on its own."""
    p_networks: Quantity
    """The same with all delays of a network permuted together, since they share its weights: the one to rely on."""
    strata: Quantity
    """Strata with three events and two distinct times."""


class Classified(Frozen):
    """How a frozen threshold classifies recovery, and what needs no measurement."""

    correct: Quantity
    """By the threshold of the event's depth; an event of a depth without one counts as wrong."""
    events: Quantity
    majority: Quantity
    """Correct by main's larger class."""
    depth: Quantity
    """Correct by the larger class of each depth in main."""
    least_class: Quantity
    """Events in the smallest class, of main and of these events."""
    fitted: Quantity
    """Depths that have a frozen threshold."""


class Fitted(Frozen):
    """A threshold of one measure at one depth."""

    value: Quantity
    """On the scale of scores."""
    errors: Quantity
    chance: Quantity
    """Of no more errors by a free threshold."""
    events: Quantity


class Thresholds(Frozen):
    """Frozen thresholds of a measure; absent at a depth where either class has fewer than two events."""

    shallow: Fitted | None = None
    deep: Fitted | None = None

    def of(self, role: Role) -> float | None:
        """The threshold of a depth."""
        fitted: Fitted | None = getattr(self, role)
        return None if fitted is None else float(fitted.value.value)


def fit_thresholds(rows: Sequence[Row], measure: Measure) -> Thresholds:
    """One threshold a depth, from the rows of main (or of development)."""
    return Thresholds(**{role: fitted for role in ROLES if (fitted := fit_role([row for row in rows if row.role == role], measure))})


def fit_role(rows: Sequence[Row], measure: Measure) -> Fitted | None:
    """The threshold of one depth, or None."""
    found = fit_threshold([row.score(measure) for row in rows], [row.recovered for row in rows])
    if found is None:
        return None
    return Fitted(value=number(found.value, 2), errors=whole(found.errors), chance=number(found.chance, 3), events=whole(len(rows)))


def classify_rows(rows: Sequence[Row], thresholds: Thresholds, measure: Measure) -> list[bool]:
    """Per row, whether the threshold of its depth classifies it as it came out."""
    limits = [thresholds.of(row.role) for row in rows]
    return [limit is not None and (row.score(measure) >= limit) == row.recovered for row, limit in zip(rows, limits, strict=True)]


def classify_held_out(main: Sequence[Row], rows: Sequence[Row], thresholds: Thresholds, measure: Measure = "opening") -> Classified:
    """P1: held-out rows by main's thresholds, beside the majority class and depth alone (section 8 and appendix E of the source paper)."""
    came, before = [row.recovered for row in rows], [row.recovered for row in main]
    return Classified(
        correct=count(classify_rows(rows, thresholds, measure)),
        events=whole(len(rows)),
        majority=count(correct([majority(before)] * len(rows), came)),
        depth=count(correct(classify_by_depth([(row.role, row.recovered) for row in main], [row.role for row in rows]), came)),
        least_class=whole(min(smallest_class(before), smallest_class(came))),
        fitted=whole(sum(thresholds.of(role) is not None for role in ROLES)),
    )


def rank_rows(rows: Sequence[Row], measure: Measure, budget: float, generator: np.random.Generator) -> Ranking:
    """P2, P3, P4: a measure against recovery times within depth and delay, the censored kept in."""
    apart = rank_within_strata(stratify(rows, measure, budget, together=False), generator)
    networks = rank_within_strata(stratify(rows, measure, budget, together=True), generator)
    return Ranking(rho=show_rho(apart), p=number(apart.p_negative, 4), p_networks=number(networks.p_negative, 4), strata=whole(apart.strata))


def stratify(rows: Sequence[Row], measure: Measure, budget: float, *, together: bool) -> list[Stratum]:
    """One stratum for each depth and delay, in order."""
    cells: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (ROLES.index(row.role), row.delay, row.seed)):
        cells.setdefault((row.role, row.delay), []).append(row)
    return [
        Stratum(
            name=f"{role}, delay {delay}", units=tuple(row.seed for row in cell), predictor=tuple(row.score(measure) for row in cell),
            outcome=tuple(censor([row.time for row in cell], budget)), cluster=role if together else "",
        )
        for (role, delay), cell in cells.items()
    ]  # fmt: skip


def show_rho(test: RankTest) -> Quantity:
    """The mean over strata with its values; a number without values where no stratum counted."""
    if not test.strata:
        return number(0.0, 2)
    return Quantity(value=test.rho, digits=2, tolerance=0.0, summary="mean", values=tuple(test.by_stratum.values()))


class DelayTest(Frozen):
    """The delayed switch at one depth."""

    L: Quantity
    """Page's L of times over rising delays within seeds; the values are the seeds' own."""
    expected: Quantity
    """L of delays that say nothing."""
    p: Quantity
    seeds: Quantity
    """Seeds with every delay."""
    returns: Quantity
    """Recoveries at a longer delay after a failure at a shorter one, by seed."""
    failures: Quantity
    lost: Quantity
    """Recoveries without delay minus those at the longest, by seed."""
    slowing: Quantity
    """Median over seeds of the logarithm of time after the middle delay over time without."""


def order_delays(rows: Sequence[Row], role: Role, budget: float, generator: np.random.Generator) -> DelayTest:
    """D1 to D4 at one depth; `slowing` takes the last but one delay (150 steps of 0, 50, 150, 300). Refusal where a seed lacks a delay."""
    own = [row for row in rows if row.role == role]
    delays, seeds = sorted({row.delay for row in own}), sorted({row.seed for row in own})
    cells = {(row.seed, row.delay): row for row in own}
    missing = next((f"seed {seed}, delay {delay}" for seed in seeds for delay in delays if (seed, delay) not in cells), None)
    if missing or len(cells) != len(own) or len(delays) < 2:
        raise Refusal(f"delays, {role}", "each seed once at every delay, two delays at least", observed=missing or f"{len(own)} rows")
    table = [[cells[seed, delay] for delay in delays] for seed in seeds]
    times, recovered = [censor([row.time for row in line], budget) for line in table], [[row.recovered for row in line] for line in table]
    page, returns = order_within_rows(times, generator), count_returns(recovered)
    return DelayTest(
        L=total([order_within_rows([line]).L for line in times], 1),
        expected=number(page.expected, 1),
        p=number(page.p, 4),
        seeds=whole(len(seeds)),
        returns=total(returns),
        failures=whole(sum(not flag for line in recovered for flag in line)),
        lost=total([int(line[0]) - int(line[-1]) for line in recovered]),
        slowing=Quantity(
            value=slowing([line[-2] for line in times], [line[0] for line in times]), digits=2, tolerance=0.0, summary="median",
            values=tuple(slowing([line[-2]], [line[0]]) for line in times),
        ),
    )  # fmt: skip


def total(values: Sequence[float], digits: int = 0) -> Quantity:
    """A sum with its parts."""
    style: Literal["fixed", "integer"] = "fixed" if digits else "integer"
    return Quantity(value=sum(values), digits=digits, style=style, tolerance=0.0, summary="sum", values=tuple(values))


class BurstTest(Frozen):
    """One multiplier's networks under the second registered test."""

    frozen: Quantity
    """T1: correct by the threshold of the first test at this depth, by network."""
    development: Quantity
    """T1b: correct by the threshold of the development networks."""
    multiplier: Quantity
    """T2's rivals, by their own development thresholds."""
    loss_gap: Quantity
    grad_norm: Quantity
    opening: Ranking
    """T3."""
    loss_gap_ranking: Ranking
    """T3r."""
    grad_norm_ranking: Ranking
    distinct: Quantity
    """Distinct recovery times."""
    recovered: Quantity


def judge_burst(rows: Sequence[Row], frozen: Thresholds, development: Sequence[Row], budget: float, generator: np.random.Generator) -> BurstTest:
    """T1 to T3r of one multiplier's networks; `development` holds those of both multipliers."""

    def own(measure: Measure) -> Quantity:
        return count(classify_rows(rows, fit_thresholds(development, measure), measure))

    def ranked(measure: Measure) -> Ranking:
        return rank_rows(rows, measure, budget, generator)

    return BurstTest(
        frozen=count(classify_rows(rows, frozen, "opening")),
        development=own("opening"),
        multiplier=own("multiplier"),
        loss_gap=own("loss_gap"),
        grad_norm=own("grad_norm"),
        opening=ranked("opening"),
        loss_gap_ranking=ranked("loss_gap"),
        grad_norm_ranking=ranked("grad_norm"),
        distinct=whole(len(set(censor([row.time for row in rows], budget)))),
        recovered=count([row.recovered for row in rows]),
    )
