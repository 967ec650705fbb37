"""Quantities inside plain records: found by key, walked, and their summaries computed again."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from audit.finding import Refusal
from audit.records import Quantity, parse_model

PLAIN = frozenset({float, int, bool, str, type(None)})


def is_quantity(value: Any) -> bool:
    """Whether a plain value is written as a quantity: an object with `value` and `unit`."""
    return isinstance(value, dict) and "value" in value and "unit" in value


def walk_quantities(value: Any, key: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every quantity of a record with its dotted key, list items by index."""
    if is_quantity(value):
        yield key, value
        return
    if isinstance(value, list | tuple) and PLAIN.issuperset(map(type, value)):
        return  # a series of numbers holds no quantity, and most of a record is series
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for name, child in children:
        yield from walk_quantities(child, f"{key}.{name}" if key else str(name))


def find_quantity(record: Any, key: str, place: str) -> Quantity:
    """The quantity at a dotted key of a plain record; an unknown key names the nearest ones."""
    value = record
    for part in key.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            value = None
    if is_quantity(value):
        return parse_model(Quantity, value, f"{place}:{key}")
    known = [name for name, _ in walk_quantities(record)]
    nearest = ", ".join(get_close_matches(key, known, n=3, cutoff=0.3)) or "none"
    what = f"no quantity at key {key!r}" if value is None else f"key {key!r} ends at no quantity"
    raise Refusal(place, what, observed=f"nearest keys: {nearest}", cure="correct the key, or rerun the stage that writes it")


def summarise(summary: str, values: Sequence[float]) -> float:
    """The summary of per-unit values, as `Quantity.summary` names it."""
    nonzero = sum(1 for value in values if value)
    match summary:
        case "median":
            return statistics.median(values)
        case "mean":
            return math.fsum(values) / len(values)
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "sum":
            return math.fsum(values)
        case "count":
            return nonzero
    return nonzero / len(values)


def summary_fault(quantity: Quantity) -> str | None:
    """What the summary should be when it does not follow from the values (to float round-off), or None."""
    if quantity.summary is None:
        return None
    if not quantity.values:
        return None if quantity.summary in ("count", "sum") and quantity.value == 0 else "values to summarise"
    try:
        again = summarise(quantity.summary, quantity.values)
        float(quantity.value)
    except OverflowError:
        return "numbers that a float can hold"
    return None if math.isclose(again, quantity.value, rel_tol=1e-12, abs_tol=1e-300) else repr(again)


def differences(one: Any, other: Any) -> set[str]:
    """Keys of the quantities that both records have and that differ by more than the first one's tolerance."""
    first, second = dict(walk_quantities(one)), dict(walk_quantities(other))
    return {key for key in first.keys() & second.keys() if _moved(first[key], second[key])}


def _moved(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    before, after, tolerance = one["value"], other["value"], one.get("tolerance", 0)
    if not all(isinstance(number, int | float) for number in (before, after, tolerance)):
        return bool(before != after)
    return bool(abs(before - after) > tolerance)
