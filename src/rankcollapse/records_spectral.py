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
    unlearnt: bool
    """Whether its last trailing median lay above the loss that counts as having learnt."""


class SpectralRow(ArmRow):
    """One run with its heads; those that are absent were not read, or the run diverged."""

    learning_rate: float
    """The highest of its schedule."""
    optimiser: str
    query_key: str
    benign: float | None = None
    """Share of the single maps of its last state that are sparse and not low-rank."""
    malignant: float | None = None
    """Share that are sparse and low-rank."""
    warned: HeadTable | None = None
    """At the step of the warning."""
    last: HeadTable | None = None


class SpectralRuns(Record):
    """Runs of every arm as they went; nothing is judged."""

    kind: Literal["spectral_runs"] = "spectral_runs"
    version: Literal[1] = 1
    depth: int
    top: int
    """The s of every SEC."""
    random_sec: Quantity
    """Mean SEC of products of two Gaussian matrices of a head's shape."""
    unigram: float
    """Probe loss of the unigram distribution, nats per token."""
    extra: dict[str, Quantity]
    """By arm: operations that it adds to a step, over those of the products that every arm has."""
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


class NormRow(Frozen):
    """How far power iterations from a cold start fall short of the largest singular value of a Gaussian matrix."""

    name: str
    rows: int
    columns: int
    iterations: int
    short: Quantity
    """Mean over draws, relative."""


class DrawnMaps(Record):
    """Theorem 1 of the source, sampled, and its estimates of spectral norms."""

    kind: Literal["drawn_maps"] = "drawn_maps"
    version: Literal[1] = 1
    sparse: float
    """Normalised entropy up to which a map counts as sparse."""
    low_rank: float
    """Relative stable rank up to which it counts as low-rank."""
    curves: tuple[DrawnCurve, ...]
    norms: tuple[NormRow, ...]


class SurvivalRow(Frozen):
    """One arm at one learning rate."""

    rate: Quantity
    """The highest of its schedule."""
    tau: Quantity | None = None
    """Cap of AdamW2."""
    runs: Quantity
    survived: Quantity
    """Runs that learnt and did not crash; the values are 0 or 1, in the order of the runs."""
    low: Quantity
    """Lower end of the exact 95 % interval of the share that survives."""
    high: Quantity
    crashed: Quantity
    """Runs whose loss rose for good, or that diverged."""
    unlearnt: Quantity
    """Runs that did not come down from the unigram loss, or went back to it."""
    final_loss: Quantity | None = None
    """Of the runs that did not diverge, nats per token; absent where all did."""


class SpectralChoice(Record):
    """Development: survival by learning rate without a cap, and by cap at the rate that was chosen."""

    kind: Literal["spectral_choice"] = "spectral_choice"
    version: Literal[1] = 1
    depth: int
    rates: tuple[SurvivalRow, ...]
    caps: tuple[SurvivalRow, ...]
    rate: Quantity
    """Under which the share of networks that survive is nearest to one half."""
    cap: Quantity
    """Place of the chosen cap in the grid, from 1 on: most survive, then the lowest median loss."""
    tau: Quantity
    runs: tuple[SpectralRow, ...]


class WarningRow(Frozen):
    """How well one reading at one step forewarns of a crash, within one learning rate."""

    sign: Literal["higher", "lower"]
    """Which values were said to forewarn, in advance."""
    auc: Quantity
    """Share of pairs (a run that crashes, one that does not) that it orders rightly, ties half; one half without a pair."""
    p: Quantity
    """Exact, one-sided."""


class Warned(Frozen):
    """Every reading's warning, on the same runs."""

    at: Quantity
    """Step of the readings."""
    crashing: Quantity
    """Runs that crash, or have not learnt, at the end."""
    lasting: Quantity
    excluded: Quantity
    """Runs that had crashed by then."""
    readings: dict[str, WarningRow]


class SpectralResults(Record):
    """What the runs came to: survival, modes, warnings."""

    kind: Literal["spectral_results"] = "spectral_results"
    version: Literal[1] = 1
    crashes: dict[str, CrashRow]
    """By the name of the run."""
    survival: dict[str, SurvivalRow]
    """By arm."""
    capped: SurvivalRow
    """The arm of AdamW2 under the cap that development chose."""
    capped_below_warm_up: Quantity
    """Pairs of one seed in which it ended at a lower loss than AdamW with warm-up."""
    capped_below_plain: Quantity
    """Pairs in which it ended at a lower loss than AdamW without."""
    capped_below_lower: Quantity
    """Pairs in which it ended at a lower loss than AdamW without, at the lower learning rate."""
    warned: Warned
    before: Warned | None = None
    """The same as the rate goes up, in a study of networks that had learnt."""
    closed: WarningRow | None = None
    """There, how well the mean attention entropy of the last state tells runs that crashed from runs that did not."""
    malignant: WarningRow
    """How well the share of malignant maps in the last state tells runs that crashed from runs that did not."""
    maps: dict[str, Quantity]
    """Share of the single maps of the plain arm's last states, by mode and fate: `benign_survived`, `malignant_fell` and so on."""
    random_sec: Quantity
