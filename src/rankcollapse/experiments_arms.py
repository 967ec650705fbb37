"""Experiments on saved collapses: the arms of a seed set, the replayed first updates, and the arms that ask what ages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audit.records import Provenance
from rankcollapse.ageing import age, reset_moments
from rankcollapse.arm_records import Ageing, Drivers, Replay, Treatments
from rankcollapse.checkpoint import load_states, save_states
from rankcollapse.engine import Run, State
from rankcollapse.experiments import Bench, set_up
from rankcollapse.experiments_drivers import STATES, Results, describe_arms, train_named
from rankcollapse.params import Role, Scale
from rankcollapse.records import RoleCalibration
from rankcollapse.treatments import Site, accompany, arms_of, pauses, replay, treat, whole

KEPT = ("untreated", "paused_", "hinge_1x/", "hinge_4x/", "control/", "replay_")
"""Runs whose last state is saved: what is read from weights after the runs."""


def sites_of(drivers: Drivers, states: Path, weak: float, scale: Scale) -> list[Site]:
    """The saved collapses of a seed set, in the order of its seeds."""
    saved, _ = load_states(states / STATES)
    return [Site(event.seed, saved[f"event-{event.seed}"], drivers.floor, weak, scale) for event in drivers.events]


def bench_of(stage: str, provenance: Provenance, scale: Scale, role: Role, calibration: RoleCalibration, folder: str) -> Bench:
    """The bench of one role, with its healthy Q."""
    return set_up(f"{stage} {role}", scale, int(calibration.depth.value), calibration.healthy_q, folder, provenance)


def save_ends(folder: Path, runs: Sequence[Run], results: Results, kept: Sequence[str] = KEPT) -> None:
    """Save the last states of the runs whose names begin in one of these ways, as `arm-seed`."""
    ends: dict[str, State] = {run.name.replace("/", "-"): results[run.name][1] for run in runs if run.name.startswith(tuple(kept))}
    save_states(folder / STATES, ends)


def treat_set(
    provenance: Provenance, scale: Scale, role: Role, name: str, calibration: RoleCalibration, weak: float,
    drivers: Drivers, folder: str, states: Path, states_out: Path,
) -> Treatments:  # fmt: skip
    """Continue every saved collapse of a seed set under the arms that the parameters give the set; `weak` is the depth's weak skip scale."""
    bench = bench_of("treatments", provenance, scale, role, calibration, folder)
    sites, arms = sites_of(drivers, states, weak, scale), arms_of(scale, name)
    saved, _ = load_states(states / STATES)
    runs, paused = treat(sites, arms), pauses(sites, arms)
    controls = [accompany(site.seed, saved[f"control-{site.seed}"], runs, scale) for site in sites]
    table = [*runs, *paused, *controls]
    results = train_named(bench, "arms", table) if table else {}
    save_ends(states_out, table, results)
    return Treatments(
        provenance=provenance, role=role, depth=bench.setting.shape.depth, floor=drivers.floor, weak_scale=weak, delays=whole(scale).delays,
        branches=describe_arms(runs, results), controls=describe_arms(controls, results),
    )  # fmt: skip


def replay_set(
    provenance: Provenance, scale: Scale, role: Role, calibration: RoleCalibration, drivers: Drivers, folder: str, states: Path, states_out: Path
) -> Replay:
    """Train the first updates after the switches to 0.3 and 1 again, and save the networks after each number of them."""
    bench = bench_of("replay", provenance, scale, role, calibration, folder)
    runs = [run for site in sites_of(drivers, states, drivers.floor, scale) for run in replay(site)]
    results = train_named(bench, "updates", runs) if runs else {}
    save_ends(states_out, runs, results)
    updates = whole(scale).replays
    return Replay(provenance=provenance, role=role, depth=bench.setting.shape.depth, updates=updates, branches=describe_arms(runs, results))


def age_set(
    provenance: Provenance, scale: Scale, role: Role, calibration: RoleCalibration,
    drivers: Drivers, folder: str, states: Path, treated: Path, few: int,
) -> Ageing:  # fmt: skip
    """Two further arms of the longest delay for the first `few` collapses; `treated` holds the states that `treat_set` saved."""
    bench = bench_of("ageing", provenance, scale, role, calibration, folder)
    ends, delays = load_states(treated / STATES)[0], whole(scale).delays
    sites = sites_of(drivers, states, drivers.floor, scale)[:few]
    runs = [run for site in sites for run in age(site, reset_moments(ends[f"paused_{len(delays)}-{site.seed}"]))]
    results = train_named(bench, "arms", runs) if runs else {}
    depth = bench.setting.shape.depth
    return Ageing(provenance=provenance, role=role, depth=depth, delay=delays[-1], branches=describe_arms(runs, results))
