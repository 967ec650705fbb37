"""One study for the whole session, made once however many workers there are; each test gets its own copy."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "study"))

from smoke import Repository, study  # noqa: E402


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The study, from data to PDF; nobody writes into it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    root, failed = shared / "e2e" / "made", shared / "e2e.failed"
    with (shared / "e2e.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if failed.exists():
            pytest.fail(f"the study failed in another worker: {failed.read_text()}")
        if not root.exists():
            try:
                study(root)
            except BaseException as error:
                failed.write_text(str(error))
                raise
    return Repository(root)


@pytest.fixture
def repository(made: Repository, tmp_path: Path) -> Repository:
    """A copy of the study that a test may spoil."""
    return made.copy(tmp_path / "study")
