"""A closed registration after the parameters have moved on to another one: its verdicts stay, in the record and in the paper."""

from __future__ import annotations

import json

import pytest
from project import PILOT, Project

from audit.appendix import compute_attrition
from audit.close import main as close
from audit.denominator import verdict_words
from audit.evaluate import main as evaluate
from audit.verify import verify

NEXT = PILOT.replace("id: pilot", "id: next").replace("seed_sets.main: pilot", "seed_sets.main: next").replace("value: 2}", "value: 3}", 1)
VERDICTS = "results/evaluate/pilot.json"
NEXT_STAGE = """\
  evaluate-next:
    cmd: python -m audit evaluate next
    deps: [results/analyse/main.json]
    outs: [{results/evaluate/next.json: {cache: false}}, {results/evaluate/next.run.json: {cache: false}}]
"""


def found(project: Project, code: str) -> list[str]:
    return [finding.line() for finding in verify(project.context(), disabled=("pipeline",)).findings if finding.code == code]


@pytest.fixture
def moved(ran: Project) -> Project:
    """The pilot is closed, and the parameters name a second registration, which is sealed."""
    with ran.inside():
        close("pilot")
    ran.commit("Close the pilot")
    ran.edit("params.yaml", "main: pilot", "main: next")
    ran.write("prereg/next.yaml", NEXT)
    ran.write("dvc.yaml", ran.read("dvc.yaml") + NEXT_STAGE)
    ran.commit("Register next")
    ran.seal("next")
    ran.commit("Seal next")
    return ran


def run_next(project: Project) -> None:
    """What `dvc repro` does: both are evaluated, after the records have become the second one's."""
    project.train("next")
    project.analyse((1, 1, 0))
    with project.inside():
        evaluate("pilot", None, None)
        evaluate("next", None, None)


def test_a_closed_record_stays(moved: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Its very bytes are written, with the run log's, and said; audit and words agree, committed too."""
    before = moved.read(VERDICTS), moved.read("results/evaluate/pilot.run.json")
    (moved.root / VERDICTS).unlink()  # as DVC deletes the outputs of a stage that it runs
    run_next(moved)
    assert (moved.read(VERDICTS), moved.read("results/evaluate/pilot.run.json")) == before
    assert f"pilot: closed with P1 met, P2 met; {VERDICTS} stays as commit " in capsys.readouterr().out
    assert json.loads(moved.read("results/evaluate/next.json"))["predictions"][0]["verdict"] == "missed"
    for _ in range(2):
        report = verify(moved.context(), disabled=("pipeline",))
        assert report.code == 0, [finding.line() for finding in report.findings]
        moved.git("add", "-A")
        moved.git("commit", "-q", "--allow-empty", "-m", "Results of next")
    words = verdict_words(moved.context())
    assert (words["pilot.P1"], words["next.P1"]) == ("met", "missed")


def test_attrition_is_of_the_closed_records(moved: Project) -> None:
    """What was excluded is counted in the records that the verdict came from, not in those of the second registration."""
    moved.train("next")
    moved.analyse((1, 1))
    with moved.inside():
        evaluate("pilot", None, None)
    traced = compute_attrition(moved.context())["pilot.P1"]
    assert (traced.verdict, traced.run) == ("met", 3)


def test_erased_verdicts_are_found(moved: Project) -> None:
    """A record that calls a closed registration not evaluated, or is another than it was closed with, is a finding with its cure."""
    moved.train("next")
    moved.analyse((1, 1, 0))
    moved.evaluate()  # what an earlier version of the tool wrote
    assert json.loads(moved.read(VERDICTS))["evaluated"] is False
    (line,) = found(moved, "A309")
    assert "is not the record that pilot was closed with" in line and "expected P1 met, P2 met" in line
    assert line.endswith("cure: dvc repro --force --single-item evaluate")


def test_forged_counts_of_a_closed_record_are_found(ran: Project) -> None:
    """What stays is judged again from the records of its commit: an outcome that names a forged record is no way round."""
    with ran.inside():
        close("pilot")
    outcome = json.loads(ran.read("prereg/pilot.outcome.json"))
    record = json.loads(ran.read(VERDICTS))
    record["met"]["value"] = 7
    ran.write(VERDICTS, json.dumps(record))
    outcome["commit"] = ran.commit("Forge", "results")
    outcome["records"][VERDICTS] = ran.git("rev-parse", f"HEAD:{VERDICTS}")
    ran.write("prereg/pilot.outcome.json", json.dumps(outcome))
    ran.edit("params.yaml", "main: pilot", "main: next")
    ran.write("prereg/next.yaml", NEXT)
    ran.commit("Close and move on")
    assert "counts, reading, predictions or amendments do not follow" in found(ran, "A309")[0]


def test_an_exploratory_run_is_noted(moved: Project) -> None:
    """Where no registration holds, a closed one is not evaluated, as the README has it; that is a note, which names the outcome."""
    moved.edit("params.yaml", "main: next", "main: [11]")
    with moved.inside():
        evaluate("pilot", None, None)
    assert json.loads(moved.read(VERDICTS))["evaluated"] is False
    assert not found(moved, "A309")
    (line,) = found(moved, "A316")
    assert line.startswith(f"A316 {VERDICTS} note: was closed, and is shown as not evaluated here; expected P1 met, P2 met")


def test_a_closed_record_outlives_what_it_was_made_from(moved: Project) -> None:
    """Its sources may go once another registration holds: they are in the commit it was closed with. Of a record in use they may not."""
    moved.lock()
    moved.write("dvc.lock", moved.read("dvc.lock").replace("results/analyse/", "results/other/"))
    before, _, after = moved.read("dvc.yaml").partition("  analyse:\n")
    moved.write("dvc.yaml", before + after[after.index("  evaluate:\n") :])
    (moved.root / "results/analyse/main.json").unlink()
    gone = "results/analyse/main.json results/evaluate/pilot.json was made from it and it is missing"

    def lines() -> list[str]:
        return [finding.line() for finding in verify(moved.context(), disabled=()).findings if finding.code == "A306"]

    assert not [line for line in lines() if gone in line]
    moved.edit("params.yaml", "main: next", "main: pilot")
    assert [line for line in lines() if gone in line]
