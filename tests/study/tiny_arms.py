"""Every experiment of the whole study in seconds, at one depth: what `tiny_study` has of a seed set, the intact drivers, and the bursts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tiny_study import EVERY, FEW, SCALE, SEEDS, Records, provenance

from rankcollapse.arm_records import Checks, Continuations, Development, Drivers, Excursions, Intact, Switches, Treatments
from rankcollapse.experiments_bursts import burst_set, continue_set, develop
from rankcollapse.experiments_drivers import leave_set
from rankcollapse.records import Calibration
from rankcollapse.records_readings import Readings

__all__ = ["EVERY", "FEW", "ROLE", "SCALE", "SEEDS", "Whole", "run_whole"]
ROLE = "deep"


class Whole(NamedTuple):
    """Every experiment's record, and where their states lie."""

    data: Path
    states: Path
    calibration: Calibration
    checks: Checks
    drivers: Drivers
    treatments: Treatments
    readings: Readings
    switches: Switches
    intact: Intact
    development: Development
    bursts: Excursions
    after: Continuations


def run_whole(data: Path, states: Path, records: Records) -> Whole:
    """The experiments that a seed set does not need, once, beside those of the tiny study's deep networks, whose states lie in `states`."""
    folder, own, role = str(data), provenance, getattr(records.calibration, ROLE)
    intact = leave_set(own("intact"), SCALE, ROLE, role, (7, 8), folder)
    development = develop(own("development"), SCALE, role, (9, 10), folder, states / "development")
    bursts = burst_set(own("bursts"), SCALE, role, development, (11, 12, 13), folder, states / "bursts")
    after = continue_set(own("after"), SCALE, role, bursts, folder, states / "bursts")
    of_set = (each[ROLE] for each in (records.checks, records.drivers, records.treated, records.readings, records.switched))
    return Whole(data, states, records.calibration, *of_set, intact, development, bursts, after)
