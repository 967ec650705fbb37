"""Tiny networks for the tests of the study: shapes, settings, token batches and runs that take milliseconds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

from rankcollapse import text
from rankcollapse.engine import Run, Setting, Stack, State, Trajectory, train_stack
from rankcollapse.model import Shape, initialise, residual_stream, views
from rankcollapse.params import Optimiser

SHAPE = Shape(depth=2, width=8, heads=2, context=6, vocabulary=13)
RULE = Optimiser(learning_rate=2e-3, beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.1, clip=1.0)
SETTING = Setting(SHAPE, RULE, batch=3, init_std=0.3, healthy_q=1.5)


def draw_tokens(*dims: int, seed: int = 0, vocabulary: int = SHAPE.vocabulary) -> torch.Tensor:
    """Random tokens of these dimensions."""
    return torch.randint(vocabulary, dims, generator=torch.Generator().manual_seed(seed))


def stack_weights(seeds: list[int], shape: Shape = SHAPE, std: float = 0.3, dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    """Named weights of the networks with these seeds, stacked."""
    return views(torch.stack([initialise(shape, seed, std) for seed in seeds]).to(dtype), shape)


def perturb(named: dict[str, torch.Tensor], seed: int = 9) -> dict[str, torch.Tensor]:
    """The same weights plus noise, so that gains are not one and models of one seed differ."""
    generator = torch.Generator().manual_seed(seed)
    return {name: weight + 0.2 * torch.randn(weight.shape, generator=generator).to(weight.dtype) for name, weight in named.items()}


def flatten(named: dict[str, torch.Tensor]) -> torch.Tensor:
    """Named weights as one flat tensor (M, P)."""
    return torch.cat([weight.flatten(1) for weight in named.values()], 1)


def stream_of(named, tokens_MBT: torch.Tensor, skip_M: torch.Tensor, shape: Shape = SHAPE, kind: str = "rms") -> list[torch.Tensor]:
    """The residual stream in PyTorch, all models with one treatment of queries and keys."""
    return residual_stream(named, tokens_MBT, skip_M, [kind] * len(skip_M), shape)


def leaf_forward(named, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape = SHAPE):
    """A forward pass in PyTorch from leaf copies of the weights: the leaves, the stacked residual stream, and the batch (M, B, T+1)."""
    leaves = {name: weight.detach().clone().requires_grad_() for name, weight in named.items()}
    batch = tokens_BT.expand(len(skip_M), -1, -1)
    return leaves, torch.stack(stream_of(leaves, batch[..., :-1], skip_M, shape)), batch


def make_stream(tokens: int = 2000, seed: int = 0) -> np.ndarray:
    """A training stream of random tokens."""
    return draw_tokens(tokens, seed=seed).numpy().astype(np.uint16)


def make_stack(runs: list[Run], setting: Setting = SETTING) -> Stack:
    """A stack on the random stream, with a probe batch of four sequences."""
    return Stack(runs, setting, make_stream(), draw_tokens(4, setting.shape.context + 1, seed=1))


def train(runs: list[Run], setting: Setting = SETTING) -> list[tuple[Trajectory, State]]:
    """Train runs to their end, in this process."""
    return train_stack(make_stack(runs, setting))


def same_state(one: State, other: State) -> bool:
    """Whether two networks at rest agree bit for bit."""
    return one.step == other.step and all(same_bits(getattr(one, part), getattr(other, part)) for part in ("weights", "moment1", "moment2"))


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same bytes; NaN equals itself."""
    return one.numpy().tobytes() == other.numpy().tobytes()


def write_data(folder: Path, tokens: int = 6000, vocabulary: int = 257) -> Path:
    """A prepared data folder whose tokens repeat a pattern of ten with noise: 8 shares of training, 1 of probe, 1 unseen."""
    generator = np.random.default_rng(0)
    noise = generator.integers(0, vocabulary, tokens)
    stream = np.where(generator.random(tokens) < 0.3, noise, np.arange(tokens) % 10 * 7).astype(np.uint16)
    ends = [tokens * share // 10 for share in range(1, 11)]
    spans = text.describe_spans({"train": 0.8, "probe": 0.1, "unseen": 0.1}, [0, 8, 9, 10], ends, [1] * 10)
    tokeniser = SimpleNamespace(file="vocabulary.json", data=b"{}", size=vocabulary, end_of_text=vocabulary - 1)
    text.write_stream(folder, stream, tokeniser, spans)
    return folder
