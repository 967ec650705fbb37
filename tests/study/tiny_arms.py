"""The whole study in seconds: the tiny study's scale with values for every arm, and stand-ins for terms and readings that are not there yet."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
import tiny_study
from tiny_study import provenance

from rankcollapse.arm_records import Checks, Continuations, Development, Drivers, Excursions, Intact, Replay, Treatments
from rankcollapse.experiments import calibrate
from rankcollapse.experiments_arms import replay_set, treat_set
from rankcollapse.experiments_bursts import burst_set, continue_set, develop
from rankcollapse.experiments_checks import check_set
from rankcollapse.experiments_drivers import drive_set, leave_set
from rankcollapse.measure import READINGS, compute_effective_rank
from rankcollapse.params import Branches, Bursts, Driver, SetArms, Study, WeakGrid
from rankcollapse.params import Intact as IntactPlan
from rankcollapse.records import Calibration
from rankcollapse.terms import TERMS

EVERY = ("untreated", "ramp", "switch_weak", "switch_03", "delay_1", "delay_2", "penalty_1x", "hinge_4x")
FEW = ("cosine_1x", "switch_06", "switch_1", "hinge_10x_unclipped")
SCALE = tiny_study.SCALE.model_copy(
    update={
        "driver": Driver(warm=5, ramp=10, hold=15, floors=(0.5, 0.0)),
        "branches": Branches(added_loss=0.1, loss_steps=4, switch_steps=8, ramp_steps=6, after_ramp=3, untreated_steps=7),
        "arms": {"main": SetArms(every=EVERY, few=FEW, few_events=1)},
        "study": Study(
            delays=(3, 7), near_floor=2, replays=(1, 3), weak=WeakGrid(shallow=(0.3, 0.6), deep=(0.3, 0.6)),
            intact=IntactPlan(ramp=10, hold=2, gains=(4.0, 8.0), gain_steps=12, readings=("uncentred_rank",)),
            bursts=Bursts(start=5, updates=4, multipliers=(20.0, 40.0), after=6, measure_after=3),
        ),
    }
)  # fmt: skip
SEEDS, ROLE = tiny_study.SEEDS, "deep"


def lend(patch: pytest.MonkeyPatch) -> None:
    """Where the cosine term or a reading is not there yet, something else of the same form stands in for it."""
    patch.setitem(TERMS, "cosine", TERMS.get("cosine", TERMS["penalty"]))
    patch.setitem(READINGS, "uncentred_rank", READINGS.get("uncentred_rank", compute_effective_rank))


class Whole(NamedTuple):
    """Every experiment's record, and where their states lie."""

    states: Path
    calibration: Calibration
    checks: Checks
    drivers: Drivers
    treatments: Treatments
    replay: Replay
    intact: Intact
    development: Development
    bursts: Excursions
    after: Continuations


def run_whole(data: Path, states: Path) -> Whole:
    """Every experiment of the whole study once, at one depth."""
    folder, own = str(data), provenance
    calibration = calibrate(own("calibrate"), SCALE, (5, 6), folder)
    role = getattr(calibration, ROLE)
    checks = check_set(own("checks"), SCALE, ROLE, calibration, (5, 6), folder)
    drivers = drive_set(own("drivers"), SCALE, ROLE, calibration, SEEDS, folder, states / "drivers")
    weak = float(checks.weak_scale.value)
    treated = treat_set(own("treatments"), SCALE, ROLE, "main", role, weak, drivers, folder, states / "drivers", states / "treated")
    replayed = replay_set(own("replay"), SCALE, ROLE, role, drivers, folder, states / "drivers", states / "replayed")
    intact = leave_set(own("intact"), SCALE, ROLE, role, (7, 8), folder)
    development = develop(own("development"), SCALE, role, (9, 10), folder, states / "development")
    bursts = burst_set(own("bursts"), SCALE, role, development, (11, 12, 13), folder, states / "bursts")
    after = continue_set(own("after"), SCALE, role, bursts, folder, states / "bursts", states / "after")
    return Whole(states, calibration, checks, drivers, treated, replayed, intact, development, bursts, after)
