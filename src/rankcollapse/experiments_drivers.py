"""Drivers of the whole study as experiments: a seed set driven into collapse under close watch, and drivers that leave the skip intact."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from audit.records import Provenance, Refusal
from rankcollapse import events as rules
from rankcollapse.arm_records import ArmRow, Dip, Drivers, Intact, IntactArm, Series
from rankcollapse.checkpoint import STATES, save_states
from rankcollapse.drivers import control_closely, drive_closely, leave_intact
from rankcollapse.engine import Run, State, Trajectory
from rankcollapse.experiments import Bench, describe_run, find_event, joined_trajectory, ranks, refuse_diverged, set_up
from rankcollapse.params import Role, Scale
from rankcollapse.quantities import count
from rankcollapse.records import Calibration, RoleCalibration
from rankcollapse.tables import warm_up, warmed

DETECTOR = "uncentred_rank"
"""The reading that shows a collapse where the skip connection is intact (source paper, appendix C)."""
Results = dict[str, tuple[Trajectory, State]]


def train_named(bench: Bench, name: str, runs: Sequence[Run]) -> Results:
    """Train a table; results by the names of its runs."""
    return dict(zip((run.name for run in runs), bench.train(name, runs), strict=True))


def describe_arm(run: Run, trajectory: Trajectory) -> ArmRow:
    """A run of the whole study as its record shows it."""
    row = describe_run(run, trajectory)
    series = Series(**dict(row.trajectory), extra={name: tuple(values) for name, values in trajectory.extra.items()})
    return ArmRow(**dict(row) | {"trajectory": series, "start": run.start, "exempt": run.exempt})


def describe_arms(runs: Sequence[Run], results: Results) -> tuple[ArmRow, ...]:
    """Runs as their record shows them, in the order given."""
    return tuple(describe_arm(run, results[run.name][0]) for run in runs)


def stop_rule(scale: Scale, calibration: RoleCalibration) -> rules.Settled:
    """A driver may stop once its collapse has settled."""
    return rules.Settled(float(calibration.collapse_threshold.value), scale.driver.warm, scale.rules.settle_after, scale.rules.settle_window)


def drive_set(
    provenance: Provenance, scale: Scale, role: Role, calibration: Calibration, seeds: Sequence[int], folder: str, states_out: Path
) -> Drivers:
    """Drive each seed into collapse beside its healthy control, measured closely; save every collapse that settles, and every control."""
    own, floor = getattr(calibration, role), float(calibration.floor.value)
    bench = set_up(f"drivers {role}", scale, int(own.depth.value), own.healthy_q, folder, provenance)
    warm, origins = warm_up(seeds, scale), warmed(seeds, scale)
    drivers = drive_closely(seeds, origins, floor, scale, stop_rule(scale, own))
    controls = control_closely(seeds, origins, scale)
    results = train_named(bench, "drivers", [*warm, *(run for pair in zip(drivers, controls, strict=True) for run in pair)])
    refuse_diverged(bench, seeds, [results[run.name] for run in warm])
    low, triples = float(own.collapse_threshold.value), list(zip(seeds, drivers, controls, strict=True))
    found = {seed: find_event(seed, results[d.name][0], results[c.name][0], low, scale) for seed, d, c in triples}
    keep = {f"event-{seed}": results[d.name][1] for seed, d, _ in triples if found[seed]}
    save_states(states_out / STATES, keep | {f"control-{seed}": results[c.name][1] for seed, _, c in triples})
    dips = [find_dip(seed, results[d.name][0], low, scale) for seed, d, _ in triples if not found[seed]]
    return Drivers(
        provenance=provenance, role=role, depth=int(own.depth.value), floor=floor,
        events=tuple(event for event in found.values() if event), dips=tuple(dip for dip in dips if dip),
        unsettled=tuple(seed for seed, event in found.items() if not event),
        drivers=describe_arms(drivers, results),
        controls=tuple(describe_arm(c, joined_trajectory(results[w.name][0], results[c.name][0])) for w, c in zip(warm, controls, strict=True)),
    )  # fmt: skip


def find_dip(seed: int, driven: Trajectory, low: float, scale: Scale) -> Dip | None:
    """What a driver without a settled collapse did below the threshold; None where it never was."""
    series = ranks(driven)
    detected = rules.find_collapse(driven.step, series, low, scale.driver.warm)
    if detected is None:
        return None
    below = [rank for rank in series[detected:] if rank < low]
    return Dip(seed=seed, detected=driven.step[detected], measurements=len(below), lowest=min(below), healed=series[-1] >= low)


def leave_set(provenance: Provenance, scale: Scale, role: Role, calibration: RoleCalibration, seeds: Sequence[int], folder: str) -> Intact:
    """Train the drivers that leave the skip connection intact, and look for collapses in the uncentred rank.

    The threshold is that of the collapse, as in the source paper: no rank is below 1, where a share of the uncentred rank may lie.
    """
    if DETECTOR not in scale.study.intact.readings:
        raise Refusal("params.yaml", "drivers with the skip intact are not read as they must be", expected=f"{DETECTOR} in study.intact.readings")
    bench = set_up(f"intact {role}", scale, int(calibration.depth.value), calibration.healthy_q, folder, provenance)
    runs = leave_intact(seeds, scale)
    results = train_named(bench, "drivers", runs)
    warm, driven = runs[: len(seeds)], runs[len(seeds) :]
    refuse_diverged(bench, seeds, [results[run.name] for run in warm])
    level = fmean(median(results[run.name][0].extra[DETECTOR][-scale.rules.settle_window :]) for run in warm)
    low = float(calibration.collapse_threshold.value)
    names = dict.fromkeys(run.name.split("/")[0] for run in driven)
    groups = {arm: [results[run.name][0] for run in driven if run.name.startswith(f"{arm}/")] for arm in names}
    return Intact(
        provenance=provenance, role=role, depth=int(calibration.depth.value), healthy_rank=level, threshold=low,
        arms=tuple(judge_intact(arm, trajectories, scale, low) for arm, trajectories in groups.items()),
        warm=describe_arms(warm, results), runs=describe_arms(driven, results),
    )  # fmt: skip


def judge_intact(arm: str, trajectories: Sequence[Trajectory], scale: Scale, low: float) -> IntactArm:
    """How many networks were detected below the threshold after the warm-up, and how many of them settled there."""
    detected, settled, rule = [], [], scale.rules
    for trajectory in trajectories:
        series = trajectory.extra[DETECTOR]
        detected.append(rules.find_collapse(trajectory.step, series, low, scale.driver.warm) is not None)
        settled.append(rules.find_lasting(trajectory.step, series, low, scale.driver.warm, rule.settle_after, rule.settle_window) is not None)
    return IntactArm(arm=arm, detected=count(detected), settled=count(settled))
