"""Detection, settling and recovery: pure functions of a trajectory, with thresholds given, never built in.

Rules of the source paper, appendix A, with medians over measurements instead of steps: collapsed below a share of the
healthy rank; settled at the first measurement at least `after` steps later whose trailing median is still below it, unless it healed before;
recovered at the end of the first trailing window whose median reaches the recovery threshold and stays for `hold`
further measurements. A rank at floor (its residual is rounding error) counts as collapsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from rankcollapse.params import Rules


class Measured(Protocol):
    """What the rules read of a trajectory, one entry a measurement."""

    @property
    def rank(self) -> Sequence[float]: ...
    @property
    def residual(self) -> Sequence[float]: ...
    @property
    def at_floor(self) -> Sequence[bool]: ...


@dataclass(frozen=True)
class Settled:
    """A run may stop once its collapse has settled: the stop rule of a driver."""

    threshold: float
    start: int
    after: int
    window: int

    def __call__(self, steps: Sequence[int], ranks: Sequence[float]) -> bool:
        return find_lasting(steps, ranks, self.threshold, self.start, self.after, self.window) is not None


def collapsed_rank(ranks: Sequence[float], at_floor: Sequence[bool]) -> list[float]:
    """Ranks with those at floor set to 1, the value of a collapse."""
    return [1.0 if floor else rank for rank, floor in zip(ranks, at_floor, strict=True)]


def find_collapse(steps: Sequence[int], ranks: Sequence[float], threshold: float, start: int) -> int | None:
    """Index of the first measurement after step `start` with a rank below the threshold."""
    return next((i for i, step in enumerate(steps) if step > start and ranks[i] < threshold), None)


def trailing_medians(values: Sequence[float], window: int) -> list[float | None]:
    """Median of the last `window` values at each measurement; None before there are as many."""
    return [None if i + 1 < window else median(values[i + 1 - window : i + 1]) for i in range(len(values))]


def find_settled(steps: Sequence[int], ranks: Sequence[float], threshold: float, detected: int, after: int, window: int) -> int | None:
    """Index of the measurement at which a collapse detected at index `detected` has settled."""
    medians = trailing_medians(ranks, window)
    due = steps[detected] + after
    return next((i for i, step in enumerate(steps) if step >= due and medians[i] is not None and medians[i] < threshold), None)


def find_healed(ranks: Sequence[float], threshold: float, detected: int, window: int) -> int | None:
    """Index of the end of the first whole window after a detection of which no measurement is below the threshold."""
    ends = range(detected + window, len(ranks))
    return next((i for i in ends if min(ranks[i + 1 - window : i + 1]) >= threshold), None)


def find_lasting(
    steps: Sequence[int], ranks: Sequence[float], threshold: float, start: int, after: int, window: int
) -> tuple[int, int] | None:
    """Indices of the detection and of the settling of the first collapse that settles; None without one.

    A dip that healed before, such as the end of a healthy network's early one, is not where the collapse was detected.
    """
    while (detected := find_collapse(steps, ranks, threshold, start)) is not None:
        settled, healed = find_settled(steps, ranks, threshold, detected, after, window), find_healed(ranks, threshold, detected, window)
        if settled is not None and (healed is None or settled < healed):
            return detected, settled
        if healed is None:
            return None
        start = steps[healed]
    return None


def find_recovery(series: Sequence[tuple[Sequence[float], float]], window: int, hold: int) -> int | None:
    """Index of the end of the first trailing window in which the median of every series reaches its threshold, held for `hold` more.

    One series (rank) gives the paper's rule; rank and residual together give an effective recovery.
    """
    reached = [all(row) for row in zip(*([m is not None and m >= t for m in trailing_medians(v, window)] for v, t in series), strict=True)]
    return next((i for i in range(len(reached) - hold) if all(reached[i : i + hold + 1])), None)


def find_return(run: Measured, rules: Rules, rank: float, residual: float | None = None) -> int | None:
    """Index of the measurement at which a branch recovers by rank, or effectively where a residual is asked for too; None where it does not."""
    series = [(collapsed_rank(run.rank, run.at_floor), rank), *([] if residual is None else [(run.residual, residual)])]
    return find_recovery(series, rules.recover_window, rules.recover_hold)
