"""Folders that are written whole or not at all, and the name of what could not be written."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = ["naming", "write_folder"]


@contextmanager
def naming(target: Path) -> Iterator[None]:
    """Whatever of the disk stops the writing, the error names what was to be written, not a staging name or nothing."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(target), None
        raise


def write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder with exactly these files: into a staging folder beside it, then exchanged by rename."""
    with naming(target):
        exchange_folder(target, files)


def exchange_folder(target: Path, files: Mapping[str, bytes]) -> None:
    """Write beside the folder, then exchange the two."""
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    old = staging.with_name(staging.name + ".old")
    try:
        for name, data in files.items():
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            (staging / name).write_bytes(data)
        os.chmod(staging, 0o755)
        if target.exists():
            os.replace(target, old)
        os.replace(staging, target)
    finally:
        if old.exists() and not target.exists():
            os.replace(old, target)
        for left in (staging, old):
            shutil.rmtree(left, ignore_errors=True)
