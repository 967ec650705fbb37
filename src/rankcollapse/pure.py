"""Self-attention alone, untrained: maps and layers, how far its tokens are from being one and the same, and the hull that they stay in.

Token matrices are (T, D) in float64, as X' = sum over heads of P X W, P = softmax(X Wq Wk' X' / sqrt(K)) (Dong, Cordonnier and Loukas 2021).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FLOOR = 100 * float(np.finfo(np.float64).eps)
"""Relative residual under which what tells the tokens apart is rounding error, so that a rank is the rounding's."""


class Heads(NamedTuple):
    """Weights of one layer: query and key (H, D, K), and value times output (H, D, D)."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray

    @property
    def bilinear(self) -> np.ndarray:
        """The matrices (H, D, D) between two tokens, 1 / sqrt(K) included."""
        return self.query @ self.key.transpose(0, 2, 1) / np.sqrt(self.query.shape[2])


def draw_heads(generator: np.random.Generator, width: int, heads: int = 1) -> Heads:
    """Gaussian weights under which scores and outputs of unit tokens have unit variance."""
    query, key = (generator.standard_normal((heads, width, width // heads)) / np.sqrt(width) for _ in range(2))
    return Heads(query, key, generator.standard_normal((heads, width, width)) / np.sqrt(width * heads))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Row by row."""
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def attention_maps(x_TD: np.ndarray, heads: Heads, causal: bool = False) -> np.ndarray:
    """The row-stochastic matrices (H, T, T); causal ones look at no later token."""
    scores = (x_TD @ heads.query) @ (x_TD @ heads.key).transpose(0, 2, 1) / np.sqrt(heads.query.shape[2])
    return softmax(np.where(np.tri(len(x_TD), dtype=bool), scores, -np.inf) if causal else scores)


def attend(x_TD: np.ndarray, heads: Heads, causal: bool = False) -> np.ndarray:
    """One layer of attention, without anything beside it."""
    return (attention_maps(x_TD, heads, causal) @ (x_TD @ heads.value)).sum(0)


def uniform_map(tokens: int, causal: bool = False) -> np.ndarray:
    """Every visible token with one weight (T, T); causal: the running mean, with eigenvalues 1/k (KAT-6)."""
    seen = np.tri(tokens) if causal else np.ones((tokens, tokens))
    return seen / seen.sum(1, keepdims=True)


def centre(x_TD: np.ndarray) -> np.ndarray:
    """Tokens without their mean."""
    return x_TD - x_TD.mean(0)


def composite_norm(x_TD: np.ndarray) -> float:
    """sqrt(|X|_1 |X|_inf), largest column sum and row sum of sizes, in which the theorem is stated (no norm: the triangle inequality fails)."""
    sizes = np.abs(x_TD)
    return float(np.sqrt(sizes.sum(0).max() * sizes.sum(1).max()))


def composite_residual(x_TD: np.ndarray) -> float:
    """Composite norm of the centred tokens over that of the tokens."""
    return composite_norm(centre(x_TD)) / composite_norm(x_TD)


def relative_residual(x_TD: np.ndarray) -> float:
    """Frobenius norm of the centred tokens over that of the tokens."""
    return float(np.linalg.norm(centre(x_TD)) / np.linalg.norm(x_TD))


def compute_ranks(x_TD: np.ndarray) -> tuple[float, float]:
    """Stable rank, and effective rank (Roy and Vetterli 2007), of the centred tokens, whatever their size; 1 and 1 without any spread."""
    sigma = np.linalg.svd(centre(x_TD), compute_uv=False)
    if not sigma[0]:
        return 1.0, 1.0
    share = sigma / sigma.sum()
    share = share[share > 0]
    return float((sigma**2).sum() / sigma[0] ** 2), float(np.exp(-(share * np.log(share)).sum()))


def mean_cosine(x_TD: np.ndarray) -> float:
    """Mean cosine between different tokens, not centred: 1 in a cone that has closed."""
    unit = x_TD / np.linalg.norm(x_TD, axis=1, keepdims=True)
    tokens = len(unit)
    return float((np.sum(unit.sum(0) ** 2) - tokens) / (tokens * (tokens - 1)))


def hull_excess(inner_TD: np.ndarray, outer_SD: np.ndarray, directions_KD: np.ndarray) -> float:
    """How far points reach out of a convex hull along the worst of some directions, in widths of the hull: not above 0 for points inside.

    A convex set lies in another exactly if its support function nowhere exceeds the other's.
    """
    inner, outer = inner_TD @ directions_KD.T, outer_SD @ directions_KD.T
    return float(((inner.max(0) - outer.max(0)) / np.ptp(outer, axis=0)).max())


def hull_ratio(inner_TD: np.ndarray, outer_SD: np.ndarray, directions_KD: np.ndarray) -> float:
    """Width of the one hull over that of the other, along the worst of some directions."""
    return float((np.ptp(inner_TD @ directions_KD.T, axis=0) / np.ptp(outer_SD @ directions_KD.T, axis=0)).max())


def sharp_heads(width: int, value_DD: np.ndarray, sharpness: float = 40.0) -> Heads:
    """One head in which every token sees next to nothing but itself where tokens are long and far apart; its weights are bounded, and large."""
    return Heads(np.eye(width)[None] * sharpness, np.eye(width)[None], value_DD[None])


def erase(x_TD: np.ndarray) -> Heads:
    """A layer under which X + attention(X) is one and the same token, for tokens fewer than their width: a skip connection bounds no rank."""
    width = x_TD.shape[1]
    to_one = np.linalg.pinv(x_TD) @ np.ones((len(x_TD), 1)) @ np.ones((1, width))
    return sharp_heads(width, to_one - np.eye(width))
