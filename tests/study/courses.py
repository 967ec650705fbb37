"""Courses of runs that never ran: trajectories by formula with some noise, for tests of what is drawn or told from records."""

from __future__ import annotations

import numpy as np

from audit.records import Provenance, Quantity
from rankcollapse.arm_records import ArmRow, Series
from rankcollapse.params import Rules

RULES = Rules(
    collapse=0.45,
    recover=0.5,
    effective=0.1,
    settle_after=50,
    settle_window=10,
    recover_window=5,
    recover_hold=3,
    measure_driver=5,
    measure_switch=2,
    measure_loss=10,
    tolerance=0.5,
)
HEALTHY, FLOOR, WARM, RAMP, SAVED = 3.0, 0.01, 300, 300, 655


def own(stage: str) -> Provenance:
    """A provenance that names nothing."""
    return Provenance(stage=stage, seals={}, parameters="0" * 64, seeds=(1,), data={})


def plain(value: float, unit: str = "1") -> Quantity:
    """A quantity of no more than its value."""
    return Quantity(value=value, unit=unit, digits=2, tolerance=0.0)


def series(steps: range, skip, rank, loss, rng: np.random.Generator) -> dict:
    """A trajectory's columns from functions of the step, with some noise."""
    at = np.array(steps, dtype=float)
    ranks = np.maximum(1.0, rank(at) * (1 + 0.03 * rng.standard_normal(at.size)))
    losses = loss(at) + 0.02 * rng.standard_normal(at.size)
    columns = {"skip": np.broadcast_to(skip(at), at.shape), "rank": ranks, "residual": np.maximum((ranks - 1) / 3, 1e-7), "loss": losses}
    return {"step": tuple(steps), "at_floor": (False,) * at.size} | {name: tuple(map(float, values)) for name, values in columns.items()}


def row(name: str, steps: range, skip, rank, loss, rng, term: str = "none") -> ArmRow:
    """A run of an arm."""
    seed = int(name.split("/")[-1])
    return ArmRow(
        name=name,
        seed=seed,
        arm=name.split("/")[0],
        term=term,
        added_target=0.1,
        first_added=0.1,
        term_weight=1.0,
        clip_share=0.3,
        start=steps[0],
        exempt=False,
        trajectory=Series(**series(steps, skip, rank, loss, rng), extra={}),
    )


def rise(start: float, after: float, to: float = HEALTHY, width: float = 12.0):
    """A rank that comes back `after` steps from the start on; never where that is infinite."""
    return lambda at: 1.0 + (to - 1.0) / (1 + np.exp(-np.clip((at - start - after) / width, -40, 40)))


def flat(value: float):
    """The same at every step."""
    return lambda at: np.full(at.shape, value)


def down(at: np.ndarray, floor: float = FLOOR) -> np.ndarray:
    """The driver's skip scale."""
    return np.clip(1 - (1 - floor) * (at - WARM) / RAMP, floor, 1)


def learned(at: np.ndarray) -> np.ndarray:
    """A healthy network's loss."""
    return 4.0 + 2.2 * np.exp(-at / 250)


def healthy_rank(at: np.ndarray) -> np.ndarray:
    """A healthy network's rank, with its early dip."""
    return HEALTHY - 1.9 * np.exp(-(((at - 60) / 40) ** 2))


def fallen(seed: int):
    """A driver's rank."""
    return lambda at: healthy_rank(at) - (HEALTHY - 1.02) / (1 + np.exp(-np.clip((at - WARM - RAMP + 12 - 3 * (seed % 4)) / 6, -40, 40)))
