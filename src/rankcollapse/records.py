"""The records of the study: what each stage writes, free of torch."""

from __future__ import annotations

from typing import Literal

from audit.records import Frozen, Quantity, Record


class Trajectory(Frozen):
    """What was measured of one run, one entry a measurement."""

    step: tuple[int, ...]
    skip: tuple[float, ...]
    rank: tuple[float, ...]
    """Stable rank of the last block: per sequence, centred over tokens, mean over the probe batch; float64 forward where collapsed."""
    residual: tuple[float, ...]
    """Relative residual |X - mean|_F / |X|_F of the last block."""
    loss: tuple[float, ...]
    """Task loss on the probe batch, nats per token."""
    at_floor: tuple[bool, ...]
    """Whether the residual was rounding error, so that the rank was undetermined."""


class RunRow(Frozen):
    """One run of a table, as it went."""

    name: str
    seed: int
    arm: str
    term: str
    added_target: float
    """Loss in nats that the term was to add at switch-on; 0 without a term."""
    first_added: float
    """Loss in nats that it added on the first training step."""
    term_weight: float
    clip_share: float
    """Share of steps on which clipping was active."""
    diverged_at: int | None = None
    trajectory: Trajectory


class FloorRow(Frozen):
    """One floor of the calibration grid."""

    floor: Quantity
    settled: Quantity
    """Seeds whose collapse settled; the values are 0 or 1, in the order of the seeds."""
    stayed: Quantity
    """Of these, seeds that stayed collapsed to the end of the hold."""
    effective: Quantity
    """Of these, seeds whose relative residual ended below what an effective recovery asks for."""


class RoleCalibration(Frozen):
    """What calibration froze for one role."""

    depth: Quantity
    """Blocks of the networks."""
    edge: Quantity
    """The largest floor at which every seed of this depth collapsed and stayed collapsed."""
    healthy_rank: Quantity
    healthy_residual: Quantity
    healthy_q: float
    """s_0 of the hinge: sqrt(healthy rank - 1)."""
    collapse_threshold: Quantity
    recover_threshold: Quantity
    early_dip_ends: Quantity
    """Last step at which a healthy network lay below the collapse threshold."""
    grid: tuple[FloorRow, ...]
    runs: tuple[RunRow, ...]


class Calibration(Record):
    """Healthy values, thresholds and floors, from seeds of their own."""

    kind: Literal["calibration"] = "calibration"
    version: Literal[1] = 1
    floor: Quantity
    """The largest floor of the grid at which every seed of both depths collapsed, stayed, and lost its residual; by rank alone if there is none."""
    shallow: RoleCalibration
    deep: RoleCalibration


class Event(Frozen):
    """One settled collapse, as it was saved."""

    seed: int
    detected: int
    """Step of the first measurement below the collapse threshold."""
    saved: int
    """Step at which it had settled and was saved."""
    skip_at_collapse: float
    rank: float
    residual: float
    at_floor: bool
    loss: float
    loss_gap: float
    """Loss above the healthy control's at the same step, nats."""


class Profile(Frozen):
    """Gradient norms per block, first block first."""

    qkv: tuple[float, ...]
    qk: tuple[float, ...]
    v: tuple[float, ...]
