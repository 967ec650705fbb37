"""The registered tests from rows of networks whose outcome is known: every quantity a prediction names, and the counts that leave it undecided."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from audit.records import Refusal
from rankcollapse.registered import (
    Row,
    Thresholds,
    classify_held_out,
    classify_rows,
    fit_thresholds,
    judge_burst,
    order_delays,
    rank_rows,
)

BUDGET = 250
GENERATOR = np.random.default_rng


def row(seed, opening, time, role="deep", delay=0, **readings):
    """One network; rivals are constant unless given."""
    other = {"loss_gap": 1.0, "grad_norm": 1.0, "residual": 1.0, "rho_hinge": 0.1, "multiplier": 20.0}
    return Row(seed, role, {"opening": opening, **other, **readings}, time, delay)


MAIN = [row(seed, 10.0**power, time) for seed, (power, time) in enumerate([(-6, None), (-5, None), (-3, 40), (-2, 20)])]
HELD_OUT = [row(seed, 10.0**power, time) for seed, (power, time) in enumerate([(-7, None), (-4.5, 30), (-3.5, None), (-1, 10)])]


def test_thresholds_are_per_depth():
    """Midpoint in log10 with its chance; a depth with one class only has none, and its events count as wrong."""
    rows = [*MAIN, *(row(seed, 1e-3, 20, "shallow") for seed in range(3))]
    found = fit_thresholds(rows, "opening")
    assert found.of("deep") == pytest.approx(-4) and found.deep.chance.value == pytest.approx(1 / 6) and found.deep.errors.value == 0
    assert found.shallow is None and classify_rows([row(0, 1.0, 10, "shallow")], found, "opening") == [False]


def test_rivals_are_classified_by_the_same_rule():
    """A larger gap was said to mean slower: its scores are turned, and its threshold separates the same events."""
    rows = [row(seed, 1.0, time, loss_gap=gap) for seed, (gap, time) in enumerate([(0.1, 10), (0.2, 20), (1.0, None), (2.0, None)])]
    found = fit_thresholds(rows, "loss_gap")
    assert found.of("deep") == pytest.approx(-np.log10(np.sqrt(0.2))) and all(classify_rows(rows, found, "loss_gap"))
    assert row(0, 0.0, 10).score("opening") == -30


def test_held_out_classification():
    """Two of four right by the threshold, two by the class that main is tied to, none of a depth without threshold; counts beside."""
    found = classify_held_out(MAIN, HELD_OUT, fit_thresholds(MAIN, "opening"))
    assert found.correct.values == (1, 0, 0, 1) and found.events.value == 4
    assert found.majority.value == 2 == found.depth.value and found.least_class.value == 2 and found.fitted.value == 1
    blind = classify_held_out(MAIN[2:], HELD_OUT, Thresholds())
    assert (blind.correct.value, blind.least_class.value, blind.fitted.value) == (0, 0, 0)


def grid(order=(1, 2, 3, 4), delays=(0, 1, 2)):
    """Four seeds at both depths and three delays, the opening falling with the delay, times by the seed's place in the order."""
    return [
        row(seed, 10.0 ** (seed - delay), 100.0 - 10 * place + 30 * delay, role, delay)
        for role in ("shallow", "deep") for delay in delays for seed, place in enumerate(order)
    ]  # fmt: skip


def test_ranking_within_depth_and_delay():
    """A perfect order in six strata: rho -1, p of independent strata 24^-6, of networks that move together 24^-2."""
    found = rank_rows(grid(), "opening", BUDGET, GENERATOR(0))
    assert found.rho.value == pytest.approx(-1) and len(found.rho.values) == 6 == found.strata.value
    assert found.p.value == pytest.approx(24**-6.0) and found.p_networks.value == pytest.approx(24**-2.0)


def test_what_only_falls_with_time_ranks_nothing():
    """Predictor and speed both fall with the delay and are unrelated within it: pooled they would correlate, within strata they do not."""
    found = rank_rows(grid(order=(2, 4, 1, 3)), "opening", BUDGET, GENERATOR(0))
    assert found.rho.value == pytest.approx(0) and found.p.value > 0.5
    constant = rank_rows(grid(), "loss_gap", BUDGET, GENERATOR(0))
    assert constant.rho.value == 0 and constant.strata.value == 6 and constant.p.value == 1


