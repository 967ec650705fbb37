"""The slope-two law: how a block's query-key gradient, per gradient that reaches its attention, falls with what tells its tokens apart.

Attention that is nearly uniform moves by x dW_Q W_K^T C W_V with C the attention-weighted covariance of the tokens it sees, which
is of second order in their relative residual (Noci et al. 2022, and KAT-7); before that, layer normalisation rescales the tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from rankcollapse.measure import compute_residual, per_sequence
from rankcollapse.model import Shape, block_weights, embed, heads, normalise, project, token_losses, views

SMALL = 0.1
"""Largest relative residual at which the law's lowest order is expected to be seen."""
LEAST_POINTS = 6


class Law(NamedTuple):
    """Per block (L,), for one network: relative residual of the normalised input, and query-key gradient over that at attention's output."""

    residual: np.ndarray
    ratio: np.ndarray


def attend(x_MND: torch.Tensor, weights: dict[str, torch.Tensor], shape: Shape, sequences: int) -> torch.Tensor:
    """What attention adds to the residual stream."""
    kinds = ["rms"] * len(x_MND)
    q, k, v = heads(project(normalise(x_MND), weights["qkv"], weights["ln_attention"]), weights["qk_scale"], kinds, shape, sequences)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0).transpose(1, 2).reshape(x_MND.shape)
    return project(mixed, weights["attention_out"])


def feed_forward(x_MND: torch.Tensor, weights: dict[str, torch.Tensor]) -> torch.Tensor:
    """What the MLP adds to the residual stream."""
    return project(F.gelu(project(normalise(x_MND), weights["mlp_in"], weights["ln_mlp"])), weights["mlp_out"])


def read_law(weights_P: torch.Tensor, tokens_BT: torch.Tensor, skip: float, shape: Shape) -> Law:
    """One network's points, one a block, on a probe batch (B, T+1), from a float64 pass in PyTorch."""
    leaves = {name: weight.detach().clone().requires_grad_() for name, weight in views(weights_P.double()[None], shape).items()}
    x, sequences, residual, added = embed(leaves, tokens_BT[None, :, :-1], shape), len(tokens_BT), [], []
    for index in range(shape.depth):
        weights = block_weights(leaves, index)
        with torch.no_grad():
            seen = normalise(x) * weights["ln_attention"].unsqueeze(1)
            residual.append(compute_residual(per_sequence(seen, sequences)).mean().item())
        added.append(attend(x, weights, shape, sequences))
        x = skip * x + added[-1]
        x = skip * x + feed_forward(x, weights)
    loss = token_losses(leaves, x, tokens_BT[None, :, 1:]).sum()
    grads = torch.autograd.grad(loss, [*added, *(leaves[f"block{index}.qkv"] for index in range(shape.depth))])
    arrived = torch.stack([grad.norm() for grad in grads[: shape.depth]])
    moved = torch.stack([grad[..., : 2 * shape.width].norm() for grad in grads[shape.depth :]])
    return Law(np.array(residual), (moved / arrived.clamp_min(torch.finfo(arrived.dtype).tiny)).numpy())


def fit_slope(laws: Sequence[Law], below: float = SMALL) -> float | None:
    """Slope of log ratio on log residual (least squares) over the points below a residual; None with fewer than `LEAST_POINTS`.

    One network's points give its own slope, several networks' theirs together.
    """
    residual, ratio = (np.concatenate([getattr(law, name) for law in laws]) for name in Law._fields)
    chosen = (residual < below) & (residual > 0) & (ratio > 0)
    if chosen.sum() < LEAST_POINTS:
        return None
    return float(np.polynomial.Polynomial.fit(np.log(residual[chosen]), np.log(ratio[chosen]), 1).convert().coef[1])
