"""The spectrum of query-key products and readings of attention: known answers, and agreement with products that are formed whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from kernels import needs_kernel
from networks import SETTING, SHAPE, draw_tokens, flatten, make_stack, perturb, stack_weights, stream_of, train
from test_measure import TOKENS, double, skips

from rankcollapse import measure, spectral
from rankcollapse.blocks import read_entropies
from rankcollapse.engine import Run
from rankcollapse.maps import compute_entropy, compute_map_rank
from rankcollapse.model import QUERY_KEY, Shape, attention_maps, attention_scores, block_weights, embed
from rankcollapse.schedule import constant

KINDS = [kind for kind in ("rms", "none", "l2", "clip") if kind in QUERY_KEY]
WIDE = Shape(depth=2, width=48, heads=2, context=6, vocabulary=13)
NAMES = ("sec_max", "sec_mean", "entropy_min", "entropy_mean", "map_rank_min", "sigma_max", "logit_max")


def test_concentration_by_hand():
    """KAT: singular values 4, 2, 1 have SEC 16/21 and 20/21 of one and two directions, whatever their order and size."""
    sigma = torch.tensor([[4.0, 2, 1], [1, 2, 4], [4e-30, 2e-30, 1e-30], [4e30, 2e30, 1e30]])
    for top, expected in ((1, 16 / 21), (2, 20 / 21), (3, 1.0)):
        assert spectral.compute_sec(sigma, top).tolist() == pytest.approx([expected] * 4, rel=1e-7)
    assert spectral.count_directions(sigma).tolist() == [2] * 4 and spectral.count_directions(sigma, 0.96).tolist() == [3] * 4
    assert spectral.count_directions(torch.ones(10)).item() == 9


def test_no_energy_and_no_number():
    """A product of zero is concentrated; one that is not finite has no SEC, and does not hide its neighbour's."""
    left = torch.randn(3, 5, 2, generator=torch.Generator().manual_seed(0))
    left[0], left[1, 0, 0] = 0, torch.nan
    sigma = spectral.multiply_spectra(left, left)
    assert sigma[0].tolist() == [0, 0] and sigma[1].isnan().all() and sigma[2].isfinite().all()
    sec = spectral.compute_sec(sigma, 1)
    assert sec[0] == 1 and sec[1].isnan() and 0.5 < sec[2] < 1 and spectral.count_directions(sigma)[0] == 1


def test_s_goes_with_the_head():
    """Ten of 64, at least one: rounded, half to even."""
    assert {size: spectral.count_top(size) for size in (2, 8, 16, 32, 64, 128)} == {2: 1, 8: 1, 16: 2, 32: 5, 64: 10, 128: 20}


@pytest.mark.parametrize("shape", [SHAPE, WIDE])
def test_spectra_are_those_of_the_whole_product(shape):
    """SEC and the top singular value, by block, model and head, of diag(g) W_q W_k^T diag(g) / sqrt(K) formed whole."""
    named = perturb(stack_weights([0, 1, 2], shape))
    found, size = spectral.read_spectra(flatten(named), ["none"] * 3, shape), shape.head_size
    assert found.sec.shape == (shape.depth, 3, shape.heads)
    for block in range(shape.depth):
        for model in range(3):
            gain, weight = (double(named)[f"block{block}.{name}"][model] for name in ("ln_attention", "qkv"))
            for head in range(shape.heads):
                columns = slice(head * size, (head + 1) * size)
                q, k = weight[:, : shape.width][:, columns], weight[:, shape.width : 2 * shape.width][:, columns]
                sigma = torch.linalg.svdvals(torch.diag(gain) @ q @ k.T @ torch.diag(gain))
                place, energy = (block, model, head), sigma.square()
                assert found.sec[place].item() == pytest.approx((energy[: spectral.count_top(size)].sum() / energy.sum()).item(), rel=1e-9)
                assert found.sigma[place].item() == pytest.approx(sigma[0].item() / size**0.5, rel=1e-9)
                held = energy.cumsum(0) / energy.sum()
                assert held[found.directions[place] - 1] >= 0.9 - 1e-12 and (found.directions[place] == 1 or held[found.directions[place] - 2] < 0.9)


def test_gains_and_learned_scales_belong_to_the_product():
    """Twice the gain is four times the product; a learned scale multiplies it, over the size of a head; SEC sees neither."""
    named = perturb(stack_weights([3]))
    plain = spectral.read_spectra(flatten(named), ["rms"], SHAPE)
    doubled = {name: 2 * weight if name.endswith("ln_attention") else weight for name, weight in named.items()}
    other = spectral.read_spectra(flatten(doubled), ["rms"], SHAPE)
    assert torch.allclose(other.sigma, 4 * plain.sigma) and torch.allclose(other.sec, plain.sec)
    learned = spectral.read_spectra(flatten(named), ["l2"], SHAPE)
    scale = torch.stack([double(named)[f"block{block}.qk_scale"] for block in range(SHAPE.depth)])
    assert torch.allclose(learned.sigma, plain.sigma * SHAPE.head_size**-0.5 * scale.abs()) and torch.equal(learned.sec, plain.sec)


