"""What a study costs before it is run: runs, network-steps, floating-point operations, memory and time, counted from its tables.

Operations are those of the matrix products (2 per multiplication and addition, backward twice the forward pass), bytes those that a step
must move through memory; a step takes at least the larger of both shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from audit.records import Refusal
from rankcollapse import kernel
from rankcollapse.engine import Fork, Run, Setting
from rankcollapse.model import LOGITS, Shape
from rankcollapse.params import ROLES, Params, Scale, load_params
from rankcollapse.passes import kept_size
from rankcollapse.tables import control, drive, longest, treat, warm_up, warmed

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


def list_tables(scale: Scale, seeds: dict[str, int]) -> list[tuple[str, str, list[Run]]]:
    """Stage, role and runs of every table of the study, if every collapse settles in the middle of its hold."""
    tables = []
    settled = scale.driver.warm + scale.driver.ramp + scale.driver.hold // 2
    for role in ROLES:
        some, many = range(seeds["calibration"]), range(seeds["main"])
        length = scale.driver.ramp + scale.driver.hold
        floors = [run for floor in scale.driver.floors for run in drive(some, warmed(some, scale), floor, scale, None)]
        tables.append(("calibrate", role, [*warm_up(some, scale), *control(some, warmed(some, scale), length, scale), *floors]))
        driven = drive(many, warmed(many, scale), scale.driver.floors[-1], scale, None)
        tables.append(("collapse", role, [*warm_up(many, scale), *control(many, warmed(many, scale), length, scale), *driven]))
        event = Fork("driver", settled)
        treated = [run for seed in many for run in treat(seed, event, scale.driver.floors[-1], scale)]
        tables.append(("branch", role, [*treated, *control(many, [event] * len(many), longest(scale), scale)]))
    return tables


def plan_study(params: Params) -> str:
    """The plan of the scale in use, as a page of text."""
    scale, lines = params.chosen, []
    seeds = {name: seeds_of(params, name) for name in ("calibration", "main")}
    lines += [f"scale {params.scale}: width {scale.model.width}, context {scale.model.context}, batch {scale.batch}, vocabulary {scale.data.vocabulary}, "
              f"{seeds['calibration']} calibration and {seeds['main']} main seeds, stacks of {scale.stack}", ""]  # fmt: skip
    lines += [f"{'stage':<10} {'role':<8} {'depth':>5} {'runs':>5} {'stacks':>6} {'network-steps':>13} {'PFLOP':>8} {'GiB a stack':>11}"]
    steps = flops = moved = 0.0
    size = 2 if scale.hardware.precision == "bf16" else 4
    for stage, role, runs in list_tables(scale, seeds):
        setting = setting_of(scale, getattr(scale.depths, role), 1.0)
        number = sum(run.steps for run in runs)
        work = number * count_flops(setting.shape, scale.batch)
        steps, flops, moved = steps + number, flops + work, moved + number * count_bytes(setting.shape, scale.batch, size)
        memory = stack_bytes(setting, min(scale.stack, len(runs))) / 2**30
        lines.append(f"{stage:<10} {role:<8} {setting.shape.depth:>5} {len(runs):>5} {-(-len(runs) // scale.stack):>6} {number:>13,} {work / 1e15:>8.2f} {memory:>11.2f}")
    lines += [f"{'total':<10} {'':<8} {'':>5} {'':>5} {'':>6} {int(steps):>13,} {flops / 1e15:>8.2f}", ""]
    lines += [f"{'device':<14} {'hours, arithmetic':>17} {'hours, memory':>14} {'hours, estimate':>16} {'stacks that fit':>16}"]
    for device in PROCESSORS:
        arithmetic, memory = flops / device.flops / 3600, moved / device.bandwidth / 3600
        stack = stack_bytes(setting_of(scale, scale.depths.deep, 1.0), scale.stack)
        estimate = max(arithmetic / device.share, memory / 0.6)
        lines.append(f"{device.name:<14} {arithmetic:>17.2f} {memory:>14.2f} {estimate:>16.2f} {int(device.memory // stack):>16}")
    return "\n".join([*lines, "", "An estimate: the larger of arithmetic at the share of the tensor cores that small products reach (20-25 %) and memory at 60 % of its bandwidth;",
                      "benchmarks/gpu.py measures a step on the GPU there is."])  # fmt: skip


def seeds_of(params: Params, name: str) -> int:
    """How many seeds a set has; a registration's are counted by its seal, here taken as six."""
    seeds = params.seed_set(name)
    return len(seeds) if isinstance(seeds, Sequence) and not isinstance(seeds, str) else 6


def setting_of(scale: Scale, depth: int, healthy_q: float) -> Setting:
    """What the runs of a scale at one depth share."""
    model, hardware = scale.model, scale.hardware
    shape = Shape(depth, model.width, model.heads, model.context, scale.data.vocabulary)
    device = ("cuda" if torch.cuda.is_available() else "cpu") if hardware.device == "auto" else hardware.device
    precision = hardware.precision if device == "cuda" else "float32"
    return Setting(shape, scale.optimiser, scale.batch, model.init_std, healthy_q, device, precision, hardware.graph)


def main(option: str, name: str) -> None:
    """Print the plan of a scale: `python -m rankcollapse.engine --plan SCALE`."""
    params = load_params()
    if option != "--plan":
        raise Refusal("usage", "wrong option", expected="--plan SCALE", observed=option)
    if name not in type(params.scales).model_fields:
        raise Refusal("--plan", "no such scale", expected=", ".join(type(params.scales).model_fields), observed=name)
    print(plan_study(params.model_copy(update={"scale": name})))
