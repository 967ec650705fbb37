"""The records of the whole study's experiments: what each writes, free of torch. Runs lie in them as they went; nothing is summarised but choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from audit.records import Frozen, Quantity, Record
from rankcollapse.params import Role
from rankcollapse.records import Event, RunRow, Trajectory
from rankcollapse.records_readings import Readings, ReplayRow


class Series(Trajectory):
    """What was measured of one run, with the readings it asked for."""

    extra: dict[str, tuple[float, ...]]
    """By the name in measure.READINGS, one entry a measurement."""


class ArmRow(RunRow):
    """One run of the whole study, as it went."""

    start: int
    """Step at which the run set out."""
    exempt: bool
    """Whether the added gradient was exempt from clipping."""
    trajectory: Series


class Dip(Frozen):
    """A driver that fell below the collapse threshold and did not settle there within the hold."""

    seed: int
    detected: int
    """Step of the first measurement below the threshold."""
    measurements: int
    """How many measurements lay below it."""
    lowest: float
    """The lowest rank; 1 where it was at floor."""
    healed: bool
    """Whether the last measurement lay above it again."""


class Drivers(Record):
    """Drivers and healthy controls of one seed set at one depth, measured closely near the floor, and what became of them."""

    kind: Literal["drivers"] = "drivers"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    floor: float
    events: tuple[Event, ...]
    dips: tuple[Dip, ...]
    unsettled: tuple[int, ...]
    """Seeds whose collapse did not settle, dips among them; they are counted and not treated."""
    drivers: tuple[ArmRow, ...]
    controls: tuple[ArmRow, ...]


class Treatments(Record):
    """Every saved collapse of one seed set at one depth under the arms that do not switch, and the healthy controls beside them."""

    kind: Literal["treatments"] = "treatments"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    floor: float
    delays: tuple[int, ...]
    """Steps at the floor before the arms delay_1, delay_2, ..."""
    branches: tuple[ArmRow, ...]
    controls: tuple[ArmRow, ...]
    """As far as any arm of the collapse goes, switches included."""


class Switches(Record):
    """Every saved collapse of one seed set at one depth with its skip scale set back, at once or after a delay, and the first updates replayed."""

    kind: Literal["switches"] = "switches"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    weak_scale: float
    delays: tuple[int, ...]
    branches: tuple[ArmRow, ...]
    replays: tuple[ReplayRow, ...]
    """After each number of updates from the switches to 0.3 and 1, trained a second time from the saved states."""


class SetRecords(NamedTuple):
    """Every record of one seed set, by role."""

    drivers: Mapping[Role, Drivers]
    treated: Mapping[Role, Treatments]
    readings: Mapping[Role, Readings]
    switched: Mapping[Role, Switches]


class WeakRow(Frozen):
    """One skip scale of the weak grid; the values are 0 or 1, in the order of the settled seeds."""

    skip: Quantity
    recovered: Quantity
    """By the rank rule."""
    effective: Quantity
    """With the residual back too: these choose, since a rank that wanders at the collapse says nothing of a scale."""


class HingeChecks(Frozen):
    """Calibration collapses that recovered by rank under the hinge; the values are 0 or 1, in the order of the settled seeds."""

    every: Quantity
    """On every block, at the matched loss."""
    last: Quantity
    """On the last block alone."""
    tenfold: Quantity
    """On every block, at ten times the matched loss."""


class Checks(Record):
    """What calibration tried on its own collapses at the chosen floor, and the weak skip scale of one depth."""

    kind: Literal["checks"] = "checks"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    floor: float
    settled: tuple[int, ...]
    """Seeds, in order."""
    unsettled: tuple[int, ...]
    stayed: Quantity
    """Untreated copies that never recovered by rank."""
    hinge: HingeChecks
    weak_grid: tuple[WeakRow, ...]
    weak_scale: Quantity
    weak_in_band: bool
    """Whether the share of recoveries at the weak scale lies within the band of the parameters."""
    drivers: tuple[ArmRow, ...]
    branches: tuple[ArmRow, ...]


class IntactArm(Frozen):
    """One way of driving a network with the skip connection intact; the values are 0 or 1, in the order of the seeds."""

    arm: str
    detected: Quantity
    settled: Quantity


class Intact(Record):
    """Drivers that leave the skip connection intact, with the uncentred stable rank as detector."""

    kind: Literal["intact"] = "intact"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    healthy_rank: float
    """Uncentred stable rank of the warmed networks: mean over seeds of the last window's median."""
    threshold: float
    """Detected below this, after the warm-up."""
    arms: tuple[IntactArm, ...]
    warm: tuple[ArmRow, ...]
    runs: tuple[ArmRow, ...]


class Excursion(Frozen):
    """All networks at the end of the burst of one multiplier; the values of counts are 0 or 1, in the order of the seeds."""

    multiplier: float
    below: Quantity
    """Networks whose rank lay below the collapse threshold."""
    diverged: Quantity
    rank: tuple[float | None, ...]
    """None for a network that diverged."""
    loss_gap: tuple[float | None, ...]
    """Probe loss above the paired control's, nats; None for a network that diverged."""


class Excursions(Record):
    """Learning-rate bursts on healthy networks and their paired controls, to the end of the burst."""

    kind: Literal["excursions"] = "excursions"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    seeds: tuple[int, ...]
    excursions: tuple[Excursion, ...]
    """In the order of the multipliers."""
    warm: tuple[ArmRow, ...]
    bursts: tuple[ArmRow, ...]
    controls: tuple[ArmRow, ...]


class Continuations(Record):
    """What followed the bursts, untreated at the base rate, and the paired controls."""

    kind: Literal["continuations"] = "continuations"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    multipliers: tuple[float, ...]
    branches: tuple[ArmRow, ...]
    controls: tuple[ArmRow, ...]


class Development(Record):
    """Bursts on development networks over the grid of multipliers, what followed the chosen two, and the choice."""

    kind: Literal["development"] = "development"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    seeds: tuple[int, ...]
    excursions: tuple[Excursion, ...]
    m1: Quantity
    m2: Quantity
    all_below: bool
    """Whether every network lay below the collapse threshold after m1; if none of the grid did it, m1 is the largest."""
    bursts: tuple[ArmRow, ...]
    branches: tuple[ArmRow, ...]
    controls: tuple[ArmRow, ...]
