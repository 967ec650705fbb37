"""A threshold that a frozen record holds decides as it was sealed, whatever becomes of the record."""

from __future__ import annotations

import json

import pytest
from project import PILOT, Project

from audit.close import main as close
from audit.evaluate import main as evaluate
from audit.verify import verify

FROZEN = PILOT.replace('{op: ">=", value: 2}', '{op: ">=", frozen: {file: results/calibrate/calibration.json, key: line}}')


@pytest.fixture
def thresholded(drafted: Project) -> Project:
    """The pilot with a frozen threshold of 0.5, sealed and run."""
    drafted.write("prereg/pilot.yaml", FROZEN)
    drafted.commit("A frozen threshold")
    drafted.sealed()
    drafted.ran()
    return drafted


def row(project: Project) -> dict[str, object]:
    return json.loads(project.read("results/evaluate/pilot.json"))["predictions"][0]


def test_frozen_threshold_is_in_order(thresholded: Project) -> None:
    """Run, verified, closed and verified again, with nothing found."""
    assert (row(thresholded)["target"], row(thresholded)["verdict"]) == (">= results/calibrate/calibration.json:line", "met")
    assert verify(thresholded.context()).code == 0
    with thresholded.inside():
        close("pilot")
    thresholded.commit("Close")
    report = verify(thresholded.context())
    assert report.code == 0, [finding.line() for finding in report.findings]


def test_threshold_moved_after_sealing_moves_no_verdict(thresholded: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Judging reads the sealed copy, also where another record is judged on request."""
    thresholded.edit("results/calibrate/calibration.json", '"value": 0.5', '"value": 9.5')
    thresholded.evaluate()
    assert row(thresholded)["verdict"] == "met"
    capsys.readouterr()
    with thresholded.inside():
        evaluate("pilot", "results/analyse/main.json", None)
    assert "P1   met" in capsys.readouterr().out


def test_other_side_of_the_frozen_threshold_is_missed(drafted: Project) -> None:
    """The number in the sealed copy decides: with another one sealed, the same record is missed."""
    drafted.edit("results/calibrate/calibration.json", '"value": 0.5', '"value": 9.5')
    drafted.write("prereg/pilot.yaml", FROZEN)
    drafted.commit("Another threshold, before the seal")
    drafted.sealed()
    drafted.ran()
    assert row(drafted)["verdict"] == "missed"
