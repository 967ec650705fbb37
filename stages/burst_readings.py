"""Stages `development_readings` and `burst_readings`: what is read at the end of the bursts of one set of networks, without training."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import Refusal, read_model
from rankcollapse.arm_records import Development, Excursions
from rankcollapse.burst_readings import read_bursts
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, load_calibration, open_gate, run_stage

SETS = {
    "development": ("development_readings", Development, Path("results/bursts/development.json"), "results/bursts/development_readings.json"),
    "bursts": ("burst_readings", Excursions, Path("results/bursts/excursions.json"), "results/bursts/readings.json"),
}
"""Seed set -> stage, kind and place of its bursts, and where the readings go."""
PARTS = ("model", "optimiser", "batch", "probe", "branches", "study", "depths")


def body(name: str) -> None:
    """Read one set of networks."""
    if name not in SETS:
        raise Refusal("set", "no such networks", expected=" or ".join(SETS), observed=name)
    params, (stage, kind, source, target), states = load_params(), SETS[name], Path(f"states/{name}")
    run = open_gate(stage, params, name, [DATA, MANIFEST, CALIBRATION, source, states], PARTS)
    calibration = getattr(load_calibration(), params.chosen.study.bursts.role)
    run.finish(read_bursts(run.provenance, params.chosen, calibration, read_model(kind, source), DATA, states), target)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET",)))
