"""Dates decide nothing: every scripted repository again, with all its commits years earlier or later."""

from __future__ import annotations

from itertools import cycle

import broken_scripts
import pytest
import scripts
from project import Project, make_templates

from audit.finding import Severity
from audit.verify import verify

YEARS = ("2009-05-04T00:00:00Z", "2039-05-04T00:00:00Z")
ANSWERS = (
    [(script, 0) for script in scripts.PASS] + [(script, 1) for script in broken_scripts.FAIL] + [(script, 2) for script in broken_scripts.CANNOT]
)
CASES = [(script, code, date) for (script, code), date in zip(ANSWERS, cycle(YEARS), strict=False)]


@pytest.fixture(scope="session")
def dated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Project]]:
    return {date: make_templates(tmp_path_factory.mktemp("dated"), date) for date in YEARS}


@pytest.mark.parametrize(("script", "code", "date"), CASES, ids=lambda value: getattr(value, "__name__", str(value)[:4]))
def test_shifted_dates_change_no_answer(script, code: int, date: str, dated, tmp_path) -> None:
    """Pass, fail or could not check: the same with every author's and committer's date shifted by years."""
    project = dated[date]["drafted"].copy(tmp_path / "drafted")
    root = script(scripts.Script(project, dated[date]["ran"])) or project.root
    report = verify(Project(root).context())
    assert report.code == code, [finding.line() for finding in report.findings if finding.severity != Severity.NOTE]


def test_odd_times_are_only_noted(ran: Project, dated) -> None:
    """A run log that ends before it starts, or starts before its start commit was made, is a note, and the answer is the same."""
    ran.edit("results/train/shallow.run.json", '"ended": "', '"ended": "1')
    ran.lock()
    later = dated[YEARS[1]]["ran"]
    for project, words in ((ran, "gives a time that is none"), (later, "starts before the commit it says it started from was made")):
        report = verify(project.context())
        notes = [finding for finding in report.findings if finding.code == "A209"]
        assert report.code == 0 and {finding.severity for finding in notes} == {Severity.NOTE}
        assert any(words in finding.line() for finding in notes)


def test_end_before_start_is_noted(ran: Project) -> None:
    """The line names the log and both times."""
    ran.edit("results/train/shallow.run.json", '"ended": "2', '"ended": "1')
    ran.lock()
    (note,) = [finding.line() for finding in verify(ran.context()).findings if finding.code == "A209"]
    assert note.startswith("A209 results/train/shallow.run.json note: ends before it starts; expected an end after 2")
