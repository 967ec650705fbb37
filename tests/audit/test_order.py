"""The order rule on scripted repositories: pass, fail, could not check, and never one for another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import broken_scripts
import pytest
import scripts
import tampering
from project import Project

from audit.checks import TABLE
from audit.config import load_config
from audit.context import Context
from audit.finding import Severity
from audit.verify import Report, run_check, verify


def answer(script: Callable[[scripts.Script], Path | None], drafted: Project, templates: dict[str, Project]) -> Report:
    root = script(scripts.Script(drafted, templates["ran"])) or drafted.root
    return verify(Context(root, load_config(root)))


def lines(report: Report) -> str:
    return "\n".join(finding.line() for finding in report.findings)


@pytest.mark.parametrize("script", scripts.PASS, ids=lambda script: script.__name__)
def test_honest_history_passes(script, drafted: Project, templates) -> None:
    """A record that came after its seal passes, however the branches, dates and re-runs look."""
    report = answer(script, drafted, templates)
    assert report.code == 0, lines(report)


@pytest.mark.parametrize("script", broken_scripts.FAIL, ids=lambda script: script.__name__)
def test_dishonest_history_fails(script, drafted: Project, templates) -> None:
    """A record that did not come after its seal is a finding of order, or of the seal itself."""
    report = answer(script, drafted, templates)
    assert report.code == 1, lines(report)
    codes = {finding.code for finding in report.findings if finding.severity == Severity.FINDING}
    assert codes & {"A104", "A201", "A202", "A203"}, lines(report)


@pytest.mark.parametrize("script", broken_scripts.CANNOT, ids=lambda script: script.__name__)
def test_lost_history_could_not_be_checked(script, drafted: Project, templates) -> None:
    """A history that hides which came first is neither a pass nor a fail."""
    report = answer(script, drafted, templates)
    assert report.code == 2, lines(report)


def test_forged_log_passes_and_is_not_claimed_otherwise(drafted: Project, templates) -> None:
    """A held-back record with a lying log looks honest to any history; the documents must not promise more."""
    assert answer(broken_scripts.forged_log, drafted, templates).code == 0


def test_forged_record_log_and_lock_pass(sealed: Project) -> None:
    """Whoever forges record, run log and lock together before the first commit leaves no trace in any history either."""
    sealed.train()
    sealed.analyse((1, 0, 0))
    tampering.forge(sealed, "analyse/main", lambda record: record["arms"]["treated"].update(value=3, values=[1, 1, 1]))
    sealed.evaluate()
    sealed.lock()
    sealed.commit("Results")
    assert verify(sealed.context()).code == 0


def test_lost_seal_object_could_not_be_checked(ran: Project) -> None:
    """Where git has lost the seal's bytes the order is not known; nobody is accused."""
    blob = ran.git("rev-parse", "HEAD:prereg/pilot.seal.json")
    (ran.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (order,) = [check for check in TABLE if check.name == "order"]
    found = run_check(ran.context(), order).findings
    assert [(finding.code, finding.severity) for finding in found] == [("A200", Severity.UNCHECKED)]


def test_words_of_a_failed_order(drafted: Project, templates) -> None:
    """The line names the record, the commit, what was expected and the cure."""
    found = lines(answer(broken_scripts.record_first, drafted, templates))
    assert "A201 results/analyse/main.json was in the history before its seal; expected prereg/pilot.seal.json committed first" in found
    assert "introduces the record and does not hold the seal" in found
    assert "cure: register anew" in found


def test_words_of_a_lost_start(drafted: Project, templates) -> None:
    """A lost start commit says how to bring it back."""
    found = lines(answer(broken_scripts.squash_lost_start, drafted, templates))
    assert "could not check: the commit its run started from is not in this history" in found
    assert "git tag audit/start/1 SHA" in found


def test_shallow_clone_is_one_line(drafted: Project, templates) -> None:
    """A shallow clone gives one line with the cure, not one for each check."""
    report = answer(broken_scripts.depth(1), drafted, templates)
    assert [finding.code for finding in report.findings if finding.severity == Severity.UNCHECKED] == ["A205"]
    assert "git fetch --unshallow" in lines(report)
