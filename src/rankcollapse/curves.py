"""From records to what a figure shows: the cells of a grid, smoothed ranks, recovery times with those that never came, and predictors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose, nan
from typing import NamedTuple

import numpy as np

from rankcollapse.arm_records import ArmRow, Continuations, Development, Excursions, SetRecords
from rankcollapse.events import collapsed_rank, find_return, trailing_medians
from rankcollapse.looks import Time
from rankcollapse.params import ROLES, Role, Rules
from rankcollapse.records import Calibration, Event, RoleCalibration, Trajectory
from rankcollapse.records_readings import AgedRow, BranchEnd, EventReadings, StateRow

LEAST_SKIP = 1e-3
"""A floor of zero is drawn here on a logarithmic axis."""


class Bursts(NamedTuple):
    """What is shown of the bursts: those of the registered networks, and, where given, of the development networks and predictors."""

    excursions: Excursions
    continuations: Continuations
    development: Development | None = None
    openings: Mapping[tuple[float, int], float] | None = None
    """Query-key gradient (median over blocks) at the end of a burst, by multiplier and seed."""
    gaps: Mapping[tuple[float, int], float] | None = None
    """Loss above the paired control's on the gradient probe at the end of a burst, nats, likewise; None shows that on the rank probe."""


class Cell(NamedTuple):
    """One depth of one seed set."""

    name: str
    """Main or replication."""
    role: Role
    records: SetRecords
    healthy: RoleCalibration

    @property
    def title(self) -> str:
        """As a panel is headed."""
        return f"{self.depth} blocks, {self.name}"

    @property
    def depth(self) -> int:
        """Blocks of its networks."""
        return self.records.drivers[self.role].depth

    @property
    def recover(self) -> float:
        """Rank that counts as recovered."""
        return float(self.healthy.recover_threshold.value)

    @property
    def first(self) -> bool:
        """Whether it is of the main set, whose points are filled."""
        return self.name == "main"

    @property
    def events(self) -> dict[int, Event]:
        """Saved collapses by seed."""
        return {event.seed: event for event in self.records.drivers[self.role].events}

    def branches(self) -> tuple[ArmRow, ...]:
        """Every arm of every collapse, switches included."""
        parts = (getattr(self.records, part).get(self.role) for part in ("treated", "switched"))
        return tuple(row for part in parts if part is not None for row in part.branches)

    def of_arm(self, arm: str) -> list[ArmRow]:
        """The runs of one arm, in the order of the events."""
        return [row for row in self.branches() if row.arm == arm]

    def readings(self) -> tuple[EventReadings, ...]:
        """What was read of each collapse."""
        found = self.records.readings.get(self.role)
        return found.events if found is not None else ()

    def ends(self) -> tuple[BranchEnd, ...]:
        """What was read at the end of the branches at the floor."""
        found = self.records.readings.get(self.role)
        return found.ends if found is not None else ()

    def aged(self) -> tuple[AgedRow, ...]:
        """What was read after each delay."""
        found = self.records.readings.get(self.role)
        return found.aged if found is not None else ()


def list_cells(calibration: Calibration, main: SetRecords, replication: SetRecords | None) -> list[Cell]:
    """Both depths of the main set, then of the replication where there is one."""
    sets = {"main": main} | ({"replication": replication} if replication is not None else {})
    return [Cell(name, role, records, getattr(calibration, role)) for name, records in sets.items() for role in ROLES if role in records.drivers]


def ranks_of(run: Trajectory) -> list[float]:
    """Ranks with those at floor at 1."""
    return collapsed_rank(run.rank, run.at_floor)


def smooth_rank(run: Trajectory, window: int) -> tuple[list[int], list[float]]:
    """Steps and trailing medians of the rank, from the first full window on."""
    medians = trailing_medians(ranks_of(run), window)
    kept = [(step, value) for step, value in zip(run.step, medians, strict=True) if value is not None]
    return [step for step, _ in kept], [value for _, value in kept]


def recovery_index(run: Trajectory, threshold: float, rules: Rules) -> int | None:
    """Measurement at which the recovery rule by rank is met."""
    return find_return(run, rules, threshold)


def recovery_time(row: ArmRow, threshold: float, rules: Rules) -> Time:
    """By rank: from the start to the end of the window that recovers."""
    found, run = recovery_index(row.trajectory, threshold, rules), row.trajectory
    return Time(run.step[-1] - row.start, True) if found is None else Time(run.step[found] - row.start, False)


def median_course(courses: Sequence[Sequence[tuple[int, float]]]) -> list[tuple[int, float]]:
    """Steps that all courses were measured at, with the median over courses."""
    values = [dict(course) for course in courses]
    shared = sorted(set.intersection(*(set(value) for value in values))) if values else []
    return [(step, float(np.median([value[step] for value in values]))) for step in shared]


def state_at(states: Sequence[StateRow], skip: float) -> StateRow | None:
    """The state that was read at a skip scale; trajectories hold the scale in single precision."""
    return next((state for state in states if isclose(state.skip, skip, rel_tol=1e-5)), None)


def find_opening(cell: Cell, row: ArmRow) -> float | None:
    """The predictor of a switch: the query-key gradient at its scale before any update; None where it was not read."""
    if row.arm.startswith("delay_"):
        delay = row.start - cell.events[row.seed].saved
        return next((aged.state.opening for aged in cell.aged() if (aged.seed, aged.delay) == (row.seed, delay)), None)
    event = next((event for event in cell.readings() if event.seed == row.seed), None)
    state = state_at(event.switches, row.trajectory.skip[-1]) if event is not None and row.arm.startswith("switch_") else None
    return None if state is None else state.opening


def lift_zeros(values: np.ndarray) -> np.ndarray:
    """For a logarithmic axis: what is zero lies a decade below the smallest that is not; all zeros become gaps."""
    positive = values[values > 0]
    return np.where(values > 0, values, positive.min() / 10 if positive.size else nan)


def burst_rows(record: Excursions | Development, rows: Sequence[ArmRow], place: int) -> list[ArmRow]:
    """The runs after the bursts of the first or second multiplier, in the order of the seeds."""
    multiplier = multipliers_of(record)[place]
    return [row for row in rows if row.arm == f"after_{multiplier:g}"]


def multipliers_of(record: Excursions | Development) -> tuple[float, float]:
    """m1 and m2."""
    if isinstance(record, Development):
        return float(record.m1.value), float(record.m2.value)
    first, second = (excursion.multiplier for excursion in record.excursions)
    return first, second


def gaps_after(record: Excursions | Development, place: int, read: Mapping[tuple[float, int], float] | None = None) -> dict[int, float]:
    """Loss above the paired control's at the end of a burst by seed, nats, of the networks that did not diverge; as `read`, where given."""
    multiplier = multipliers_of(record)[place]
    if read is not None:
        return {seed: read[multiplier, seed] for seed in record.seeds if (multiplier, seed) in read}
    gaps = next(excursion.loss_gap for excursion in record.excursions if excursion.multiplier == multiplier)
    return {seed: gap for seed, gap in zip(record.seeds, gaps, strict=True) if gap is not None}
