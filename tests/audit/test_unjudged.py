"""The denominator: no sealed registration without verdicts goes unsaid, and the counts run over all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import pytest
import tampering_unjudged
from project import Project

from audit.appendix import tell
from audit.denominator import State, count_all, expect_met, phrase, registered, second_argument
from audit.finding import FOUND, Refusal, Severity
from audit.provenance import provenance_values
from audit.rendering import main as render
from audit.verify import run_stage, verify


def codes(project: Project) -> set[str]:
    return {finding.code for finding in verify(project.context()).findings if finding.severity is not Severity.NOTE}


def state(project: Project, name: str) -> State:
    return registered(project.context())[name].state


def test_a_seal_that_waits_for_its_run_is_a_note(sealed: Project) -> None:
    """Seal, commit, verify: exit 0, and one line says that it waits."""
    sealed.lock()
    report = verify(sealed.context())
    assert report.code == 0 and state(sealed, "pilot") is State.WAITING
    (note,) = [finding for finding in report.findings if finding.code == "A123"]
    assert note.severity is Severity.NOTE and "not run yet" in note.line() and r"\unjudged{pilot}" in note.line()


def test_no_paper_is_rendered_in_silence_about_a_registration(sealed: Project) -> None:
    """`audit render` refuses while one waits, and goes on once the manuscript says why."""
    sealed.lock()
    sealed.write("manuscript/paper.tex", "\\begin{document}\nNothing yet.\n\\end{document}\n")
    with sealed.inside():
        assert run_stage() == 0
        with pytest.raises(Refusal, match="A123: is registered and not run") as refused:
            render()
        assert refused.value.code == FOUND and not (sealed.root / "manuscript/generated").exists()
        sealed.edit("manuscript/paper.tex", "Nothing yet.", "\\unjudged{pilot}{the runs are under way}")
        render()
    assert r"\@namedef{audit@unjudged@pilot}{pilot}" in sealed.read("manuscript/generated/macros.tex")


SAID: dict[str, tuple[str, Callable[[Project], None]]] = {
    "run in part": ("sealed", tampering_unjudged.run_in_part_and_said),
    "passed over": ("drafted", tampering_unjudged.passed_over_and_said),
}


@pytest.mark.parametrize(("base", "act"), SAID.values(), ids=SAID)
def test_what_the_document_says_is_no_finding(templates: dict[str, Project], tmp_path, base: str, act: Callable[[Project], None]) -> None:
    """The honest twin of each act: the same history, and a manuscript that says so with a reason."""
    project = templates[base].copy(tmp_path / "project")
    act(project)
    report = verify(project.context())
    assert report.code == 0, [finding.line() for finding in report.findings]


NO_REASON = {
    "no words": "\\unjudged{pilot}{ }",
    "commands alone": "\\unjudged{pilot}{\\relax{}}",
    "in a comment": "% \\unjudged{pilot}{the disk was full}",
    "never typeset": "\\newcommand{\\later}{\\unjudged{pilot}{the disk was full}}",
}


@pytest.mark.parametrize("sentence", NO_REASON.values(), ids=NO_REASON)
def test_a_reason_is_words_that_are_typeset(sealed: Project, sentence: str) -> None:
    """An empty reason, or one that LaTeX passes over, says nothing."""
    tampering_unjudged.run_in_part(sealed)
    sealed.write("manuscript/paper.tex", f"\\begin{{document}}\n{sentence}\nText.\n\\end{{document}}\n")
    assert "A123" in codes(sealed)


def test_a_judged_registration_cannot_be_called_unjudged(ran: Project) -> None:
    """`\\unjudged` names a sealed registration that has no verdicts."""
    tampering_unjudged.write_paper(ran, "\\unjudged{pilot}{it was missed} \\unjudged{pilto}{a slip}")
    found = [finding.line() for finding in verify(ran.context()).findings if finding.code == "A402"]
    assert len(found) == 2 and "pilot has verdicts" in found[0] and "nearest: pilot" in found[1]


def test_passed_over_without_a_manuscript_is_a_note(drafted: Project) -> None:
    """Where there is no document that could say so, the note says it."""
    tampering_unjudged.seal_second(drafted)
    drafted.sealed()
    assert state(drafted, "second") is State.ELSEWHERE
    drafted.ran()
    assert state(drafted, "second") is State.PASSED and codes(drafted) == set()


def test_counts_run_over_every_registration_of_the_history(drafted: Project) -> None:
    """Judged, never run, or dropped from the tree: each counts in n."""
    tampering_unjudged.seal_second(drafted)
    drafted.sealed()
    drafted.ran()
    wanted = {"met": 2, "missed": 0, "undecided": 0, "unjudged": 2, "post_hoc": 0, "registered": 4}
    assert count_all(registered(drafted.context()).values()) == wanted
    drafted.git("rm", "-q", "prereg/second.yaml", "prereg/second.seal.json")
    drafted.commit("Drop the loser")
    context = drafted.context()
    assert state(drafted, "second") is State.DROPPED and count_all(registered(context).values()) == wanted
    assert phrase(wanted) == "2 met, 0 missed, 0 undecided, 2 not judged of 4 registered"
    values = provenance_values(context)
    assert [values[f"all.{name}"] for name in ("registrations", "met", "unjudged", "registered")] == ["2", "2", "2", "4"]


def test_what_chance_would_meet_is_a_sum_over_known_chances(drafted: Project) -> None:
    """A quarter declared, and of the other prediction nothing: one quarter of one known."""
    drafted.edit("prereg/pilot.yaml", '"null": No run recovers.', '"null": {text: No run recovers., chance: 0.25}')
    drafted.commit("Say the chance")
    drafted.sealed()
    entries = registered(drafted.context())
    assert expect_met(entries.values()) == (Fraction(1, 4), 1)
    values = provenance_values(drafted.context())
    assert [values[f"{name}.{part}"] for name in ("pilot", "all") for part in ("by_chance", "by_chance_of")] == ["0.25", "1"] * 2
    told = tell(list(entries.values()))
    assert told["by_chance"]["value"] == 0.25 and told["by_chance_of"]["value"] == 1


def test_without_a_known_chance_nothing_is_said_of_chance(sealed: Project) -> None:
    """No zero is printed for what nobody knows."""
    entries = registered(sealed.context())
    assert expect_met(entries.values()) == (0, 0) and not tell(list(entries.values())).keys() & {"by_chance", "by_chance_of"}
    assert not {"pilot.by_chance", "all.by_chance_of"} & provenance_values(sealed.context()).keys()


def test_a_closed_registration_keeps_its_first_counts(ran: Project) -> None:
    """What was closed counts, whatever the verdicts' record of a later run says."""
    from audit.close import main as close

    with ran.inside():
        close("pilot")
    ran.commit("Close")
    record = json.loads(ran.read("results/evaluate/pilot.json"))
    record["predictions"][0]["verdict"] = "missed"
    ran.write("results/evaluate/pilot.json", json.dumps(record))
    assert count_all(registered(ran.context()).values())["met"] == 2


ARGUMENTS = {
    r"{a}{the disk}": "the disk",
    "{a} {the % full\n disk}": "the disk",
    r"{a}{the {\em small} disk}": r"the {\em small} disk",
    r"{a}{}": "",
    r"{a}{\relax 5 %}": "",
    r"{a} text": "",
}


@pytest.mark.parametrize(("source", "reason"), ARGUMENTS.items(), ids=list(ARGUMENTS))
def test_the_reason_is_read_as_written(source: str, reason: str) -> None:
    """Blanks as one, comments left out, nested braces kept; nothing where no word stands."""
    assert second_argument(source, 0) == reason
