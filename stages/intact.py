"""Stage `intact`: drivers that leave the skip connection intact, at one depth."""

from __future__ import annotations

import sys

from rankcollapse.experiments_drivers import leave_set
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, check_role, load_calibration, open_gate, run_stage

PARTS = ("model", "depths", "optimiser", "batch", "stack", "probe", "driver", "rules", "study")


def body(role: str) -> None:
    """Train one depth's drivers."""
    params = load_params()
    run = open_gate(f"intact@{check_role(role)}", params, "intact", [DATA, MANIFEST, CALIBRATION], PARTS)
    calibration = getattr(load_calibration(), role)
    run.finish(leave_set(run.provenance, params.chosen, role, calibration, run.seeds, str(DATA)), f"results/intact/{role}.json")
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("ROLE",)))
