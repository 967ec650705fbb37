"""The study's course in a throw-away repository, in the order in which a person makes it: calibrated, sealed, run, judged, built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from smoke import TEX, Repository, begin

ROLES = ("shallow", "deep")
SHARED = ("path-1", "delay-1", "replication-1", "ageing-1", "order-1", "function-1", "epsilon-1")
"""Registrations of the replication: the first owns its seeds, and all are sealed before it runs."""
SEALED = ("design", *SHARED, "burst-1", "spectral-1", "spectral-2")
Step = Callable[[Repository], None]


def run(title: str, *stages: str) -> Step:
    """Stages with what they need, committed."""

    def step(repository: Repository) -> None:
        repository.reproduce(*stages)
        repository.commit(title)

    return step


def seal(name: str) -> Step:
    """A registration, sealed in a commit of its own."""

    def step(repository: Repository) -> None:
        repository.must("python", "-m", "audit", "seal", name)
        repository.commit(f"Seal {name}")

    return step


def cells(stage: str, *names: str) -> tuple[str, ...]:
    """Stages of every depth, of each seed set where they have one."""
    return tuple(f"{stage}@{name}-{role}" for name in names for role in ROLES) if names else tuple(f"{stage}@{role}" for role in ROLES)


WHOLE = () if TEX else ("audit", "render")
"""What `dvc repro` is asked for where the whole is meant."""
COURSE: Sequence[Step] = (
    run("Calibration", "calibrate", *cells("checks")),
    seal("design"),
    run("Main", *cells("intact"), "summary@main", "thresholds"),
    *map(seal, SHARED),
    run("Forecasts of the replication", "forecast"),
    run("Tests", *cells("switch", "replication"), "path_tests", "development_readings", "spectral_development", "restart_development", "power"),
    seal("burst-1"),
    seal("spectral-1"),
    seal("spectral-2"),
    run("Forecasts of the bursts", "burst_forecast"),
    run("Results", *WHOLE),
)


def make_study(root: Path) -> Repository:
    """The whole study to its last commit."""
    repository = begin(root)
    for step in COURSE:
        step(repository)
    return repository
