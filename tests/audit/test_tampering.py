"""Every finding code is found by its check after a tampering, and by nothing once that check is disabled."""

from __future__ import annotations

from pathlib import Path

import pytest
import tampering_files
from project import Project
from tampering_table import TABLE, Row

from audit.checks import TABLE as CHECKS
from audit.digest import md5_tree
from audit.explain import EXPLAINED
from audit.finding import Severity
from audit.verify import Report, verify

NOTES = {"A115", "A117", "A209", "A211"}  # never findings: not evaluated here, sealed post hoc, an odd time, a witness; other tests have them


def failing(report: Report) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity != Severity.NOTE}


def lines(report: Report) -> str:
    return "\n".join(finding.line() for finding in report.findings)


@pytest.fixture
def tampered(request: pytest.FixtureRequest, templates: dict[str, Project], tmp_path) -> tuple[Row, Project]:
    row: Row = request.param
    if row.base == "drafted":
        templates["ran"].copy(tmp_path / "honest")
    project = templates[row.base].copy(tmp_path / "project")
    row.tamper(project)
    return row, project


@pytest.mark.parametrize("tampered", TABLE, ids=lambda row: f"{row.code}-{row.tamper.__name__}", indirect=True)
def test_tampering_is_found_by_its_check_alone(tampered: tuple[Row, Project]) -> None:
    """The code appears; it is all that the check finds; with the check disabled the same tree passes."""
    row, project = tampered
    whole = verify(project.context())
    assert row.code in failing(whole), lines(whole)
    alone = verify(project.context(), disabled=row.also) if row.also else whole
    assert failing(alone) == row.wanted, lines(alone)
    assert alone.code == row.exit
    blind = verify(project.context(), disabled=(row.check, *row.also))
    assert blind.code == 0, lines(blind)


def test_honest_project_passes(ran: Project) -> None:
    """Without tampering there is nothing to find: each row above is the tampering's own doing."""
    report = verify(ran.context())
    assert report.code == 0, lines(report)
    assert not failing(report)


@pytest.mark.parametrize("make", [tampering_files.figures, tampering_files.states])
def test_honest_folders_pass(make, ran: Project) -> None:
    """A folder is named as DVC names it, in git or in the cache: without an edit there is nothing to find."""
    make(ran)
    report = verify(ran.context())
    assert report.code == 0, lines(report)


def test_folder_digest_is_that_of_dvc() -> None:
    """The digest of this repository's figures is the one that DVC itself wrote into dvc.lock."""
    root = Path(__file__).resolve().parents[2]
    assert f"md5: {md5_tree(root / 'results/figures')}" in (root / "dvc.lock").read_text()


def test_stage_that_never_ran_is_no_finding(sealed: Project) -> None:
    """Half of a pipeline is an honest state: what no stage of the lock made and no commit held is not missed."""
    sealed.lock()
    sealed.commit("Lock the calibration")
    report = verify(sealed.context())
    assert report.code == 0, lines(report)


def test_every_code_has_a_tampering() -> None:
    """No finding code of registrations, order or records goes without a test that makes it appear."""
    codes = {code for check in CHECKS for code in check.codes if code < "A400"} | {"A100", "A200", "A300"}
    assert codes - NOTES == {row.code for row in TABLE}


def test_every_code_is_explained() -> None:
    """`audit explain` knows every code that a check may give."""
    assert {code for check in CHECKS for code in check.codes} <= EXPLAINED.keys()
