"""The project as a throw-away repository at smoke scale, with a history of its own: calibrated, sealed, run, judged, built."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registrations import scale_down
from ruamel.yaml import YAML

CHECKOUT = Path(__file__).resolve().parents[2]
QUICK_DVC = Path(__file__).resolve().parent / "quick_dvc.py"
WARM_DVC = Path(__file__).resolve().parent / "warm_dvc.py"
TEX = all(shutil.which(program) for program in ("latexmk", "pdflatex", "pdftotext", "pdfinfo"))
WITHOUT_TEX = "LaTeX is not installed: latexmk, pdflatex, pdftotext or pdfinfo is missing, so nothing of the PDF is tested"
MADE = re.compile(r"dvc\.lock|results/.*|prereg/(?!README\.md$|pilot|[a-z0-9-]+\.yaml$).*")
"""What this checkout's own runs and seals made, and a new history makes anew; `pilot` is over, and its seal and outcome stay."""

TINY: dict[str, Any] = {
    "data.documents": 300, "model.width": 16, "model.heads": 2, "model.context": 16, "depths.shallow": 3, "depths.deep": 4, "batch": 4, "stack": 32,
    "checkpoint_seconds": 0, "probe.rank_sequences": 4, "probe.gradient_sequences": 4, "optimiser.learning_rate": 1.0e-4, "driver.warm": 20,
    "driver.ramp": 10, "driver.hold": 30, "driver.floors": [0.0], "rules.collapse": 0.45, "rules.recover": 0.6,
    "rules.settle_after": 10, "rules.settle_window": 2, "rules.measure_loss": 2, "branches.loss_steps": 24, "branches.switch_steps": 24,
    "branches.ramp_steps": 10, "branches.after_ramp": 14, "branches.untreated_steps": 24, "study.delays": [3, 6, 10], "study.near_floor": 3,
    "study.replays": [4, 20], "study.intact.ramp": 10, "study.intact.hold": 5, "study.intact.gain_steps": 15, "study.bursts.start": 20,
    "study.bursts.updates": 5, "study.bursts.multipliers": [8], "study.bursts.after": 16, "spectral.steps": 20, "spectral.warm": 5,
    "spectral.closely": 12, "spectral.later": 4, "restart.learn": 10, "restart.steps": 20, "restart.hold": 10, "restart.warm": 5, "restart.closely": 12,
    "restart.later": 4,
}  # fmt: skip
"""Budgets of a second. Networks that hardly learn keep the rank of their first weights, lose it without skip connection and have
it back with it, whatever the seed: no test hangs on the luck of a young network."""

OWN = {"calibration": 5, "development": 4, "intact": 6, "attention": 7, "restart_attention": 14}
"""The seed of each set that no registration draws."""


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def text(self) -> str:
        """Everything it said."""
        return self.out + self.err


