"""Stage `burst_forecast`: what the sealed and the development thresholds say of every burst, before any network is continued."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.arm_records import Development
from rankcollapse.burst_records import BurstReadings, DevelopmentRecords
from rankcollapse.burst_tests import forecast_bursts
from rankcollapse.params import load_params
from rankcollapse.records_tests import MainThresholds
from rankcollapse.stage import CALIBRATION, load_calibration, open_gate, run_stage

BURSTS = Path("results/bursts")
SOURCES = (BURSTS / "readings.json", BURSTS / "development.json", BURSTS / "development_readings.json", Path("results/thresholds/main.json"))


def body() -> None:
    """Write the forecasts."""
    params, (source, development, read, thresholds) = load_params(), SOURCES
    run = open_gate("burst_forecast", params, "bursts", [CALIBRATION, *SOURCES], ("rules", "study", "depths"))
    calibration = getattr(load_calibration(), params.chosen.study.bursts.role)
    chosen = DevelopmentRecords(read_model(Development, development), read_model(BurstReadings, read))
    frozen = read_model(MainThresholds, thresholds).opening
    record = forecast_bursts(run.provenance, params.chosen, calibration, read_model(BurstReadings, source), chosen, frozen)
    run.finish(record, BURSTS / "forecast.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
