"""The registered statistics: rank correlation within strata, Page's ordering test, counts with exact intervals.

Conventions, stated once. A median of an even number is the mean of the middle two (`median_over_blocks`). Ties have mid-ranks. What did
not happen within its budget counts as budget + 1 (`censor`) and stays in. A permutation p is one-sided; it is exact while every block
that is permuted as one has at most `LARGEST_BLOCK` units, else Monte Carlo with the generator given. Which strata count and when a test
is undecided follows from counts of events and of distinct outcomes alone, never from a predictor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations
from math import fsum, isfinite
from typing import Literal

import numpy as np
import scipy

LARGEST_BLOCK = 8
"""Units of a block up to which all orders are gone through (40,320)."""
LARGEST_SUPPORT = 4_000_000
"""Pairs of values that a sum of two exact distributions may have."""
DRAWS = 100_000
DIGITS = 10
"""Decimals to which permuted statistics are tabulated."""
EQUAL = 12
"""Decimals of a correlation: two measures that order alike have the same one, whatever the round-off of a sum."""
TIE = 1e-7
"""Distance within which a permuted statistic ties with the observed one; far above the round-off of a sum, and too wide only raises p."""

Term = tuple[np.ndarray, np.ndarray]
Larger = Literal["faster", "slower"]


def median_over_blocks(values: Sequence[float]) -> float:
    """The median over blocks (L,); of an even number of blocks the mean of the middle two."""
    return float(np.median(np.asarray(values, dtype=np.float64)))


def censor(times: Sequence[float | None], budget: float) -> list[float]:
    """Steps to recovery with budget + 1 for what did not recover; ValueError for a time beyond the budget."""
    if any(time is not None and not 0 <= time <= budget for time in times):
        raise ValueError(f"a time outside 0 to {budget:g} steps")
    return [budget + 1.0 if time is None else float(time) for time in times]


def align(values: Sequence[float], larger: Larger) -> list[float]:
    """A rival's values turned so that larger means faster recovery, as for the predictor; the direction is fixed in advance."""
    return [float(value) if larger == "faster" else -float(value) for value in values]


def standardise_ranks(values: Sequence[float]) -> np.ndarray:
    """Mid-ranks (n,), centred and of norm 1, so that a product of two is Spearman's correlation; zeros where all values are equal."""
    centred = scipy.stats.rankdata(values) - (len(values) + 1) / 2
    norm = np.linalg.norm(centred)
    return centred / norm if norm > 0 else np.zeros(len(values))


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's correlation with mid-ranks (scipy.stats.spearmanr); 0 where one side is constant and orders nothing."""
    if len(x) != len(y):
        raise ValueError(f"{len(x)} values against {len(y)}")
    return round(float(standardise_ranks(x) @ standardise_ranks(y)), EQUAL)


@dataclass(frozen=True)
class Null:
    """Distribution of a statistic under permutation: its values, rising, and in how many orders each came (whole numbers)."""

    values: np.ndarray
    counts: np.ndarray
    exact: bool = True
    """Whether every order was gone through; a sampled p counts the observed order too, so that it is never 0."""

    def at_most(self, observed: float) -> float:
        """P(statistic <= observed)."""
        return self._share(self.values <= observed + TIE)

    def at_least(self, observed: float) -> float:
        """P(statistic >= observed)."""
        return self._share(self.values >= observed - TIE)

    def _share(self, chosen: np.ndarray) -> float:
        found, total = self.counts[chosen].sum(), self.counts.sum()
        return float(found / total if self.exact else (found + 1) / (total + 1))


@cache
def all_orders(units: int) -> np.ndarray:
    """Every order of so many units (n!, n)."""
    return np.array(list(permutations(range(units))), dtype=np.intp).reshape(-1, units)


def tabulate(values: np.ndarray, counts: np.ndarray | None = None, *, exact: bool = True) -> Null:
    """Values that may repeat, each with how often it came (once), as a distribution."""
    support, place = np.unique(np.round(values.ravel(), DIGITS), return_inverse=True)
    often = np.ones(values.size) if counts is None else counts.ravel()
    return Null(support, np.bincount(place.ravel(), weights=often), exact)


def add_independent(one: Null, other: Null) -> Null:
    """Distribution of the sum of two independent statistics."""
    return tabulate(one.values[:, None] + other.values, one.counts[:, None] * other.counts)


def sum_products(block: Sequence[Term], orders: np.ndarray) -> np.ndarray:
    """The block's statistic (orders,): sum over its terms of x . y[order], one order for all terms."""
    return sum((y[orders] @ x for x, y in block), np.zeros(len(orders)))


def permute(blocks: Sequence[Sequence[Term]], generator: np.random.Generator | None = None, draws: int = DRAWS) -> Null:
    """Null of the sum over blocks, each permuted as one and independently of the others.

    Exact by enumeration and convolution where the blocks are small; else sampled, which needs a generator (ValueError without).
    """
    sizes = [len(block[0][0]) for block in blocks]
    if max(sizes) <= LARGEST_BLOCK:
        null = Null(np.zeros(1), np.ones(1))
        for block, size in zip(blocks, sizes, strict=True):
            own = tabulate(sum_products(block, all_orders(size)))
            if len(own.values) * len(null.values) > LARGEST_SUPPORT:
                break
            null = add_independent(null, own)
        else:
            return null
    if generator is None:
        raise ValueError(f"a generator for a block of {max(sizes)} units: only {LARGEST_BLOCK} are gone through in every order")
    total = np.zeros(draws)
    for block, size in zip(blocks, sizes, strict=True):
        total += sum_products(block, generator.permuted(np.tile(np.arange(size), (draws, 1)), axis=1))
    return tabulate(total, exact=False)


