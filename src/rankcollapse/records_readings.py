"""The records of readings: what is measured from saved states without training, or from trajectories; free of torch."""

from __future__ import annotations

from typing import Literal

from audit.records import Frozen, Record
from rankcollapse.records import Profile


class BlockRow(Frozen):
    """A network after each block, first block first; float64 forward, means over the probe's sequences."""

    rank: tuple[float, ...]
    q: tuple[float, ...]
    residual: tuple[float, ...]
    at_floor: tuple[bool, ...]
    """Whether the residual of a sequence is rounding error, so that the rank is undetermined and counts as collapsed."""


class EntropyRow(Frozen):
    """Attention entropy per block: 1 is uniform; mean over heads, sequences and rows from the second on."""

    rows: tuple[float, ...]
    """Mean of each row's entropy over the log of the keys it sees."""
    sums: tuple[float, ...]
    """Sum of the rows' entropies over the sum of those logs, as a sensitivity."""


class StateRow(Frozen):
    """A network at one skip scale, without any update."""

    skip: float
    loss: float
    """Task loss on the gradient probe, nats per token."""
    gradient_norm: float
    """Norm of the task gradient on all weights, unclipped."""
    task: Profile
    """Task gradient norms on the attention input weights."""
    opening: float
    """The predictor: median over blocks (mean of the middle two) of the norm on queries and keys."""
    blocks: BlockRow
    entropy: EntropyRow


class ForceRow(Frozen):
    """Added over task gradient norm at the weights, unclipped."""

    arm: str
    """A treatment; at switch-on the term adds its matched loss."""
    rho: float


class LineRow(Frozen):
    """rho of a term from the collapsed state on, at the weight it has there."""

    term: str
    share: tuple[float, ...]
    """Of the way to the healthy network of the same seed."""
    healthy: tuple[float, ...]
    random: tuple[float, ...]
    """As far along a random direction."""


class OrderRow(Frozen):
    """Sizes of correlations of the last block's u1, per sequence of the gradient probe; float64."""

    spearman: tuple[float, ...]
    """With position."""
    pearson: tuple[float, ...]
    pearson_log: tuple[float, ...]
    """With the log of position, counted from one."""
    frequency: tuple[float, ...]
    """Spearman with the training frequency of the position's token."""
    at_floor: bool


class NoiseRow(Frozen):
    """The task gradient on queries and keys per block in single and in double precision, collapsed."""

    cosine: tuple[float, ...]
    single: tuple[float, ...]
    double: tuple[float, ...]
    """Norms."""
    epsilon: float
    """Norm of a gradient whose entries have the root mean square of Adam's epsilon."""


class LawRow(Frozen):
    """The slope-two law's points, one a block, collapsed."""

    residual: tuple[float, ...]
    """Relative residual of the normalised input."""
    ratio: tuple[float, ...]
    """Query-key gradient over the gradient at attention's output."""
    slope: float | None = None
    """Of the points at a small residual, log on log; absent where there are too few."""


class ReplayRow(Frozen):
    """Some updates after a switch, replayed from the saved state."""

    seed: int
    skip: float
    updates: int
    rank: float
    residual: float
    at_floor: bool
    loss: float
    """On the rank probe, nats per token."""
    task: Profile
    logged: float | None = None
    """Rank that the branch logged at this step; absent where it was not measured."""
    error: float | None = None
    """Relative difference of the two."""


class EventReadings(Frozen):
    """Everything read from one saved collapse and its healthy control."""

    seed: int
    collapsed: StateRow
    healthy: StateRow
    healthy_at_floor: StateRow
    """The healthy weights at the floor."""
    switches: tuple[StateRow, ...]
    """The collapsed weights right after a switch, before any update."""
    hinge: Profile
    """The hinge of each block alone, at matched added loss, on that block's own weights, collapsed."""
    forces: tuple[ForceRow, ...]
    lines: tuple[LineRow, ...]
    order: OrderRow
    order_healthy: OrderRow
    noise: NoiseRow
    law: LawRow


class BranchEnd(Frozen):
    """A branch in its last state, at its last skip scale."""

    seed: int
    arm: str
    state: StateRow
    rho: float | None = None
    """Of its term, at the weight it trained with; absent without a term."""


class AgedRow(Frozen):
    """A network after some steps at the floor, at the skip scale it is switched to, before any update."""

    seed: int
    delay: int
    state: StateRow
    rho_hinge: float
    """Force of the hinge at the floor, at its matched added loss."""
    swaps: dict[str, float]
    """Of the longest delay, else empty: the predictor as it is (`none`), of the saved collapse (`all`), and with one group of weights, or two together, from the saved collapse."""
    restoring: tuple[str, ...]
    """Groups that alone bring it to within the factor of the saved collapse's."""


class Readings(Record):
    """What is read, without training, from the saved collapses of one seed set at one depth and from what their branches left at the floor."""

    kind: Literal["readings"] = "readings"
    version: Literal[1] = 1
    role: Literal["shallow", "deep"]
    depth: int
    floor: float
    weak_scale: float
    unigram_loss: float
    """Of a model that only knows how often each token occurs, on the gradient probe, nats per token."""
    events: tuple[EventReadings, ...]
    ends: tuple[BranchEnd, ...]
    aged: tuple[AgedRow, ...]


class CurvePoint(Frozen):
    """The force of each term on the synthetic matrix at one distance from rank one."""

    delta: float
    q: float
    sigma: float
    """Largest singular value of the centred matrix."""
    penalty: float
    """Norm of the term's gradient on the matrix; `_closed` by its formula."""
    hinge: float
    cosine: float
    penalty_closed: float
    hinge_closed: float
    cosine_closed: float


class Synthetic(Record):
    """The synthetic matrix curve; no network."""

    kind: Literal["synthetic"] = "synthetic"
    version: Literal[1] = 1
    tokens: int
    width: int
    points: tuple[CurvePoint, ...]
