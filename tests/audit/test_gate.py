"""The gate lets a stage begin only under committed seals, and the run log says what began."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable

import pytest
from project import Project, Training, counted

from audit import gate
from audit.digest import sha256_bytes
from audit.finding import Refusal, Severity
from audit.verify import verify


def unsealed(p: Project) -> None:
    p.git("rm", "-q", "prereg/pilot.seal.json")
    p.commit("No seal")


def sealed_not_committed(p: Project) -> None:
    p.git("reset", "-q", "--soft", "HEAD~1")
    p.git("reset", "-q")


def seal_staged(p: Project) -> None:
    p.git("reset", "-q", "--soft", "HEAD~1")


def seal_edited(p: Project) -> None:
    p.edit("prereg/pilot.seal.json", '"warnings": [', '"warnings":  [')


def registration_edited(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "value: 2}", "value: 1}")


def registration_committed(p: Project) -> None:
    registration_edited(p)
    p.commit("Another target")


def registration_deleted(p: Project) -> None:
    (p.root / "prereg/pilot.yaml").unlink()


def line_endings(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "\n", "\r\n")


def frozen_code(p: Project) -> None:
    p.edit("judge.py", "0.5", "0.4")
    p.commit("Another judge")


def frozen_parameter(p: Project) -> None:
    p.edit("params.yaml", "line: 0.5", "line: 0.4")


def draft_that_waits(p: Project) -> None:
    text = p.read("prereg/pilot.yaml").replace("id: pilot", "id: second").replace(", seed_sets.main: pilot", "")
    p.write("prereg/second.yaml", text.replace("sets: {main: 3}", "sets: {other: 3}"))


STOPPED: list[tuple[Callable[[Project], None], str]] = [
    (unsealed, "prereg/pilot.seal.json: the registration is not sealed; expected the seal in HEAD's tree; cure: audit seal pilot && git commit"),
    (sealed_not_committed, "prereg/pilot.seal.json: the seal is not committed: HEAD does not hold it"),
    (seal_staged, "prereg/pilot.seal.json: the seal is not committed: HEAD does not hold it"),
    (seal_edited, "prereg/pilot.seal.json: was edited since it was committed; cure: git checkout HEAD -- prereg/pilot.seal.json"),
    (registration_edited, "prereg/pilot.yaml: was edited since it was committed"),
    (registration_committed, "prereg/pilot.yaml: is not what was sealed"),
    (registration_deleted, "prereg/pilot.yaml: is missing from the working tree"),
    (line_endings, "prereg/pilot.yaml: differs from the committed file only in line endings"),
    (frozen_code, "judge.py: is frozen by pilot and differs at HEAD"),
    (frozen_parameter, "params.yaml: thresholds is frozen by pilot; expected {'line': 0.5}; found {'line': 0.4}"),
    (draft_that_waits, "prereg/second.seal.json: the registration is not sealed"),
]


@pytest.mark.parametrize(("spoil", "words"), STOPPED, ids=lambda value: getattr(value, "__name__", None))
def test_gate_stops(spoil: Callable[[Project], None], words: str, sealed: Project) -> None:
    """Whatever is not committed or not as sealed stops the stage with one line, exit 2."""
    spoil(sealed)
    with pytest.raises(Refusal) as refusal:
        sealed.start_training()
    assert str(refusal.value).startswith(words)
    assert refusal.value.code == 2


SETS: list[tuple[object, str]] = [
    ([1, 2, 2, 3], "params.yaml:seed_sets.main: names a seed twice; expected each seed once; found 2"),
    ([], "params.yaml:seed_sets.main: is no seed set"),
    ([1, -1], "params.yaml:seed_sets.main: holds something that is no seed"),
    ([1, True], "params.yaml:seed_sets.main: holds something that is no seed"),
    ([1, "1e-3"], "params.yaml:seed_sets.main: holds something that is no seed; expected whole numbers from 0 to 2**63 - 1; found '1e-3'"),
    (7, "params.yaml:seed_sets.main: is no seed set"),
    ("nobody", "prereg/nobody.seal.json: the registration is not sealed"),
]


@pytest.mark.parametrize(("value", "words"), SETS, ids=lambda value: str(value)[:20])
def test_bad_seed_set_is_refused(value: object, words: str, sealed: Project) -> None:
    """A seed set is a list of unique whole numbers or a registration's id."""
    with pytest.raises(Refusal, match=".") as refusal:
        sealed.start("collect", seed_set="main", set_value=value)
    assert str(refusal.value).startswith(words)


