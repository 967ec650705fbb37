"""What a registered comparator is met with by chance, and what it can see: chance rates under exchangeability and power, before any run.

Exact wherever a formula or an enumeration gives it, without ties; what is only a bound says so. Chances rest on independent strata, seeds or
events: where branches of one network are compared, the effective number is smaller (`clustered`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
import scipy

from rankcollapse.statistics import TIE, Null, add_independent, all_orders, tabulate

LEVEL = 0.05
MOST_UNITS = 16


@dataclass(frozen=True)
class Chance:
    """A chance of being met in an uninteresting world, and how it comes about."""

    value: float
    text: str


@cache
def count_orders(units: int) -> np.ndarray:
    """How many of n! orders have each sum of squared rank differences (0 to (n^3 - n) / 3); exact, to `MOST_UNITS` units.

    By going through the sets of ranks that are used up; the largest count, of 16!, fits 64 bits.
    """
    if not 2 <= units <= MOST_UNITS:
        raise ValueError(f"2 to {MOST_UNITS} units, not {units}")
    most = (units**3 - units) // 3
    sets = {0: np.eye(1, most + 1, dtype=np.int64)[0]}
    for place in range(units):
        grown: dict[int, np.ndarray] = {}
        for used, counts in sets.items():
            for rank in range(units):
                if not used >> rank & 1:
                    distance = (rank - place) ** 2
                    grown.setdefault(used | 1 << rank, np.zeros(most + 1, np.int64))[distance:] += counts[: most + 1 - distance]
        sets = grown
    return sets[2**units - 1]


def correlation_null(units: int) -> Null:
    """Spearman's correlation of two independent orders without ties."""
    counts = count_orders(units)
    distance = np.flatnonzero(counts)  # every second sum, the even ones
    return tabulate(1 - 6 * distance / (units**3 - units), counts[distance].astype(np.float64))


@cache
def mean_correlation_null(sizes: tuple[int, ...]) -> Null:
    """Mean of Spearman's correlation over independent strata of these sizes."""
    total = correlation_null(sizes[0])
    for size in sizes[1:]:
        total = add_independent(total, correlation_null(size))
    return Null(total.values / len(sizes), total.counts)


def chance_of_mean_correlation(sizes: Sequence[int], bound: float) -> float:
    """P(mean within-stratum Spearman <= bound) by chance."""
    return mean_correlation_null(tuple(sizes)).at_most(bound)


def critical_mean_correlation(sizes: Sequence[int], level: float = LEVEL) -> float | None:
    """The largest mean correlation whose chance is within the level; None where not even a perfect one is."""
    null = mean_correlation_null(tuple(sizes))
    within = null.values[np.cumsum(null.counts) <= level * null.counts.sum()]
    return float(within[-1]) if len(within) else None


def power_of_mean_correlation(sizes: Sequence[int], true_r: float, bound: float, generator: np.random.Generator, draws: int = 20_000) -> float:
    """Chance of a mean within-stratum Spearman <= bound where the normal pairs of every stratum have correlation -|true_r|.

    Without ties and censoring, so an upper bound of the real one.
    """
    total = np.zeros(draws)
    for size in sizes:
        x, noise = generator.standard_normal((2, draws, size))
        y = -abs(true_r) * x + np.sqrt(1 - true_r**2) * noise
        distance = ((x.argsort(1).argsort(1) - y.argsort(1).argsort(1)) ** 2).sum(1)
        total += 1 - 6 * distance / (size**3 - size)
    return float(np.mean(total / len(sizes) <= bound + TIE))


@cache
def page_null(rows: int, columns: int) -> Null:
    """Page's L of so many rows without ties."""
    place = np.arange(1.0, columns + 1)
    one = tabulate(all_orders(columns) @ place + place.sum())
    total = one
    for _ in range(rows - 1):
        total = add_independent(total, one)
    return total


def critical_page(rows: int, columns: int, level: float = LEVEL) -> float | None:
    """The smallest L whose chance is within the level; None where not even a perfect order is."""
    null = page_null(rows, columns)
    within = null.values[np.cumsum(null.counts[::-1])[::-1] <= level * null.counts.sum()]
    return float(within[0]) if len(within) else None


