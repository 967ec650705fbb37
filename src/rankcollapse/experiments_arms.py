"""Experiments on saved collapses: the arms that stay at the floor, and the switches, after the path has been read and forecast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from audit.records import Provenance
from rankcollapse.arm_records import Drivers, Switches, Treatments
from rankcollapse.checkpoint import STATES, load_states, save_states
from rankcollapse.engine import Run, State
from rankcollapse.experiments import Bench, set_up
from rankcollapse.experiments_drivers import Results, describe_arms, train_named
from rankcollapse.params import Role, Scale
from rankcollapse.readings import Reader
from rankcollapse.records import RoleCalibration
from rankcollapse.records_readings import ReplayRow
from rankcollapse.treatments import ADDED, EPSILON, SWITCHES, Site, accompany, arms_of, is_switch, pauses, replay, reset_moments, treat

KEPT = ("untreated", "epsilon/", "paused_", "aged_", "control/", *(f"{arm}/" for arm, added in ADDED.items() if not added.exempt))
"""Runs whose last state is saved: what is read from weights after the runs."""


def sites_of(drivers: Drivers, states: Path, weak: float, scale: Scale, ends: Path | None = None) -> list[Site]:
    """The saved collapses of a seed set, in the order of its seeds; `ends` holds what their branches left."""
    saved, left = load_states(states / STATES)[0], load_states(ends / STATES)[0] if ends else {}
    seeds = [event.seed for event in drivers.events]
    return [Site(seed, saved[f"event-{seed}"], drivers.floor, weak, scale, aged_states(left, seed, scale)) for seed in seeds]


def aged_states(ends: dict[str, State], seed: int, scale: Scale) -> dict[str, State]:
    """What one collapse's stretches at the floor left, and the last of them with an emptied optimiser."""
    own = {name.removesuffix(f"-{seed}"): state for name, state in ends.items() if name.endswith(f"-{seed}")}
    last = f"paused_{len(scale.study.delays)}"
    return own | ({"reset": reset_moments(own[last])} if last in own else {})


def bench_of(stage: str, provenance: Provenance, scale: Scale, role: Role, calibration: RoleCalibration, folder: str) -> Bench:
    """The bench of one role, with its healthy Q."""
    return set_up(f"{stage} {role}", scale, int(calibration.depth.value), calibration.healthy_q, folder, provenance)


def with_epsilon(bench: Bench) -> Bench:
    """The same bench with the smaller epsilon of Adam."""
    optimiser = bench.setting.optimiser.model_copy(update={"epsilon": bench.scale.study.epsilon})
    return replace(bench, setting=replace(bench.setting, optimiser=optimiser))


def by_collapse(sites: Sequence[Site], runs: Sequence[Run]) -> list[Run]:
    """Runs collapse by collapse, the longest first, so that a further seed leaves the blocks before its own as they are."""
    places = {site.seed: place for place, site in enumerate(sites)}
    return sorted(runs, key=lambda run: (places[run.seed], -run.steps))


def train_arms(bench: Bench, table: Sequence[Run]) -> Results:
    """Train a table of arms, those with another epsilon as one of their own."""
    apart = [run.name.startswith(f"{EPSILON}/") for run in table]
    usual, other = ([run for run, flag in zip(table, apart, strict=True) if flag is wanted] for wanted in (False, True))
    return (train_named(bench, "arms", usual) if usual else {}) | (train_named(with_epsilon(bench), EPSILON, other) if other else {})


def save_ends(folder: Path, runs: Sequence[Run], results: Results) -> None:
    """Save the last states of the runs that are kept, as `arm-seed`."""
    save_states(folder / STATES, {run.name.replace("/", "-"): results[run.name][1] for run in runs if run.name.startswith(KEPT)})


def treat_set(
    provenance: Provenance, scale: Scale, role: Role, name: str, calibration: RoleCalibration,
    drivers: Drivers, folder: str, states: Path, ends_out: Path,
) -> Treatments:  # fmt: skip
    """Continue every saved collapse of a seed set under the arms that do not switch, and its control as far as any arm will go."""
    bench = bench_of("branch", provenance, scale, role, calibration, folder)
    sites, arms = sites_of(drivers, states, drivers.floor, scale), arms_of(scale, name)
    saved, _ = load_states(states / STATES)
    runs, paused, everything = treat(sites, arms, lambda arm: not is_switch(arm)), pauses(sites, arms), treat(sites, arms)
    controls = [accompany(site.seed, saved[f"control-{site.seed}"], everything, scale) for site in sites]
    table = by_collapse(sites, [*runs, *paused, *controls])
    results = train_arms(bench, table)
    save_ends(ends_out, table, results)
    return Treatments(
        provenance=provenance, role=role, depth=bench.setting.shape.depth, floor=drivers.floor, delays=scale.study.delays,
        branches=describe_arms(runs, results), controls=describe_arms(controls, results),
    )  # fmt: skip


def switch_set(
    provenance: Provenance, scale: Scale, role: Role, name: str, calibration: RoleCalibration, weak: float,
    drivers: Drivers, reader: Reader, folder: str, states: Path, ends: Path,
) -> Switches:  # fmt: skip
    """Switch every saved collapse of a seed set, at once and after its delays, and replay the first updates; `weak` is the depth's weak scale."""
    bench = bench_of("switch", provenance, scale, role, calibration, folder)
    sites = sites_of(drivers, states, weak, scale, ends)
    runs, again = treat(sites, arms_of(scale, name), is_switch), [run for site in sites for run in replay(site)]
    results = train_named(bench, "arms", by_collapse(sites, [*runs, *again])) if runs else {}
    return Switches(
        provenance=provenance, role=role, depth=bench.setting.shape.depth, weak_scale=weak, delays=scale.study.delays,
        branches=describe_arms(runs, results), replays=tuple(read_replay(run, results, reader) for run in again if runs),
    )  # fmt: skip


def read_replay(run: Run, results: Results, reader: Reader) -> ReplayRow:
    """One replayed network, beside what the switch it repeats logged at the same step."""
    arm, updates = run.name.split("/")[0].removeprefix("replay_").rsplit("_", 1)
    logged = results.get(f"switch_{arm}/{run.seed}")
    return reader.read_replayed(run.seed, results[run.name][1], SWITCHES[f"switch_{arm}"], int(updates), logged[0] if logged else None)
