"""`python interruptible.py DATA`: trains one fixed table in the working folder, a checkpoint every step; tests interrupt it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from networks import SETTING, SHAPE

from rankcollapse.engine import Run, Setting, State, Trajectory
from rankcollapse.events import Settled
from rankcollapse.experiments import joined
from rankcollapse.fanout import train_table
from rankcollapse.schedule import constant
from rankcollapse.stage import run_stage
from rankcollapse.text import probe_batch

STEPS = 80
TABLE_SETTING = replace(SETTING, shape=replace(SHAPE, vocabulary=257), batch=2)
RUNS = (
    Run("plain/0", 0, STEPS),
    Run("hinge/0", 0, STEPS, constant(0.1), "hinge", 0.2, measure_every=7),
    Run("short/1", 1, 5, measure_every=1),
    Run("settled/1", 1, STEPS, constant(0.0), stop=Settled(1e9, 0, 20, 2)),
)


def train_runs(
    folder: Path, runs: tuple[Run, ...] = RUNS, setting: Setting = TABLE_SETTING, *, block: int = 4, data: str = "a" * 64, seconds: float = 0.0
) -> list[tuple[Trajectory, State]]:
    """Train a table on a data folder, from its checkpoints where there are any."""
    probe = joined(*probe_batch(folder, 2, setting.shape.context))
    return train_table("table", runs, setting, folder=str(folder), probe=probe, block=block, data={"data": data}, seconds=seconds)


def body(folder: str) -> None:
    """Train the fixed table."""
    train_runs(Path(folder))


if __name__ == "__main__":
    sys.exit(run_stage(body, ("DATA",)))
