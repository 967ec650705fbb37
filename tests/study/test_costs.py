"""What the study costs at the committed values: network-steps follow from budgets, arms and seeds, and every table is one that can be trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankcollapse.costs import SETS, count_steps, list_study, settled_sites
from rankcollapse.drivers import control_closely
from rankcollapse.engine import Fork, Run, check_table
from rankcollapse.groups import Spectral
from rankcollapse.params import ROLES, Scale, load_params
from rankcollapse.plan import setting_of
from rankcollapse.spectral_arms import list_arms as spectral_arms
from rankcollapse.treatments import ADDED, AGED, EPSILON, accompany, arms_of, is_switch, list_arms, treat

PARAMS = load_params(Path(__file__).parents[2] / "params.yaml")
SEEDS = {
    "calibration": 3, "main": 3, "replication": 4, "intact": 3, "development": 4, "bursts": 8, "attention": 6, "spectral": 32,
    "restart_attention": 16, "restart": 32,
}  # fmt: skip
"""How many seeds each set has at the laptop."""


def at_scale(name: str) -> Scale:
    """The values of a scale."""
    return PARAMS.model_copy(update={"scale": name}).chosen


@pytest.fixture(params=["smoke", "laptop", "paper"])
def scale(request):
    """Each scale of the committed file."""
    return at_scale(request.param)


def test_every_set_is_counted():
    """Seeds are asked of every set there is; those that are listed are as many as counted here."""
    assert set(SETS) == set(SEEDS)
    listed = {name: len(PARAMS.seed_set(name)) for name in SETS if not isinstance(PARAMS.seed_set(name), str)}
    assert listed == {name: SEEDS[name] for name in ("calibration", "intact", "development", "attention", "restart_attention")}


def test_tables_fit_the_engine(scale):
    """Every table of every scale is one that the engine takes, with the runs that it forks from beside it."""
    for table in list_study(scale, SEEDS):
        names = {run.name for run in table.runs}
        outside = {run.origin for run in table.runs if isinstance(run.origin, Fork) and run.origin.run not in names}
        origins = [Run(name, 0, 10**5) for name in sorted({fork.run for fork in outside})]
        own = table.scale or scale
        check_table(table.name, [*table.runs, *origins], setting_of(own, getattr(own.depths, table.role), 1.0).shape)


def count_set(scale: Scale, name: str, number: int, few: int) -> dict[str, int]:
    """Network-steps of the tables of one seed set at one depth, from the parameters alone; `few` events get the descriptive arms."""
    d, b, s = scale.driver, scale.branches, scale.study
    settled, length = d.ramp + d.hold // 2, d.ramp + d.hold
    floor, switches = b.untreated_steps + b.ramp_steps + b.after_ramp + 3 * b.loss_steps, (2 + 3) * b.switch_steps
    last = max(b.untreated_steps, b.loss_steps, b.ramp_steps + b.after_ramp, s.delays[-1] + b.switch_steps)
    epsilon = b.untreated_steps if name == "replication" else 0
    beside = {"main": (6 * b.loss_steps, 2 * b.switch_steps), "replication": (2 * b.loss_steps + s.delays[-1], 2 * b.switch_steps)}[name]
    return {
        f"{name} drivers": number * (d.warm + settled + length),
        f"{name} branches": number * (floor + epsilon + max(last - (d.hold - d.hold // 2), 1)) + few * beside[0],
        f"{name} switches": number * (switches + 2 * s.replays[-1]) + few * beside[1],
    }


def count_role(scale: Scale, seeds: dict[str, int]) -> dict[str, int]:
    """Network-steps of every table of one role but those of the bursts."""
    d, b, s = scale.driver, scale.branches, scale.study
    settled, length = d.ramp + d.hold // 2, d.ramp + d.hold
    return {
        "floors": seeds["calibration"] * (d.warm + (1 + len(d.floors)) * length),
        "calibration collapses": seeds["calibration"] * (d.warm + settled),
        "checks": seeds["calibration"] * (b.untreated_steps + 3 * b.loss_steps + len(s.weak.shallow) * b.switch_steps),
        "intact": seeds["intact"] * (d.warm + s.intact.ramp + s.intact.hold + 3 * s.intact.gain_steps),
        **count_set(scale, "main", seeds["main"], 3),
        **count_set(scale, "replication", seeds["replication"], 3),
    }


def count_spectral(plan: Spectral, developed: int, networks: int) -> list[int]:
    """Network-steps of development and arms of a study of attention's spectra: every arm but one on a few networks, one of them taught apart."""
    few, others = plan.few, len(spectral_arms(plan)) - 1
    tried = developed * len(plan.rates) + min(developed, few) * len(plan.taus)
    return [developed * plan.learn + tried * plan.steps, (networks + few) * plan.learn + (networks + others * few) * plan.steps]


