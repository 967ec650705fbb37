"""`python interruptible.py DATA TABLE`: trains a fixed table in the working folder, a checkpoint every step; tests interrupt it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from networks import SETTING, SHAPE

from rankcollapse.engine import Run, Setting, State, Trajectory
from rankcollapse.events import Settled
from rankcollapse.experiments import joined
from rankcollapse.fanout import checkpoint_folder, train_table
from rankcollapse.machines import Fanout
from rankcollapse.schedule import constant
from rankcollapse.stage import run_stage
from rankcollapse.text import probe_batch

STEPS, LONG = 80, 2000
TABLE_SETTING = replace(SETTING, shape=replace(SHAPE, vocabulary=257), batch=2)
RUNS = (
    Run("plain/0", 0, STEPS),
    Run("hinge/0", 0, STEPS, constant(0.1), "hinge", 0.2, measure_every=7),
    Run("short/1", 1, 5, measure_every=1),
    Run("settled/1", 1, STEPS, constant(0.0), stop=Settled(1e9, 0, 20, 2)),
)
TABLES = {"one block": (RUNS, 4), "two blocks": (tuple(replace(run, steps=LONG) for run in RUNS[:2]), 1)}
"""Name -> runs and how many of them are a block."""


def train_runs(
    folder: Path, runs: tuple[Run, ...] = RUNS, setting: Setting = TABLE_SETTING, *, block: int = 4, stage: str = "table", seconds: float = 0.0,
    fanout: Fanout = Fanout(),  # noqa: B008
) -> list[tuple[Trajectory, State]]:
    """Train a table on a data folder, from its stage's checkpoints where there are any."""
    probe = joined(*probe_batch(folder, 2, setting.shape.context))
    store = checkpoint_folder(stage)
    shared = {"data": {"data": "a" * 64}, "store": store, "seconds": seconds, "fanout": fanout}
    return train_table("table", runs, setting, folder=str(folder), probe=probe, block=block, **shared)


def body(folder: str, table: str) -> None:
    """Train a fixed table with a core for each block."""
    runs, block = TABLES[table]
    os.sched_getaffinity = lambda _: set(range(len(runs) // block))
    train_runs(Path(folder), runs, block=block)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("DATA", "TABLE")))
