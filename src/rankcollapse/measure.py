"""What is read from a network: pure functions of tensors, in the precision of their arguments."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rankcollapse.model import Shape, attention_maps, block_weights, embed, residual_stream, token_losses
from rankcollapse.terms import block_terms, centre

REFINE_BELOW = 1e-4
"""Relative residual under which float32 measures its own rounding error, so that float64 is used."""
FLOOR_FACTOR = 100
"""A residual under this many epsilons of the precision used leaves the rank undetermined: at floor, counted as collapsed."""
LEAST_TERM = 1e-12
"""A term smaller than this is not scaled up further: it has nothing to push on."""


class Reading(NamedTuple):
    """Per model: stable rank, relative residual, task loss (nats per token), whether the rank of a sequence is at floor, and the
    smallest relative residual of a sequence; rank and residual are means over the probe's sequences."""

    rank: list[float]
    residual: list[float]
    loss: list[float]
    at_floor: list[bool]
    least: list[float]


def compute_stable_rank(x_ETD: torch.Tensor) -> torch.Tensor:
    """Stable rank |X|_F^2 / sigma_1^2 (E,) of centred token matrices; 1 when all tokens lie along one direction.

    A matrix without spread has rank 1, one that is not finite has rank NaN.
    """
    centred = centre(x_ETD).double()
    gram = centred.transpose(-1, -2) @ centred
    finite = gram.isfinite().all(-1).all(-1)
    top = torch.linalg.eigvalsh(torch.where(finite[:, None, None], gram, 0.0))[..., -1]
    rank = torch.where(top > 0, gram.diagonal(dim1=-2, dim2=-1).sum(-1) / top.clamp_min(torch.finfo(top.dtype).tiny), 1.0)
    return torch.where(finite, rank, torch.nan)


def compute_effective_rank(x_ETD: torch.Tensor) -> torch.Tensor:
    """Effective rank exp(-sum p ln p), p = sigma / sum sigma, of centred token matrices (Roy and Vetterli 2007)."""
    sigma = torch.linalg.svdvals(centre(x_ETD).double())
    p = sigma / sigma.sum(-1, keepdim=True)
    return torch.special.entr(p).sum(-1).exp()


def compute_residual(x_ETD: torch.Tensor) -> torch.Tensor:
    """Relative residual |X - mean|_F / |X|_F (E,): how far tokens are from being one and the same."""
    return centre(x_ETD).flatten(1).norm(dim=1) / x_ETD.flatten(1).norm(dim=1)


def compute_entropy(maps_ATT: torch.Tensor) -> torch.Tensor:
    """Entropy of causal attention rows over log of the keys a row sees, mean over rows 2..T: 1 is uniform (KAT-10)."""
    rows = torch.special.entr(maps_ATT).sum(-1)[..., 1:]
    return (rows / torch.arange(2, maps_ATT.shape[-1] + 1, device=rows.device).log()).mean(-1)


