"""The stacked decoder: causal, equal to its members alone, and initialised from a seed and nothing else."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest
import torch
import torch.nn.functional as F
from networks import SHAPE, draw_tokens, perturb, same_bits, stack_weights, stream_of

from rankcollapse import model
from rankcollapse.model import block_weights, embed, initialise, token_losses, views

PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-12)]


def run(named, tokens_MBT, skips):
    """The last block's residual stream, with the skip scales in the weights' precision."""
    return stream_of(named, tokens_MBT, torch.tensor(skips, dtype=named["tokens"].dtype), SHAPE)[-1]


@pytest.mark.parametrize("changed", range(SHAPE.context))
def test_a_token_changes_no_output_before_it(changed):
    """Changing token t leaves the outputs before t as they are to the last bit, and changes the output at t."""
    named = perturb(stack_weights([3]))
    tokens = draw_tokens(1, 2, SHAPE.context)
    other = tokens.clone()
    other[..., changed] = (other[..., changed] + 1) % SHAPE.vocabulary
    before, after = (run(named, batch, [1.0]).view(2, SHAPE.context, -1) for batch in (tokens, other))
    assert same_bits(before[:, :changed].contiguous(), after[:, :changed].contiguous())
    assert ((before[:, changed:] - after[:, changed:]).abs().amax(-1) > 1e-4).all()


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
def test_stacked_equals_single(dtype, tolerance):
    """Each network of a stack has the stream, losses and gradients that it has alone."""
    skips, tokens = [1.0, 0.02, 0.5], draw_tokens(3, 2, SHAPE.context + 1)
    stacked = {name: weight.requires_grad_() for name, weight in perturb(stack_weights([0, 1, 2], dtype=dtype)).items()}
    losses = token_losses(stacked, run(stacked, tokens[..., :-1], skips), tokens[..., 1:])
    gradients = torch.autograd.grad(losses.sum(), list(stacked.values()), allow_unused=True)
    for index in range(3):
        alone = {name: weight[index : index + 1].detach().clone().requires_grad_() for name, weight in stacked.items()}
        own = tokens[index : index + 1]
        loss = token_losses(alone, run(alone, own[..., :-1], skips[index : index + 1]), own[..., 1:])
        assert torch.allclose(loss[0], losses[index], rtol=tolerance, atol=0)
        for name, grad, single in zip(alone, gradients, torch.autograd.grad(loss.sum(), list(alone.values()), allow_unused=True), strict=True):
            assert grad is single is None and name.endswith("qk_scale") or (grad[index] - single[0]).norm() <= tolerance * single.norm(), name


def test_permuting_models_permutes_results():
    """A network's result follows it to another place of the stack."""
    order, skips = torch.tensor([2, 0, 1]), torch.tensor([1.0, 0.1, 0.5])
    named, tokens = perturb(stack_weights([0, 1, 2])), draw_tokens(3, 2, SHAPE.context)
    moved = stream_of({name: weight[order] for name, weight in named.items()}, tokens[order], skips[order], SHAPE)[-1]
    assert torch.allclose(moved, stream_of(named, tokens, skips, SHAPE)[-1][order], rtol=1e-5, atol=1e-6)


def test_without_branches_a_block_multiplies_by_the_skip_scale_twice():
    """With the projections into the stream at zero, a block is x -> a^2 x: identity at 1, zero at 0."""
    named = perturb(stack_weights([0, 0, 0], dtype=torch.float64))
    for index in range(SHAPE.depth):
        named[f"block{index}.attention_out"].zero_()
        named[f"block{index}.mlp_out"].zero_()
    tokens = draw_tokens(1, 2, SHAPE.context).expand(3, -1, -1)
    start = embed(named, tokens, SHAPE)
    for depth, stream in enumerate(stream_of(named, tokens, torch.tensor([1.0, 0.3, 0.0], dtype=torch.float64), SHAPE), start=1):
        assert torch.allclose(stream, start * torch.tensor([1.0, 0.3, 0.0], dtype=torch.float64).view(3, 1, 1) ** (2 * depth), atol=1e-15)


def reference(named, tokens_BT, skip):
    """One network written out plainly: explicit gains, an explicit mask, one head at a time."""
    gain = lambda x, weight: F.layer_norm(x, x.shape[-1:], weight=weight, eps=model.EPSILON_NORM)  # noqa: E731
    length, size = tokens_BT.shape[1], SHAPE.width // SHAPE.heads
    x = named["tokens"][0][tokens_BT] + named["positions"][0][:length]
    for index in range(SHAPE.depth):
        own = {name: weight[0] for name, weight in block_weights(named, index).items()}
        parts = (gain(x, own["ln_attention"]) @ own["qkv"]).chunk(3, -1)
        mixed = []
        for head in range(SHAPE.heads):
            q, k, v = (part[..., head * size : (head + 1) * size] for part in parts)
            q, k = (y / (y.square().mean(-1, keepdim=True) + model.EPSILON_NORM).sqrt() for y in (q, k))
            scores = (q @ k.mT / sqrt(size)).masked_fill(torch.ones(length, length).triu(1).bool(), float("-inf"))
            mixed.append(scores.softmax(-1) @ v)
        x = skip * x + torch.cat(mixed, -1) @ own["attention_out"]
        x = skip * x + F.gelu(gain(x, own["ln_mlp"]) @ own["mlp_in"]) @ own["mlp_out"]
    return x, gain(x, named["ln_final"][0]) @ named["tokens"][0].T