def test_the_product_bounds_logits():
    """Without normalisation no logit exceeds sigma times the squared norm of a layer-normalised token, sqrt(D)."""
    named = perturb(stack_weights([0, 1]))
    heads = spectral.read_heads(flatten(named), TOKENS, skips(1.0, 1.0), ["none"] * 2, SHAPE)
    share = heads.maps.logit / (heads.spectra.sigma * SHAPE.width)
    assert (share <= 1 + 1e-6).all() and (share > 0.02).all()


def test_a_random_product():
    """Gaussian factors: the mean is reproducible, rises with s to 1, and lies far below that of one direction for wide heads."""
    draw = lambda *sizes, seed=0, **options: spectral.draw_sec(*sizes, torch.Generator().manual_seed(seed), **options)
    assert draw(64, 16) == draw(64, 16) != draw(64, 16, seed=1)
    assert draw(64, 16, top=1) < draw(64, 16) < draw(64, 16, top=15) < draw(64, 16, top=16) == pytest.approx(1)
    assert 0.2 < draw(64, 16, draws=400) < 0.4 and draw(4000, 4, draws=20, top=1) == pytest.approx(0.25, abs=0.02)


def test_untrained_heads_are_random_products():
    """At initialisation the mean SEC over heads is that of Gaussian factors: the value from which training sets out."""
    shape = Shape(depth=6, width=32, heads=4, context=6, vocabulary=13)
    sec = spectral.read_network(["sec_mean"], flatten(stack_weights(list(range(8)), shape)), TOKENS, skips(*[1.0] * 8), ["none"] * 8, shape)[
        "sec_mean"
    ]
    expected = spectral.draw_sec(32, 8, torch.Generator().manual_seed(0), draws=500)
    assert sec.mean().item() == pytest.approx(expected, abs=0.01) and 0.28 < expected < 0.33


@pytest.mark.parametrize("kind", KINDS)
def test_maps_are_those_of_each_block(kind):
    """Entropy, relative rank and top logit of every head, from maps at each block's own input in double precision."""
    named, skip = perturb(stack_weights([0, 1])), skips(0.7, 1.0)
    found, weights = spectral.read_maps(flatten(named), TOKENS, skip, [kind] * 2, SHAPE), double(named)
    batch = TOKENS[:, :-1].expand(2, -1, -1)
    inputs = [embed(weights, batch, SHAPE), stream_of(weights, batch, skip.double(), kind=kind)[0]]
    for index, x in enumerate(inputs):
        own = block_weights(weights, index)
        maps, scores = (compute(x, own, [kind] * 2, SHAPE, len(TOKENS)) for compute in (attention_maps, attention_scores))
        assert torch.allclose(found.entropy[index], compute_entropy(maps).mean(1), rtol=1e-5)
        assert torch.allclose(found.rank[index], compute_map_rank(maps).mean(1), rtol=1e-5)
        assert torch.allclose(found.logit[index], scores.amax((1, 3, 4)), rtol=1e-5)
    assert (found.benign + found.malignant <= 1).all()


def test_entropy_is_the_one_of_the_study():
    """The mean over heads is `read_entropies`, by rows."""
    flat = flatten(perturb(stack_weights([0, 1])))
    found = spectral.read_maps(flat.double(), TOKENS, skips(0.7, 1.0).double(), ["rms"] * 2, SHAPE)
    assert torch.allclose(found.entropy.mean(-1), read_entropies(flat, TOKENS, skips(0.7, 1.0), SHAPE).rows, rtol=1e-9)


def planted(kind: str) -> dict[str, torch.Tensor]:
    """A network whose first block attends to its own position (identity) or to the first one alone (column), in every head."""
    named, size = stack_weights([0]), SHAPE.head_size
    named["tokens"].zero_()
    positions = torch.linalg.qr(torch.randn(SHAPE.width, SHAPE.width, generator=torch.Generator().manual_seed(0))).Q[: SHAPE.context]
    named["positions"][0] = 10 * (positions - positions.mean(1, keepdim=True))
    shared = torch.nn.functional.layer_norm(named["positions"][0], (SHAPE.width,))
    basis = torch.linalg.pinv(shared)  # (D, T): turns a normalised row into one coordinate a position
    code = torch.nn.functional.one_hot(torch.arange(SHAPE.context), SHAPE.context).float()
    angle = torch.arange(SHAPE.context) * 2 * torch.pi / SHAPE.context
    circle = torch.stack([angle.cos(), angle.sin(), *[torch.zeros(SHAPE.context)] * (size - 2)], 1)
    query = circle if kind == "identity" else torch.ones(SHAPE.context, 1) * circle[:1]
    weight = named["block0.qkv"]
    for head in range(SHAPE.heads):
        weight[0, :, head * size : (head + 1) * size] = 40 * basis @ code @ query
        weight[0, :, SHAPE.width + head * size : SHAPE.width + (head + 1) * size] = 40 * basis @ code @ circle
    return named


