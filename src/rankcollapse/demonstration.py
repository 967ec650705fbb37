"""The numerical demonstration of the text on pure attention, with its own seed: what it prints, and what of that is above rounding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankcollapse.apart import follow_apart
from rankcollapse.pure import FLOOR, Heads, attend, compute_ranks, relative_residual
from rankcollapse.untrained import Mlp

SEED, TOKENS, WIDTH, LAYERS = 42, 64, 128, 20


def normalise_rms(x_TD: np.ndarray) -> np.ndarray:
    """The script's root-mean-square normalisation."""
    return x_TD / (np.sqrt(np.mean(x_TD**2, axis=-1, keepdims=True)) + 1e-6)


def draw_script(seed: int, layers: int) -> tuple[np.ndarray, Iterator[tuple[Heads, Mlp]]]:
    """Tokens and weights in the order in which the script draws them."""
    state = np.random.RandomState(seed)

    def draw(rows: int, columns: int) -> np.ndarray:
        return state.randn(rows, columns) / np.sqrt(rows)

    def draw_all() -> Iterator[tuple[Heads, Mlp]]:
        for _ in range(layers):
            heads = Heads(*(draw(WIDTH, WIDTH)[None] for _ in range(3)))
            yield heads, Mlp(draw(WIDTH, 4 * WIDTH), draw(4 * WIDTH, WIDTH))

    return state.randn(TOKENS, WIDTH), draw_all()


class Shown(NamedTuple):
    """By layer, the input first: effective rank of pure attention as printed, its relative residual, whether that is rounding, its effective
    rank with mean and differences held apart; and the rank of the transformer, as printed."""

    pure: list[float]
    residual: list[float]
    at_floor: list[bool]
    apart: list[float]
    block: list[float]


def run_script(seed: int = SEED, layers: int = LAYERS) -> Shown:
    """The script, and beside it the same attention with mean and differences apart."""
    x, drawn = draw_script(seed, layers)
    layers_drawn = list(drawn)
    pure = [x]
    for heads, _ in layers_drawn:
        pure.append(attend(pure[-1], heads))
    residual = [relative_residual(each) for each in pure]
    return Shown(
        pure=[compute_ranks(each)[1] for each in pure],
        residual=residual,
        at_floor=[value < FLOOR for value in residual],
        apart=[compute_ranks(each.shape)[1] for each in follow_apart(x, [heads for heads, _ in layers_drawn])],
        block=[compute_ranks(each)[1] for each in run_transformer(x, layers_drawn)],
    )


def run_transformer(x_TD: np.ndarray, layers: list[tuple[Heads, Mlp]]) -> Iterator[np.ndarray]:
    """The script's block: both sub-layers normalised before and added to the skip connection."""
    yield x_TD
    for heads, mlp in layers:
        x_TD = x_TD + attend(normalise_rms(x_TD), heads)
        x_TD = x_TD + mlp.apply(normalise_rms(x_TD))
        yield x_TD
