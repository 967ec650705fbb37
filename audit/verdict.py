"""The judge: from a registration and records to met, missed or undecided; pure, and frozen by the seal that uses it.

Within the tolerance that a registration seals for a metric a comparison says neither yes nor no (None), and a conjunction or a count
over such answers follows Kleene's logic; what stays open in the end is undecided. Without a sealed tolerance there is no None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from audit.finding import Refusal
from audit.predictions import OPERATORS, Comparison, Part, Prediction, Source
from audit.quantities import find_quantity
from audit.records import Quantity
from audit.registration import Registration

Verdict = Literal["met", "missed", "undecided"]
Truth = bool | None


@dataclass(frozen=True)
class Judgement:
    """One prediction with the metric as it was found and the verdict that follows."""

    prediction: Prediction
    observed: Quantity
    verdict: Verdict
    units: tuple[bool, ...] | None = None
    """Where a prediction is about units: whether each of them compares as registered."""
    correlation: float | None = None
    """Where it is about a rank correlation: the one found; None also where one side has one value only."""


def judge(registration: Registration, read: Callable[[str], Any]) -> tuple[Judgement, ...]:
    """Judge every prediction; `read` gives the plain record at a path."""
    read_once = cache(read)
    return tuple(
        judge_prediction(prediction, read_once(prediction.metric.file), read_once, registration.units_of(prediction))
        for prediction in registration.predictions
    )


def judge_prediction(prediction: Prediction, record: Any, read: Callable[[str], Any] | None = None, most: int | None = None) -> Judgement:
    """Judge one prediction from the record that holds its metric; `read` gives frozen records, `most` is the population's size."""
    metric = prediction.metric
    observed = find_quantity(record, metric.key, metric.file)
    refuse_unsealed(prediction, observed, most)
    tolerance = metric.tolerance or 0
    bench = Bench(record, metric.file, read)
    compared = ((part, part.key if isinstance(part, Part) and part.key else metric.key) for part in prediction.comparator.parts())
    answers = [bench.compare(part, bench.find(key), tolerance if key == metric.key else 0) for part, key in compared]
    whole = prediction.comparator
    units = tuple(answer is True for answer in bench.compare_units(whole, observed, 0)) if whole.units else None
    found = correlate(*bench.values(observed, whole.rank_correlation)) if whole.rank_correlation else None
    gauges = [(rule, bench.find(rule.key).value) for rule in prediction.undecided or ()]
    answer = None if any(OPERATORS[rule.op](value, rule.value) for rule, value in gauges) else every(answers)
    return Judgement(prediction, observed, "undecided" if answer is None else "met" if answer else "missed", units, found)


def refuse_unsealed(prediction: Prediction, observed: Quantity, most: int | None) -> None:
    """Refuse a metric that is another than the registration sealed: wider tolerance, another summary, more units."""
    metric = prediction.metric
    place, cure = f"{metric.file}:{metric.key}", "rerun the stage with the code that was registered"
    if metric.tolerance is not None and observed.tolerance > metric.tolerance:
        expected, found = f"at most {metric.tolerance}, as sealed", str(observed.tolerance)
        raise Refusal(place, "declares a larger tolerance than was sealed", expected=expected, observed=found, cure=cure)
    if metric.summary is not None and observed.summary != metric.summary:
        raise Refusal(place, "is another summary than was sealed", expected=metric.summary, observed=str(observed.summary), cure=cure)
    if most is not None and len(observed.values or ()) > most:
        expected, found = f"at most {most} values, one a unit", f"{len(observed.values or ())}"
        raise Refusal(place, "has more units than its population", expected=expected, observed=found, cure=cure)


