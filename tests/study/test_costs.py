"""What the whole study costs at the proposed values, and that a file without them means what it meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import refusal
from proposal import PROPOSED, REPOSITORY, SEEDS, read_proposed
from tiny_arms import lend

from rankcollapse import measure
from rankcollapse.costs import count_steps, describe_costs, list_study, settled_sites
from rankcollapse.drivers import control_closely
from rankcollapse.engine import Fork, Run, check_table
from rankcollapse.params import ROLES, load_params
from rankcollapse.plan import setting_of
from rankcollapse.treatments import accompany, arms_of, list_arms, treat


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch):
    """Terms and readings that are not there yet."""
    lend(monkeypatch)
    monkeypatch.setitem(measure.READINGS, "gap", measure.READINGS.get("gap", measure.compute_cosine))


@pytest.fixture(params=["smoke", "laptop", "paper"])
def scale(request, tmp_path):
    """Each scale with the proposed values."""
    return read_proposed(tmp_path).model_copy(update={"scale": request.param}).chosen


def test_committed_parameters_mean_the_study_before():
    """Without the new groups a scale has no arms and no whole study, and the groups that stages are made from are as they were."""
    params = load_params(REPOSITORY / "params.yaml")
    for name in ("smoke", "laptop", "paper"):
        whole = getattr(params.scales, name)
        assert whole.study is None and whole.arms == {}
        written = whole.model_dump(mode="json", exclude={"study", "arms", "hardware", "fanout", "seed_sets"})
        assert set(written) == {"data", "model", "depths", "optimiser", "batch", "stack", "checkpoint_seconds", "probe", "driver", "rules", "branches"}
    assert refusal(params.seed_set, "replication") == "params.yaml: no seed set 'replication'; expected calibration, main"


def test_tables_fit_the_engine(scale):
    """Every table of every scale is one that the engine takes, with the runs that it forks from beside it."""
    for table in list_study(scale, SEEDS):
        names = {run.name for run in table.runs}
        outside = {run.origin for run in table.runs if isinstance(run.origin, Fork) and run.origin.run not in names}
        origins = [Run(name, 0, 10**5) for name in sorted({fork.run for fork in outside})]
        check_table(table.name, [*table.runs, *origins], setting_of(scale, getattr(scale.depths, table.role), 1.0).shape)


def count_by_hand(scale, seeds) -> dict[str, int]:
    """Network-steps of the tables of one role, from the parameters alone."""
    d, b, s = scale.driver, scale.branches, scale.study
    settled, length = d.ramp + d.hold // 2, d.ramp + d.hold
    every = b.untreated_steps + b.ramp_steps + b.after_ramp + (2 + 3) * b.switch_steps + 3 * b.loss_steps
    last = max(b.ramp_steps + b.after_ramp, s.delays[-1] + b.switch_steps)
    few = {"main": 2 * b.switch_steps + 6 * b.loss_steps, "replication": 2 * b.loss_steps}
    counts = {
        "floors": seeds["calibration"] * (d.warm + (1 + len(d.floors)) * length),
        "calibration collapses": seeds["calibration"] * (d.warm + settled),
        "checks": seeds["calibration"] * (b.untreated_steps + 3 * b.loss_steps + len(s.weak.shallow) * b.switch_steps),
        "intact": seeds["intact"] * (d.warm + s.intact.ramp + s.intact.hold + 3 * s.intact.gain_steps),
        "replication ageing": 2 * (s.delays[-1] + 2 * b.switch_steps),
    }
    for name in ("main", "replication"):
        counts |= {
            f"{name} drivers": seeds[name] * (d.warm + settled + length),
            f"{name} arms": seeds[name] * (every + max(last - (d.hold - d.hold // 2), 1)) + 2 * few[name],
            f"{name} replay": seeds[name] * 2 * s.replays[-1],
        }
    return counts


def test_costs_follow_from_the_parameters(scale):
    """Each table's network-steps are those that follow from budgets and seeds; the page shows them, and their sum."""
    tables, expected = list_study(scale, SEEDS), count_by_hand(scale, SEEDS)
    for role in ROLES:
        found = {table.name: count_steps([table]) for table in tables if table.role == role and "burst" not in table.name and "develop" not in table.name}
        assert found == expected
    plan, grid = scale.study.bursts, {*scale.study.bursts.multipliers, *(2 * times for times in scale.study.bursts.multipliers)}
    bursts = {table.name: count_steps([table]) for table in tables if "burst" in table.name or "develop" in table.name}
    assert bursts == {
        "development": 2 * (plan.start + (len(grid) + 1) * plan.updates), "development after": 2 * 3 * plan.after,
        "bursts": 8 * (plan.start + 3 * plan.updates), "bursts after": 8 * 3 * plan.after,
    }  # fmt: skip
    total = describe_costs(scale, SEEDS).splitlines()[-1].split()
    assert int(total[2].replace(",", "")) == count_steps(tables) == 2 * sum(expected.values()) + sum(bursts.values())


