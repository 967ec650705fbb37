"""From records of a seed set to the rows of the registered tests: what was read before a switch, and when the rank came back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose

from audit.records import Refusal
from rankcollapse.arm_records import ArmRow, SetRecords
from rankcollapse.params import ROLES, Role, Scale
from rankcollapse.records import Calibration
from rankcollapse.records_readings import AgedRow, EventReadings, Readings, StateRow
from rankcollapse.records_tests import RowRecord
from rankcollapse.recoveries import find_time
from rankcollapse.registered import Measure, Row

WEAK, UNDELAYED = "switch_weak", "switch_03"
SKIPS = {"switch_03": 0.3, "switch_06": 0.6, "switch_1": 1.0}
"""Skip scales that switches are named after."""
HINGE = "hinge_1x"


def delayed_arms(scale: Scale) -> tuple[str, ...]:
    """The switch to the delayed switch's scale after no delay and after each of the delays."""
    return (UNDELAYED, *(f"delay_{place}" for place in range(1, len(scale.study.delays) + 1)))


def ranked_arms(scale: Scale) -> tuple[str, ...]:
    """The delays whose recovery times are ranked: none, and all but the shortest."""
    return tuple(arm for arm in delayed_arms(scale) if arm != "delay_1")


def delay_of(arm: str) -> int:
    """Place of an arm's delay in the rising list of delays; 0 is none."""
    return int(arm.removeprefix("delay_")) if arm.startswith("delay_") else 0


def find_branch(runs: Sequence[ArmRow], seed: int, arm: str) -> ArmRow:
    """The run of an event under an arm; Refusal where there is none."""
    found = next((run for run in runs if run.seed == seed and run.arm == arm), None)
    if found is None:
        raise Refusal(f"{arm}, seed {seed}", "an event has no run of this arm", cure="name the arm under arms.SET.every in params.yaml, and train it")
    return found


def find_event(readings: Readings, seed: int) -> EventReadings:
    """The readings of one saved collapse; Refusal where there are none."""
    found = next((event for event in readings.events if event.seed == seed), None)
    if found is None:
        raise Refusal(f"readings, {readings.role}", "an event was not read", expected=f"seed {seed}", cure="run the stage path again")
    return found


def find_state(event: EventReadings, skip: float) -> StateRow:
    """A saved collapse at a skip scale, before any update; Refusal where it was not read there."""
    found = next((state for state in event.switches if isclose(state.skip, skip)), None)
    if found is None:
        known = ", ".join(f"{state.skip:g}" for state in event.switches)
        raise Refusal(f"readings, seed {event.seed}", f"no state at a skip scale of {skip:g}", observed=known, cure="run the stage path again")
    return found


def find_aged(readings: Readings, seed: int, delay: int) -> AgedRow:
    """A network after so many steps at the floor; Refusal where it was not read."""
    found = next((aged for aged in readings.aged if aged.seed == seed and aged.delay == delay), None)
    if found is None:
        raise Refusal(f"readings, {readings.role}, seed {seed}", f"no network after {delay} steps at the floor", cure="run the stage path again")
    return found


def read_arm(readings: Readings, seed: int, arm: str, scale: Scale) -> dict[Measure, float]:
    """What was read of one event at a switch, before any update; the gap is that to the healthy control when the collapse was saved."""
    event, place = find_event(readings, seed), delay_of(arm)
    if place:
        aged = find_aged(readings, seed, scale.study.delays[place - 1])
        state, rho = aged.state, aged.rho_hinge
    else:
        state = find_state(event, readings.weak_scale if arm == WEAK else SKIPS[arm])
        rho = next(force.rho for force in event.forces if force.arm == HINGE)
    return {
        "opening": state.opening, "loss_gap": state.loss - event.healthy.loss, "grad_norm": state.gradient_norm,
        "residual": state.blocks.residual[-1], "rho_hinge": rho,
    }  # fmt: skip


def list_cells(readings: Mapping[Role, Readings], arms: Sequence[str]) -> Iterator[tuple[Role, int, str]]:
    """Depth, seed and arm of every event that was read, shallow ones first, arm by arm within a depth."""
    for role in ROLES:
        for arm in arms:
            for event in readings[role].events:
                yield role, event.seed, arm


def collect_rows(scale: Scale, calibration: Calibration, records: SetRecords, arms: Sequence[str]) -> list[Row]:
    """One row for each event and switch of these arms; Refusal where an event was driven and not read, or has no run of an arm."""
    for role in ROLES:
        for driven in records.drivers[role].events:
            find_event(records.readings[role], driven.seed)
    return [
        Row(
            seed, role, read_arm(records.readings[role], seed, arm, scale),
            find_time(find_branch(records.switched[role].branches, seed, arm), getattr(calibration, role), scale), delay_of(arm),
        )
        for role, seed, arm in list_cells(records.readings, arms)
    ]  # fmt: skip


def keep_rows(rows: Sequence[Row]) -> tuple[RowRecord, ...]:
    """Rows as a record keeps them."""
    return tuple(RowRecord(seed=row.seed, role=row.role, delay=row.delay, readings=dict(row.readings), time=row.time) for row in rows)
