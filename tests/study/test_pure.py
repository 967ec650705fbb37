"""Pure attention: maps, residuals, ranks and hulls have the values that theory gives, and the counterexamples are ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from rankcollapse import measure, pure
from rankcollapse.pure_values import average


def tokens(seed: int, length: int = 8, width: int = 4) -> np.ndarray:
    """Gaussian tokens."""
    return np.random.default_rng(seed).standard_normal((length, width))


def test_maps_are_row_stochastic_and_causal():
    """Rows sum to one, nothing is negative, and causal maps look at no later token; two heads are not one."""
    heads = pure.draw_heads(np.random.default_rng(0), 4, 2)
    for causal in (False, True):
        maps = pure.attention_maps(tokens(1), heads, causal)
        assert maps.shape == (2, 8, 8) and np.abs(maps.sum(-1) - 1).max() < 1e-15 and maps.min() >= 0
        assert (np.triu(maps, 1) == 0).all() == causal
    assert not np.allclose(maps[0], maps[1])


def test_attention_is_the_formula_of_the_text():
    """One head: softmax(X Wq (X Wk)' / sqrt(d)) X Wv, written out token by token."""
    heads, x = pure.draw_heads(np.random.default_rng(0), 4), tokens(1)
    query, key, value = (part[0] for part in heads)
    for row, found in enumerate(pure.attend(x, heads)):
        weights = np.exp([(x[row] @ query) @ (other @ key) / 2 for other in x])
        assert found == pytest.approx(sum(weight * other @ value for weight, other in zip(weights / weights.sum(), x, strict=True)))


def test_ranks_and_residual_of_known_matrices():
    """KAT-1: squared singular values 8 and 2; measured as the networks of the main study are."""
    x = np.array([[2.0, 0], [-2, 0], [0, 1], [0, -1]])
    assert pure.compute_ranks(x + 5) == pytest.approx((1.25, 1.8898815748))
    assert pure.compute_ranks(np.ones((4, 2))) == (1.0, 1.0)
    assert pure.relative_residual(x) == 1.0 and pure.relative_residual(x + [1, 1]) == pytest.approx((10 / 18) ** 0.5)
    assert pure.composite_norm(x) == pytest.approx((4 * 2) ** 0.5)
    import torch

    drawn = tokens(3)
    both = (measure.compute_stable_rank(torch.tensor(drawn)[None]).item(), measure.compute_effective_rank(torch.tensor(drawn)[None]).item())
    assert pure.compute_ranks(drawn) == pytest.approx(both)
    assert pure.relative_residual(drawn) == pytest.approx(measure.compute_residual(torch.tensor(drawn)[None]).item())


def test_mean_cosine():
    """One for a cone that has closed, minus one for a pair of opposites, as the definition has it else."""
    assert pure.mean_cosine(np.outer([1.0, 2, 3], [1.0, 1])) == pytest.approx(1)
    assert pure.mean_cosine(np.array([[1.0, 0], [-3, 0]])) == pytest.approx(-1)
    x = tokens(0)
    pairs = [one @ other / np.linalg.norm(one) / np.linalg.norm(other) for i, one in enumerate(x) for j, other in enumerate(x) if i != j]
    assert pure.mean_cosine(x) == pytest.approx(np.mean(pairs))


def test_uniform_attention_without_a_mask_annihilates_the_residual():
    """KAT-5: one layer, whatever the tokens."""
    assert pure.relative_residual(average(tokens(0, 64, 16), 1, causal=False)[-1]) < 1e-14


def test_the_running_mean():
    """KAT-6: eigenvalues 1/k, the ramp for one half, ranks and residuals by layer to the digits known, and a contraction towards one half."""
    uniform, ramp = pure.uniform_map(256, causal=True), np.arange(256.0)
    assert np.sort(np.linalg.eigvals(pure.uniform_map(8, True)).real) == pytest.approx(1 / np.arange(8, 0, -1.0))
    assert uniform @ ramp == pytest.approx(ramp / 2)
    stack = average(tokens(0, 256, 8), 12)
    ranks = [pure.compute_ranks(x)[0] for x in stack]
    assert [round(rank, 2) for rank in ranks[:7]] == [5.90, 1.94, 1.22, 1.11, 1.09, 1.07, 1.04] and round(ranks[12], 4) == 1.0006
    residuals = [pure.relative_residual(x) for x in stack]
    assert [round(value, 3) for value in residuals[:7]] == [0.998, 0.813, 0.645, 0.485, 0.350, 0.259, 0.200] and round(residuals[12], 3) == 0.021
    assert round(round(residuals[12], 3) / round(residuals[11], 3), 2) == 0.62
    late = average(tokens(0, 256, 8), 40)
    assert pure.relative_residual(late[40]) / pure.relative_residual(late[39]) == pytest.approx(0.5, abs=1e-3)


def in_hull(point: np.ndarray, corners: np.ndarray) -> bool:
    """Whether a linear program writes a point as a convex combination of others."""
    found = linprog(np.zeros(len(corners)), A_eq=np.vstack([corners.T, np.ones(len(corners))]), b_eq=[*point, 1], bounds=(0, None))
    return found.status == 0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_the_tokens_stay_in_the_hull_of_their_values(seed, causal):
    """By a linear program: each token of the next layer is a convex combination; along any direction too; points outside are found by both."""
    heads, x = pure.draw_heads(np.random.default_rng([seed, 1]), 3), tokens(seed, 10, 3)
    outer, inner = x @ heads.value[0], pure.attend(x, heads, causal)
    directions = np.random.default_rng(seed).standard_normal((200, 3))
    assert all(in_hull(point, outer + 0) for point in inner[1:])
    assert pure.hull_excess(inner, outer, directions) <= 1e-12 and pure.hull_ratio(inner, outer, directions) <= 1 + 1e-12
    far = outer.mean(0) + 1.5 * (outer - outer.mean(0))
    assert not all(in_hull(point, outer) for point in far) and pure.hull_excess(far, outer, directions) > 0.01
    assert pure.hull_ratio(far, outer, directions) == pytest.approx(1.5)


def test_the_first_token_of_a_causal_layer_stays_at_its_corner():
    """Not strictly inside: with fewer tokens than dimensions each is a corner, and the first attends to itself alone; without a mask none does."""
    heads, x = pure.draw_heads(np.random.default_rng(0), 8), tokens(0, 5, 8)
    outer = x @ heads.value[0]
    to_first = outer[:1] - outer.mean(0)
    assert pure.hull_excess(pure.attend(x, heads, True), outer, np.linalg.pinv(pure.centre(outer)).T[:1]) == pytest.approx(0, abs=1e-12)
    assert (pure.attend(x, heads, True)[0] == outer[0]).all()
    assert pure.hull_excess(pure.attend(x, heads), outer, to_first) < -0.01


def test_a_skip_connection_bounds_no_rank():
    """A layer with a skip takes eight independent tokens to one and the same; the weights are finite, and other tokens it leaves apart."""
    x = tokens(0, 8, 32)
    heads = pure.erase(x)
    after = x + pure.attend(x, heads)
    assert np.linalg.matrix_rank(x) == 8 and np.linalg.matrix_rank(after) == 1 and pure.relative_residual(after) < 1e-12
    assert np.isfinite(heads.value).all()
    other = tokens(1, 8, 32)
    assert pure.relative_residual(other + pure.attend(other, heads)) > 0.1


def test_sharp_attention_does_not_collapse():
    """Bounded weights under which attention alone keeps its tokens apart for ever."""
    x = start = tokens(0, 16, 64)
    for _ in range(30):
        x = pure.attend(x, pure.sharp_heads(64, np.eye(64)))
    assert x == pytest.approx(start)
