"""Stage `branch`: every treatment of every saved collapse of one cell."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.experiments import branch
from rankcollapse.fanout import clear_checkpoints
from rankcollapse.params import load_params
from rankcollapse.records import Collapse
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, cell, load_calibration, run_stage

PARTS = ("model", "optimiser", "batch", "stack", "probe", "rules", "branches")


def body(name: str, role: str) -> None:
    """Train one cell's branches."""
    params, states, source = load_params(), Path(f"states/{name}-{role}"), Path(f"results/collapse/{name}-{role}.json")
    run = cell("branch", params, name, role, [DATA, MANIFEST, CALIBRATION, source, states], PARTS)
    calibration = getattr(load_calibration(), role)
    record = branch(run.provenance, params.chosen, role, calibration, read_model(Collapse, source), str(DATA), states)
    run.finish(record, f"results/branch/{name}-{role}.json")
    clear_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET", "ROLE")))
