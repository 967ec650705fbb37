"""Outcomes with exchanged labels: worlds in which each registered prediction about a seed set must lose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankcollapse.arm_records import ArmRow, Drivers, SetRecords
from rankcollapse.params import ROLES, Role
from rankcollapse.records_readings import AgedRow, EventReadings, ForceRow, Readings, StateRow

World = Callable[[SetRecords], SetRecords]


def change(records: SetRecords, field: str, rows: str, each: Callable[[Any], Any]) -> SetRecords:
    """Records with every row of one kind changed, at both depths."""
    own = getattr(records, field)
    changed = {role: own[role].model_copy(update={rows: tuple(map(each, getattr(own[role], rows)))}) for role in ROLES}
    return records._replace(**{field: changed})


def exchange(one: str, other: str) -> World:
    """What came of two arms, exchanged in every collapse that got both."""
    labels = {one: other, other: one}

    def world(records: SetRecords) -> SetRecords:
        parts = (records.treated, records.switched)
        found = {(role, row.seed, row.arm): row for part in parts for role in ROLES for row in part[role].branches}

        def trade(role: Role, row: ArmRow) -> ArmRow:
            beside = found.get((role, row.seed, labels.get(row.arm, "")))
            return row.model_copy(update={"start": beside.start, "trajectory": beside.trajectory}) if beside else row

        def traded(part) -> dict:
            return {role: part[role].model_copy(update={"branches": tuple(trade(role, row) for row in part[role].branches)}) for role in ROLES}

        return records._replace(treated=traded(records.treated), switched=traded(records.switched))

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
    """Drivers whose spectral markers change at once, and whose loss is their control's until the collapse is detected: it shows it last."""
    drivers = {role: delay_loss(record) for role, record in records.drivers.items()}
    return records._replace(drivers=drivers)


def delay_loss(record: Drivers) -> Drivers:
    """The drivers of one depth with the loss of their controls before detection, and the markers of the detection from the start."""
    beside = {row.seed: dict(zip(row.trajectory.step, row.trajectory.loss, strict=True)) for row in record.controls}
    detected = {event.seed: event.detected for event in record.events}
    rows = []
    for row in record.drivers:
        if row.seed not in detected:
            rows.append(row)
            continue
        run, until = row.trajectory, detected[row.seed]
        loss = tuple(beside[row.seed][step] + (0.0 if step < until else 1.0) for step in run.step)
        place = run.step.index(until)
        extra = {name: (series[0], *(series[place],) * (len(series) - 1)) for name, series in run.extra.items()}
        rows.append(row.model_copy(update={"trajectory": run.model_copy(update={"loss": loss, "extra": extra})}))
    return record.model_copy(update={"drivers": tuple(rows)})


def exchange_events(records: SetRecords) -> SetRecords:
    """Each switched branch came of the event at the other end of the list."""
    places = {role: [event.seed for event in records.drivers[role].events] for role in ROLES}
    other = {role: dict(zip(seeds, reversed(seeds), strict=True)) for role, seeds in places.items()}
    switched = {
        role: record.model_copy(update={"branches": tuple(row.model_copy(update={"seed": other[role][row.seed]}) for row in record.branches)})
        for role, record in records.switched.items()
    }
    return records._replace(switched=switched)


def exchange_depths(records: SetRecords) -> SetRecords:
    """What came of the shallow networks' switches came of the deep ones', and the other way round."""
    return records._replace(switched={"shallow": records.switched["deep"], "deep": records.switched["shallow"]})


def exchange_openings(records: SetRecords) -> SetRecords:
    """The network after the longest delay is the saved one, and the saved one that after the longest delay."""
    last = {(role, row.seed): row.state.opening for role, record in records.readings.items() for row in record.aged if row.delay == longest(record)}

    def opened(role: Role, row: AgedRow | EventReadings) -> AgedRow | EventReadings:
        own = next(event for event in records.readings[role].events if event.seed == row.seed)
        state = next(state for state in own.switches if state.skip == 0.3)
        if isinstance(row, AgedRow):
            value = state.opening if row.delay == longest(records.readings[role]) else last[role, row.seed]
            return row.model_copy(update={"state": row.state.model_copy(update={"opening": value})})
        changed = state.model_copy(update={"opening": last[role, row.seed]})
        return row.model_copy(update={"switches": tuple(changed if one is state else one for one in row.switches)})

    readings = {
        role: record.model_copy(update={name: tuple(opened(role, row) for row in getattr(record, name)) for name in ("events", "aged")})
        for role, record in records.readings.items()
    }
    return records._replace(readings=readings)


