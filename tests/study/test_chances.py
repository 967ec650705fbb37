"""Chance rates and power against known values, counted again where that is possible, and against the audit's own counts."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from audit.chance import chance_of_correlation
from rankcollapse.chances import (
    burst_chances,
    chance_of_count,
    chance_of_difference,
    chance_of_mean_correlation,
    chance_of_no_return,
    chance_of_page,
    critical_mean_correlation,
    critical_page,
    delay_chances,
    expected_met,
    page_null,
    path_chances,
    power_of_mean_correlation,
)
from rankcollapse.statistics import Stratum, order_within_rows, rank_within_strata

GENERATOR = np.random.default_rng


@pytest.mark.parametrize(("units", "chance"), [(3, 0.50), (4, 0.38), (6, 0.21), (8, 0.16), (9, 0.15), (10, 0.12), (12, 0.10)])
def test_a_target_of_minus_0_4(units, chance):
    """How often chance alone meets rho <= -0.4, exactly; the judge of registrations counts the same."""
    found = chance_of_mean_correlation((units,), -0.4)
    assert found == pytest.approx(chance, abs=0.006)
    assert found == pytest.approx(float(chance_of_correlation(units, "<=", Fraction(-2, 5))), abs=1e-12)


CRITICAL = [(3, None), (4, -1.0), (6, -0.829), (8, -0.643), (9, -0.60), (10, -0.564), (12, -0.503)]


@pytest.mark.parametrize(("units", "bound"), CRITICAL)
def test_critical_correlations(units, bound):
    """The 5 % points of published tables; with three units there is none."""
    found = critical_mean_correlation((units,))
    assert found == (None if bound is None else pytest.approx(bound, abs=0.001))


@pytest.mark.parametrize(
    ("sizes", "bound", "chance"), [((3,) * 4, -0.75, 0.025), ((3,) * 6, -0.58, 0.029), ((4,) * 4, -0.55, 0.034), ((4,) * 6, -0.43, 0.038)]
)
def test_critical_means_over_strata(sizes, bound, chance):
    """Bounds of the mean within-stratum correlation that chance meets in less than 5 %, and the next weaker one in more."""
    assert chance_of_mean_correlation(sizes, bound) == pytest.approx(chance, abs=0.001)
    critical = critical_mean_correlation(sizes)
    assert critical == pytest.approx(bound, abs=0.005) and chance_of_mean_correlation(sizes, critical + 0.13) > 0.05


POWER = [
    ((4,), -1.0, 0.7, 0.21), ((4,), -1.0, 0.9, 0.41), ((6,), -0.828, 0.7, 0.30), ((6,), -0.828, 0.9, 0.66), ((8,), -0.62, 0.7, 0.57),
    ((8,), -0.62, 0.9, 0.91), ((9,), -0.60, 0.7, 0.64), ((10,), -0.56, 0.7, 0.69), ((12,), -0.50, 0.7, 0.78), ((3,) * 4, -0.75, 0.8, 0.51),
    ((3,) * 6, -0.58, 0.8, 0.71), ((4,) * 4, -0.55, 0.8, 0.80), ((4,) * 6, -0.43, 0.8, 0.93), ((4,) * 6, -0.43, 0.7, 0.81),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "bound", "true_r", "power"), POWER)
def test_power(sizes, bound, true_r, power):
    """Known power at a stated true correlation, within the error of 20,000 draws on both sides."""
    assert power_of_mean_correlation(sizes, true_r, bound, GENERATOR(0)) == pytest.approx(power, abs=0.015)


def test_power_without_an_effect_is_the_chance():
    """At a true correlation of 0 the power is the chance rate; the sign of the stated effect plays no part."""
    assert power_of_mean_correlation((4,) * 4, 0.0, -0.55, GENERATOR(0)) == pytest.approx(chance_of_mean_correlation((4,) * 4, -0.55), abs=0.006)
    assert power_of_mean_correlation((8,), -0.9, -0.62, GENERATOR(0)) == power_of_mean_correlation((8,), 0.9, -0.62, GENERATOR(0))


def test_chance_of_a_permutation_p_is_its_level():
    """The data of every order of four seeds at one depth: the share with an exact p within 5 % is what is computed beforehand."""
    hits = [rank_within_strata([Stratum("a", (0, 1, 2, 3), (1, 2, 3, 4), order)]).p_negative <= 0.05 for order in permutations(range(4))]
    assert np.mean(hits) == pytest.approx(chance_of_mean_correlation((4,), critical_mean_correlation((4,)))) == pytest.approx(1 / 24)


def test_page():
    """Known: three seeds and four delays reach p = 7e-5 at best and 5 % at L >= 84; four seeds need 111; two seeds and three delays 1/36."""
    assert page_null(3, 4).at_least(90) == pytest.approx(7e-5, abs=3e-6) and critical_page(3, 4) == 84
    assert critical_page(4, 4) == 111 and 0.03 < chance_of_page(4, 4) <= 0.05
    assert critical_page(2, 3) == 28 and chance_of_page(2, 3) == pytest.approx(1 / 36, abs=1e-6)
    assert critical_page(1, 3) is None and chance_of_page(1, 3) == 0


def test_chance_of_pages_p_counted_again():
    """Every pair of orders of two rows of three: as often within 5 % as computed."""
    orders = list(permutations(range(3)))
    hits = [order_within_rows(table).p <= 0.05 for table in product(orders, orders)]
    assert np.mean(hits) == pytest.approx(chance_of_page(2, 3))


@pytest.mark.parametrize(("of", "least", "each", "chance"), [(6, 5, 0.5, 0.11), (6, 5, 0.9, 0.89), (10, 9, 0.5, 0.01), (10, 9, 0.9, 0.74)])
def test_held_out_counts(of, least, each, chance):
    """Known chances of a coin and of a classifier that is right nine times in ten."""
    assert chance_of_count(of, least, each) == pytest.approx(chance, abs=0.005)


def test_difference_of_two_outcomes():
    """Two more of four: at most 5/16, when all four are discordant; counted again for every number of discordant seeds."""
    counted = [np.mean([sum(signs) >= 2 for signs in product((1, -1), repeat=discordant)]) for discordant in range(2, 5)]
    assert chance_of_difference(4, 2) == pytest.approx(max(counted)) == 5 / 16 and chance_of_difference(1, 2) == 0


def test_no_return_by_chance():
    """One failure of four delays falls on the last by 1/4; a seed without a failure, or without a recovery, can have no return."""
    assert chance_of_no_return([1], 4) == 1 / 4 and chance_of_no_return([2, 0, 4], 4) == 1 / 6


def test_chances_of_the_registered_tests():
    """Every prediction has a chance between 0 and 1 with its reason, and the number met by chance is their sum."""
    tables = [path_chances(4, 2, 3, -0.43), delay_chances(4, 4), burst_chances(8)]
    assert [list(table) for table in tables] == [["P1", "P2", "P3", "P4"], ["D1", "D2", "D3", "D4"], ["T0", "T1", "T1b", "T2", "T3", "T3r", "T4"]]
    assert all(0 < chance.value <= 1 and chance.text for table in tables for chance in table.values())
    assert tables[0]["P2"].value == pytest.approx(0.04, abs=0.005) and expected_met(tables[0]) == pytest.approx(0.035 + 0.038 + 0.75, abs=0.002)


def test_delays_that_move_together_are_fewer_strata():
    """The chance of the primary at its bound is 4 % only if delays are independent: with one order of seeds per depth it is 15 %."""
    assert "0.148" in path_chances(4, 2, 3, -0.43)["P2"].text