def test_the_laptop_affords_it(tmp_path):
    """At laptop values the whole study is between 84 and 111 thousand network-steps, 45 to 65 % of them in the deeper stack."""
    scale = read_proposed(tmp_path).model_copy(update={"scale": "laptop"}).chosen
    tables = list_study(scale, SEEDS)
    deep = count_steps([table for table in tables if table.role == "deep"]) / count_steps(tables)
    assert 84_000 <= count_steps(tables) <= 111_000 and 0.45 < deep < 0.65


def test_one_more_seed_costs_its_own_runs(tmp_path):
    """A fifth replication seed adds the registered arms of one event per depth, and nothing to any other table."""
    scale = read_proposed(tmp_path).model_copy(update={"scale": "laptop"}).chosen
    more = list_study(scale, SEEDS | {"replication": 5})
    for before, after in zip(list_study(scale, SEEDS), more, strict=True):
        added = count_steps([after]) - count_steps([before])
        expected = count_by_hand(scale, SEEDS | {"replication": 1, "main": 0}) | {"replication ageing": 0}
        own = expected[before.name] - (2 * 2 * scale.branches.loss_steps if before.name == "replication arms" else 0) if "replication" in before.name else 0
        assert added == own, before.name


def test_every_arm_of_the_study_is_asked_for(tmp_path):
    """No arm is left out of the main study; the registered ones are the same in the replication."""
    scale = read_proposed(tmp_path).model_copy(update={"scale": "laptop"}).chosen
    main, replication = arms_of(scale, "main"), arms_of(scale, "replication")
    assert sorted((*main.every, *main.few)) == sorted(list_arms(scale))
    assert main.every == replication.every and set(replication.few) == {"penalty_4x", "cosine_1x"}


def test_every_arm_ends_where_its_control_is_measured(scale):
    """A collapse saved at a measurement of its driver: each arm's end is one of the control's, of the collapse table or after it."""
    [site] = settled_sites(1, scale)
    arms = treat([site], arms_of(scale, "main"))
    [first] = control_closely([0], [Fork("warm/0", scale.driver.warm)], scale)
    later = accompany(0, Fork("control/0", first.end), arms, scale)
    assert first.is_due(site.origin.step)
    assert [run.name for run in arms if not (first.is_due(run.end) if run.end <= first.end else later.is_due(run.end))] == []


FAULTS = {
    "delays out of order": ("delays: [50, 150, 300]", "delays: [150, 50]", "scales.laptop.study.delays is not valid; expected different values, smallest first"),
    "no delay": ("delays: [50, 150, 300]", "delays: []", "scales.laptop.study.delays is not valid; expected different values, smallest first"),
    "multipliers twice": ("multipliers: [20, 24, 28, 32]", "multipliers: [20, 20]", "scales.laptop.study.bursts.multipliers is not valid; expected different"),
    "a weak scale of one": ("deep: [0.06, 0.1, 0.15]", "deep: [0.06, 1.0]", "scales.laptop.study.weak.deep.1 is not valid; expected less than 1"),
    "misspelt": ("gain_steps: 360", "gain_step: 360", "unknown key 'scales.laptop.study.intact.gain_step'"),
    "twin seeds": ("development: [111, 112]", "development: [111, 111]", "seed_sets.development is not valid; expected each seed once (twice: 111)"),
    "twin seeds of a scale": ("replication: [1, 2]", "replication: [1, 1]", "scales.smoke.seed_sets.replication is not valid; expected each seed once"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_line_with_its_key(tmp_path, monkeypatch, name):
    """The line names the key, what was expected and what stands there."""
    old, new, line = FAULTS[name]
    assert PROPOSED.count(old) == 1
    monkeypatch.setattr("proposal.PROPOSED", PROPOSED.replace(old, new))
    assert line in refusal(read_proposed, tmp_path)


SETS = {
    "a list of its own at smoke": ("smoke", "replication", (1, 2)),
    "the file's list where the scale has none": ("laptop", "development", (111, 112)),
    "the file's list at smoke too": ("smoke", "development", (111, 112)),
    "calibration is the scale's": ("smoke", "calibration", (5,)),
}


@pytest.mark.parametrize("kind", SETS)
def test_which_seeds_a_set_means(tmp_path, monkeypatch, kind):
    """As for the main set: a scale's list stands in for a registration, and for the calibration's."""
    scale, name, expected = SETS[kind]
    monkeypatch.setattr("proposal.PROPOSED", PROPOSED.replace("seed_sets:\n", "seed_sets:\n  replication: path-1\n", 1))
    params = read_proposed(tmp_path)
    assert params.model_copy(update={"scale": scale}).seed_set(name) == expected
    assert params.model_copy(update={"scale": "laptop"}).seed_set("replication") == "path-1" and Path(tmp_path / "proposed.yaml").exists()
