"""What is read from a network block by block, always from a float64 pass of its weights, whatever the residual."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rankcollapse.maps import normalise_entropy
from rankcollapse.measure import FLOOR_FACTOR, compute_residual, compute_sigma, compute_stable_rank, in_threads, per_sequence, run_probe, slice_norms
from rankcollapse.model import Shape, attention_maps, block_weights, embed, residual_stream, views


class Blocks(NamedTuple):
    """Per block and model (L, M): stable rank, Q and relative residual as means over sequences, and whether a sequence is at floor."""

    rank: torch.Tensor
    q: torch.Tensor
    residual: torch.Tensor
    at_floor: torch.Tensor


class Entropies(NamedTuple):
    """Attention entropy per block and model (L, M): each row over the log of the keys it sees, and the sum of rows over the sum of logs."""

    rows: torch.Tensor
    sums: torch.Tensor


class Task(NamedTuple):
    """Task loss (M,) in nats per token, and its gradient, unclipped: norm (M,) on all weights, and norms per block as `gradient_path`."""

    loss: torch.Tensor
    gradient_norm: torch.Tensor
    path: dict[str, torch.Tensor]

    @property
    def opening(self) -> torch.Tensor:
        """The predictor (M,)."""
        return compute_predictor(self.path["qk"])


class Noise(NamedTuple):
    """Task gradient on queries and keys per block and model (L, M): cosine between its float32 and float64 values, and their norms."""

    cosine: torch.Tensor
    single: torch.Tensor
    double: torch.Tensor


def compute_exact_q(x_ETD: torch.Tensor) -> torch.Tensor:
    """Q = |E|_F / sigma_1 (E,) of token matrices from all singular values in float64; 0 without spread (KAT-1, KAT-3)."""
    sigma = compute_sigma(x_ETD)
    return sigma[..., 1:].norm(dim=-1) / sigma[..., 0].clamp_min(torch.finfo(sigma.dtype).tiny)


def read_blocks(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> Blocks:
    """Rank, Q and residual after every block, on a probe batch (B, T+1)."""
    passed, dims = run_probe(flat_MP.double(), tokens_BT, skip_M.double(), shape), (shape.depth, len(skip_M), len(tokens_BT))
    matrices = per_sequence(passed.stream.flatten(0, 1), len(tokens_BT))
    rank, q = (in_threads(measure, matrices).view(dims).mean(-1) for measure in (compute_stable_rank, compute_exact_q))
    residual = compute_residual(matrices).view(dims)
    return Blocks(rank, q, residual.mean(-1), residual.amin(-1) < FLOOR_FACTOR * torch.finfo(torch.float64).eps)


def read_entropies(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> Entropies:
    """Attention entropy of every block, mean over heads and sequences; rows 2 to T, since the first sees one key (KAT-10)."""
    with torch.no_grad():
        named, skip, kinds, sequences = views(flat_MP.double(), shape), skip_M.double(), ["rms"] * len(skip_M), len(tokens_BT)
        batch = tokens_BT[:, :-1].expand(len(skip), -1, -1)
        inputs = [embed(named, batch, shape), *residual_stream(named, batch, skip, kinds, shape)[:-1]]
        maps = [attention_maps(x, block_weights(named, index), kinds, shape, sequences).flatten(1, 2) for index, x in enumerate(inputs)]
        pairs = [normalise_entropy(each) for each in maps]
        return Entropies(*(torch.stack(values).mean(-1) for values in zip(*pairs)))


def read_task(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> Task:
    """Loss and gradient of weights at a skip scale, which need not be the one they were trained at (source paper, appendix A)."""
    passed = run_probe(flat_MP.double(), tokens_BT, skip_M.double(), shape)
    grad = passed.backward(torch.ones_like(skip_M, dtype=torch.float64))
    path = slice_norms([views(grad, shape)[f"block{index}.qkv"] for index in range(shape.depth)], shape.width)
    return Task(passed.loss.double(), grad.norm(dim=1), path)


def compute_predictor(qk_LM: torch.Tensor) -> torch.Tensor:
    """Median over blocks (M,) of gradient norms; with an even number of blocks the mean of the middle two."""
    return qk_LM.double().quantile(0.5, dim=0)


def read_predictor(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> torch.Tensor:
    """The opening (M,): median over blocks of the task gradient on queries and keys, at a skip scale, before any update, in float64."""
    return read_task(flat_MP, tokens_BT, skip_M, shape).opening


def read_noise(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> Noise:
    """Whether single precision has a query-key gradient at all: without a common direction an epsilon arm would amplify rounding."""
    single, double = (query_key_gradients(flat_MP.to(kind), tokens_BT, skip_M.to(kind), shape) for kind in (torch.float32, torch.float64))
    norms = single.norm(dim=-1), double.norm(dim=-1)
    return Noise((single * double).sum(-1) / (norms[0] * norms[1]).clamp_min(torch.finfo(torch.float64).tiny), *norms)


def query_key_gradients(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> torch.Tensor:
    """Task gradient (L, M, 2 D^2) on the query and key weights, from a pass in the precision of the weights, as float64."""
    named = views(run_probe(flat_MP, tokens_BT, skip_M, shape).backward(torch.ones_like(skip_M)), shape)
    return torch.stack([named[f"block{index}.qkv"][..., : 2 * shape.width].flatten(1).double() for index in range(shape.depth)])


def epsilon_norm(epsilon: float, width: int) -> float:
    """Norm of a query-key gradient whose 2 D^2 entries have the root mean square of Adam's epsilon."""
    return epsilon * (2 * width**2) ** 0.5
