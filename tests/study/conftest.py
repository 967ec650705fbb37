"""What several tests of the study start from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import pyarrow as arrow
import pytest
import tiny_study
from corpora import SENTENCES, write_shard
from networks import write_data

from rankcollapse.engine import prepare_threads


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Threads and denormals as the study's own processes have them."""
    prepare_threads()


@pytest.fixture
def shard(tmp_path):
    """One Parquet shard of 40 documents."""
    return write_shard(tmp_path / "a.parquet", arrow.array(SENTENCES))


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
