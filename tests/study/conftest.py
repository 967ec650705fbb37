"""What several tests of the study start from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pyarrow as arrow
import pytest
import tiny_study
from corpora import SENTENCES, write_shard
from interruptible import train_runs
from networks import write_data

from rankcollapse import kernel
from rankcollapse.engine import Run, State, Trajectory, prepare_threads


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Threads and denormals as the study's own processes have them."""
    prepare_threads()


@pytest.fixture
def shard(tmp_path):
    """One Parquet shard of 40 documents."""
    return write_shard(tmp_path / "a.parquet", arrow.array(SENTENCES))


@pytest.fixture
def threads():
    """Leave the kernel on as many threads as before."""
    before = kernel.Threads.count
    yield kernel.Threads.use
    kernel.Threads.use(before)


@pytest.fixture
def backend(request, monkeypatch) -> str:
    """Computed by the kernel, or by PyTorch alone."""
    if request.param == "torch":
        monkeypatch.setattr(kernel, "load_libraries", lambda: {})
    return request.param


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A prepared data folder."""
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture
def table(data, tmp_path, monkeypatch):
    """Train a table in this process, with checkpoints of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})

    def trained(*runs: Run, block: int = 4) -> dict[str, tuple[Trajectory, State]]:
        results = train_runs(data, runs, block=block, seconds=1e9)
        shutil.rmtree(".checkpoints")
        return {run.name: result for run, result in zip(runs, results, strict=True)}

    return trained


class Study(NamedTuple):
    """A tiny study: its data and states folders and its records."""

    data: Path
    states: Path
    records: tiny_study.Records


@pytest.fixture(scope="session")
def study(tmp_path_factory, one_thread):
    """Every experiment of the tiny study, run once."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(os, "sched_getaffinity", lambda _: {0})
        data = write_data(folder / "data")
        return Study(data, folder / "states", tiny_study.run_study(data, folder / "states"))
