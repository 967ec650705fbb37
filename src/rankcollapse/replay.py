"""The first updates after a switch once more, from saved weights, moments and data position, to see rank and path on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from audit.records import Refusal
from rankcollapse.engine import Run, Setting, Stack, State, train_stack
from rankcollapse.measure import Reading, gradient_path, read_refined
from rankcollapse.schedule import constant


class Replayed(NamedTuple):
    """One network some updates after a switch."""

    updates: int
    state: State
    reading: Reading
    """As trajectories are measured, of this one model."""
    path: dict[str, torch.Tensor]
    """Task gradient norms (L, 1) in float64."""


def replay_switches(
    origins: dict[str, State],
    skip: float,
    updates: Sequence[int],
    setting: Setting,
    train: np.ndarray,
    probe_BT: torch.Tensor,
    tokens_BT: torch.Tensor,
) -> dict[str, list[Replayed]]:
    """Continue every named state at a skip scale; what it is after each of so many updates.

    `train` is the training span, of which a state's step gives the place. Rank is read on `probe` as trajectories are, paths on `tokens`.
    """
    runs = [Run(name, 0, max(updates), constant(skip), measure_every=max(updates), origin=state) for name, state in origins.items()]
    keep = {name: [state.step + number for number in updates] for name, state in origins.items()}
    stack = Stack(runs, setting, train, probe_BT, keep)
    results = train_stack(stack)
    lost = [run.name for run, (trajectory, _) in zip(runs, results, strict=True) if trajectory.diverged_at is not None]
    if lost:
        raise Refusal(f"replay at {skip:g}", "a network diverged", observed=", ".join(lost))
    return {
        run.name: [read_replayed(stack.kept[row, run.start + number], number, skip, setting, probe_BT, tokens_BT) for number in updates]
        for row, run in enumerate(runs)
    }


def read_replayed(state: State, updates: int, skip: float, setting: Setting, probe_BT: torch.Tensor, tokens_BT: torch.Tensor) -> Replayed:
    """What a state some updates after a switch is, whoever trained them."""
    flat, scale = state.weights[None], torch.tensor([skip])
    path = gradient_path(flat.double(), tokens_BT, scale.double(), setting.shape)
    return Replayed(updates, state, read_refined(flat, probe_BT, scale, setting.shape), path)


def relative_error(replayed: float, logged: float) -> float:
    """How far a replayed rank is from the one its branch logged at the same step."""
    return abs(replayed / logged - 1)
