"""The project as a throw-away repository at smoke scale, with a history of its own: calibrated, sealed, run, judged, built."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
TEX = all(shutil.which(program) for program in ("latexmk", "pdflatex", "pdftotext", "pdfinfo"))
WITHOUT_TEX = "LaTeX is not installed: latexmk, pdflatex, pdftotext or pdfinfo is missing, so nothing of the PDF is tested"
UNCOMMITTED = ("dvc.lock", "results/", "prereg/pilot.seal.json", "prereg/pilot.outcome.json", "prereg/pilot/", "tests/")
TARGETS = {3: 1, 4: 1, 5: 2}
"""Networks that the registration counts with, of six -> of the two that are driven here."""


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
        """What a command sees: this interpreter's programs first, nobody's configuration, one thread."""
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        own = {"HOME": str(self.root.parent), "DVC_SITE_CACHE_DIR": str(self.root.parent / "site"), "DVC_NO_ANALYTICS": "1"}
        return {**kept, **own, "PATH": path, "GIT_CONFIG_NOSYSTEM": "1", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

    def run(self, *words: str, timeout: float = 300) -> Done:
        """Run a program; no expected failure may be a traceback."""
        begun = time.monotonic()
        done = subprocess.run(words, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=timeout, check=False)
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - begun)

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