@pytest.mark.parametrize(("kind", "mode", "rank"), [("identity", "benign", 1.0), ("column", "malignant", 1 / SHAPE.context)])
def test_planted_modes(kind, mode, rank):
    """A head that looks at itself is benign, one that looks at the first token alone malignant, on every sequence; sparse both."""
    low = {"low_rank": 0.2}  # at six tokens one column has 1 / 6
    heads = spectral.read_heads(flatten(planted(kind)), TOKENS, skips(1.0), ["none"], SHAPE)
    assert (heads.maps.entropy[0] < 1e-6).all() and heads.maps.rank[0, 0].tolist() == pytest.approx([rank] * 2, rel=1e-5)
    judged = spectral.judge_modes(heads.maps.entropy, heads.maps.rank, **low)
    assert {judged.name(0, 0, head) for head in range(SHAPE.heads)} == {mode}
    assert heads.modes.count()["benign"] + heads.modes.count()["neither"] + heads.modes.count()["malignant"] == SHAPE.depth * SHAPE.heads


def test_one_number_a_network():
    """Each reading is the extreme or the mean over blocks and heads, as its name says, whatever else is read with it."""
    flat, kinds = flatten(perturb(stack_weights([0, 1, 2]))), ["none", "rms", "l2"]
    (sec, _, sigma), maps = spectral.read_heads(flat, TOKENS, skips(1.0, 0.5, 0.3), kinds, SHAPE)
    expected = {
        "sec_max": sec.amax((0, 2)), "sec_mean": spectral.average(sec), "entropy_min": maps.entropy.amin((0, 2)), "entropy_mean": spectral.average(maps.entropy),
        "map_rank_min": maps.rank.amin((0, 2)), "sigma_max": sigma.amax((0, 2)), "logit_max": maps.logit.amax((0, 2)),
    }  # fmt: skip
    assert torch.allclose(expected["sec_mean"], sec.mean((0, 2))) and torch.allclose(expected["entropy_mean"], maps.entropy.mean((0, 2)))
    together = spectral.read_network(NAMES, flat, TOKENS, skips(1.0, 0.5, 0.3), kinds, SHAPE)
    assert set(together) == set(NAMES) == set(measure.NETWORK_READINGS)
    for name in NAMES:
        alone = spectral.read_network([name], flat, TOKENS, skips(1.0, 0.5, 0.3), kinds, SHAPE)
        assert torch.equal(together[name], expected[name]) and torch.equal(alone[name], together[name]), name
    assert spectral.read_network(["cosine"], flat, TOKENS, skips(1.0, 0.5, 0.3), kinds, SHAPE) == {}


def test_single_precision_is_kept_where_tokens_differ():
    """A healthy network's readings from float32 agree with a float64 pass; a collapsed one is read in float64 beside it."""
    named = perturb(stack_weights([0, 1]))
    coarse, fine = (
        measure.read_stack(flatten(named).to(kind), TOKENS, skips(1.0, 0.3, dtype=kind), SHAPE, ["none", "rms"], NAMES)
        for kind in (torch.float32, torch.float64)
    )
    for name in NAMES:
        assert coarse.extra[name] == pytest.approx(fine.extra[name], rel=1e-5), name
    refined = measure.read_refined(flatten(named), TOKENS, skips(1.0, 0.3), SHAPE, ["none", "rms"], ("gap", *NAMES))
    assert {name: refined.extra[name] for name in NAMES} == coarse.extra


def test_a_broken_network_reads_as_not_a_number():
    """Weights that are not finite give NaN and hide no neighbour."""
    flat = flatten(perturb(stack_weights([0, 1])))
    flat[0, :] = torch.nan
    found = spectral.read_network(NAMES, flat, TOKENS, skips(1.0, 1.0), ["none"] * 2, SHAPE)
    assert all(values[0].isnan() and values[1].isfinite() for values in found.values())


def test_runs_read_them():
    """A run may name them; what it reads at its end is what its last state has, and the runs beside it change no bit."""
    runs = [Run("a", 0, 4, measure_every=2, query_key="none", readings=NAMES), Run("b", 1, 4, constant(0.5), measure_every=2, readings=("gap",))]
    trajectory, state = train(runs)[0]
    assert set(trajectory.extra) == set(NAMES) and all(len(values) == len(trajectory.step) == 3 for values in trajectory.extra.values())
    tokens = draw_tokens(4, SHAPE.context + 1, seed=1)
    last = spectral.read_network(NAMES, state.weights[None], tokens, skips(1.0), ["none"], SHAPE)
    assert {name: values[-1] for name, values in trajectory.extra.items()} == {name: value.item() for name, value in last.items()}
    assert train(runs[:1])[0][0] == trajectory


@needs_kernel
def test_reading_changes_no_training():
    """A run that reads them ends with the bytes of one that does not."""
    plain = Run("a", 0, 4, measure_every=2, query_key="l2")
    one, other = train([plain])[0], train([replace(plain, readings=NAMES)])[0]
    assert torch.equal(one[1].weights, other[1].weights) and one[0].loss == other[0].loss
    assert make_stack([plain]).setting == SETTING