class Repository:
    """A repository under test: its root and the commands that are typed in it."""

    def __init__(self, root: Path):
        self.root = root

    @property
    def environment(self) -> dict[str, str]:
        """What a command sees: this interpreter's programs and the repository's own code first, nobody's configuration, one thread."""
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        fonts = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        code = os.pathsep.join([str(self.root), str(self.root / "src")])
        own = {"HOME": str(self.root.parent), "XDG_CACHE_HOME": fonts, "DVC_SITE_CACHE_DIR": str(self.root.parent / "site"), "PYTHONPATH": code}
        return {**kept, **own, "PATH": path, "DVC_NO_ANALYTICS": "1", "GIT_CONFIG_NOSYSTEM": "1", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

    def run(self, *words: str, timeout: float = 1200) -> Done:
        """Run a program; no expected failure may be a traceback."""
        begun = time.monotonic()
        done = subprocess.run(words, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=timeout, check=False)
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - begun)

    def reproduce(self, *stages: str, dvc: Path = QUICK_DVC) -> Done:
        """`dvc repro`, its lock file written quickly; it has to succeed."""
        return self.must("python", str(dvc), "repro", *stages)

    def must(self, *words: str) -> Done:
        """Run a program that has to succeed."""
        done = self.run(*words)
        assert done.code == 0, f"{' '.join(words)}: exit {done.code}\n{done.text}"
        return done

    def audit(self, *words: str) -> Done:
        """Run the audit of this repository."""
        return self.run("python", "-m", "audit", *words)

    def git(self, *words: str) -> str:
        """Run git; its answer."""
        return self.must("git", *words).out.strip()

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def read(self, path: str) -> str:
        """A file's text."""
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str | bytes) -> None:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the first place where `old` stands; it must stand there."""
        text = self.read(path)
        assert old in text, f"{old!r} is not in {path}"
        self.write(path, text.replace(old, new, 1))

    def copy(self, root: Path) -> Repository:
        """The same repository elsewhere, with its cache and what git ignores."""
        shutil.copytree(self.root, root, symlinks=True)
        return Repository(root)

    def tracked(self) -> dict[str, bytes]:
        """Every tracked file of the working tree, by path."""
        return {path: (self.root / path).read_bytes() for path in self.git("ls-files").splitlines() if (self.root / path).is_file()}


def rewrite(repository: Repository, path: str, change: Callable[[Any], None]) -> None:
    """Change a YAML file as a plain value, its comments kept."""
    reader, stream = YAML(), io.StringIO()
    reader.width = 1000
    value = reader.load(repository.read(path))
    change(value)
    reader.dump(value, stream)
    repository.write(path, stream.getvalue())


def shrink(params: Any) -> None:
    """The smoke scale, in use, registered like the laptop's, with budgets of a second; one process trains it and keeps no finished stack."""
    params["scale"] = "smoke"
    for name, seed in OWN.items():
        params["seed_sets"][name][:] = [seed]
    params["fanout"] |= {"workers": 1, "keep": False}
    smoke = params["scales"]["smoke"]
    smoke.pop("seed_sets", None)
    for dotted, value in TINY.items():
        *groups, name = dotted.split(".")
        place = smoke
        for group in groups:
            place = place[group]
        assert name in place, dotted
        place[name] = value


def register_smoke(repository: Repository) -> None:
    """Every registration in proportion, as this study will seal it; `pilot`, which has run, stays as it is and holds elsewhere."""
    paths = {path.stem: path.relative_to(repository.root).as_posix() for path in repository.root.glob("prereg/*.yaml") if path.stem != "pilot"}
    reader = YAML()
    reader.width = 1000
    read = {name: reader.load(repository.read(path)) for name, path in paths.items()}
    scale_down(read)
    for name, path in paths.items():
        stream = io.StringIO()
        reader.dump(read[name], stream)
        repository.write(path, stream.getvalue())


def begin(root: Path) -> Repository:
    """This project's history up to the end of `pilot`, and on it the tracked files of this checkout, without what its runs made, at smoke scale."""
    asked = ("git", "log", "--diff-filter=A", "--format=%H", "--", "prereg/pilot.outcome.json")
    closed = subprocess.run(asked, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split()[-1]
    root.mkdir(parents=True)
    repository = Repository(root)
    repository.git("init", "-q", "-b", "main")
    for key, value in {"user.name": "Nobody", "user.email": "nobody@example.org", "commit.gpgsign": "false", "gc.auto": "0", "core.fsync": "none"}.items():
        repository.git("config", key, value)
    repository.git("fetch", "-q", "--no-tags", str(CHECKOUT), closed)
    repository.git("checkout", "-q", "-B", "main", "FETCH_HEAD")
    repository.git("rm", "-q", "-r", ".")
    overlay(root)
    rewrite(repository, "params.yaml", shrink)
    register_smoke(repository)
    repository.commit("Begin")
    return repository


def overlay(root: Path) -> None:
    """Copy the tracked files as they lie in this checkout, without tests and what its runs made."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split("\0")
    for path in listed:
        if path and not path.startswith("tests/") and not MADE.fullmatch(path) and (CHECKOUT / path).is_file():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / path, root / path)
