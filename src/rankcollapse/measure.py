"""What is read from a network: pure functions of tensors, in the precision of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from rankcollapse.kernel import share_out
from rankcollapse.model import Shape, views
from rankcollapse.passes import KernelPass, TorchPass, run_forward, run_last
from rankcollapse.spectral import FROM_MAPS, FROM_SPECTRA, read_network
from rankcollapse.terms import block_terms, centre, compute_cosine

REFINE_BELOW = 1e-4
"""Relative residual under which float32 measures its own rounding error, so that float64 is used."""
FLOOR_FACTOR = 100
"""A residual under this many epsilons of the precision used leaves the rank undetermined: at floor, counted as collapsed."""
LEAST_TERM = 1e-12
"""A term smaller than this is not scaled up further: it has nothing to push on."""


class Reading(NamedTuple):
    """Per model: stable rank, relative residual, task loss (nats per token), whether the rank of a sequence is at floor, and the
    smallest relative residual of a sequence; rank and residual are means over the probe's sequences, `extra` what else was asked for."""

    rank: list[float]
    residual: list[float]
    loss: list[float]
    at_floor: list[bool]
    least: list[float]
    extra: dict[str, list[float]]


def compute_stable_rank(x_ETD: torch.Tensor) -> torch.Tensor:
    """Stable rank |X|_F^2 / sigma_1^2 (E,) of centred token matrices; 1 when all tokens lie along one direction.

    A matrix without spread has rank 1, one that is not finite has rank NaN.
    """
    return rank_of(centre(x_ETD))


def compute_uncentred_rank(x_ETD: torch.Tensor) -> torch.Tensor:
    """Stable rank (E,) of token matrices as they are: 1 already where all tokens are alike (source paper, appendix C)."""
    return rank_of(x_ETD)


def rank_of(x_ETD: torch.Tensor) -> torch.Tensor:
    """|X|_F^2 / sigma_1^2 (E,) in float64, from the Gram matrix."""
    x = x_ETD.double()
    gram = x.transpose(-1, -2) @ x
    finite = gram.isfinite().all(-1).all(-1)
    top = torch.linalg.eigvalsh(torch.where(finite[:, None, None], gram, 0.0))[..., -1]
    rank = torch.where(top > 0, gram.diagonal(dim1=-2, dim2=-1).sum(-1) / top.clamp_min(torch.finfo(top.dtype).tiny), 1.0)
    return torch.where(finite, rank, torch.nan)


def compute_sigma(x_ETD: torch.Tensor) -> torch.Tensor:
    """Singular values (E, min(T, D)) of centred token matrices in float64, largest first; NaN for one that is not finite."""
    centred = centre(x_ETD.double())
    finite = centred.isfinite().all(-1).all(-1)[..., None]
    return torch.where(finite, torch.linalg.svdvals(torch.where(finite[..., None], centred, 0.0)), torch.nan)


def compute_gap(x_ETD: torch.Tensor) -> torch.Tensor:
    """Spectral gap sigma_2 / sigma_1 (E,) of centred token matrices (source paper, appendix G): 0 at the collapse and without spread."""
    sigma = compute_sigma(x_ETD)
    return sigma[..., 1] / sigma[..., 0].clamp_min(torch.finfo(sigma.dtype).tiny)


def compute_effective_rank(x_ETD: torch.Tensor) -> torch.Tensor:
    """Effective rank exp(-sum p ln p), p = sigma / sum sigma, of centred token matrices (Roy and Vetterli 2007).

    A matrix without spread has rank 1, one that is not finite has rank NaN.
    """
    sigma = compute_sigma(x_ETD)
    return torch.special.entr(sigma / sigma.sum(-1, keepdim=True).clamp_min(torch.finfo(sigma.dtype).tiny)).sum(-1).exp()


READINGS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "cosine": lambda x_ETD: compute_cosine(x_ETD.double()),
    "effective_rank": compute_effective_rank,
    "gap": compute_gap,
    "uncentred_rank": compute_uncentred_rank,
}
"""What a run may have measured beside rank, residual and loss, from the last block's token matrices (E, T, D)."""
NETWORK_READINGS = (*FROM_SPECTRA, *FROM_MAPS)
"""And from the attention of all its blocks, by `read_network`."""


def compute_residual(x_ETD: torch.Tensor) -> torch.Tensor:
    """Relative residual |X - mean|_F / |X|_F (E,): how far tokens are from being one and the same."""
    return centre(x_ETD).flatten(1).norm(dim=1) / x_ETD.flatten(1).norm(dim=1)


