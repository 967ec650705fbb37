"""What the whole study costs, counted from its tables of runs as `plan.py` counts the study before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rankcollapse.ageing import age
from rankcollapse.bursts import excursions, go_on
from rankcollapse.checks import check_losses, try_scales
from rankcollapse.drivers import control_closely, drive_closely, leave_intact
from rankcollapse.engine import Fork, Run
from rankcollapse.params import ROLES, Scale
from rankcollapse.plan import count_flops, setting_of
from rankcollapse.tables import control, drive, warm_up, warmed
from rankcollapse.treatments import Site, accompany, arms_of, pauses, replay, treat, whole


class Table(NamedTuple):
    """One table of runs: what it is of, the depth's role, and its runs."""

    name: str
    role: str
    runs: list[Run]


def settled_step(scale: Scale) -> int:
    """Where a plan lets every collapse settle: in the middle of the hold."""
    return scale.driver.warm + scale.driver.ramp + scale.driver.hold // 2


def settled_sites(number: int, scale: Scale) -> list[Site]:
    """So many saved collapses, at the smallest floor."""
    return [Site(seed, Fork(f"event/{seed}", settled_step(scale)), scale.driver.floors[-1], scale.driver.floors[-1], scale) for seed in range(number)]


def list_calibration(role: str, number: int, scale: Scale) -> list[Table]:
    """The floor grid, the calibration's own collapses, and what is tried on them."""
    seeds, depth = range(number), getattr(scale.depths, role)
    origins, length, floor = warmed(seeds, scale), scale.driver.ramp + scale.driver.hold, scale.driver.floors[-1]
    floors = [run for each in scale.driver.floors for run in drive(seeds, origins, each, scale, None)]
    tried = [run for site in settled_sites(number, scale) for run in (*check_losses(site, depth), *try_scales(site, getattr(whole(scale).weak, role)))]
    return [
        Table("floors", role, [*warm_up(seeds, scale), *control(seeds, origins, length, scale), *floors]),
        Table("calibration collapses", role, [*warm_up(seeds, scale), *cut_short(drive_closely(seeds, origins, floor, scale, None), scale)]),
        Table("checks", role, tried),
    ]


def cut_short(drivers: list[Run], scale: Scale) -> list[Run]:
    """Drivers that stop where every collapse settles."""
    return [Run(run.name, run.seed, settled_step(scale) - run.start, run.skip, measure_every=run.measure_every, origin=run.origin) for run in drivers]


def list_set(name: str, role: str, number: int, scale: Scale) -> list[Table]:
    """Drivers, arms and replayed updates of a seed set; the replication's first collapses are those that are asked what ages."""
    seeds, arms, sites = range(number), arms_of(scale, name), settled_sites(number, scale)
    origins, end = warmed(seeds, scale), scale.driver.warm + scale.driver.ramp + scale.driver.hold
    driven = cut_short(drive_closely(seeds, origins, scale.driver.floors[-1], scale, None), scale)
    runs = treat(sites, arms)
    controls = [accompany(seed, Fork(f"healthy/{seed}", end), runs, scale) for seed in seeds]
    aged = [run for site in sites[: arms.few_events] for run in age(site, Fork(f"paused/{site.seed}", site.origin.step + whole(scale).delays[-1]))]
    return [
        Table(f"{name} drivers", role, [*warm_up(seeds, scale), *driven, *control_closely(seeds, origins, scale)]),
        Table(f"{name} arms", role, [*runs, *pauses(sites, arms), *controls]),
        Table(f"{name} replay", role, [run for site in sites for run in replay(site)]),
        *([Table(f"{name} ageing", role, aged)] if name == "replication" else []),
    ]


def list_bursts(seeds: Mapping[str, int], scale: Scale) -> list[Table]:
    """Development and the bursts; m1 is taken to be the smallest multiplier of the grid."""
    plan, tables = whole(scale).bursts, []
    grid = sorted({*plan.multipliers, *(plan.second * times for times in plan.multipliers)})
    chosen = (plan.multipliers[0], plan.second * plan.multipliers[0])
    end = plan.start + plan.updates
    for name, multipliers in (("development", grid), ("bursts", chosen)):
        own = range(seeds[name])
        after = [run for seed in own for run in go_on(seed, {times: Fork(f"burst/{seed}", end) for times in chosen}, Fork(f"paired/{seed}", end), scale)]
        tables += [Table(name, plan.role, excursions(own, multipliers, scale)), Table(f"{name} after", plan.role, after)]
    return tables


def list_study(scale: Scale, seeds: Mapping[str, int]) -> list[Table]:
    """Every table of the whole study, for so many seeds in each set, if every collapse settles in the middle of its hold."""
    tables = []
    for role in ROLES:
        tables += list_calibration(role, seeds["calibration"], scale)
        for name in scale.arms:
            tables += list_set(name, role, seeds[name], scale)
        tables.append(Table("intact", role, leave_intact(range(seeds["intact"]), scale)))
    return [*tables, *list_bursts(seeds, scale)]


def count_steps(tables: list[Table]) -> int:
    """Network-steps of tables."""
    return sum(run.steps for table in tables for run in table.runs)


def describe_costs(scale: Scale, seeds: Mapping[str, int]) -> str:
    """The tables of the whole study with their runs, network-steps and operations, as a page of text."""
    lines, total = [f"{'table':<22} {'role':<8} {'runs':>5} {'network-steps':>13} {'PFLOP':>8}"], 0.0
    tables = list_study(scale, seeds)
    for table in tables:
        steps = count_steps([table])
        work = steps * count_flops(setting_of(scale, getattr(scale.depths, table.role), 1.0).shape, scale.batch) / 1e15
        total += work
        lines.append(f"{table.name:<22} {table.role:<8} {len(table.runs):>5} {steps:>13,} {work:>8.2f}")
    lines.append(f"{'total':<22} {'':<8} {sum(len(table.runs) for table in tables):>5} {count_steps(tables):>13,} {total:>8.2f}")
    return "\n".join(lines)
