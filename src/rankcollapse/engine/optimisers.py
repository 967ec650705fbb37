"""Optimisers over the flat weights of a stack: each a function that makes one step in place, every run at its own pace."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from rankcollapse import kernel
from rankcollapse.adamw2 import ITERATIONS, cap_rate, find_direction, power_iterations, start_vector
from rankcollapse.engine.matrices import all_matrices, projections, tabulate_places
from rankcollapse.engine.moments import Controls, adamw, columns, compute_norms, correct, move_moments
from rankcollapse.engine.sigma import sigma, sigma_memory
from rankcollapse.model import Shape
from rankcollapse.params import Optimiser

__all__ = ["MEMORIES", "OPTIMISERS", "Controls", "adamw", "adamw2", "clip_heads", "compute_norms", "fresh_memories", "sigma"]


def adamw2(
    flat_MP: torch.Tensor,
    grad_MP: torch.Tensor,
    first_MP: torch.Tensor,
    second_MP: torch.Tensor,
    memory_MX: torch.Tensor,
    controls: Controls,
    shape: Shape,
    rule: Optimiser,
) -> None:
    """AdamW2, as `rankcollapse.adamw2` has it, on tables and projections; gains move as by AdamW. Memory: the weights' vectors, then the updates'."""
    room, correction = all_matrices(shape), correct(controls, rule)
    vectors = room.size("columns")
    if kernel.available(flat_MP):
        table, places = torch.stack([controls.rate, controls.decay, controls.factor, *correction, controls.tau], 1), tabulate_places(room, 0, 0)

        def work(part: slice) -> int:
            tensors = (each[part] for each in (flat_MP, grad_MP, first_MP, second_MP, table))
            rest = (len(places), places, memory_MX[part], memory_MX.stride(0), vectors, ITERATIONS)
            sizes = (*flat_MP[part].shape, shape.matrices)
            return kernel.call("adamw2", flat_MP, *sizes, *tensors, rule.beta1, rule.beta2, rule.epsilon, *rest)

        kernel.share_out(len(flat_MP), work)
        return
    going = move_moments(grad_MP, first_MP, second_MP, controls, rule)
    rate, *correction = columns(flat_MP, controls.rate, *correction)
    update_MP = find_direction(first_MP, second_MP, *correction, rule.epsilon)
    flat_MP[:, shape.matrices :].sub_(torch.where(going > 0, update_MP[:, shape.matrices :] * rate, 0.0))
    weights, updates = (room.vectors(part, "columns") for part in memory_MX[:, : 2 * vectors].split(vectors, 1))
    for group, *starts in zip(room.groups, weights, updates, strict=True):
        descend(group.view(flat_MP), group.view(update_MP), starts, going > 0, controls)


def descend(
    weight_MABRC: torch.Tensor, update_MABRC: torch.Tensor, starts_MABC: Sequence[torch.Tensor], moving_M1: torch.Tensor, controls: Controls
) -> None:
    """Move matrices of one size by their updates at capped rates, in PyTorch; both power iterations move on from `starts`. Models at rest keep all."""
    moving, norms = moving_M1.unsqueeze(-1), []
    for matrix, start in zip((weight_MABRC, update_MABRC), starts_MABC, strict=True):
        vector = start.clone()
        norms.append(power_iterations(matrix, vector, ITERATIONS))
        start.copy_(torch.where(moving.unsqueeze(-1), vector, start))
    rate, decay, tau = (x.view(-1, 1, 1) for x in (controls.rate, controls.decay, controls.tau))
    capped = torch.where(moving, cap_rate(rate, *norms, tau), 0.0)
    shrink, step = (x.to(weight_MABRC.dtype)[..., None, None] for x in (1 - capped * decay, capped))
    weight_MABRC.mul_(shrink).sub_(torch.where(step > 0, update_MABRC * step, 0.0))


def adamw2_memory(flat_MP: torch.Tensor, shape: Shape) -> torch.Tensor:
    """The vectors that AdamW2 begins with (M, X), the same in every run."""
    room = all_matrices(shape)
    row = torch.cat([start_vector(group.columns).repeat(group.count[0] * group.count[1]) for group in room.groups])
    return row.repeat(2).to(flat_MP).expand(len(flat_MP), -1)


def plain(step: Callable[..., None]) -> Callable[..., None]:
    """An optimiser without memory, as one that has room for it."""

    def entry(flat_MP, grad_MP, first_MP, second_MP, memory_MX, controls: Controls, shape: Shape, rule: Optimiser) -> None:
        step(flat_MP, grad_MP, first_MP, second_MP, controls, shape.matrices, rule)

    return entry


OPTIMISERS: dict[str, Callable[..., None]] = {"adamw": plain(adamw), "adamw2": adamw2, "sigma": sigma}
MEMORIES: dict[str, Callable[[torch.Tensor, Shape], torch.Tensor]] = {"adamw2": adamw2_memory, "sigma": sigma_memory}
"""Memory (M, X) beside the two moments, of optimisers that have one, as it is where a run starts."""


def fresh_memories(kinds: Sequence[str], flat_MP: torch.Tensor, shape: Shape) -> torch.Tensor:
    """Memory (M, X) of models that start, each of its own optimiser; X is the largest one's."""
    rows = [MEMORIES[kind](weights[None], shape)[0] if kind in MEMORIES else weights[:0] for kind, weights in zip(kinds, flat_MP, strict=True)]
    return torch.stack([torch.nn.functional.pad(row, (0, max(map(len, rows)) - len(row))) for row in rows])


def clip_heads(flat_MP: torch.Tensor, logits_MLH: torch.Tensor, limit_M: torch.Tensor, shape: Shape) -> None:
    """QK-clip (Kimi K2, arXiv 2507.20534): a head whose largest logit is above its model's limit has query and key weights times sqrt(limit / logit)."""
    limit = limit_M.view(-1, 1, 1).to(logits_MLH.dtype)
    factor = torch.where(logits_MLH > limit, limit / logits_MLH, 1.0).sqrt().to(flat_MP.dtype)
    qkv = projections(shape).groups[0].view(flat_MP)
    queries_keys = qkv[:, :, :2].unflatten(-1, (shape.heads, shape.head_size))
    queries_keys.mul_(factor[:, :, None, None, :, None])
