"""Stage `path`: where gradients arrive in every saved collapse of one cell, without training."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.experiments import measure_paths
from rankcollapse.params import load_params
from rankcollapse.records import Collapse
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, cell, load_calibration, run_stage

PARTS = ("model", "probe", "branches")


def body(name: str, role: str) -> None:
    """Measure one cell's paths."""
    params, states, source = load_params(), Path(f"states/{name}-{role}"), Path(f"results/collapse/{name}-{role}.json")
    run = cell("path", params, name, role, [DATA, MANIFEST, CALIBRATION, source, states], PARTS)
    calibration = getattr(load_calibration(), role)
    record = measure_paths(run.provenance, params.chosen, role, calibration, read_model(Collapse, source), str(DATA), states)
    run.finish(record, f"results/path/{name}-{role}.json")


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET", "ROLE")))
