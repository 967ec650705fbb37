"""Measures the engine against rivals, side by side in one run, and writes ratios to results/bench.json: `make bench`.

Everything is repeated in turn and compared by medians, both sides on the same number of threads (two, or what the machine has). A ratio
`vs_loop` is network-steps per second, engine over loop, each measuring the stable rank every ten steps.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch
from loop import Decoder, make_optimiser, stable_rank, train_step

from rankcollapse import kernel
from rankcollapse.checkpoint import save_stack
from rankcollapse.engine import Run, Setting, Stack, prepare_threads
from rankcollapse.model import Shape
from rankcollapse.params import load_params
from rankcollapse.plan import BACKGROUND, count_flops, stack_bytes

DEPTH, HEADS, CONTEXT, BATCH, VOCABULARY, MODELS, EVERY = 12, 4, 64, 8, 512, 16, 10
OUT = Path("results/bench.json")
RULE = load_params().scales.laptop.optimiser
STREAM = np.random.default_rng(0).integers(0, VOCABULARY, 2_000_000).astype(np.uint16)


def tokens(rows: int) -> torch.Tensor:
    """Sequences of random tokens (rows, T+1)."""
    return torch.from_numpy(STREAM[: rows * (CONTEXT + 1)].astype(np.int64)).view(rows, CONTEXT + 1)


def make_setting(width: int) -> Setting:
    """The laptop's shape at a width."""
    return Setting(Shape(DEPTH, width, HEADS, CONTEXT, VOCABULARY), RULE, BATCH, 0.02, 1.5)


def engine_steps(width: int, every: int = EVERY, term: str = "none", models: int = MODELS) -> Callable[[], float]:
    """A stack that goes on: each call is ten steps with what is measured in them, and returns seconds per network-step."""
    runs = [Run(f"run/{seed}", seed, 4000, term=term, added=0.1 if term != "none" else 0.0, measure_every=every) for seed in range(models)]
    stack = Stack(runs, make_setting(width), STREAM, tokens(BATCH))
    stack.solve_weights()

    def go() -> float:
        started = perf_counter()
        for _ in range(10):
            stack.measure()
            stack.step()
        return (perf_counter() - started) / (10 * models)

    go.stack = stack
    return go


def loop_steps(width: int, compiled: bool = False) -> Callable[[], float]:
    """A network of the loop: each call is ten steps and one rank, and returns seconds per step."""
    torch.manual_seed(0)
    network = Decoder(DEPTH, width, HEADS, CONTEXT, VOCABULARY)
    trained = torch.compile(network, fullgraph=True) if compiled else network
    optimiser, skip, probe = make_optimiser(network), torch.tensor(1.0), tokens(BATCH)

    def go() -> float:
        started = perf_counter()
        stable_rank(network, probe, skip)
        for step in range(10):
            train_step(trained, optimiser, tokens(BATCH + step)[step:], skip)
        return (perf_counter() - started) / 10

    return go


def bare_products(width: int) -> Callable[[], float]:
    """The matrix products of one step of all networks and nothing else: forward, and both gradients; seconds per network."""
    rows = BATCH * CONTEXT
    sizes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)] * DEPTH + [(width, VOCABULARY)]
    cases = {size: [torch.randn(MODELS, *dims) for dims in ((rows, size[0]), size, (rows, size[1]))] for size in set(sizes)}

    def go() -> float:
        started = perf_counter()
        for size in sizes:
            x, weight, y = cases[size]
            torch.bmm(x, weight)
            torch.bmm(y, weight.transpose(1, 2))
            torch.bmm(x.transpose(1, 2), y)
        return (perf_counter() - started) / MODELS

    return go


def compare(sides: dict[str, tuple[Callable[[], float], int, int]], rounds: int) -> dict[str, float]:
    """Median seconds of each side, measured in turn; a side is a function, PyTorch's threads and the kernel's."""
    seen: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(rounds + 1):
        for name, (side, torch_threads, kernel_threads) in sides.items():
            prepare_threads(kernel_threads)
            torch.set_num_threads(torch_threads)
            seconds = side()
            if turn:  # the first turn warms up
                seen[name].append(seconds)
    return {name: median(values) for name, values in seen.items()}


