"""Outcomes with exchanged labels: worlds in which each registered prediction of a seed set must lose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankcollapse.arm_records import ArmRow, Drivers, SetRecords
from rankcollapse.params import ROLES
from rankcollapse.records_readings import EventReadings, ForceRow, StateRow

World = Callable[[SetRecords], SetRecords]


def change(records: SetRecords, field: str, rows: str, each: Callable[[Any], Any]) -> SetRecords:
    """Records with every row of one kind changed, at both depths."""
    own = getattr(records, field)
    changed = {role: own[role].model_copy(update={rows: tuple(map(each, getattr(own[role], rows)))}) for role in ROLES}
    return records._replace(**{field: changed})


def exchange(one: str, other: str) -> World:
    """Branches with the labels of two arms exchanged."""
    labels = {one: other, other: one}

    def relabel(row: ArmRow) -> ArmRow:
        return row.model_copy(update={"arm": labels.get(row.arm, row.arm)})

    def world(records: SetRecords) -> SetRecords:
        return change(change(records, "treated", "branches", relabel), "switched", "branches", relabel)

    return world


def recover_at_once(records: SetRecords) -> SetRecords:
    """The reversed ramp did what the driver had undone: the rank is back at the scale it was lost at."""
    lost = {(role, event.seed): event.skip_at_collapse for role in ROLES for event in records.drivers[role].events}

    def early(role: str) -> Callable[[ArmRow], ArmRow]:
        def changed(row: ArmRow) -> ArmRow:
            flat = (lost[role, row.seed],) * len(row.trajectory.skip)
            return row.model_copy(update={"trajectory": row.trajectory.model_copy(update={"skip": flat})}) if row.arm == "ramp" else row

        return changed

    treated = {
        role: record.model_copy(update={"branches": tuple(map(early(role), record.branches))}) for role, record in records.treated.items()
    }
    return records._replace(treated=treated)


def exchange_networks(records: SetRecords) -> SetRecords:
    """The collapsed and the healthy network, read under each other's name, and the network after a switch as it was before it."""

    def changed(event: EventReadings) -> EventReadings:
        still = tuple(event.collapsed.model_copy(update={"skip": state.skip}) for state in event.switches)
        return event.model_copy(update={"collapsed": event.healthy, "healthy": event.collapsed, "switches": still})

    return change(records, "readings", "events", changed)


def close_switches(records: SetRecords) -> SetRecords:
    """A switch leaves the path as it was."""

    def closed(event: EventReadings) -> EventReadings:
        switches: tuple[StateRow, ...] = tuple(event.collapsed.model_copy(update={"skip": state.skip}) for state in event.switches)
        return event.model_copy(update={"switches": switches})

    return change(records, "readings", "events", closed)


def exchange_forces(records: SetRecords) -> SetRecords:
    """The penalty pushes as hard as the hinge does, and the hinge as the penalty."""

    def named(row: ForceRow) -> ForceRow:
        found = {"penalty": "hinge", "hinge": "penalty"}.get(row.arm.split("_")[0])
        return row.model_copy(update={"arm": row.arm.replace(row.arm.split("_")[0], found)}) if found else row

    return change(records, "readings", "events", lambda event: event.model_copy(update={"forces": tuple(map(named, event.forces))}))


def learn_to_the_end(records: SetRecords) -> SetRecords:
    """Drivers whose loss is their control's until the collapse is detected: the loss shows it last."""
    drivers = {role: delay_loss(record) for role, record in records.drivers.items()}
    return records._replace(drivers=drivers)


def delay_loss(record: Drivers) -> Drivers:
    """The drivers of one depth with the loss of their controls before detection."""
    beside = {row.seed: dict(zip(row.trajectory.step, row.trajectory.loss, strict=True)) for row in record.controls}
    detected = {event.seed: event.detected for event in record.events}
    rows = []
    for row in record.drivers:
        run, until = row.trajectory, detected.get(row.seed, 0)
        loss = tuple(beside[row.seed][step] + (0.0 if step < until else 1.0) for step in run.step)
        rows.append(row.model_copy(update={"trajectory": run.model_copy(update={"loss": loss})}))
    return record.model_copy(update={"drivers": tuple(rows)})


WORLDS: dict[str, World] = {
    "M1": exchange("hinge_4x", "switch_03"),
    "M2": exchange("untreated", "switch_03"),
    "M3": exchange("penalty_1x", "switch_03"),
    "M4": exchange("switch_03", "untreated"),
    "M5": recover_at_once,
    "M6": exchange_networks,
    "M7": close_switches,
    "M8": exchange_forces,
    "M9": learn_to_the_end,
}
"""Prediction of `design` and `replication-1` -> the world in which it must be missed."""
