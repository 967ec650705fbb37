"""Stage `burst`: learning-rate bursts at both chosen multipliers, to their end, beside paired controls."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.arm_records import Development
from rankcollapse.experiments_bursts import burst_set
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, load_calibration, open_gate, run_stage

PARTS = ("model", "depths", "optimiser", "batch", "stack", "probe", "rules", "study")
DEVELOPMENT, STATES = Path("results/bursts/development.json"), Path("states/bursts")


def body() -> None:
    """Train the bursts."""
    params = load_params()
    run = open_gate("burst", params, "bursts", [DATA, MANIFEST, CALIBRATION, DEVELOPMENT], PARTS)
    calibration = getattr(load_calibration(), params.chosen.study.bursts.role)
    record = burst_set(run.provenance, params.chosen, calibration, read_model(Development, DEVELOPMENT), run.seeds, str(DATA), STATES)
    run.finish(record, "results/bursts/excursions.json", outputs=[STATES])
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body))
