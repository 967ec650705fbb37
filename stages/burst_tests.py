"""Stage `burst_tests`: every quantity that the registration of the bursts names."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from audit.records import read_model
from rankcollapse.arm_records import Continuations, Development, Excursions
from rankcollapse.burst_records import BurstForecast, BurstReadings, BurstRecords, DevelopmentRecords
from rankcollapse.burst_tests import evaluate_bursts
from rankcollapse.params import ROLES, load_params
from rankcollapse.records_tests import MainThresholds
from rankcollapse.stage import CALIBRATION, load_calibration, load_cell, open_gate, record_path, run_stage

BURSTS, THRESHOLDS = Path("results/bursts"), Path("results/thresholds/main.json")
OWN = {"excursions": Excursions, "readings": BurstReadings, "forecast": BurstForecast, "continuations": Continuations}
CHOSEN = {"development": Development, "development_readings": BurstReadings}
SEED = 0
"""Of the permutations where there are too many orders to go through."""


def body() -> None:
    """Compute the registered quantities."""
    params = load_params()
    role = params.chosen.study.bursts.role
    files = [BURSTS / f"{name}.json" for name in (*OWN, *CHOSEN)]
    run = open_gate("burst_tests", params, "bursts", [CALIBRATION, THRESHOLDS, *(record_path("path", "main", each) for each in ROLES), *files], ("rules", "study", "depths"))
    own, chosen = ([read_model(kind, BURSTS / f"{name}.json") for name, kind in kinds.items()] for kinds in (OWN, CHOSEN))
    record = evaluate_bursts(
        run.provenance, params.chosen, getattr(load_calibration(), role), BurstRecords(*own), DevelopmentRecords(*chosen),
        read_model(MainThresholds, THRESHOLDS).opening, load_cell("path", "main", role), np.random.default_rng(SEED),
    )  # fmt: skip
    run.finish(record, BURSTS / "tests.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
