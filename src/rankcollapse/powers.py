"""The power of every registered prediction that ranks, at a stated true correlation, by drawing; without ties and censoring, and so at most.

Predictor and outcome are normal pairs of the stated correlation, in every stratum alike. Of Page's L it is the correlation of the place of a
column with what stands there; of a warning, that of the predictor with what crosses a bar in half of the units. A rival has a correlation of
its own with the same outcome and errs on its own. Each prediction has its own generator, so that another registration moves no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import factorial
from typing import Literal

import numpy as np

from audit.records import Frozen, Provenance, Quantity, Record, Refusal
from rankcollapse.chances import MOST_UNITS, critical_mean_correlation, critical_page, power_of_mean_correlation
from rankcollapse.rankings import RIVAL, Form, Ranking
from rankcollapse.statistics import TIE, Null, add_independent, all_orders, tabulate

DRAWS = 20_000
SEED = 0
MOST_ORDERS = 2_000
"""Orders that are gone through in every draw: two depths of four networks have 576."""
EFFECTS = (0.7, 0.9)


class RankPower(Frozen):
    """The power of one prediction, and what it was computed from."""

    form: Form
    strata: Quantity
    """Strata, or rows of Page's L."""
    units: Quantity
    """Units of a stratum, or columns of Page's L."""
    rivals: Quantity
    """How many rivals must be beaten."""
    power_07: Quantity
    """Chance of being met at a true correlation of 0.7, every stratum independent of the others."""
    power_09: Quantity
    together_07: Quantity | None = None
    """The same where all branches of a network say one thing; absent where a network has one."""
    together_09: Quantity | None = None
    computed: Literal["after the seal", "before the seal"]
    """Before, only where the registration's seal holds this record."""


class Powers(Record):
    """What the registered rank tests could see, by registration and prediction."""

    kind: Literal["powers"] = "powers"
    version: Literal[1] = 1
    draws: Quantity
    low: Quantity
    """True correlation of `power_07`."""
    high: Quantity
    """True correlation of `power_09`."""
    rival: Quantity
    """True correlation of a rival that is not said to be silent."""
    registrations: dict[str, dict[str, RankPower]]


def standardise(values: np.ndarray) -> np.ndarray:
    """Ranks along the last axis, centred and of norm 1, of values without ties: a product of two is Spearman's correlation."""
    units = values.shape[-1]
    return (values.argsort(-1).argsort(-1) - (units - 1) / 2) / np.sqrt((units**3 - units) / 12)


def predict(outcome: np.ndarray, true_r: float, generator: np.random.Generator) -> np.ndarray:
    """Readings that have the stated correlation with a standard normal outcome, of its shape."""
    return true_r * outcome + np.sqrt(1 - true_r**2) * generator.standard_normal(outcome.shape)


def power_of_contest(
    strata: int, units: int, true_r: float, rivals: Sequence[float], generator: np.random.Generator, *, bound: float = -1.0, draws: int = DRAWS
) -> float:
    """Chance that the predictor's mean within-stratum Spearman reaches the bound and beats that of every rival strictly."""
    outcome = generator.standard_normal((draws, strata, units))
    ranks = standardise(outcome)
    own, *others = ((standardise(predict(outcome, each, generator)) * ranks).sum(-1).mean(1) for each in (true_r, *rivals))
    return float(np.mean((own >= bound - TIE) & (own > np.max(others, axis=0) + TIE)))


def power_of_branches(
    clusters: int, branches: int, units: int, true_r: float, bound: float, level: float, generator: np.random.Generator, *,
    together: bool = False, draws: int = DRAWS,
) -> float:  # fmt: skip
    """Chance that the mean Spearman reaches the bound with an exact p within the level, where all branches of a network move as one.

    Goes through every order of the units of each cluster (a depth) in every draw; `together`: all branches of a network read the same.
    """
    outcome = generator.standard_normal((draws, clusters, 1 if together else branches, units))
    x, y = (np.broadcast_to(standardise(each), (draws, clusters, branches, units)) for each in (predict(outcome, true_r, generator), outcome))
    observed = (x * y).sum((1, 2, 3))
    products = np.einsum("bcdi,bcdj->bcij", x, y)
    permuted = products[:, :, np.arange(units), all_orders(units)].sum(-1)  # draws, clusters, orders
    total = permuted[:, 0]
    for cluster in range(1, clusters):
        total = (total[:, :, None] + permuted[:, cluster, None, :]).reshape(draws, -1)
    p = (total >= observed[:, None] - TIE).mean(1)
    return float(np.mean((observed >= clusters * branches * bound - TIE) & (p <= level)))


def power_of_order(rows: int, columns: int, true_r: float, level: float, generator: np.random.Generator, draws: int = DRAWS) -> float:
    """Chance that Page's exact p is within the level; 0 where no order reaches it."""
    critical = critical_page(rows, columns, level)
    if critical is None:
        return 0.0
    place = np.arange(1.0, columns + 1)
    values = true_r * (place - place.mean()) / place.std() + np.sqrt(1 - true_r**2) * generator.standard_normal((draws, rows, columns))
    return float(np.mean(((values.argsort(-1).argsort(-1) + 1) @ place).sum(1) >= critical - TIE))


@cache
def mann_whitney_null(positive: int, negative: int) -> Null:
    """Pairs in which the positive one has more, of so many ones of either class in any order; exact, without ties."""
    counts = {(0, 0): np.ones(1)}
    for ones in range(positive + 1):
        for others in range(negative + 1):
            if ones or others:
                found = np.zeros(ones * others + 1)
                if others:  # the largest is a negative one
                    found[: ones * (others - 1) + 1] += counts[ones, others - 1]
                if ones:  # the largest is a positive one, above all negative ones
                    found[others:] += counts[ones - 1, others]
                counts[ones, others] = found
    ways = counts[positive, negative]
    return tabulate(np.arange(float(len(ways))), ways)


