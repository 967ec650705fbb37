"""The force of added terms at the weights, and the synthetic curve against its closed forms."""

from __future__ import annotations

from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from networks import SHAPE, flatten, leaf_forward, perturb, stack_weights, train
from test_measure import BY_HAND, TOKENS, double, skips

from rankcollapse import forces, synthetic
from rankcollapse.blocks import compute_exact_q
from rankcollapse.engine import Run
from rankcollapse.measure import term_push
from rankcollapse.model import token_losses
from rankcollapse.terms import TERMS, block_terms, centre, compute_cosine, top_direction

KINDS = ("penalty", "hinge", "cosine")
TREATMENTS = {"penalty_1x": ("penalty", 1), "hinge_1x": ("hinge", 1), "hinge_4x": ("hinge", 4), "cosine_1x": ("cosine", 1)}
HEALTHY = 3.0


def autograd_rho(named, scale: torch.Tensor, kind: str, added: float) -> list[float]:
    """rho by PyTorch alone: the term's gradient at the weight at which it adds so much, over the task's."""
    leaves, stream, batch = leaf_forward(named, TOKENS, scale, SHAPE)
    level = torch.full((len(scale),), HEALTHY, dtype=torch.float64)
    matrices = stream.detach().reshape(-1, SHAPE.context, SHAPE.width)
    start = torch.linalg.svd(centre(matrices), full_matrices=False).Vh[:, 0]
    terms = block_terms([kind] * len(scale), stream, len(TOKENS), level, start).mean(0)
    losses = ((terms * added / terms.detach()).sum(), token_losses(leaves, stream[-1], batch[..., 1:]).sum())
    grads = [torch.autograd.grad(loss, list(leaves.values()), retain_graph=True, allow_unused=True) for loss in losses]
    norms = [[sqrt(sum(g[row].square().sum().item() for g in each if g is not None)) for row in range(len(scale))] for each in grads]
    return [push / task for push, task in zip(*norms)]


def test_rho_of_every_treatment():
    """Each equals autograd's to 1e-9, at once for all treatments; four times the added loss is four times the force at one state."""
    named, scale = double(perturb(stack_weights([0, 1]))), skips(0.3, 0.1, dtype=torch.float64)
    found = forces.read_forces(flatten(named), TOKENS, scale, SHAPE, TREATMENTS, HEALTHY, 0.1)
    for arm, (kind, times) in TREATMENTS.items():
        assert found[arm].tolist() == pytest.approx(autograd_rho(named, scale, kind, 0.1 * times), rel=1e-9), arm
    assert torch.allclose(found["hinge_4x"], 4 * found["hinge_1x"])


def test_rho_at_the_weight_of_a_branch():
    """At the switch-on weight it is the switch-on rho; it is proportional to the weight, and another state has another."""
    named, scale = perturb(stack_weights([0])), skips(0.3)
    sizes = forces.read_sizes(flatten(named), TOKENS, scale, SHAPE, ["hinge"], HEALTHY)
    weight = sizes.weight("hinge", 0.1)
    assert (weight * sizes.value["hinge"]).item() == pytest.approx(0.1)
    once, twice = (forces.read_force(flatten(named), TOKENS, scale, SHAPE, "hinge", HEALTHY, weight * times).item() for times in (1, 2))
    assert once == pytest.approx(forces.read_forces(flatten(named), TOKENS, scale, SHAPE, TREATMENTS, HEALTHY, 0.1)["hinge_1x"].item())
    assert twice == pytest.approx(2 * once)
    assert forces.read_force(flatten(perturb(stack_weights([0]), 3)), TOKENS, scale, SHAPE, "hinge", HEALTHY, weight).item() != pytest.approx(once, rel=0.01)


