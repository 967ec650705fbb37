"""The registrations of the study at smoke scale: the same predictions about fewer networks, their counts in proportion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

DRIVEN = {"main": 1, "replication": 2, "bursts": 2, "spectral": 8, "restart": 8}
"""Seeds of each registered set that are run here; of the last two a quarter, as of those that get every arm (`few`: 2 of 8)."""
COUNTED = ("count", "sum")
"""Summaries whose targets count units."""


def scale_down(registrations: Mapping[str, Any]) -> None:
    """Hold each registration, by id, for the smoke scale, with the seeds that are run here; what counts networks, counts so many of those."""
    shares = {name: draw_seeds(registration) for name, registration in registrations.items() if "sets" in registration["seeds"]}
    for name, registration in registrations.items():
        registration["holds_for"]["scale"] = "smoke"
        frozen = registration["freezes"].get("parameters") or []
        frozen[:] = [key.replace("scales.laptop", "scales.smoke") for key in frozen]
        scale_predictions(registration, shares[registration["seeds"].get("same_as", name)])


def draw_seeds(registration: Any) -> Fraction:
    """Give its sets the seeds that are run here; their share of the registered ones."""
    sets, share = registration["seeds"]["sets"], Fraction(1)
    for name, number in sets.items():
        share, sets[name] = Fraction(DRIVEN[name], number), DRIVEN[name]
    return share


def scale_predictions(registration: Any, share: Fraction) -> None:
    """The predictions of a registration in proportion."""
    for prediction in registration["predictions"]:
        for part in parts_of(prediction["comparator"]):
            scale_targets(part, share, prediction["metric"].get("summary") in COUNTED)
        for rule in rules_of(prediction):
            rule["value"] = scale_count(rule["value"], share)


def parts_of(comparator: Any) -> list[Any]:
    """The comparisons of a prediction."""
    return comparator.get("all") or [comparator]


def rules_of(prediction: Any) -> Iterator[Any]:
    """What may leave a prediction undecided; counts, all of them."""
    given = prediction.get("undecided") or []
    yield from given if isinstance(given, list) else [given]


def scale_targets(part: Any, share: Fraction, counts: bool) -> None:
    """Units in proportion; values too, where the metric counts."""
    if "units" in part:
        part["units"] = scale_count(part["units"], share)
    for name in ("value", "low", "high"):
        if counts and isinstance(part.get(name), int):
            part[name] = scale_count(part[name], share)


def scale_count(number: int, share: Fraction) -> int:
    """So many of the networks that are driven here."""
    return math.ceil(number * share)
