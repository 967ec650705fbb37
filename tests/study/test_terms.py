"""The added losses: known answers by hand, closed forms, invariances, and what is left where there is nothing to push."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
import torch
from networks import SHAPE, draw_tokens, stack_weights, stream_of

from rankcollapse.terms import TERMS, Spread, block_terms, centre, compute_q, top_direction

BY_HAND = torch.tensor([[[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]], dtype=torch.float64)
"""KAT-1: singular values sqrt(8) and sqrt(2)."""


def draw(*dims: int, seed: int = 0) -> torch.Tensor:
    """Gaussian numbers in float64."""
    return torch.randn(*dims, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def exact_q(x_TD: torch.Tensor) -> float:
    """Q from numpy's singular values."""
    sigma = np.linalg.svd((x_TD - x_TD.mean(0)).double().numpy(), compute_uv=False)
    return float(np.sqrt((sigma[1:] ** 2).sum()) / sigma[0])


def term(kind: str, q: torch.Tensor, width: int = 2, healthy: float = 3.0) -> torch.Tensor:
    """A term of the table at a spread."""
    return TERMS[kind](Spread(q, width, torch.full_like(q, healthy), torch.zeros_like(q)))


def gradient(loss, x: torch.Tensor) -> torch.Tensor:
    """The gradient of a function of token matrices."""
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad(loss(leaf).sum(), leaf)[0]


def test_known_answers_by_hand():
    """KAT-1: Q 0.5, penalty 0.75, hinge s0 - 0.5, and the whole gradient of Q."""
    q = compute_q(BY_HAND)
    assert q.item() == pytest.approx(0.5, abs=1e-12)
    assert term("penalty", q).item() == pytest.approx(0.75, abs=1e-12)
    assert term("hinge", q).item() == pytest.approx(2.5, abs=1e-12)
    assert term("none", q).item() == 0
    expected = torch.tensor([[-0.125, 0], [0.125, 0], [0, 0.25], [0, -0.25]], dtype=torch.float64)
    assert torch.allclose(gradient(compute_q, BY_HAND)[0], expected, atol=1e-12)
    assert gradient(compute_q, BY_HAND).norm().item() == pytest.approx(sqrt(1.25) / sqrt(8), abs=1e-10) == pytest.approx(0.3952847075)


def test_hinge_is_zero_and_silent_above_the_healthy_value():
    """Where Q exceeds s0 the hinge adds nothing and pushes nothing."""
    assert term("hinge", compute_q(BY_HAND), healthy=0.4).item() == 0
    assert gradient(lambda x: term("hinge", compute_q(x), healthy=0.4), BY_HAND).norm() == 0


@pytest.mark.parametrize("delta", [1e-2, 1e-3, 1e-4, 1e-5])
def test_deflation_survives_cancellation(delta):
    """KAT-3: in float32 deflation has Q to 1e-5 (1e-3 at Q = 1e-5) where the difference of squares is rounding error, and 0 from 1e-4 down."""
    x = (draw(256, 1) @ draw(1, 128, seed=1) + delta * draw(256, 128, seed=2)).float()
    exact = exact_q(x)
    assert exact == pytest.approx(delta, rel=0.3)
    assert compute_q(x[None]).item() == pytest.approx(exact, rel=max(1e-5, 1e-8 / delta))
    centred = centre(x)
    sigma = torch.linalg.svdvals(centred)[0]
    naive = (centred.square().sum() / sigma.square() - 1).clamp_min(0).sqrt().item()
    assert abs(naive / exact - 1) > 1e-4
    if delta <= 1e-4:
        assert naive == 0 or abs(naive / exact - 1) > 0.5


@pytest.mark.parametrize("delta", [1.0, 0.1, 1e-2, 1e-4])
def test_penalty_fades_and_hinge_does_not(delta):
    """KAT-2: the two gradients' ratio is 2 Q / (d - 1), so the penalty's vanishes with Q while the hinge's stays at sqrt(srank) / sigma_1."""
    x = (draw(256, 1) @ draw(1, 128, seed=1) / 4 + delta * draw(256, 128, seed=2) / 4)[None]
    v = top_direction(centre(x), 200)
    penalty, hinge = (gradient(lambda y, kind=kind: term(kind, compute_q(y, v), width=128), x).norm().item() for kind in ("penalty", "hinge"))
    q, sigma = exact_q(x[0]), torch.linalg.svdvals(centre(x))[0, 0].item()
    assert penalty / hinge == pytest.approx(2 * q / 127, rel=1e-5)
    assert hinge == pytest.approx(sqrt(1 + q * q) / sigma, rel=1e-5)


