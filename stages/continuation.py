"""Stage `continuation`: what follows the bursts, after their readings and forecasts are on record."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.arm_records import Excursions
from rankcollapse.experiments_bursts import continue_set
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, load_calibration, open_gate, run_stage

PARTS = ("model", "depths", "optimiser", "batch", "stack", "probe", "rules", "study")
EXCURSIONS, FORECAST, STATES = Path("results/bursts/excursions.json"), Path("results/bursts/forecast.json"), Path("states/bursts")


def body() -> None:
    """Train what follows."""
    params = load_params()
    run = open_gate("continuation", params, "bursts", [DATA, MANIFEST, CALIBRATION, EXCURSIONS, FORECAST, STATES], PARTS)
    calibration = getattr(load_calibration(), params.chosen.study.bursts.role)
    record = continue_set(run.provenance, params.chosen, calibration, read_model(Excursions, EXCURSIONS), str(DATA), STATES)
    run.finish(record, "results/bursts/continuations.json")
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body))
