"""Sigma-reparametrisation (Zhai et al. 2023) of a stack's projections, whose effective weights stay where all else looks for them."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rankcollapse import kernel
from rankcollapse.adamw2 import power_iterations
from rankcollapse.engine.matrices import Room, first_projection, projections, tabulate_places
from rankcollapse.engine.moments import Controls, adamw
from rankcollapse.model import Shape
from rankcollapse.params import Optimiser


class Normalised(NamedTuple):
    """Memory of sigma-reparametrisation, as views: raw projections, singular vectors, and per matrix (M, K) sigma, gamma and gamma's moments."""

    raw: torch.Tensor
    left: torch.Tensor
    right: torch.Tensor
    sigma: torch.Tensor
    gamma: torch.Tensor
    first: torch.Tensor
    second: torch.Tensor
    age: torch.Tensor
    """Steps (M, 1) since this memory was fresh: for the bias corrections of gamma's moments."""

    @staticmethod
    def sizes(shape: Shape) -> list[int]:
        """Numbers of each in a row."""
        room = projections(shape)
        return [shape.matrices - first_projection(shape), room.size("rows"), room.size("columns"), *[room.count] * 4, 1]

    @classmethod
    def read(cls, memory_MX: torch.Tensor, shape: Shape) -> Normalised:
        """The views into memory rows."""
        sizes = cls.sizes(shape)
        return cls(*memory_MX[:, : sum(sizes)].split(sizes, 1))


def sigma(
    flat_MP: torch.Tensor,
    grad_MP: torch.Tensor,
    first_MP: torch.Tensor,
    second_MP: torch.Tensor,
    memory_MX: torch.Tensor,
    controls: Controls,
    shape: Shape,
    rule: Optimiser,
) -> None:
    """Sigma-reparametrisation (Zhai et al. 2023) under AdamW: each projection is gamma / sigma(W) W, with W and gamma learned.

    `flat` holds the effective weights, the first two moments those of W; gamma does not decay. The gradient comes in clipped on the effective
    weights, and is overwritten. Tables of tokens (tied to the output) and positions are not reparametrised.
    """
    held, start = Normalised.read(memory_MX, shape), first_projection(shape)
    own = slice(start, shape.matrices)
    moving = controls.factor > 0
    grad_MP.mul_(controls.factor.to(grad_MP.dtype).unsqueeze(1))  # before all else, as in a stack where some term is not clipped
    controls = controls._replace(factor=moving.double())
    pull = take_back(grad_MP, memory_MX, shape)
    raw_MP = flat_MP.clone()
    raw_MP[:, own] = held.raw
    adamw(raw_MP, grad_MP, first_MP, second_MP, controls, shape.matrices, rule)
    held.age.add_(moving.unsqueeze(1))
    numbers = [each.contiguous() for each in (held.gamma, pull, held.first, held.second)]
    adamw(*numbers, controls._replace(decay=torch.zeros_like(controls.decay), count=held.age[:, 0].double()), 0, rule)
    for each, new in zip((held.gamma, held.first, held.second), (numbers[0], *numbers[2:]), strict=True):
        each.copy_(new)
    held.raw.copy_(raw_MP[:, own])
    flat_MP[:, :start], flat_MP[:, shape.matrices :] = raw_MP[:, :start], raw_MP[:, shape.matrices :]
    make_effective(flat_MP, memory_MX, moving, shape)


def take_back(grad_MP: torch.Tensor, memory_MX: torch.Tensor, shape: Shape) -> torch.Tensor:
    """Turn the gradient on effective projections into the one on raw ones, in place; returns that on gamma (M, K).

    With u, v the singular vectors: dL/dgamma = <G, W> / sigma, dL/dW = gamma / sigma (G - dL/dgamma u v^T).
    """
    room, held, start = projections(shape), Normalised.read(memory_MX, shape), first_projection(shape)
    pull = torch.empty_like(held.gamma, memory_format=torch.contiguous_format)
    if kernel.available(grad_MP):
        run_kernel("normalised_back", grad_MP, pull, memory_MX, shape)
        return pull
    for group, u, v, size, gamma, out in zip(room.groups, *views_of(held, room), room.numbers(pull), strict=True):
        grad, raw = group.view(grad_MP), group.view(held.raw, start)
        alive = size > 0
        out.copy_(torch.where(alive, (grad * raw).sum((-2, -1)) / size, 0.0))
        by = torch.where(alive, gamma / size, 0.0)[..., None, None]
        grad.sub_(out[..., None, None] * u.unsqueeze(-1) * v.unsqueeze(-2)).mul_(by)
    return pull


def make_effective(flat_MP: torch.Tensor, memory_MX: torch.Tensor, moving_M: torch.Tensor, shape: Shape) -> None:
    """Write gamma / sigma W over the projections of the models that move, with sigma after one more power step."""
    room, held, start = projections(shape), Normalised.read(memory_MX, shape), first_projection(shape)
    if kernel.available(flat_MP):
        run_kernel("normalised", flat_MP, moving_M.double(), memory_MX, shape)
        return
    goes = moving_M.view(-1, 1, 1)
    for group, u, v, size, gamma in zip(room.groups, *views_of(held, room), strict=True):
        raw, effective, vectors = group.view(held.raw, start), group.view(flat_MP), (v.clone(), u.clone())
        top = power_iterations(raw, vectors[0], 1, vectors[1]).to(raw.dtype)
        by = torch.where(top > 0, gamma / top, 0.0)[..., None, None]
        for each, new in ((v, vectors[0]), (u, vectors[1]), (size, top), (effective, by * raw)):
            each.copy_(torch.where(goes.view(-1, *[1] * (each.dim() - 1)), new, each))


def views_of(held: Normalised, room: Room) -> tuple[list[torch.Tensor], ...]:
    """Per group of matrices: left and right vectors, sigma and gamma."""
    return room.vectors(held.left, "rows"), room.vectors(held.right, "columns"), room.numbers(held.sigma), room.numbers(held.gamma)


def run_kernel(name: str, weights_MP: torch.Tensor, beside: torch.Tensor, memory_MX: torch.Tensor, shape: Shape) -> None:
    """Call a function of the kernel on weights and memory, and what it takes beside them."""
    raw, left, right, *_ = Normalised.sizes(shape)
    places = tabulate_places(projections(shape), raw, raw + left)

    def work(part: slice) -> int:
        weights = (*weights_MP[part].shape, first_projection(shape), weights_MP[part], beside[part])
        memory = (memory_MX[part], memory_MX.stride(0), raw + left + right)
        return kernel.call(name, weights_MP, *weights, len(places), places, *memory)

    kernel.share_out(len(weights_MP), work)


def sigma_memory(flat_MP: torch.Tensor, shape: Shape) -> torch.Tensor:
    """Memory (M, X) in which raw and effective weights are the same: gamma is sigma, both and the vectors from an SVD (as Zhai's code begins)."""
    memory = flat_MP.new_zeros(len(flat_MP), sum(Normalised.sizes(shape)))
    held, room = Normalised.read(memory, shape), projections(shape)
    held.raw.copy_(flat_MP[:, first_projection(shape) : shape.matrices])
    for group, u, v, size, gamma in zip(room.groups, *views_of(held, room), strict=True):
        weight = group.view(flat_MP)
        finite = weight.isfinite().all(-1).all(-1)[..., None, None]
        left, values, right = torch.linalg.svd(torch.where(finite, weight, 0.0), full_matrices=False)
        for each, new in ((u, left[..., 0]), (v, right[..., 0, :]), (size, values[..., 0]), (gamma, values[..., 0])):
            each.copy_(new)
    return memory