def critical_area(strata: int, positive: int, negative: int, level: float) -> float | None:
    """The smallest area over all strata whose chance is within the level; None where not even 1 is."""
    null = mann_whitney_null(positive, negative)
    for _ in range(strata - 1):
        null = add_independent(null, mann_whitney_null(positive, negative))
    within = null.values[np.cumsum(null.counts[::-1])[::-1] <= level * null.counts.sum()]
    return float(within[0]) / (strata * positive * negative) if len(within) else None


def draw_areas(ill: np.ndarray, outcome: np.ndarray, true_r: float, generator: np.random.Generator) -> np.ndarray:
    """The area over all strata (draws,) of a predictor of the outcome (draws, strata, units), for those that are marked."""
    ranks = predict(outcome, true_r, generator).argsort(-1).argsort(-1) + 1
    positive = int(ill[0, 0].sum())
    pairs = positive * (outcome.shape[-1] - positive)
    return ((ranks * ill).sum(-1) - positive * (positive + 1) / 2).mean(1) / pairs


def power_of_area(
    strata: int, units: int, true_r: float, generator: np.random.Generator, *,
    bound: float = 0.0, level: float | None = None, rivals: Sequence[float] = (), draws: int = DRAWS,
) -> float:  # fmt: skip
    """Chance that the area reaches the bound, with an exact p within the level, above every rival's; the upper half of a stratum is positive."""
    positive = units // 2
    critical = critical_area(strata, positive, units - positive, level) if level is not None else 0.0
    if critical is None:
        return 0.0
    outcome = generator.standard_normal((draws, strata, units))
    ill = outcome.argsort(-1).argsort(-1) >= units - positive
    own, *others = (draw_areas(ill, outcome, each, generator) for each in (true_r, *rivals))
    return float(np.mean((own >= max(bound, critical) - TIE) & np.all([own > other + TIE for other in others], axis=0)))


def refuse_large(ranking: Ranking) -> None:
    """Refuse what cannot be counted: an exact p over more units than orders are counted of, or over too many orders in every draw."""
    if ranking.form != "correlation" or ranking.level is None:
        return
    orders = factorial(ranking.units) ** (ranking.strata // ranking.branches)
    if ranking.units > MOST_UNITS or (ranking.branches > 1 and orders > MOST_ORDERS):
        expected = f"at most {MOST_UNITS} units a stratum, and {MOST_ORDERS} orders where branches are permuted together"
        raise Refusal(f"{ranking.registration}.{ranking.prediction}", "has too many orders for an exact p", expected=expected)


def power_of(ranking: Ranking, true_r: float, generator: np.random.Generator, *, together: bool = False) -> float:
    """The power of one prediction as it is written, 0 where one unit ranks nothing; `together`: all branches of a network say one thing."""
    strata, units, branches, level = ranking.strata, ranking.units, ranking.branches, ranking.level
    bound = -1.0 if ranking.bound is None else ranking.bound
    refuse_large(ranking)
    if units < 2:
        return 0.0
    if ranking.form == "order":
        return power_of_order(strata, units, true_r, 1.0 if level is None else level, generator)
    if ranking.form == "warning":
        return power_of_area(strata, units, true_r, generator, bound=bound, level=level, rivals=ranking.rivals)
    if branches > 1 and level is not None:
        return power_of_branches(strata // branches, branches, units, true_r, bound, level, generator, together=together)
    sizes = (units,) * (strata // branches if together else strata)
    critical = critical_mean_correlation(sizes, level) if level is not None else 1.0
    if critical is None:
        return 0.0
    if ranking.rivals:
        return power_of_contest(len(sizes), units, true_r, ranking.rivals, generator, bound=max(bound, -critical))
    return power_of_mean_correlation(sizes, true_r, min(-bound, critical), generator, DRAWS)


def whole(number: int) -> Quantity:
    """A count."""
    return Quantity(value=number, digits=0, style="integer", tolerance=0.0)


def share(ranking: Ranking, true_r: float, *, together: bool = False) -> Quantity:
    """A power, from a generator of the prediction's own."""
    entropy = [SEED, *f"{ranking.registration}.{ranking.prediction} {true_r:g} {together}".encode()]
    return Quantity(value=power_of(ranking, true_r, np.random.default_rng(entropy), together=together), digits=2, tolerance=0.01)


def describe_power(ranking: Ranking) -> RankPower:
    """What one prediction could see."""
    low, high = EFFECTS
    joint = {"together_07": share(ranking, low, together=True), "together_09": share(ranking, high, together=True)} if ranking.branches > 1 else {}
    return RankPower(
        form=ranking.form, strata=whole(ranking.strata), units=whole(ranking.units), rivals=whole(len(ranking.rivals)),
        power_07=share(ranking, low), power_09=share(ranking, high), **joint, computed="before the seal" if ranking.frozen else "after the seal",
    )  # fmt: skip


def describe_powers(provenance: Provenance, rankings: Sequence[Ranking]) -> Powers:
    """The record of powers, of rankings in any order."""
    found: dict[str, dict[str, RankPower]] = {}
    for ranking in rankings:
        found.setdefault(ranking.registration, {})[ranking.prediction] = describe_power(ranking)
    low, high, rival = (Quantity(value=number, digits=1, tolerance=0.0) for number in (*EFFECTS, RIVAL))
    return Powers(provenance=provenance, draws=whole(DRAWS), low=low, high=high, rival=rival, registrations=found)
