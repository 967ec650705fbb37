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
    """The largest floor of the grid at which every seed of both depths collapsed and stayed: one driver for all networks."""
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


class Collapse(Record):
    """Drivers and healthy controls of one seed set at one depth, and the collapses that settled."""

    kind: Literal["collapse"] = "collapse"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    floor: float
    events: tuple[Event, ...]
    unsettled: tuple[int, ...]
    """Seeds whose collapse did not settle within the hold; they are counted and not treated."""
    drivers: tuple[RunRow, ...]
    controls: tuple[RunRow, ...]


class Branch(Record):
    """Continuations of every saved collapse, one per treatment, and of the healthy controls."""

    kind: Literal["branch"] = "branch"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    branches: tuple[RunRow, ...]
    controls: tuple[RunRow, ...]


class Profile(Frozen):
    """Gradient norms per block, first block first."""

    qkv: tuple[float, ...]
    qk: tuple[float, ...]
    v: tuple[float, ...]


class EventPath(Frozen):
    """Where gradients arrive in one saved collapse, without any training; float64."""

    seed: int
    collapsed: Profile
    healthy: Profile
    hinge: Profile
    """The hinge of each block alone, at matched added loss, on that block's own weights, collapsed state."""
    switch_03: Profile
    """Task gradient at the first step after the skip scale is set to 0.3, before any update."""
    switch_1: Profile
    rho_penalty: float
    """Norm of the added gradient over that of the task gradient, all weights, unclipped, at matched added loss."""
    rho_hinge: float
    rank_before: float
    rank_at_03: float
    """Stable rank right after the switch to 0.3, before any update."""
    rank_at_1: float
    entropy: float
    """Normalised attention entropy, collapsed."""
    entropy_healthy: float
    unseen_loss: float
    """Loss of the collapsed network on the unseen span, nats."""
    unseen_loss_healthy: float


class Path(Record):
    """Gradient paths of every saved collapse of one seed set at one depth."""

    kind: Literal["path"] = "path"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    events: tuple[EventPath, ...]


class Arm(Frozen):
    """One treatment over events; per-event values in the order of the events."""

    branches: Quantity
    recovered_rank: Quantity
    """By the paper's rule: rank alone."""
    recovered_effective: Quantity
    """Rank and residual both back."""
    steps_to_recovery: Quantity | None = None
    """Of those recovered by rank; absent where none did."""
    final_rank: Quantity
    final_residual: Quantity
    loss_gap: Quantity
    """Loss above the healthy control at the same step, at the end, nats."""
    first_added: Quantity | None = None
    """Loss in nats that the term added on its first training step; absent without a term."""
    clip_share: Quantity


class Arms(Frozen):
    """The treatments of every event."""

    untreated: Arm
    ramp: Arm
    switch_03: Arm
    switch_1: Arm
    penalty_1x: Arm
    penalty_4x: Arm
    hinge_1x: Arm
    hinge_4x: Arm


class Events(Frozen):
    """How many networks were driven, and what became of them."""

    driven: Quantity
    settled: Quantity
    unsettled: Quantity


class CollapsedState(Frozen):
    """The saved collapses beside their healthy controls."""

    skip: Quantity
    """Skip scale at the first measurement below the threshold."""
    rank: Quantity
    residual: Quantity
    at_floor: Quantity
    loss: Quantity
    loss_gap: Quantity
    loss_gap_min: Quantity
    loss_from_unigram: Quantity
    """Distance of the loss on unseen text from the unigram entropy of the training span, nats."""
    entropy: Quantity
    entropy_min: Quantity
    entropy_healthy: Quantity
    entropy_healthy_max: Quantity


class PathSummary(Frozen):
    """The gradient path over events."""

    qk_over_healthy: Quantity
    """Per event, the largest over blocks of the collapsed query-key gradient over the healthy one."""
    qk_healthy_min: Quantity
    """Per event, the smallest query-key gradient over blocks of the healthy network."""
    qkv_first: Quantity
    qkv_last: Quantity
    v_share: Quantity
    """Per event, the median over blocks of the value projection's norm over that of query, key and value."""
    hinge_first: Quantity
    hinge_last: Quantity
    rise_03: Quantity
    """Per event, the smallest over blocks of the query-key gradient after the switch to 0.3 over that before."""
    rise_1: Quantity
    open_1: Quantity
    """Per event, the median over blocks of the query-key gradient after the switch to 1 over the healthy one."""
    above_at_03: Quantity
    """Events whose rank lay above the recovery threshold right after the switch to 0.3, before any update."""
    above_at_1: Quantity


class Force(Frozen):
    """Size of the added gradient at the weights over that of the task gradient, at switch-on."""

    penalty: Quantity
    hinge: Quantity
    hinge_over_penalty: Quantity


class Hysteresis(Frozen):
    """Skip scale at which the rank came back on the reversed ramp, against where it was lost."""

    skip_at_recovery: Quantity
    ratio: Quantity
    """Per event; 0 for an event that did not recover on the ramp."""
    ratio_min: Quantity


class Result(Frozen):
    """Everything about one group of events."""

    depth: str
    events: Events
    state: CollapsedState
    arms: Arms
    path: PathSummary
    force: Force
    hysteresis: Hysteresis
    loss_arms_effective: Quantity
    """Effective recoveries among all penalty and hinge branches."""
    loss_arms_rank: Quantity
    """Recoveries by rank among all penalty and hinge branches."""


class Settings(Frozen):
    """Values that were set and that the manuscript names."""

    weak_switch: Quantity
    full_switch: Quantity
    added_loss: Quantity
    """Matched added loss at switch-on, nats."""
    refine_below: Quantity
    """Relative residual below which readings come from double precision."""
    collapse_share: Quantity
    recover_share: Quantity
    effective_share: Quantity


class Main(Record):
    """The study's results, by role and over both."""

    kind: Literal["main"] = "main"
    version: Literal[1] = 1
    settings: Settings
    shallow: Result
    deep: Result
    both: Result
