"""`audit challenge` on a project of two short stages that DVC runs: honest, with a pasted constant, with typed seeds, forged."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from challenged import ANALYSE, DVC, PARAMETERS, REGISTRATION, TRAIN
from project import Project

from audit.cli import main
from audit.close import main as close
from audit.rerun import prepare

CHECKOUT = Path(__file__).resolve().parents[2]
SLEEP = """\
import os, time
if set_value != "pilot":
    open("pid", "w").write(str(os.getpid()))
    time.sleep(60)
best ="""
FAIL = """\
import os, sys
set_value == "pilot" or os.path.exists("go") or sys.exit("no disk")
best ="""


@pytest.fixture(autouse=True)
def this_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stages of the project import this checkout's tool."""
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project with a committed seal, nothing run."""
    project = Project.create(tmp_path_factory.mktemp("challenge") / "sealed")
    project.write("prereg/pilot.yaml", REGISTRATION)
    project.write("params.yaml", PARAMETERS)
    project.write("dvc.yaml", DVC)
    project.write("stages/__init__.py", "")
    project.write("stages/train.py", TRAIN)
    project.write("stages/analyse.py", ANALYSE)
    project.write(".gitignore", "/build/\n/states\n__pycache__/\n")
    project.write(".dvc/config", "[cache]\n    dir = ../../elsewhere\n")
    project.write(".dvc/.gitignore", "/config.local\n/tmp\n/cache\n")
    project.commit("Draft a registration")
    project.sealed()
    return project


@pytest.fixture(scope="module")
def judged(template: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project whose stages have run; nobody writes into it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(CHECKOUT))
        return run_stages(template.copy(tmp_path_factory.mktemp("judged") / "study"))


@pytest.fixture
def honest(judged: Project, tmp_path: Path) -> Project:
    """A copy of it that a test may spoil."""
    return judged.copy(tmp_path / "study")


def ran(template: Project, root: Path, *edits: tuple[str, str, str]) -> Project:
    """A copy whose stages, with the given edits, have run on the registered seeds, judged and committed."""
    project = template.copy(root / "study")
    for edit in edits:
        project.edit(*edit)
    project.commit("Other stages")
    return run_stages(project)


def run_stages(project: Project) -> Project:
    """Run the stages on the registered seeds, judge and commit."""
    for stage in ("train", "analyse"):
        subprocess.run([sys.executable, "-m", f"stages.{stage}"], cwd=project.root, check=True)
    project.evaluate()
    project.commit("Results")
    return project


def challenge(project: Project, *words: str) -> int:
    """Run the command in the project; its exit code."""
    with project.inside(), pytest.raises(SystemExit) as stopped:
        main(["challenge", "pilot", *words])
    return stopped.value.code


def tree(project: Project) -> dict[str, bytes]:
    """Every file of the checkout but those below build/."""
    files = (path for path in project.root.rglob("*") if path.is_file())
    return {name: path.read_bytes() for path in files if not (name := path.relative_to(project.root).as_posix()).startswith("build/")}


def test_honest_project(honest: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Verdicts stand side by side, what moved is not listed, frozen copies and counts are told apart, and the checkout is as it was."""
    before = tree(honest)
    assert challenge(honest, "--nonce", "it's 5 o'clock", "--keep") == 0
    said = capfd.readouterr().out
    assert re.search(r"^P1 +met +0\.\d+ 1 +met +0\.\d+ 1 +Every network gains\. \(> 0 in at least 3 units\)$", said, re.MULTILINE)
    assert re.search(r"^P2 +missed +0\.\d+ 1 +missed +0\.\d+ 1 +The gain is large\. \(> 5\)$", said, re.MULTILINE)
    assert "pilot: 2 of 2 verdicts as registered\n" in said
    assert "results/analyse/main.json: 0 of 5 quantities did not move with the seeds\n" in said
    assert "  the same, as the seal freezes them: line = 0.5, share = 0.45\n  the same whole numbers (may be so): runs = 3\n" in said
    assert tree(honest) == before and honest.git("status", "--porcelain") == ""
    commands = re.findall(r"^  (printf .* \| sha256sum)   # seed \d: (\d+)$", said, re.MULTILINE)
    derived = [subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout for command, _ in commands]
    seeds = [int(digest[:16], 16) % 2**63 for digest in derived]
    assert len(seeds) == 3 and [str(seed) for seed in seeds] == [shown for _, shown in commands]
    (clone,) = (honest.root / "build/challenge").glob("pilot-*")
    assert (clone / "params.yaml").read_text() == PARAMETERS.replace("main: pilot", f"main: {seeds}")
    record = json.loads((clone / "results/analyse/main.json").read_text())
    assert record["provenance"]["seeds"] == seeds and record["provenance"]["seals"] == {}
    assert (
        list((clone / ".dvc/cache").rglob("*"))
        and not list(clone.parent.parent.rglob("elsewhere"))
        and not (honest.root.parent / "elsewhere").exists()
    )


