"""Readings block by block: known answers, and agreement with a float64 forward pass in PyTorch."""

from __future__ import annotations

from math import factorial, log, sqrt

import numpy as np
import pytest
import torch
from networks import SHAPE, draw_tokens, flatten, leaf_forward, perturb, stack_weights, stream_of
from test_measure import BY_HAND, DEEP, TOKENS, collapsed_weights, double, skips, uneven

from rankcollapse import blocks, measure
from rankcollapse.model import Shape, attention_maps, block_weights, embed, token_losses
from rankcollapse.terms import compute_cosine, compute_q


def exact_spectrum(x_TD: torch.Tensor) -> tuple[float, float]:
    """Stable rank and Q from numpy's singular values of the centred matrix."""
    sigma = np.linalg.svd((x_TD - x_TD.mean(0)).numpy(), compute_uv=False)
    return float((sigma**2).sum() / sigma[0] ** 2), float(np.sqrt((sigma[1:] ** 2).sum()) / sigma[0])


def test_known_answers_by_hand():
    """KAT-1: Q 1/2, gap 1/2, mean squared cosine 1/3; the uncentred rank alone sees what all tokens share."""
    for shift in (0.0, 3.0):
        x = BY_HAND + shift
        assert blocks.compute_exact_q(x).item() == pytest.approx(0.5, abs=1e-12)
        assert measure.compute_gap(x).item() == pytest.approx(0.5, abs=1e-12)
        assert compute_cosine(x).item() == pytest.approx(1 / 3, abs=1e-12) == measure.READINGS["cosine"](x.float()).item()
    assert measure.compute_uncentred_rank(BY_HAND).item() == pytest.approx(1.25)
    shifted = np.linalg.svd(BY_HAND[0].numpy() + 30, compute_uv=False)
    expected = float((shifted**2).sum() / shifted[0] ** 2)
    assert measure.compute_uncentred_rank(BY_HAND + 30).item() == pytest.approx(expected) and expected < 1.01


@pytest.mark.parametrize("delta", [1e-2, 1e-3, 1e-4, 1e-5])
def test_exact_q_of_single_precision_matrices(delta):
    """KAT-3: all singular values in float64 and deflation in float32 have the same Q of a float32 matrix near rank one."""
    generator = torch.Generator().manual_seed(0)
    line, direction, noise = (torch.randn(*dims, generator=generator) for dims in ((256, 1), (1, 128), (256, 128)))
    x = (line @ direction + delta * noise)[None]
    assert blocks.compute_exact_q(x).item() == pytest.approx(exact_spectrum(x[0].double())[1], rel=1e-9)
    assert blocks.compute_exact_q(x).item() == pytest.approx(compute_q(x).item(), rel=max(1e-5, 1e-8 / delta))


def test_no_spread_and_no_number():
    """Equal tokens have Q and gap 0; a matrix that is not finite has no gap, rank or cosine, and does not hide its neighbour's."""
    equal = torch.ones(1, 5, 3)
    assert blocks.compute_exact_q(equal).item() == measure.compute_gap(equal).item() == 0
    broken = torch.cat([BY_HAND, BY_HAND])
    broken[0, 0, 0] = torch.nan
    for reading in ("gap", "uncentred_rank", "cosine"):
        values = measure.READINGS[reading](broken)
        assert values[0].isnan() and values[1].isfinite(), reading


def test_entropy_of_uniform_attention():
    """KAT-10 at 256 tokens: both row-wise normalisers give exactly 1 where the log of the context gives 0.8222638."""
    maps = torch.ones(256, 256, dtype=torch.float64).tril() / torch.arange(1, 257).view(-1, 1)
    assert [value.item() for value in blocks.normalise_entropy(maps)] == pytest.approx([1, 1], abs=1e-12)
    plain = torch.special.entr(maps).sum(-1)
    assert plain.sum().item() == pytest.approx(1167.2572785628802, rel=1e-12) == pytest.approx(log(factorial(256)), rel=1e-12)
    assert (plain.mean() / log(256)).item() == pytest.approx(0.8222638, abs=1e-7)


