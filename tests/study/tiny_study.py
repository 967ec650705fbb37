"""The whole study in seconds: a scale at which untrained networks collapse without a skip, and its records."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from audit.records import Provenance
from rankcollapse.experiments import branch, calibrate, collapse, measure_paths
from rankcollapse.params import ROLES, Branches, Data, Depths, Driver, Model, Optimiser, Probe, Rules, Scale
from rankcollapse.records import Branch, Calibration, Collapse
from rankcollapse.records import Path as PathRecord

SCALE = Scale(
    data=Data(source="encyclopedia", vocabulary=257, documents=10, train=0.8, probe=0.1, unseen=0.1),
    model=Model(width=8, heads=2, context=8, init_std=0.3),
    depths=Depths(shallow=2, deep=3),
    optimiser=Optimiser(learning_rate=2e-3, beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.1, clip=1.0),
    batch=2,
    stack=4,
    checkpoint_seconds=1e9,
    probe=Probe(rank_sequences=4, gradient_sequences=6),
    driver=Driver(warm=5, ramp=10, hold=20, floors=(0.5, 0.0)),
    rules=Rules(
        collapse=0.7, recover=0.8, effective=0.1, settle_after=5, settle_window=2, recover_window=2, recover_hold=1,
        measure_driver=5, measure_switch=1, measure_loss=5, tolerance=0.5,
    ),
    branches=Branches(added_loss=0.1, loss_steps=10, switch_steps=10, ramp_steps=10, after_ramp=10, untreated_steps=10),
)  # fmt: skip
SEEDS = (0, 3)


class Records(NamedTuple):
    """What the stages before `analyse` write."""

    calibration: Calibration
    collapsed: dict[str, Collapse]
    branched: dict[str, Branch]
    paths: dict[str, PathRecord]


def provenance(stage: str) -> Provenance:
    """A provenance that names no input."""
    return Provenance(stage=stage, seals={}, parameters="0" * 64, seeds=SEEDS, data={})


def run_study(data: Path, states: Path, scale: Scale = SCALE) -> Records:
    """Every experiment at a tiny scale."""
    folder, collapsed, branched, paths = str(data), {}, {}, {}
    calibration = calibrate(provenance("calibrate"), scale, (5, 6), folder)
    for role in ROLES:
        own = getattr(calibration, role)
        collapsed[role] = collapse(provenance("collapse"), scale, role, calibration, SEEDS, folder, states / role)
        branched[role] = branch(provenance("branch"), scale, role, own, collapsed[role], folder, states / role)
        paths[role] = measure_paths(provenance("path"), scale, role, own, collapsed[role], folder, states / role)
    return Records(calibration, collapsed, branched, paths)
