"""Swaps of weight groups, and what is left of the tokens: position."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from networks import SHAPE, flatten, perturb, stack_weights
from test_measure import DEEP, TOKENS, collapsed_weights, skips

from rankcollapse import positions, swaps
from rankcollapse.blocks import read_predictor
from rankcollapse.model import Shape, views
from rankcollapse.terms import centre

LATE, EARLY = (flatten(perturb(stack_weights([seed]), seed))[0] for seed in (1, 2))


def test_groups_divide_the_weights():
    """Every weight of a network lies in exactly one group, at any shape."""
    for shape in (SHAPE, DEEP, Shape(1, 6, 3, 4, 9)):
        masks = torch.stack([swaps.mask_group(shape, group) for group in swaps.GROUPS])
        assert masks.shape == (len(swaps.GROUPS), shape.size) and (masks.sum(0) == 1).all() and masks.any(1).all()


HOLDS = {
    "embeddings": ("tokens", "positions"),
    "value_output": ("block0.attention_out", "block1.attention_out"),
    "mlp": ("block0.mlp_in", "block1.mlp_in", "block0.mlp_out", "block1.mlp_out"),
    "norm_gains": ("block0.ln_attention", "block0.ln_mlp", "block1.ln_attention", "block1.ln_mlp", "ln_final"),
    "query_key": ("block0.qk_scale", "block1.qk_scale"),
}


@pytest.mark.parametrize("group", swaps.GROUPS)
def test_a_swap_changes_its_group_alone(group):
    """The group's weights are the donor's and all others stay; of the attention input, queries and keys go apart from values."""
    swapped, late, early = (views(flat[None], SHAPE) for flat in (swaps.swap_group(LATE, EARLY, SHAPE, group), LATE, EARLY))
    for name in swapped:
        if name.endswith("qkv"):
            for columns, owner in ((slice(0, 2 * SHAPE.width), "query_key"), (slice(2 * SHAPE.width, None), "value_output")):
                source = early if owner == group else late
                assert torch.equal(swapped[name][..., columns], source[name][..., columns])
        else:
            assert torch.equal(swapped[name], (early if name in HOLDS[group] else late)[name]), name


def test_swaps_read_the_predictor():
    """`none` is the network's own, `all` the donor's, a group's that of the swapped network; swapping one after another ends at the donor."""
    found = swaps.read_swaps(LATE, EARLY, TOKENS, 0.3, SHAPE)
    at = skips(0.3, dtype=torch.float64)
    assert set(found) == {"none", "all", *swaps.GROUPS, "embeddings_mlp"}
    assert found["none"] == read_predictor(LATE[None], TOKENS, at, SHAPE).item() != found["all"] == read_predictor(EARLY[None], TOKENS, at, SHAPE).item()
    moving = LATE
    for group in swaps.GROUPS:
        assert found[group] == read_predictor(swaps.swap_group(LATE, EARLY, SHAPE, group)[None], TOKENS, at, SHAPE).item()
        moving = swaps.swap_group(moving, EARLY, SHAPE, group)
    assert torch.equal(moving, EARLY) and len(set(found.values())) == len(found)
    together = swaps.swap_group(swaps.swap_group(LATE, EARLY, SHAPE, "mlp"), EARLY, SHAPE, "embeddings")
    assert found["embeddings_mlp"] == read_predictor(together[None], TOKENS, at, SHAPE).item()


def test_which_groups_restore():
    """Within a factor of three of the donor's, on either side; none where the network was there without a swap."""
    found = {"none": 1e-3, "all": 3e-2, "embeddings": 1.1e-2, "value_output": 8.9e-2, "mlp": 9.1e-2, "norm_gains": 0.9e-2, "query_key": 1e-3}
    assert swaps.restoring_groups(found) == ("embeddings", "value_output")
    assert swaps.restoring_groups(found | {"none": 2e-2}) == () and swaps.restoring_groups(found, 1.01) == ()


def ramp_network() -> torch.Tensor:
    """Weights whose last block holds a ramp in position: the embeddings of positions grow along one direction, attention adds nothing."""
    named = collapsed_weights()
    for name, weight in named.items():
        if name.endswith(("attention_out", "mlp_out")):
            weight.zero_()
    named["tokens"][:] = torch.linspace(-1, 1, DEEP.width)
    named["positions"][:] = torch.arange(DEEP.context).view(1, -1, 1) ** 3 * 1e-3 * torch.linspace(1, 0, DEEP.width)
    return flatten(named)[0]


COUNTS = np.arange(13) % 5


def test_a_ramp_is_found_and_its_control_is_not():
    """Cubed positions: rank correlation 1 in every sequence, Pearson below it; a random network has less, whatever the sign of u1."""
    ramp = positions.read_order(ramp_network(), TOKENS, 1.0, DEEP, COUNTS)
    assert ramp.spearman == pytest.approx(np.ones(4)) and (ramp.pearson < 0.95).all() and (ramp.pearson > 0.8).all()
    assert (ramp.pearson_log < ramp.pearson).all() and not ramp.at_floor and (ramp.frequency < 1).all()
    healthy = positions.read_order(flatten(perturb(stack_weights([3], DEEP)))[0], TOKENS, 1.0, DEEP, COUNTS)
    assert np.median(healthy.spearman) < 0.9


def test_u1_is_that_of_double_precision():
    """Against numpy's singular vectors of float64 token matrices, up to sign."""
    x = torch.randn(3, 9, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for u, matrix in zip(positions.top_positions(x), centre(x), strict=True):
        assert abs(u @ np.linalg.svd(matrix.numpy())[0][:, 0]) == pytest.approx(1, abs=1e-12)


def test_the_rival_is_the_frequency_of_a_positions_token():
    """Where the tokens alone differ, by how often they occur, u1 goes with frequency and not with position; ties are at mid-ranks."""
    named = collapsed_weights()
    for name, weight in named.items():
        if name.endswith(("attention_out", "mlp_out")):
            weight.zero_()
    named["positions"].zero_()
    named["tokens"][:] = torch.linspace(-1, 1, DEEP.width) + 1e-3 * torch.tensor(COUNTS).view(1, -1, 1) * torch.linspace(1, 0, DEEP.width)
    found = positions.read_order(flatten(named)[0], TOKENS, 1.0, DEEP, COUNTS)
    assert found.frequency == pytest.approx(np.ones(4), abs=0.1) and np.median(found.spearman) < 0.9


def test_correlations_of_what_does_not_vary():
    """A constant has correlation 0 instead of NaN, and equal tokens are at floor."""
    assert positions.correlate("spearmanr", np.ones(4), np.arange(4)) == 0
    assert positions.correlate("spearmanr", np.array([3.0, 2, 1]), np.arange(3)) == 1
    assert positions.correlate("spearmanr", np.array([1.0, 1, 2, 3]), np.array([1, 2, 3, 4])) == pytest.approx(0.9486832980505138)
    named = collapsed_weights()
    named["tokens"][:], named["positions"][:] = torch.linspace(-1, 1, DEEP.width), 0
    found = positions.read_order(flatten(named)[0], TOKENS, 0.0, DEEP, COUNTS)
    assert found.at_floor and np.isfinite(np.concatenate(found[:4])).all()