def chance_of_page(rows: int, columns: int, level: float = LEVEL) -> float:
    """Chance that the exact p comes out within the level: below the level, since L moves in steps; 0 where it cannot."""
    critical = critical_page(rows, columns, level)
    return 0.0 if critical is None else page_null(rows, columns).at_least(critical)


def chance_of_count(of: int, least: int, each: float = 0.5) -> float:
    """Chance that at least so many of independent units come out as registered."""
    return float(scipy.stats.binom.sf(least - 1, of, each))


def chance_of_difference(seeds: int, least: int) -> float:
    """Largest chance that the first of two exchangeable outcomes beats the second by `least` seeds: over any number of discordant seeds."""
    chances = [chance_of_count(discordant, (discordant + least + 1) // 2) for discordant in range(least, seeds + 1)]
    return max(chances, default=0.0)


def chance_of_no_return(failures: Sequence[int], delays: int) -> float:
    """Chance that in no seed a recovery follows a failure, given how many of its delays failed, in any order within the seed."""
    return float(np.prod([1 / comb(delays, failed) for failed in failures]))


def clustered(depths: int, seeds: int) -> tuple[int, ...]:
    """Sizes of the strata that are left where all delays of a network move together: one stratum a depth."""
    return (seeds,) * depths


def path_chances(seeds: int, depths: int, delays: int, bound: float) -> dict[str, Chance]:
    """Chance of each prediction of the first registered test; P2 compares the mean within-stratum correlation with `bound`."""
    events = seeds * depths
    independent = chance_of_mean_correlation((seeds,) * (depths * delays), bound)
    together = chance_of_mean_correlation(clustered(depths, seeds), bound)
    return {
        "P1": Chance(chance_of_count(events, events - 1), f"at most: {events - 1} of {events} by a coin, before the rivals"),
        "P2": Chance(independent, f"{depths * delays} independent strata of {seeds}; {together:.3f} if the delays of a network move together"),
        "P3": Chance(1 / 2, "first of two exchangeable ones"),
        "P4": Chance(1 / 4, "first of four exchangeable ones"),
    }


def delay_chances(seeds: int, delays: int) -> dict[str, Chance]:
    """Chance of each prediction about the delayed switch."""
    return {
        "D1": Chance(chance_of_page(seeds, delays), f"Page's L over {delays} delays in {seeds} seeds, exact p within {LEVEL:g}, no ties"),
        "D2": Chance(1.0, f"a bound: 1 where failing seeds fail at every delay, 1/{delays} a seed that fails or recovers at one alone"),
        "D3": Chance(chance_of_difference(seeds, 2), f"at most: two seeds more of {seeds}, outcomes exchangeable within a seed"),
        "D4": Chance(1 / 2, "a direction alone"),
    }


def chance_of_share(of: int) -> float:
    """Chance that three quarters of so many units come out as registered."""
    return chance_of_count(of, -(-3 * of // 4))


def burst_chances(networks: int) -> dict[str, Chance]:
    """Chance of each prediction of the second registered test, for one set of networks under two multipliers."""
    each = chance_of_count(networks, networks - 1)
    critical = critical_mean_correlation((networks,))
    ranked = 0.0 if critical is None else chance_of_mean_correlation((networks,), critical)
    return {
        "T0": Chance(each, f"{networks - 1} of {networks} by a coin"),
        "T1": Chance(each**2, f"{networks - 1} of {networks} by a coin, at each of two multipliers"),
        "T1b": Chance(chance_of_count(2 * networks, 2 * networks - 2), f"{2 * networks - 2} of {2 * networks} by a coin"),
        "T2": Chance(1 / 4, "first of four exchangeable ones"),
        "T3": Chance(ranked, f"Spearman over {networks} without ties, exact p within {LEVEL:g}"),
        "T3r": Chance(1 / 3, "first of three exchangeable ones"),
        "T4": Chance(max(chance_of_share(of) for of in range(4, 2 * networks + 1)), "at most: three of four recovered ones by a coin"),
    }


def expected_met(chances: Mapping[str, Chance]) -> float:
    """How many of the predictions would be met by chance, to stand beside `k of n met`."""
    return float(sum(chance.value for chance in chances.values()))
