"""A project with stages that run as a user runs them: another process, another environment, the tool vendored in the checkout."""

from __future__ import annotations

import importlib.util
import marshal
import os
import shutil
import subprocess
import sys
import venv
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from unittest import mock

from project import DVC, Project

from audit import gate

ROOT = Path(__file__).resolve().parents[2]
MODEL = "import os\n\nSCORE = 0.8\nSWITCHES = [os.environ.get('SWITCH'), os.environ.get('DYN' + 'AMIC')]\n"
STAGE = """\
import os
import sys
from typing import Literal

from audit import gate
from audit.records import Quantity, Record, Refusal
from study import model


class Training(Record):
    kind: Literal["training"] = "training"
    version: Literal[1] = 1
    score: Quantity


def body():
    run = gate.start(stage="train@shallow", parameters={}, inputs=["params.yaml", "results/calibrate/calibration.json"], seed_set="main", set_value="pilot")
    print(sorted(os.environ), os.environ.get("SWITCH"), os.environ.get("DYN" + "AMIC"))
    score = Quantity(value=model.SCORE, digits=1, tolerance=0.1)
    run.finish(Training(provenance=run.provenance, score=score), "results/train/shallow.json")


try:
    body()
except Refusal as refusal:
    print(refusal, file=sys.stderr)
    sys.exit(refusal.code)
"""
START = "import sys\nfrom pathlib import Path\n\nROOT = Path(__file__).parent.parent\nsys.path[:0] = [str(ROOT), str(ROOT / 'src')]\n"


class Staged:
    """A sealed project with a stage script, and a virtual environment of its own to plant things in."""

    def __init__(self, project: Project, folder: Path):
        self.project, self.home = project, folder / "home"
        self.home.mkdir()
        shutil.copytree(ROOT / "audit", project.root / "audit", ignore=shutil.ignore_patterns("__pycache__"))
        for path, text in {"src/study/__init__.py": "", "src/study/model.py": MODEL, "stages/__init__.py": START, "stages/train.py": STAGE}.items():
            project.write(path, text)
        project.write(".gitignore", "__pycache__/\n")
        project.write("dvc.yaml", DVC)
        project.commit("A stage")
        project.sealed()
        venv.create(folder / "venv", symlinks=True, with_pip=False)
        self.python = folder / "venv/bin/python"
        self.site = next((folder / "venv/lib").glob("python*/site-packages"))
        (self.site / "borrowed.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")) + "\n")

    def train(self, *, python: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the stage in a process of its own, with these variables beside the usual few."""
        env = {"PATH": os.defpath, "HOME": str(self.home), "LANG": "C.UTF-8", **variables}
        command = [str(self.python), *python, "-m", "stages.train"]
        return subprocess.run(command, cwd=self.project.root, env=env, capture_output=True, text=True, timeout=120, check=False)

    def ran(self, **variables: str) -> None:
        """Run the stage, judge its record, commit the results."""
        done = self.train(**variables)
        assert done.returncode == 0, done.stderr
        with mock.patch.object(gate, "digest_modules", lambda _: {}):  # the test's own copy of the tool lies outside the checkout
            self.project.analyse()
            self.project.evaluate()
        self.project.lock()
        self.project.commit("Results")

    def install(self, name: str, source: str, version: str = "1.0") -> None:
        """A package of one module, with its RECORD."""
        digest = urlsafe_b64encode(sha256(source.encode()).digest()).decode().rstrip("=")
        (self.site / f"{name}.py").write_text(source)
        about = self.site / f"{name}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (about / "RECORD").write_text(f"{name}.py,sha256={digest},{len(source)}\n{name}-{version}.dist-info/RECORD,,\n")


def forge_bytecode(source: Path, code: str) -> None:
    """Bytecode of other code under a header that repeats the source's time and size."""
    cached, about = Path(importlib.util.cache_from_source(str(source))), source.stat()
    header = importlib.util.MAGIC_NUMBER + bytes(4) + int(about.st_mtime).to_bytes(4, "little") + about.st_size.to_bytes(4, "little")
    cached.parent.mkdir(exist_ok=True)
    cached.write_bytes(header + marshal.dumps(compile(code, str(source), "exec")))
