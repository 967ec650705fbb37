"""Ways to make a metric another than was registered."""

from __future__ import annotations

from project import Project
from tampering import forge


def widened_tolerance(p: Project) -> None:
    register(p, "key: arms.treated}", "key: arms.treated, tolerance: 0}")
    forge(p, "analyse/main", lambda record: record["arms"]["treated"].update(tolerance=1.0))


def another_summary(p: Project) -> None:
    register(p, "key: arms.treated}", "key: arms.treated, summary: count}")
    forge(p, "analyse/main", lambda record: record["arms"]["treated"].update(summary="sum"))


def doubled_units(p: Project) -> None:
    register(p, '    "null": No run', '    population: {set: main}\n    "null": No run')
    forge(p, "analyse/main", lambda record: record["arms"]["treated"].update(value=6, values=[1] * 6))


def register(p: Project, old: str, new: str) -> None:
    """Say more in the registration, then seal and run everything in order."""
    p.edit("prereg/pilot.yaml", old, new)
    p.commit("Say more")
    p.sealed()
    p.ran()
