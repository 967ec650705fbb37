"""Chances under the null are exact: each agrees with counting every case."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.chance import LARGEST, chance_of, chance_of_correlation, chance_of_count, count_orders, exact, show
from audit.predictions import OPERATORS, Comparator, Metric, Null, Prediction
from audit.verdict import correlate

PLACE = "results/a/a.json"


def prediction(comparator: dict[str, object], **null: object) -> Prediction:
    compared = Comparator.model_validate(comparator, strict=False)
    return Prediction(id="P1", claim="So.", metric=Metric(file=PLACE, stage="a", key="a"), comparator=compared, null=Null(text="Not so.", **null))


@settings(deadline=None)
@given(st.integers(1, 7), st.integers(1, 8), st.fractions(0, 1, max_denominator=9))
def test_counts_agree_with_every_outcome(units: int, at_least: int, one: Fraction) -> None:
    """The chance of a count is the sum over all outcomes of the units."""
    outcomes = itertools.product((True, False), repeat=units)
    chances = (math.prod(one if won else 1 - one for won in outcome) for outcome in outcomes if sum(outcome) >= at_least)
    assert chance_of_count(units, at_least, one) == sum(chances, Fraction(0))


@pytest.mark.parametrize("units", range(2, 9))
def test_correlations_agree_with_every_order(units: int) -> None:
    """The distribution of Spearman's correlation is that of all permutations, as the judge computes it."""
    still = tuple(range(units))
    found: dict[int, int] = {}
    for order in itertools.permutations(still):
        distance = sum((one - other) ** 2 for one, other in zip(still, order, strict=True))
        found[distance] = found.get(distance, 0) + 1
    assert dict(count_orders(units)) == found
    if units < 7:
        judged = [correlate(still, order) for order in itertools.permutations(still)]
        for op, compare in OPERATORS.items():
            for target in (-1, -0.5, 0, 0.3, 0.8, 1):
                met = sum(compare(value, target) for value in judged if value is not None)
                assert chance_of_correlation(units, op, exact(target)) == Fraction(met, math.factorial(units)), (op, target)


@pytest.mark.parametrize("units", [9, 12, LARGEST])
def test_larger_distributions_hold_together(units: int) -> None:
    """Where counting every order takes too long: all orders are there, symmetric, with the known mean and variance."""
    orders, most = count_orders(units), (units**3 - units) // 3
    total = math.factorial(units)
    assert sum(orders.values()) == total
    assert all(orders[distance] == orders[most - distance] for distance in orders)
    mean = Fraction(sum(distance * ways for distance, ways in orders.items()), total)
    assert mean == Fraction(most, 2)
    square = Fraction(sum(ways * (distance - mean) ** 2 for distance, ways in orders.items()), total)
    assert square / mean**2 == Fraction(1, units - 1), "the correlation's variance"


@pytest.mark.parametrize(("arms", "wanted"), [(1, Fraction(1, 2)), (2, Fraction(1, 3)), (3, Fraction(1, 4))])
def test_first_of_exchangeable_rivals(arms: int, wanted: Fraction) -> None:
    """Against k rivals one of k + 1 is first."""
    orders = list(itertools.permutations(range(arms + 1)))
    assert Fraction(sum(order[0] == max(order) for order in orders), len(orders)) == wanted
    found = chance_of(prediction({"op": ">", "than": [f"r{arm}" for arm in range(arms)]}), None)
    assert found is not None and found.value == wanted


KNOWN: dict[str, tuple[dict[str, object], dict[str, object], int | None, str | None]] = {
    "4 of 5 by a coin": ({"op": ">", "than": "b", "units": 4}, {}, 5, "3/16"),
    "9 of 10 at 0.8": ({"op": ">", "value": 1, "units": 9}, {"unit_chance": 0.8}, 10, "3670016/9765625"),
    "3 of 3 against two rivals": ({"op": ">", "than": ["b", "c"], "units": 3}, {}, 3, "1/27"),
    "order of three": ({"op": ">", "order": ["b", "c"]}, {}, None, "1/6"),
    "order of three in 2 of 2": ({"op": ">", "order": ["b", "c"], "units": 2}, {}, 2, "1/36"),
    "declared": ({"op": ">", "value": 1}, {"chance": 0.025}, None, "1/40"),
    "declared over what follows": ({"op": ">", "than": "b"}, {"chance": 0.75}, None, "3/4"),
    "a rank correlation of one among four": ({"op": ">=", "value": 1, "rank_correlation": "b"}, {}, 4, "1/24"),
    "more units than there are": ({"op": ">", "than": "b", "units": 6}, {}, 5, "0"),
    "the least of several": ({"all": [{"op": ">", "than": "b"}, {"op": ">", "order": ["b", "c"]}, {"op": ">", "value": 1}]}, {}, None, "1/6"),
    "a threshold": ({"op": ">", "value": 1}, {}, 6, None),
    "a threshold per unit": ({"op": ">", "value": 1, "units": 3}, {}, 6, None),
    "units without a population": ({"op": ">", "than": "b", "units": 3}, {}, None, None),
    "a correlation without a population": ({"op": ">", "value": 0, "rank_correlation": "b"}, {}, None, None),
    "a correlation of too many": ({"op": ">", "value": 0, "rank_correlation": "b"}, {}, LARGEST + 1, None),
    "equality": ({"op": "==", "than": "b"}, {}, None, None),
    "equivalence": ({"op": "in", "than": "b", "band": 0.1}, {}, None, None),
    "classes": ({"op": ">", "value": 1, "labels": "b", "units": 3}, {}, 6, None),
    "classes, declared": ({"op": ">", "value": 1, "labels": "b", "units": 2}, {"unit_chance": 0.5}, 2, "1/4"),
    "nothing known of any part": ({"all": [{"op": ">", "value": 1}, {"op": "<", "value": 2}]}, {}, 6, None),
}


@pytest.mark.parametrize("name", KNOWN)
def test_chances_of_predictions(name: str) -> None:
    """Known answers, and nothing where the chance neither follows nor is declared."""
    comparator, null, units, wanted = KNOWN[name]
    found = chance_of(prediction(comparator, **null), units)
    assert (found and str(found.value)) == wanted
    assert found is None or found.text


def test_chances_are_shown_exactly() -> None:
    """A fraction and a decimal; a long fraction as its decimal."""
    assert show(Fraction(3, 16)) == "3/16 = 0.188"
    assert show(Fraction(1, 10**9)) == "1e-9"
    assert exact(0.8) == Fraction(4, 5) and exact(1e-3) == Fraction(1, 1000) and exact(2) == 2
