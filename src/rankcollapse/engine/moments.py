"""AdamW over the flat weights of a stack, in place, every run at its own pace, and what the other optimisers take from it."""

from __future__ import annotations

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
    tau: torch.Tensor | None = None
    """Of AdamW2's cap."""

    def pick(self, rows: torch.Tensor) -> Controls:
        """Those of some models."""
        return Controls(*(None if values is None else values[rows] for values in self))


def compute_norms(grad_MP: torch.Tensor) -> torch.Tensor:
    """Norm (M,) of each model's gradient."""
    if not kernel.available(grad_MP):
        return grad_MP.norm(dim=1).double()
    norms = torch.empty(len(grad_MP), dtype=torch.float64)
    kernel.share_out(len(grad_MP), lambda part: kernel.call("norms", grad_MP, *grad_MP[part].shape, grad_MP[part], norms[part]))
    return norms


def correct(controls: Controls, rule: Optimiser) -> tuple[torch.Tensor, torch.Tensor]:
    """Both bias corrections (M,)."""
    return 1 - rule.beta1**controls.count, 1 - rule.beta2**controls.count


def adamw(
    flat_MP: torch.Tensor, grad_MP: torch.Tensor, first_MP: torch.Tensor, second_MP: torch.Tensor, controls: Controls, matrices: int, rule: Optimiser
) -> None:
    """AdamW with decoupled decay (Loshchilov and Hutter 2019); the first `matrices` weights decay, gains do not."""
    correction1, correction2 = correct(controls, rule)
    if kernel.available(flat_MP):
        table = torch.stack([controls.rate, controls.decay, controls.factor, correction1, correction2], 1)

        def work(part: slice) -> int:
            tensors = (each[part] for each in (flat_MP, grad_MP, first_MP, second_MP, table))
            return kernel.call("adamw", flat_MP, *flat_MP[part].shape, matrices, *tensors, rule.beta1, rule.beta2, rule.epsilon)

        kernel.share_out(len(flat_MP), work)
        return
    rate, decay, correction1, correction2 = columns(flat_MP, controls.rate, controls.decay, correction1, correction2)
    going = move_moments(grad_MP, first_MP, second_MP, controls, rule)
    flat_MP[:, :matrices].mul_(1 - rate * decay * going)
    flat_MP.addcdiv_(first_MP * (-rate / correction1 * going), (second_MP / correction2).sqrt_().add_(rule.epsilon))


def columns(like: torch.Tensor, *numbers: torch.Tensor) -> list[torch.Tensor]:
    """Numbers (M,) as columns (M, 1) in the precision of a tensor."""
    return [x.to(like.dtype).unsqueeze(1) for x in numbers]


def move_moments(grad_MP: torch.Tensor, first_MP: torch.Tensor, second_MP: torch.Tensor, controls: Controls, rule: Optimiser) -> torch.Tensor:
    """Move both moments in place; returns 1 for models that go and 0 for those that stay (M, 1)."""
    [factor] = columns(grad_MP, controls.factor)
    moving = factor > 0
    going, grad = moving.to(grad_MP.dtype), torch.where(moving, grad_MP * factor, 0.0)
    first_MP.lerp_(grad, (1 - rule.beta1) * going)
    second_MP.lerp_(grad.square_(), (1 - rule.beta2) * going)
    return going
