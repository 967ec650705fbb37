"""The passes of `kernel.cpp`, compiled at first use for this machine and kept in the user's cache.

A C++ compiler is welcome, not needed: without one (or with RANKCOLLAPSE_KERNEL=off) everything runs in PyTorch, two to three times slower and
equal within `TOLERANCE`.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from uuid import uuid4

import torch

from audit.records import Refusal, sha256_bytes

SOURCE = Path(__file__).with_name("kernel.cpp")
SWITCH = "RANKCOLLAPSE_KERNEL"
FLAGS = ["-O3", "-march=native", "-mtune=generic", "-std=c++17", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-shared", "-fPIC"]
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
"""Largest relative difference (norm over norm) between a gradient or a stream of the kernel's and PyTorch's."""
FIELDS = ("depth", "width", "heads", "context", "vocabulary", "batch", "tokens", "models", "size")


class Dimensions(ctypes.Structure):
    """`Shape` of the kernel."""

    _fields_ = [(name, ctypes.c_int64) for name in FIELDS]


@cache
def load_libraries() -> dict[torch.dtype, ctypes.CDLL]:
    """The compiled kernel for float32 and float64; empty where it is switched off or cannot be compiled."""
    if os.environ.get(SWITCH) == "off":
        return {}
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if not compiler:
        print("engine: no C++ compiler, so PyTorch alone, two to three times slower; cure: apt-get install g++", file=sys.stderr)
        return {}
    try:
        return {dtype: ctypes.CDLL(str(compile_library(compiler, dtype))) for dtype in TOLERANCE}
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        why = next((line for line in said if "error" in line), said[0])
        print(f"engine: the kernel does not compile here, so PyTorch alone, two to three times slower: {why}", file=sys.stderr)
        return {}


def compile_library(compiler: str, dtype: torch.dtype) -> Path:
    """The shared library, from the cache or compiled into it under a staging name."""
    flags = [*FLAGS, *(["-DDOUBLE"] if dtype == torch.float64 else [])]
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    about = [version, *flags, platform.machine(), *processor_flags()]
    path = cache_folder() / f"kernel-{sha256_bytes(SOURCE.read_bytes() + chr(10).join(about).encode())[:24]}.so"
    if not path.exists():
        staging = path.with_suffix(f".{uuid4().hex}")
        subprocess.run([compiler, *flags, str(SOURCE), "-o", str(staging)], check=True, capture_output=True, text=True)
        os.replace(staging, path)
    return path


def cache_folder() -> Path:
    """A folder of the user's to keep compiled kernels in."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rankcollapse"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="rankcollapse-"))
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="rankcollapse-"))


def processor_flags() -> list[str]:
    """What this machine's processor can do, as the kernel of Linux says it: code for another one may not run."""
    try:
        return [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith(("flags", "Features"))][:1]
    except OSError:
        return []


def describe() -> str:
    """What computes on a CPU here: a checkpoint of the other is not gone on from."""
    return "kernel" if load_libraries() else "torch"


def available(tensor: torch.Tensor) -> bool:
    """Whether the kernel computes with tensors like this one."""
    return tensor.device.type == "cpu" and tensor.dtype in load_libraries()


class Threads:
    """How many threads a call is spread over; its bits do not depend on it, since no two models meet."""

    count = 1
    pool: ThreadPoolExecutor | None = None

    @classmethod
    def use(cls, count: int) -> None:
        """Spread calls over this many threads."""
        if cls.pool is not None:
            cls.pool.shutdown()
        cls.count = count
        cls.pool = ThreadPoolExecutor(count, initializer=torch.set_flush_denormal, initargs=(True,)) if count > 1 else None


def share_out(models: int, work: Callable[[slice], int]) -> None:
    """Work on slices of the models, in as many threads as there may be; work says 0 where memory was short."""
    if Threads.pool is None or models == 1:
        results = [work(slice(0, models))]
    else:
        edges = [models * part // Threads.count for part in range(Threads.count + 1)]
        results = list(Threads.pool.map(work, [slice(low, high) for low, high in zip(edges, edges[1:]) if low < high]))
    if 0 in results:
        raise Refusal("engine", "no memory for one network's activations", cure="lower batch or context")


def call(name: str, like: torch.Tensor, *arguments: object) -> int:
    """Call a function of the kernel in the precision of `like`; a tensor is passed as the place where it begins."""
    return getattr(load_libraries()[like.dtype], name)(*map(native, arguments))


def native(argument: object) -> object:
    """An argument as C takes it."""
    if isinstance(argument, torch.Tensor):
        return ctypes.c_void_p(argument.data_ptr())
    if isinstance(argument, int):
        return ctypes.c_int64(argument)
    if isinstance(argument, float):
        return ctypes.c_double(argument)
    return ctypes.byref(argument) if isinstance(argument, Dimensions) else argument


def pad(count: int, dtype: torch.dtype) -> int:
    """A row's length in whole vectors of 32 bytes."""
    lanes = 32 // dtype.itemsize
    return -(-count // lanes) * lanes
