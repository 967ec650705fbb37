"""One seed set in seconds, from calibration to switches at both depths: a scale at which untrained networks collapse without a skip."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from networks import write_data

from audit.records import Provenance
from rankcollapse import groups, params
from rankcollapse.arm_records import SetRecords
from rankcollapse.engine import prepare_threads
from rankcollapse.experiments import calibrate
from rankcollapse.experiments_arms import switch_set, treat_set
from rankcollapse.experiments_drivers import drive_set
from rankcollapse.params import ROLES, Scale
from rankcollapse.readings import Reader, measure_readings, open_reader
from rankcollapse.records import Calibration

EVERY = ("untreated", "ramp", "penalty_1x", "hinge_1x", "hinge_4x", "switch_weak", "switch_03", "delay_1", "delay_2", "delay_3")
FEW = (
    "penalty_4x", "cosine_1x", "penalty_1x_unclipped", "hinge_1x_unclipped", "hinge_4x_unclipped", "hinge_10x_unclipped",
    "switch_06", "switch_1", "aged_decay_0", "decay_0", "reset",
)  # fmt: skip
SCALE = Scale(
    data=params.Data(source="encyclopedia", vocabulary=257, documents=10, train=0.8, probe=0.1, unseen=0.1),
    model=params.Model(width=8, heads=2, context=8, init_std=0.3),
    depths=params.Depths(shallow=2, deep=3),
    optimiser=params.Optimiser(learning_rate=2e-3, beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.1, clip=1.0),
    batch=2,
    stack=4,
    checkpoint_seconds=1e9,
    probe=params.Probe(rank_sequences=4, gradient_sequences=6),
    driver=params.Driver(warm=5, ramp=10, hold=15, floors=(0.5, 0.0)),
    rules=params.Rules(
        collapse=0.7, recover=0.8, effective=0.1, settle_after=5, settle_window=2, recover_window=2, recover_hold=1,
        measure_driver=5, measure_switch=1, measure_loss=5, tolerance=0.5,
    ),
    branches=params.Branches(added_loss=0.1, loss_steps=4, switch_steps=8, ramp_steps=6, after_ramp=3, untreated_steps=7),
    arms={"main": params.SetArms(every=EVERY, few=FEW, few_events=1)},
    study=groups.Study(
        delays=(3, 5, 7), near_floor=2, replays=(4, 20), readings=("cosine", "gap"), weak=groups.WeakGrid(shallow=(0.3, 0.6), deep=(0.3, 0.6)),
        intact=groups.Intact(ramp=10, hold=2, gain_steps=12), bursts=groups.Bursts(start=5, updates=4, multipliers=(20.0, 40.0), after=6),
    ),
    spectral=groups.Spectral(steps=8, warm=2, rates=(2e-3, 2e-2), taus=(0.03, 0.3), at=2, measure=1, closely=4, later=2, few=2),
    restart=groups.Restart(depth=2, init_std=0.1, batch=2, learn=4, gentle=2e-3, steps=8, hold=4, warm=2, rates=(2e-2, 2e-1), taus=(0.03, 0.3), at=2, measure=1, closely=4, later=2, few=2),
)  # fmt: skip
SEEDS, WEAK = (0, 3), 0.3


class OneSet(NamedTuple):
    """Its records, the calibration before them, and what its states are read with."""

    data: Path
    states: Path
    calibration: Calibration
    records: SetRecords
    readers: Mapping[str, Reader]


def provenance(stage: str) -> Provenance:
    """A provenance that names no input."""
    return Provenance(stage=stage, seals={}, parameters="0" * 64, seeds=SEEDS, data={})


def run_set(data: Path, states: Path) -> OneSet:
    """Every stage of one seed set; the weak scale equals that of another switch."""
    folder, calibration = str(data), calibrate(provenance("calibrate"), SCALE, (5, 6), str(data))
    found, readers = SetRecords({}, {}, {}, {}), {}
    for role in ROLES:
        own, saved, ends = getattr(calibration, role), states / role / "drivers", states / role / "ends"
        drivers = drive_set(provenance("collapse"), SCALE, role, calibration, SEEDS, folder, saved)
        treated = treat_set(provenance("branch"), SCALE, role, "main", own, drivers, folder, saved, ends)
        readers[role] = open_reader(SCALE, own, drivers.floor, data)
        found.drivers[role], found.treated[role] = drivers, treated
        found.readings[role] = measure_readings(provenance("path"), role, readers[role], drivers, treated, WEAK, saved, ends)
        found.switched[role] = switch_set(
            provenance("switch"), SCALE, role, "main", own, WEAK, drivers, readers[role], folder, saved, ends
        )  # fmt: skip
    return OneSet(data, states, calibration, found, readers)


def run_in(folder: Path) -> OneSet:
    """The set in a folder of its own, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(os, "sched_getaffinity", lambda _: {0})
        prepare_threads()
        return run_set(write_data(folder / "data"), folder / "states")
