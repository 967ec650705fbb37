"""Untrained networks around self-attention: with an MLP, a skip connection, normalisation, or all of them; the same attention weights in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from rankcollapse.pure import FLOOR, Heads, attend, composite_residual, compute_ranks, draw_heads, relative_residual


@dataclass(frozen=True)
class Variant:
    """What stands beside attention."""

    skip: bool = False
    mlp: Literal["gelu", "swiglu"] | None = None
    norm: Literal["pre", "post"] | None = None
    level: bool = False
    """All tokens by one factor to unit root mean square before the MLP: without that a gate squares small tokens, and they vanish."""


VARIANTS = {
    "attention": Variant(),
    "gelu": Variant(mlp="gelu", level=True),
    "swiglu": Variant(mlp="swiglu", level=True),
    "skip": Variant(skip=True),
    "block": Variant(skip=True, mlp="gelu"),
    "pre": Variant(skip=True, mlp="gelu", norm="pre"),
    "post": Variant(skip=True, mlp="gelu", norm="post"),
}
DEEP = ("pre", "post")
"""Those that are followed to a large depth too."""


def gelu(z: np.ndarray) -> np.ndarray:
    """In the form of the text: 0.5 z (1 + tanh(sqrt(2 / pi) (z + 0.044715 z^3)))."""
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z * z * z)))


def swish(z: np.ndarray) -> np.ndarray:
    """z / (1 + exp(-z)), without overflow."""
    return z * 0.5 * (1 + np.tanh(z / 2))


def hidden_width(kind: str, width: int) -> int:
    """4 d, or 8/3 d with a gate: as many weights, 8 d^2, either way (rounded to a whole width)."""
    return 4 * width if kind == "gelu" else round(8 * width / 3)


class Mlp(NamedTuple):
    """Weights of one feed-forward layer, without biases; `gate` (D, F) of SwiGLU alone."""

    up: np.ndarray
    down: np.ndarray
    gate: np.ndarray | None = None

    def apply(self, x_TD: np.ndarray) -> np.ndarray:
        """Token by token."""
        hidden = gelu(x_TD @ self.up) if self.gate is None else swish(x_TD @ self.up) * (x_TD @ self.gate)
        return hidden @ self.down


def draw_mlp(generator: np.random.Generator, width: int, kind: str) -> Mlp:
    """Gaussian weights under which products with unit entries have unit variance."""
    inner = hidden_width(kind, width)
    up, down = generator.standard_normal((width, inner)) / np.sqrt(width), generator.standard_normal((inner, width)) / np.sqrt(inner)
    return Mlp(up, down, generator.standard_normal((width, inner)) / np.sqrt(width) if kind == "swiglu" else None)


def normalise(x_TD: np.ndarray) -> np.ndarray:
    """Layer normalisation without gains."""
    centred = x_TD - x_TD.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-12)


def run_layer(x_TD: np.ndarray, heads: Heads, mlp: Mlp | None, variant: Variant, causal: bool) -> np.ndarray:
    """Attention, then the MLP where there is one."""
    x_TD = run_part(x_TD, lambda y: attend(y, heads, causal), variant)
    if mlp is None:
        return x_TD
    return run_part(x_TD / np.sqrt(np.mean(x_TD**2)) if variant.level else x_TD, mlp.apply, variant)


def run_part(x_TD: np.ndarray, part: Callable[[np.ndarray], np.ndarray], variant: Variant) -> np.ndarray:
    """One sub-layer with its skip connection and normalisation."""
    moved = part(normalise(x_TD) if variant.norm == "pre" else x_TD)
    out = x_TD + moved if variant.skip else moved
    return normalise(out) if variant.norm == "post" else out


def draw_tokens(seed: int, tokens: int, width: int) -> np.ndarray:
    """Gaussian token matrix (T, D) of a draw."""
    return np.random.default_rng([seed, 0, tokens]).standard_normal((tokens, width))


def draw_layers(seed: int, width: int, depth: int, kind: str | None = None) -> Iterator[tuple[Heads, Mlp | None]]:
    """A draw's layers, one after the other; attention does not depend on whether there is an MLP."""
    attention, feeding = (np.random.default_rng([seed, stream]) for stream in (1, 2))
    for _ in range(depth):
        yield draw_heads(attention, width), draw_mlp(feeding, width, kind) if kind else None


def run_stack(x_TD: np.ndarray, seed: int, variant: Variant, depth: int, causal: bool) -> Iterator[np.ndarray]:
    """The tokens as they come in and after every layer, depth + 1 matrices."""
    yield x_TD
    for heads, mlp in draw_layers(seed, x_TD.shape[1], depth, variant.mlp):
        x_TD = run_layer(x_TD, heads, mlp, variant, causal)
        yield x_TD


class Course(NamedTuple):
    """By layer, the input first: relative residual in the composite and in the Frobenius norm, stable and effective rank (None at floor)."""

    composite: list[float]
    residual: list[float]
    stable: list[float | None]
    effective: list[float | None]


def follow_stack(seed: int, tokens: int, width: int, variant: Variant, depth: int, causal: bool) -> Course:
    """One draw of a network, layer by layer."""
    course = Course([], [], [], [])
    for x in run_stack(draw_tokens(seed, tokens, width), seed, variant, depth, causal):
        residual = relative_residual(x)
        ranks = (None, None) if residual < FLOOR else compute_ranks(x)
        for values, value in zip(course, (composite_residual(x), residual, *ranks), strict=True):
            values.append(value)
    return course


def attention_share(kind: str, width: int) -> float:
    """Share of a block's weights that attention holds: four matrices d x d beside the MLP's, biases, norms and embeddings left out."""
    attention, inner = 4 * width * width, hidden_width(kind, width)
    return attention / (attention + (2 if kind == "gelu" else 3) * width * inner)
