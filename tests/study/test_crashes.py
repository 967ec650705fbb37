"""Crashes of made-up losses, and warnings against counts by hand, brute force and scipy."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import inf, nan

import numpy as np
import pytest
from scipy import stats

from rankcollapse import crashes
from rankcollapse.crashes import Crash, Watched, find_crash, score_warning

FALLING = [6.0, 5.0, 4.0, 3.0, 2.5, 2.2, 2.1, 2.0]
LOSSES = {
    "a run that learns": (FALLING, None),
    "rises for good": ([*FALLING, 3.0, 3.1, 3.0, 3.2], 90),  # medians end ..., 2.1, 2.1, 3.0: the second high one lifts the median
    "rises slowly": ([*FALLING, 2.2, 2.4, 2.6, 2.8, 3.0], 110),  # medians 2.1, 2.2, 2.4, 2.6, 2.8: the fourth is half a nat above 2.1
    "one stray measurement": ([*FALLING, 9.0, 2.0, 2.0, 2.0], None),
    "comes back": ([*FALLING, 3.0, 3.1, 3.0, 2.1, 2.0, 2.0], None),
    "comes back half way": ([*FALLING, 3.0, 3.1, 3.0, 2.4, 2.4, 2.4], 90),  # 2.4 > 2.1 + 0.25
    "comes back just far enough": ([*FALLING, 3.0, 3.1, 3.0, 2.35, 2.35, 2.35], None),
    "comes back and crashes later": ([*FALLING, 3.0, 3.1, 3.0, 2.0, 2.0, 2.0, 4.0, 4.0], 150),
    "rises less": ([*FALLING, 2.5, 2.5, 2.5, 2.5], None),
    "rises at the very end": ([*FALLING, 3.0, 3.0], 90),
    "too short": ([6.0, 2.0], None),
    "empty": ([], None),
}


@pytest.mark.parametrize("name", LOSSES)
def test_when_a_run_crashes(name):
    """At the first measurement whose median of three lies half a nat above the least before it, unless it comes back within a quarter."""
    loss, expected = LOSSES[name]
    found = find_crash([10 * place for place in range(len(loss))], loss, 0.5)
    assert found.step == expected and found.crashed == (expected is not None) == (found.rise is not None) and not found.unlearnt


def test_how_far_it_rose():
    """From the least median before the crash to the last median; a larger threshold is met later or not at all."""
    loss = [*FALLING, 3.0, 3.1, 3.5, 4.0]
    steps = list(range(len(loss)))
    assert find_crash(steps, loss, 0.5) == Crash(9, pytest.approx(3.5 - 2.1), False)
    assert find_crash(steps, loss, 1.0).step == 10 and find_crash(steps, loss, 1.4).step == 11 and find_crash(steps, loss, 1.5).step is None
    assert find_crash(steps, loss, 0.5, window=1).step == 8


BROKEN = {
    "diverged": (FALLING, 75, 75),
    "rose first": ([*FALLING, 3.0, 3.0, 3.0], 105, 90),
    "came back first": ([*FALLING, 3.0, 3.0, 2.0, 2.0], 115, 115),
    "before three measurements": ([6.0], 7, 7),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_run_that_diverges_has_crashed(name):
    """At the step at which it did, or where its loss had risen before and did not come back; how far it rose has no number."""
    loss, diverged, expected = BROKEN[name]
    assert find_crash(range(0, 10 * len(loss), 10), loss, 0.5, diverged_at=diverged) == Crash(expected, None, False)


@pytest.mark.parametrize("value", [nan, inf])
def test_a_loss_that_is_not_finite_is_a_crash(value):
    """Even for one measurement, and even if losses after it look well."""
    loss = [*FALLING, value, 2.0, 2.0, 2.0]
    assert find_crash(range(len(loss)), loss, 0.5) == Crash(8, None, False)


def test_never_having_learnt_is_another_matter():
    """A run whose medians never come down to a loss has not learnt, whether it crashes or not."""
    flat, steps = [6.0, 5.4, 5.3, 5.3, 5.3], range(5)
    assert find_crash(steps, flat, 0.5, learned=5.0) == Crash(None, None, True)
    assert find_crash(steps, flat, 0.5, learned=5.3) == find_crash(steps, flat, 0.5) == Crash(None, None, False)
    assert find_crash(range(9), [*flat, 7.0, 7.0, 7.0, 7.0], 0.5, learned=5.0) == Crash(6, pytest.approx(1.7), True)
    assert find_crash([0], [6.0], 0.5, learned=5.0).unlearnt


def test_losses_and_steps_belong_together():
    """As many as each other, steps rising."""
    for steps, loss in (([0, 1], [1.0]), ([0, 0], [1.0, 2.0]), ([1, 0], [1.0, 2.0])):
        with pytest.raises(ValueError, match="steps rising"):
            find_crash(steps, loss, 0.5)


def watch(values, crashed, stratum="a", crash=150, end=400):
    """Runs of one stratum with these readings at step 100; those named crash at step 150."""
    return [Watched(f"{stratum}/{i}", stratum, float(value), crash if i in crashed else None, end) for i, value in enumerate(values)]


def score(runs, sign="higher"):
    """At step 100, with a lead of 20 and a horizon of 200."""
    return score_warning(runs, 100, 20, 200, sign)


def test_perfect_separation_of_four_and_four():
    """AUC 1 has chance 1/70; the wrong way round it is 0, with chance 1; turned, 1 again."""
    runs = watch([1, 2, 3, 4, 5, 6, 7, 8], {4, 5, 6, 7})
    found = score(runs)
    assert (found.auc, found.crashing, found.lasting, found.pairs) == (1.0, 4, 4, 16) and found.p == pytest.approx(1 / 70)
    away = score(runs, "lower")
    assert (away.auc, away.p) == (0.0, 1.0) and score([replace(run, value=-run.value) for run in runs], "lower") == found


def test_one_wrong_pair():
    """15 of 16 pairs: two of the 70 ways are as good."""
    found = score(watch([1, 2, 3, 5, 4, 6, 7, 8], {4, 5, 6, 7}))
    assert found.auc == 15 / 16 and found.p == pytest.approx(2 / 70)


def test_ties_count_half_and_a_constant_says_nothing():
    """Equal readings: AUC one half, chance 1; a tied pair is half a pair."""
    found = score(watch([3] * 8, {0, 1, 2, 3}))
    assert (found.auc, found.p) == (0.5, 1.0)
    assert score(watch([1, 2, 2], {2})).auc == 0.75 and score(watch([1, 2, 2], {2})).p == pytest.approx(2 / 3)


def test_strata_are_compared_within():
    """A reading that follows the learning rate alone orders all runs across rates, and none within them."""
    low, high = watch([1, 1, 1, 1], {0}, "low"), watch([9, 9, 9, 9], {0, 1, 2}, "high")
    found = score([*low, *high])
    assert found.auc == 0.5 and found.by_stratum == {"high": 0.5, "low": 0.5} and found.p == 1
    together = score([replace(run, stratum="all") for run in (*low, *high)])
    assert together.auc == (3 * 3 * 1 + 3 * 1 * 0.5 + 1 * 3 * 0.5 + 0) / 16


def test_strata_count_by_their_pairs():
    """One of 3 pairs and one of 4 pairs: (3 * 1 + 4 * 1/2) / 7; p from the product of their orders; a stratum of one kind is idle."""
    first, second, third = watch([1, 2, 3, 9], {3}, "a"), watch([1, 4, 2, 3], {0, 1}, "b"), watch([5, 6], set(), "c")
    found = score([*first, *second, *third])
    assert found.by_stratum == {"a": 1.0, "b": 0.5} and found.auc == pytest.approx(5 / 7)
    assert (found.crashing, found.lasting, found.pairs, found.idle, found.excluded) == (3, 5, 7, 2, 0)
    null = [u + v for u in range(4) for v in (0, 1, 2, 2, 3, 4)]
    assert found.p == pytest.approx(np.mean([value >= 5 for value in null]))


def test_who_is_left_out_and_who_counts_as_lasting():
    """A crash up to at + lead cannot be warned of; one after the horizon has not come; the window's ends are (120, 300]."""
    values = [5.0, 5.0, 5.0, 5.0, 1.0, 1.0]
    times = [90, 120, 121, 300, 301, None]
    found = score([Watched(str(i), "a", value, time, 400) for i, (value, time) in enumerate(zip(values, times, strict=True))])
    assert (found.excluded, found.crashing, found.lasting, found.auc) == (2, 2, 2, 1.0)


