"""The readings that the claims are judged from, gathered by key from the records of the whole study; free of torch.

`main.` and keys without a prefix are the main study's, `repl.` the replication's; `path.`, `recovered.` and `controls.` are both together,
main's first. What a seed set has no value of because nothing recovered, or no seed collapsed at both depths, is a reading without values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from audit.records import Quantity, Refusal
from rankcollapse.arm_records import Checks, Intact
from rankcollapse.claims import needed_readings
from rankcollapse.evidence import number
from rankcollapse.params import ROLES, Role
from rankcollapse.quantities import SUMMARIES, count
from rankcollapse.reading_values import value_synthetic
from rankcollapse.records import Calibration, RoleCalibration
from rankcollapse.records_pure import Pure, gather_pure
from rankcollapse.records_readings import Synthetic
from rankcollapse.records_results import Summary, gather

TOGETHER = ("path.", "recovered.", "controls.")
"""Readings of both seed sets, as the source paper counts them."""
FORCES = {"force.audit.penalty": "force.penalty_1x.rho", "force.audit.hinge": "force.hinge_1x.rho"}
INTACT = {"decay": "wd_ramp"}
"""Arms with the skip intact whose name in a key is another."""
OVER_MAIN = "_over_main"


class Sources(NamedTuple):
    """The records that readings come from; `path`, `bursts` and `attention` are what the registered tests hand over, by key."""

    calibration: Calibration
    checks: Mapping[Role, Checks]
    intact: Mapping[Role, Intact]
    main: Summary
    replication: Summary
    path: Mapping[str, Quantity]
    bursts: Mapping[str, Quantity]
    synthetic: Synthetic
    pure: Pure
    attention: Mapping[str, Quantity]


def gather_claims(sources: Sources) -> dict[str, Quantity]:
    """Every reading that judging the claims needs and no other, in their order; Refusal naming the first that no record holds.

    `force.audit` is of the main study's first collapse, shallow before deep: calibration keeps no state of its own, and this one's force is
    read before it is treated.
    """
    sets = {"main": gather_set(sources.main), "replication": gather_set(sources.replication)}
    own = read_calibration(sources) | read_intact(sources.intact) | read_curve(sources.synthetic) | read_audit(sets["main"])
    own |= dict(sources.path) | dict(sources.bursts) | gather_pure(sources.pure) | dict(sources.attention)
    return {key: own[key] if key in own else find_reading(key, sets["main"], sets["replication"]) for key in needed_readings()}


def gather_set(summary: Summary) -> dict[str, Quantity]:
    """A seed set's readings as claims name them: the role behind the key, no role where they are over both."""
    found = {f"{key}.{role}": quantity for role in ROLES for key, quantity in gather(getattr(summary, role)).items()}
    return found | gather(summary.both)


def find_reading(key: str, main: Mapping[str, Quantity], replication: Mapping[str, Quantity]) -> Quantity:
    """A reading of a seed set, or of both."""
    if key.startswith(TOGETHER):
        return join(key, take(key, key, main), take(key, key, replication))
    if not key.startswith("repl."):
        return take(key, key.removeprefix("main."), main)
    name = key.removeprefix("repl.")
    if OVER_MAIN in name:
        name = name.replace(OVER_MAIN, "")
        return divide(key, take(key, name, replication), take(key, name, main))
    return take(key, name, replication)


def take(key: str, name: str, found: Mapping[str, Quantity]) -> Quantity:
    """A reading of one seed set by its name there; without values where there can be none; Refusal where the record lacks it."""
    if name in found:
        return found[name]
    if name_witness(name) in found:
        return number(0.0, 2).model_copy(update={"values": ()})
    raise Refusal("claims", f"no reading {key!r}", expected=key, observed=f"no {name} in the summary", cure="hand over the record that holds it")


def name_witness(name: str) -> str:
    """The reading whose presence says that one which is not there has no value, since nothing recovered; empty where none says so."""
    stem, _, role = name.rpartition(".")
    if stem.endswith(".T_recovered"):
        return f"{stem.removesuffix('.T_recovered')}.recovered_rank.{role}"
    if stem.startswith("recovered."):
        return f"ramp.recovered_rank.{role}"
    return "hyst.skip_at_recovery" if stem == "hyst.by_seed" else ""


