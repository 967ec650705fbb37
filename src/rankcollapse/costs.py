"""What the study costs before it is run, counted from its tables of runs: network-steps, operations, memory, hours on a device."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from audit.records import Refusal, read_yaml
from rankcollapse.bursts import excursions, go_on
from rankcollapse.checks import check_losses, try_scales
from rankcollapse.drivers import control_closely, drive_closely, leave_intact
from rankcollapse.engine import Fork, Run
from rankcollapse.params import ROLES, STUDIES, Params, Scale, SeedSets, load_params
from rankcollapse.plan import PROCESSORS, count_bytes, count_flops, setting_of, stack_bytes
from rankcollapse.spectral_arms import Arm, list_arms, list_caps, make_runs, teach
from rankcollapse.spectral_tests import PLAIN
from rankcollapse.tables import control, drive, warm_up, warmed
from rankcollapse.treatments import Site, accompany, arms_of, is_switch, pauses, replay, treat

SETS = tuple(SeedSets.model_fields)


class Table(NamedTuple):
    """One table of runs: what it is of, the depth's role, and its runs."""

    name: str
    role: str
    runs: list[Run]
    scale: Scale | None = None
    """Of a study with networks of its own."""


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
    tried = [run for site in settled_sites(number, scale) for run in (*check_losses(site, depth), *try_scales(site, getattr(scale.study.weak, role)))]
    return [
        Table("floors", role, [*warm_up(seeds, scale), *control(seeds, origins, length, scale), *floors]),
        Table("calibration collapses", role, [*warm_up(seeds, scale), *cut_short(drive_closely(seeds, origins, floor, scale, None), scale)]),
        Table("checks", role, tried),
    ]


def cut_short(drivers: list[Run], scale: Scale) -> list[Run]:
    """Drivers that stop where every collapse settles."""
    return [Run(run.name, run.seed, settled_step(scale) - run.start, run.skip, measure_every=run.measure_every, origin=run.origin) for run in drivers]


def list_set(name: str, role: str, number: int, scale: Scale) -> list[Table]:
    """Drivers, the arms that stay at the floor, and the switches of a seed set."""
    seeds, arms, sites = range(number), arms_of(scale, name), settled_sites(number, scale)
    origins, end = warmed(seeds, scale), scale.driver.warm + scale.driver.ramp + scale.driver.hold
    driven = cut_short(drive_closely(seeds, origins, scale.driver.floors[-1], scale, None), scale)
    controls = [accompany(seed, Fork(f"healthy/{seed}", end), treat(sites, arms), scale) for seed in seeds]
    return [
        Table(f"{name} drivers", role, [*warm_up(seeds, scale), *driven, *control_closely(seeds, origins, scale)]),
        Table(f"{name} branches", role, [*treat(sites, arms, lambda arm: not is_switch(arm)), *pauses(sites, arms), *controls]),
        Table(f"{name} switches", role, [*treat(sites, arms, is_switch), *(run for site in sites for run in replay(site))]),
    ]


def list_bursts(seeds: Mapping[str, int], scale: Scale) -> list[Table]:
    """Development and the bursts; m1 is taken to be the smallest multiplier of the grid."""
    plan, tables = scale.study.bursts, []
    grid = sorted({*plan.multipliers, *(plan.second * times for times in plan.multipliers)})
    chosen = (plan.multipliers[0], plan.second * plan.multipliers[0])
    end = plan.start + plan.updates
    for name, multipliers in (("development", grid), ("bursts", chosen)):
        own = range(seeds[name])
        after = [run for seed in own for run in go_on(seed, {times: Fork(f"burst/{seed}", end) for times in chosen}, Fork(f"paired/{seed}", end), scale)]
        tables += [Table(name, plan.role, excursions(own, multipliers, scale)), Table(f"{name} after", plan.role, after)]
    return tables


def list_spectral(study: str, seeds: Mapping[str, int], scale: Scale) -> list[Table]:
    """Development and the arms of a study of attention's spectra, at the lowest rate of its grid."""
    plan, own, every = scale.spectral, range(seeds[STUDIES[study]]), range(seeds[study])
    few, learnt = every[: plan.few], {seed: Fork(f"learnt_none/{seed}", plan.learn) for seed in {*own, *every} if plan.learn}
    tried = [run for place, rate in enumerate(plan.rates, 1) for run in make_runs(f"rate_{place}", Arm(), rate, own, scale, False, learnt)]
    capped = [run for name, arm in list_caps(plan).items() for run in make_runs(name, arm, plan.rates[0], own[: plan.few], scale, False, learnt)]
    arms = [
        run for name, arm in list_arms(plan).items()
        for run in make_runs(name, arm, plan.rates[0], every if name == PLAIN else few, scale, name == PLAIN, learnt)
    ]  # fmt: skip
    return [Table(f"{study} development", plan.role, [*teach(own, scale), *tried, *capped], scale), Table(study, plan.role, [*teach(every, scale), *teach(few, scale, "rms"), *arms], scale)]


