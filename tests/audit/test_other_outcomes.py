"""A registration is judged on its own outcome alone, and `audit status` says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import PILOT, Project

from audit.close import main as close
from audit.evaluate import main as evaluate
from audit.finding import Refusal
from audit.status import main as status

NEXT = PILOT.replace("id: pilot", "id: next").replace("seed_sets.main: pilot", "seed_sets.main: next").replace("value: 2}", "value: 3}", 1)
RECORD = "results/analyse/main.json"


@pytest.fixture
def sealed_next(ran: Project) -> Project:
    """A second registration is sealed, nothing is run, and the first one's record still lies there."""
    ran.edit("params.yaml", "main: pilot", "main: next")
    ran.write("prereg/next.yaml", NEXT)
    ran.commit("Register next")
    ran.seal("next")
    ran.commit("Seal next")
    return ran


def told(project: Project, capsys: pytest.CaptureFixture[str], name: str | None = None) -> tuple[int, list[str]]:
    capsys.readouterr()
    with project.inside():
        code = status(name)
    return code, capsys.readouterr().out.splitlines()


def test_another_outcome_is_not_judged(sealed_next: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that names the file, the seal and whose it is; nothing is written; status asks for the run."""
    expected = f"{RECORD}: was not made under the seal of next: it is no outcome of it; expected a run that names prereg/next.seal.json; found under pilot"
    with sealed_next.inside(), pytest.raises(Refusal) as refusal:
        evaluate("next", None, None)
    assert str(refusal.value).startswith(expected)
    assert not (sealed_next.root / "results/evaluate/next.json").exists()
    _, lines = told(sealed_next, capsys)
    assert f"{'next':20} sealed; to run: {RECORD}" in lines


def test_an_exploratory_outcome_is_not_judged(sealed: Project) -> None:
    """A record of other seeds stands under no seal."""
    sealed.edit("params.yaml", "main: pilot", "main: [1, 2, 3]")
    sealed.train([1, 2, 3])
    sealed.analyse()
    sealed.git("checkout", "-q", "params.yaml")
    with pytest.raises(Refusal, match="found under no seal"):
        sealed.evaluate()


def test_on_a_file_it_prints_and_writes_nothing(sealed_next: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`--on` is the way to look at another record."""
    with sealed_next.inside():
        evaluate("next", RECORD, None)
    assert "next: 2 of 2 met on this record (nothing written)" in capsys.readouterr().out
    assert not (sealed_next.root / "results/evaluate/next.json").exists()


def test_its_own_outcome_is_judged(sealed_next: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The honest twin: run under its seal, then judged; until then status says by which command."""
    sealed_next.train("next")
    sealed_next.analyse()
    _, lines = told(sealed_next, capsys)
    assert f"{'next':20} run: audit evaluate next" in lines
    with sealed_next.inside():
        evaluate("next", None, None)
    assert "next: 2 met, 0 missed, 0 undecided of 2" in capsys.readouterr().out


def test_other_outcomes_are_not_closed(sealed_next: Project) -> None:
    """A verdicts' record that was made by hand for another outcome cannot be closed."""
    with sealed_next.inside(), pytest.raises(Refusal, match="was not made under the seal of next"):
        close("next")


def test_status_names_the_stage_that_judges(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Where dvc.yaml has a stage for it, that is the command: by hand dvc.lock would name another record."""
    sealed.train()
    sealed.analyse()
    assert told(sealed, capsys) == (0, [f"{'pilot':20} run: dvc repro evaluate"])
    sealed.edit("dvc.yaml", "audit evaluate pilot", "audit evaluate pilot-2")
    assert told(sealed, capsys) == (0, [f"{'pilot':20} run: audit evaluate pilot"])


@pytest.mark.parametrize(("path", "text"), [("prereg/pilot.deviations.yaml", "- {kind: nothing}\n"), ("prereg/broken.yaml", "id: broken\n")])
def test_one_bad_file_does_not_silence_the_others(path: str, text: str, sealed_next: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The registration of a file that cannot be read has the reason in its line, the others have theirs; the exit code is 2."""
    sealed_next.write(path, text)
    code, lines = told(sealed_next, capsys)
    name = Path(path).name.partition(".")[0]
    (line,) = [line for line in lines if line.startswith(f"{name} ")]
    assert code == 2 and f"cannot be told: {path}" in line
    assert f"{'next':20} sealed; to run: {RECORD}" in lines and len(lines) == (3 if name == "broken" else 2)


def test_status_of_a_closed_registration(ran: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Closed and not committed is said with what to do; committed, its verdicts are listed."""
    with ran.inside():
        close("pilot")
    assert told(ran, capsys)[1] == [f"{'pilot':20} closed, not committed: git add and commit prereg/pilot.outcome.json"]
    ran.commit("Close")
    assert told(ran, capsys)[1] == [f"{'pilot':20} closed"]
    assert told(ran, capsys, "pilot")[1][1:] == [
        "  P1   met       Most runs recover.",
        "  P2   met       Treated runs recover more often than untreated ones.",
    ]
