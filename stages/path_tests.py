"""Stage `path_tests`: every quantity that the registrations of the replication name."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.params import load_params
from rankcollapse.path_tests import evaluate_path
from rankcollapse.records_tests import Forecast, MainThresholds
from rankcollapse.stage import CALIBRATION, load_calibration, load_set, open_gate, run_stage, set_paths

NAME, THRESHOLDS, FORECAST = "replication", Path("results/thresholds/main.json"), Path("results/forecast/path.json")
PARTS = ("rules", "branches", "study", "depths")


def body() -> None:
    """Compute the registered quantities."""
    params = load_params()
    run = open_gate("path_tests", params, NAME, [CALIBRATION, THRESHOLDS, FORECAST, *set_paths(NAME)], PARTS)
    main, forecast = read_model(MainThresholds, THRESHOLDS), read_model(Forecast, FORECAST)
    run.finish(evaluate_path(run.provenance, params.chosen, load_calibration(), load_set(NAME), main, forecast), "results/tests/path.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