def list_study(scale: Scale, seeds: Mapping[str, int]) -> list[Table]:
    """Every table of the whole study, for so many seeds in each set, if every collapse settles in the middle of its hold."""
    tables = []
    for role in ROLES:
        tables += list_calibration(role, seeds["calibration"], scale)
        for name in scale.arms:
            tables += list_set(name, role, seeds[name], scale)
        tables.append(Table("intact", role, leave_intact(range(seeds["intact"]), scale)))
    return [*tables, *list_bursts(seeds, scale), *(table for study in STUDIES for table in list_spectral(study, seeds, scale.study_of(study)))]


def count_steps(tables: list[Table]) -> int:
    """Network-steps of tables."""
    return sum(run.steps for table in tables for run in table.runs)


def plan_study(params: Params) -> str:
    """The plan of the scale in use, as a page of text."""
    scale, lines = params.chosen, []
    seeds = {name: seeds_of(params, name) for name in SETS}
    lines += [f"scale {params.scale}: width {scale.model.width}, context {scale.model.context}, batch {scale.batch}, vocabulary {scale.data.vocabulary}, "
              f"stacks of {scale.stack}; seeds: {', '.join(f'{name} {number}' for name, number in seeds.items())}", ""]  # fmt: skip
    lines += [f"{'table':<22} {'role':<8} {'depth':>5} {'runs':>5} {'stacks':>6} {'network-steps':>13} {'PFLOP':>8} {'GiB a stack':>11}"]
    steps = flops = moved = disk = 0.0
    size = 2 if scale.hardware.precision == "bf16" else 4
    for table in list_study(scale, seeds):
        role, runs, own = table.role, table.runs, table.scale or scale
        setting = setting_of(own, getattr(own.depths, role), 1.0)
        number = sum(run.steps for run in runs)
        work = number * count_flops(setting.shape, own.batch)
        steps, flops, moved = steps + number, flops + work, moved + number * count_bytes(setting.shape, own.batch, size)
        memory = stack_bytes(setting, min(scale.stack, len(runs))) / 2**30
        disk += len(runs) * 12 * setting.shape.size / 2**30  # weights and two moments, four bytes each
        lines.append(f"{table.name:<22} {role:<8} {setting.shape.depth:>5} {len(runs):>5} {-(-len(runs) // scale.stack):>6} {number:>13,} {work / 1e15:>8.2f} {memory:>11.2f}")
    lines += [f"{'total':<22} {'':<8} {'':>5} {'':>5} {'':>6} {int(steps):>13,} {flops / 1e15:>8.2f}", ""]
    lines += [f"{'device':<14} {'hours, arithmetic':>17} {'hours, memory':>14} {'hours, estimate':>16} {'stacks that fit':>16}"]
    for device in PROCESSORS:
        arithmetic, memory = flops / device.flops / 3600, moved / device.bandwidth / 3600
        stack = stack_bytes(setting_of(scale, scale.depths.deep, 1.0), scale.stack)
        estimate = max(arithmetic / device.share, memory / 0.6)
        lines.append(f"{device.name:<14} {arithmetic:>17.2f} {memory:>14.2f} {estimate:>16.2f} {int(device.memory // stack):>16}")
    return "\n".join([*lines, "", "An estimate: the larger of arithmetic at the share of the tensor cores that small products reach (20-25 %) and memory at 60 % of its bandwidth;",
                      "benchmarks/gpu.py measures a step on the GPU there is.",
                      f"Finished stacks take {disk:.1f} GiB of disk, where fanout.keep is on."])  # fmt: skip


def seeds_of(params: Params, name: str) -> int:
    """How many seeds a set has: as many as are listed, or as the registration says that they derive from."""
    seeds = params.seed_set(name)
    return int(read_yaml(Path(f"prereg/{seeds}.yaml"))["seeds"]["sets"][name]) if isinstance(seeds, str) else len(seeds)


def main(option: str, name: str) -> None:
    """Print the plan of a scale: `python -m rankcollapse.engine --plan SCALE`."""
    params = load_params()
    if option != "--plan":
        raise Refusal("usage", "wrong option", expected="--plan SCALE", observed=option)
    if name not in type(params.scales).model_fields:
        raise Refusal("--plan", "no such scale", expected=", ".join(type(params.scales).model_fields), observed=name)
    print(plan_study(params.model_copy(update={"scale": name})))