def test_clone_starts_from_nothing(honest: Project, tmp_path: Path) -> None:
    """A committed lock, cache, run cache or record is not in the clone, so that DVC can hand none of them out; its history is whole."""
    planted = ("dvc.lock", "stages/dvc.lock", ".dvc/cache/runs/ab", ".dvc/tmp/rwlock")
    for path in planted:
        honest.write(path, "schema: '2.0'\n")
    honest.git("add", "-f", *planted)
    honest.commit("Plant")
    clone = prepare(honest.context(), honest.head(), {"main": (1, 2, 3)}, ["results/analyse/main.json"], tmp_path / "clone", "mark").root
    assert not [path for path in (*planted, "results/analyse/main.json", "results/train/main.json") if (clone / path).exists()]
    assert Project(clone).git("rev-list", "--count", "HEAD") == honest.git("rev-list", "--count", "HEAD")
    assert Project(clone).git("diff", "--name-only", "--diff-filter=M").split() == ["params.yaml"]


def test_pasted_constant_is_listed(template: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A number typed into the analysis where a calculation stood does not move; the rest does."""
    project = ran(template, tmp_path, ("stages/analyse.py", "best = max(values) / 3", "best = 0.0887"))
    assert challenge(project, "--nonce", "mine") == 0
    said = capfd.readouterr().out
    assert "results/analyse/main.json: 1 of 5 quantities did not move" in said and re.findall("did not move: (.*)", said) == ["best = 0.0887"]
    assert not list((project.root / "build/challenge").glob("pilot-*"))


def test_ignored_seeds_leave_everything_unmoved(template: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A stage that says it ran on the seeds and uses its own: all that it measures is listed."""
    project = ran(template, tmp_path, ("stages/train.py", "seeds = run.seeds", "seeds = (7, 8, 9)"))
    assert challenge(project, "--nonce", "mine") == 0
    assert [line.split(" = ")[0] for line in re.findall("did not move: (.*)", capfd.readouterr().out)] == ["best", "gain"]


def test_forged_record_comes_out_otherwise(honest: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A record written by hand and judged: the rerun gives another verdict, exit 1."""
    record = json.loads(honest.read("results/analyse/main.json"))
    record["gain"] |= {"value": 9.5, "values": [9.5, 1.5, 2.5]}
    honest.write("results/analyse/main.json", json.dumps(record, sort_keys=True, indent=1) + "\n")
    honest.git("commit", "-q", "--amend", "--all", "-m", "Better")  # no commit holds the honest one, which would be the outcome
    honest.evaluate()
    honest.commit("Judge")
    assert challenge(honest, "--nonce", "mine", "--work", str(tmp_path / "rerun")) == 1
    said = capfd.readouterr().out
    assert re.search(r"^P2 +met +9\.5 1 +missed +0\.\d+ 1 +DIFFERS  The gain is large", said, re.MULTILINE)
    assert "pilot: 1 of 2 verdicts as registered; another verdict: P2\n" in said and not (tmp_path / "rerun").exists()


def test_closed_registration_is_challenged_where_it_was_closed(honest: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Once closed, the code may move on: the outcome's commit is what runs again, and its records are what is compared."""
    closed = honest.head()
    with honest.inside():
        close("pilot")
    honest.commit("Close")
    honest.edit("stages/train.py", "/ 1000", "* 10")
    honest.write("results/analyse/main.json", honest.read("results/analyse/main.json").replace('"digits": 4', '"digits": 3'))
    honest.commit("Move on")
    assert challenge(honest, "--nonce", "mine") == 0
    told = capfd.readouterr()
    assert f"challenge: commit {closed[:10]} runs in " in told.err and "2 of 2 verdicts as registered" in told.out


def test_project_in_a_folder_of_its_repository(template: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """DVC's folder lies at the top, the project below it: both are found in the clone."""
    inner = template.copy(tmp_path / "outer" / "study")
    for name in (".git", ".dvc"):
        (inner.root / name).rename(inner.root.parent / name)
    inner.git("add", "-A", "..")
    inner.commit("Move the project down")
    assert challenge(run_stages(inner), "--nonce", "mine") == 0
    assert "2 of 2 verdicts as registered" in capfd.readouterr().out and inner.git("status", "--porcelain") == ""


def test_stopped_challenge_goes_on(template: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A stage that fails is one line and exit 2; the same command then goes on in the same clone, and finished stages are not run again."""
    project = ran(template, tmp_path, ("stages/analyse.py", "best =", FAIL))
    work = tmp_path / "rerun"
    assert challenge(project, "--nonce", "mine", "--work", str(work)) == 2
    told = capfd.readouterr()
    assert "no disk" in told.err and told.err.splitlines()[-1].startswith(f"audit: {work}: a stage stopped in the clone; found dvc repro ended with ")
    assert not (work / "results/analyse/main.json").exists()
    (work / "go").touch()
    assert challenge(project, "--nonce", "mine", "--work", str(work), "--keep") == 0
    told = capfd.readouterr()
    assert "Stage 'train' didn't change, skipping" in told.err and "2 of 2 verdicts as registered" in told.out
    assert challenge(project, "--nonce", "another", "--work", str(work)) == 2
    assert "holds something else than the clone of this rerun" in capfd.readouterr().err


def test_interrupted_challenge_ends_what_it_started(template: Project, tmp_path: Path) -> None:
    """A signal to the command alone stops the running stage too: exit 130 in one line, and the checkout is as it was."""
    project = ran(template, tmp_path, ("stages/analyse.py", "best =", SLEEP))
    before, work = tree(project), tmp_path / "rerun"
    words = [sys.executable, "-m", "audit", "challenge", "pilot", "--nonce", "mine", "--work", str(work)]
    process = subprocess.Popen(words, cwd=project.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    pid = wait_for(work / "pid")
    process.send_signal(signal.SIGTERM)
    err = process.communicate(timeout=40)[1]
    assert process.returncode == 130 and err.splitlines()[-1].startswith("audit: interrupted")
    assert has_ended(int(pid))
    assert tree(project) == before and (work / "results/train/main.json").exists()


def has_ended(pid: int) -> bool:
    """Whether a process ends within seconds; an orphan that nobody has asked for its exit code yet has ended, too."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        status = Path(f"/proc/{pid}/status")
        if status.exists() and "State:\tZ" in status.read_text():
            return True
        time.sleep(0.1)
    return False


def wait_for(file: Path) -> str:
    """The text of a file, once there is any."""
    for _ in range(400):
        if file.exists() and (text := file.read_text()):
            return text
        time.sleep(0.1)
    pytest.fail(f"{file.name} was never written")


REFUSED = {
    "an empty nonce": (["pilot", "--nonce", " "], "--nonce: is no nonce; expected a text of your own, in one line"),
    "two lines": (["pilot", "--nonce", "a\nb"], "--nonce: is no nonce"),
    "no such registration": (["ghost", "--nonce", "mine"], "prereg/ghost.yaml: no such registration"),
    "nothing judged": (["pilot", "--nonce", "mine"], "results/evaluate/pilot.json: is not there, so that there is nothing to challenge"),
}


@pytest.mark.parametrize(("words", "line"), REFUSED.values(), ids=REFUSED)
def test_refused_in_one_line(template: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], line: str) -> None:
    """What cannot be challenged is refused before anything is made: one line, exit 2."""
    assert_refused(template.copy(tmp_path / "study"), words, line, capsys)


def test_draft_is_refused(drafted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a seal there is nothing registered."""
    assert_refused(drafted, ["pilot", "--nonce", "mine"], "prereg/pilot.seal.json: the registration is not sealed", capsys)


def test_other_parameters_are_refused(honest: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the registration does not hold there is no registered verdict to stand beside."""
    honest.edit("params.yaml", "main: pilot", "main: [7, 8, 9]")
    honest.commit("Explore")
    line = "results/evaluate/pilot.json: the registration is not evaluated here; found seed_sets.main is [7, 8, 9], registered for 'pilot'"
    assert_refused(honest, ["pilot", "--nonce", "mine"], line, capsys)


def test_place_in_the_checkout_is_refused(honest: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No clone is put among the project's own files, nor over what lies elsewhere."""
    place = tmp_path / "taken"
    words = ["pilot", "--nonce", "mine", "--work"]
    assert_refused(honest, [*words, "results/again"], f"{honest.root}/results/again: lies in the checkout; expected a folder below build/", capsys)
    place.mkdir()
    (place / "mine.txt").touch()
    assert_refused(honest, [*words, str(place)], f"{place}: holds something else than the clone of this rerun", capsys)
    assert [file.name for file in place.iterdir()] == ["mine.txt"]


def test_link_out_of_the_clone_is_not_followed(honest: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An output behind a committed link to somewhere else: nothing is removed there, and no clone is left."""
    place = tmp_path / "elsewhere"
    (place / "figures").mkdir(parents=True)
    (honest.root / "linked").symlink_to(place)
    honest.edit("dvc.yaml", "outs: [{results/analyse", "outs: [{linked/figures: {cache: false}}, {results/analyse")
    honest.commit("Draw elsewhere")
    assert_refused(honest, ["pilot", "--nonce", "mine"], f"{honest.root}/build/challenge/.pilot-", capsys)
    assert (place / "figures").is_dir() and list((honest.root / "build/challenge").iterdir()) == [honest.root / "build/challenge/.gitignore"]


def test_missing_dvc_is_refused(honest: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without DVC nothing is cloned."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert_refused(honest, ["pilot", "--nonce", "mine"], "dvc: is not installed", capsys)


def assert_refused(project: Project, words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with project.inside(), pytest.raises(SystemExit) as stopped:
        main(["challenge", *words])
    err = [text for text in capsys.readouterr().err.splitlines() if not text.startswith("challenge: ")]
    assert stopped.value.code == 2 and len(err) == 1 and err[0].startswith(f"audit: {line}")
    assert not list((project.root / "build").rglob("pilot-*"))