def per_sequence(x_MND: torch.Tensor, sequences: int) -> torch.Tensor:
    """Residual stream (M, B*T, D) as token matrices (M*B, T, D)."""
    return x_MND.reshape(-1, x_MND.shape[1] // sequences, x_MND.shape[2])


def read_stack(named: dict[str, torch.Tensor], tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> Reading:
    """Rank, residual and loss of every model on a probe batch (B, T+1), from a forward pass in the weights' precision."""
    with torch.no_grad():
        models, sequences = len(skip_M), len(tokens_BT)
        batch = tokens_BT.expand(models, -1, -1)
        last = residual_stream(named, batch[..., :-1], skip_M, shape)[-1]
        matrices = per_sequence(last, sequences)
        rank = compute_stable_rank(matrices).view(models, -1).mean(1)
        residual = compute_residual(matrices).view(models, -1)
        least = residual.amin(1)
        loss = token_losses(named, last, batch[..., 1:])
        at_floor = least < FLOOR_FACTOR * torch.finfo(last.dtype).eps
    return Reading(*(values.tolist() for values in (rank, residual.mean(1), loss, at_floor, least)))


def read_refined(named: dict[str, torch.Tensor], tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> Reading:
    """As `read_stack`, with the models in which a sequence's float32 residual is below `REFINE_BELOW` read in float64."""
    reading = read_stack(named, tokens_BT, skip_M, shape)
    for index, least in enumerate(reading.least):
        if least < REFINE_BELOW and named["tokens"].dtype == torch.float32:
            one = {name: weight[index : index + 1].double() for name, weight in named.items()}
            fine = read_stack(one, tokens_BT, skip_M[index : index + 1].double(), shape)
            for coarse, exact in zip(reading, fine, strict=True):
                coarse[index] = exact[0]
    return reading


def read_entropy(named: dict[str, torch.Tensor], tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> torch.Tensor:
    """Normalised attention entropy (M,), mean over blocks, heads, sequences and rows."""
    with torch.no_grad():
        models, sequences = len(skip_M), len(tokens_BT)
        batch = tokens_BT[:, :-1].expand(models, -1, -1)
        stream = residual_stream(named, batch, skip_M, shape)
        inputs = [embed(named, batch, shape), *stream[:-1]]
        blocks = [attention_maps(x, block_weights(named, index), shape, sequences) for index, x in enumerate(inputs)]
        return torch.stack([compute_entropy(maps.flatten(1, 2)).mean(1) for maps in blocks]).mean(0)


def gradient_path(named: dict[str, torch.Tensor], tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> dict[str, torch.Tensor]:
    """Frobenius norm of the task gradient per block, (L, M): on the query, key and value weights, and on slices of them."""
    leaves, stream, batch = leaf_forward(named, tokens_BT, skip_M, shape)
    loss = token_losses(leaves, stream[-1], batch[..., 1:]).sum()
    return slice_norms(torch.autograd.grad(loss, qkv_weights(leaves, shape)), shape.width)


def term_path(
    named: dict[str, torch.Tensor], tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape, kind: str, healthy: float, added: float
) -> dict[str, torch.Tensor]:
    """As `gradient_path`, for an added term: each block's own term, at the weight at which it alone adds `added` nats.

    The gradient of block l's term is read on block l's own weights, as in the source paper's figure 2 (per-block hinge).
    """
    leaves, stream, batch = leaf_forward(named, tokens_BT, skip_M, shape)
    values_LM = block_terms([kind] * len(skip_M), stream, len(batch[0]), torch.full_like(skip_M, healthy))
    scaled_LM = values_LM * (added / values_LM.detach().clamp_min(LEAST_TERM))
    own = [torch.autograd.grad(scaled_LM[i].sum(), w, retain_graph=True)[0] for i, w in enumerate(qkv_weights(leaves, shape))]
    return slice_norms(own, shape.width)


def force_ratio(
    named: dict[str, torch.Tensor], tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape, kind: str, healthy: float, added: float
) -> torch.Tensor:
    """rho (M,): norm of the added gradient over that of the task gradient, all weights, unclipped, at matched added loss."""
    leaves, stream, batch = leaf_forward(named, tokens_BT, skip_M, shape)
    term_M = block_terms([kind] * len(skip_M), stream, len(batch[0]), torch.full_like(skip_M, healthy)).mean(0)
    weight_M = added / term_M.detach().clamp_min(LEAST_TERM)
    task = torch.autograd.grad(token_losses(leaves, stream[-1], batch[..., 1:]).sum(), list(leaves.values()), retain_graph=True)
    push = torch.autograd.grad((term_M * weight_M).sum(), list(leaves.values()), allow_unused=True)
    return total_norm(push) / total_norm(task)


def total_norm(gradients: list[torch.Tensor | None]) -> torch.Tensor:
    """Norm (M,) over all weights of each model; a weight that a loss does not touch counts as zero."""
    return torch.stack([grad.flatten(1).square().sum(1) for grad in gradients if grad is not None]).sum(0).sqrt()


def leaf_forward(
    named: dict[str, torch.Tensor], tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape
) -> tuple[dict[str, torch.Tensor], list[torch.Tensor], torch.Tensor]:
    """A forward pass from leaf copies of the weights: the leaves, the residual stream, and the batch (M, B, T+1)."""
    leaves = {name: weight.detach().clone().requires_grad_() for name, weight in named.items()}
    batch = tokens_BT.expand(len(skip_M), -1, -1)
    return leaves, residual_stream(leaves, batch[..., :-1], skip_M, shape), batch


def qkv_weights(named: dict[str, torch.Tensor], shape: Shape) -> list[torch.Tensor]:
    """The query, key and value weights (M, D, 3D) of every block."""
    return [named[f"block{index}.qkv"] for index in range(shape.depth)]


def slice_norms(gradients: list[torch.Tensor], width: int) -> dict[str, torch.Tensor]:
    """Norms (L, M) of gradients (M, D, 3D) on all columns, on queries and keys, and on values."""
    slices = {"qkv": slice(None), "qk": slice(0, 2 * width), "v": slice(2 * width, None)}
    return {name: torch.stack([grad[..., part].flatten(1).norm(dim=1) for grad in gradients]) for name, part in slices.items()}
