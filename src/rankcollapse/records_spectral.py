"""The records of attention's spectra: heads at start and end, drawn maps, who survived, what forewarned; free of torch."""

from __future__ import annotations

from typing import Literal

from audit.records import Frozen, Quantity, Record
from rankcollapse.arm_records import ArmRow

Table = tuple[tuple[float, ...], ...]
"""Blocks, first block first, of heads."""


class HeadTable(Frozen):
    """One network head by head, blocks of heads; maps are means over the probe's sequences."""

    sec: Table
    """Spectral energy concentration of the query-key product, of its `top` directions."""
    directions: tuple[tuple[int, ...], ...]
    """Directions that hold 90 % of the energy."""
    sigma: Table
    """Largest singular value of the product, with gains and scale."""
    entropy: Table
    """Attention entropy by rows; 1 is uniform."""
    map_rank: Table
    """Stable rank of the maps over their tokens; 1 is the identity."""
    benign: Table
    """Share of the single maps that are sparse and not low-rank."""
    malignant: Table
    """Share of the single maps that are sparse and low-rank."""
    logit: Table
    """The largest logit."""
    mode: tuple[tuple[Literal["benign", "malignant", "neither"], ...], ...]
    """By the means of entropy and map rank."""


class ModeCount(Frozen):
    """How many heads, or maps, are of each mode."""

    benign: Quantity
    """Sparse and not low-rank."""
    malignant: Quantity
    """Sparse and low-rank."""
    neither: Quantity


class CrashRow(Frozen):
    """How a run went, by its probe loss."""

    step: int | None = None
    """Of its crash; absent where it did not crash."""
    rise: float | None = None
    """Nats between its last trailing median and the smallest before the crash; absent where it did not crash, or diverged."""
    never_learned: bool


class SpectralRow(ArmRow):
    """One run with its heads at start and end."""

    learning_rate: float
    """The highest of its schedule."""
    optimiser: str
    query_key: str
    first: HeadTable
    last: HeadTable | None = None
    """Absent where the run diverged."""


class SpectralRuns(Record):
    """Runs of several arms and learning rates as they went; nothing is judged."""

    kind: Literal["spectral_runs"] = "spectral_runs"
    version: Literal[1] = 1
    depth: int
    top: int
    """The s of every SEC."""
    random_sec: Quantity
    """Mean SEC of products of two Gaussian matrices of a head's shape."""
    random_draws: int
    runs: tuple[SpectralRow, ...]


class CurvePoint(Frozen):
    """Drawn maps at one strength."""

    strength: float
    """c: the top singular value of the product over the root of the head size."""
    modes: ModeCount
    malignant_share: Quantity


class DrawnCurve(Frozen):
    """How often drawn maps are sparse and low-rank, against strength."""

    name: str
    tokens: int
    width: int
    head_size: int
    token_rank: int
    product_rank: int
    causal: bool
    draws: int
    points: tuple[CurvePoint, ...]


class DrawnMaps(Record):
    """Theorem 1 of the source, sampled."""

    kind: Literal["drawn_maps"] = "drawn_maps"
    version: Literal[1] = 1
    sparse: float
    """Normalised entropy up to which a map counts as sparse."""
    low_rank: float
    """Relative stable rank up to which it counts as low-rank."""
    curves: tuple[DrawnCurve, ...]


class SurvivalRow(Frozen):
    """One arm at one learning rate."""

    arm: str
    rate: Quantity
    runs: Quantity
    survived: Quantity
    """Runs that neither crashed nor never learnt; the values are 0 or 1, in the order of the runs."""
    low: Quantity
    """Lower end of the exact 95 % interval of the share that survives."""
    high: Quantity
    crashed: Quantity
    never_learned: Quantity
    final_loss: Quantity | None = None
    """Of the runs that survived, nats per token; absent where none did."""
    cost: Quantity | None = None
    """Of a step over that of the arm it is compared with."""


class WarningRow(Frozen):
    """How well one reading at one step forewarns of a crash, within learning rates."""

    predictor: str
    sign: Literal["higher", "lower"]
    """Which values were said to forewarn, in advance."""
    at: int
    """Step of the reading."""
    lead: int
    horizon: int
    """Crashes count from at + lead (left out) to at + horizon."""
    auc: Quantity | None = None
    """Share of pairs of one stratum that it orders rightly; absent where no stratum has both kinds."""
    p: Quantity
    """Exact, one-sided."""
    crashing: Quantity
    lasting: Quantity
    pairs: Quantity
    excluded: Quantity
    """Runs that had crashed too early to be warned."""
    idle: Quantity
    """Runs of strata with one kind alone."""
    by_stratum: dict[str, float]


class SpectralResults(Record):
    """What the runs came to: crashes, survival, modes and warnings."""

    kind: Literal["spectral_results"] = "spectral_results"
    version: Literal[1] = 1
    crashes: dict[str, CrashRow]
    """By the name of the run."""
    survival: tuple[SurvivalRow, ...]
    modes: dict[str, ModeCount]
    """Heads by mode at the end, by group of runs (an arm, say, or those that crashed)."""
    warnings: tuple[WarningRow, ...]
