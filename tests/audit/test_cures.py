"""Cures that do what they say: those of records that were judged by hand, of verdicts, and of drafts."""

from __future__ import annotations

import pytest
from project import Project
from tampering_amended import amended, parameter_tuned, write_amendment

from audit.evaluate import main as evaluate
from audit.numbers.format import format_beside
from audit.prml import sentence
from audit.records import Quantity
from audit.verify import verify

VERDICTS = "results/evaluate/pilot.json"
STAGE = "  evaluate:\n    cmd: python -m audit evaluate pilot\n"


def found(project: Project, code: str) -> list[str]:
    return [finding.line() for finding in verify(project.context()).findings if finding.code == code]


def drop_stage(project: Project) -> None:
    """A project whose dvc.yaml has no stage for the verdicts, which were made by hand."""
    project.write("dvc.yaml", project.read("dvc.yaml").partition("  evaluate:\n")[0])
    project.write("dvc.lock", project.read("dvc.lock").partition("  evaluate:\n")[0])
    project.commit("Judged by hand")


def test_verdicts_that_no_stage_makes(ran: Project) -> None:
    """The cure is a stage; nothing asks to commit a stage that there is not."""
    drop_stage(ran)
    (line,) = found(ran, "A312")
    assert line.startswith(f"A312 {VERDICTS}") and "cure: declare `audit evaluate pilot` as a stage that writes it (README)" in line
    assert not [line for line in found(ran, "A313") if "evaluate" in line]


def test_inputs_are_asked_of_the_stage_that_writes_the_record(ran: Project) -> None:
    """Two registrations have two stages that judge; the one that lacks a dependency is named, not `evaluate`."""
    ran.edit("dvc.yaml", f"{STAGE}    deps: [results/analyse/main.json]\n", f"{STAGE.replace('evaluate:', 'judge:')}    deps: [params.yaml]\n")
    (line,) = [line for line in found(ran, "A313") if "none of its dependencies" in line]
    assert "stage judge read a file" in line and line.endswith("then dvc commit judge")


def test_a_judgement_by_hand_is_cured_by_its_stage(ran: Project) -> None:
    """HEAD's copy of a file that is as HEAD has it is no cure."""
    with ran.inside():
        evaluate("pilot", None, None)
    ran.commit("Judge again, by hand", "results")
    lines = found(ran, "A304")
    assert lines and all(line.endswith("cure: dvc repro evaluate, and commit") for line in lines)


def test_an_edited_output_is_restored(ran: Project) -> None:
    """What differs from HEAD is named for git; the lock, which does not, is left out."""
    ran.edit("results/analyse/main.json", '"version": 1', '"version":  1')
    assert found(ran, "A304")[0].endswith("cure: git checkout HEAD -- results/analyse/main.json, or dvc repro analyse")


def test_wrong_verdicts_are_cured_by_their_stage(ran: Project) -> None:
    """With a stage the command is its own, without one the tool's."""
    ran.edit(VERDICTS, '"verdict": "met"', '"verdict": "missed"')
    assert found(ran, "A309")[0].endswith("cure: dvc repro evaluate")
    drop_stage(ran)
    assert found(ran, "A309")[0].endswith("cure: audit evaluate pilot")


def test_a_committed_draft_is_to_be_sealed(ran: Project) -> None:
    """A draft is committed first; one that is committed is not asked for again."""
    write_amendment(ran)
    assert found(ran, "A118")[0].endswith("cure: commit it, then audit amend pilot")
    ran.commit("A draft")
    assert found(ran, "A118")[0].endswith("cure: audit amend pilot seals it")


def test_deviations_stand_beside_the_verdicts(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`audit evaluate` prints their number and each of them, and the amendments; a file that cannot be read takes no verdict away."""
    amended(sealed)
    parameter_tuned(sealed)
    capsys.readouterr()
    with sealed.inside():
        evaluate("pilot", None, None)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3] == "  1 amended; 1 deviation, 1 not declared"
    assert lines[-2].startswith("  amendment 1, sealed before outcome: P1, P3; why: ")
    assert lines[-1] == "  deviation, parameters steps: registered absent, run 200; why: not declared"
    sealed.write("prereg/pilot.deviations.yaml", "- {kind: nothing}\n")
    with sealed.inside():
        evaluate("pilot", None, None)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].startswith("pilot: 2 met") and lines[-1].startswith("  amendments and deviations cannot be told: prereg/pilot.deviations.yaml")


@pytest.mark.parametrize(
    ("value", "more", "target", "shown"),
    [
        (0.28731245, {"digits": 2}, "< 0.5", "0.29"),
        (0.28731245, {"digits": 2, "unit": "nats"}, "< 0.5", "0.29 nats"),
        (0.312, {"digits": 1, "style": "percent"}, ">= 0.3", "31.2%"),
        (3, {"digits": 0, "style": "integer"}, ">= 2 in at least 3 units", "3"),
        (0.9496, {"digits": 2}, ">= 0.95", "0.9496"),
        (0.9496, {"digits": 2}, "[0.1, 0.95]", "0.9496"),
        (-0.004, {"digits": 1}, "< 0", "-0.004"),
    ],
)
def test_an_observed_value_is_printed_as_its_record_prints_it(value: float, more: dict[str, object], target: str, shown: str) -> None:
    """With its digits and style, without the unit 1; in full where rounding would carry it over its target."""
    assert format_beside(Quantity(value=value, tolerance=0, **more), target) == shown


@pytest.mark.parametrize(("text", "ended"), [("It holds", "It holds."), ("It holds.", "It holds."), ("Does it?", "Does it?"), ("It holds \n", "It holds.")])
def test_a_claim_ends_before_the_next_sentence(text: str, ended: str) -> None:
    """PRML notes set claim and null one after the other."""
    assert sentence(text) == ended
