"""QK-clip: heads whose largest logit is above the limit come down to it after a step, and no others."""

from __future__ import annotations

import pytest
import torch
from kernels import BACKENDS
from networks import SETTING, SHAPE, draw_tokens, make_stack

from rankcollapse.engine import Run, fresh_state
from rankcollapse.engine.optimisers import clip_heads
from rankcollapse.model import views
from rankcollapse.passes import TorchPass, run_forward


def logits_of(flat: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Largest logits (M, L, H) of networks whose queries and keys are not normalised."""
    models = len(flat)
    batch = tokens.expand(models, -1, -1)
    return run_forward(flat, batch, torch.ones(models), ["clip"] * models, SHAPE).top_logits(torch.ones(models, dtype=torch.bool))


def test_clip_by_hand():
    """A largest logit of 400 under a limit of 100: query and key weights are halved, the next largest logit is 100; others keep their bits."""
    flat = torch.stack([fresh_state(seed, SETTING).weights for seed in range(2)])
    logits = torch.full((2, SHAPE.depth, SHAPE.heads), 99.0)
    logits[1, 0, 1] = 400.0
    before = views(flat.clone(), SHAPE)
    clip_heads(flat, logits, torch.full((2,), 100.0), SHAPE)
    size = SHAPE.head_size
    expected = before["block0.qkv"].clone()
    for start in (size, SHAPE.width + size):
        expected[1, :, start : start + size] *= 0.5
    after = views(flat, SHAPE)
    assert torch.equal(after["block0.qkv"], expected)
    assert all(torch.equal(after[name], before[name]) for name in before if name != "block0.qkv")


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_the_next_largest_logit_is_the_limit(backend):
    """At a quarter of a head's largest logit as the limit, that head's largest logit on the same tokens becomes the limit exactly."""
    flat, tokens = fresh_state(0, SETTING, gain=3.0).weights[None].clone(), draw_tokens(3, SHAPE.context + 1)
    top = logits_of(flat, tokens)
    limit = top[0, 0, 0] / 4
    clip_heads(flat, top, limit[None], SHAPE)
    after = logits_of(flat, tokens)
    assert after[0, 0, 0] == limit and after[0, 0, 1] <= limit * (1 + 1e-5)


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_largest_logits_are_those_of_seen_keys(backend):
    """As from the maps' own formula, in every block and head, and minus infinity for a run that does not ask."""
    flat = torch.stack([fresh_state(seed, SETTING).weights for seed in range(3)])
    tokens, kinds = draw_tokens(3, 2, SHAPE.context + 1), ["clip", "rms", "clip"]
    asked = torch.tensor([True, False, True])
    found = run_forward(flat, tokens, torch.ones(3), kinds, SHAPE).top_logits(asked)
    expected = TorchPass(flat.double(), tokens, torch.ones(3, dtype=torch.float64), kinds, SHAPE, "float32").top_logits(asked)
    assert (found[1] == -torch.inf).all()
    assert (found[[0, 2]].double() - expected[[0, 2]]).abs().max() < 1e-5 * expected[[0, 2]].abs().max()
    hidden = 0
    for model in (0, 2):
        named, size = views(flat[model : model + 1].double(), SHAPE), SHAPE.head_size
        x = named["tokens"][0][tokens[model, :, :-1]] + named["positions"][0][: SHAPE.context]
        q, k, _ = (torch.nn.functional.layer_norm(x, (SHAPE.width,), eps=1e-6) @ named["block0.qkv"][0]).chunk(3, -1)
        for head, (queries, keys) in enumerate(zip(q.split(size, -1), k.split(size, -1), strict=True)):
            scores = queries @ keys.transpose(1, 2) / size**0.5
            seen = scores[:, torch.ones(SHAPE.context, SHAPE.context, dtype=torch.bool).tril()].max()
            assert found[model, 0, head].item() == pytest.approx(seen.item(), rel=1e-5)
            hidden += (scores.max() > seen).item()
    assert hidden


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_clip_acts_after_the_step(backend):
    """A step is that of a run without treatment, whose heads are then scaled by what the step's own batch showed; a high limit changes no bit."""
    treated = [Run(f"clip/{limit}", 2, 1, query_key="clip", logit_limit=limit) for limit in (0.05, 1e9)]
    stack = make_stack([*treated, Run("none", 2, 1, query_key="none")])
    top = logits_of(stack.flat[:1], stack.batches()[0])
    assert (top > 0.05).any()
    stack.step()
    expected = stack.flat[2:].clone()
    clip_heads(expected, top, torch.tensor([0.05]), SHAPE)
    assert torch.allclose(stack.flat[0], expected[0], rtol=1e-6, atol=0) and not torch.equal(stack.flat[0], stack.flat[2])
    assert torch.equal(stack.flat[1], stack.flat[2])
