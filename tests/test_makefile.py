"""`make reproduce` asks first, recomputes at the committed scale in place, elsewhere in a clone, and goes on when killed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from house import ROOT

FILES = {
    "audit.toml": "version = 1\n",
    "params.yaml": "scale: laptop # default\nseeds: [1]\n",
    "dvc.lock": "schema: '2.0'\n",
    "results/a.json": "1\n",
    ".gitignore": "/build/\n/.checkpoints/\n",
}


def git(folder: Path, *words: str) -> str:
    """Run git with a throw-away identity."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def make(folder: Path, *words: str) -> tuple[int, list[str]]:
    """Run make; its exit code, and the lines it says but for make's own."""
    quiet = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "SCALE")}
    done = subprocess.run(["make", "--no-print-directory", *words], cwd=folder, env=quiet, capture_output=True, text=True, timeout=60)
    return done.returncode, [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("make: ***")]


@pytest.fixture
def project(tmp_path):
    """A small committed project with this Makefile."""
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    shutil.copy(ROOT / "Makefile", folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_make_alone_prints_the_targets(project):
    """Every public target has a line; nothing runs."""
    code, lines = make(project)
    assert code == 0 and lines[0].startswith("usage: make TARGET")
    assert {line.split()[0] for line in lines[1:]} >= {"reproduce", "test", "setup", "tex", "clean"}


def test_a_full_clone_may_go_on(project, tmp_path):
    """A checkout and a full clone of it pass without a word."""
    git(tmp_path, "clone", "-q", str(project), "clone")
    assert make(project, "ask") == make(tmp_path / "clone", "ask") == (0, [])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("zip", "make: not a git clone of this project"),
        ("surrounded", "make: not a git clone of this project"),
        ("shallow", "make: the clone is shallow, so the order of seal and run cannot be checked; cure: git fetch --unshallow"),
        ("partial", "make: the clone is partial (--filter); cure: clone without --filter"),
    ],
)
def test_what_cannot_be_checked_stops_before_installing(project, tmp_path, kind, expected):
    """No history, another repository's, a cut one: `make reproduce` says so in one line and creates nothing."""
    copy = tmp_path / "copy"
    if kind in ("zip", "surrounded"):
        copy.mkdir()
        for name in ("Makefile", *FILES):
            (copy / name).parent.mkdir(exist_ok=True)
            shutil.copy(project / name, copy / name)
        if kind == "surrounded":
            git(tmp_path, "init", "-q")
    else:
        git(project, "commit", "-q", "--allow-empty", "-m", "second")
        git(project, "config", "uploadpack.allowFilter", "true")
        git(tmp_path, "clone", "-q", "--depth=1" if kind == "shallow" else "--filter=blob:none", f"file://{project}", "copy")
    code, lines = make(copy, "reproduce")
    assert code == 2 and len(lines) == 1 and lines[0].startswith(expected)
    assert not (copy / ".venv").exists() and not (copy / "build").exists() and (copy / "dvc.lock").exists()


def test_unknown_scale_is_one_line(project):
    """A scale that does not exist is named."""
    assert make(project, "ask", "SCALE=big") == (2, ["make: unknown SCALE; expected smoke, laptop or paper; found 'big'"])


@pytest.mark.parametrize("name", ["results/a.json", "results/new.json", "params.yaml", "dvc.lock"])
def test_uncommitted_work_is_not_overwritten(project, name):
    """A changed or new result, parameter or lock stops the run at the committed scale, not one in a clone."""
    (project / name).write_text("changed")
    code, lines = make(project, "ask")
    assert code == 2 and lines[0].startswith("make: results/, dvc.lock or params.yaml hold changes that recomputing would overwrite; cure: ")
    assert (project / name).read_text() == "changed"
    assert make(project, "ask", "SCALE=smoke") == (0, [])


def test_committed_scale_is_recomputed_in_place_once(project):
    """The first call forgets what was done; a second one, after a kill, keeps what the first has done."""
    (project / ".checkpoints").mkdir()
    assert make(project, "fresh") == (0, ["reproduce: recomputing all stages at scale laptop"])
    assert not (project / "dvc.lock").exists() and not (project / ".checkpoints").exists()
    (project / "dvc.lock").write_text("half")
    assert make(project, "ask", "fresh") == (0, ["reproduce: going on where the last call stopped"])
    assert (project / "dvc.lock").read_text() == "half" and (project / "params.yaml").read_text() == FILES["params.yaml"]


def test_other_scale_is_computed_in_a_clone(project):
    """The clone has the scale asked for and no lock; the checkout stays as it is."""
    assert make(project, "fresh", "SCALE=smoke") == (0, ["reproduce: computing scale smoke in the clone build/smoke"])
    clone = project / "build/smoke"
    assert (clone / "params.yaml").read_text() == "scale: smoke\nseeds: [1]\n" and not (clone / "dvc.lock").exists()
    assert git(clone, "rev-parse", "HEAD") == git(project, "rev-parse", "HEAD") and git(project, "status", "--porcelain") == ""
    (clone / "dvc.lock").write_text("half")
    assert make(project, "fresh", "SCALE=smoke") == (0, ["reproduce: going on where the last call stopped"])
    assert (clone / "dvc.lock").read_text() == "half"


def test_a_new_commit_starts_anew(project):
    """What was computed from another commit is not gone on with."""
    make(project, "fresh", "SCALE=smoke")
    (project / "build/smoke/stale").write_text("old")
    git(project, "commit", "-q", "--allow-empty", "-m", "second")
    assert make(project, "fresh", "SCALE=smoke") == (0, ["reproduce: computing scale smoke in the clone build/smoke"])
    assert not (project / "build/smoke/stale").exists()


@pytest.mark.parametrize(
    ("user", "installs", "expected"),
    [
        ("1000", True, ["tex: LaTeX is missing, so the paper will not be built; cure, as root: apt-get install --no-install-recommends {}"]),
        ("0", True, ["tex: installing {} (330 MB)"]),
        ("0", False, ["tex: installing {} (330 MB)", "tex: LaTeX is missing, so the paper will not be built; cure, as root: apt-get install --no-install-recommends {}"]),
    ],
    ids=["named", "installed", "no network"],
)  # fmt: skip
def test_tex_is_installed_by_root_and_named_to_others(project, tmp_path, user, installs, expected):
    """Where LaTeX is missing, root gets the packages from apt-get and others one line; the run goes on either way."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "sed", "git", "date", "python3", "touch"):
        (programs / name).symlink_to(shutil.which(name))
    found = " ".join(str(programs / name) for name in ("latexmk", "pdftotext", "kpsewhich"))
    scripts = {"id": f"echo {user}", "apt-get": f'echo "$*" >> {tmp_path}/asked\n' + (f"for name in {found}; do printf '#!/bin/sh\\n' > $name; chmod +x $name; done" if installs else "exit 1")}  # fmt: skip
    scripts["chmod"] = f'exec {shutil.which("chmod")} "$@"'
    for name, text in scripts.items():
        (programs / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run(
        [shutil.which("make"), "--no-print-directory", "tex"], cwd=project, env={"PATH": str(programs)}, capture_output=True, text=True, timeout=60
    )
    packages = "texlive-latex-recommended texlive-science lmodern latexmk poppler-utils"
    assert done.returncode == 0 and done.stdout.splitlines() == [line.format(packages) for line in expected]
    asked = (tmp_path / "asked").read_text().splitlines() if user == "0" else []
    assert asked == ([] if user != "0" else ["update -q", f"install -q -y --no-install-recommends {packages}"] if installs else ["update -q"])
