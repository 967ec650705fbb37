"""Folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_folder"]


def write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder with exactly these files: into a staging folder beside it, then exchanged by rename."""
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
