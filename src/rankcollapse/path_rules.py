"""Rules on a profile of gradient norms over blocks, first block first: how it falls, what part is the value's, whether it is open."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rankcollapse.records import Profile

OPEN = 1e-2
"""The source paper's rule: a gradient norm of at least this in every block (appendix E)."""
OPEN_SHARE, CLOSED_SHARE = 0.1, 1e-2
"""Of the healthy network's norm in the same block: open at or above the first in every block, closed below the second in every block."""
SIGNAL = 0.9
"""Cosine between the float32 and float64 gradients of a block above which single precision has the gradient and not its own rounding."""
LEAST = 1e-30
"""A norm below this counts as this in a ratio, which would say nothing otherwise."""


def last_over_first(norms: Sequence[float]) -> float:
    """Norm in the last block over that in the first: above 1 where the gradient fades towards the input."""
    return norms[-1] / max(norms[0], LEAST)


def value_shares(profile: Profile) -> tuple[float, ...]:
    """Per block, the norm on the value projection over that on query, key and value."""
    return tuple(v / max(qkv, LEAST) for v, qkv in zip(profile.v, profile.qkv, strict=True))


def over_healthy(norms: Sequence[float], healthy: Sequence[float]) -> tuple[float, ...]:
    """Per block, the norm over the healthy network's."""
    return tuple(norm / max(other, LEAST) for norm, other in zip(norms, healthy, strict=True))


def is_open(norms: Sequence[float], least: float = OPEN) -> bool:
    """The path rule with an absolute bound."""
    return min(norms) >= least


def is_open_relative(norms: Sequence[float], healthy: Sequence[float], share: float = OPEN_SHARE) -> bool:
    """The path rule relative to the healthy network, which meets it by definition."""
    return min(over_healthy(norms, healthy)) >= share


def is_closed(norms: Sequence[float], healthy: Sequence[float], share: float = CLOSED_SHARE) -> bool:
    """Whether the norm is below a share of the healthy network's in every block."""
    return max(over_healthy(norms, healthy)) < share


def opening(profile: Profile) -> float:
    """The predictor: median over blocks of the norm on queries and keys, with an even number of blocks the mean of the middle two."""
    return median(profile.qk)


def blocks_with_signal(cosines: Sequence[float], least: float = SIGNAL) -> tuple[int, ...]:
    """Blocks, from 0, in which a smaller epsilon of Adam would amplify a gradient and not rounding."""
    return tuple(index for index, cosine in enumerate(cosines) if cosine > least)