def per_sequence(x_MND: torch.Tensor, sequences: int) -> torch.Tensor:
    """Residual stream (M, B*T, D) as token matrices (M*B, T, D)."""
    return x_MND.reshape(-1, x_MND.shape[1] // sequences, x_MND.shape[2])


def in_threads(measure: Callable[[torch.Tensor], torch.Tensor], matrices_ETD: torch.Tensor) -> torch.Tensor:
    """A measure (E,) in float64 of token matrices that do not know of each other; on a CPU in the kernel's threads."""
    if matrices_ETD.device.type != "cpu":
        return measure(matrices_ETD)
    values = torch.empty(len(matrices_ETD), dtype=torch.float64)

    def work(part: slice) -> int:
        values[part] = measure(matrices_ETD[part])
        return 1

    share_out(len(matrices_ETD), work)
    return values


def read_stack(
    flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape, kinds: Sequence[str] = (), readings: Sequence[str] = ()
) -> Reading:
    """Rank, residual and loss of every model on a probe batch (B, T+1), from a forward pass in the weights' precision."""
    with torch.no_grad():
        models, sequences = len(skip_M), len(tokens_BT)
        last, loss = run_last(flat_MP, tokens_BT.expand(models, -1, -1), skip_M, kinds or ["rms"] * models, shape)
        matrices = per_sequence(last, sequences)
        rank = in_threads(compute_stable_rank, matrices).view(models, -1).mean(1)
        residual = compute_residual(matrices).view(models, -1)
        least = residual.amin(1)
        at_floor = least < FLOOR_FACTOR * torch.finfo(last.dtype).eps
        extra = {name: in_threads(READINGS[name], matrices).view(models, -1).mean(1).tolist() for name in readings if name in READINGS}
        network = read_network(readings, flat_MP, tokens_BT, skip_M, kinds or ["rms"] * models, shape)
        extra |= {name: values.tolist() for name, values in network.items()}
    return Reading(*(values.tolist() for values in (rank, residual.mean(1), loss, at_floor, least)), extra)


def read_refined(
    flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape, kinds: Sequence[str] = (), readings: Sequence[str] = ()
) -> Reading:
    """As `read_stack`, with the models in which a sequence's float32 residual is below `REFINE_BELOW` read in float64."""
    reading = read_stack(flat_MP, tokens_BT, skip_M, shape, kinds, readings)
    low = [index for index, least in enumerate(reading.least) if least < REFINE_BELOW]
    if low and flat_MP.dtype == torch.float32:
        fine = read_stack(flat_MP[low].double(), tokens_BT, skip_M[low].double(), shape, [kinds[index] for index in low] if kinds else (), readings)
        for coarse, exact in zip([*reading[:-1], *reading.extra.values()], [*fine[:-1], *fine.extra.values()], strict=True):
            for index, value in zip(low, exact, strict=True):
                coarse[index] = value
    return reading


def run_probe(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> KernelPass | TorchPass:
    """A forward pass of every model on one batch (B, T+1)."""
    return run_forward(flat_MP, tokens_BT.expand(len(skip_M), -1, -1), skip_M, ["rms"] * len(skip_M), shape)


def gradient_path(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> dict[str, torch.Tensor]:
    """Frobenius norm of the task gradient per block, (L, M): on the query, key and value weights, and on slices of them."""
    grad = run_probe(flat_MP, tokens_BT, skip_M, shape).backward(torch.ones_like(skip_M))
    return slice_norms([views(grad, shape)[f"block{index}.qkv"] for index in range(shape.depth)], shape.width)


def term_path(
    flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape, kind: str, healthy: float, added: float
) -> dict[str, torch.Tensor]:
    """As `gradient_path`, for an added term: each block's own term, at the weight at which it alone adds `added` nats.

    The gradient of block l's term is read on block l's own weights, as in the source paper's figure 2 (per-block hinge).
    """
    passed = run_probe(flat_MP, tokens_BT, skip_M, shape)
    values_LM, push_LMND = term_push(passed, kind, healthy, len(tokens_BT))
    push_LMND = push_LMND * (added / values_LM.clamp_min(LEAST_TERM))[..., None, None]
    own = []
    for block in range(shape.depth):
        alone = torch.zeros_like(push_LMND)
        alone[block] = push_LMND[block]
        own.append(views(passed.backward(torch.zeros_like(skip_M), alone, again=True), shape)[f"block{block}.qkv"])
    return slice_norms(own, shape.width)


def term_push(
    passed: KernelPass | TorchPass, kind: str, healthy: float, sequences: int, start: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """A term's value per block (L, M), and the gradient (L, M, N, D) of each on the stream after its own block.

    `start` (L * M * B, D) are top directions to begin from: eight power steps find them alone only where the spread is collapsed.
    A sequence at floor gets no push: its spread is rounding error, and the gradient, as one over that spread, would drown all others.
    """
    stream = passed.stream.detach().requires_grad_()
    values = block_terms([kind] * stream.shape[1], stream, sequences, torch.full_like(stream[0, :, 0, 0], healthy), start)
    push = torch.autograd.grad(values.sum(), stream)[0]
    matrices = stream.detach().reshape(-1, stream.shape[2] // sequences, stream.shape[3])
    alive = compute_residual(matrices) >= FLOOR_FACTOR * torch.finfo(stream.dtype).eps
    return values.detach(), torch.where(alive[:, None, None], push.view_as(matrices), 0.0).view_as(push)


def slice_norms(gradients: list[torch.Tensor], width: int) -> dict[str, torch.Tensor]:
    """Norms (L, M) of gradients (M, D, 3D) on all columns, on queries and keys, and on values."""
    slices = {"qkv": slice(None), "qk": slice(0, 2 * width), "v": slice(2 * width, None)}
    return {name: torch.stack([grad[..., part].flatten(1).norm(dim=1) for grad in gradients]) for name, part in slices.items()}
