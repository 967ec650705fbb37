"""The page that checks a seal and its witness by hand is executed as it is printed, and says no where it should."""

from __future__ import annotations

import os
import re
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import broken_scripts
import pytest
import tampering_witness
from authority import local
from project import Project
from scripts import Script

from audit.timestamp import parse_token

BROKEN = (broken_scripts.record_first, broken_scripts.held_back, broken_scripts.sealed_again, broken_scripts.rebased)
REFUTED = (tampering_witness.token_of_another_seal, tampering_witness.altered_time, tampering_witness.truncated_token)
PAGE = Path(__file__).resolve().parents[2] / "prereg" / "README.md"


def run_page(project: Project, root: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Every shell block of the page in one shell that stops at the first failure; the witness's after step 3, where there is a root."""
    *seal, witness = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert len(seal) == 6
    blocks = [*seal[:4], *([witness] if root else []), *seal[4:]]
    env = {**os.environ, "ROOT": str(root)} if root else None
    return subprocess.run(["bash", "-o", "pipefail", "-c", "\n".join(blocks)], cwd=project.root, capture_output=True, text=True, check=False, env=env)


def test_page_holds_on_an_honest_project(ran: Project) -> None:
    """Each step succeeds and names what it looked at."""
    done = run_page(ran)
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("judge.py as sealed", "prereg/pilot.yaml as sealed", "came after the seal", "which holds the seal"):
        assert words in done.stdout
    assert ran.git("status", "--short") == ""


def test_page_holds_where_an_exploratory_run_stood(drafted: Project) -> None:
    """A record of other seeds, committed at the same path before the seal, is no outcome; git says nothing of grafts."""
    drafted.edit("params.yaml", "main: pilot", "main: [1, 2, 3]")
    drafted.train([1, 2, 3])
    drafted.analyse((1, 0, 0))
    drafted.commit("An exploratory run")
    drafted.edit("params.yaml", "main: [1, 2, 3]", "main: pilot")
    drafted.commit("The registration's seeds")
    drafted.sealed()
    drafted.ran()
    done = run_page(drafted)
    assert done.returncode == 0 and done.stdout.count("came after the seal") == 1, done.stdout + done.stderr
    assert done.stderr == ""


def test_page_stops_where_the_record_stood_before_the_seal(drafted: Project, ran: Project) -> None:
    """The very bytes that are judged, committed once before the seal and taken away again, are found."""
    record = "results/analyse/main.json"
    drafted.write(record, ran.read(record))
    drafted.commit("The record first")
    drafted.git("rm", "-q", record)
    drafted.commit("And gone")
    drafted.git("pull", "-q", "--no-rebase", "--no-edit", str(ran.root), "main")
    done = run_page(drafted)
    assert done.returncode != 0 and "which holds the seal" not in done.stdout


@pytest.mark.parametrize("script", BROKEN, ids=lambda script: script.__name__)
def test_page_stops_where_the_audit_would(script, drafted: Project, ran: Project) -> None:
    """On a history that is not in order the page ends with a failure, as the audit does."""
    script(Script(drafted, ran))
    assert run_page(drafted).returncode != 0


def test_page_holds_on_a_witnessed_project(drafted: Project) -> None:
    """The token verifies under the authority's root, and the record's seed takes what the authority signed."""
    tampering_witness.witnessed(drafted)
    done = run_page(drafted, local("rsa").root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the authority signed {parse_token((drafted.root / tampering_witness.TOKEN).read_bytes()).sha256}" in done.stdout
    assert drafted.git("status", "--short") == ""
    assert run_page(drafted).returncode != 0, "without the witness the seeds are others"


@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_witness_page_asks_for_the_tokens_own_time(kind: str, ran: Project) -> None:
    """A certificate that has expired since is no fault: here the authority's ended a moment after it signed."""
    now = datetime.now(UTC)
    authority = local(kind, name="Short", intermediate=True, valid=(now - timedelta(days=1), now + timedelta(seconds=2)))
    ran.write(tampering_witness.TOKEN, authority.stamp(tampering_witness.seal_bytes(ran)))
    ran.commit("Witness")
    while datetime.now(UTC) < now + timedelta(seconds=3):
        time.sleep(0.1)
    witness = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)[-1]
    setting = f"set -eu -o pipefail\nID=pilot\nROOT={authority.root}\nBLOB=$(git rev-parse HEAD:prereg/pilot.seal.json)\n"
    done = subprocess.run(["bash", "-c", setting + witness], cwd=ran.root, capture_output=True, text=True)
    assert done.returncode == 0 and "Verification: OK" in done.stdout + done.stderr, done.stderr
    assert subprocess.run(["bash", "-c", setting + re.sub(r' -attime ".*"', "", witness)], cwd=ran.root, capture_output=True).returncode != 0


@pytest.mark.parametrize("tamper", REFUTED, ids=lambda tamper: tamper.__name__)
def test_witness_page_stops_at_a_bad_token(tamper, ran: Project) -> None:
    """Another seal's, an altered or a truncated token is refused by openssl as by the audit."""
    tamper(ran)
    if ran.git("status", "--short"):
        ran.git("commit", "-q", "--amend", "-a", "-m", "Tampered")
    assert run_page(ran, local("rsa").root).returncode != 0


def test_witness_page_stops_at_another_root(drafted: Project) -> None:
    """A token under another authority's root is not anchored."""
    tampering_witness.witnessed(drafted)
    assert run_page(drafted, local("ec").root).returncode != 0
