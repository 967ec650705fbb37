"""Bursts of high learning rate as experiments: development, the bursts themselves, and, after the predictions, what followed them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audit.records import Provenance
from rankcollapse.arm_records import Continuations, Development, Excursion, Excursions
from rankcollapse.bursts import choose_multiplier, excursions, go_on
from rankcollapse.checkpoint import STATES, load_states, save_states
from rankcollapse.engine import Run, State
from rankcollapse.experiments import Bench, ranks, refuse_diverged
from rankcollapse.experiments_arms import bench_of
from rankcollapse.experiments_drivers import Results, describe_arms, train_named
from rankcollapse.params import Scale
from rankcollapse.quantities import count, exact
from rankcollapse.records import RoleCalibration


def train_excursions(bench: Bench, seeds: Sequence[int], multipliers: Sequence[float]) -> Results:
    """Bursts and controls of these networks, by name."""
    runs = excursions(seeds, multipliers, bench.scale)
    results = train_named(bench, "bursts", runs)
    refuse_diverged(bench, seeds, [results[f"warm/{seed}"] for seed in seeds])
    return results


def judge_excursion(multiplier: float, seeds: Sequence[int], results: Results, threshold: float) -> Excursion:
    """The networks at the end of a burst; one that diverged is counted, has no values and does not lie below the threshold."""
    raised = [results[f"burst_{multiplier:g}/{seed}"][0] for seed in seeds]
    controls = [results[f"control/{seed}"][0] for seed in seeds]
    sound = [trajectory.diverged_at is None for trajectory in raised]
    return Excursion(
        multiplier=multiplier,
        below=count([fine and ranks(trajectory)[-1] < threshold for fine, trajectory in zip(sound, raised, strict=True)]),
        diverged=count([not fine for fine in sound]),
        rank=tuple(trajectory.rank[-1] if fine else None for fine, trajectory in zip(sound, raised, strict=True)),
        loss_gap=tuple(up.loss[-1] - beside.loss[-1] if fine else None for fine, up, beside in zip(sound, raised, controls, strict=True)),
    )


def last_states(seeds: Sequence[int], arms: dict[str, str], results: Results) -> dict[str, State]:
    """Last states as `name-seed`, by the arm that each name stands for; a network that diverged has none."""
    found = {(name, seed): results.get(f"{arm}/{seed}") for name, arm in arms.items() for seed in seeds}
    return {f"{name}-{seed}": result[1] for (name, seed), result in found.items() if result and result[0].diverged_at is None}


def follow(bench: Bench, seeds: Sequence[int], multipliers: Sequence[float], ends: dict[str, State]) -> tuple[list[Run], Results]:
    """Train what follows the bursts of m1 and m2 from the states at their ends; a network that diverged is not continued."""
    runs = []
    for seed in seeds:
        own = {times: ends[f"{name}-{seed}"] for name, times in zip(("m1", "m2"), multipliers, strict=True) if f"{name}-{seed}" in ends}
        runs += go_on(seed, own, ends[f"control-{seed}"], bench.scale)
    return runs, train_named(bench, "after", runs)


def of_arms(kind: str, runs: Sequence[Run]) -> list[Run]:
    """The runs whose names begin so."""
    return [run for run in runs if run.name.startswith(kind)]


def develop(provenance: Provenance, scale: Scale, calibration: RoleCalibration, seeds: Sequence[int], folder: str, states_out: Path) -> Development:
    """Bursts over the whole grid on the development networks; m1 and m2 are chosen, and what follows them is trained too."""
    plan = scale.study.bursts
    bench = bench_of("development", provenance, scale, plan.role, calibration, folder)
    tried = sorted({*plan.multipliers, *(plan.second * times for times in plan.multipliers)})
    results = train_excursions(bench, seeds, tried)
    judged = {times: judge_excursion(times, seeds, results, float(calibration.collapse_threshold.value)) for times in tried}
    flags = {times: [value > 0 for value in judged[times].below.values or ()] for times in plan.multipliers}
    m1 = choose_multiplier(flags)
    ends = last_states(seeds, {"m1": f"burst_{m1:g}", "m2": f"burst_{plan.second * m1:g}", "control": "control"}, results)
    runs, after = follow(bench, seeds, (m1, plan.second * m1), ends)
    save_states(states_out / STATES, ends)
    return Development(
        provenance=provenance, role=plan.role, depth=bench.setting.shape.depth, seeds=tuple(seeds), excursions=tuple(judged.values()),
        m1=exact(m1, digits=1), m2=exact(plan.second * m1, digits=1), all_below=all(flags[m1]),
        bursts=describe_arms(of_arms("burst_", excursions(seeds, tried, scale)), results),
        branches=describe_arms(of_arms("after_", runs), after), controls=describe_arms(of_arms("control/", runs), after),
    )  # fmt: skip


def burst_set(
    provenance: Provenance, scale: Scale, calibration: RoleCalibration, development: Development, seeds: Sequence[int], folder: str, states_out: Path
) -> Excursions:
    """The bursts at both chosen multipliers, to their end, where every network is saved; predictions are made from there."""
    plan, m1, m2 = scale.study.bursts, float(development.m1.value), float(development.m2.value)
    bench = bench_of("excursions", provenance, scale, plan.role, calibration, folder)
    results = train_excursions(bench, seeds, (m1, m2))
    save_states(states_out / STATES, last_states(seeds, {"m1": f"burst_{m1:g}", "m2": f"burst_{m2:g}", "control": "control"}, results))
    rows = excursions(seeds, (m1, m2), scale)
    return Excursions(
        provenance=provenance, role=plan.role, depth=bench.setting.shape.depth, seeds=tuple(seeds),
        excursions=tuple(judge_excursion(times, seeds, results, float(calibration.collapse_threshold.value)) for times in (m1, m2)),
        warm=describe_arms(of_arms("warm/", rows), results), bursts=describe_arms(of_arms("burst_", rows), results),
        controls=describe_arms(of_arms("control/", rows), results),
    )  # fmt: skip


def continue_set(
    provenance: Provenance, scale: Scale, calibration: RoleCalibration, bursts: Excursions, folder: str, states: Path
) -> Continuations:
    """Continue every network after its bursts, untreated, beside its paired control."""
    bench = bench_of("continuations", provenance, scale, bursts.role, calibration, folder)
    ends, (m1, m2) = load_states(states / STATES)[0], (each.multiplier for each in bursts.excursions)
    runs, results = follow(bench, bursts.seeds, (m1, m2), ends)
    return Continuations(
        provenance=provenance, role=bursts.role, depth=bench.setting.shape.depth, multipliers=(m1, m2),
        branches=describe_arms(of_arms("after_", runs), results), controls=describe_arms(of_arms("control/", runs), results),
    )  # fmt: skip
