"""The order rule where DVC runs the stages: each of its ways gives the answer that its history deserves."""

from __future__ import annotations

from pathlib import Path

import dvc_ways
import pytest
from dvc_ways import Piped

from audit.finding import Severity
from audit.verify import Report, verify


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Piped:
    return Piped.create(tmp_path_factory.mktemp("dvc") / "begun")


@pytest.fixture
def piped(begun: Piped, tmp_path: Path) -> Piped:
    """A drafted registration and a stage that DVC runs."""
    return begun.copy(tmp_path / "piped")


@pytest.fixture(scope="session")
def staged(begun: Piped, tmp_path_factory: pytest.TempPathFactory) -> Piped:
    """A careless experiment made while the seal was only staged; the seal was committed after it."""
    project = begun.copy(tmp_path_factory.mktemp("dvc") / "staged")
    dvc_ways.staged_experiment(project)
    return project


def lines(report: Report) -> str:
    return "\n".join(finding.line() for finding in report.findings)


def failing(report: Report) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity == Severity.FINDING}


@pytest.mark.parametrize("way", dvc_ways.PASS, ids=lambda way: way.__name__)
def test_honest_way_passes(way, piped: Piped) -> None:
    """Whichever way DVC ran the stage and brought its record home, a run from a commit that holds the seal passes."""
    way(piped)
    assert (piped.root / "results/train/main.json").is_file()
    report = verify(piped.context(), disabled=("unjudged", "deviations", "environment"))  # nobody judges here, and a rate may be exploratory
    assert report.code == 0, lines(report)
    assert "1 judged records" in next(checked.counted for checked in report.checked if checked.check.name == "order")


@pytest.mark.parametrize("way", dvc_ways.FAIL, ids=lambda way: way.__name__)
def test_run_from_before_the_seal_fails(way, piped: Piped) -> None:
    """A run that began without the committed seal is found, though the seal lay in the index and in the experiment's commit."""
    way(piped)
    refuse_order(verify(piped.context()))


@pytest.mark.parametrize("way", dvc_ways.FAIL_STAGED, ids=lambda way: way.__name__)
def test_experiment_with_a_staged_seal_fails(way, staged: Piped, tmp_path: Path) -> None:
    """Neither way home hides that the experiment began at a commit without the seal."""
    project = staged.copy(tmp_path / "project")
    way(project)
    refuse_order(verify(project.context()))


def refuse_order(report: Report) -> None:
    assert report.code == 1, lines(report)
    assert failing(report) & {"A201", "A202"}, lines(report)


def test_the_gate_stops_an_experiment_with_a_staged_seal(piped: Piped) -> None:
    """Honest code does not come that far: in the experiment's own clone HEAD holds no seal, and the stage stops in one line."""
    piped.stage_seal()
    done = piped.dvc("exp", "run", "--temp")
    assert done.returncode != 0
    assert "prereg/pilot.seal.json: the seal is not committed: HEAD does not hold it" in done.stdout + done.stderr


def test_old_experiment_that_removes_the_seal(piped: Piped) -> None:
    """`dvc exp apply` of an experiment from before the seal takes the seal away: named, with the command that brings it back."""
    piped.edit("params.yaml", "main: pilot", "main: [3, 4]")
    piped.commit("Explore")
    piped.ok("exp", "run", "-q", "--temp", "-S", "rate=2")
    piped.edit("params.yaml", "main: [3, 4]", "main: pilot")
    piped.commit("Back to the registered seeds")
    piped.sealed()
    piped.ok("exp", "apply", "-q", piped.experiment())
    assert not (piped.root / "prereg/pilot.seal.json").exists()
    report = verify(piped.context())
    assert "A104" in failing(report)
    assert "A104 prereg/pilot.seal.json is missing from the working tree" in lines(report)
    assert "cure: git checkout HEAD -- prereg/pilot.seal.json" in lines(report)
