"""Projects at three points of their life; each test gets its own copy."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project, make_templates


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    return make_templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def drafted(templates: dict[str, Project], tmp_path: Path) -> Project:
    """A committed registration without a seal."""
    return templates["drafted"].copy(tmp_path / "drafted")


@pytest.fixture
def sealed(templates: dict[str, Project], tmp_path: Path) -> Project:
    """A committed seal, nothing run."""
    return templates["sealed"].copy(tmp_path / "sealed")


@pytest.fixture
def ran(templates: dict[str, Project], tmp_path: Path) -> Project:
    """Sealed, run, judged, committed, in order."""
    return templates["ran"].copy(tmp_path / "ran")
