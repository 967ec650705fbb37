"""Attention with a scaled skip connection as a sum over paths: X' = a X + sum over heads of P X W, unrolled over the layers.

A path takes in each layer either the skip, times a, or one head; C(L, k) H^k of the (1 + H)^L paths have length k (Dong et al. 2021, section 2.2;
Veit et al. 2016). The maps P are those of the network itself, so that the sum is the network's output, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np

from rankcollapse.pure import Heads, attention_maps


class Traced(NamedTuple):
    """A network's output (T, D), and the attention maps (H, T, T) of each layer."""

    output: np.ndarray
    maps: list[np.ndarray]


def run_scaled(x_TD: np.ndarray, layers: Sequence[Heads], skip: float, causal: bool = False) -> Traced:
    """The network forwards."""
    maps = []
    for heads in layers:
        maps.append(attention_maps(x_TD, heads, causal))
        x_TD = skip * x_TD + (maps[-1] @ (x_TD @ heads.value)).sum(0)
    return Traced(x_TD, maps)


def count_paths(depth: int, heads: int) -> list[int]:
    """Paths by length, from 0 to the depth."""
    return [comb(depth, length) * heads**length for length in range(depth + 1)]


def mean_length(weights: Sequence[float]) -> float:
    """Mean length under weights by length."""
    return sum(length * weight for length, weight in enumerate(weights)) / sum(weights)


def walk_path(path: Sequence[int], x_TD: np.ndarray, layers: Sequence[Heads], maps: Sequence[np.ndarray], skip: float) -> np.ndarray:
    """What one path carries: 0 is a layer's skip, h its head number h."""
    for taken, heads, own in zip(path, layers, maps, strict=True):
        x_TD = own[taken - 1] @ x_TD @ heads.value[taken - 1] if taken else skip * x_TD
    return x_TD


def enumerate_paths(x_TD: np.ndarray, layers: Sequence[Heads], maps: Sequence[np.ndarray], skip: float) -> np.ndarray:
    """Sums (L + 1, T, D) of all paths by length, path by path."""
    sums = np.zeros((len(layers) + 1, *x_TD.shape))
    for path in product(range(len(layers[0].value) + 1), repeat=len(layers)):
        sums[sum(map(bool, path))] += walk_path(path, x_TD, layers, maps, skip)
    return sums


def sum_paths(x_TD: np.ndarray, layers: Sequence[Heads], maps: Sequence[np.ndarray], skip: float) -> np.ndarray:
    """The same sums layer by layer, for depths at which there are too many paths to go through."""
    sums = np.zeros((len(layers) + 1, *x_TD.shape))
    sums[0] = x_TD
    for heads, own in zip(layers, maps, strict=True):
        taken = (own[:, None] @ (sums @ heads.value[:, None])).sum(0)
        sums = skip * sums
        sums[1:] += taken[:-1]
    return sums


def weigh_lengths(sums_KTD: np.ndarray) -> np.ndarray:
    """Share of each length: Frobenius norm of the sum of its paths over the sum of those norms."""
    sizes = np.linalg.norm(sums_KTD, axis=(1, 2))
    return sizes / sizes.sum()
