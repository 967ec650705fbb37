"""What one seed set came to: every number that claims, registrations and the manuscript read, by role and over both; free of torch.

A key's values are one per event, in the order of the drivers' events; of an arm that only the first events got, of those. Keys under
`events` have one value a driver, under `controls` one a healthy control, under `recovered`, `recovered_all` and `treat` one a branch.
What has no value at all (no branch recovered, say) has no key. See `recoveries` and `ramp_summary` for what stands for what did not happen.
"""

from __future__ import annotations

from audit.records import Provenance
from rankcollapse.arm_records import Drivers, SetRecords
from rankcollapse.params import ROLES, Role, Scale
from rankcollapse.quantity_forms import make_quantities
from rankcollapse.ramp_summary import value_trajectories
from rankcollapse.reading_summary import value_readings
from rankcollapse.records import Calibration
from rankcollapse.records_results import Summary, plant
from rankcollapse.recoveries import FAILING, Outcome, judge_arms, none_recovers, value_branches
from rankcollapse.seed_cells import Cell, Values, cell_of

RECOVERY = "hyst.skip_at_recovery"


def summarise_set(provenance: Provenance, scale: Scale, calibration: Calibration, records: SetRecords) -> Summary:
    """Every number of one seed set; Refusal where a role has no event, its records disagree, or a control was not measured."""
    cells = {role: cell_of(role, scale, calibration, records) for role in ROLES}
    arms = {role: judge_arms(cell) for role, cell in cells.items()}
    values = {role: value_cell(cell, arms[role]) for role, cell in cells.items()}
    both = join_roles(values) | pair_depths(cells, values) | interpret(arms)
    trees = {name: plant(make_quantities(own, scale)) for name, own in {**values, "both": both}.items()}
    return Summary(provenance=provenance, **trees)


def value_cell(cell: Cell, arms: dict[str, list[Outcome]]) -> Values:
    """Every number of one role."""
    return value_events(cell.drivers) | value_readings(cell) | value_branches(arms, cell.threshold) | value_trajectories(cell)


def value_events(drivers: Drivers) -> Values:
    """By driver, what became of it."""
    seeds = [row.seed for row in drivers.drivers]
    groups = {
        "driven": seeds,
        "settled": [event.seed for event in drivers.events],
        "dips": [dip.seed for dip in drivers.dips],
        "healed": [dip.seed for dip in drivers.dips if dip.healed],
        "unsettled": drivers.unsettled,
    }
    return {f"events.{name}": tuple(int(seed in chosen) for seed in seeds) for name, chosen in groups.items()}


def join_roles(values: dict[Role, Values]) -> Values:
    """The values of both roles under every key that either has, shallow ones first."""
    keys = {key for own in values.values() for key in own}
    return {key: tuple(value for role in ROLES for value in values[role].get(key, ())) for key in keys}


def pair_depths(cells: dict[Role, Cell], values: dict[Role, Values]) -> Values:
    """Skip scales of recovery at both depths of each seed that collapsed at both, in the order of the shallow events."""
    found = {role: dict(zip(cells[role].seeds, values[role].get(RECOVERY, ()), strict=False)) for role in ROLES}
    seeds = [seed for seed in found["shallow"] if seed in found["deep"]]
    return {f"hyst.by_seed.skip_{role}": tuple(found[role][seed] for seed in seeds) for role in ROLES} if seeds else {}


def interpret(arms: dict[Role, dict[str, list[Outcome]]]) -> Values:
    """The row of outcomes fixed in advance in the source paper: both losses fail, and the untreated copies stay; absent unless all were tried."""
    tried = all(arm in own for own in arms.values() for arm in FAILING)
    return {"interpretation.both_fail_untreated_stays": (int(all(map(none_recovers, arms.values()))),)} if tried else {}