def test_seed_zero_is_a_seed(sealed: Project) -> None:
    """A list that holds 0 keeps it."""
    assert sealed.start("collect", seed_set="main", set_value=[0, 5]).seeds == (0, 5)


def test_list_makes_the_run_exploratory(sealed: Project) -> None:
    """A set overridden by a list passes, under no seal."""
    sealed.edit("params.yaml", "main: pilot", "main: [11, 12, 13]")
    run = sealed.start_training([11, 12, 13])
    assert run.exploratory and run.seeds == (11, 12, 13) and run.provenance.seals == {}


def test_other_scale_makes_the_run_exploratory(sealed: Project) -> None:
    """At another scale the registration does not hold, and the run stands under nothing."""
    sealed.edit("params.yaml", "scale: laptop", "scale: smoke")
    run = sealed.start_training([1])
    assert run.exploratory and run.provenance.seals == {}


def test_exploratory_project_verifies_with_a_note(sealed: Project) -> None:
    """A whole exploratory run in a sealed project gives exit 0 and says what was not evaluated."""
    sealed.edit("params.yaml", "main: pilot", "main: [11, 12, 13]")
    sealed.train([11, 12, 13])
    sealed.analyse((0, 1, 0))
    sealed.evaluate()
    sealed.lock()
    report = verify(sealed.context())
    lines = [finding.line() for finding in report.findings]
    assert report.code == 0, lines
    assert any(line.startswith("A115 prereg/pilot.yaml note: not evaluated here: seed_sets.main is [11, 12, 13], registered for 'pilot'") for line in lines)
    assert json.loads(sealed.read("results/evaluate/pilot.json"))["predictions"][0]["verdict"] == "not evaluated here"


def test_fresh_run_is_checked_against_its_start(sealed: Project) -> None:
    """Before it is committed a run passes, with the note that only its start commit was asked."""
    sealed.train()
    sealed.analyse()
    sealed.evaluate()
    sealed.lock()
    report = verify(sealed.context())
    assert report.code == 0, [finding.line() for finding in report.findings]
    notes = {finding.what for finding in report.findings if finding.severity == Severity.NOTE and finding.code == "A201"}
    assert notes == {"not yet committed: checked against its run's starting commit alone"}


def test_confirmatory_run_stands_under_its_seal(sealed: Project) -> None:
    """Seeds derive from the seal, and the record carries the digest of the seal."""
    run = sealed.start_training()
    digest = sha256_bytes((sealed.root / "prereg/pilot.seal.json").read_bytes())
    assert not run.exploratory and len(set(run.seeds)) == 3 and run.provenance.seals == {"pilot": digest}
    assert set(run.provenance.data) == {"results/calibrate/calibration.json"}


def test_stage_that_nobody_names_is_free(drafted: Project) -> None:
    """A stage before the seal, such as a calibration, asks for nothing."""
    run = drafted.start("calibrate")
    assert not run.exploratory and run.provenance.seals == {}


def test_run_log_says_what_ran(ran: Project) -> None:
    """The log holds start commit, inputs, seals and the record's digest; records hold no time."""
    log = json.loads(ran.read("results/train/shallow.run.json"))
    assert log["commit"] == ran.git("rev-parse", "HEAD~1")
    assert set(log["inputs"]) == {"params.yaml", "results/calibrate/calibration.json"}
    assert log["record_sha256"] == sha256_bytes((ran.root / "results/train/shallow.json").read_bytes())
    assert "started" not in ran.read("results/train/shallow.json")


def test_checkpoints_that_were_there_are_logged(sealed: Project) -> None:
    """What a run may have resumed from is in its log by digest; without a folder of checkpoints the log says nothing."""
    sealed.write(".checkpoints/collect/a.part", "half")
    sealed.train(run=sealed.start("train@shallow", seed_set="main", set_value="pilot", checkpoints=".checkpoints/collect"))
    assert json.loads(sealed.read("results/train/shallow.run.json"))["resumed"] == {".checkpoints/collect/a.part": sha256_bytes(b"half")}
    sealed.train()
    assert "resumed" not in json.loads(sealed.read("results/train/shallow.run.json"))


def test_input_that_changes_during_the_run_stops_it(sealed: Project) -> None:
    """A record is not written when what it was made from is no longer there."""
    run = sealed.start("collect", inputs=["judge.py"])
    sealed.edit("judge.py", "0.5", "0.4")
    record = Training(provenance=run.provenance, score=counted([1]))
    with sealed.inside(), pytest.raises(Refusal, match="judge.py: changed while the stage ran"):
        run.finish(record, "results/collect/one.json")
    assert not (sealed.root / "results/collect").exists()


