"""What a run log says of the process: command, packages, threads, machine; no names of hosts or people."""

from __future__ import annotations

import csv
import os
import platform
import sys
from functools import cache
from importlib import metadata
from pathlib import Path


def describe_command() -> tuple[str, ...]:
    """The command line in a form that holds on every machine."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    first = ("python", "-m", spec.name.removesuffix(".__main__")) if spec else (Path(sys.argv[0]).name,)
    return (*first, *sys.argv[1:])


def describe_packages() -> dict[str, str]:
    """Name -> version of every installed distribution of which a module is loaded."""
    loaded = {name.partition(".")[0] for name in list(sys.modules)}
    names = {_name(distribution) for distribution, modules in _installed() if not loaded.isdisjoint(modules)}
    return {name: _version(name) for name in sorted(names)}


@cache
def _name(distribution: metadata.Distribution) -> str:
    return distribution.metadata["Name"]  # parsed as an e-mail each time it is asked for


@cache
def _version(name: str) -> str:
    return metadata.version(name)


@cache
def _installed() -> tuple[tuple[metadata.Distribution, frozenset[str]], ...]:
    """Distributions and their top-level modules, as `metadata.packages_distributions` finds them; slow, and the same for the life of a process."""
    return tuple((distribution, _top_level(distribution)) for distribution in metadata.distributions())


def _top_level(distribution: metadata.Distribution) -> frozenset[str]:
    """Top-level modules of a distribution: those that it declares, or else those of its files; RECORD is read as text, which is three times as quick."""
    declared = (distribution.read_text("top_level.txt") or "").split()
    record = distribution.read_text("RECORD")
    listed = (row[0] for row in csv.reader(record.splitlines()) if row) if record else map(str, distribution.files or ())
    return frozenset(declared or (path.partition("/")[0].removesuffix(".py") for path in listed if path.endswith(".py")))


def describe_threads() -> int:
    """Threads a numerical library uses in this process, as far as one can tell without importing it."""
    torch = sys.modules.get("torch")
    if torch is not None:
        return int(torch.get_num_threads())
    stated = os.environ.get("OMP_NUM_THREADS", "")
    return int(stated) if stated.isdigit() else os.cpu_count() or 1


def describe_machine() -> dict[str, str]:
    """Python's version, and processor, number of cores and system."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}"
    return {"python": platform.python_version(), "machine": machine}