def test_a_sequence_at_floor_is_not_pushed():
    """Of two sequences one is a common vector but for rounding: the other's push is as it was, and the rounding gets none."""
    torch.manual_seed(0)
    healthy = torch.randn(6, 4, dtype=torch.float64)
    floored = torch.full((6, 4), 3.0, dtype=torch.float64) * (1 + 1e-15 * torch.randn(6, 4, dtype=torch.float64))
    stream = torch.cat([healthy, floored]).view(1, 1, 12, 4)
    _, push = term_push(SimpleNamespace(stream=stream), "hinge", HEALTHY, 2)
    alone = term_push(SimpleNamespace(stream=stream[:, :, :6]), "hinge", HEALTHY, 1)[1]
    assert not push[:, :, 6:].any() and torch.allclose(push[:, :, :6], alone / 2) and alone.norm() > 0
    spread = torch.cat([healthy, 3.0 + 1e-9 * healthy]).view(1, 1, 12, 4)
    assert term_push(SimpleNamespace(stream=spread), "hinge", HEALTHY, 2)[1][:, :, 6:].norm() > 1e8 * push.norm()


def test_a_silent_term_has_no_force():
    """The hinge at its healthy value: no value, no force, nothing divided by zero."""
    found = forces.read_forces(flatten(perturb(stack_weights([0]))), TOKENS, skips(1.0), SHAPE, {"hinge": ("hinge", 1)}, 0.0, 0.1)
    assert found["hinge"].item() == 0


