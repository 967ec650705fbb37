"""States on disk as safetensors: a stack in the middle of its training, and networks at rest; written whole or not at all."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch

from audit.records import Refusal, canonical_json, sha256_bytes, sha256_file, write_bytes
from rankcollapse.engine import Run, Setting, Stack, State, Trajectory, describe_runs

PARTS = ("weights", "moment1", "moment2")
CODE = ("engine", "events", "measure", "model", "schedule", "terms", "text")
"""Modules that decide what a stack becomes: a checkpoint of other code is not gone on from."""


def digest_stack(runs: list[Run], setting: Setting, probe: np.ndarray, data: dict[str, str]) -> str:
    """SHA-256 of what determines a stack's result: its runs, setting, origins' and probe's bytes, data, and code."""
    code = {name: sha256_file(Path(__file__).with_name(f"{name}.py")) for name in CODE} | {"torch": torch.__version__}
    origins = [sha256_bytes(b"".join(getattr(run.origin, part).numpy().tobytes() for part in PARTS)) if run.origin else None for run in runs]
    return sha256_bytes(
        canonical_json(
            {"stack": describe_runs(runs, setting), "origins": origins, "probe": sha256_bytes(probe.tobytes()), "data": data, "code": code}
        )
    )


def save_states(path: Path, states: dict[str, State], note: dict[str, str] | None = None) -> None:
    """Write named states; `note` is kept as text beside them."""
    tensors = {f"{name}/{part}": getattr(state, part).contiguous() for name, state in states.items() for part in PARTS}
    about = {"steps": {name: state.step for name, state in states.items()}, "note": note or {}}
    write_bytes(path, safetensors.torch.save(tensors, {"about": canonical_json(about).decode()}))  # one key: their order is random


def load_states(path: Path) -> tuple[dict[str, State], dict[str, str]]:
    """Read named states and their notes; a truncated or foreign file is refused in one line."""
    try:
        with safetensors.safe_open(str(path), "pt") as stream:
            about = json.loads((stream.metadata() or {})["about"])
            states = {name: State(*(stream.get_tensor(f"{name}/{part}") for part in PARTS), step) for name, step in about["steps"].items()}
    except (OSError, KeyError, ValueError, safetensors.SafetensorError) as error:
        raise Refusal(path, "not a readable state file", observed=str(error), cure="delete it and run `dvc repro` again") from None
    return states, about["note"]


def save_stack(path: Path, stack: Stack, digest: str) -> None:
    """Write everything a stack needs to go on: live and final states, clocks, trajectories, and its configuration's digest."""
    live = {f"live{i}": State(stack.flat[row], stack.moment1[row], stack.moment2[row], stack.clock[i]) for row, i in enumerate(stack.alive)}
    final = {f"final{i}": state for i, state in stack.final.items()}
    save_states(path, live | final, {"digest": digest, "trajectories": json.dumps([asdict(t) for t in stack.trajectories])})


def resume_stack(path: Path, stack: Stack, digest: str) -> str:
    """Put a stack where its checkpoint left it; return why not, or an empty string."""
    if not path.exists():
        return "none"
    try:
        states, note = load_states(path)
    except Refusal as refusal:
        return str(refusal)
    if note.get("digest") != digest:
        return f"{path}: checkpoint of another configuration"
    alive = sorted(int(name.removeprefix("live")) for name in states if name.startswith("live"))
    stack.alive = alive
    stack.final = {int(name.removeprefix("final")): state for name, state in states.items() if name.startswith("final")}
    stack.trajectories = [Trajectory(**values) for values in json.loads(note["trajectories"])]
    for i in alive:
        stack.clock[i] = states[f"live{i}"].step
    if alive:
        stack.flat, stack.moment1, stack.moment2 = (torch.stack([getattr(states[f"live{i}"], part) for i in alive]) for part in PARTS)
    return ""
