"""Detection, settling and recovery on named trajectories: each rule on the table's good and bad cases."""

from __future__ import annotations

import pytest

from rankcollapse.events import Settled, collapsed_rank, find_collapse, find_lasting, find_recovery, find_settled, trailing_medians

DETECTION = {
    "never": ([0, 5, 10, 15], [4.0, 3.0, 2.5, 2.0], 0, None),
    "at the threshold is not below it": ([0, 5, 10], [4.0, 1.5, 1.5], 0, None),
    "first below": ([0, 5, 10, 15], [4.0, 3.0, 1.4, 1.0], 0, 2),
    "a dip before the start does not count": ([0, 5, 10, 15], [1.0, 1.0, 3.0, 1.0], 5, 3),
    "the start itself does not count": ([5, 10, 15], [1.0, 3.0, 3.0], 5, None),
    "one dip is a detection": ([0, 5, 10, 15], [4.0, 1.0, 4.0, 4.0], 0, 1),
    "nothing measured": ([], [], 0, None),
}


@pytest.mark.parametrize("name", DETECTION)
def test_detection(name):
    """A collapse is detected at the first measurement after the start that lies below the threshold."""
    steps, ranks, start, expected = DETECTION[name]
    assert find_collapse(steps, ranks, 1.5, start) == expected


SETTLING = {
    "at once when due": ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 2),
    "the window's median decides, not its last value": ([1.0, 1.0, 3.0, 1.0, 1.0, 1.0], 2),
    "a high median waits": ([1.0, 3.0, 3.0, 1.0, 1.0, 1.0], 4),
    "back above for good": ([1.0, 3.0, 3.0, 3.0, 3.0, 3.0], None),
    "median at the threshold is not below it": ([1.0, 1.5, 1.5, 1.5, 1.5, 1.5], None),
    "ended before due": ([1.0, 1.0], None),
}


@pytest.mark.parametrize("name", SETTLING)
def test_settling(name):
    """Detected at index 0 (step 100), settled 20 steps later or at the first median of three below the threshold after that."""
    ranks, expected = SETTLING[name]
    steps = list(range(100, 100 + 10 * len(ranks), 10))
    assert find_settled(steps, ranks, 1.5, 0, 20, 3) == expected
    stop = Settled(threshold=1.5, start=90, after=20, window=3)
    due = [stop(steps[: n + 1], ranks[: n + 1]) for n in range(len(ranks))]
    assert due.index(True) == expected if expected is not None else not any(due)


def test_settling_needs_a_full_window():
    """A due measurement with fewer than `window` values behind it has no median and settles nothing."""
    assert find_settled([0, 50, 100], [1.0, 1.0, 1.0], 1.5, 0, 50, 3) == 2


LASTING = {
    "from the first measurement below": ([4, 1, 1, 1, 1], (1, 3)),
    "an early dip heals, and the collapse is what follows": ([1, 4, 4, 4, 4, 1, 1, 1, 1], (5, 7)),
    "two measurements above do not restart it": ([4, 1, 4, 4, 1, 1, 1], (1, 5)),
    "two dips and no collapse": ([1, 4, 4, 4, 1, 4, 4, 4], None),
    "settled before it heals": ([1, 1, 1, 4, 4, 4], (0, 2)),
    "ends before it settles": ([4, 4, 1, 1], None),
    "never below": ([4, 4, 4], None),
}


@pytest.mark.parametrize("name", LASTING)
def test_a_dip_that_heals_is_not_the_collapse(name):
    """Settled 20 steps after the detection with a median of three; detected anew where a whole window is not below since."""
    ranks, expected = LASTING[name]
    steps = list(range(100, 100 + 10 * len(ranks), 10))
    assert find_lasting(steps, ranks, 1.5, 90, 20, 3) == expected
    assert Settled(threshold=1.5, start=90, after=20, window=3)(steps, ranks) == (expected is not None)


RECOVERY = {
    "dated at the window's end": ([1, 1, 3, 3, 3, 3, 3], 3, 1, 3),
    "at the threshold counts": ([1, 2, 2, 2, 2], 3, 1, 2),
    "just below never counts": ([1, 1.99, 1.99, 1.99, 1.99], 3, 1, None),
    "one spike is no recovery": ([1, 1, 9, 1, 1, 1, 1], 3, 0, None),
    "lost within the hold, then kept": ([1, 3, 3, 1, 1, 3, 3, 3, 3, 3], 3, 2, 6),
    "the same without a hold": ([1, 3, 3, 1, 1, 3, 3, 3, 3, 3], 3, 0, 2),
    "ends before the hold is over": ([1, 1, 3, 3, 3], 3, 2, None),
    "hold just long enough": ([1, 1, 3, 3, 3, 3], 3, 2, 3),
    "shorter than a window": ([3, 3], 3, 0, None),
    "recovered from the first window": ([3, 3, 3, 3], 3, 1, 2),
}


@pytest.mark.parametrize("name", RECOVERY)
def test_recovery(name):
    """Recovered at the end of the first trailing window whose median reaches 2 and stays there for `hold` more measurements."""
    ranks, window, hold, expected = RECOVERY[name]
    assert find_recovery([(ranks, 2.0)], window, hold) == expected


def test_effective_recovery_needs_both_at_once():
    """Rank and residual must have recovered in the same window: one after the other's relapse is none."""
    rank, late = [3, 3, 3, 3, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]
    assert find_recovery([(rank, 2.0)], 2, 1) == 1 and find_recovery([(late, 0.6)], 2, 1) == 5
    assert find_recovery([(rank, 2.0), (late, 0.6)], 2, 1) is None
    assert find_recovery([([3] * 8, 2.0), (late, 0.6)], 2, 1) == 5
    with pytest.raises(ValueError, match="shorter"):
        find_recovery([([3, 3], 2.0), ([1], 0.5)], 1, 0)


def test_at_floor_counts_as_collapsed():
    """A rank whose residual is rounding error reads 1, so that it can be collapsed and cannot have recovered."""
    ranks = collapsed_rank([3.9, 3.9, 3.9, 3.9], [False, True, True, True])
    assert ranks == [3.9, 1.0, 1.0, 1.0]
    assert find_collapse([0, 5, 10, 15], ranks, 1.5, 0) == 1
    assert find_recovery([(ranks, 2.0)], 3, 0) is None and find_recovery([([3.9] * 4, 2.0)], 3, 0) == 2


def test_medians_trail():
    """A median looks back only, is absent until its window is full, and averages the middle two of an even window."""
    assert trailing_medians([5, 1, 3, 9], 3) == [None, None, 3, 3]
    assert trailing_medians([5, 1, 3, 9], 2) == [None, 3, 2, 6]
    assert trailing_medians([5, 1], 1) == [5, 1]
