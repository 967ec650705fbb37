"""Ctrl-C in the middle of training loses nothing: the next `dvc repro` goes on from the checkpoint to the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from course import WHOLE
from safetensors.torch import load_file
from smoke import Repository

from rankcollapse.checkpoint import BESIDE, load_states, save_states

STAGE, RECORD = "branch@main-deep", "results/branch/main-deep.json"
RESUME = ("python", "-m", "stages.branch", "main", "deep")


def checkpoints(repository: Repository) -> list[Path]:
    """The checkpoints that lie there."""
    return sorted((repository.root / ".checkpoints").rglob("*.safetensors"))


def interrupt_training(repository: Repository) -> str:
    """Train anew what is not there any more, and press Ctrl-C as soon as there is a checkpoint; what was said."""
    (repository.root / RECORD).unlink()
    command = ["dvc", "repro", "--single-item", STAGE]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, cwd=repository.root, env=repository.environment, start_new_session=True, **pipes)
    while not checkpoints(repository) and process.poll() is None:
        time.sleep(0.002)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=600)[0]
    assert process.returncode != 0, f"the stage had ended before Ctrl-C: {said}"
    return said


def halve(checkpoint: Path) -> None:
    """Halve the weights of every network in a checkpoint."""
    states, note = load_states(checkpoint)
    beside = {name: tensor for name, tensor in load_file(checkpoint).items() if name.startswith(BESIDE)}
    save_states(checkpoint, {name: replace(state, weights=state.weights / 2) for name, state in states.items()}, note, beside)


@pytest.fixture
def interrupted(repository: Repository) -> Repository:
    """The study after Ctrl-C in the middle of a training: a checkpoint, and no record of that stage."""
    said = interrupt_training(repository)
    assert "interrupted; the same command goes on from the checkpoint" in said and "Traceback" not in said, said
    assert len(checkpoints(repository)) == 1 and not (repository.root / RECORD).exists()
    return repository


def test_training_goes_on_after_an_interruption(interrupted: Repository, made: Repository) -> None:
    """`dvc repro` ends the interrupted training with the record of an uninterrupted one; nothing after it has to run again."""
    interrupted.must("dvc", "repro", *WHOLE)
    before, after = made.tracked(), interrupted.tracked()
    assert {path for path in before if after.get(path) != before[path]} == {RECORD.replace(".json", ".run.json"), "dvc.lock"}
    assert checkpoints(interrupted) == []


def test_a_checkpoint_is_what_training_goes_on_from(interrupted: Repository, made: Repository, tmp_path: Path) -> None:
    """Changed weights in the checkpoint show in the record; a damaged checkpoint is named, left aside, and changes nothing."""
    other = interrupted.copy(tmp_path / "other")
    halve(checkpoints(other)[0])
    other.must(*RESUME)
    assert other.read(RECORD) != made.read(RECORD), "the checkpoint was not used"
    checkpoint = checkpoints(interrupted)[0]
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    done = interrupted.must(*RESUME)
    assert f"checkpoint ignored: {checkpoint.relative_to(interrupted.root)}: not a readable state file" in done.err
    assert interrupted.read(RECORD) == made.read(RECORD)
