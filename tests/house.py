"""What the project's imports may not do: run in circles, or to a higher floor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """One cycle of imports, or nothing."""
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> list[str]:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name in done:
            return []
        for target in sorted(graph[name]):
            if cycle := visit(target, [*trail, name]):
                return cycle
        done.add(name)
        return []

    return next((cycle for name in sorted(graph) if (cycle := visit(name, []))), [])


def find_upward(graph: Mapping[str, set[str]], package: str, floors: list[str]) -> list[str]:
    """Imports inside a package that go to a higher floor, and modules that have no floor."""
    floor = {f"{package}.{name}": level for level, names in enumerate(floors) for name in names.split()}

    def level_of(module: str) -> int | None:
        """A module's floor, or that of the folder it lies in."""
        return floor.get(module, floor.get(module.rpartition(".")[0]))

    faults = []
    for name in sorted(name for name in graph if name.startswith(package + ".")):
        if level_of(name) is None:
            faults.append(f"{name} has no floor")
            continue
        targets = sorted(target for target in graph[name] if target.startswith(package + "."))
        faults += [f"{name} imports {target}" for target in targets if (level_of(target) or 0) > level_of(name)]
    return faults
