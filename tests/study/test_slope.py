"""The slope-two law: its formula against numerical Jacobians, and its points in a network."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
import torch
from networks import SHAPE, flatten, perturb, stack_weights, stream_of
from test_measure import DEEP, TOKENS, double, skips

from rankcollapse import measure, slope
from rankcollapse.model import block_weights, embed, token_losses, views
from rankcollapse.terms import centre


def draw_attention(delta: float, seed: int) -> list[torch.Tensor]:
    """Six tokens of width 5, a distance apart, and query (zero), key and value weights of heads of 3."""
    generator = torch.Generator().manual_seed(seed)
    base, spread, keys, values = (torch.randn(*dims, generator=generator, dtype=torch.float64) for dims in ((1, 5), (6, 5), (5, 3), (5, 3)))
    return [base + delta * spread, torch.zeros(5, 3, dtype=torch.float64), keys, values]


def jacobian_norm(x: torch.Tensor, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> float:
    """Norm of the derivative of softmax attention's output on the query weights, by PyTorch."""

    def attention(weights: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x @ weights @ keys.T @ x.T / sqrt(3), -1) @ x @ values

    return torch.autograd.functional.jacobian(attention, queries).norm().item()


def closed_form(x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> float:
    """|X|_F |W_V^T X~^T X~ W_K|_F / (n sqrt(d_k)), X~ centred: uniform attention (Noci et al. 2022)."""
    centred = centre(x)
    return (x.norm() * (values.T @ centred.T @ centred @ keys).norm() / (len(x) * sqrt(3))).item()


@pytest.mark.parametrize("seed", range(3))
def test_the_query_jacobian_of_uniform_attention(seed):
    """KAT-7: with n = 6, d = 5, d_k = 3 and W_Q = 0 the numerical norm is the closed form's to 1e-8, and falls with slope 2."""
    norms = {}
    for delta in (1.0, 0.1, 1e-2, 1e-3):
        x, queries, keys, values = draw_attention(delta, seed)
        norms[delta] = jacobian_norm(x, queries, keys, values)
        assert norms[delta] == pytest.approx(closed_form(x, keys, values), rel=1e-8)
    assert np.log10(norms[1e-2] / norms[1e-3]) == pytest.approx(2, abs=1e-2)
    assert norms[1.0] > 10 * norms[0.1]


def test_its_pass_is_the_models():
    """Attention and MLP put together are the residual stream of `model`, and the query-key gradients those of `gradient_path`."""
    named = double(perturb(stack_weights([0])))
    stream = stream_of(named, TOKENS[None, :, :-1], skips(0.3, dtype=torch.float64), SHAPE)
    x = embed(named, TOKENS[None, :, :-1], SHAPE)
    for index in range(SHAPE.depth):
        weights = block_weights(named, index)
        x = 0.3 * x + slope.attend(x, weights, SHAPE, len(TOKENS))
        x = 0.3 * x + slope.feed_forward(x, weights)
        assert torch.allclose(x, stream[index], rtol=1e-12, atol=1e-12)


def test_points_of_the_law():
    """Query-key gradient over the gradient at attention's output, here that of a bump of zeros added to it; residual of the normed input."""
    flat, scale = flatten(double(perturb(stack_weights([0])))), skips(0.3, dtype=torch.float64)
    law, named = slope.read_law(flat[0], TOKENS, 0.3, SHAPE), views(flat, SHAPE)
    x = embed(named, TOKENS[None, :, :-1], SHAPE)
    bumps = [torch.zeros_like(x, requires_grad=True) for _ in range(SHAPE.depth)]
    for index, bump in enumerate(bumps):
        weights = block_weights(named, index)
        normed = torch.nn.functional.layer_norm(x, (SHAPE.width,), eps=1e-6) * weights["ln_attention"]
        residual = measure.compute_residual(normed.view(len(TOKENS), -1, SHAPE.width)).mean().item()
        assert law.residual[index] == pytest.approx(residual, rel=1e-9)
        x = 0.3 * x + slope.attend(x, weights, SHAPE, len(TOKENS)) + bump
        x = 0.3 * x + slope.feed_forward(x, weights)
    arrived = [grad.norm().item() for grad in torch.autograd.grad(token_losses(named, x, TOKENS[None, :, 1:]).sum(), bumps)]
    qk = measure.gradient_path(flat, TOKENS, scale, SHAPE)["qk"][:, 0].tolist()
    assert law.ratio.tolist() == pytest.approx([moved / came for moved, came in zip(qk, arrived, strict=True)], rel=1e-9)


def spread_apart(delta: float) -> torch.Tensor:
    """A deep network whose embeddings differ by so much."""
    named = double(perturb(stack_weights([2], DEEP)))
    generator = torch.Generator().manual_seed(0)
    for name in ("tokens", "positions"):
        named[name] = delta * torch.randn(named[name].shape, generator=generator, dtype=torch.float64) + torch.linspace(-1, 1, DEEP.width) / 2
    return flatten(named)[0]


def first_block(delta: float) -> slope.Law:
    """The first block's point."""
    law = slope.read_law(spread_apart(delta), TOKENS, 0.3, DEEP)
    return slope.Law(law.residual[:1], law.ratio[:1])


def test_the_slope_is_two_in_a_network():
    """The first block of networks whose embeddings lie closer and closer: slope 2 within 0.05, where the value's gradient by the same measure stays."""
    laws = [first_block(delta) for delta in (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)]
    assert max(law.residual[0] for law in laws) < slope.SMALL
    assert slope.fit_slope(laws) == pytest.approx(2, abs=0.05)
    at, values = skips(0.3, dtype=torch.float64), []
    for delta in (1e-2, 1e-4):
        path, law = measure.gradient_path(spread_apart(delta)[None], TOKENS, at, DEEP), first_block(delta)
        values.append((path["v"][0] / path["qk"][0]).item() * law.ratio[0])
    assert 0.5 < values[0] / values[1] < 2


def test_a_slope_needs_points():
    """Known slopes come back; large residuals are left out, and with fewer than six points there is none."""
    residual = np.logspace(-5, -1.1, 8)
    laws = [slope.Law(residual, 7 * residual**power) for power in (2, 1.5)]
    assert [slope.fit_slope([law]) for law in laws] == pytest.approx([2, 1.5])
    bent = slope.Law(np.append(residual, [0.5, 0.9]), np.append(7 * residual**2, [1e3, 1e3]))
    assert slope.fit_slope([bent]) == pytest.approx(2) and slope.fit_slope([bent], below=1.0) != pytest.approx(2, abs=0.05)
    few = slope.Law(residual[:3], residual[:3] ** 2)
    assert slope.fit_slope([few]) is None and slope.fit_slope([few, few]) == pytest.approx(2)
