"""One role of a seed set as it is summarised: its records, the rules they are read by, and the controls beside every branch; free of torch."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from audit.records import Refusal
from rankcollapse.arm_records import ArmRow, Drivers, SetRecords, Switches, Treatments
from rankcollapse.params import Role, Scale
from rankcollapse.records import Calibration, Event, RoleCalibration, Trajectory
from rankcollapse.records_readings import Readings

Values = dict[str, tuple[float, ...]]
"""By dotted key, one value a unit."""


@dataclass(frozen=True)
class Control:
    """Task loss of one healthy network by step, nats: beside its driver, and beyond that beside its branches."""

    place: str
    loss: Mapping[int, float]
    until: int
    """Last step beside the driver, whose cadence it was measured at; from there on it is measured where branches end."""

    def at(self, step: int) -> float:
        """Loss at the end of a branch, which beyond the drivers has to be measured; Refusal where it was not."""
        if step not in self.loss and step > self.until:
            raise self.missing(step)
        return self.near(step)

    def near(self, step: int) -> float:
        """Loss at any step that the measurements enclose, on the line between its neighbours; Refusal outside."""
        steps = sorted(self.loss)
        place = bisect_left(steps, step)
        if step in self.loss:
            return self.loss[step]
        if not 0 < place < len(steps):
            raise self.missing(step)
        left, right = steps[place - 1], steps[place]
        share = (step - left) / (right - left)
        return (1 - share) * self.loss[left] + share * self.loss[right]

    def missing(self, step: int) -> Refusal:
        """No measurement of the control where a branch needs one."""
        steps = f"steps {min(self.loss)} to {max(self.loss)}" if self.loss else "none"
        return Refusal(self.place, "its healthy control was not measured beside it", expected=f"step {step}", observed=steps, cure="run the stages again")


@dataclass(frozen=True)
class Cell:
    """The records of one role of a seed set; Refusal unless there is an event and all of them speak of the same ones."""

    role: Role
    scale: Scale
    calibration: RoleCalibration
    drivers: Drivers
    treated: Treatments
    readings: Readings
    switched: Switches

    def __post_init__(self) -> None:
        if not self.drivers.events:
            raise Refusal(f"summary {self.role}", "no collapse of the set settled", cure="hold longer (driver.hold), or other seeds")
        read = tuple(row.seed for row in self.readings.events)
        if read != self.seeds:
            raise Refusal(f"summary {self.role}", "collapses and readings differ", expected=show(self.seeds), observed=show(read), cure="run the stages again")

    @property
    def events(self) -> tuple[Event, ...]:
        """The settled collapses."""
        return self.drivers.events

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of the settled collapses."""
        return tuple(event.seed for event in self.events)

    @property
    def threshold(self) -> float:
        """The rank that counts as recovered."""
        return float(self.calibration.recover_threshold.value)

    @cached_property
    def arms(self) -> dict[str, tuple[ArmRow, ...]]:
        """Branches by arm, in the order of the events; Refusal where an arm is not that of the first events."""
        found: dict[str, dict[int, ArmRow]] = {}
        for row in (*self.treated.branches, *self.switched.branches):
            found.setdefault(row.arm, {})[row.seed] = row
        for arm, rows in found.items():
            first = self.seeds[: len(rows)]
            if set(rows) != set(first):
                raise Refusal(f"summary {self.role}: {arm}", "not an arm of the first collapses", expected=show(first), observed=show(tuple(rows)))
        return {arm: tuple(rows[seed] for seed in self.seeds[: len(rows)]) for arm, rows in found.items()}

    def driver(self, seed: int) -> ArmRow:
        """The driver that collapsed."""
        return next(row for row in self.drivers.drivers if row.seed == seed)

    def beside_driver(self, seed: int) -> Trajectory:
        """The healthy control from its first step to the end of the drivers; Refusal without one."""
        for row in self.drivers.controls:
            if row.seed == seed:
                return row.trajectory
        raise Refusal(f"summary {self.role}: seed {seed}", "no healthy control beside the driver", cure="run the stages again")

    def control(self, seed: int) -> Control:
        """The healthy control's loss, as far as any arm goes."""
        beside = self.beside_driver(seed)
        rows = [*(row.trajectory for row in self.treated.controls if row.seed == seed), beside]
        loss = {step: loss for row in rows for step, loss in zip(row.step, row.loss, strict=True)}
        return Control(f"summary {self.role}: seed {seed}", loss, beside.step[-1])


def cell_of(role: Role, scale: Scale, calibration: Calibration, records: SetRecords) -> Cell:
    """One role of a seed set."""
    own = (records.drivers[role], records.treated[role], records.readings[role], records.switched[role])
    return Cell(role, scale, getattr(calibration, role), *own)


def show(seeds: tuple[int, ...]) -> str:
    """Seeds as a refusal names them."""
    return f"seeds {', '.join(map(str, seeds))}" if seeds else "none"


def share_of(part: float, whole: float) -> float:
    """A part over a whole; 0 where the whole is not positive, of which nothing is a share."""
    return part / whole if whole > 0 else 0.0
