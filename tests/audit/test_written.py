"""What the disk does not take: the error names the file or folder, the old one stays, and nothing is left beside it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.folders import write_folder
from audit.load import write_bytes

WRITERS: dict[str, Callable[[Path], None]] = {
    "a file": lambda folder: write_bytes(folder / "target", b"new"),
    "a folder": lambda folder: write_folder(folder / "target", {"a": b"new"}),
}


@pytest.mark.parametrize("call", ["replace", "chmod"])
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_full_disk_leaves_the_old_one_and_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None], call: str) -> None:
    """Wherever the writing stops."""
    write(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched, pytest.raises(OSError, match=f"No space left on device: '{tmp_path / 'target'}'"):
        patched.setattr(os, call, full)
        write(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
