"""Stage `development`: bursts over a grid of multipliers on networks of their own, which choose the two that are registered."""

from __future__ import annotations

import sys
from pathlib import Path

from rankcollapse.experiments_bursts import develop
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, load_calibration, open_gate, run_stage

PARTS = ("model", "depths", "optimiser", "batch", "stack", "probe", "rules", "study")
STATES = Path("states/development")


def body() -> None:
    """Train the development networks."""
    params = load_params()
    run = open_gate("development", params, "development", [DATA, MANIFEST, CALIBRATION], PARTS)
    calibration = getattr(load_calibration(), params.chosen.study.bursts.role)
    run.finish(develop(run.provenance, params.chosen, calibration, run.seeds, str(DATA), STATES), "results/bursts/development.json", outputs=[STATES])
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body))
