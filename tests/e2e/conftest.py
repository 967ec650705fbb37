"""One study for the whole session, made once however many workers there are; each test gets its own copy."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "study"))

from course import make_study  # noqa: E402
from smoke import Repository  # noqa: E402

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The study is begun first, by one worker: the other takes tests that do not wait for it, and none is left alone with it at the end."""
    items.sort(key=lambda item: HERE not in item.path.parents)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The study from data to PDF; nobody writes into it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    root, ended = shared / "e2e" / "made", shared / "e2e.ended"
    with (shared / "e2e.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ended.exists():
            try:
                make_study(root)
                ended.write_text("")
            except BaseException as error:
                ended.write_text(str(error) or type(error).__name__)
                raise
    if failure := ended.read_text():
        pytest.fail(f"the study of the session was not made: {failure}")
    return Repository(root)


@pytest.fixture
def repository(made: Repository, tmp_path: Path) -> Repository:
    """A copy of the study that a test may spoil."""
    return made.copy(tmp_path / "study")