def test_the_two_normalisers_differ_on_other_maps():
    """Uniform over 2 of 2 and 2 of 3: (1 + ln 2 / ln 3) / 2 by rows, 2 ln 2 / (ln 2 + ln 3) by sums."""
    maps = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]], dtype=torch.float64)
    rows, sums = blocks.normalise_entropy(maps)
    assert rows.item() == pytest.approx((1 + log(2) / log(3)) / 2) and sums.item() == pytest.approx(2 * log(2) / (log(2) + log(3)))


ROWS = {
    "uniform": (torch.ones(8, 8, dtype=torch.float64).tril() / torch.arange(1, 9).view(-1, 1), 1.0),
    "one-hot on itself": (torch.eye(8, dtype=torch.float64), 0.0),
    "one-hot on the first": (torch.eye(8, dtype=torch.float64)[:1].expand(8, 8), 0.0),
}


@pytest.mark.parametrize("name", ROWS)
def test_entropy_of_known_maps(name):
    """KAT-10: uniform causal attention is 1 by both normalisers, one-hot attention is 0; the first row is left out."""
    maps, expected = ROWS[name]
    assert [value.item() for value in blocks.normalise_entropy(maps)] == pytest.approx([expected] * 2, abs=1e-12)


def test_entropies_by_block():
    """Each block is read at its own input: the embeddings for the first, the stream after block l for the next; without queries it is at 1."""
    named, skip = perturb(stack_weights([0, 1])), skips(0.7, 1.0).double()
    named["block1.qkv"][:, :, : 2 * SHAPE.width] = 0
    found, weights = blocks.read_entropies(flatten(named), TOKENS, skips(0.7, 1.0), SHAPE), double(named)
    batch, kinds = TOKENS[:, :-1].expand(2, -1, -1), ["rms"] * 2
    inputs = [embed(weights, batch, SHAPE), stream_of(weights, batch, skip)[0]]
    for index, x in enumerate(inputs):
        maps = attention_maps(x, block_weights(weights, index), kinds, SHAPE, len(TOKENS))
        rows = torch.special.entr(maps).sum(-1)[..., 1:] / torch.arange(2, SHAPE.context + 1).log()
        assert torch.allclose(found.rows[index], rows.flatten(1).mean(1), rtol=1e-6)
    assert torch.allclose(found.rows[1], torch.ones(2, dtype=torch.float64)) and (found.rows[0] < 0.999).all()


