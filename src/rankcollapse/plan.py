"""What training costs before it is done: floating-point operations, bytes moved, and memory of a stack.

Operations are those of the matrix products (2 per multiplication and addition, backward twice the forward pass), bytes those that a step
must move through memory; a step takes at least the larger of both shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from audit.records import Refusal
from rankcollapse import kernel
from rankcollapse.engine import Setting
from rankcollapse.model import LOGITS, Shape
from rankcollapse.params import Scale
from rankcollapse.passes import kept_size

BACKGROUND = 300 * 2**20
"""Bytes of a process that has loaded PyTorch and the token stream."""


@dataclass(frozen=True)
class Processor:
    """What a device does in a second, at best, and how much it holds."""

    name: str
    flops: float
    bandwidth: float
    memory: float
    share: float
    """Of the best that small batched products reach."""


PROCESSORS = (
    Processor("A100 80 GB", 312e12, 2.0e12, 80e9, 0.25),
    Processor("H100 80 GB", 989e12, 3.35e12, 80e9, 0.2),
    Processor("H200 141 GB", 989e12, 4.8e12, 141e9, 0.2),
    Processor("L4 24 GB", 121e12, 0.3e12, 24e9, 0.25),
)
"""Dense bf16 tensor-core rate and memory bandwidth from the makers' data sheets; the share is an estimate until `benchmarks/gpu.py` has measured it."""


def count_flops(shape: Shape, batch: int) -> float:
    """Operations of the matrix products of one training step of one network."""
    tokens, width = batch * shape.context, shape.width
    block = 2 * tokens * 12 * width**2 + 2 * 2 * batch * shape.context**2 * width / 2
    return 3 * (shape.depth * block + 2 * tokens * shape.vocabulary * width)


def count_bytes(shape: Shape, batch: int, size: int) -> float:
    """Bytes that one training step of one network moves: activations kept and read again, logits twice, weights, moments and gradient."""
    tokens = batch * shape.context
    activations = shape.depth * tokens * (12 * shape.width + 2 * shape.heads)
    return size * (4 * activations + 4 * tokens * shape.vocabulary) + 4 * 9 * shape.size


def stack_bytes(setting: Setting, models: int) -> int:
    """Memory of a stack of so many models: weights, moments, gradient, what the passes keep, and the stream with its gradient."""
    shape, tokens = setting.shape, setting.batch * setting.shape.context
    weights = 4 * 4 * shape.size
    stream = 4 * shape.depth * tokens * shape.width
    if setting.device == "cpu" and kernel.load_libraries():
        return models * (weights + 4 * kept_size(shape, setting.batch, shape.context, torch.float32) + 2 * stream)
    passes = 4 * shape.depth * tokens * (24 * shape.width + 2 * shape.heads)
    logits = 4 * 3 * min(LOGITS, models * tokens * shape.vocabulary)
    return models * (weights + passes + 3 * stream + 4 * 2 * shape.size) + logits


def check_memory(label: str, setting: Setting, models: int) -> None:
    """Refuse a stack that this machine's memory cannot hold."""
    needed, free = stack_bytes(setting, models) + BACKGROUND, free_memory(setting.device)
    if free is not None and needed > free:
        raise Refusal(
            label, f"one stack of {models} runs does not fit into memory", expected=f"{needed / 2**30:.1f} GiB", observed=f"{free / 2**30:.1f} GiB free",
            cure="lower the scale's stack or batch",
        )  # fmt: skip


def free_memory(device: str) -> int | None:
    """Bytes free on a device, where it can be asked."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")), None)


def setting_of(scale: Scale, depth: int, healthy_q: float) -> Setting:
    """What the runs of a scale at one depth share."""
    model, hardware = scale.model, scale.hardware
    shape = Shape(depth, model.width, model.heads, model.context, scale.data.vocabulary)
    device = ("cuda" if torch.cuda.is_available() else "cpu") if hardware.device == "auto" else hardware.device
    precision = hardware.precision if device == "cuda" else "float32"
    return Setting(shape, scale.optimiser, scale.batch, model.init_std, healthy_q, device, precision, hardware.graph)