def measure_width(width: int, threads: int, rounds: int, repeats: int = 3) -> dict[str, float]:
    """Engine, loop, compiled loop and bare products at one width: medians of medians over fresh networks, since where they lie in memory matters."""
    compiled = {"compiled": (loop_steps(width, compiled=True), threads, 1)} if threads > 1 and width == 64 else {}
    seen = []
    for _ in range(repeats):
        sides = {"engine": (engine_steps(width), 1, threads), "loop": (loop_steps(width), threads, 1), "bare": (bare_products(width), threads, 1)}
        seen.append(compare(sides | compiled, rounds))
    return {name: median(each[name] for each in seen) for name in seen[0]}


def measure_overheads(width: int, threads: int, rounds: int) -> dict[str, float]:
    """What a hinge on every block and a measurement every ten steps cost, and how long a checkpoint takes."""
    plain = engine_steps(width, every=10_000)
    sides = {"plain": (plain, 1, threads), "hinge": (engine_steps(width, every=10_000, term="hinge"), 1, threads), "measured": (engine_steps(width), 1, threads)}
    seconds = compare(sides, rounds)
    with TemporaryDirectory() as folder:

        def save() -> float:
            started = perf_counter()
            save_stack(Path(folder) / "stack.safetensors", plain.stack, "0" * 64)
            return perf_counter() - started

        return seconds | {"save": compare({"save": (save, 1, threads)}, rounds)["save"]}


def measure_memory() -> float:
    """Peak memory of a process that trains a stack, over what the planner says."""
    done = subprocess.run([sys.executable, __file__, "memory"], capture_output=True, text=True, check=True)
    return float(done.stdout)


def peak_memory() -> float:
    """In a process of its own: train a stack for a few steps, and compare."""
    setting = make_setting(64)
    engine_steps(64)()
    status = Path("/proc/self/status").read_text()
    used = int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) * 1024  # getrusage would count the parent's peak too
    return used / (stack_bytes(setting, MODELS) + BACKGROUND)


def estimate_study(threads: int) -> float:
    """Minutes for 110,000 network-steps, half of them at 12 blocks and half at 6, at the laptop's shape, measured every five steps."""
    laptop = load_params().scales.laptop
    deep = engine_steps(laptop.model.width, every=5, models=laptop.stack * threads)
    seconds = compare({"deep": (deep, 1, threads)}, 5)["deep"]
    shallow = replace(make_setting(laptop.model.width).shape, depth=6)
    share = count_flops(shallow, BATCH) / count_flops(make_setting(laptop.model.width).shape, BATCH)
    return 55_000 * seconds * (1 + share) / 60


def main() -> int:
    """Measure everything and write the ratios."""
    if sys.argv[1:] == ["memory"]:
        print(peak_memory())
        return 0
    threads = min(2, torch.get_num_threads())
    print(f"kernel: {kernel.describe()}; {threads} threads on each side; {MODELS} networks of {DEPTH} blocks in a stack; milliseconds per network-step")
    ratios: dict[str, float] = {}
    for width in (64, 32):
        for count in sorted({1, threads}):
            seen = measure_width(width, count, rounds=5)
            print(f"width {width}, {count} thread{'s' * (count > 1)}: " + ", ".join(f"{name} {1e3 * value:.1f}" for name, value in seen.items()), flush=True)
            name = f"engine.width{width}" + (".one_thread" if count < threads else "")
            ratios[f"{name}.vs_loop"] = seen["loop"] / seen["engine"]
            if "compiled" in seen:
                ratios[f"{name}.vs_compiled_loop"] = seen["compiled"] / seen["engine"]
            if width == 64 and count == threads:
                ratios["engine.roofline"] = seen["bare"] / seen["engine"]
    costs = measure_overheads(64, threads, rounds=9)
    ratios["engine.hinge_overhead"] = costs["hinge"] / costs["plain"]
    ratios["engine.measure_overhead"] = costs["measured"] / costs["plain"]
    ratios["engine.checkpoint_overhead"] = 1 + costs["save"] / load_params().scales.laptop.checkpoint_seconds
    ratios["engine.memory_vs_plan"] = measure_memory()
    ratios["engine.laptop_study_minutes"] = estimate_study(threads)
    OUT.write_text(json.dumps({name: round(value, 3) for name, value in ratios.items()}, indent=2) + "\n")
    for name, value in ratios.items():
        print(f"{name:<40} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
