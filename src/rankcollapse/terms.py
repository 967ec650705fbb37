"""The added losses on the token representations of every block; `none` is an entry like the others.

Source paper, section 2: with the centred token matrix X and E what its top direction leaves, Q = |E| / sigma_1,
the penalty is 1 - Q^2 / (d - 1), the hinge max(0, s_0 - Q), and the cosine term the mean squared cosine between
different centred rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from rankcollapse import kernel

POWER_STEPS = 8
GUARD = 1e-30


class Spread(NamedTuple):
    """What a term may be made of, per token matrix: Q = |E| / sigma_1, its width d, the healthy value s_0, and the mean squared cosine."""

    q: torch.Tensor
    width: int
    healthy: torch.Tensor
    cosine: torch.Tensor
    """Zero where no term of the stack is made of it."""


TERMS: dict[str, Callable[[Spread], torch.Tensor]] = {
    "none": lambda spread: torch.zeros_like(spread.q),
    "penalty": lambda spread: 1 - spread.q.square() / (spread.width - 1),
    "hinge": lambda spread: (spread.healthy - spread.q).clamp_min(0),
    "cosine": lambda spread: spread.cosine,
}


def centre(x_ETD: torch.Tensor) -> torch.Tensor:
    """Token matrices with their mean over tokens taken off."""
    return x_ETD - x_ETD.mean(-2, keepdim=True)


@torch.no_grad()
def top_direction(centred_ETD: torch.Tensor, steps: int = POWER_STEPS, start_ED: torch.Tensor | None = None) -> torch.Tensor:
    """Right singular vectors (E, D) of the largest singular values, by power iteration from `start` or, where that is zero, the longest row."""
    gram = centred_ETD.transpose(-1, -2) @ centred_ETD
    v = longest_row(centred_ETD)
    if start_ED is not None:
        v = torch.where((start_ED == 0).all(-1, keepdim=True), v, start_ED)
    v = v.unsqueeze(-1)
    for _ in range(steps):
        v = gram @ (v / v.norm(dim=-2, keepdim=True).clamp_min(GUARD))
    return (v / v.norm(dim=-2, keepdim=True).clamp_min(GUARD)).squeeze(-1)


def longest_row(centred_ETD: torch.Tensor) -> torch.Tensor:
    """The longest row (E, D) of each token matrix."""
    longest = centred_ETD.square().sum(-1).argmax(-1)
    return centred_ETD.gather(1, longest.view(-1, 1, 1).expand(-1, 1, centred_ETD.shape[-1])).squeeze(1)


def compute_q(x_ETD: torch.Tensor, v_ED: torch.Tensor | None = None, start_ED: torch.Tensor | None = None) -> torch.Tensor:
    """Q = |E| / sigma_1 (E,) of token matrices, by deflation; exact gradient because v is stationary and detached.

    `v` is taken as it is; without it the top direction is found, from `start` where there is one, which is overwritten with it.
    A matrix without spread, or whose spread off the top direction is rounding error, has Q = 0 and no gradient, since there is no direction to push in.
    """
    if kernel.available(x_ETD):
        v = v_ED if v_ED is not None else torch.zeros_like(x_ETD[:, 0]) if start_ED is None else start_ED
        return Deflation.apply(x_ETD, v, POWER_STEPS if v_ED is None else 0)
    centred = centre(x_ETD)
    v = top_direction(centred, POWER_STEPS, start_ED) if v_ED is None else v_ED
    if start_ED is not None:
        start_ED.copy_(v)
    along = centred @ v.unsqueeze(-1)
    left = centred - along * v.unsqueeze(-2)
    sigma = along.square().sum((-1, -2))
    rest = left.square().sum((-1, -2))
    alive = (sigma > torch.finfo(sigma.dtype).tiny) & (rest > torch.finfo(rest.dtype).eps ** 2 * sigma)
    return torch.where(alive, (torch.where(alive, rest, 1.0) / torch.where(alive, sigma, 1.0)).sqrt(), 0.0)


class Deflation(torch.autograd.Function):
    """`compute_q` by the kernel; v (E, D) is iterated in place for so many steps."""

    @staticmethod
    def forward(ctx, x_ETD: torch.Tensor, v_ED: torch.Tensor, steps: int) -> torch.Tensor:
        x, q, limits = x_ETD.contiguous(), x_ETD.new_empty(len(x_ETD)), torch.finfo(x_ETD.dtype)
        v = v_ED if v_ED.is_contiguous() and v_ED.dtype == x.dtype else v_ED.to(x.dtype).contiguous()

        def work(part: slice) -> int:
            return kernel.call("deflate", x, *x[part].shape, x[part], v[part], steps, limits.tiny, limits.eps, q[part])

        kernel.share_out(len(x), work)
        ctx.save_for_backward(x, v.clone(), q)
        return q

    @staticmethod
    def backward(ctx, dq_E: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        x, v, q = ctx.saved_tensors
        dx, dq = torch.empty_like(x), dq_E.contiguous()

        def work(part: slice) -> int:
            return kernel.call("deflate_back", x, *x[part].shape, x[part], v[part], q[part], dq[part], dx[part])

        kernel.share_out(len(x), work)
        return dx, None, None


def compute_cosine(x_ETD: torch.Tensor) -> torch.Tensor:
    """Mean squared cosine (E,) between different rows of centred token matrices: (T^2 U - T) / (T (T - 1)) of KAT-1.

    U is the mean with the diagonal, |Xhat^T Xhat|_F^2 / T^2, so that no T x T matrix is formed. Its gradient on a row is
    4 / (T (T - 1) |x|) (I - xhat xhat^T) Xhat^T Xhat xhat: the 1 / |x| is why it neither fades nor stays near the collapse.
    """
    unit = torch.nn.functional.normalize(centre(x_ETD), dim=-1, eps=GUARD)
    tokens = x_ETD.shape[-2]
    return ((unit.transpose(-1, -2) @ unit).square().sum((-1, -2)) - tokens) / (tokens * (tokens - 1))


def block_terms(
    kinds: Sequence[str], stream_LMND: torch.Tensor, sequences: int, healthy_M: torch.Tensor, start: torch.Tensor | None = None
) -> torch.Tensor:
    """Each run's term per block, averaged over sequences: (L, M), from the residual stream after each block.

    `start` (L * M * B, D) are the top directions of an earlier step to begin from; they are overwritten.
    """
    blocks, models, rows, width = stream_LMND.shape
    matrices = stream_LMND.reshape(-1, rows // sequences, width)
    q = compute_q(matrices, start_ED=start).view(blocks, models, sequences)
    cosine = compute_cosine(matrices).view(q.shape) if "cosine" in kinds else torch.zeros_like(q)
    spread = Spread(q, width, healthy_M.view(1, -1, 1), cosine)
    values = {kind: TERMS[kind](spread).mean(-1) for kind in set(kinds)}
    return torch.stack([values[kind][:, index] for index, kind in enumerate(kinds)], 1)
