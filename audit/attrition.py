"""Attrition: of the units a prediction was registered for, which ran, which were left out, and whether that decides the verdict; pure."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from itertools import product
from typing import Any

from audit.finding import Refusal
from audit.quantities import find_quantity
from audit.records import Quantity
from audit.registration import Prediction, Registration
from audit.verdict import compare_units, holds

__all__ = ["Attrition", "population_of", "trace_attrition"]

COUNTED = ("count", "share")


@dataclass(frozen=True)
class Attrition:
    """One prediction: how many units were registered, ran and were left out, and what its verdict would be with those against it."""

    prediction: Prediction
    verdict: str
    seeds: int
    """Seeds of the set the prediction is about (of all sets where it names none)."""
    registered: int | None
    """Seeds times depths, where the registration states its population."""
    run: int | None
    """Units that have a value in the record."""
    excluded: int | None
    """Units that were registered or looked at and are not among the values; None where that cannot be told."""
    rule: str
    """The frozen rule by which units drop out, in short; "" where there is none."""
    against: str | None
    """The verdict with every excluded unit counted against the prediction; None where it cannot be counted."""

    @property
    def flips(self) -> bool:
        """Whether the verdict is another one when excluded units count against the prediction."""
        return self.against is not None and self.against != self.verdict

    @property
    def surplus(self) -> bool:
        """Whether the record has values that are no registered units."""
        if self.registered is None or self.run is None or self.run <= self.registered:
            return False
        return self.prediction.comparator.units is not None or self.run % self.registered != 0


def population_of(registration: Registration, prediction: Prediction) -> tuple[str | None, int | None]:
    """The seed set a prediction is about and at how many depths each seed runs, where it (or its registration) says so."""
    population = getattr(prediction, "population", None) or getattr(registration, "population", None)
    depths = getattr(population, "depths", None)
    return getattr(population, "set", None), len(depths) if isinstance(depths, Sized) else depths


def trace_attrition(registration: Registration, prediction: Prediction, record: Any, verdict: str) -> Attrition:
    """The attrition of one judged prediction, from the record that holds its metric."""
    place = prediction.metric.file
    observed = find_quantity(record, prediction.metric.key, place)
    gauge = find_quantity(record, prediction.undecided.key, place) if prediction.undecided else None
    seed_set, depths = population_of(registration, prediction)
    sets = registration.seeds.sets
    seeds = sets[seed_set] if seed_set in sets else sum(sets.values())
    registered = seeds * depths if depths else None
    run = len(observed.values) if observed.values is not None else None
    excluded = count_excluded(registered, run, gauge)
    return Attrition(
        prediction=prediction,
        verdict=verdict,
        seeds=seeds,
        registered=registered,
        run=run,
        excluded=excluded,
        rule=f"{prediction.undecided.key} {prediction.undecided.op} {prediction.undecided.value}" if prediction.undecided else "",
        against=count_against(prediction, record, observed, verdict, excluded),
    )


def count_excluded(registered: int | None, run: int | None, gauge: Quantity | None) -> int | None:
    """Units without a value: of the registered ones, else of those that the gauge of the frozen rule looked at."""
    looked = len(gauge.values) if gauge and gauge.summary == "count" and gauge.values else None
    expected = registered if registered is not None else looked
    if run is None:
        return None
    if expected is None:
        return 0  # nothing says how many units there should be, so none is known to be missing
    if run <= expected:
        return expected - run
    dropped = sum(1 for value in gauge.values or () if not value) if gauge and looked is not None else 0
    kept = expected - dropped
    return dropped * (run // kept) if kept > 0 and run % kept == 0 else None  # several values a unit: branches, blocks


def count_against(prediction: Prediction, record: Any, observed: Quantity, verdict: str, excluded: int | None) -> str | None:
    """The verdict if no excluded unit had gone the way of the prediction; None where the metric is no count over units."""
    if verdict == "missed" or excluded == 0:
        return verdict
    if excluded is None:
        return None
    held = holds_at_worst(prediction, record, observed, excluded)
    return None if held is None else verdict if held else "missed"


def holds_at_worst(prediction: Prediction, record: Any, observed: Quantity, excluded: int) -> bool | None:
    """Whether the comparison holds whatever the excluded units would have been counted as."""
    comparator, place = prediction.comparator, prediction.metric.file
    rival = find_quantity(record, comparator.than, place) if comparator.than else None
    if comparator.units is not None:
        try:
            return sum(compare_units(comparator, observed, rival, place)) >= comparator.units
        except Refusal:
            return None
    if observed.summary not in COUNTED or (rival is not None and rival.summary not in COUNTED):
        return None
    rivals = range_of(rival, excluded) if rival else (None,)
    return all(holds(comparator, value, other) for value, other in product(range_of(observed, excluded), rivals))


def range_of(quantity: Quantity, excluded: int) -> tuple[float, ...]:
    """The least and the greatest that a count or share could have been with the excluded units in it, and all between."""
    values = quantity.values or ()
    counted = sum(1 for value in values if value)
    whole = len(values) + excluded
    return tuple((counted + more) / (whole if quantity.summary == "share" else 1) for more in range(excluded + 1))
