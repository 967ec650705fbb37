"""What several tests of the study start from."""

from __future__ import annotations

import pyarrow as arrow
import pytest
from corpora import SENTENCES, write_shard


@pytest.fixture
def shard(tmp_path):
    """One Parquet shard of 40 documents."""
    return write_shard(tmp_path / "a.parquet", arrow.array(SENTENCES))
