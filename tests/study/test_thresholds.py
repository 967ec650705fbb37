"""The threshold rule on named cases, and what a threshold must beat."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest

from rankcollapse.thresholds import (
    chance_of_errors,
    classify,
    classify_by_depth,
    correct,
    fit_threshold,
    least_errors,
    majority,
    smallest_class,
)

CASES = {
    "the middle of the gap": ([-5, -4, -2, -1], [0, 0, 1, 1], (-3, 0, True)),
    "whatever the order of events": ([-1, -5, -2, -4], [1, 0, 1, 0], (-3, 0, True)),
    "one error, at the larger of two places": ([-6, -5, -4, -3, -2], [0, 1, 0, 1, 1], (-3.5, 1, False)),
    "a tie across the classes does not separate": ([-5, -4, -4, -1], [0, 0, 1, 1], (-2.5, 1, False)),
    "the wrong way round: none is predicted to recover": ([-5, -4, -2, -1], [1, 1, 0, 0], (-1 + 2e-16, 2, False)),
    "mostly recovered, the wrong way round: all are": ([-5, -4, -3, -2, -1], [1, 1, 1, 0, 0], (-5, 2, False)),
}


@pytest.mark.parametrize("name", CASES)
def test_fit(name):
    """Midpoint where the classes separate, else least errors, ties to the larger."""
    scores, recovered, (value, errors, separates) = CASES[name]
    found = fit_threshold(scores, list(map(bool, recovered)))
    assert (found.value, found.errors, found.separates) == (pytest.approx(value), errors, separates)
    wrong = [flag for flag in correct(classify(scores, [found.value] * len(scores)), recovered) if not flag]
    assert len(wrong) == errors


@pytest.mark.parametrize("recovered", [[], [True], [True] * 4, [True, False, False, False], [True, True, True, False]])
def test_too_few_of_a_class_fit_nothing(recovered):
    """Fewer than two of either class: no threshold, whatever the scores are; one of each serves if that was registered."""
    assert fit_threshold(list(range(len(recovered))), recovered) is None
    assert (fit_threshold(list(range(len(recovered))), recovered, least=1) is None) == (smallest_class(recovered) < 1)


def test_errors_need_scores():
    """A threshold between no events is refused, not invented."""
    with pytest.raises(ValueError, match="scores"):
        least_errors([], [])


KNOWN = [(6, 2, 0, 0.067), (6, 3, 0, 0.05), (8, 2, 0, 0.036), (8, 3, 0, 0.018), (4, 2, 0, 0.17), (6, 2, 1, 0.40), (6, 3, 1, 0.30)]


@pytest.mark.parametrize(("events", "recoveries", "errors", "chance"), KNOWN)
def test_chance_of_a_free_threshold(events, recoveries, errors, chance):
    """Known chances, and each counted again over every choice of the recovering events."""
    found = chance_of_errors(events, recoveries, errors)
    assert found == pytest.approx(chance, abs=0.005)
    choices = [[place in chosen for place in range(events)] for chosen in combinations(range(events), recoveries)]
    assert found == pytest.approx(sum(least_errors(range(events), choice)[0] <= errors for choice in choices) / len(choices))


def test_chance_beside_a_fit():
    """1 / C(n, k) where it separates, 1 where as many errors are always reached."""
    assert fit_threshold([1, 2, 3, 4, 5, 6], [False] * 4 + [True] * 2).chance == pytest.approx(1 / comb(6, 2))
    assert fit_threshold([1, 2, 3, 4], [True, True, False, False]).chance == 1


def test_majority_class():
    """The larger class; recovery where neither is."""
    assert majority([True, True, False]) and not majority([True, False, False]) and majority([True, False])


def test_depth_alone():
    """Each depth's own majority; a divided or unknown depth takes the pooled one."""
    main = [("shallow", True), ("shallow", True), ("shallow", False), ("deep", False), ("deep", False), ("middle", True), ("middle", False)]
    assert classify_by_depth(main, ["shallow", "deep", "middle", "other"]) == [True, False, False, False]
    paper = [("shallow", True), ("shallow", True), ("shallow", False), *[("deep", False)] * 5]
    held_out = [("shallow", True)] * 3 + [("shallow", False)] * 2 + [("deep", True)] * 2 + [("deep", False)] * 3
    assert sum(correct(classify_by_depth(paper, [depth for depth, _ in held_out]), [flag for _, flag in held_out])) == 6
