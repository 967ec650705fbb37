"""Attrition: of the units a prediction was registered for, which ran, which were left out, and whether that decides the verdict; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from audit.finding import Refusal
from audit.quantities import find_quantity, summarise
from audit.records import Quantity
from audit.registration import Prediction
from audit.verdict import judge_prediction

__all__ = ["Attrition", "population_of", "trace_attrition"]

COUNTED = ("count", "share")
COUNTABLE = frozenset({"op", "value", "low", "high", "than", "band", "order", "units"})
"""What a comparator may have for its excluded units to be counted against it."""


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
    """Units that have a value in the record; None where its values need not be units."""
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


def population_of(prediction: Prediction) -> tuple[str | None, int | None]:
    """The seed set a prediction is about and at how many depths each seed runs, where it says so."""
    population = prediction.population
    if population is None:
        return None, None
    return population.set, 1 if population.depths is None else len(population.depths)


def trace_attrition(prediction: Prediction, sets: Mapping[str, int], record: Any, verdict: str) -> Attrition:
    """The attrition of one judged prediction, from the sizes of its seed sets and the record that holds its metric."""
    place = prediction.metric.file
    observed = find_quantity(record, prediction.metric.key, place)
    gauges = [find_quantity(record, rule.key, place) for rule in prediction.undecided or ()]
    gauge = next((found for found in gauges if found.summary == "count"), None)
    seed_set, depths = population_of(prediction)
    seeds = sets[seed_set] if seed_set in sets else sum(sets.values())
    registered = seeds * depths if depths else None
    run = count_run(prediction, observed)
    excluded = count_excluded(registered, run, gauge, seeds if seed_set or len(sets) == 1 else 0)
    return Attrition(
        prediction=prediction,
        verdict=verdict,
        seeds=seeds,
        registered=registered,
        run=run,
        excluded=excluded,
        rule=prediction.exclusion(),
        against=count_against(prediction, record, observed, verdict, excluded),
    )


def count_run(prediction: Prediction, observed: Quantity) -> int | None:
    """Units that have a value; None also of a mean that is not compared unit by unit, whose values may be one a stratum."""
    strata = observed.summary == "mean" and prediction.comparator.units is None
    return None if observed.values is None or strata else len(observed.values)


def count_excluded(registered: int | None, run: int | None, gauge: Quantity | None, least: int) -> int | None:
    """Units without a value: of the registered ones, else of those that the gauge of the frozen rule looked at, else of one for each seed."""
    looked = len(gauge.values) if gauge and gauge.values else None
    expected = registered if registered is not None else looked
    if run is None:
        return None
    if expected is None:
        return least - run if run < least else None  # one unit a seed is the least; how many there should be, nothing says
    if run <= expected:
        return expected - run
    dropped = sum(1 for value in gauge.values or () if not value) if gauge and looked is not None else 0
    kept = expected - dropped
    return dropped * (run // kept) if kept > 0 and run % kept == 0 else None  # several values a unit: branches, blocks


def count_against(prediction: Prediction, record: Any, observed: Quantity, verdict: str, excluded: int | None) -> str | None:
    """The verdict if no excluded unit had gone the way of the prediction; None where the metric is no count over units."""
    if verdict == "missed" or excluded == 0:
        return verdict
    if excluded is None or not COUNTABLE.issuperset(prediction.comparator.model_dump(exclude_none=True)):
        return None
    try:
        held = holds_at_worst(prediction, record, observed, excluded)
    except Refusal:
        return None
    return None if held is None else verdict if held else "missed"


def holds_at_worst(prediction: Prediction, record: Any, observed: Quantity, excluded: int) -> bool | None:
    """Whether the comparison holds whatever the excluded units would have been: judged again with none and with all of them counted."""
    found = {key: find_quantity(record, key, prediction.metric.file) for key in rivals_of(prediction)} | {prediction.metric.key: observed}
    if prediction.comparator.units is not None:
        return compares(prediction, found)  # at least so many: a unit that is not there does not compare
    if any(quantity.summary not in COUNTED for quantity in found.values()):
        return None
    corners = product(*([(key, added) for added in (0, excluded)] for key in found))
    return all(compares(prediction, {key: add_units(found[key], excluded, added) for key, added in corner}) for corner in corners)


def rivals_of(prediction: Prediction) -> tuple[str, ...]:
    """Keys of the quantities that the metric is compared with."""
    than = prediction.comparator.than
    named = () if than is None else (than,) if isinstance(than, str) else than
    return (*named, *(prediction.comparator.order or ()))


def compares(prediction: Prediction, quantities: Mapping[str, Quantity]) -> bool:
    """Whether a record with these quantities would meet the prediction, undecided aside."""
    record: dict[str, Any] = {}
    for key, quantity in quantities.items():
        *folders, name = key.split(".")
        place = record
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = quantity.model_dump(mode="json")
    return judge_prediction(prediction.model_copy(update={"undecided": None}), record).verdict == "met"


def add_units(quantity: Quantity, excluded: int, counted: int) -> Quantity:
    """A count or share with the excluded units in it, so many of them counted."""
    values = (*(quantity.values or ()), *(1,) * counted, *(0,) * (excluded - counted))
    return quantity.model_copy(update={"values": values, "value": summarise(str(quantity.summary), values)})
