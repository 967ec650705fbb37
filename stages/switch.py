"""Stage `switch`: the skip scale of every saved collapse of one cell set back, at once and after delays; the first updates replayed."""

from __future__ import annotations

import sys
from pathlib import Path

from rankcollapse.experiments_arms import switch_set
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.readings import open_reader
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, cell, load_calibration, load_cell, record_path, run_stage

FORECASTS = {"replication": [Path("results/forecast/path.json")]}
"""What is on record before a set's switches: without it none is trained, and its digest stands in their run logs."""
PARTS = ("model", "optimiser", "batch", "stack", "probe", "rules", "branches", "study", "arms")


def body(name: str, role: str) -> None:
    """Train one cell's switches."""
    params, states, ends = load_params(), Path(f"states/{name}-{role}"), Path(f"ends/{name}-{role}")
    sources = [record_path(stage, name, role) for stage in ("collapse", "path")]
    run = cell("switch", params, name, role, [DATA, MANIFEST, CALIBRATION, *sources, *FORECASTS.get(name, []), states, ends], PARTS)
    calibration, drivers, readings = getattr(load_calibration(), role), load_cell("collapse", name, role), load_cell("path", name, role)
    reader = open_reader(params.chosen, calibration, drivers.floor, DATA)
    record = switch_set(run.provenance, params.chosen, role, name, calibration, readings.weak_scale, drivers, reader, str(DATA), states, ends)
    run.finish(record, record_path("switch", name, role))
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET", "ROLE")))