def test_nothing_recovered_leaves_no_stratum():
    """All censored: no stratum counts, whatever the predictor; the count says so, and nothing is small by accident."""
    found = rank_rows([row(seed, 10.0**seed, None) for seed in range(4)], "opening", BUDGET, GENERATOR(0))
    assert (found.strata.value, found.rho.value, found.p.value, found.rho.values) == (0, 0, 1, None)


def delayed(*lines):
    """Rows of a table of times, one line a seed, None where nothing recovered."""
    return [row(seed, 1.0, time, delay=delay) for seed, line in enumerate(lines) for delay, time in enumerate(line)]


def test_delays():
    """Times that rise in every seed; two of four lost at the longest delay; no return; the middle delay takes e.g. three times as long."""
    rows = delayed([10, 10, 20, 40], [10, 20, 30, None], [10, 12, 30, 200], [10, 20, 80, None])
    found = order_delays(rows, "deep", BUDGET, GENERATOR(0))
    assert found.L.value == 119.5 and found.p.value < 0.001 and found.seeds.value == 4
    assert (found.returns.value, found.failures.value, found.lost.value) == (0, 2, 2) and found.slowing.value == pytest.approx(np.log(3))


def test_delays_can_lose():
    """Times that fall, a recovery after a failure: p near 1, one return, nothing lost."""
    found = order_delays(delayed([40, None, 20, 10], [80, 40, 20, 10], [90, 80, 70, 60]), "deep", BUDGET, GENERATOR(0))
    assert found.p.value > 0.99 and found.returns.values == (2, 0, 0) and found.lost.value == 0 and found.slowing.value < 0


@pytest.mark.parametrize("rows", [delayed([10, 20], [10, 20])[:3], delayed([10, 20]) + delayed([10, 20]), delayed([10], [10])])
def test_incomplete_delays_are_refused(rows):
    """A seed without a delay, a row twice, one delay only."""
    with pytest.raises(Refusal, match="each seed once at every delay"):
        order_delays(rows, "deep", BUDGET, GENERATOR(0))


def test_burst():
    """Eight networks that all recover, faster with a larger opening: T1 by the first test's threshold, T1b and rivals by development's."""
    networks = [row(seed, 10.0 ** (-3.9 + seed / 10), 200.0 - 10 * seed, loss_gap=0.5 + seed, grad_norm=1.0) for seed in range(8)]
    small, large = dict(loss_gap=0.5, multiplier=20.0), dict(loss_gap=9.0, multiplier=40.0)
    development = [row(0, 1e-4, 100, **small), row(1, 2e-4, 90, **small), row(0, 1e-6, None, **large), row(1, 2e-6, None, **large)]
    found = judge_burst(networks, fit_thresholds(MAIN, "opening"), development, BUDGET, GENERATOR(0))
    assert found.frozen.value == 8 and found.development.value == 8 and found.multiplier.value == 8 and found.loss_gap.value == 2
    assert found.opening.rho.value == pytest.approx(-1) and found.opening.p.value == pytest.approx(1 / 40320)
    assert found.loss_gap_ranking.rho.value == pytest.approx(1) and found.grad_norm_ranking.rho.value == 0
    assert found.distinct.value == 8 and found.recovered.value == 8


def test_p_keeps_its_level_only_with_networks_permuted_together():
    """No effect and delays that repeat one order of seeds: over every order, p of independent strata is small too often."""
    small, orders = np.zeros(2), list(permutations((10.0, 20.0, 30.0, 40.0)))
    for times in orders:
        rows = [row(seed, 10.0**seed, times[seed], delay=delay) for delay in range(3) for seed in range(4)]
        found = rank_rows(rows, "opening", BUDGET, GENERATOR(0))
        small += found.p.value <= 0.05, found.p_networks.value <= 0.05
    apart, together = small / len(orders)
    assert together <= 0.05 < 0.1 < apart