def values_of(key: str, quantity: Quantity) -> tuple[float, ...]:
    """Values per event; Refusal for a reading without."""
    if quantity.values is None:
        raise Refusal("claims", f"{key} has no values per event", cure="record them beside the summary")
    return tuple(quantity.values)


def join(key: str, one: Quantity, other: Quantity) -> Quantity:
    """Two seed sets' readings as one, the first's values first; it agrees within the larger of their tolerances.

    Refusal where the two are summarised in different ways.
    """
    first, second = values_of(key, one), values_of(key, other)
    if not first or not second:
        return one if first else other
    if one.summary != other.summary:
        raise Refusal("claims", f"{key} is summarised in two ways", expected=str(one.summary), observed=str(other.summary))
    values = first + second
    if one.summary == "count":
        return count([bool(value) for value in values])
    value = SUMMARIES[one.summary or "median"](values)
    return one.model_copy(update={"value": value, "values": values, "summary": one.summary or "median", "tolerance": max(one.tolerance, other.tolerance)})


def divide(key: str, reading: Quantity, main: Quantity) -> Quantity:
    """Each event's value over main's median."""
    level = SUMMARIES["median"](values_of(key, main)) if main.values else 0.0
    if not level:
        raise Refusal("claims", f"{key}: main has nothing to compare with", expected="values other than 0", observed=str(main.values))
    return summarise([value / level for value in values_of(key, reading)], 1).model_copy(update={"style": "scientific"})


def summarise(values: Sequence[float], digits: int) -> Quantity:
    """Values and their median; 0 of none."""
    if not values:
        return number(0.0, digits).model_copy(update={"values": ()})
    return Quantity(value=SUMMARIES["median"](values), digits=digits, tolerance=0.0, summary="median", values=tuple(values))


def read_calibration(sources: Sources) -> dict[str, Quantity]:
    """What calibration and its checks found, by role."""
    found = {}
    for role in ROLES:
        own, checks = getattr(sources.calibration, role), sources.checks[role]
        hinge = [checks.hinge.every, checks.hinge.last, checks.hinge.tenfold]
        found |= {f"calib.{name}.{role}": quantity for name, quantity in read_grid(own, float(sources.calibration.floor.value)).items()}
        found[f"calib.untreated.stayed.{role}"] = checks.stayed
        found[f"calib.hinge_checks.recovered_rank.{role}"] = count([bool(flag) for each in hinge for flag in each.values or ()])
    return found


def read_grid(calibration: RoleCalibration, floor: float) -> dict[str, Quantity]:
    """One depth's edge, recovery threshold and grid: settled collapses by floor, the largest floor first, and by seed from the chosen one down."""
    rows = sorted(calibration.grid, key=lambda row: -row.floor.value)
    numbers = tuple(row.settled.value for row in rows)
    low = [bool(flag) for row in rows if row.floor.value <= floor for flag in row.settled.values or ()]
    return {
        "edge": calibration.edge,
        "threshold": calibration.recover_threshold,
        "crossed_by_falling_floor": Quantity(value=sum(numbers), digits=0, style="integer", tolerance=0.0, summary="sum", values=numbers),
        "collapsed_from_floor_down": count(low),
    }


def read_intact(intact: Mapping[Role, Intact]) -> dict[str, Quantity]:
    """Detected and settled collapses of the drivers that leave the skip intact, by arm and role."""
    return {
        f"intact.{INTACT.get(arm.arm, arm.arm)}.{name}.{role}": getattr(arm, name)
        for role, record in intact.items() for arm in record.arms for name in ("detected", "settled")
    }  # fmt: skip


def read_curve(synthetic: Synthetic) -> dict[str, Quantity]:
    """Errors of the synthetic curve against its closed forms, and the cosine's force from the smallest distance to the largest."""
    points = sorted(synthetic.points, key=lambda point: point.delta)
    curve = summarise([point.cosine for point in points], 1).model_copy(update={"style": "scientific"})
    errors = {key: number(value, 1).model_copy(update={"style": "scientific"}) for key, value in value_synthetic(points).items()}
    return errors | {"synth.cosine": curve}


def read_audit(main: Mapping[str, Quantity]) -> dict[str, Quantity]:
    """The forces on main's first collapse; nothing where main has none."""
    found = {}
    for key, name in FORCES.items():
        values = [value for role in ROLES if f"{name}.{role}" in main for value in main[f"{name}.{role}"].values or ()]
        found |= {key: number(values[0], 4)} if values else {}
    return found
