"""A network some updates after a switch, trained once more from saved weights, moments and data position: its rank and path there."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rankcollapse.engine import Setting, State
from rankcollapse.measure import Reading, gradient_path, read_refined


class Replayed(NamedTuple):
    """One network some updates after a switch."""

    updates: int
    state: State
    reading: Reading
    """As trajectories are measured, of this one model."""
    path: dict[str, torch.Tensor]
    """Task gradient norms (L, 1) in float64."""


def read_replayed(state: State, updates: int, skip: float, setting: Setting, probe_BT: torch.Tensor, tokens_BT: torch.Tensor) -> Replayed:
    """What a state some updates after a switch is, whoever trained them."""
    flat, scale = state.weights[None], torch.tensor([skip])
    path = gradient_path(flat.double(), tokens_BT, scale.double(), setting.shape)
    return Replayed(updates, state, read_refined(flat, probe_BT, scale, setting.shape), path)


def relative_error(replayed: float, logged: float) -> float:
    """How far a replayed rank is from the one its branch logged at the same step."""
    return abs(replayed / logged - 1)
