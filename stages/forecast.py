"""Stage `forecast`: what the sealed thresholds say of every collapse of the replication, before any switch is trained."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.params import ROLES, load_params
from rankcollapse.path_tests import forecast_set
from rankcollapse.records_tests import MainThresholds
from rankcollapse.stage import load_cell, open_gate, record_path, run_stage

NAME, THRESHOLDS = "replication", Path("results/thresholds/main.json")


def body() -> None:
    """Write the forecasts."""
    params, sources = load_params(), [record_path("path", NAME, role) for role in ROLES]
    run = open_gate("forecast", params, NAME, [THRESHOLDS, *sources], ("study", "depths"))
    readings = {role: load_cell("path", NAME, role) for role in ROLES}
    run.finish(forecast_set(run.provenance, params.chosen, readings, read_model(MainThresholds, THRESHOLDS)), "results/forecast/path.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