def test_equals_numpy_on_random_matrices():
    """Eight power steps give numpy's Q to 1e-6 where the spread is collapsed (Q below 0.3), and from above elsewhere."""
    for seed in range(20):
        x = draw(40, 1, seed=seed) @ draw(1, 12, seed=seed + 100) + 0.05 * draw(40, 12, seed=seed + 200)
        assert compute_q(x[None]).item() == pytest.approx(exact_q(x), rel=1e-6)
        wide = draw(40, 12, seed=seed)
        assert exact_q(wide) * (1 - 1e-9) <= compute_q(wide[None]).item() <= 1.1 * exact_q(wide)
        assert compute_q(wide[None], top_direction(centre(wide[None]), 500)).item() == pytest.approx(exact_q(wide), rel=1e-6)


def test_gradient_equals_finite_differences():
    """With the direction held fixed the gradient is exact: central differences of the true Q agree to 1e-7 (9 x 5, seed 0)."""
    x, step = draw(9, 5), 1e-6
    exact = gradient(lambda y: compute_q(y, top_direction(centre(x[None]), 500)), x[None])[0]
    for row in range(9):
        for column in range(5):
            shift = torch.zeros_like(x)
            shift[row, column] = step
            assert exact[row, column].item() == pytest.approx((exact_q(x + shift) - exact_q(x - shift)) / (2 * step), abs=1e-7)
    assert (exact * centre(x)).sum().item() == pytest.approx(0, abs=1e-9)
    assert exact.sum(0).abs().max().item() == pytest.approx(0, abs=1e-12)


def test_invariances():
    """Q ignores size, rotation of the width, order of tokens, a constant row added to all, and the sign of the direction."""
    x = draw(1, 30, 6)
    rotation = torch.linalg.qr(draw(6, 6, seed=3)).Q
    v = top_direction(centre(x), 300)
    q = compute_q(x, v).item()
    for other, direction in [(x * 1e-6, v), (x * -3e5, v), (x @ rotation, v @ rotation), (x.flip(1), v), (x + draw(1, 1, 6, seed=4), v), (x, -v)]:
        assert compute_q(other, direction).item() == pytest.approx(q, rel=1e-9)
        assert compute_q(other).item() == pytest.approx(compute_q(x).item(), rel=1e-6)
    assert torch.allclose(gradient(lambda y: compute_q(y, v), x), gradient(lambda y: compute_q(y, -v), x), rtol=1e-12)


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-6])
def test_q_does_not_see_how_small_the_tokens_are(spread):
    """A trillionth of the tokens (float64) has the same Q, from the same direction or its own, and a gradient a trillion times as large."""
    x = (draw(30, 1) @ draw(1, 6, seed=1) + spread * draw(30, 6, seed=2))[None]
    v = top_direction(centre(x), 300)
    q = compute_q(x, v).item()
    assert q == pytest.approx(exact_q(x[0]), rel=1e-6) and q > 0
    assert compute_q(1e-12 * x, v).item() == pytest.approx(q, rel=1e-6)
    assert compute_q(1e-12 * x).item() == pytest.approx(compute_q(x).item(), rel=1e-6)
    assert torch.allclose(1e-12 * gradient(lambda y: compute_q(y, v), 1e-12 * x), gradient(lambda y: compute_q(y, v), x), rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "q"),
    [
        (torch.ones(1, 5, 3), 0.0),
        (torch.zeros(1, 5, 3), 0.0),
        (torch.arange(5.0).view(1, 5, 1) * torch.ones(3), 0.0),
        (torch.tensor([[[1.0, 0], [-1, 0], [0, 1], [0, -1]]]), 1.0),
    ],
    ids=["no-spread", "zero", "rank-one", "equal-singular-values"],
)
def test_finite_where_a_direction_is_missing(x, q):
    """Equal tokens, zeros, rank one and sigma_1 = sigma_2 give a finite Q and a finite gradient."""
    assert compute_q(x).item() == pytest.approx(q, abs=1e-6)
    for kind in ("penalty", "hinge"):
        grads = gradient(lambda y, kind=kind: term(kind, compute_q(y)), x)
        assert torch.isfinite(grads).all()
        assert q == 1 or grads.abs().max() < 1e3


def test_blocks_average_sequences_and_keep_runs_apart():
    """Entry (l, m) is run m's own term on block l, the mean over its sequences; `none` is zero."""
    shape, kinds = SHAPE, ["hinge", "none", "penalty"]
    tokens = draw_tokens(3, 2, shape.context)
    stream = stream_of(stack_weights([0, 1, 2]), tokens, torch.tensor([1.0, 0.5, 0.1]), shape)
    healthy = torch.tensor([2.0, 2.0, 3.0])
    values = block_terms(kinds, torch.stack(stream), 2, healthy)
    assert values.shape == (shape.depth, 3)
    for block, x in enumerate(stream):
        for index, kind in enumerate(kinds):
            q = compute_q(x[index].view(2, shape.context, -1))
            assert values[block, index].item() == pytest.approx(term(kind, q, shape.width, healthy[index].item()).mean().item(), abs=1e-6)
    assert (values[:, 1] == 0).all() and (values[:, [0, 2]] > 0).all()