@pytest.mark.parametrize("skip", [1.0, 0.3, 0.0])
def test_equals_the_network_written_out(skip):
    """Folded gains, fused attention and tied embeddings give the plain formula's stream and cross-entropy (float64)."""
    named, tokens = perturb(stack_weights([5], dtype=torch.float64)), draw_tokens(2, SHAPE.context + 1)
    stream, logits = reference(named, tokens[:, :-1], skip)
    last = run(named, tokens[None, :, :-1], [skip])
    assert torch.allclose(last.view_as(stream), stream, rtol=1e-12, atol=1e-13)
    expected = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    assert torch.allclose(token_losses(named, last, tokens[None, :, 1:])[0], expected, rtol=1e-12)


def test_attention_maps_are_those_the_block_uses():
    """The maps that entropy is read from, times the values, give what the block's attention adds to the stream."""
    named, tokens = perturb(stack_weights([5], dtype=torch.float64)), draw_tokens(1, 2, SHAPE.context)
    own, x = block_weights(named, 0), embed(named, tokens, SHAPE)
    own["mlp_out"] = torch.zeros_like(own["mlp_out"])
    maps = model.attention_maps(x, own, ["rms"], SHAPE, 2)[0]
    values = model.heads(model.project(model.normalise(x), own["qkv"], own["ln_attention"]), own["qk_scale"], ["rms"], SHAPE, 2)[2]
    added = (maps @ values).transpose(1, 2).reshape(1, -1, SHAPE.width) @ own["attention_out"]
    one_skip = model.block_step(x, own, torch.ones(1, dtype=torch.float64), ["rms"], SHAPE, 2)
    assert torch.allclose(one_skip - x, added, atol=1e-13)


def test_embeddings_are_tied():
    """The token embedding's gradient comes from input and output: unused tokens get one through the softmax."""
    named = {name: weight.requires_grad_() for name, weight in stack_weights([0]).items()}
    tokens = draw_tokens(1, 1, SHAPE.context + 1)
    loss = token_losses(named, run(named, tokens[..., :-1], [1.0]), tokens[..., 1:]).sum()
    gradient = torch.autograd.grad(loss, named["tokens"])[0][0]
    unused = [token for token in range(SHAPE.vocabulary) if token not in tokens]
    assert unused and (gradient[unused].norm(dim=1) > 0).all()
    assert SHAPE.size == SHAPE.vocabulary * 8 + SHAPE.context * 8 + SHAPE.depth * (12 * 8 * 8 + 2 * 8 + 2) + 8


def test_initialisation_depends_on_the_seed_alone():
    """Seed 0 is a seed like others: the same weights twice, whatever the global generator, and not those of seed 1."""
    torch.manual_seed(1)
    first = initialise(SHAPE, 0, 0.02)
    torch.manual_seed(2)
    assert same_bits(first, initialise(SHAPE, 0, 0.02))
    assert (first - initialise(SHAPE, 1, 0.02)).norm() > 0.5 * first[: SHAPE.matrices].norm()


def test_initial_spread():
    """Weights have the given deviation, projections into the stream 1 / sqrt(2 L) of it, gains are one."""
    shape = replace(SHAPE, width=64, heads=2, vocabulary=300, depth=8)
    for name, weight in views(initialise(shape, 0, 0.02)[None], shape).items():
        kind = name.rpartition(".")[2]
        if kind.startswith("ln"):
            assert (weight == 1).all()
        elif weight.numel() > 4000:
            assert weight.std().item() == pytest.approx(0.02 / (4 if kind in ("attention_out", "mlp_out") else 1), rel=0.05), name


def test_views_alias_the_flat_tensor():
    """Names cover the flat tensor without gap or overlap, matrices before gains, and writing to one writes to it."""
    flat = torch.zeros(2, SHAPE.size)
    for weight in views(flat, SHAPE).values():
        weight += 1
    assert (flat == 1).all()
    views(flat, SHAPE)["block1.qkv"][1] = 7
    assert (flat[1] == 7).sum() == 8 * 24 and (flat[0] == 1).all()
    decayed = {name for name, weight in views(flat, SHAPE).items() if weight.storage_offset() < SHAPE.matrices}
    assert decayed == {name for name in SHAPE.parameters() if not name.rpartition(".")[2].startswith(("ln", "qk_scale"))}
