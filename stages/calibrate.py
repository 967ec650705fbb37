"""Stage `calibrate`: healthy values, thresholds and the floor per role, on seeds of their own."""

from __future__ import annotations

import sys

from rankcollapse.experiments import calibrate
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, open_gate, run_stage

PARTS = ("model", "depths", "optimiser", "batch", "stack", "probe", "driver", "rules")


def body() -> None:
    """Calibrate both roles and write one record."""
    params = load_params()
    run = open_gate("calibrate", params, "calibration", [DATA, MANIFEST], PARTS)
    run.finish(calibrate(run.provenance, params.chosen, run.seeds, str(DATA)), CALIBRATION)
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body))