def test_costs_follow_from_the_parameters(scale):
    """Each table's network-steps are those that follow from budgets and seeds."""
    tables, expected = list_study(scale, SEEDS), count_role(scale, SEEDS)
    tables, spectra = tables[:-4], tables[-4:]
    assert [count_steps([table]) for table in spectra] == [*count_spectral(scale.spectral, 6, 32), *count_spectral(scale.restart, 16, 32)]
    of_bursts = [table for table in tables if table.name.startswith(("bursts", "development"))]
    for role in ROLES:
        assert {table.name: count_steps([table]) for table in tables if table.role == role and table not in of_bursts} == expected
    plan, grid = scale.study.bursts, {*scale.study.bursts.multipliers, *(2 * times for times in scale.study.bursts.multipliers)}
    bursts = {
        "development": 4 * (plan.start + (len(grid) + 1) * plan.updates), "development after": 4 * 3 * plan.after,
        "bursts": 8 * (plan.start + 3 * plan.updates), "bursts after": 8 * 3 * plan.after,
    }  # fmt: skip
    assert {table.name: count_steps([table]) for table in of_bursts} == bursts and {table.role for table in of_bursts} == {plan.role}
    assert count_steps(tables) == 2 * sum(expected.values()) + sum(bursts.values())


def test_the_laptop_affords_it():
    """At laptop values the whole study, six seeds in the main set, is at most 170 thousand network-steps, 45 to 65 % of them in the deeper stack;
    attention's spectra add at most 50 thousand at the shallow depth, and restarts 65 thousand of networks of two blocks at half the batch."""
    whole = list_study(at_scale("laptop"), SEEDS | {"main": 6})
    tables, (spectral, restart) = whole[:-4], (whole[-4:-2], whole[-2:])
    assert {table.role for table in (*spectral, *restart)} == {"shallow"} and count_steps(spectral) <= 50_000 and count_steps(restart) <= 65_000
    assert {(table.scale.depths.shallow, table.scale.batch) for table in restart} == {(2, 4)} and at_scale("laptop").batch == 8
    deep = count_steps([table for table in tables if table.role == "deep"]) / count_steps(tables)
    assert 140_000 <= count_steps(tables) <= 170_000 and 0.45 < deep < 0.65


def test_one_more_seed_costs_its_own_runs():
    """A fifth replication seed adds one driver, its registered arms and its switches at each depth, and nothing to any other table."""
    scale = at_scale("laptop")
    own = count_set(scale, "replication", 1, 0)
    for before, after in zip(list_study(scale, SEEDS), list_study(scale, SEEDS | {"replication": 5}), strict=True):
        assert count_steps([after]) - count_steps([before]) == own.get(before.name, 0), before.name


def test_every_arm_of_the_study_is_asked_for(scale):
    """No arm is left out: main has all but epsilon and those that ask what ages, which the replication has; the others of every event are the same."""
    main, replication = arms_of(scale, "main"), arms_of(scale, "replication")
    ageing = {*AGED, "aged_decay_0"}
    assert sorted((*main.every, *main.few, *ageing, EPSILON)) == sorted(list_arms(scale))
    assert set(replication.every) == {*main.every, EPSILON} and len(replication.every) == len(main.every) + 1
    assert set(replication.few) == {"penalty_4x", "cosine_1x"} | ageing and ageing == {"aged_decay_0", "decay_0", "reset"}
    assert {arm for arm, added in ADDED.items() if added.exempt} == {arm for arm in main.few if arm.endswith("_unclipped")}


def test_every_switch_has_what_it_sets_out_from(scale):
    """Delays are no longer than the untreated branch, and an arm that asks what ages stands beside the stretch or the delay that it needs."""
    assert scale.study.delays[-1] <= scale.branches.untreated_steps
    for name in scale.arms:
        arms = arms_of(scale, name)
        assert {f"delay_{number}" for number in range(1, len(scale.study.delays) + 1)} <= set(arms.every)
        assert ("decay_0" in arms.few) == ("aged_decay_0" in arms.few)


@pytest.mark.parametrize("name", ["main", "replication"])
def test_every_arm_ends_where_its_control_is_measured(scale, name):
    """A collapse saved at a measurement of its driver: each arm's end, after delays too, is one of the control's, of the driver's table or after it."""
    [site] = settled_sites(1, scale)
    arms = treat([site], arms_of(scale, name))
    [first] = control_closely([0], [Fork("warm/0", scale.driver.warm)], scale)
    later = accompany(0, Fork("control/0", first.end), arms, scale)
    assert first.is_due(site.origin.step) and {run.name for run in arms if is_switch(run.name.partition("/")[0])}
    assert [run.name for run in arms if not (first.is_due(run.end) if run.end <= first.end else later.is_due(run.end))] == []
