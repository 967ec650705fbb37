"""Optimisers over the flat weights of a stack: each a function that makes one step in place, every run at its own pace."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from rankcollapse import kernel
from rankcollapse.params import Optimiser


class Controls(NamedTuple):
    """Numbers of one step, (M,) each."""

    rate: torch.Tensor
    decay: torch.Tensor
    factor: torch.Tensor
    """On the gradient; 0 leaves a model as it is."""
    count: torch.Tensor
    """Steps of the run, with this one."""


def compute_norms(grad_MP: torch.Tensor) -> torch.Tensor:
    """Norm (M,) of each model's gradient."""
    if not kernel.available(grad_MP):
        return grad_MP.norm(dim=1).double()
    norms = torch.empty(len(grad_MP), dtype=torch.float64)
    kernel.share_out(len(grad_MP), lambda part: kernel.call("norms", grad_MP, *grad_MP[part].shape, grad_MP[part], norms[part]))
    return norms


def adamw(
    flat_MP: torch.Tensor, grad_MP: torch.Tensor, first_MP: torch.Tensor, second_MP: torch.Tensor, controls: Controls, matrices: int, rule: Optimiser
) -> None:
    """AdamW with decoupled decay (Loshchilov and Hutter 2019); the first `matrices` weights decay, gains do not."""
    correction1, correction2 = (1 - beta**controls.count for beta in (rule.beta1, rule.beta2))
    if kernel.available(flat_MP):
        table = torch.stack([controls.rate, controls.decay, controls.factor, correction1, correction2], 1)

        def work(part: slice) -> int:
            tensors = (each[part] for each in (flat_MP, grad_MP, first_MP, second_MP, table))
            return kernel.call("adamw", flat_MP, *flat_MP[part].shape, matrices, *tensors, rule.beta1, rule.beta2, rule.epsilon)

        kernel.share_out(len(flat_MP), work)
        return
    rate, decay, factor, correction1, correction2 = (
        x.to(flat_MP.dtype).unsqueeze(1) for x in (controls.rate, controls.decay, controls.factor, correction1, correction2)
    )
    moving = factor > 0
    going, grad = moving.to(flat_MP.dtype), torch.where(moving, grad_MP * factor, 0.0)
    first_MP.lerp_(grad, (1 - rule.beta1) * going)
    second_MP.lerp_(grad.square_(), (1 - rule.beta2) * going)
    flat_MP[:, :matrices].mul_(1 - rate * decay * going)
    flat_MP.addcdiv_(first_MP * (-rate / correction1 * going), (second_MP / correction2).sqrt_().add_(rule.epsilon))


OPTIMISERS: dict[str, Callable[..., None]] = {"adamw": adamw}
