"""Amendments: drafted, sealed on the one before, judged beside the registered predictions and never instead of them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
import tampering_amended
from project import Project
from tampering import SECOND
from tampering_amended import amended, judged_again, seal_amendment, write_amendment

from audit.amend import main as amend
from audit.amendment import MARK
from audit.close import main as close
from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.seal import main as seal
from audit.status import main as status
from audit.verify import verify

VERDICTS = "results/evaluate/pilot.json"


def holds(p: Project) -> None:
    report = verify(p.context())
    assert report.code == 0, "\n".join(finding.line() for finding in report.findings)


def draft_by_the_tool(p: Project) -> None:
    """The tool's own draft, its marks written over."""
    with p.inside():
        amend("pilot")
    path = "prereg/pilot.amendment-1.yaml"
    assert MARK in p.read(path)
    holds(p)
    p.write(path, p.read(path).replace(MARK, "Said:").replace('"value": 2', '"value": 3'))
    p.commit("Draft")
    seal_amendment(p)
    p.commit("Seal")


def two_in_a_row(p: Project) -> None:
    amended(p)
    amended(p, 2, 3)
    first, second = (json.loads(p.read(f"prereg/pilot.amendment-{number}.seal.json")) for number in (1, 2))
    assert first["predecessor"] == sha256_bytes(p.read("prereg/pilot.seal.json").encode())
    assert second["predecessor"] == sha256_bytes(p.read("prereg/pilot.amendment-1.seal.json").encode())
    assert set(second["ledger"]) == {"pilot", "pilot.amendment-1"}


def draft_edited_before_its_seal(p: Project) -> None:
    write_amendment(p, 1, 1)
    p.commit("Draft")
    amended(p, 1, 4)


def one_branch_merged(p: Project) -> None:
    """The same amendment arrives by two ways: one blob, one chain."""
    p.git("checkout", "-q", "-b", "other")
    amended(p)
    p.git("checkout", "-q", "main")
    p.write("notes.md", "A note.\n")
    p.commit("A note")
    p.git("merge", "-q", "--no-ff", "other", "-m", "Merge")


HONEST = (draft_by_the_tool, two_in_a_row, draft_edited_before_its_seal, one_branch_merged)


@pytest.mark.parametrize("act", HONEST, ids=lambda act: act.__name__)
def test_honest_amendments_hold(act: Callable[[Project], None], ran: Project) -> None:
    """Each forgery of the table has an honest twin: amending, again, after an edit of the draft, on a branch."""
    act(ran)
    judged_again(ran)
    holds(ran)


def test_dropped_draft_was_never_sealed(ran: Project) -> None:
    """What was never sealed may go: a draft of a registration, or of an amendment."""
    ran.write("prereg/second.yaml", SECOND)
    write_amendment(ran)
    ran.commit("Drafts")
    ran.git("rm", "-q", "prereg/second.yaml", "prereg/pilot.amendment-1.yaml")
    ran.commit("Not these")
    holds(ran)


