"""Stage `collapse`: each seed of a set driven into collapse at one depth, beside its healthy control."""

from __future__ import annotations

import sys
from pathlib import Path

from rankcollapse.experiments_drivers import drive_set
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, cell, load_calibration, record_path, run_stage

PARTS = ("model", "optimiser", "batch", "stack", "probe", "driver", "rules", "study")


def body(name: str, role: str) -> None:
    """Train one cell's drivers and controls; save the collapses that settle."""
    params, states = load_params(), Path(f"states/{name}-{role}")
    run = cell("collapse", params, name, role, [DATA, MANIFEST, CALIBRATION], PARTS)
    record = drive_set(run.provenance, params.chosen, role, load_calibration(), run.seeds, str(DATA), states)
    run.finish(record, record_path("collapse", name, role), outputs=[states])
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET", "ROLE")))
