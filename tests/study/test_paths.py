"""Paths through a network with a scaled skip connection: they add up to it, and their counts and weights are known."""

from __future__ import annotations

import numpy as np
import pytest

from rankcollapse import paths, pure


def draw(depth: int, heads: int, seed: int = 0):
    """Tokens and layers."""
    generator = np.random.default_rng(seed)
    return generator.standard_normal((6, 8)), [pure.draw_heads(generator, 8, heads) for _ in range(depth)]


@pytest.mark.parametrize("skip", [1.0, 0.3, 0.02, 0.0])
@pytest.mark.parametrize("heads", [1, 2])
def test_paths_add_up_to_the_network(skip, heads):
    """To 1e-13, walked one by one and summed layer by layer; with maps of another network they do not."""
    x, layers = draw(4, heads)
    output, maps = paths.run_scaled(x, layers, skip, causal=True)
    walked, summed = paths.enumerate_paths(x, layers, maps, skip), paths.sum_paths(x, layers, maps, skip)
    assert np.abs(walked.sum(0) - output).max() < 1e-13 * np.abs(output).max() and np.abs(walked - summed).max() < 1e-13
    _, strange = paths.run_scaled(x + 1, layers, skip, causal=True)
    assert np.abs(paths.sum_paths(x, layers, strange, skip).sum(0) - output).max() > 1e-4


def test_counts():
    """Two heads, two layers: 1, 4, 4; all paths together (1 + H)^L; centred at L/2 with one head alone."""
    assert paths.count_paths(2, 2) == [1, 4, 4] and sum(paths.count_paths(12, 4)) == 5**12
    assert paths.mean_length(paths.count_paths(12, 1)) == 6 and paths.mean_length(paths.count_paths(12, 3)) == 9


def test_lengths_at_the_ends():
    """Without skip the longest paths carry all; without attention the identity does, times the skip to the depth."""
    x, layers = draw(3, 2)
    alone = paths.sum_paths(x, layers, paths.run_scaled(x, layers, 0.0).maps, 0.0)
    assert paths.weigh_lengths(alone) == pytest.approx([0, 0, 0, 1])
    silent = [heads._replace(value=0 * heads.value) for heads in layers]
    kept = paths.sum_paths(x, silent, paths.run_scaled(x, silent, 0.5).maps, 0.5)
    assert kept[0] == pytest.approx(x / 8) and paths.weigh_lengths(kept) == pytest.approx([1, 0, 0, 0])


def test_a_path_is_a_product():
    """Skip, second head, first head: maps on the left in reverse order, weights on the right in order."""
    x, layers = draw(3, 2)
    maps = paths.run_scaled(x, layers, 0.5).maps
    found = paths.walk_path((0, 2, 1), x, layers, maps, 0.5)
    assert found == pytest.approx(0.5 * maps[2][0] @ maps[1][1] @ x @ layers[1].value[1] @ layers[2].value[0])
