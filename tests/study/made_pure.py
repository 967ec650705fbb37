"""The record of untrained attention at the size of the smoke scale, beside one made-up collapse a depth."""

from __future__ import annotations

from functools import cache

from made_readings import EVENT
from one_set import provenance

from rankcollapse.groups import Pure as Settings
from rankcollapse.params import ROLES
from rankcollapse.pure_readings import read_pure
from rankcollapse.records_pure import Pure
from rankcollapse.records_readings import EventReadings, Readings

SETTINGS = Settings(draws=2, tokens=(8, 16, 32), width=16, depth=10, deep=20, exact=5, digits=200)


def collapsed(*events: EventReadings) -> dict[str, Readings]:
    """Readings of both depths with the same events."""
    shared = {"provenance": provenance("path"), "depth": 3, "floor": 0.01, "weak_scale": 0.1, "unigram_loss": 5.25, "ends": (), "aged": ()}
    return {role: Readings(role=role, events=events, **shared) for role in ROLES}


@cache
def pure_record() -> Pure:
    """Computed once a process."""
    return read_pure(provenance("pure"), SETTINGS, collapsed(EVENT))
