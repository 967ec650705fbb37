"""Small corpora for the tests of the study, and the form in which it must refuse."""

from __future__ import annotations

from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from audit.records import Refusal
from rankcollapse import text

SHARES = {"train": 0.8, "probe": 0.1, "unseen": 0.1}
SENTENCES = [f"Document {i}: the {i % 7}th article about rivers, naïve 数学, and <|endoftext|> as plain text.\n\n  Wide  gaps." for i in range(40)]


def silent(line: str) -> None:
    """Progress that nobody reads."""


def prepare(out: Path, **changes):
    """A small encyclopedia stream, or the same with some arguments changed."""
    return text.prepare_stream(out, **({"source": "encyclopedia", "vocabulary": 300, "documents": 200, "say": silent} | SHARES | changes))


def write_shard(path: Path, column, name: str = "text") -> str:
    """A Parquet file with one column; returns its path as params hold it."""
    parquet.write_table(arrow.table({"id": arrow.array(range(len(column))), name: column}), path)
    return str(path)


def refusal(call, *args, **named) -> str:
    """The one line with which a call refuses."""
    with pytest.raises(Refusal) as caught:
        call(*args, **named)
    assert caught.value.code == 2 and "\n" not in str(caught.value)
    return str(caught.value)


def read_folder(folder: Path) -> dict[str, bytes]:
    """Every file's bytes by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
