"""Stage `path`: what is read from the saved collapses of one cell, and from what their branches left, before any switch and without training."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.arm_records import Checks
from rankcollapse.params import load_params
from rankcollapse.readings import measure_readings, open_reader
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, cell, load_calibration, load_cell, record_path, run_stage

PARTS = ("model", "optimiser", "batch", "probe", "branches", "study")


def body(name: str, role: str) -> None:
    """Read one cell."""
    params, states, ends, checks = load_params(), Path(f"states/{name}-{role}"), Path(f"ends/{name}-{role}"), Path(f"results/checks/{role}.json")
    sources = [record_path(stage, name, role) for stage in ("collapse", "branch")]
    run = cell("path", params, name, role, [DATA, MANIFEST, CALIBRATION, checks, *sources, states, ends], PARTS)
    drivers, treated, weak = load_cell("collapse", name, role), load_cell("branch", name, role), float(read_model(Checks, checks).weak_scale.value)
    reader = open_reader(params.chosen, getattr(load_calibration(), role), drivers.floor, DATA)
    run.finish(measure_readings(run.provenance, role, reader, drivers, treated, weak, states, ends), record_path("path", name, role))


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET", "ROLE")))
