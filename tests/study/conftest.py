"""What several tests of the study start from."""

from __future__ import annotations

import pyarrow as arrow
import pytest
from corpora import SENTENCES, write_shard

from rankcollapse.engine import prepare_threads


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Threads and denormals as the study's own processes have them."""
    prepare_threads()


@pytest.fixture
def shard(tmp_path):
    """One Parquet shard of 40 documents."""
    return write_shard(tmp_path / "a.parquet", arrow.array(SENTENCES))
