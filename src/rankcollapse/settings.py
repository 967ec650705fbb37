"""The parameters of the scale in use as quantities, so that the manuscript cites what was set and types none of it; free of torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from audit.records import Provenance, Quantity, Record
from rankcollapse.params import Scale
from rankcollapse.records_results import Tree, plant

GROUPS = ("model", "optimiser", "probe", "driver", "rules", "branches", "study", "spectral", "restart")
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
"""How the entries of a list are named."""
SMALL = 1e-3
"""Below this a setting is printed as a power of ten."""


class Settings(Record):
    """What was set, not measured, by group of parameters."""

    kind: Literal["settings"] = "settings"
    version: Literal[1] = 1
    batch: Quantity
    few_events: Quantity
    """First collapses of a set that get the descriptive arms too."""
    model: Tree
    optimiser: Tree
    probe: Tree
    driver: Tree
    rules: Tree
    branches: Tree
    study: Tree
    spectral: Tree
    restart: Tree


def set_value(number: float) -> Quantity:
    """A setting with as many digits as it is written with: 0.002, 120, 1e-8."""
    exponent = int(Decimal(repr(number)).normalize().as_tuple().exponent)
    if float(number).is_integer():
        return Quantity(value=number, digits=0, style="integer", tolerance=0.0)
    if abs(number) < SMALL:
        written = Decimal(repr(number)).normalize()
        return Quantity(value=number, digits=len(written.as_tuple().digits) - 1, style="scientific", tolerance=0.0)
    return Quantity(value=number, digits=-exponent, tolerance=0.0)


def list_numbers(value: Any, key: str) -> Iterator[tuple[str, float]]:
    """Every number below a value by dotted key; texts, flags and what is absent are left out."""
    if isinstance(value, Mapping):
        pairs = ((f"{key}.{name}", inner) for name, inner in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        pairs = ((f"{key}.{name}", inner) for name, inner in zip(PLACES, value, strict=False))
    else:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield key.removeprefix("."), value
        return
    for inner_key, inner in pairs:
        yield from list_numbers(inner, inner_key)


def describe_settings(provenance: Provenance, scale: Scale) -> Settings:
    """The settings' record of a scale; its arms are those of the main study."""
    plain = scale.model_dump(mode="json")
    trees = {group: plant({key: set_value(number) for key, number in list_numbers(plain[group], "")}) for group in GROUPS}
    few = set_value(scale.arms_of("main").few_events)
    return Settings(provenance=provenance, batch=set_value(scale.batch), few_events=few, **trees)
