"""Pure attention below the rounding of its tokens: their mean and their differences held apart, and the same in many digits.

With X = 1 x' + R the scores of a row are, but for a constant, x' B r_j + r_i' B r_j, so that P = 1 q' + D with D of second order in R, and the
residual of the next layer, (P - 1 q') R W, is of third order (Dong et al. 2021, section 2; KAT-4). Held apart, each keeps all its digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import log
from typing import Any, NamedTuple

import mpmath
import numpy as np

from audit.records import Refusal
from rankcollapse.pure import Heads, centre, composite_norm, softmax


class Apart(NamedTuple):
    """Tokens 1 mean' + exp(log_scale) shape, the shape (T, D) centred and of Frobenius norm one."""

    mean: np.ndarray
    shape: np.ndarray
    log_scale: float


def take_apart(x_TD: np.ndarray) -> Apart:
    """Mean and differences of tokens that still have some."""
    return rescale(x_TD.mean(0), centre(x_TD), 0.0)


def rescale(mean_D: np.ndarray, shape_TD: np.ndarray, log_scale: float) -> Apart:
    """With the size of the differences in the scale."""
    size = float(np.linalg.norm(shape_TD))
    return Apart(mean_D, shape_TD / size, log_scale + log(size))


def attend_apart(tokens: Apart, heads: Heads) -> Apart:
    """One layer of one head that sees every token; exact to rounding however small the differences are."""
    mean, shape, log_scale = tokens
    scale, between, value = np.exp(log_scale), heads.bilinear[0], heads.value[0]
    shared = softmax(scale * (shape @ (between.T @ mean)))
    second = shape @ between @ shape.T
    exponent = scale**2 * second
    grown = second * np.where(np.abs(exponent) < 1e-16, 1.0, np.expm1(exponent) / np.where(exponent == 0, 1.0, exponent))
    common = grown @ shared
    differing = shared * (grown - common[:, None]) / (1 + scale**2 * common)[:, None]
    mean = (mean + scale * (shared @ shape + scale**2 * differing.mean(0) @ shape)) @ value
    return rescale(mean, centre(differing @ shape @ value), 3 * log_scale)


def follow_apart(x_TD: np.ndarray, layers: Iterable[Heads]) -> Iterator[Apart]:
    """The tokens as they come in and after every layer."""
    tokens = take_apart(x_TD)
    yield tokens
    for heads in layers:
        tokens = attend_apart(tokens, heads)
        yield tokens


def follow_exact(x_TD: np.ndarray, layers: Sequence[Heads], digits: int) -> list[float]:
    """Natural log of the composite residual norm of the tokens as they come in and after every layer, plainly but in so many digits.

    Refusal where a residual comes near the digits, below which it would be rounding again.
    """
    with mpmath.workdps(digits):
        x = mpmath.matrix(x_TD.tolist())
        logs = [log_residual(x)]
        for heads in layers:
            x = attend_exact(x, heads)
            logs.append(log_residual(x))
    if min(logs) < -0.9 * digits * log(10):
        cure = "raise it, or follow fewer layers: a layer more asks for three times as many digits"
        raise Refusal("pure.digits", "a residual lies in the last of the digits", observed=str(digits), cure=cure)
    return logs


def attend_exact(x: Any, heads: Heads) -> Any:
    """One layer of one head on a matrix of mpmath."""
    query, key, value = (mpmath.matrix(part[0].tolist()) for part in heads)
    scores = (x * query) * (x * key).T / mpmath.sqrt(query.cols)
    raised = scores.apply(mpmath.exp)
    for row in range(raised.rows):
        total = mpmath.fsum(raised[row, column] for column in range(raised.cols))
        for column in range(raised.cols):
            raised[row, column] /= total
    return raised * (x * value)


def log_residual(x: Any) -> float:
    """Natural log of the composite norm of the centred rows of a matrix of mpmath."""
    means = [mpmath.fsum(x[row, column] for row in range(x.rows)) / x.rows for column in range(x.cols)]
    sizes = [[abs(x[row, column] - means[column]) for column in range(x.cols)] for row in range(x.rows)]
    columns, rows = (max(mpmath.fsum(line) for line in lines) for lines in (zip(*sizes, strict=True), sizes))
    return float(mpmath.log(columns * rows) / 2)


def local_slopes(logs: Sequence[float]) -> list[float]:
    """Slope of ln r(l+1) on ln r(l) between successive layers: 3 where a layer cubes the residual, 1 where it only shrinks it."""
    steps = [later - earlier for earlier, later in pairwise(logs)]
    return [later / earlier for earlier, later in pairwise(steps)]


def fit_slope(logs: Sequence[float]) -> float:
    """Least-squares slope of ln r(l+1) on ln r(l) over all layers."""
    return float(np.polyfit(logs[:-1], logs[1:], 1)[0])


def log_bounds(logs: Sequence[float], layers: Sequence[Heads]) -> list[float]:
    """The theorem's bound on ln r after each layer from ln r before it: ln(4 beta / sqrt(K)) + 3 ln r, beta = |Wq Wk'|_1 |W|_1,inf."""
    return [log_factor(heads) + 3 * before for before, heads in zip(logs, layers, strict=False)]


def log_factor(heads: Heads) -> float:
    """ln(4 beta / sqrt(K)) of one head; the 1 / sqrt(K) stands in the bilinear form."""
    return log(4 * float(np.abs(heads.bilinear[0]).sum(0).max()) * composite_norm(heads.value[0]))
