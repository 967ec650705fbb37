"""What this clone holds beside its history can add findings and is counted, and never takes a finding away."""

from __future__ import annotations

import pytest
import tampering_sharing
from project import Project

from audit.finding import Severity
from audit.verify import verify


def shown(project: Project) -> list[str]:
    return [finding.line() for finding in verify(project.context()).findings if finding.code == "A208"]


@pytest.mark.parametrize("hide", ["branch", "stash", "reflog", "experiment"])
def test_record_before_its_seal_elsewhere(hide: str, ran: Project) -> None:
    """A branch, a stash, an experiment or only a reflog that holds the judged record without the seal is found."""
    record = ran.read("results/analyse/main.json")
    ran.git("checkout", "-q", "-b", "abandoned", "HEAD~2")
    ran.write("results/analyse/main.json", record)
    if hide == "stash":
        ran.git("add", "-A")
        ran.git("stash", "-q")
    else:
        found = ran.commit("What came out")
    ran.git("checkout", "-q", "main")
    if hide != "branch":
        ran.git("branch", "-q", "-D", "abandoned")
    if hide == "experiment":
        ran.git("update-ref", "refs/exps/12/345/lucky", found)
        ran.git("reflog", "expire", "--expire=now", "--all")
    said = "\n".join(shown(ran))
    assert "A208 results/analyse/main.json stands in a commit outside this history that does not hold its seal" in said
    places = {"branch": "on refs/heads/abandoned", "stash": "on refs/stash", "reflog": "on a reflog entry alone", "experiment": "on refs/exps/12/345/lucky"}
    assert places[hide] in said


def test_other_results_on_the_seeds_are_counted(ran: Project) -> None:
    """Results on the registered seeds that were left on a branch are a note with their number; so are seals."""
    ran.git("checkout", "-q", "-b", "side")
    ran.analyse((1, 0, 0))
    ran.commit("Not this one")
    ran.write("prereg/other.seal.json", "{}")
    ran.commit("A seal")
    ran.git("checkout", "-q", "main")
    notes = shown(ran)
    assert len(notes) == 2 and all(" note: " in note for note in notes)
    assert "1 seals stand on branches, experiments, stashes or reflogs outside this history; found prereg/other.seal.json" in notes[0]
    assert "found results/analyse/main.json first, on refs/heads/side" in notes[1] and "on refs/heads/side" in notes[0]
    assert "1 more results under this seal or on its seeds stand on branches" in notes[1]


def test_whole_clone_without_other_refs_is_silent(ran: Project) -> None:
    """A fresh clone holds its history and nothing beside it."""
    ran.git("clone", "-q", ran.root.as_uri(), "../clone")
    assert shown(Project(ran.root.parent / "clone")) == []


def test_pruned_reflog_is_no_failure(ran: Project) -> None:
    """What is lost beside the history costs at most a note: the order inside it is known."""
    tampering_sharing.shown_elsewhere_first(ran)
    lost = ran.git("rev-parse", "abandoned^{tree}")
    (ran.root / ".git/objects" / lost[:2] / lost[2:]).unlink()
    report = verify(ran.context())
    assert report.code == 0, [finding.line() for finding in report.findings]
    assert {finding.severity for finding in report.findings if finding.code == "A208"} == {Severity.NOTE}
