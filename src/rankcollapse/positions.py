"""Whether the direction that is left of the tokens is their position: the top left singular vector of the last block, per sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
import torch

from rankcollapse.measure import FLOOR_FACTOR, compute_residual, per_sequence
from rankcollapse.model import Shape
from rankcollapse.passes import run_last
from rankcollapse.terms import centre


class Order(NamedTuple):
    """How u1 of each sequence (B,) goes with position and with the training frequency of its tokens: sizes of correlations, signs dropped."""

    spearman: np.ndarray
    pearson: np.ndarray
    pearson_log: np.ndarray
    frequency: np.ndarray
    """Spearman with the frequency of the position's own token: the rival explanation."""
    at_floor: bool
    """Whether a sequence's residual is rounding error, so that its u1 is one too."""


def top_positions(x_ETD: torch.Tensor) -> np.ndarray:
    """u1 (E, T): left singular vectors of the largest singular values of centred token matrices, in float64."""
    return torch.linalg.svd(centre(x_ETD).double(), full_matrices=False).U[..., 0].numpy()


def correlate(statistic: str, one: np.ndarray, other: np.ndarray) -> float:
    """Size of a correlation of `scipy.stats`, ties at mid-ranks; 0 where one of the two is constant."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return abs(float(getattr(scipy.stats, statistic)(one, other).statistic))


def read_order(weights_P: torch.Tensor, tokens_BT: torch.Tensor, skip: float, shape: Shape, frequency_V: np.ndarray) -> Order:
    """Correlations of one network's last block on a probe batch (B, T+1), from a float64 forward pass.

    `frequency` counts each token of the vocabulary in the training span.
    """
    last, _ = run_last(weights_P.double()[None], tokens_BT[None], torch.tensor([skip], dtype=torch.float64), ["rms"], shape)
    matrices = per_sequence(last, len(tokens_BT))
    position = np.arange(1, matrices.shape[1] + 1)
    rows = []
    for u, tokens in zip(top_positions(matrices), tokens_BT[:, :-1].numpy(), strict=True):
        pairs = (("spearmanr", position), ("pearsonr", position), ("pearsonr", np.log(position)), ("spearmanr", frequency_V[tokens]))
        rows.append([correlate(statistic, u, other) for statistic, other in pairs])
    floor = bool((compute_residual(matrices) < FLOOR_FACTOR * torch.finfo(torch.float64).eps).any())
    return Order(*np.array(rows).T, floor)
