"""States on disk as safetensors: a stack in the middle of its training, and networks at rest; written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import safetensors
import safetensors.torch
import torch

from audit.records import Refusal, canonical_json, sha256_bytes, sha256_file, write_bytes
from rankcollapse import kernel
from rankcollapse.engine import Run, Setting, Stack, State, Trajectory, describe_runs
from rankcollapse.engine.stack import ROWS

PARTS = ("weights", "moment1", "moment2")
BESIDE = ROWS[len(PARTS) :]
"""What a stack in training holds for each live run beside its state."""
STATES = "states.safetensors"
"""Name of the file of saved states in its folder."""
CODE = ("engine/runs.py", "engine/stack.py", "engine/optimisers.py", "engine/moments.py", "engine/matrices.py", "engine/sigma.py", "engine/training.py",
        "engine/capture.py", "adamw2.py", "events.py", "kernel.cpp", "kernel.py", "maps.py", "measure.py", "model.py", "passes.py", "schedule.py",
        "spectral.py", "terms.py", "text.py")  # fmt: skip
"""Files that decide what a stack becomes: a checkpoint of other code is not gone on from."""


def digest_code() -> dict[str, str]:
    """SHA-256 of each file that decides what a stack becomes, torch's version, and whether the kernel or PyTorch computes."""
    here = Path(__file__).parent
    return {name: sha256_file(here / name) for name in CODE} | {"torch": torch.__version__, "passes": kernel.describe()}


def digest_stack(
    runs: Sequence[Run],
    setting: Setting,
    probe: np.ndarray,
    data: dict[str, str],
    keep: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
    parents: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """SHA-256 of what determines a stack's result: its runs, setting, probe's bytes, data and code, the states that others fork from,
    and the runs' origins: the bytes of saved states, or the digest of the stack that leads to a fork."""
    origins = [describe_origin(run, parents) for run in runs]
    about = {"stack": describe_runs(runs, setting), "origins": origins, "probe": sha256_bytes(probe.tobytes()), "data": data,
             "keep": {name: list(steps) for name, steps in keep.items()}, "code": digest_code()}  # fmt: skip
    return sha256_bytes(canonical_json(about))


def describe_origin(run: Run, parents: Mapping[str, str]) -> object:
    """Where a run comes from, as plain values."""
    if run.origin is None:
        return None
    if isinstance(run.origin, State):
        return sha256_bytes(b"".join(getattr(run.origin, part).numpy().tobytes() for part in PARTS))
    return [parents[run.origin.run], run.origin.run, run.origin.step]


def save_states(path: Path, states: dict[str, State], note: dict[str, str] | None = None, beside: dict[str, torch.Tensor] | None = None) -> None:
    """Write named states, and tensors beside them; `note` is kept as text."""
    tensors = {f"{name}/{part}": getattr(state, part).contiguous() for name, state in states.items() for part in PARTS} | (beside or {})
    about = {"steps": {name: state.step for name, state in states.items()}, "note": note or {}}
    write_bytes(path, safetensors.torch.save(tensors, {"about": canonical_json(about).decode()}))  # one key: their order is random


def load_states(path: Path) -> tuple[dict[str, State], dict[str, str]]:
    """Read named states and their notes; a truncated or foreign file is refused in one line.

    Tensors are copies: those of the library are the file's own pages, which vanish when somebody truncates it.
    """
    try:
        with safetensors.safe_open(str(path), "pt") as stream:
            about = json.loads((stream.metadata() or {})["about"])
            states = {name: State(*(stream.get_tensor(f"{name}/{part}").clone() for part in PARTS), step) for name, step in about["steps"].items()}
    except (OSError, KeyError, ValueError, safetensors.SafetensorError) as error:
        raise Refusal(path, "not a readable state file", observed=str(error), cure="delete it and run `dvc repro` again") from None
    return states, about["note"]


def save_stack(path: Path, stack: Stack, digest: str) -> None:
    """Write everything a stack needs to go on: live, kept and final states, warm-start vectors, optimisers' memory, trajectories, its configuration's digest."""
    stack.take_in()
    live = {f"live{i}": stack.state(row) for row, i in enumerate(stack.alive)}
    beside = {f"{name}{i}": getattr(stack, name)[row].cpu().clone() for name in BESIDE for row, i in enumerate(stack.alive)}
    final = {f"final{i}": state for i, state in stack.final.items()}
    kept = {f"kept{i}": state for i, state in enumerate(stack.kept.values())}
    note = {"digest": digest, "names": json.dumps([run.name for run in stack.runs]), "kept": json.dumps(list(stack.kept)),
            "trajectories": json.dumps([asdict(t) for t in stack.trajectories])}  # fmt: skip
    save_states(path, live | final | kept, note, beside)


def resume_stack(path: Path, stack: Stack, digest: str) -> str:
    """Put a stack where its checkpoint left it; return why not, or an empty string."""
    if not path.exists():
        return "none"
    try:
        states, note = load_states(path)
        if note.get("digest") != digest:
            return f"{path}: checkpoint of another configuration"
        stack.alive = sorted(int(name.removeprefix("live")) for name in states if name.startswith("live"))
        with safetensors.safe_open(str(path), "pt") as stream:
            beside = {name: [stream.get_tensor(f"{name}{i}").clone() for i in stack.alive] for name in BESIDE}
    except (Refusal, safetensors.SafetensorError) as error:
        stack.alive = list(range(len(stack.runs)))
        return str(error) if isinstance(error, Refusal) else f"{path}: not a whole checkpoint; found {error}"
    stack.final = {int(name.removeprefix("final")): state for name, state in states.items() if name.startswith("final")}
    stack.trajectories = [Trajectory(**values) for values in json.loads(note["trajectories"])]
    stack.kept = {tuple(key): states[f"kept{i}"] for i, key in enumerate(json.loads(note["kept"]))}
    for i in stack.alive:
        stack.clock[i] = states[f"live{i}"].step
    if stack.alive:
        parts = [torch.stack([getattr(states[f"live{i}"], part) for i in stack.alive]) for part in PARTS]
        for name, part in zip(ROWS, [*parts, *map(torch.stack, beside.values())], strict=True):
            setattr(stack, name, part.to(stack.setting.device))
    stack.forget()
    return ""


class Finished(NamedTuple):
    """What a run left: its trajectory, its final state, and the states that others fork from, by step."""

    trajectory: Trajectory
    state: State
    kept: dict[int, State]


def load_finished(path: Path, digest: str) -> dict[str, Finished]:
    """A finished stack's runs by name; anything else under its path is refused."""
    states, note = load_states(path)
    if note.get("digest") != digest or any(name.startswith("live") for name in states):
        raise Refusal(path, "not the finished stack it should be", expected=f"stack {digest[:24]}", cure="delete it and run `dvc repro` again")
    kept: dict[int, dict[int, State]] = {}
    for number, (i, step) in enumerate(json.loads(note["kept"])):
        kept.setdefault(i, {})[step] = states[f"kept{number}"]
    trajectories = [Trajectory(**values) for values in json.loads(note["trajectories"])]
    return {name: Finished(trajectories[i], states[f"final{i}"], kept.get(i, {})) for i, name in enumerate(json.loads(note["names"]))}