def residual_scaling(alpha: float, layers: int, q: float = 1.0, p: float = 0.2) -> tuple[float, float]:
    """Relative residual after uniform attention with a skip, x <- x + alpha * mean(x) W, W a turn by 90 degrees in each plane;
    and the same from KAT-8's closed form, where 1 - cos = residual^2."""
    turn = torch.block_diag(*[torch.tensor([[0.0, 1], [-1, 0]], dtype=torch.float64)] * 4)
    x = torch.zeros(4, 8, dtype=torch.float64)
    x[:, 0] = sqrt(p)
    x[:, 1:4] = sqrt((q - p) / 3) * torch.tensor([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=torch.float64)
    for _ in range(layers):
        x = x + alpha * x.mean(0) @ turn
    cosine = 1 - (q - p) / (q + ((1 + alpha**2) ** layers - 1) * p)
    return measure.compute_residual(x[None]).item(), cosine


@pytest.mark.parametrize(("alpha", "expected"), [(1.0, 0.99993897), (0.25, 0.39740237)])
def test_residual_scaling(alpha, expected):
    """KAT-8: 16 layers of uniform attention leave cosines of 0.99993897 at alpha 1 and 0.39740237 at alpha 1/4."""
    residual, cosine = residual_scaling(alpha, 16)
    assert cosine == pytest.approx(expected, abs=1e-8) and 1 - residual**2 == pytest.approx(cosine, abs=1e-11)


PROBES = {"healthy": (1.0, 1.0, 1e-2, 1.0), "partly": (0.03, 3e-2, 1e-4, 1e-2), "collapsed": (0.0, 0.0, 1e-12, 1e-4)}
"""Skip scale, noise on the embeddings (at 1: on all weights), and the bounds of the residual after the last block."""


@pytest.mark.parametrize("kind", PROBES)
def test_rank_and_q_are_those_of_a_double_forward(kind):
    """After every block, from float32 weights: rank and Q to 1e-6 of a float64 forward in PyTorch where the residual is above 1e-4,
    and below it what that forward gives to the digits it has, where a float32 forward gives something else."""
    skip, noise, low, high = PROBES[kind]
    named = perturb(stack_weights([0, 1], DEEP)) if noise == 1 else collapsed_weights(DEEP, (0, 1))
    for name in ("tokens", "positions"):
        named[name] += noise % 1 * torch.randn(named[name].shape, generator=torch.Generator().manual_seed(3))
    found = blocks.read_blocks(flatten(named), TOKENS, skips(skip, skip), DEEP)
    assert low < found.residual[-1].min() and found.residual[-1].max() < high and not found.at_floor.any()
    stream = torch.stack(stream_of(double(named), TOKENS[:, :-1].expand(2, -1, -1), skips(skip, skip).double(), DEEP))
    matrices = stream.view(DEEP.depth, 2, len(TOKENS), DEEP.context, DEEP.width)
    for block in range(DEEP.depth):
        for model in range(2):
            rank, q = np.mean([exact_spectrum(x) for x in matrices[block, model]], axis=0)
            residual = found.residual[block, model].item()
            tolerance = 1e-6 if residual > 1e-4 else 1e-14 / (residual * q)
            assert (found.rank[block, model].item(), found.q[block, model].item()) == pytest.approx((rank, q), rel=tolerance)
    fine, coarse = (measure.read_stack(flatten(named).to(kind), TOKENS, skips(skip, skip).to(kind), DEEP) for kind in (torch.float64, torch.float32))
    assert found.rank[-1].tolist() == pytest.approx(fine.rank, rel=1e-9) and found.residual[-1].tolist() == pytest.approx(fine.residual, rel=1e-9)
    worst = max(abs(one / other - 1) for one, other in zip(coarse.rank, fine.rank, strict=True))
    assert worst < 1e-6 if kind == "healthy" else worst > 1e-3 if kind == "collapsed" else True


def test_at_floor_where_double_precision_ends():
    """A block after which all tokens are one and the same is at floor, and the blocks of another network are not."""
    named = {name: torch.cat([a, b]) for (name, a), b in zip(collapsed_weights().items(), perturb(stack_weights([1], DEEP)).values(), strict=True)}
    named["tokens"][0], named["positions"][0] = torch.linspace(-1, 1, DEEP.width), 0
    found = blocks.read_blocks(flatten(named), TOKENS, skips(0.0, 1.0), DEEP)
    assert found.at_floor[:, 0].all() and not found.at_floor[:, 1].any()


def test_one_sequence_at_floor_is_enough():
    """Where the tokens of one sequence are all alike its block is at floor, however far apart those of the others are."""
    named, tokens = uneven()
    named["tokens"][0, :12], named["positions"][:] = torch.linspace(-1, 1, DEEP.width), 0
    found = blocks.read_blocks(flatten(named), tokens, skips(0.0), DEEP)
    assert found.at_floor[0, 0] and found.residual[0, 0] > 1e-3 and not blocks.read_blocks(flatten(named), tokens[:1], skips(0.0), DEEP).at_floor[0, 0]


def test_task_reading_is_the_gradient_at_the_skip_scale_asked_for():
    """Loss, norm over all weights and norms per block, against autograd in PyTorch; another skip scale gives others."""
    named, scale = double(perturb(stack_weights([0, 1]))), skips(0.3, 0.02, dtype=torch.float64)
    leaves, stream, batch = leaf_forward(named, TOKENS, scale, SHAPE)
    losses = token_losses(leaves, stream[-1], batch[..., 1:])
    grads = dict(zip(leaves, torch.autograd.grad(losses.sum(), list(leaves.values()), allow_unused=True), strict=True))
    task = blocks.read_task(flatten(named), TOKENS, scale, SHAPE)
    assert torch.allclose(task.loss, losses)
    for model in range(2):
        whole = sqrt(sum(grad[model].square().sum().item() for grad in grads.values() if grad is not None))
        assert task.gradient_norm[model].item() == pytest.approx(whole, rel=1e-10)
    assert torch.allclose(task.path["v"][1], grads["block1.qkv"][..., 2 * SHAPE.width :].flatten(1).norm(dim=1))
    assert (blocks.read_task(flatten(named), TOKENS, skips(1.0, 1.0), SHAPE).gradient_norm / task.gradient_norm - 1).abs().min() > 1e-2


def test_the_predictor_is_the_mean_of_the_middle_two():
    """An even number of blocks: torch.median would take the lower of the two; the order of blocks does not matter."""
    norms = torch.tensor([[4.0, 1.0], [1.0, 1.0], [2.0, 9.0], [8.0, 3.0]])
    assert blocks.compute_predictor(norms).tolist() == [3.0, 2.0] and norms.median(0).values.tolist() == [2.0, 1.0]
    assert blocks.compute_predictor(norms.flip(0)).tolist() == [3.0, 2.0] and blocks.compute_predictor(norms[:3]).tolist() == [2.0, 1.0]
    named, scale = perturb(stack_weights([0, 1])), skips(0.3, 0.1)
    qk = measure.gradient_path(flatten(named).double(), TOKENS, scale.double(), SHAPE)["qk"]
    assert blocks.read_predictor(flatten(named), TOKENS, scale, SHAPE).tolist() == pytest.approx(qk.mean(0).tolist(), rel=1e-12)


def test_single_precision_loses_the_gradient_of_a_collapse():
    """The cosine between precisions is 1 where tokens differ; where they hardly do, float32 has a larger gradient in another direction."""
    healthy = blocks.read_noise(flatten(perturb(stack_weights([1], DEEP))), TOKENS, skips(1.0), DEEP)
    assert (healthy.cosine > 1 - 1e-6).all() and torch.allclose(healthy.single, healthy.double, rtol=1e-4)
    named = collapsed_weights(seeds=(1,))
    for index in range(DEEP.depth):
        named[f"block{index}.qkv"][..., : 2 * DEEP.width] = 0.3 * torch.randn(DEEP.width, 2 * DEEP.width, generator=torch.Generator().manual_seed(index))
    collapsed = blocks.read_noise(flatten(named), TOKENS, skips(0.0), DEEP)
    assert (collapsed.cosine.abs() < 0.9).all() and (collapsed.single > 3 * collapsed.double).all()
    for name in ("tokens", "positions"):
        named[name] += 0.1 * torch.randn(named[name].shape, generator=torch.Generator().manual_seed(7))
    assert (blocks.read_noise(flatten(named), TOKENS, skips(0.0), DEEP).cosine[:2] > 1 - 1e-4).all()


def test_a_gradient_at_adams_epsilon():
    """At epsilon 1e-8 the norm is 1.81e-6 for width 128, 9.1e-7 for width 64."""
    assert blocks.epsilon_norm(1e-8, 128) == pytest.approx(1.81e-6, rel=1e-3) and blocks.epsilon_norm(1e-8, 64) == pytest.approx(9.1e-7, rel=1e-2)


def test_other_shapes():
    """One block, one sequence and one head go through every reading."""
    shape = Shape(1, 8, 1, 6, 13)
    flat, tokens = flatten(stack_weights([0], shape)), draw_tokens(1, 7)
    assert blocks.read_blocks(flat, tokens, skips(0.5), shape).rank.shape == (1, 1)
    assert blocks.read_noise(flat, tokens, skips(0.5), shape).cosine.shape == blocks.read_entropies(flat, tokens, skips(0.5), shape).rows.shape == (1, 1)