@dataclass(frozen=True)
class Stratum:
    """Events that may be compared with each other: one depth and one delay, say.

    ValueError unless every unit has one finite predictor and outcome, and stands once.
    """

    name: str
    units: tuple[int, ...]
    """Seeds."""
    predictor: tuple[float, ...]
    outcome: tuple[float, ...]
    """Steps to recovery, censored ones included."""
    cluster: str = ""
    """Strata of one cluster hold branches of the same networks: their seeds are permuted together. Empty: on its own."""

    def __post_init__(self) -> None:
        if not len(self.units) == len(self.predictor) == len(self.outcome) == len(set(self.units)):
            raise ValueError(f"stratum {self.name}: each unit once, with one predictor and one outcome")
        if not all(isfinite(value) for value in (*self.predictor, *self.outcome)):
            raise ValueError(f"stratum {self.name}: finite values")

    def counts(self, events: int = 3, outcomes: int = 2) -> bool:
        """Whether there are enough events and distinct outcomes to rank; a constant predictor counts, as a correlation of 0."""
        return len(self.units) >= events and len(set(self.outcome)) >= outcomes

    def terms(self) -> Term:
        """Standard ranks of predictor and outcome, in the order of the units."""
        order = np.argsort(self.units)
        return standardise_ranks(self.predictor)[order], standardise_ranks(self.outcome)[order]


@dataclass(frozen=True)
class RankTest:
    """Mean of Spearman's correlation over strata, each with the same weight."""

    rho: float
    by_stratum: dict[str, float]
    p_negative: float
    """Chance of a mean as low or lower under permutation."""
    p_positive: float
    exact: bool

    @property
    def strata(self) -> int:
        """How many strata counted: what `undecided` may look at."""
        return len(self.by_stratum)


def rank_within_strata(strata: Sequence[Stratum], generator: np.random.Generator | None = None, draws: int = DRAWS) -> RankTest:
    """Mean within-stratum Spearman of predictor and outcome over the strata that count, and its permutation p (P2 to P4, T3).

    Strata of one cluster are permuted by seed, as one; ValueError where they do not hold the same seeds. No stratum: rho 0, p 1.
    """
    counted = [stratum for stratum in strata if stratum.counts()]
    if not counted:
        return RankTest(0.0, {}, 1.0, 1.0, True)
    clusters: dict[str, list[Stratum]] = {}
    for stratum in counted:
        clusters.setdefault(f"cluster {stratum.cluster}" if stratum.cluster else stratum.name, []).append(stratum)
    for name, members in clusters.items():
        if len({tuple(sorted(member.units)) for member in members}) > 1:
            raise ValueError(f"{name}: strata that are permuted together hold the same seeds")
    rhos = {stratum.name: spearman(stratum.predictor, stratum.outcome) for stratum in counted}
    if len(rhos) < len(counted):
        raise ValueError("each stratum has a name of its own")
    null, total = permute([[member.terms() for member in members] for members in clusters.values()], generator, draws), fsum(rhos.values())
    return RankTest(total / len(rhos), rhos, null.at_most(total), null.at_least(total), null.exact)


@dataclass(frozen=True)
class PageTest:
    """Page's L and the chance of one as large when the columns of every row stand in any order."""

    L: float
    p: float
    expected: float
    exact: bool


def order_within_rows(table: Sequence[Sequence[float]], generator: np.random.Generator | None = None, draws: int = DRAWS) -> PageTest:
    """Page's test that values rise from column to column within rows (seeds, delays); mid-ranks, p given the ties as they are.

    Without ties it is scipy.stats.page_trend_test(method="exact"). No row: L 0, p 1.
    """
    if not table:
        return PageTest(0.0, 1.0, 0.0, True)
    columns = len(table[0])
    if columns < 2 or any(len(row) != columns for row in table):
        raise ValueError("rows of one length, two columns at least")
    place = np.arange(1.0, columns + 1)
    ranks = [scipy.stats.rankdata(row) for row in table]
    L = float(sum(place @ row for row in ranks))
    null = permute([[(place, row)] for row in ranks], generator, draws)
    return PageTest(L, null.at_least(L), len(table) * columns * (columns + 1) ** 2 / 4, null.exact)


def count_returns(recovered: Sequence[Sequence[bool]]) -> list[int]:
    """Per seed, recoveries at a longer delay after a failure at a shorter one (seeds, delays in rising order)."""
    return [sum(1 for place, flag in enumerate(row) if flag and not all(row[:place])) for row in recovered]


@cache
def exact_interval(count: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of a share (scipy's binomtest); 0 to 1 of nothing."""
    if not of:
        return 0.0, 1.0
    interval = scipy.stats.binomtest(count, of).proportion_ci(confidence, method="exact")
    return float(interval.low), float(interval.high)


def slowing(delayed: Sequence[float], undelayed: Sequence[float]) -> float:
    """Median over seeds of log(T after the delay / T without), natural logarithm; the deep one minus the shallow one is D4's metric."""
    return float(np.median(np.log(np.asarray(delayed, dtype=np.float64) / np.asarray(undelayed, dtype=np.float64))))


def in_order(crossings: Sequence[Sequence[float]]) -> list[bool]:
    """Per event, whether its markers crossed strictly one after the other in the order given; at one measurement is no order."""
    return [all(one < other for one, other in pairwise(event)) for event in crossings]


def fit_slope(x: Sequence[float], y: Sequence[float], least: int = 6) -> float | None:
    """Slope of log10 y on log10 x by least squares (scipy's linregress) for positive readings; None with fewer points than `least`."""
    if any(value <= 0 for value in (*x, *y)):
        raise ValueError("positive readings to take the logarithm of")
    if len(x) < least:
        return None
    return float(scipy.stats.linregress(np.log10(x), np.log10(y)).slope)
