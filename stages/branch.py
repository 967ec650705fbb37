"""Stage `branch`: every saved collapse of one cell under the arms that do not switch, and the healthy controls beside them."""

from __future__ import annotations

import sys
from pathlib import Path

from rankcollapse.experiments_arms import treat_set
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, cell, load_calibration, load_cell, record_path, run_stage

PARTS = ("model", "optimiser", "batch", "stack", "probe", "rules", "branches", "study", "arms")


def body(name: str, role: str) -> None:
    """Train one cell's branches; save what they leave at the floor."""
    params, states, ends = load_params(), Path(f"states/{name}-{role}"), Path(f"ends/{name}-{role}")
    run = cell("branch", params, name, role, [DATA, MANIFEST, CALIBRATION, record_path("collapse", name, role), states], PARTS)
    calibration, drivers = getattr(load_calibration(), role), load_cell("collapse", name, role)
    record = treat_set(run.provenance, params.chosen, role, name, calibration, drivers, str(DATA), states, ends)
    run.finish(record, record_path("branch", name, role), outputs=[ends])
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET", "ROLE")))
