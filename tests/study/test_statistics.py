"""The registered statistics against scipy, brute force over every order, and cases worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from rankcollapse.statistics import (
    Null,
    Stratum,
    align,
    censor,
    count_returns,
    exact_interval,
    fit_slope,
    in_order,
    median_over_blocks,
    order_within_rows,
    permute,
    rank_within_strata,
    slowing,
    spearman,
)

TIED = ([1.0, 2.0, 2.0, 4.0, 5.0], [9.0, 7.0, 7.0, 7.0, 1.0])


def stratum(predictor, outcome, name="a", cluster="", units=None):
    """A stratum of seeds 0, 1, ... unless others are given."""
    return Stratum(name, tuple(units or range(len(predictor))), tuple(map(float, predictor)), tuple(map(float, outcome)), cluster)


def test_median_is_the_mean_of_the_middle_two():
    """The convention, on the blocks at which a lower median would give another order of seeds."""
    assert median_over_blocks([1.5e-2, 1.0, 1e-3, 3.3e-2]) == pytest.approx(2.4e-2) and median_over_blocks([3, 1, 2]) == 2


def test_what_did_not_happen_counts_as_one_more_than_the_budget():
    """All censored events share one value, larger than any that happened; a time beyond the budget is refused."""
    assert censor([10, None, 250, None], 250) == [10, 251, 250, 251]
    with pytest.raises(ValueError, match="0 to 250 steps"):
        censor([251], 250)


def test_rivals_are_turned_before_they_are_ranked():
    """A larger gap that means slower recovery ranks like a smaller predictor."""
    gaps, times = [0.5, 0.7, 0.9], [10, 20, 30]
    assert spearman(align(gaps, "slower"), times) == pytest.approx(-1) and spearman(align(gaps, "faster"), times) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_correlation_is_scipys(seed):
    """With ties and without, Spearman's correlation equals scipy's."""
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, 4, 9), generator.standard_normal(9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert spearman(*TIED) == pytest.approx(stats.spearmanr(*TIED).statistic, abs=1e-12)


def test_a_constant_side_orders_nothing():
    """All ties: correlation 0, not an undefined one that would drop out of a mean."""
    assert spearman([1, 1, 1], [1, 2, 3]) == 0 == spearman([1, 2, 3], [7, 7, 7])
    with pytest.raises(ValueError, match="3 values against 2"):
        spearman([1, 2, 3], [1, 2])


def test_exact_p_is_that_of_every_order():
    """One stratum with ties: the share of the 5! orders whose correlation is as low."""
    found = rank_within_strata([stratum(*TIED)])
    every = [stats.spearmanr(TIED[0], order).statistic for order in permutations(TIED[1])]
    assert found.p_negative == pytest.approx(np.mean([rho <= found.rho + 1e-9 for rho in every]))
    assert found.p_positive == pytest.approx(np.mean([rho >= found.rho - 1e-9 for rho in every]))
    assert found.exact and found.rho == pytest.approx(stats.spearmanr(*TIED).statistic)


PAIR = [stratum([1, 2, 3], [30, 10, 20], "a"), stratum([4, 6, 5, 1], [9, 3, 9, 12], "b")]


def test_exact_p_over_strata_is_that_of_every_pair_of_orders():
    """Two strata of three and four: 6 x 24 orders, each stratum on its own; the mean gives both the same weight."""
    found = rank_within_strata(PAIR)
    rhos = [[spearman(part.predictor, order) for order in permutations(part.outcome)] for part in PAIR]
    means = np.array([(one + other) / 2 for one, other in product(*rhos)])
    assert found.rho == pytest.approx((found.by_stratum["a"] + found.by_stratum["b"]) / 2) and found.strata == 2
    assert found.p_negative == pytest.approx(np.mean(means <= found.rho + 1e-9))


def test_sampled_p_agrees_with_the_exact_one():
    """Within five standard errors; and it is never 0."""
    exact = rank_within_strata(PAIR)
    blocks = [[part.terms()] for part in PAIR]
    total = sum(exact.by_stratum.values())
    full, sampled = permute(blocks), sample(blocks)
    assert full.exact and not sampled.exact and full.at_most(total) == pytest.approx(exact.p_negative)
    error = (exact.p_negative * (1 - exact.p_negative) / 20_000) ** 0.5
    assert sampled.at_most(total) == pytest.approx(exact.p_negative, abs=5 * error)
    assert sampled.at_most(-9) == pytest.approx(1 / 20_001) and sampled.at_least(-9) == 1


def sample(blocks) -> Null:
    """The null of the same blocks, by sampling: forced by a block too large to go through."""
    idle = np.zeros(9)
    return permute([*blocks, [(idle, idle)]], np.random.default_rng(0), 20_000)


def test_the_observed_order_is_one_of_those_counted():
    """Six strata whose correlations are no round numbers, at their lowest: p is one order in 24^6, not 0, whatever round-off does."""
    rows = [stratum([1, 2, 2, 4], [4, 3, 1, 1], str(place)) for place in range(6)]
    best = min(spearman(rows[0].predictor, order) for order in permutations(rows[0].outcome))
    lowest = next(order for order in permutations(rows[0].outcome) if spearman(rows[0].predictor, order) == best)
    found = rank_within_strata([replace(row, outcome=lowest) for row in rows])
    ways = sum(spearman(rows[0].predictor, order) <= best + 1e-9 for order in permutations(rows[0].outcome))
    assert found.p_negative == pytest.approx((ways / 24) ** 6, rel=1e-9)


def test_large_blocks_need_a_generator():
    """Nine events are sampled: without a generator that is refused, with seed 0 it is the same twice."""
    large = [stratum(range(9), [3, 1, 4, 1, 5, 9, 2, 6, 5])]
    with pytest.raises(ValueError, match="a generator for a block of 9 units"):
        rank_within_strata(large)
    one, other = (rank_within_strata(large, np.random.default_rng(0), 2000) for _ in range(2))
    assert one == other and not one.exact and 0 < one.p_positive < 0.5


def test_branches_of_one_network_are_no_evidence_of_their_own():
    """The same four seeds in the same order at three delays: p is that of one stratum when seeds move together, smaller when not."""
    rows = [stratum([1, 2, 3, 4], [40, 30, 20, 10], f"deep/{delay}", "deep") for delay in (0, 150, 300)]
    together = rank_within_strata(rows)
    apart = rank_within_strata([replace(row, cluster="") for row in rows])
    assert together.p_negative == pytest.approx(1 / 24) and apart.p_negative == pytest.approx(1 / 24**3)
    assert together.rho == apart.rho == pytest.approx(-1)


def test_seeds_that_move_together_are_matched_by_seed():
    """The order in which a stratum lists its seeds changes nothing; other seeds are refused."""
    one = stratum([1, 2, 3, 4], [40, 20, 30, 10], "deep/0", "deep")
    other = stratum([3, 1, 2, 5], [9, 9, 4, 2], "deep/150", "deep")
    shuffled = Stratum("deep/150", (3, 1, 0, 2), *([values[place] for place in (3, 1, 0, 2)] for values in (other.predictor, other.outcome)), "deep")
    assert rank_within_strata([one, shuffled]).p_negative == pytest.approx(rank_within_strata([one, other]).p_negative, abs=1e-12)
    with pytest.raises(ValueError, match="cluster deep: strata that are permuted together hold the same seeds"):
        rank_within_strata([one, replace(other, units=(0, 1, 2, 9))])


def test_pooling_two_depths_would_reverse_the_finding():
    """Simpson: within each depth a larger predictor means slower, pooled it looks faster; only the first is reported."""
    shallow, deep = stratum([1, 2, 3], [100, 110, 120], "shallow"), stratum([11, 12, 13], [10, 20, 30], "deep")
    assert rank_within_strata([shallow, deep]).rho == pytest.approx(1)
    assert spearman([*shallow.predictor, *deep.predictor], [*shallow.outcome, *deep.outcome]) < -0.5


def test_strata_count_by_events_and_outcomes_alone():
    """Too few events or one outcome only: left out. A constant predictor stays in as a 0, so that no rival gains by ordering nothing."""
    rows = [
        stratum([1, 2], [10, 20], "two events"),
        stratum([1, 2, 3], [251, 251, 251], "one outcome"),
        stratum([5, 5, 5], [10, 20, 30], "constant predictor"),
        stratum([3, 2, 1], [10, 20, 30], "ranked"),
    ]
    found = rank_within_strata(rows)
    assert found.by_stratum == pytest.approx({"constant predictor": 0, "ranked": -1}) and found.rho == pytest.approx(-0.5)
    nothing = rank_within_strata(rows[:2])
    assert nothing.strata == 0 and (nothing.rho, nothing.p_negative) == (0, 1)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([([1, 2], [1], None)], "each unit once"),
        ([([1, 2], [1, 2], (7, 7))], "each unit once"),
        ([([1, float("nan")], [1, 2], None)], "finite"),
        ([([1, 2, 3], [1, 2, 3], None)] * 2, "a name of its own"),
    ],
)
def test_malformed_strata_are_refused(rows, message):
    """A missing outcome, a seed twice, a NaN, two strata of one name."""
    with pytest.raises(ValueError, match=message):
        rank_within_strata([stratum(x, y, units=units) for x, y, units in rows])


def test_page_is_scipys():
    """L and exact p of untied rows equal scipy's, on the case worked out in Page's paper style: four rows, four columns."""
    table = [[10, 20, 40, 80], [10, 30, 20, 90], [20, 10, 50, 60], [10, 20, 30, 40]]
    found, known = order_within_rows(table), stats.page_trend_test(table, method="exact")
    assert found.L == known.statistic and found.p == pytest.approx(known.pvalue) and found.expected == 100 and found.exact


def test_page_with_ties_goes_through_the_orders_of_what_was_found():
    """Two rows with censored ties: L with mid-ranks, p the share of 24 x 24 orders with as large an L."""
    table = [[10, 50, 251, 251], [10, 10, 20, 251]]
    found = order_within_rows(table)
    place = np.arange(1, 5)
    every = [np.sort([place @ stats.rankdata(order) for order in permutations(row)]) for row in table]
    sums = np.add.outer(*every)
    assert found.L == pytest.approx(29.5 + 29.5) and found.p == pytest.approx(np.mean(sums >= found.L - 1e-9))


def test_page_can_lose():
    """A falling order has p 1, all ties have p 1, and no row at all proves nothing."""
    assert order_within_rows([[3, 2, 1]] * 3).p == 1 and order_within_rows([[5, 5, 5]] * 3).p == 1 and order_within_rows([]).p == 1
    with pytest.raises(ValueError, match="one length"):
        order_within_rows([[1, 2], [1, 2, 3]])


def test_returns_are_recoveries_after_a_failure():
    """By seed, over rising delays; a seed that never fails or never recovers has none."""
    rows = [[True, True, False, False], [True, False, True, False], [False, True, True, False], [False] * 4, [True] * 4]
    assert count_returns(rows) == [0, 1, 2, 0, 0]


INTERVALS = [
    (0, 3, 0, 0.71), (3, 3, 0.29, 1), (0, 6, 0, 0.46), (6, 6, 0.54, 1), (0, 8, 0, 0.37), (0, 18, 0, 0.19), (8, 10, 0.44, 0.97), (0, 0, 0, 1),
]  # fmt: skip


@pytest.mark.parametrize(("count", "of", "low", "high"), INTERVALS)
def test_intervals(count, of, low, high):
    """Known 95 % Clopper-Pearson intervals."""
    assert exact_interval(count, of) == pytest.approx((low, high), abs=0.006)


def test_slowing_is_a_median_of_ratios():
    """Natural logarithm of the ratio per seed; the middle seed decides."""
    assert slowing([20, 20, 80], [10, 10, 10]) == pytest.approx(np.log(2)) and slowing([10], [10]) == 0


def test_markers_in_order():
    """Strictly one after the other; two at one measurement have no order."""
    assert in_order([(10, 20, 30), (10, 10, 30), (30, 20, 10), (10, 30, 20)]) == [True, False, False, False]


def test_slope_of_a_power_law():
    """A square law has slope 2, whatever its factor; five points are too few; a zero has no logarithm."""
    x = [1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1]
    assert fit_slope(x, [7 * value**2 for value in x]) == pytest.approx(2) and fit_slope(x[:5], x[:5]) is None
    with pytest.raises(ValueError, match="positive"):
        fit_slope([0.0, *x], [0.0, *x])
