"""When a run crashes, read from its loss alone, and how well a reading at one step forewarns of it: pure functions, free of torch.

A warning is scored within strata (one learning rate, say): across them every reading that follows the learning rate would look like a sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal, NamedTuple

import numpy as np
import scipy

from rankcollapse.events import trailing_medians
from rankcollapse.statistics import Null, add_independent

WINDOW = 3
"""Measurements of a trailing median: one stray measurement is no crash."""
MOST_RUNS = 56
"""Runs of a stratum up to which the counts of an exact p are whole numbers in double precision."""
Sign = Literal["higher", "lower"]
SIGNS: Mapping[str, Sign] = {
    "sec_max": "higher", "sec_mean": "higher", "sigma_max": "higher", "logit_max": "higher", "gradient_norm": "higher", "loss": "higher",
    "learning_rate": "higher", "entropy_min": "lower", "entropy_mean": "lower", "map_rank_min": "lower", "rank": "lower", "residual": "lower",
}  # fmt: skip
"""Which values of a reading forewarn of a crash, fixed in advance: high concentration, large logits, low entropy, low rank."""


class Crash(NamedTuple):
    """How a run went."""

    step: int | None
    """The step of the first measurement from which its loss had risen for good, or at which it diverged; None without a crash."""
    rise: float | None
    """Nats between the last trailing median and the smallest one before the crash; None without a crash or where the run diverged."""
    unlearnt: bool
    """Whether its last trailing median lay above the loss that counts as having learnt."""

    @property
    def crashed(self) -> bool:
        """Whether it did."""
        return self.step is not None


def find_crash(
    step: Sequence[int], loss: Sequence[float], rise: float, *, learned: float = inf, diverged_at: int | None = None, window: int = WINDOW
) -> Crash:
    """The crash of a run with these measurements of the probe loss (nats per token), if it crashed.

    It crashes at the first measurement whose trailing median lies at least `rise` above the smallest trailing median before it, unless a
    later one comes back to within rise / 2 of that. A loss that is not finite, and a run that diverged, have crashed whatever comes after.
    ValueError where steps do not rise or are not as many as losses.
    """
    if len(step) != len(loss) or any(one >= other for one, other in zip(step, step[1:])):
        raise ValueError("one loss a step, steps rising")
    medians = [inf if value is None else value for value in trailing_medians([value if isfinite(value) else inf for value in loss], window)]
    unlearnt = medians[-1] > learned if medians else learned < inf
    place = find_rise(medians, rise)
    lost = next((index for index, value in enumerate(loss) if not isfinite(value)), None)
    times = [step[index] for index in (place, lost) if index is not None] + ([] if diverged_at is None else [diverged_at])
    if not times:
        return Crash(None, None, unlearnt)
    if place is None or lost is not None or diverged_at is not None:
        return Crash(min(times), None, unlearnt)
    return Crash(min(times), medians[-1] - min(medians[:place]), unlearnt)


def find_rise(medians: Sequence[float], rise: float) -> int | None:
    """Index of the first value at least `rise` above the smallest one before it that no later value undoes by more than half."""
    least = inf
    for place, value in enumerate(medians):
        if value >= least + rise and min(medians[place:]) > least + rise / 2:
            return place
        least = min(least, value)
    return None


@dataclass(frozen=True)
class Watched:
    """One run as a warning sees it."""

    name: str
    stratum: str
    """Runs are compared with those of the same stratum alone."""
    value: float
    """The reading at the step of the warning."""
    crash: int | None
    """Step of its crash."""
    end: int
    """Last step at which it was looked at."""


@dataclass(frozen=True)
class Warned:
    """How well a reading orders runs that crash soon above those that do not."""

    auc: float | None
    """Share of pairs (a run that crashes, one that does not, of one stratum) that it orders rightly, ties half; None without a pair."""
    by_stratum: dict[str, float]
    p: float
    """Chance of as large a share if crashes fell on the runs of each stratum at random; exact, one-sided."""
    crashing: int
    """Runs that crash in time, in strata that have both kinds."""
    lasting: int
    """Runs that do not, in the same strata."""
    pairs: int
    excluded: int
    """Runs left out because they had crashed before a warning could have helped."""
    idle: int
    """Runs in strata of one kind, which order nothing."""


def score_warning(runs: Sequence[Watched], at: int, lead: int, horizon: int, sign: Sign = "higher") -> Warned:
    """How well the readings at step `at` forewarn of a crash in (at + lead, at + horizon].

    Runs that crashed up to at + lead are left out; strata count by their pairs. ValueError where a reading is not finite, a name stands
    twice, or a run that did not crash was not looked at until at + horizon.
    """
    kept = [run for run in runs if run.crash is None or run.crash > at + lead]
    check_watched(runs, kept, at, lead, horizon)
    strata: dict[str, list[Watched]] = {}
    for run in kept:
        strata.setdefault(run.stratum, []).append(run)
    split = {name: split_runs(members, at + horizon, sign) for name, members in sorted(strata.items())}
    counted = {name: pair for name, pair in split.items() if all(pair)}
    numbers = [sum(len(pair[side]) for pair in counted.values()) for side in (0, 1)]
    auc, p, by_stratum, pairs = pool_pairs(counted)
    return Warned(auc, by_stratum, p, *numbers, pairs, len(runs) - len(kept), len(kept) - sum(numbers))


def check_watched(runs: Sequence[Watched], kept: Sequence[Watched], at: int, lead: int, horizon: int) -> None:
    """ValueError for what cannot be scored."""
    if not 0 <= lead < horizon:
        raise ValueError(f"a lead of {lead} steps that is shorter than the horizon of {horizon}")
    if len({run.name for run in runs}) < len(runs):
        raise ValueError("each run once")
    for run in kept:
        if not isfinite(run.value):
            raise ValueError(f"run {run.name}: a finite reading")
        if run.crash is None and run.end < at + horizon:
            raise ValueError(f"run {run.name}: looked at until step {run.end}, not {at + horizon}")


def split_runs(runs: Sequence[Watched], until: int, sign: Sign) -> tuple[list[float], list[float]]:
    """Readings of the runs that crash in time and of those that do not, turned so that larger ones warn."""
    sides: tuple[list[float], list[float]] = ([], [])
    for run in runs:
        sides[0 if run.crash is not None and run.crash <= until else 1].append(run.value if sign == "higher" else -run.value)
    return sides


def pool_pairs(strata: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> tuple[float | None, float, dict[str, float], int]:
    """Share of rightly ordered pairs over all strata, its exact p, the share in each stratum, and the number of pairs."""
    null, right, pairs, shares = Null(np.zeros(1), np.ones(1)), 0.0, 0, {}
    for name, (crashing, lasting) in strata.items():
        own, number = count_right(crashing, lasting), len(crashing) * len(lasting)
        null = add_independent(null, pair_null([*crashing, *lasting], len(crashing)))
        right, pairs, shares[name] = right + own, pairs + number, own / number
    return (right / pairs if pairs else None), null.at_least(right), shares, pairs


def count_right(crashing: Sequence[float], lasting: Sequence[float]) -> float:
    """Pairs in which the run that crashes has the larger value, ties half (Mann-Whitney's U)."""
    differences = np.subtract.outer(np.asarray(crashing, float), np.asarray(lasting, float))
    return float((differences > 0).sum() + (differences == 0).sum() / 2)


def pair_null(values: Sequence[float], chosen: int) -> Null:
    """Exact distribution of U when any `chosen` of the values are those that crash, ties as they are; ValueError beyond `MOST_RUNS`."""
    if len(values) > MOST_RUNS:
        raise ValueError(f"at most {MOST_RUNS} runs in a stratum, not {len(values)}")
    doubled = np.rint(2 * scipy.stats.rankdata(values)).astype(int)
    counts = np.zeros((chosen + 1, int(doubled.sum()) + 1))
    counts[0, 0] = 1
    for rank in doubled:
        for number in range(chosen, 0, -1):  # each value at most once
            counts[number, rank:] += counts[number - 1, : counts.shape[1] - rank]
    sums = np.flatnonzero(counts[chosen])
    return Null((sums - chosen * (chosen + 1)) / 2, counts[chosen][sums])


def score_readings(
    readings: Mapping[str, Sequence[float]], runs: Sequence[Watched], at: int, lead: int, horizon: int, signs: Mapping[str, Sign] = SIGNS
) -> dict[str, Warned]:
    """The score of every reading, a predictor and its rivals alike, on the same runs: values by name, in the order of the runs."""
    scores = {}
    for name, values in readings.items():
        watched = [Watched(run.name, run.stratum, float(value), run.crash, run.end) for run, value in zip(runs, values, strict=True)]
        scores[name] = score_warning(watched, at, lead, horizon, signs[name])
    return scores
