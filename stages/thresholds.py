"""Stage `thresholds`: what the main study fixes for the replication, to be sealed before it runs."""

from __future__ import annotations

import sys

from rankcollapse.params import load_params
from rankcollapse.path_tests import fit_main
from rankcollapse.stage import CALIBRATION, load_calibration, load_set, open_gate, run_stage, set_paths

PARTS = ("rules", "branches", "study", "depths")


def body() -> None:
    """Fit the thresholds."""
    params = load_params()
    run = open_gate("thresholds", params, "main", [CALIBRATION, *set_paths("main")], PARTS)
    run.finish(fit_main(run.provenance, params.chosen, load_calibration(), load_set("main")), "results/thresholds/main.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
