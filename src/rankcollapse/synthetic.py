"""The force of each term on a synthetic token matrix X = a v^T + delta E, against closed forms (source paper, appendix B; KAT-2)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import torch

from rankcollapse.blocks import compute_exact_q
from rankcollapse.forces import top_directions
from rankcollapse.records_readings import CurvePoint
from rankcollapse.terms import block_terms, centre

TOKENS, WIDTH = 256, 128
SPREAD = 0.25
"""Standard deviation of E, at which |E|_F, and |a v^T|_F with it, is about 45.5, the size that the paper's own numbers imply."""
HEALTHY = 1e3
"""s_0 of the hinge: above every Q of the curve, so that the hinge pushes all along it."""


def make_matrix(delta: float, seed: int, tokens: int = TOKENS, width: int = WIDTH) -> torch.Tensor:
    """X (T, D) in float64: every token on one direction, plus delta times Gaussian noise of the same Frobenius norm."""
    generator = torch.Generator().manual_seed(seed)
    line, direction, noise = (torch.randn(*dims, generator=generator, dtype=torch.float64) for dims in ((tokens, 1), (1, width), (tokens, width)))
    noise, rank_one = SPREAD * noise, line @ direction
    return rank_one * noise.norm() / rank_one.norm() + delta * noise


def compute_force(kind: str, x_TD: torch.Tensor) -> float:
    """Norm of a term's gradient on a token matrix, through the code that the engine trains with, from the exact top direction."""
    leaf = x_TD[None, None].clone().requires_grad_()
    value = block_terms([kind], leaf, 1, torch.tensor([HEALTHY], dtype=x_TD.dtype), top_directions(x_TD[None]))
    return torch.autograd.grad(value.sum(), leaf)[0].norm().item()


def penalty_force(q: float, sigma: float, width: int) -> float:
    """2 Q sqrt(1 + Q^2) / ((d - 1) sigma_1): it vanishes with Q."""
    return 2 * q * sqrt(1 + q * q) / ((width - 1) * sigma)


def hinge_force(q: float, sigma: float) -> float:
    """sqrt(1 + Q^2) / sigma_1: bounded from below at fixed sigma_1, and without bound as sigma_1 goes to 0."""
    return sqrt(1 + q * q) / sigma


def force_ratio(q: float, width: int) -> float:
    """Penalty over hinge, 2 Q / (d - 1), whatever sigma_1."""
    return 2 * q / (width - 1)


def cosine_force(x_TD: torch.Tensor) -> float:
    """Norm of the gradient of the mean squared cosine between different centred rows, row by row from its formula, then centred."""
    centred = centre(x_TD).double()
    length = centred.norm(dim=1, keepdim=True)
    unit, tokens = centred / length, len(x_TD)
    pulled = unit @ (unit.T @ unit)
    rows = 4 / (tokens * (tokens - 1) * length) * (pulled - (pulled * unit).sum(1, keepdim=True) * unit)
    return centre(rows).norm().item()


def read_point(delta: float, seed: int) -> CurvePoint:
    """The force of every term at one distance from rank one."""
    x = make_matrix(delta, seed)
    q, sigma = compute_exact_q(x[None]).item(), torch.linalg.matrix_norm(centre(x), 2).item()
    return CurvePoint(
        delta=delta, q=q, sigma=sigma,
        penalty=compute_force("penalty", x), hinge=compute_force("hinge", x), cosine=compute_force("cosine", x),
        penalty_closed=penalty_force(q, sigma, WIDTH), hinge_closed=hinge_force(q, sigma), cosine_closed=cosine_force(x),
    )  # fmt: skip


def read_curve(deltas: Sequence[float], seed: int) -> tuple[CurvePoint, ...]:
    """Points of the curve; the same matrices a v^T and E at every delta."""
    return tuple(read_point(delta, seed) for delta in deltas)
