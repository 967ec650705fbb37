"""Measures the engine and the audit against rivals, side by side in one run, and writes ratios to results/bench.json: `make bench`.

Each side runs in fresh processes, in turn, on the same number of threads (two, or what the machine has), and medians are compared. A
ratio `vs_loop` is network-steps per second, engine over loop, each measuring the stable rank every ten steps.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch
from large import measure_audit
from loop import Decoder, make_optimiser, stable_rank, train_step
from scanning import measure_scanning

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


def make_setting(width: int, depth: int = DEPTH) -> Setting:
    """The laptop's shape at a width and depth."""
    return Setting(Shape(depth, width, HEADS, CONTEXT, VOCABULARY), RULE, BATCH, 0.02, 1.5)


def engine_steps(width: int, every: int = EVERY, term: str = "none", models: int = MODELS, depth: int = DEPTH, **about: str) -> Callable[[], float]:
    """A stack that goes on: each call is ten steps with what is measured in them, and returns seconds per network-step."""
    added = 0.1 if term != "none" else 0.0
    runs = [Run(f"run/{seed}", seed, 4000, term=term, added=added, measure_every=every, **about) for seed in range(models)]
    stack = Stack(runs, make_setting(width, depth), STREAM, tokens(BATCH))
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


def take(side: Callable[[], float], threads: int, kernel_threads: int, rounds: int = 3) -> float:
    """Median seconds of a side after one turn that warms up."""
    prepare_threads(kernel_threads)
    torch.set_num_threads(threads)
    side()
    return median(side() for _ in range(rounds))


def measure_engine(width: int, threads: int) -> dict[str, float]:
    """The engine, and the bare products of its step."""
    return {"engine": take(engine_steps(width), 1, threads), "bare": take(bare_products(width), threads, 1)}


def measure_overheads(width: int, threads: int, rounds: int = 5) -> dict[str, float]:
    """Seconds per network-step, in turn: plain, and with a hinge on every block; of measuring one network; of a checkpoint of a stack."""
    prepare_threads(threads)
    plain, hinge = engine_steps(width, every=10_000), engine_steps(width, every=10_000, term="hinge")
    measured = engine_steps(width, every=1).stack
    seen: dict[str, list[float]] = {"plain": [], "hinge": [], "measure": [], "save": []}
    with TemporaryDirectory() as folder:
        for _ in range(rounds):
            seen["plain"].append(plain())
            seen["hinge"].append(hinge())
            started = perf_counter()
            measured.measure()
            seen["measure"].append((perf_counter() - started) / MODELS)
            measured.step()
            started = perf_counter()
            save_stack(Path(folder) / "stack.safetensors", plain.stack, "0" * 64)
            seen["save"].append(perf_counter() - started)
    return {name: median(values[1:]) for name, values in seen.items()}


ENTRIES = {"adamw": {}, "adamw2": {"optimiser": "adamw2"}, "sigma": {"optimiser": "sigma"}, "none": {"query_key": "none"}, "clip": {"query_key": "clip"}}
"""What the engine may train by, and each one's rival: AdamW, and for QK-clip the same without it."""


def measure_entries(depth: int, width: int, threads: int, rounds: int = 15) -> dict[str, float]:
    """Seconds per network-step of three networks by each entry, in turn, without measurements."""
    prepare_threads(threads)
    sides = {name: engine_steps(width, every=10_000, models=3, depth=depth, **about) for name, about in ENTRIES.items()}
    seen: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds + 1):
        for name, side in sides.items():
            seen[name].append(side())
    return {name: median(values[1:]) for name, values in seen.items()}


SIDES: dict[str, Callable[[int, int], dict[str, float]]] = {
    "engine": measure_engine,
    "loop": lambda width, threads: {"loop": take(loop_steps(width), threads, 1)},
    "compiled": lambda width, threads: {"compiled": take(loop_steps(width, compiled=True), threads, 1)},
    "overheads": measure_overheads,
    "entries6": partial(measure_entries, 6),
    "entries12": partial(measure_entries, 12),
}


def alone(side: str, width: int, threads: int) -> dict[str, float]:
    """A side in a process of its own, as it would be run: where its memory happens to lie moves a loop by a third, so several are needed."""
    done = subprocess.run([sys.executable, __file__, side, str(width), str(threads)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def repeat(sides: dict[str, int], width: int, threads: int) -> dict[str, float]:
    """Medians over fresh processes, so many of each side, in turn."""
    seen: dict[str, list[float]] = {}
    for turn in range(max(sides.values())):
        for side, times in sides.items():
            for name, seconds in (alone(side, width, threads) if turn < times else {}).items():
                seen.setdefault(name, []).append(seconds)
    for name, values in seen.items():
        print(f"width {width}, {threads} thread{'s' * (threads > 1)}: {name:<9}" + " ".join(f"{1e3 * value:6.1f}" for value in values), flush=True)
    return {name: median(values) for name, values in seen.items()}


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
    seconds = take(deep, 1, threads)
    shallow = replace(make_setting(laptop.model.width).shape, depth=6)
    share = count_flops(shallow, BATCH) / count_flops(make_setting(laptop.model.width).shape, BATCH)
    return 55_000 * seconds * (1 + share) / 60


def main() -> int:
    """Measure everything and write the ratios."""
    if sys.argv[1:2] == ["memory"]:
        print(peak_memory())
        return 0
    if sys.argv[1:]:
        side, width, threads = sys.argv[1:]
        print(json.dumps(SIDES[side](int(width), int(threads))))
        return 0
    threads = min(2, torch.get_num_threads())
    print(f"passes: {kernel.describe()}; {MODELS} networks of {DEPTH} blocks in a stack; milliseconds per network-step, one column a process")
    ratios: dict[str, float] = {}
    for width in (64, 32):
        for count in sorted({1, threads}):
            times = 5 if count == threads else 3
            seen = repeat({"engine": times, "loop": times} | ({"compiled": 3} if width == 64 and count > 1 else {}), width, count)
            name = f"engine.width{width}" + (".one_thread" if count < threads else "")
            ratios[f"{name}.vs_loop"] = seen["loop"] / seen["engine"]
            if "compiled" in seen:
                ratios[f"{name}.vs_compiled_loop"] = seen["compiled"] / seen["engine"]
            if width == 64 and count == threads:
                ratios["engine.roofline"] = seen["bare"] / seen["engine"]
    costs = repeat({"overheads": 3}, 64, threads)
    ratios["engine.hinge_overhead"] = costs["hinge"] / costs["plain"]
    ratios["engine.measure_overhead"] = 1 + costs["measure"] / EVERY / costs["plain"]
    ratios["engine.checkpoint_overhead"] = 1 + costs["save"] / load_params().scales.laptop.checkpoint_seconds
    for depth in (6, 12):
        entries = repeat({f"entries{depth}": 3}, 32, threads)
        for name, rival in {"adamw2": "adamw", "sigma": "adamw", "clip": "none"}.items():
            ratios[f"engine.{name}_overhead.depth{depth}"] = entries[name] / entries[rival]
    ratios["engine.memory_vs_plan"] = measure_memory()
    ratios["engine.laptop_study_minutes"] = estimate_study(threads)
    ratios |= measure_audit() | measure_scanning()
    OUT.write_text(json.dumps({name: round(value, 3) for name, value in ratios.items()}, indent=2) + "\n")
    for name, value in ratios.items():
        print(f"{name:<40} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
