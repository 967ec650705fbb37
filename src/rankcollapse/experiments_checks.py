"""Calibration of the whole study on its own collapses: untreated persistence, checks of the hinge, and the weak skip scale of each depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from audit.records import Provenance, Quantity, Refusal
from rankcollapse import events as rules
from rankcollapse.arm_records import Checks, HingeChecks, WeakRow
from rankcollapse.checks import check_losses, choose_weak, in_band, name_scale, try_scales
from rankcollapse.drivers import drive_closely
from rankcollapse.engine import Trajectory
from rankcollapse.experiments import ranks, refuse_diverged, set_up
from rankcollapse.experiments_drivers import describe_arms, stop_rule, train_named
from rankcollapse.params import Role, Scale
from rankcollapse.quantities import count, exact
from rankcollapse.records import Calibration, RoleCalibration
from rankcollapse.tables import warm_up, warmed
from rankcollapse.treatments import Site


class Recovered(NamedTuple):
    """Whether a branch recovered, by rank and effectively."""

    rank: bool
    effective: bool


def judge(trajectory: Trajectory, calibration: RoleCalibration, scale: Scale) -> Recovered:
    """Both recovery rules on one branch."""
    rule = scale.rules
    residual = rule.effective * float(calibration.healthy_residual.value)
    return Recovered(*(rules.find_return(trajectory, rule, float(calibration.recover_threshold.value), each) is not None for each in (None, residual)))


def check_set(provenance: Provenance, scale: Scale, role: Role, calibration: Calibration, seeds: Sequence[int], folder: str) -> Checks:
    """Drive the calibration's seeds to the chosen floor again, until they settle, and try what the main study will rely on."""
    own, floor = getattr(calibration, role), float(calibration.floor.value)
    bench = set_up(f"checks {role}", scale, int(own.depth.value), own.healthy_q, folder, provenance)
    warm, drivers = warm_up(seeds, scale), drive_closely(seeds, warmed(seeds, scale), floor, scale, stop_rule(scale, own))
    driven = train_named(bench, "drivers", [*warm, *drivers])
    refuse_diverged(bench, seeds, [driven[run.name] for run in warm])
    settled = [run for run in drivers if stop_rule(scale, own)(driven[run.name][0].step, ranks(driven[run.name][0]))]
    if not settled:
        raise Refusal(bench.label, "no collapse settled at the chosen floor", cure="hold longer (driver.hold), or other seeds")
    sites = [Site(run.seed, driven[run.name][1], floor, floor, scale) for run in settled]
    grid = getattr(scale.study.weak, role)
    runs = [run for site in sites for run in (*check_losses(site, bench.setting.shape.depth), *try_scales(site, grid))]
    results = train_named(bench, "branches", runs)
    verdicts = {run.name: judge(results[run.name][0], own, scale) for run in runs}
    rows = judge_grid(grid, sites, verdicts)
    flags = {skip: row.effective.values or () for skip, row in zip(grid, rows, strict=True)}
    weak = choose_weak(flags)
    return Checks(
        provenance=provenance, role=role, depth=bench.setting.shape.depth, floor=floor,
        settled=tuple(site.seed for site in sites), unsettled=tuple(run.seed for run in drivers if run not in settled),
        stayed=count([not verdicts[f"untreated/{site.seed}"].rank for site in sites]),
        hinge=HingeChecks(**{name: count_recovered(f"check_{name}", sites, verdicts) for name in HingeChecks.model_fields}),
        weak_grid=rows, weak_scale=exact(weak, digits=3),
        weak_in_band=in_band(flags[weak], scale.study.weak.low, scale.study.weak.high),
        drivers=describe_arms(drivers, driven), branches=describe_arms(runs, results),
    )  # fmt: skip


def count_recovered(arm: str, sites: Sequence[Site], verdicts: dict[str, Recovered], rule: str = "rank") -> Quantity:
    """How many collapses recovered under an arm by one of the rules."""
    return count([getattr(verdicts[f"{arm}/{site.seed}"], rule) for site in sites])


def judge_grid(grid: Sequence[float], sites: Sequence[Site], verdicts: dict[str, Recovered]) -> tuple[WeakRow, ...]:
    """Recoveries at each scale of the grid, by both rules."""
    return tuple(
        WeakRow(
            skip=exact(skip, digits=3),
            recovered=count_recovered(name_scale(skip), sites, verdicts),
            effective=count_recovered(name_scale(skip), sites, verdicts, "effective"),
        )
        for skip in grid
    )
