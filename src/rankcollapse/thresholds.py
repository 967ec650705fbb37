"""The threshold that a registered test freezes, and what it is compared with: the majority class, and depth alone.

A rival's threshold is fitted by the same rule, on scores turned by `statistics.align`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

ABOVE = 1e-9
"""Relative distance of "just above the largest score": far above round-off, since next to 0 the next number is one that processors flush to 0."""


@dataclass(frozen=True)
class Threshold:
    """A threshold fitted by the fixed rule; scores at or above it are classified as recovering."""

    value: float
    errors: int
    separates: bool
    chance: float
    """Chance of no more errors when any events could have been the recovering ones; 1 / C(n, k) where it separates."""


def least_errors(scores: Sequence[float], recovered: Sequence[bool]) -> tuple[int, float]:
    """Fewest errors of any threshold, and the largest threshold with as few.

    Candidates are the midpoints between neighbours, the smallest score (all recover) and just above the largest (none does).
    """
    if not scores:
        raise ValueError("scores to put a threshold between")
    ordered = sorted(set(scores))
    above = ordered[-1] + ABOVE * max(abs(ordered[-1]), 1.0)
    candidates = [ordered[0], *((low + high) / 2 for low, high in zip(ordered, ordered[1:], strict=False)), above]
    counts = [(sum((score >= value) != flag for score, flag in zip(scores, recovered, strict=True)), -value) for value in candidates]
    errors, negative = min(counts)
    return errors, -negative


def chance_of_errors(events: int, recoveries: int, errors: int) -> float:
    """Chance that a free threshold makes at most so many errors when each choice of the recovering events is as likely; no ties.

    A threshold's labels are a walk of steps up (recovering, from the top score down) and down: errors are recoveries minus its
    highest point. Counted by the reflection principle, so that 0 errors gives 1 / C(n, k).
    """
    highest = recoveries - errors
    failures = events - recoveries
    if highest <= max(0, recoveries - failures):
        return 1.0
    return comb(events, recoveries - highest) / comb(events, recoveries)


def fit_threshold(scores: Sequence[float], recovered: Sequence[bool], least: int = 2) -> Threshold | None:
    """The frozen threshold of a depth: midpoint between the lowest recovering and the highest failing score, else least errors.

    Scores lie on the scale in which the midpoint is taken (log10 of a gradient), larger meaning recovery. None with fewer than
    `least` events of either class: a count, so that the test it serves is undecided.
    """
    if smallest_class(recovered) < least:
        return None
    low = min(score for score, flag in zip(scores, recovered, strict=True) if flag)
    high = max(score for score, flag in zip(scores, recovered, strict=True) if not flag)
    errors, value = (0, (low + high) / 2) if low > high else least_errors(scores, recovered)
    return Threshold(value, errors, low > high, chance_of_errors(len(scores), sum(map(bool, recovered)), errors))


def smallest_class(recovered: Sequence[bool]) -> int:
    """Events in the smaller of the two outcome classes."""
    return min(sum(map(bool, recovered)), sum(not flag for flag in recovered))


def classify(scores: Sequence[float], thresholds: Sequence[float]) -> list[bool]:
    """Which events are predicted to recover: score at or above the threshold of their depth."""
    return [score >= threshold for score, threshold in zip(scores, thresholds, strict=True)]


def majority(recovered: Sequence[bool]) -> bool:
    """The larger class; recovery where both are as large or there is none."""
    return 2 * sum(map(bool, recovered)) >= len(recovered)


def classify_by_depth(main: Sequence[tuple[str, bool]], depths: Sequence[str]) -> list[bool]:
    """The rival that knows the depth only: each depth's majority class in main, the pooled one where a depth is divided or absent."""
    pooled = majority([flag for _, flag in main])
    own = {depth: [flag for other, flag in main if other == depth] for depth in depths}
    divided = {depth for depth, flags in own.items() if 2 * sum(flags) == len(flags)}
    return [pooled if depth in divided else majority(own[depth]) for depth in depths]


def correct(predicted: Sequence[bool], recovered: Sequence[bool]) -> list[bool]:
    """Per event, whether it was classified as it came out."""
    return [bool(one) == bool(other) for one, other in zip(predicted, recovered, strict=True)]
