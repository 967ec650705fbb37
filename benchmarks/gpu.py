"""Measures the paper's step on the GPU there is, beside the plan's estimate: `python benchmarks/gpu.py` (about three minutes).

Rows: arithmetic of the trunk (float32, tf32, bf16), with and without the step as one CUDA graph, for stacks of 4, 8 and 16 networks.
Also says whether a graph gives the bytes of the step without one, and how far the arithmetic is from float32 after ten steps.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter

import numpy as np
import torch

from rankcollapse.engine import Run, Stack, prepare_threads
from rankcollapse.params import load_params
from rankcollapse.plan import count_bytes, count_flops, setting_of, stack_bytes


def measure(stack: Stack, steps: int) -> float:
    """Seconds per network-step, after five steps that warm up."""
    for _ in range(5):
        stack.step()
    torch.cuda.synchronize()
    started = perf_counter()
    for _ in range(steps):
        stack.step()
    torch.cuda.synchronize()
    return (perf_counter() - started) / (steps * len(stack.runs))


def main() -> int:
    """Print a table of milliseconds per network-step."""
    if not torch.cuda.is_available():
        print("no GPU here; python -m rankcollapse.engine --plan paper estimates one", file=sys.stderr)
        return 2
    prepare_threads()
    scale = load_params().scales.paper
    plain = setting_of(scale, scale.depths.deep, 1.5)
    stream = np.random.default_rng(0).integers(0, scale.data.vocabulary, 4_000_000).astype(np.uint16)
    probe = torch.from_numpy(stream[: 8 * (scale.model.context + 1)].astype(np.int64)).view(8, -1)
    print(f"{torch.cuda.get_device_name()}: {plain.shape.depth} blocks, width {plain.shape.width}, vocabulary {plain.shape.vocabulary}")
    print(f"{'arithmetic':<10} {'graph':<6} {'runs':>4} {'ms a step':>10} {'TFLOP/s':>8} {'GB/s':>6} {'GiB':>6} {'planned':>8}")
    ends: dict[tuple[str, bool], torch.Tensor] = {}
    for models in (4, 8, 16):
        for precision in ("float32", "tf32", "bf16"):
            for graph in (False, True):
                setting = replace(plain, precision=precision, graph=graph)
                torch.cuda.reset_peak_memory_stats()
                stack = Stack([Run(f"run/{seed}", seed, 100) for seed in range(models)], setting, stream, probe)
                seconds = measure(stack, 10)
                work, moved = count_flops(setting.shape, setting.batch), count_bytes(setting.shape, setting.batch, 2 if precision == "bf16" else 4)
                peak, planned = torch.cuda.max_memory_allocated() / 2**30, stack_bytes(setting, models) / 2**30
                print(f"{precision:<10} {'yes' if graph else 'no':<6} {models:>4} {1e3 * seconds:>10.2f} {work / seconds / 1e12:>8.1f} "
                      f"{moved / seconds / 1e9:>6.0f} {peak:>6.1f} {planned:>8.1f}", flush=True)  # fmt: skip
                if models == 4:
                    ends[precision, graph] = stack.flat.cpu()
                del stack
                torch.cuda.empty_cache()
    for precision in ("float32", "tf32", "bf16"):
        distance = (ends[precision, False] - ends["float32", False]).norm() / ends["float32", False].norm()
        same = "the same bytes" if torch.equal(ends[precision, False], ends[precision, True]) else "other bytes"
        print(f"{precision}: {distance:.1e} from float32 after 15 steps; with a graph {same}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
