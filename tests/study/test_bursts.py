"""Learning-rate bursts: the rate is raised for as many updates as said and no longer, beside a paired control that never is."""

from __future__ import annotations

import pytest
import torch
from interruptible import TABLE_SETTING
from networks import same_state
from tiny_arms import SCALE

from rankcollapse.bursts import choose_multiplier, excursion, excursions, go_on
from rankcollapse.engine import Fork, Run
from rankcollapse.engine.stack import plan_runs

RATE = TABLE_SETTING.optimiser.learning_rate


def test_the_rate_during_and_after():
    """Twenty and forty times the base rate in each of the four updates; the control's is the base rate; the skip scale stays at 1."""
    runs = excursion(9, (20.0, 40.0), SCALE)
    assert [(run.name, run.start, run.steps, run.origin) for run in runs] == [
        (f"{name}/9", 5, 4, Fork("warm/9", 5)) for name in ("burst_20", "burst_40", "control")
    ]  # fmt: skip
    numbers = plan_runs(runs, TABLE_SETTING)
    assert numbers[0, :4, 1] == pytest.approx([20 * RATE] * 4) and numbers[1, :4, 1] == pytest.approx([40 * RATE] * 4)
    assert (numbers[2, :, 1] == RATE).all() and (numbers[..., 0] == 1.0).all() and (numbers[:2, 4, 1] == RATE).all()


def test_the_healthy_stretch_is_shared():
    """One stretch a network, whatever the number of multipliers."""
    names = [run.name for run in excursions((9, 10), (20.0, 40.0), SCALE)]
    assert names == ["warm/9", "warm/10", "burst_20/9", "burst_40/9", "control/9", "burst_20/10", "burst_40/10", "control/10"]


def test_paired_runs_are_one_network(table):
    """The control and what follows it are one long run at the base rate, bit for bit; so is the burst one run with a raised stretch."""
    rows = excursions((9,), (20.0,), SCALE)
    long = Run("long", 9, 15, measure_every=1)
    raised = Run("raised", 9, 15, learning_rate=((0, RATE), (4, RATE), (5, 20 * RATE), (8, 20 * RATE), (9, RATE), (99, RATE)))
    results = table(*rows, long, raised)
    assert results["control/9"][0].step == [5, 7, 9] == results["burst_20/9"][0].step
    after = table(*go_on(9, {20.0: results["burst_20/9"][1]}, results["control/9"][1], SCALE))
    assert same_state(after["control/9"][1], results["long"][1]) and same_state(after["after_20/9"][1], results["raised"][1])
    assert after["after_20/9"][0].step == [9, 12, 15] and after["after_20/9"][0].skip == [1.0] * 3
    assert not torch.equal(after["after_20/9"][1].weights, after["control/9"][1].weights)


MULTIPLIERS = {
    "the smallest that collapses all": ({20: [1, 0], 24: [1, 1], 28: [1, 1]}, 24),
    "a lucky smaller one counts": ({20: [1, 1], 24: [0, 1], 28: [1, 1]}, 20),
    "in any order": ({28: [1, 1], 20: [0, 0], 24: [1, 1]}, 24),
    "none does": ({20: [0, 0], 24: [1, 0], 28: [0, 1]}, 28),
}


@pytest.mark.parametrize("kind", MULTIPLIERS)
def test_choice_of_the_multiplier(kind):
    """The smallest at whose end every development network is collapsed; the largest where none does it."""
    below, expected = MULTIPLIERS[kind]
    assert choose_multiplier({times: [bool(flag) for flag in flags] for times, flags in below.items()}) == expected