def test_directions_are_exact_where_power_steps_are_not():
    """On matrices of full spread the value with them is the true Q, which eight power steps overestimate."""
    x = torch.randn(20, 40, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    exact = compute_exact_q(x)
    level = torch.full((1,), 100.0, dtype=torch.float64)
    shaped = x.view(1, 1, -1, 12)
    with_start = 100 - block_terms(["hinge"], shaped, 20, level, forces.top_directions(x))
    alone = 100 - block_terms(["hinge"], shaped, 20, level)
    assert with_start.item() == pytest.approx(exact.mean().item(), rel=1e-9) and alone.item() > exact.mean().item() * (1 + 1e-4)
    overlap = (forces.top_directions(x) * top_direction(centre(x), 2000)).sum(-1).abs()
    assert torch.allclose(overlap, torch.ones_like(overlap), atol=1e-6)


def test_lines_start_at_the_switch_on_force_and_keep_its_weight():
    """At share 0 both lines are rho at switch-on; further on they are the force of the weights in between, at the first weight."""
    low, high = (flatten(perturb(stack_weights([0]), seed))[0] for seed in (9, 3))
    lines = forces.read_lines(low, high, TOKENS, 0.1, SHAPE, KINDS, HEALTHY, 0.1, (0.0, 0.5, 1.0), torch.Generator().manual_seed(0))
    begun = forces.read_sizes(low[None], TOKENS, skips(0.1), SHAPE, KINDS, HEALTHY)
    ended = forces.read_sizes(high[None], TOKENS, skips(0.1), SHAPE, KINDS, HEALTHY)
    aside = low.double() + (high - low).double().norm() * forces.random_direction(low, torch.Generator().manual_seed(0))
    beside = forces.read_sizes(aside[None], TOKENS, skips(0.1), SHAPE, KINDS, HEALTHY)
    for kind in KINDS:
        weight = begun.weight(kind, 0.1)
        assert lines[kind].random[2] == pytest.approx(beside.rho(kind, weight).item(), rel=1e-6)
        assert lines[kind].target[0] == lines[kind].random[0] == pytest.approx(begun.rho(kind, weight).item(), rel=1e-9)
        assert lines[kind].target[2] == pytest.approx(ended.rho(kind, weight).item(), rel=1e-9)
        assert lines[kind].random[2] != pytest.approx(lines[kind].target[2], rel=1e-3)


def test_the_random_direction_is_the_generators():
    """Of length one, the same from the same seed (0 too), and along nothing in particular."""
    like = torch.empty(10000)
    one, same, other = (forces.random_direction(like, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1))
    assert one.norm().item() == pytest.approx(1) and torch.equal(one, same) and abs((one @ other).item()) < 0.05


CURVE = synthetic.read_curve((3.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4), 0)
PAPER = {1.0: (4.97e-4, 0.0313), 0.1: (3.52e-5, 0.0221), 1e-2: (3.50e-6, 0.0220), 1e-3: (3.50e-7, 0.0220), 1e-4: (3.50e-8, 0.0220)}


@pytest.mark.parametrize("point", CURVE, ids=lambda point: f"{point.delta:g}")
def test_the_curve_has_its_closed_forms(point):
    """The engine's own gradients equal the closed forms to 1e-5, and so does the ratio of penalty to hinge, 2 Q / (d - 1)."""
    for kind in KINDS:
        assert getattr(point, kind) == pytest.approx(getattr(point, f"{kind}_closed"), rel=1e-5), kind
    assert point.penalty / point.hinge == pytest.approx(synthetic.force_ratio(point.q, synthetic.WIDTH), rel=1e-5)
    assert point.q == pytest.approx(point.delta, rel=0.1) and point.sigma == pytest.approx(45.5, rel=0.1)


def test_the_curve_is_that_of_the_paper():
    """KAT-2: penalty 5e-4 at delta 1 to 3.5e-8 at 1e-4; the hinge stays at 0.022 up to 0.1 and is sqrt 2 larger at 1; the cosine turns."""
    found = {point.delta: point for point in CURVE}
    for delta, (penalty, hinge) in PAPER.items():
        assert found[delta].penalty == pytest.approx(penalty, rel=0.05) and found[delta].hinge == pytest.approx(hinge, rel=0.05)
    assert found[1.0].hinge / found[1e-4].hinge == pytest.approx(sqrt(2), rel=0.02)
    cosine = [found[delta].cosine for delta in sorted(PAPER)]
    assert 0 < int(np.argmax(cosine)) < len(cosine) - 1


def test_the_matrix_of_a_curve():
    """Same line and noise at every delta, of the same norm, about 45.5; another seed gives another matrix."""
    zero, one, two = (synthetic.make_matrix(delta, 0) for delta in (0.0, 1.0, 2.0))
    assert torch.linalg.matrix_rank(zero) == 1 and torch.allclose(two - one, one - zero)
    assert zero.norm().item() == pytest.approx((one - zero).norm().item()) == pytest.approx(45.5, rel=0.02)
    assert not torch.equal(one, synthetic.make_matrix(1.0, 1))


def test_the_cosine_term_by_hand_and_by_differences():
    """KAT-1: value 1/3; its gradient is that of finite differences, and a row without length pushes nothing and breaks nothing."""
    assert compute_cosine(BY_HAND).item() == pytest.approx(1 / 3)
    x = torch.randn(7, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    leaf = x[None].clone().requires_grad_()
    exact = torch.autograd.grad(compute_cosine(leaf).sum(), leaf)[0][0]
    for row in range(7):
        for column in range(4):
            shift = torch.zeros_like(x)
            shift[row, column] = 1e-6
            slope = (compute_cosine((x + shift)[None]) - compute_cosine((x - shift)[None])).item() / 2e-6
            assert exact[row, column].item() == pytest.approx(slope, abs=1e-8)
    assert exact.norm().item() == pytest.approx(synthetic.cosine_force(x), rel=1e-9)
    centred = torch.tensor([[[1.0, 0], [-1, 0], [0, 0]]], requires_grad=True)
    assert torch.autograd.grad(compute_cosine(centred).sum(), centred)[0].isfinite().all()


def test_the_cosine_is_a_term_like_the_others():
    """A stack's entry is the mean over sequences of its own matrices' cosine, beside other terms, and those are as they were without it."""
    stream = torch.randn(2, 3, 4 * 6, 8, generator=torch.Generator().manual_seed(1))
    mixed = block_terms(["cosine", "hinge", "none"], stream, 4, torch.full((3,), HEALTHY))
    expected = compute_cosine(stream[1, 0].view(4, 6, 8)).mean().item()
    assert mixed[1, 0].item() == pytest.approx(expected, rel=1e-6) and "cosine" in TERMS
    assert torch.equal(mixed[:, 1], block_terms(["none", "hinge", "none"], stream, 4, torch.full((3,), HEALTHY))[:, 1]) and not mixed[:, 2].any()
    assert block_terms(["cosine"], stream[:, :1].to("meta"), 4, torch.ones(1, device="meta")).shape == (2, 1)  # no value is waited for


def test_the_engine_trains_with_the_cosine():
    """A run with it adds the wanted loss at switch-on and ends elsewhere than an untreated one."""
    (treated, state), (_, plain) = train([Run("cosine", 0, 4, term="cosine", added=0.1), Run("none", 0, 4)])
    assert treated.first_added == pytest.approx(0.1, rel=0.5) and treated.term_weight > 0 and not torch.equal(state.weights, plain.weights)
