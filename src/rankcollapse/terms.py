"""The added losses on the token representations of every block; `none` is an entry like the others.

Source paper, section 2: with the centred token matrix X and E what its top direction leaves, Q = |E| / sigma_1,
the penalty is 1 - Q^2 / (d - 1) and the hinge max(0, s_0 - Q).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

POWER_STEPS = 8
GUARD = 1e-30


class Spread(NamedTuple):
    """What a term may be made of, per token matrix: Q = |E| / sigma_1, its width d, and the healthy value s_0."""

    q: torch.Tensor
    width: int
    healthy: torch.Tensor


TERMS: dict[str, Callable[[Spread], torch.Tensor]] = {
    "none": lambda spread: torch.zeros_like(spread.q),
    "penalty": lambda spread: 1 - spread.q.square() / (spread.width - 1),
    "hinge": lambda spread: (spread.healthy - spread.q).clamp_min(0),
}


def centre(x_ETD: torch.Tensor) -> torch.Tensor:
    """Token matrices with their mean over tokens taken off."""
    return x_ETD - x_ETD.mean(-2, keepdim=True)


@torch.no_grad()
def top_direction(centred_ETD: torch.Tensor, steps: int = POWER_STEPS) -> torch.Tensor:
    """Right singular vectors (E, D, 1) of the largest singular values, by power iteration from the longest row."""
    gram = centred_ETD.transpose(-1, -2) @ centred_ETD
    longest = centred_ETD.square().sum(-1).argmax(-1)
    v = centred_ETD[torch.arange(len(centred_ETD)), longest].unsqueeze(-1)
    for _ in range(steps):
        v = gram @ (v / v.norm(dim=-2, keepdim=True).clamp_min(GUARD))
    return v / v.norm(dim=-2, keepdim=True).clamp_min(GUARD)


def compute_q(x_ETD: torch.Tensor, v_ED1: torch.Tensor | None = None) -> torch.Tensor:
    """Q = |E| / sigma_1 (E,) of token matrices, by deflation; exact gradient because v is stationary and detached.

    A matrix without spread, or whose spread off the top direction is rounding error, has Q = 0 and no gradient, since there is no direction to push in.
    """
    centred = centre(x_ETD)
    v = top_direction(centred) if v_ED1 is None else v_ED1
    along = centred @ v
    left = centred - along * v.transpose(-1, -2)
    sigma = along.square().sum((-1, -2))
    rest = left.square().sum((-1, -2))
    alive = (sigma > torch.finfo(sigma.dtype).tiny) & (rest > torch.finfo(rest.dtype).eps ** 2 * sigma)
    return torch.where(alive, (torch.where(alive, rest, 1.0) / torch.where(alive, sigma, 1.0)).sqrt(), 0.0)


def block_terms(kinds: list[str], stream: list[torch.Tensor], sequences: int, healthy_M: torch.Tensor) -> torch.Tensor:
    """Each run's term per block, averaged over sequences: (L, M), from the residual stream after each block."""
    stacked = torch.stack(stream)
    blocks, models, rows, width = stacked.shape
    q = compute_q(stacked.view(-1, rows // sequences, width)).view(blocks, models, sequences)
    spread = Spread(q, width, healthy_M.view(1, -1, 1))
    values = {kind: TERMS[kind](spread).mean(-1) for kind in set(kinds)}
    return torch.stack([values[kind][:, index] for index, kind in enumerate(kinds)], 1)