@dataclass(frozen=True)
class Bench:
    """What a metric is compared with: the quantities of its own record, and those of frozen ones."""

    record: Any
    place: str
    read: Callable[[str], Any] | None = None

    def find(self, key: str) -> Quantity:
        """A quantity of the metric's record."""
        return find_quantity(self.record, key, self.place)

    def limit(self, comparison: Comparison) -> float | None:
        """The number fixed in advance, here or in a frozen record."""
        return comparison.value if comparison.frozen is None else self.frozen(comparison.frozen)

    def frozen(self, source: Source) -> float:
        """A threshold of a frozen record."""
        if self.read is None:
            raise Refusal(source.file, "no frozen record to read the threshold from", cure="judge with `audit evaluate`")
        return find_quantity(self.read(source.file), source.key, source.file).value

    def compare(self, comparison: Comparison, observed: Quantity, tolerance: float) -> Truth:
        """Whether a quantity compares as registered."""
        if comparison.rank_correlation:
            found = correlate(*self.values(observed, comparison.rank_correlation))
            assert comparison.op is not None and comparison.value is not None
            return found is not None and OPERATORS[comparison.op](found, comparison.value)
        if comparison.units:
            return at_least(self.compare_units(comparison, observed, tolerance), comparison.units)
        rivals = [self.find(key).value for key in comparison.rivals()]
        return holds(comparison, observed.value, rivals, self.limit(comparison), tolerance)

    def compare_units(self, comparison: Comparison, observed: Quantity, tolerance: float) -> tuple[Truth, ...]:
        """Whether each unit's value compares as registered, with the rivals' values of the same unit where there are any."""
        values, *rivals = self.values(observed, *comparison.rivals())
        limit = self.limit(comparison)
        answers = tuple(holds(comparison, value, others, limit, tolerance) for value, *others in zip(values, *rivals, strict=True))
        if comparison.labels is None:
            return answers
        labels = self.values(observed, comparison.labels)[1]
        if not set(labels) <= {0, 1}:
            raise Refusal(self.place, f"{comparison.labels} holds what is no label", expected="0 or 1 for each unit", cure="correct the key")
        return tuple(None if answer is None else answer == bool(label) for answer, label in zip(answers, labels, strict=True))

    def values(self, observed: Quantity, *keys: str) -> list[tuple[float, ...]]:
        """The values per unit of the metric and of other quantities: as many of each."""
        named = [("the metric", observed.values), *((key, self.find(key).values) for key in keys)]
        lengths = {name: None if values is None else len(values) for name, values in named}
        if len(set(lengths.values())) > 1 or observed.values is None:
            shown = ", ".join(f"{name}: {'no values' if length is None else length}" for name, length in lengths.items())
            what, expected = "a comparison per unit needs one value per unit", "`values` of equal length"
            raise Refusal(self.place, what, expected=expected, observed=shown, cure="correct the metric")
        return [values for _, values in named if values is not None]


def holds(comparison: Comparison, value: float, rivals: Sequence[float], limit: float | None, tolerance: float = 0) -> Truth:
    """Whether one number compares with the target: with the limit, with every rival, or with rivals in turn."""
    op = comparison.op
    assert op is not None
    if comparison.low is not None and comparison.high is not None:
        return lies(value, comparison.low, comparison.high, tolerance)
    if comparison.order:
        later = [bool(OPERATORS[op](one, other)) for one, other in zip(rivals, rivals[1:], strict=False)]
        return every([against(op, value, rivals[0], tolerance), *later])
    targets = rivals or [limit]
    if comparison.band is not None:
        return every(lies(value, target - comparison.band, target + comparison.band, tolerance) for target in targets if target is not None)
    return every(against(op, value, target, tolerance) for target in targets if target is not None)


def against(op: str, value: float, target: float, tolerance: float) -> Truth:
    """Whether a number compares with a target, wherever it lies within the tolerance."""
    if op == "==":
        return lies(value, target, target, tolerance)
    least, most = (bool(OPERATORS[op](end, target)) for end in (value - tolerance, value + tolerance))
    return least if least == most else None


def lies(value: float, low: float, high: float, tolerance: float) -> Truth:
    """Whether a number lies in an interval, wherever it lies within the tolerance."""
    least, most = value - tolerance, value + tolerance
    if most < low or least > high:
        return False
    return True if low <= least and most <= high else None


def every(answers: Iterable[Truth]) -> Truth:
    """Whether all hold: no where one fails, open where one is."""
    found = set(answers)
    return False if False in found else None if None in found else True


def at_least(answers: Sequence[Truth], count: int) -> Truth:
    """Whether so many hold, whatever the open ones are."""
    if sum(answer is True for answer in answers) >= count:
        return True
    return False if sum(answer is not False for answer in answers) < count else None


def correlate(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rank correlation: Pearson's of the mid-ranks; None where one side has one value only (it is then missed)."""
    first, second = center_ranks(one), center_ranks(other)
    spread = sum(rank * rank for rank in first) * sum(rank * rank for rank in second)
    if spread == 0:
        return None
    root = math.isqrt(spread)
    shared = sum(a * b for a, b in zip(first, second, strict=True))
    return shared / root if root * root == spread else shared / math.sqrt(spread)


def center_ranks(values: Sequence[float]) -> list[int]:
    """Twice the mid-rank of each value less its mean: whole numbers, ties sharing one."""
    below = [sum(other < value for other in values) for value in values]
    equal = [sum(other == value for other in values) for value in values]
    return [2 * low + same - len(values) for low, same in zip(below, equal, strict=True)]


def reading_of(registration: Registration, verdicts: dict[str, str]) -> str | None:
    """The reading that was fixed in advance for these verdicts: the first whose conditions all hold."""
    for reading in registration.readings:
        if all(verdicts.get(name) == wanted for name, wanted in reading.when.items()):
            return reading.text
    return None
