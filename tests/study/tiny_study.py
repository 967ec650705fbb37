"""The records of a seed set in seconds: a scale at which untrained networks collapse without a skip, through every step to the switches."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from audit.records import Provenance
from rankcollapse.arm_records import Checks, Drivers, Switches, Treatments
from rankcollapse.experiments import calibrate
from rankcollapse.experiments_arms import switch_set, treat_set
from rankcollapse.experiments_checks import check_set
from rankcollapse.experiments_drivers import drive_set
from rankcollapse.groups import Bursts, Intact, Restart, Spectral, Study, WeakGrid
from rankcollapse.params import ROLES, Branches, Data, Depths, Driver, Model, Optimiser, Probe, Role, Rules, Scale, SetArms
from rankcollapse.readings import Reader, measure_readings, open_reader
from rankcollapse.records import Calibration
from rankcollapse.records_readings import Readings

EVERY = ("untreated", "epsilon", "ramp", "switch_weak", "switch_03", "delay_1", "delay_2", "penalty_1x", "hinge_4x")
FEW = ("cosine_1x", "switch_06", "switch_1", "hinge_10x_unclipped", "aged_decay_0", "decay_0", "reset")
SCALE = Scale(
    data=Data(source="encyclopedia", vocabulary=257, documents=10, train=0.8, probe=0.1, unseen=0.1),
    model=Model(width=8, heads=2, context=8, init_std=0.3),
    depths=Depths(shallow=2, deep=3),
    optimiser=Optimiser(learning_rate=2e-3, beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.1, clip=1.0),
    batch=2,
    stack=4,
    checkpoint_seconds=1e9,
    probe=Probe(rank_sequences=4, gradient_sequences=6),
    driver=Driver(warm=5, ramp=10, hold=15, floors=(0.5, 0.0)),
    rules=Rules(
        collapse=0.7, recover=0.8, effective=0.1, settle_after=5, settle_window=2, recover_window=2, recover_hold=1,
        measure_driver=5, measure_switch=1, measure_loss=5, tolerance=0.5,
    ),
    branches=Branches(added_loss=0.1, loss_steps=4, switch_steps=8, ramp_steps=6, after_ramp=3, untreated_steps=7),
    arms={"main": SetArms(every=EVERY, few=FEW, few_events=1)},
    study=Study(
        delays=(3, 7), near_floor=2, replays=(1, 3), weak=WeakGrid(shallow=(0.3, 0.6), deep=(0.3, 0.6)),
        intact=Intact(ramp=10, hold=2, gains=(4.0, 8.0), gain_steps=12, readings=("uncentred_rank",)),
        bursts=Bursts(start=5, updates=4, multipliers=(20.0, 40.0), after=6, measure_after=3),
    ),
    spectral=Spectral(steps=8, warm=2, rates=(2e-3, 2e-2), taus=(0.03, 0.3), at=2, measure=1, closely=4, later=2, few=2),
    restart=Restart(depth=2, init_std=0.1, batch=2, learn=4, gentle=2e-3, steps=8, hold=4, warm=2, rates=(2e-2, 2e-1), taus=(0.03, 0.3), at=2, measure=1, closely=4, later=2, few=2),
)  # fmt: skip
SEEDS, CALIBRATION = (0, 3), (5, 6)


class Records(NamedTuple):
    """The calibration, and what the steps of one seed set write, by role."""

    calibration: Calibration
    checks: dict[Role, Checks]
    drivers: dict[Role, Drivers]
    treated: dict[Role, Treatments]
    readings: dict[Role, Readings]
    switched: dict[Role, Switches]


def provenance(stage: str) -> Provenance:
    """A provenance that names no input."""
    return Provenance(stage=stage, seals={}, parameters="0" * 64, seeds=SEEDS, data={})


def weak_scale(checks: Checks) -> float:
    """The weak skip scale that calibration chose for a depth."""
    return float(checks.weak_scale.value)


def reader_of(calibration: Calibration, role: Role, data: Path, floor: float, scale: Scale = SCALE) -> Reader:
    """The reader of one depth of the tiny study."""
    return open_reader(scale, getattr(calibration, role), floor, data)


def run_study(data: Path, states: Path, scale: Scale = SCALE, seeds: tuple[int, ...] = SEEDS) -> Records:
    """Every step of a seed set at both depths; states lie in a folder per role and step."""
    calibration = calibrate(provenance("calibrate"), scale, CALIBRATION, str(data))
    found = Records(calibration, {}, {}, {}, {}, {})
    for role in ROLES:
        found.checks[role] = check_set(provenance("checks"), scale, role, calibration, CALIBRATION, str(data))
        run_set(found, role, data, states / role, scale, seeds)
    return found


def run_set(found: Records, role: Role, data: Path, states: Path, scale: Scale = SCALE, seeds: tuple[int, ...] = SEEDS) -> None:
    """A seed set at one depth: driven, treated at the floor, read, and only then switched."""
    folder, own, weak = str(data), getattr(found.calibration, role), weak_scale(found.checks[role])
    driven, ends = states / "drivers", states / "treated"
    found.drivers[role] = drivers = drive_set(provenance("drivers"), scale, role, found.calibration, seeds, folder, driven)
    reader = reader_of(found.calibration, role, data, drivers.floor, scale)
    found.treated[role] = treated = treat_set(provenance("treatments"), scale, role, "main", own, drivers, folder, driven, ends)
    found.readings[role] = measure_readings(provenance("readings"), role, reader, drivers, treated, weak, driven, ends)
    found.switched[role] = switch_set(provenance("switches"), scale, role, "main", own, weak, drivers, reader, folder, driven, ends)
