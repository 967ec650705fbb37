"""The record of pure attention, an untrained study beside the source paper's; free of torch."""

from __future__ import annotations

from typing import Literal

from audit.records import Frozen, Quantity, Record
from rankcollapse.records_results import Tree, gather


class CourseRow(Frozen):
    """An untrained network by layer, the input first; medians over draws."""

    variant: str
    """attention, gelu, swiglu, skip, block, pre or post: see `untrained.VARIANTS`."""
    causal: bool
    tokens: int
    composite: tuple[float, ...]
    """Relative residual in the composite norm sqrt(|.|_1 |.|_inf)."""
    residual: tuple[float, ...]
    """In the Frobenius norm."""
    stable: tuple[float | None, ...]
    """Stable rank of the centred tokens; null where a draw's residual is rounding error, whose rank it would be."""
    effective: tuple[float | None, ...]


class SlopeRow(Frozen):
    """One draw of a small network of pure attention, in many digits."""

    seed: int
    log_residual: tuple[float, ...]
    """Natural log of the composite norm of the centred tokens, the input first."""
    log_bound: tuple[float, ...]
    """Of the theorem's bound after each layer, from the residual before it."""


class PathRow(Frozen):
    """Paths by length, from 0 to the depth, at one skip scale; means over draws."""

    skip: float
    weight: tuple[float, ...]
    """Share of the norms of the sums over the paths of each length."""
    residual: tuple[float, ...]
    """Relative residual of each of those sums."""


class ShownRow(Frozen):
    """A layer of the text's numerical demonstration."""

    layer: int
    pure: float
    """Effective rank of pure attention, as the script prints it."""
    residual: float
    at_floor: bool
    """Whether the residual is rounding error, so that the printed rank is the rounding's."""
    apart: float
    """Effective rank with the mean and the differences of the tokens held apart."""
    block: float
    """Effective rank of the script's transformer."""


class CausalRow(Frozen):
    """Uniform causal attention on Gaussian tokens, after a layer."""

    layer: int
    stable: float
    residual: float


class Pure(Record):
    """Residual, rank, slope, paths and hull of untrained attention, beside the collapsed networks of the main study; every tree holds
    quantities by name."""

    kind: Literal["pure"] = "pure"
    version: Literal[1] = 1
    courses: tuple[CourseRow, ...]
    deep: tuple[CourseRow, ...]
    """The normalised networks at the large depth."""
    slopes: tuple[SlopeRow, ...]
    lengths: tuple[PathRow, ...]
    shown: tuple[ShownRow, ...]
    running: tuple[CausalRow, ...]
    settings: Tree
    collapse: Tree
    slope: Tree
    hull: Tree
    paths: Tree
    skip: Tree
    mlp: Tree
    demonstration: Tree
    causal: Tree
    networks: Tree


TREES = ("settings", "collapse", "slope", "hull", "paths", "skip", "mlp", "demonstration", "causal", "networks")


def gather_pure(record: Pure) -> dict[str, Quantity]:
    """Every quantity of the record by the key that claims and manuscript name it by, `pure.` before it."""
    return {f"pure.{name}.{key}": own for name in TREES for key, own in gather(getattr(record, name)).items()}