def test_nothing_to_compare():
    """Without a pair there is no AUC, chance 1, and all runs are idle."""
    found = score(watch([1, 2, 3], set()))
    assert (found.auc, found.p, found.pairs, found.idle) == (None, 1.0, 0, 3) and score([]).auc is None


BAD = {
    "not finite": ([Watched("a", "s", nan, None, 400)], "run a: a finite reading"),
    "not watched for long": ([Watched("a", "s", 1.0, None, 299)], "run a: looked at until step 299, not 300"),
    "twice": ([Watched("a", "s", 1.0, None, 400)] * 2, "each run once"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_scored(name):
    """A ValueError says which run; a reading of a run that is left out need not be finite."""
    runs, line = BAD[name]
    with pytest.raises(ValueError, match=line):
        score(runs)
    assert score([Watched("gone", "s", nan, 110, 110)]).excluded == 1
    with pytest.raises(ValueError, match="shorter than the horizon"):
        score_warning([], 100, 200, 200)


@pytest.mark.parametrize("seed", range(4))
def test_the_null_is_that_of_every_choice(seed):
    """With ties: the distribution of U over all choices of who crashes; its sum is the number of choices."""
    values = np.random.default_rng(seed).integers(0, 4, 7).astype(float)
    null = crashes.pair_null(values, 3)
    every = sorted(crashes.count_right(values[list(chosen)], np.delete(values, chosen)) for chosen in combinations(range(7), 3))
    assert np.repeat(null.values, null.counts.astype(int)).tolist() == pytest.approx(every) and null.exact


def test_scipy_agrees_without_ties():
    """U and its exact p are those of scipy's Mann-Whitney test."""
    values = np.random.default_rng(5).standard_normal(19)
    found = score(watch(values, set(range(0, 19, 2))))
    test = stats.mannwhitneyu(values[::2], values[1::2], alternative="greater", method="exact")
    assert found.auc * found.pairs == pytest.approx(test.statistic) and found.p == pytest.approx(test.pvalue)


def test_a_predictor_and_its_rivals_on_the_same_runs():
    """Each by its own sign, fixed in the table: low entropy warns as high concentration does."""
    runs = watch([0] * 8, {4, 5, 6, 7})
    readings = {"sec_max": range(8), "entropy_min": range(8), "map_rank_min": range(8, 0, -1), "loss": [0] * 8}
    found = crashes.score_readings(readings, runs, 100, 20, 200)
    assert {name: each.auc for name, each in found.items()} == {"sec_max": 1.0, "entropy_min": 0.0, "map_rank_min": 1.0, "loss": 0.5}
    with pytest.raises(KeyError):
        crashes.score_readings({"shoe_size": range(8)}, runs, 100, 20, 200)


def test_too_many_runs_for_whole_counts():
    """Beyond 56 runs in a stratum the counts are no longer whole in double precision, and it is said."""
    crashes.pair_null(range(56), 28)
    with pytest.raises(ValueError, match="at most 56 runs"):
        crashes.pair_null(range(57), 28)
