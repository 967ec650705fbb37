"""Theorem 1 sampled: what is drawn is what the theorem speaks of, and known ends of the curve."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from rankcollapse import drawn_maps
from rankcollapse.drawn_maps import Drawing

FULL = Drawing(tokens=32, width=24, head_size=16, token_rank=24, product_rank=1)
LOW = replace(FULL, token_rank=2)


def generator(seed: int = 0) -> torch.Generator:
    """A generator of its own."""
    return torch.Generator().manual_seed(seed)


def test_tokens_have_their_rank_and_size():
    """Full rank is Gaussian, low rank has that many singular values; entries have variance one in both."""
    for drawing, rank in ((FULL, 24), (LOW, 2), (replace(FULL, token_rank=40), 24)):
        tokens = drawn_maps.draw_tokens(drawing, 200, generator())
        sigma = torch.linalg.svdvals(tokens)
        assert (sigma[:, :rank] > 1e-3).all() and (sigma[:, rank:] < 1e-10).all()
        assert tokens.square().mean().item() == pytest.approx(1, abs=0.06)


def test_products_have_equal_singular_values():
    """k of them are one, the rest zero; strength multiplies the logits by c sqrt(K) / sqrt(K)."""
    left, right = drawn_maps.draw_product(replace(FULL, product_rank=3), 5, generator())
    sigma = torch.linalg.svdvals(left @ right.transpose(1, 2))
    assert torch.allclose(sigma[:, :3], torch.ones(5, 3, dtype=torch.float64)) and (sigma[:, 3:] < 1e-12).all()
    tokens, product = drawn_maps.draw_tokens(FULL, 2, source := generator(4)), drawn_maps.draw_product(FULL, 2, source)
    whole = 7 * FULL.head_size**0.5 * product[0] @ product[1].transpose(1, 2)  # singular value c sqrt(K)
    logits = tokens @ whole @ tokens.transpose(1, 2) / FULL.head_size**0.5
    assert torch.allclose(drawn_maps.draw_maps(FULL, 7.0, 2, generator(4)), logits.softmax(-1))


def test_a_causal_map_sees_no_key_ahead():
    """Nothing above the diagonal; the same draw without the mask is its rows, normalised anew."""
    free, masked = (drawn_maps.draw_maps(replace(LOW, causal=flag), 2.0, 3, generator(1)) for flag in (False, True))
    lower = free.tril()
    assert torch.allclose(masked, lower / lower.sum(-1, keepdim=True)) and (masked.triu(1) == 0).all()


@pytest.mark.parametrize("causal", [False, True])
def test_the_ends_of_the_curve(causal):
    """Without strength maps are even, neither sparse nor low-rank in the sense of the modes; at very large strength a rank-one product
    leaves each row on one of two columns (the largest or the smallest coordinate): sparse and low-rank, whatever the rank of the tokens."""
    for drawing in (FULL, LOW):
        drawing = replace(drawing, causal=causal)
        weak, strong = drawn_maps.draw_curve(drawing, [0.0, 1e4], 60, generator())
        assert weak == {"benign": 0, "malignant": 0, "neither": 60}
        modes = drawn_maps.judge_drawn(drawing, 1e4, 60, generator(), low_rank=0.25)
        assert modes.malignant.double().mean() > 0.9 and strong["malignant"] + strong["benign"] > 54


def test_two_columns_of_a_rank_one_product():
    """Both ways and very strong: at most two keys have all the weight, so the relative stable rank is at most 2 / T."""
    maps = drawn_maps.draw_maps(FULL, 1e9, 50, generator())
    assert ((maps.sum(1) > 1e-6).sum(-1) <= 2).all()
    assert (drawn_maps.compute_map_rank(maps) <= 2 / FULL.tokens + 1e-9).all()


def test_a_product_of_full_rank_on_tokens_of_full_rank_is_not_low_rank():
    """With as many directions as tokens have, strong maps are sparse and benign; the same product on tokens of rank one is malignant."""
    wide = replace(FULL, tokens=64, width=64, token_rank=64, product_rank=64)
    spread = drawn_maps.judge_drawn(wide, 1e3, 40, generator()).count()
    narrow = drawn_maps.judge_drawn(replace(wide, token_rank=1), 1e3, 40, generator()).count()
    assert spread["malignant"] == 0 and spread["benign"] == 40 and narrow["malignant"] >= 38


def test_draws_depend_on_the_generator_alone(monkeypatch):
    """One seed, one result; another seed, another; draws that do not fit at once are drawn in parts, all of them."""
    drawing = replace(LOW, product_rank=2)
    one, same, other = (drawn_maps.judge_drawn(drawing, 30.0, 200, generator(seed)) for seed in (0, 0, 1))
    assert torch.equal(one.malignant, same.malignant) and not torch.equal(one.malignant, other.malignant)
    monkeypatch.setattr(drawn_maps, "DRAWN", 7 * drawing.tokens**2)
    assert len(drawn_maps.judge_drawn(drawing, 30.0, 200, generator()).benign) == 200


def test_power_iterations_fall_short_as_known():
    """128 by 128 after 1, 2, 3 and 10 iterations: 0.280, 0.146, 0.098 and 0.027; the more, the less."""
    short = drawn_maps.measure_shortfall(128, 128, (1, 2, 3, 10), 100, generator())
    assert short == pytest.approx([0.280, 0.146, 0.098, 0.027], abs=0.012) and short == sorted(short, reverse=True)
    assert drawn_maps.measure_shortfall(6, 1, (1,), 5, generator()) == pytest.approx([0], abs=1e-12)
