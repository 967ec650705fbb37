"""What is read from networks: known answers, and agreement with double precision wherever a number is kept."""

from __future__ import annotations

from math import sqrt

import pytest
import torch
from networks import SHAPE, draw_tokens, flatten, leaf_forward, perturb, stack_weights, stream_of

from rankcollapse import measure
from rankcollapse.model import Shape, token_losses
from rankcollapse.terms import block_terms

BY_HAND = torch.tensor([[[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]], dtype=torch.float64)
TOKENS = draw_tokens(4, SHAPE.context + 1, seed=1)
DEEP = Shape(depth=6, width=8, heads=2, context=6, vocabulary=13)


def collapsed_weights(shape: Shape = DEEP, seeds: tuple[int, ...] = (0,)) -> dict[str, torch.Tensor]:
    """A network whose residual is tiny without a skip: uniform attention, nearly linear MLPs of one sign, equal positions."""
    named = stack_weights(list(seeds), shape, std=0.3)
    for name, weight in named.items():
        if name.endswith("qkv"):
            weight[..., : 2 * shape.width] = 0
        if name in ("tokens", "positions"):
            weight.mul_(1e-3).add_(torch.linspace(-1, 1, shape.width))
    return named


def double(named: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same weights in double precision."""
    return {name: weight.double() for name, weight in named.items()}


def skips(*values: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Skip scales, one a model."""
    return torch.tensor(values, dtype=dtype)


def test_known_answers_by_hand():
    """KAT-1: stable rank 1.25 and effective rank 1.88988, of the centred matrix."""
    for shift in (0.0, 3.0):
        assert measure.compute_stable_rank(BY_HAND + shift).item() == pytest.approx(1.25, abs=1e-12)
        assert measure.compute_effective_rank(BY_HAND + shift).item() == pytest.approx(1.8898815748, abs=1e-9)
    assert measure.compute_residual(BY_HAND).item() == 1
    assert measure.compute_residual(BY_HAND + 3).item() == pytest.approx(sqrt(10 / (10 + 8 * 9)))


def test_ranks_are_ordered_and_ignore_size_and_rotation():
    """1 <= stable rank <= effective rank <= width; neither depends on size, rotation or a constant row."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(10, 20, 6, generator=generator, dtype=torch.float64)
    rotation = torch.linalg.qr(torch.randn(6, 6, generator=generator, dtype=torch.float64)).Q
    stable, effective = measure.compute_stable_rank(x), measure.compute_effective_rank(x)
    assert (stable >= 1).all() and (stable <= effective).all() and (effective <= 6).all()
    for other in (x * 1e-7, x @ rotation, x + 5):
        assert torch.allclose(measure.compute_stable_rank(other), stable, rtol=1e-9)
        assert torch.allclose(measure.compute_effective_rank(other), effective, rtol=1e-9)


def test_no_spread_is_rank_one():
    """Equal tokens give stable rank 1 and residual 0 instead of 0 / 0; equal singular values give their number."""
    equal = torch.ones(1, 5, 3)
    assert measure.compute_stable_rank(equal).item() == 1 and measure.compute_residual(equal).item() == 0
    square = torch.tensor([[[1.0, 0], [-1, 0], [0, 1], [0, -1]]])
    assert measure.compute_stable_rank(square).item() == pytest.approx(2)


def test_uniform_causal_averaging():
    """KAT-6: the running mean halves the ramp, brings Gaussian tokens to rank one along it, and keeps the residual large for longer."""
    length = 256
    average = torch.ones(length, length, dtype=torch.float64).tril() / torch.arange(1, length + 1).view(-1, 1)
    ramp = torch.arange(length, dtype=torch.float64)
    assert torch.allclose(average @ ramp, ramp / 2)
    x = torch.randn(1, length, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ranks, residuals = [], []
    for _ in range(13):
        ranks.append(measure.compute_stable_rank(x).item())
        residuals.append(measure.compute_residual(x).item())
        x = average @ x
    assert ranks[0] > 4 and ranks[6] < 1.2 and ranks[12] < 1.01
    assert residuals[0] > 0.9 and residuals[6] > 0.05
    assert 0.5 < residuals[12] / residuals[11] < 0.7


def test_reading_is_of_the_last_block_per_sequence():
    """A reading is the mean over sequences of the last block's stable rank and residual, and the task loss in nats."""
    named, skip = perturb(stack_weights([4])), skips(0.7)
    last = stream_of(named, TOKENS[None, :, :-1], skip, SHAPE)[-1]
    matrices = last.view(len(TOKENS), SHAPE.context, SHAPE.width)
    reading = measure.read_stack(flatten(named), TOKENS, skip, SHAPE)
    sigma = [torch.linalg.svdvals((x - x.mean(0)).double()) for x in matrices]
    assert reading.rank[0] == pytest.approx(sum((s.square().sum() / s[0].square()).item() for s in sigma) / 4, rel=1e-6)
    assert reading.residual[0] == pytest.approx(sum(((x - x.mean(0)).norm() / x.norm()).item() for x in matrices) / 4, rel=1e-5)
    assert reading.loss[0] == pytest.approx(token_losses(named, last, TOKENS[None, :, 1:])[0].item(), rel=1e-6)
    assert reading.at_floor == [False]


def test_single_precision_is_kept_where_it_is_right():
    """Above the residual at which double precision takes over, single precision has rank and Q to 1e-6 relative times 1 / residual."""
    named = perturb(stack_weights([0, 1, 2]))
    for scale in (1.0, 0.3, 0.05):
        coarse = measure.read_refined(flatten(named), TOKENS, skips(scale, scale, scale), SHAPE)
        fine = measure.read_stack(flatten(double(named)), TOKENS, skips(scale, scale, scale, dtype=torch.float64), SHAPE)
        assert min(fine.residual) > measure.REFINE_BELOW
        assert coarse == measure.read_stack(flatten(named), TOKENS, skips(scale, scale, scale), SHAPE)
        for column in ("rank", "residual", "loss"):
            assert getattr(coarse, column) == pytest.approx(getattr(fine, column), rel=1e-5)
            if min(fine.residual) > 0.1:
                assert getattr(coarse, column) == pytest.approx(getattr(fine, column), rel=3e-6)


def test_collapsed_networks_are_read_in_double_precision():
    """Below that residual the reading is the float64 one, to the last bit, only for the collapsed model, and differs from the float32 one."""
    both = {name: torch.cat([a, b]) for (name, a), b in zip(collapsed_weights().items(), perturb(stack_weights([1], DEEP)).values(), strict=True)}
    scale = skips(0.0, 1.0)
    coarse, refined = measure.read_stack(flatten(both), TOKENS, scale, DEEP), measure.read_refined(flatten(both), TOKENS, scale, DEEP)
    fine = measure.read_stack(flatten(both)[:1].double(), TOKENS, scale[:1].double(), DEEP)
    assert coarse.residual[0] < measure.REFINE_BELOW < coarse.residual[1]
    for column, single, exact in zip(refined[:-1], coarse[:-1], fine[:-1], strict=True):
        assert column[0] == exact[0] and column[1] == single[1]
    assert abs(coarse.rank[0] / fine.rank[0] - 1) > 1e-3
    assert coarse.at_floor == [True, False] and refined.at_floor == [False, False]


def uneven() -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """A collapsed network with one token of its own kind, and a probe batch of which only the first sequence has it."""
    named, tokens = collapsed_weights(), TOKENS.clamp_max(11)
    named["tokens"][0, 12] = torch.linspace(-1, 1, DEEP.width).flip(0).square()
    tokens[0, 0] = 12
    return named, tokens


def test_one_healthy_sequence_does_not_hide_collapsed_ones():
    """Where the mean residual is large and most sequences are collapsed, rank and all else are read in double precision."""
    named, tokens = uneven()
    coarse, refined = (read(flatten(named), tokens, skips(0.0), DEEP) for read in (measure.read_stack, measure.read_refined))
    fine = measure.read_stack(flatten(double(named)), tokens, skips(0.0, dtype=torch.float64), DEEP)
    assert coarse.least[0] < measure.REFINE_BELOW < coarse.residual[0]
    assert refined == fine and abs(coarse.rank[0] / fine.rank[0] - 1) > 1e-4
    assert fine.least[0] < fine.residual[0] / 100


def test_one_sequence_at_floor_is_enough():
    """A model is at floor when a sequence's rank is rounding error, however far apart the others' tokens are."""
    named, tokens = uneven()
    named["tokens"][0, :12], named["positions"][:] = torch.linspace(-1, 1, DEEP.width), 0
    reading = measure.read_refined(flatten(named), tokens, skips(0.0), DEEP)
    assert reading.at_floor == [True] and reading.least[0] < 1e-13 < 1e-3 < reading.residual[0]
    healthy = measure.read_refined(flatten(named), tokens[:1], skips(0.0), DEEP)
    assert healthy.at_floor == [False] and healthy.least == healthy.residual


def test_at_floor_where_double_precision_ends():
    """A network whose tokens are all one and the same is at floor in double precision too, and its residual shows it."""
    named = collapsed_weights()
    named["tokens"][:], named["positions"][:] = torch.linspace(-1, 1, DEEP.width), 0
    reading = measure.read_refined(flatten(named), TOKENS, skips(0.0), DEEP)
    assert reading.at_floor == [True] and reading.residual[0] < 100 * torch.finfo(torch.float64).eps
    assert measure.read_refined(flatten(double(named)), TOKENS, skips(0.0, dtype=torch.float64), DEEP) == reading


def finite_difference(named, name: str, place: tuple[int, ...], loss) -> float:
    """Central difference of a loss with respect to one weight."""
    values = []
    for sign in (1, -1):
        moved = {key: weight.clone() for key, weight in named.items()}
        moved[name][place] += sign * 1e-6
        values.append(loss(moved))
    return (values[0] - values[1]) / 2e-6


def test_gradient_path_is_the_norm_of_finite_differences():
    """Per block: the norm over query, key and value weights of the task loss's slope, and its parts add up as squares."""
    named, one = double(perturb(stack_weights([0, 1]))), skips(1.0, 0.3, dtype=torch.float64)
    norms = measure.gradient_path(flatten(named), TOKENS, one, SHAPE)
    assert torch.allclose(norms["qkv"].square(), norms["qk"].square() + norms["v"].square())

    def loss(weights):
        stream = stream_of(weights, TOKENS.expand(2, -1, -1)[..., :-1], one, SHAPE)
        return token_losses(weights, stream[-1], TOKENS.expand(2, -1, -1)[..., 1:])[1].item()

    slopes = [finite_difference(named, "block1.qkv", (1, i, j), loss) for i in range(SHAPE.width) for j in range(2 * SHAPE.width)]
    assert norms["qk"][1, 1].item() == pytest.approx(sqrt(sum(slope**2 for slope in slopes)), rel=1e-5)


def test_the_term_path_is_at_the_matched_added_loss():
    """It is proportional to the added loss, in every block and model (float64)."""
    named, scale = double(perturb(stack_weights([0, 1]))), skips(0.3, 0.1, dtype=torch.float64)
    once, twice = (measure.term_path(flatten(named), TOKENS, scale, SHAPE, "hinge", 3.0, added)["qkv"] for added in (0.1, 0.2))
    assert torch.allclose(twice, 2 * once) and (once > 0).all()


def test_each_blocks_own_term_adds_the_wanted_loss():
    """Block l's entry is the slope, on block l's weights, of block l's term at the weight at which that term alone adds the loss."""
    named, scale, added = double(perturb(stack_weights([0, 1]))), skips(0.3, 0.1, dtype=torch.float64), 0.1
    leaves, stream, _ = leaf_forward(named, TOKENS, scale, SHAPE)
    values = block_terms(["hinge", "hinge"], stream, len(TOKENS), torch.full((2,), 3.0, dtype=torch.float64))
    assert (values[0] / values[1] - 1).abs().min() > 1e-3
    norms = measure.term_path(flatten(named), TOKENS, scale, SHAPE, "hinge", 3.0, added)
    for block in range(SHAPE.depth):
        for model in range(2):
            weight = added / values[block, model].item()
            slope = torch.autograd.grad(values[block, model], leaves[f"block{block}.qkv"], retain_graph=True)[0][model]
            assert norms["qkv"][block, model].item() == pytest.approx(weight * slope.norm().item(), rel=1e-10)
            assert norms["v"][block, model].item() == pytest.approx(weight * slope[:, 2 * SHAPE.width :].norm().item(), rel=1e-10)


def test_a_silent_term_has_no_path():
    """Where the hinge lies at its healthy value there is no path, and nothing divides by zero."""
    named, scale = double(perturb(stack_weights([0]))), skips(1.0, dtype=torch.float64)
    assert (measure.term_path(flatten(named), TOKENS, scale, SHAPE, "hinge", 0.0, 0.1)["qkv"] == 0).all()
