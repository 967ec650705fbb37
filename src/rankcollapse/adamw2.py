"""AdamW2 (Qi et al., ICLR 2025, arXiv 2505.21910): AdamW whose step on a matrix is capped by a ratio of spectral norms.

With U = m_hat / (sqrt(v_hat) + eps), each matrix W moves by alpha = min(alpha, tau * sigma1(W) / sigma1(U)). What the published text leaves open
is chosen here: the cap is per matrix, the capped alpha multiplies the decoupled decay too, and power iterations start where the last step's ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isnan

import torch

ITERATIONS = 2
"""Power iterations a step; the source's most is 3, of which it says that 2 suffice.

They underestimate both norms, so a step may exceed tau: in a tiny network by 1.6 times at the second step, later mostly by a few per cent.
"""
MOST_ITERATIONS = 3


def power_iterations(w_ERC: torch.Tensor, v_EC: torch.Tensor, steps: int, u_ER: torch.Tensor | None = None) -> torch.Tensor:
    """Largest singular values (E...) in float64 by power iterations from v, never above the true ones but for rounding.

    v (E..., C), and u = W v / |W v| (E..., R) if given, move in place; a step that ends in zero, or in no number, leaves them as they were.
    """
    for _ in range(steps):
        along = (w_ERC @ v_EC.unsqueeze(-1)).squeeze(-1)
        size = along.double().norm(dim=-1, keepdim=True)
        along = (along / size).to(w_ERC.dtype)
        after = (along.unsqueeze(-2) @ w_ERC).squeeze(-2)
        sigma = after.double().norm(dim=-1, keepdim=True)
        good = (size > 0) & size.isfinite() & (sigma > 0) & sigma.isfinite()
        sigma = torch.where((size > 0) & size.isfinite(), sigma, size)
        v_EC.copy_(torch.where(good, (after / sigma).to(v_EC.dtype), v_EC))
        if u_ER is not None:
            u_ER.copy_(torch.where(good, along, u_ER))
    return sigma.squeeze(-1)


def cap_rate(rate: torch.Tensor, weight: torch.Tensor, update: torch.Tensor, tau: torch.Tensor | float) -> torch.Tensor:
    """The learning rate, at most tau * sigma1(W) / sigma1(U); where that ratio is no number, as it is."""
    most = tau * weight / update
    return torch.where(most < rate, most, rate)


def find_direction(first: torch.Tensor, second: torch.Tensor, correction1, correction2, epsilon: float) -> torch.Tensor:
    """Adam's direction m_hat / (sqrt(v_hat) + eps) from the moments and their bias corrections."""
    return (first / correction1) / (second / correction2).sqrt().add_(epsilon)


def start_vector(size: int, like: torch.Tensor | None = None) -> torch.Tensor:
    """A unit vector (size,) to begin power iterations from: Gaussian, the same one every time, so along no axis and across none."""
    vector = torch.randn(size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    vector = vector / vector.norm()
    return vector.float() if like is None else vector.to(like.device, like.dtype)


class AdamW2(torch.optim.Optimizer):
    """AdamW whose step on each parameter of two or more dimensions is capped at tau * sigma1(W) / sigma1(U); others move as by AdamW.

    Parameters of more than two dimensions count as (first, all others). The capped rate multiplies the decay too. A matrix of zeros stays one:
    the cap is relative. `tau=math.inf` is `torch.optim.AdamW`. Each parameter's last rate is in its state as `rate`.
    Raises ValueError for settings out of range and RuntimeError for sparse or complex gradients.
    """

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        *,
        tau: float,
        iterations: int = ITERATIONS,
    ):
        faults = {
            f"Invalid learning rate: {lr}": not 0 <= lr,
            f"Invalid epsilon value: {eps}": not 0 <= eps,
            f"Invalid beta parameter at index 0: {betas[0]}": not 0 <= betas[0] < 1,
            f"Invalid beta parameter at index 1: {betas[1]}": not 0 <= betas[1] < 1,
            f"Invalid weight_decay value: {weight_decay}": not 0 <= weight_decay,
            f"Invalid tau value: {tau}": isnan(tau) or tau <= 0,
            f"Invalid number of iterations: {iterations}, expected 1 to {MOST_ITERATIONS}": iterations not in range(1, MOST_ITERATIONS + 1),
        }
        for message, holds in faults.items():
            if holds:
                raise ValueError(message)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "tau": tau, "iterations": iterations})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """One step of every parameter that has a gradient; returns the closure's loss."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None and weight.numel():
                    self.move(weight, group)
        return loss

    def move(self, weight: torch.Tensor, group: dict) -> None:
        """One parameter's step."""
        if weight.grad.is_sparse or weight.is_complex():
            raise RuntimeError(f"AdamW2 does not support {'sparse' if weight.grad.is_sparse else 'complex'} gradients")
        state = self.state[weight] or self.begin(weight)
        state["step"] += 1
        count, (beta1, beta2) = state["step"].item(), group["betas"]
        state["exp_avg"].lerp_(weight.grad, 1 - beta1)
        state["exp_avg_sq"].lerp_(weight.grad.square(), 1 - beta2)
        direction = find_direction(state["exp_avg"], state["exp_avg_sq"], 1 - beta1**count, 1 - beta2**count, group["eps"])
        rate = torch.tensor(float(group["lr"]), dtype=torch.float64, device=weight.device)
        if weight.dim() > 1:
            sides = ((weight, "vector"), (direction, "vector_update"))
            rate = cap_rate(rate, *(power_iterations(side.flatten(1), state[name], group["iterations"]) for side, name in sides), group["tau"])
        state["rate"] = rate
        weight.mul_(1 - rate * group["weight_decay"]).sub_(direction * rate)

    def begin(self, weight: torch.Tensor) -> dict:
        """A parameter's first state: empty moments and, for a matrix, vectors for its own and its update's power iteration."""
        state = self.state[weight]
        state |= {"step": torch.tensor(0.0), "exp_avg": torch.zeros_like(weight), "exp_avg_sq": torch.zeros_like(weight)}
        if weight.dim() > 1:
            vector = start_vector(weight[0].numel(), weight)
            state |= {"vector": vector, "vector_update": vector.clone()}
        return state