def test_module_from_elsewhere_stops_the_stage(sealed: Project, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """A project module that was loaded from another checkout is refused before anything runs."""
    sealed.write("src/study/__init__.py", "")
    stray = types.ModuleType("study")
    stray.__file__ = str(tmp_path / "site-packages/study/__init__.py")
    monkeypatch.setitem(sys.modules, "study", stray)
    with pytest.raises(Refusal, match="study: this module was loaded from outside the checkout"):
        sealed.start("collect")


def test_loaded_modules_are_logged(sealed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded module of the project goes into the log with the digest of its file."""
    sealed.write("src/study/__init__.py", "X = 1\n")
    module = types.ModuleType("study")
    module.__file__ = str(sealed.root / "src/study/__init__.py")
    monkeypatch.setitem(sys.modules, "study", module)
    assert sealed.start("collect").code == {"src/study/__init__.py": sha256_bytes(b"X = 1\n")}


def test_dirty_code_under_a_seal_is_warned_of(sealed: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A confirmatory run that starts with uncommitted code says so before it costs anything."""
    sealed.write("src/study/__init__.py", "X = 1\n")
    sealed.commit("Code")
    module = types.ModuleType("study")
    module.__file__ = str(sealed.root / "src/study/__init__.py")
    monkeypatch.setitem(sys.modules, "study", module)
    sealed.start_training()
    assert capsys.readouterr().err == ""
    sealed.write("src/study/__init__.py", "X = 2\n")
    sealed.start_training()
    assert capsys.readouterr().err.startswith("audit: warning: train@shallow runs src/study/__init__.py as HEAD does not hold it: stop and commit first")


def test_code_that_changed_since_the_seal_is_declared(sealed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Committed code that is not frozen may move after the seal, with a reason; without one it is a finding."""
    sealed.write("src/study/__init__.py", "X = 1\n")
    sealed.commit("Code after the seal")
    module = types.ModuleType("study")
    module.__file__ = str(sealed.root / "src/study/__init__.py")
    monkeypatch.setitem(sys.modules, "study", module)
    sealed.ran()
    found = [finding.line() for finding in verify(sealed.context()).findings if finding.severity == "finding"]
    assert len(found) == 1 and "A119 prereg/pilot.deviations.yaml" in found[0] and "code src/study/__init__.py; expected absent" in found[0]
    sealed.write("prereg/pilot.deviations.yaml", "- {kind: code, what: src/study, why: A constant was missing.}\n")
    assert verify(sealed.context()).code == 0


def test_input_outside_the_project_is_refused(sealed: Project) -> None:
    """A path that leaves the project cannot be an input."""
    with pytest.raises(Refusal, match="lies outside the project"):
        sealed.start("collect", inputs=["../secret.txt"])


def test_surrounding_repository_is_not_the_history(tmp_path, drafted: Project) -> None:
    """An unpacked project inside somebody's repository of dotfiles has no history of its own."""
    outer = Project(tmp_path / "outer")
    outer.root.mkdir()
    outer.git("init", "-q")
    outer.git("-c", "user.name=N", "-c", "user.email=n@example.org", "commit", "-q", "--allow-empty", "-m", "Dotfiles")
    inner = Project(outer.root / "inner")
    inner.write("audit.toml", "version = 1\n")
    with pytest.raises(Refusal, match="audit.toml: is not tracked by the git repository around it"):
        inner.start("collect")


def test_gate_sees_through_git_variables(sealed: Project, drafted: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_DIR and GIT_INDEX_FILE, as a hook sets them, do not lead the audit into another repository."""
    monkeypatch.setenv("GIT_DIR", str(drafted.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(drafted.root))
    assert sealed.start_training().provenance.seals.keys() == {"pilot"}


def test_worktree_and_subfolder_are_the_same_project(ran: Project, tmp_path) -> None:
    """From a folder inside a worktree the audit finds the same project and the same answer."""
    import contextlib

    from audit.context import Context

    ran.git("worktree", "add", "-q", str(tmp_path / "tree"), "HEAD")
    with contextlib.chdir(tmp_path / "tree" / "prereg"):
        assert verify(Context.open()).code == 0


def test_gate_command_prints_one_line(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`audit gate` says under which seal a stage may run."""
    with sealed.inside():
        gate.main("train@shallow")
    assert capsys.readouterr().out.startswith("train@shallow may run; it stands under pilot (seal ")
