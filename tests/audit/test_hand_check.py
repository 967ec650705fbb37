"""The page that checks a seal by hand is executed as it is printed, and says no where it should."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import broken_scripts
import pytest
from project import Project
from scripts import Script

BROKEN = (broken_scripts.record_first, broken_scripts.held_back, broken_scripts.sealed_again, broken_scripts.rebased)
PAGE = Path(__file__).resolve().parents[2] / "prereg" / "README.md"


def run_page(project: Project) -> subprocess.CompletedProcess[str]:
    """Every shell block of the page, in order, in one shell that stops at the first failure."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert len(blocks) == 6
    return subprocess.run(["bash", "-c", "\n".join(blocks)], cwd=project.root, capture_output=True, text=True, check=False)


def test_page_holds_on_an_honest_project(ran: Project) -> None:
    """Each step succeeds and names what it looked at."""
    done = run_page(ran)
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("judge.py as sealed", "prereg/pilot.yaml as sealed", "came after the seal", "which holds the seal"):
        assert words in done.stdout
    assert ran.git("status", "--short") == ""


@pytest.mark.parametrize("script", BROKEN, ids=lambda script: script.__name__)
def test_page_stops_where_the_audit_would(script, drafted: Project, ran: Project) -> None:
    """On a history that is not in order the page ends with a failure, as the audit does."""
    script(Script(drafted, ran))
    assert run_page(drafted).returncode != 0
