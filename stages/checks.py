"""Stage `checks`: what calibration tries on its own collapses at one depth, and the depth's weak skip scale."""

from __future__ import annotations

import sys

from rankcollapse.experiments_checks import check_set
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, DATA, MANIFEST, check_role, load_calibration, open_gate, run_stage

PARTS = ("model", "depths", "optimiser", "batch", "stack", "probe", "driver", "rules", "branches", "study")


def body(role: str) -> None:
    """Check one depth on the calibration's seeds."""
    params = load_params()
    run = open_gate(f"checks@{check_role(role)}", params, "calibration", [DATA, MANIFEST, CALIBRATION], PARTS)
    run.finish(check_set(run.provenance, params.chosen, role, load_calibration(), run.seeds, str(DATA)), f"results/checks/{role}.json")
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("ROLE",)))