def test_both_verdicts_are_printed_and_the_registered_one_counts(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """An amended prediction has two verdicts; counts, reading and outcome are those of the registered ones."""
    amended(sealed)
    sealed.ran()
    shown = json.loads(sealed.read(VERDICTS))
    row = shown["predictions"][0]
    assert (row["verdict"], row["amended"]["verdict"], row["amended"]["target"], row["amended"]["number"]) == ("met", "missed", ">= 4", 1)
    assert [(added["id"], added["verdict"]) for added in shown["added"]] == [("P3", "met")]
    assert (shown["met"]["value"], shown["of"]["value"], shown["reading"]) == (2, 2, "The treatment works.")
    assert "amended" not in shown["predictions"][1]
    capsys.readouterr()
    from audit.evaluate import main as evaluate

    with sealed.inside():
        evaluate("pilot", None, None)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("     amendment 1, sealed before outcome, instead: P1   missed     3 (amended >= 4)")
    assert lines[-3:-1] == ["pilot: 2 met, 0 missed, 0 undecided of 2", "  1 amended"]
    sealed.git("checkout", "-q", "results")
    with sealed.inside():
        close("pilot")
    assert json.loads(sealed.read("prereg/pilot.outcome.json"))["verdicts"] == {"P1": "met", "P2": "met"}
    sealed.commit("Close")
    holds(sealed)


def before_the_run(p: Project) -> None:
    amended(p)
    p.ran()


def before_the_commit_after_the_run(p: Project) -> None:
    """The run was made first and held back: its log's start commit does not hold the amendment."""
    p.train()
    p.analyse()
    write_amendment(p)
    p.commit("Draft", "prereg")
    seal_amendment(p)
    p.commit("Seal", "prereg")
    p.evaluate()
    p.lock()
    p.commit("Results")


def between_training_and_analysis(p: Project) -> None:
    """The first run was made before: what it made could be looked at, though no metric was computed."""
    p.train()
    p.commit("Trained")
    amended(p)
    p.analyse()
    p.evaluate()
    p.lock()
    p.commit("Results")


def after_the_outcome(p: Project) -> None:
    p.ran()
    amended(p)
    judged_again(p)


def beside_the_outcome(p: Project) -> None:
    """On a branch of its own: it cannot be shown that it came first."""
    p.git("checkout", "-q", "-b", "other")
    amended(p)
    p.git("checkout", "-q", "main")
    p.ran()
    p.git("merge", "-q", "--no-ff", "other", "-m", "Merge")
    judged_again(p)


def claims_otherwise(p: Project) -> None:
    """Whatever it says of what was known, and whatever the dates."""
    p.ran()
    write_amendment(p)
    p.commit("Draft", date="2020-01-01T00:00:00Z")
    seal_amendment(p)
    p.commit("Seal", date="2020-01-01T00:00:00Z")
    judged_again(p)


@pytest.mark.parametrize(
    ("act", "label"),
    [
        (before_the_run, "before outcome"), (before_the_commit_after_the_run, "after outcome"),
        (between_training_and_analysis, "after outcome"), (after_the_outcome, "after outcome"),
        (beside_the_outcome, "after outcome"), (claims_otherwise, "after outcome"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_label_follows_from_ancestry(act: Callable[[Project], None], label: str, sealed: Project) -> None:
    """`before outcome` only where every outcome and every run that made one came after the seal of the amendment."""
    act(sealed)
    shown = json.loads(sealed.read(VERDICTS))
    assert shown["predictions"][0]["amended"]["sealed"] == label and shown["added"][0]["sealed"] == label
    holds(sealed)


def uncommitted_draft(p: Project) -> None:
    write_amendment(p)


def marked(p: Project) -> None:
    with p.inside():
        amend("pilot")
    p.commit("Draft")


def unchanged(p: Project) -> None:
    write_amendment(p, 1, 2)
    p.edit("prereg/pilot.amendment-1.yaml", "claim: All runs recover.", "claim: Most runs recover.")
    p.edit("prereg/pilot.amendment-1.yaml", '    "null": No run recovers.\n', '    undecided: {key: settled, op: "<", value: 2}\n    "null": No run recovers.\n')
    p.commit("Draft")


def other_record(p: Project) -> None:
    write_amendment(p)
    p.edit("prereg/pilot.amendment-1.yaml", "results/analyse/main.json, stage: analyse, key: settled", "results/train/shallow.json, stage: train, key: score")
    p.commit("Draft")


def other_number(p: Project) -> None:
    write_amendment(p)
    p.edit("prereg/pilot.amendment-1.yaml", "number: 1", "number: 2")
    p.commit("Draft")


def strange_key(p: Project) -> None:
    write_amendment(p)
    p.edit("prereg/pilot.amendment-1.yaml", "known:", "date: today\nknown:")
    p.commit("Draft")


def key_twice(p: Project) -> None:
    p.write("prereg/pilot.amendment-1.yaml", write_amendment(p) + "why: Another.\n")
    p.commit("Draft")


def second_document(p: Project) -> None:
    p.write("prereg/pilot.amendment-1.yaml", write_amendment(p) + "---\nwhy: Another.\n")
    p.commit("Draft")


def other_case(p: Project) -> None:
    write_amendment(p)
    p.edit("prereg/pilot.amendment-1.yaml", "id: P3", "id: p2")
    p.commit("Draft")


def unknown_metric(p: Project) -> None:
    p.ran()
    write_amendment(p)
    p.edit("prereg/pilot.amendment-1.yaml", "key: settled", "key: setled")
    p.commit("Draft")


def seal_not_committed(p: Project) -> None:
    write_amendment(p)
    p.commit("Draft")
    seal_amendment(p)


def dropped(p: Project) -> None:
    tampering_amended.amendment_dropped(p)


REFUSED = [
    (uncommitted_draft, "prereg/pilot.amendment-1.yaml: is not committed"),
    (marked, "prereg/pilot.amendment-1.yaml:5: a place marked EDIT-ME is still to be written"),
    (unchanged, "prereg/pilot.amendment-1.yaml: P1 is as it was"),
    (other_record, "prereg/pilot.amendment-1.yaml: P3 is about a record that pilot does not judge; expected results/analyse/main.json"),
    (other_number, "prereg/pilot.amendment-1.yaml: id, number and file name differ; expected pilot.amendment-1.yaml; found pilot.amendment-2.yaml"),
    (strange_key, "prereg/pilot.amendment-1.yaml: unknown key 'date'"),
    (key_twice, "prereg/pilot.amendment-1.yaml:16: not readable as YAML"),
    (second_document, "prereg/pilot.amendment-1.yaml:16: holds a second document"),
    (other_case, "prereg/pilot.amendment-1.yaml: p2 differs from a registered id by case alone"),
    (unknown_metric, "prereg/pilot.amendment-1.yaml: P3: results/analyse/main.json: no quantity at key 'setled'"),
    (seal_not_committed, "prereg/pilot.amendment-1.seal.json: exists and is not committed"),
    (dropped, "prereg/pilot.amendment-1.seal.json: was sealed before"),
]


@pytest.mark.parametrize(("spoil", "words"), REFUSED, ids=lambda value: getattr(value, "__name__", None))
def test_amend_refuses(spoil: Callable[[Project], None], words: str, sealed: Project) -> None:
    """What is not committed, not whole, not different or not new is not sealed; the line says which, and nothing is written."""
    spoil(sealed)
    before = {path: path.read_bytes() for path in (sealed.root / "prereg").rglob("*") if path.is_file()}
    with sealed.inside(), pytest.raises(Refusal) as refusal:
        amend("pilot")
    assert str(refusal.value).startswith(words) and refusal.value.code == 2
    assert {path: path.read_bytes() for path in (sealed.root / "prereg").rglob("*") if path.is_file()} == before


def test_nothing_is_amended_that_is_not_sealed(drafted: Project) -> None:
    """A draft is edited, not amended."""
    with drafted.inside(), pytest.raises(Refusal, match="the registration is not sealed"):
        amend("pilot")


def test_marked_registration_is_not_sealed(drafted: Project) -> None:
    """A place that the tool's draft marks must have been written."""
    drafted.edit("prereg/pilot.yaml", "Most runs recover.", f"{MARK} a claim")
    drafted.commit("Not finished")
    with drafted.inside(), pytest.raises(Refusal, match=f"a place marked {MARK} is still to be written"), contextlib.redirect_stdout(None):
        seal("pilot")


def test_status_counts_amendments(ran: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Sealed amendments and drafts of them stand in the line of their registration."""
    amended(ran)
    write_amendment(ran, 2, 3)
    with ran.inside():
        status()
    assert capsys.readouterr().out.splitlines()[-1].endswith("judged: audit close pilot; 1 amended; 1 amendment not sealed")


def test_amendment_after_closing_is_judged_and_labelled(ran: Project) -> None:
    """Closing does not end amending; the outcome stays what it was."""
    with ran.inside():
        close("pilot")
    ran.commit("Close")
    amended(ran)
    judged_again(ran)
    assert json.loads(ran.read(VERDICTS))["predictions"][0]["amended"]["sealed"] == "after outcome"
    holds(ran)
