"""Ctrl-C in the middle of training loses nothing: the next `dvc repro` goes on from the checkpoint to the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import torch
from smoke import TEX, Repository

from rankcollapse.checkpoint import load_states, save_states

STAGE, RECORD = "branch@main-deep", "results/branch/main-deep.json"


def checkpoints(repository: Repository) -> list[Path]:
    """The checkpoints that lie there."""
    return sorted((repository.root / ".checkpoints").glob("*.safetensors"))


def interrupt_training(repository: Repository) -> str:
    """Press Ctrl-C as soon as there is a checkpoint; what was said."""
    command = ["dvc", "repro", "--force", "--single-item", STAGE]
    process = subprocess.Popen(
        command, cwd=repository.root, env=repository.environment, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    while not checkpoints(repository) and process.poll() is None:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[0]
    assert process.returncode != 0, "the stage had ended before Ctrl-C"
    return said


def spoil(checkpoint: Path) -> None:
    """Halve the weights of every network in a checkpoint."""
    states, note = load_states(checkpoint)
    halved = {name: type(state)(state.weights / 2, *(torch.clone(getattr(state, part)) for part in ("moment1", "moment2")), state.step) for name, state in states.items()}
    save_states(checkpoint, halved, note)


def test_training_goes_on_after_an_interruption(repository: Repository, tmp_path: Path) -> None:
    """The record of an interrupted and resumed training is that of an uninterrupted one, and did come from the checkpoint."""
    before = repository.tracked()
    said = interrupt_training(repository)
    assert "interrupted; the same command goes on from the checkpoint" in said and "Traceback" not in said
    assert len(checkpoints(repository)) == 1 and not (repository.root / RECORD).exists()
    other = repository.copy(tmp_path / "other")
    repository.must("dvc", "repro", *(() if TEX else ("audit", "render")))
    after = repository.tracked()
    assert {path for path in before if after.get(path) != before[path]} == {RECORD.replace(".json", ".run.json"), "dvc.lock"}
    assert checkpoints(repository) == []
    spoil(checkpoints(other)[0])
    other.must("python", "-m", "stages.branch", "main", "deep")
    assert (other.root / RECORD).read_bytes() != before[RECORD], "the checkpoint was not used"