def longest(readings: Readings) -> int:
    """The longest delay that was read."""
    return max(row.delay for row in readings.aged)


def exchange_groups(records: SetRecords) -> SetRecords:
    """Embeddings and MLP, and query and key, put back under each other's name."""
    names = {"embeddings_mlp": "query_key", "query_key": "embeddings_mlp"}
    return change(
        records, "readings", "aged", lambda row: row.model_copy(update={"swaps": {names.get(name, name): value for name, value in row.swaps.items()}})
    )


def exchange_orders(records: SetRecords) -> SetRecords:
    """The healthy network is ordered as the collapsed one was, and the collapsed one as the healthy."""
    return change(records, "readings", "events", lambda row: row.model_copy(update={"order": row.order_healthy, "order_healthy": row.order}))


def exchange_rivals(records: SetRecords) -> SetRecords:
    """Position and frequency of tokens, exchanged."""

    def rival(event: EventReadings) -> EventReadings:
        own = event.order
        return event.model_copy(update={"order": own.model_copy(update={"spearman": own.frequency, "frequency": own.spearman})})

    return change(records, "readings", "events", rival)


def exchange_hinge(records: SetRecords) -> SetRecords:
    """The hinge's force orders the events as the opening did, and the opening as the force."""

    def forced(event: EventReadings) -> EventReadings:
        state = next(state for state in event.switches if state.skip == 0.3)
        rho = next(row.rho for row in event.forces if row.arm == "hinge_1x")
        switches = tuple(one.model_copy(update={"opening": rho}) if one is state else one for one in event.switches)
        forces = tuple(row.model_copy(update={"rho": state.opening}) if row.arm == "hinge_1x" else row for row in event.forces)
        return event.model_copy(update={"switches": switches, "forces": forces})

    def aged(row: AgedRow) -> AgedRow:
        return row.model_copy(update={"state": row.state.model_copy(update={"opening": row.rho_hinge}), "rho_hinge": row.state.opening})

    return change(change(records, "readings", "events", forced), "readings", "aged", aged)


PATH_WORLDS: dict[str, World] = {
    "P1": exchange_events,
    "P2": exchange_events,
    "P3": exchange_hinge,
    "P4": exchange_events,
    "D1": exchange("switch_03", "delay_3"),
    "D2": exchange("switch_03", "delay_3"),
    "D3": exchange("switch_03", "delay_3"),
    "D4": exchange_depths,
    "A1": exchange_groups,
    "A2": exchange_groups,
    "A3": exchange_openings,
    "O1": exchange_orders,
    "O2": exchange_orders,
    "O3": exchange_rivals,
}
"""Prediction of the registrations that share path-1's seeds -> the world in which it must be missed."""


def summary_worlds(repair: str) -> dict[str, World]:
    """Prediction of `design` and `replication-1` -> the world in which it must be missed; `repair` is an arm that brings networks back."""
    return {
        "M1": exchange("hinge_4x", repair),
        "M2": exchange("untreated", repair),
        "M3": exchange("penalty_1x", repair),
        "M4": exchange("switch_03", "untreated"),
        "M5": recover_at_once,
        "M6": exchange_networks,
        "M7": close_switches,
        "M8": exchange_forces,
        "M9": learn_to_the_end,
    }


def arm_worlds(repair: str) -> dict[str, World]:
    """Prediction of `function-1` and `epsilon-1` -> the same, for networks that hardly learn: three of them are missed as they are."""
    as_it_is: dict[str, World] = dict.fromkeys(("R1", "R3", "E2"), lambda records: records)
    return as_it_is | {"R2": exchange("hinge_4x", repair), "E1": exchange("epsilon", repair)}
