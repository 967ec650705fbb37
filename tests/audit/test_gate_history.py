"""The gate and history: a seal of this history, made once, and a start commit that others have."""

from __future__ import annotations

import pytest
from project import Project

from audit import gate
from audit.finding import Refusal


def test_unpushed_start_is_warned_of(sealed: Project, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is a remote and no branch of it holds HEAD, a run under a seal says that a rebase would orphan it."""
    sealed.git("init", "-q", "--bare", str(tmp_path / "remote"))
    sealed.git("remote", "add", "origin", str(tmp_path / "remote"))
    sealed.start_training()
    words = f"audit: warning: no remote branch holds HEAD ({sealed.head()[:10]}): a rebase would orphan this run; cure: push first\n"
    assert capsys.readouterr().err == words
    with sealed.inside():
        gate.main("train@shallow")
    assert capsys.readouterr().err == words
    sealed.start("calibrate")
    assert capsys.readouterr().err == ""
    sealed.git("push", "-q", "origin", "main")
    sealed.start_training()
    assert capsys.readouterr().err == ""


def test_seal_of_another_history_is_refused(drafted: Project, tmp_path) -> None:
    """A seal made in another repository, over the same text, names in its ledger seals that this history does not have."""
    other = drafted.copy(tmp_path / "elsewhere")
    other.write("prereg/first.yaml", other.read("prereg/pilot.yaml").replace("id: pilot", "id: first").replace("main: 3", "first: 3"))
    other.commit("Register a first")
    other.seal("first")
    other.commit("Seal the first")
    other.seal()
    drafted.write("prereg/pilot.seal.json", other.read("prereg/pilot.seal.json"))
    for name in ("calibration.json", "calibration.run.json"):
        drafted.write(f"prereg/pilot/{name}", other.read(f"prereg/pilot/{name}"))
    drafted.commit("A seal from elsewhere")
    with pytest.raises(Refusal, match="is a seal of another history: HEAD does not hold the seal of first that its ledger names"):
        drafted.start_training()


def test_seal_over_other_files_is_refused(drafted: Project, tmp_path) -> None:
    """A seal of another repository whose digests do not fit the files here stops the stage in one line."""
    other = drafted.copy(tmp_path / "elsewhere")
    other.edit("judge.py", "0.5", "0.6")
    other.commit("Another judge")
    other.seal()
    drafted.write("prereg/pilot.seal.json", other.read("prereg/pilot.seal.json"))
    drafted.commit("A seal from elsewhere", "prereg/pilot.seal.json")
    with pytest.raises(Refusal, match="judge.py: is frozen by pilot and differs at HEAD"):
        drafted.start_training()


def test_seal_made_twice_is_refused(sealed: Project) -> None:
    """A seal that history holds in two versions lets no stage begin: the run would prove nothing."""
    text = sealed.read("prereg/pilot.seal.json")
    sealed.write("prereg/pilot.seal.json", text + "\n")
    sealed.commit("Another")
    sealed.write("prereg/pilot.seal.json", text)
    sealed.commit("And back")
    with pytest.raises(Refusal, match="prereg/pilot.seal.json: was sealed more than once in this history"):
        sealed.start_training()
