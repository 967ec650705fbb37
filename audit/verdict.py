"""The judge: from a registration and records to met, missed or undecided; pure, and frozen by the seal that uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from audit.finding import Refusal
from audit.quantities import find_quantity
from audit.records import Quantity
from audit.registration import OPERATORS, Comparator, Prediction, Registration

Verdict = Literal["met", "missed", "undecided"]


@dataclass(frozen=True)
class Judgement:
    """One prediction with the metric as it was found and the verdict that follows."""

    prediction: Prediction
    observed: Quantity
    verdict: Verdict
    units: tuple[bool, ...] | None = None
    """Where a prediction is about units: whether each of them compares as registered."""


def judge(registration: Registration, read: Callable[[str], Any]) -> tuple[Judgement, ...]:
    """Judge every prediction; `read` gives the plain record at a path."""
    read_once = cache(read)
    return tuple(judge_prediction(prediction, read_once(prediction.metric.file)) for prediction in registration.predictions)


def judge_prediction(prediction: Prediction, record: Any) -> Judgement:
    """Judge one prediction from the record that holds its metric."""
    place, comparator = prediction.metric.file, prediction.comparator
    observed = find_quantity(record, prediction.metric.key, place)
    rival = find_quantity(record, comparator.than, place) if comparator.than else None
    units = compare_units(comparator, observed, rival, place) if comparator.units else None
    if prediction.undecided:
        gauge = find_quantity(record, prediction.undecided.key, place)
        if OPERATORS[prediction.undecided.op](gauge.value, prediction.undecided.value):
            return Judgement(prediction, observed, "undecided", units)
    if units is None or comparator.units is None:
        met = holds(comparator, observed.value, rival.value if rival else None)
    else:
        met = sum(units) >= comparator.units
    return Judgement(prediction, observed, "met" if met else "missed", units)


def compare_units(comparator: Comparator, observed: Quantity, rival: Quantity | None, place: str) -> tuple[bool, ...]:
    """Whether each unit's value compares as registered, with the rival's value of the same unit where there is one."""
    values = observed.values
    rivals = rival.values if rival else (None,) * len(values or ())
    if values is None or rivals is None or len(values) != len(rivals):
        raise Refusal(place, "a comparison per unit needs one value per unit", expected="`values` of equal length", cure="correct the metric")
    return tuple(holds(comparator, value, other) for value, other in zip(values, rivals, strict=True))


def holds(comparator: Comparator, value: float, rival: float | None) -> bool:
    """Whether one number compares with the target."""
    if comparator.op == "in":
        assert comparator.low is not None and comparator.high is not None
        return comparator.low <= value <= comparator.high
    target = comparator.value if rival is None else rival
    return bool(OPERATORS[comparator.op](value, target))


def reading_of(registration: Registration, verdicts: dict[str, str]) -> str | None:
    """The reading that was fixed in advance for these verdicts: the first whose conditions all hold."""
    for reading in registration.readings:
        if all(verdicts.get(name) == wanted for name, wanted in reading.when.items()):
            return reading.text
    return None
