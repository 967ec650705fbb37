"""Ways in which a run is not what its code says: code, packages and variables from elsewhere, files that DVC is told not to see."""

from __future__ import annotations

from project import Project
from tampering import relog

DIGEST = "0" * 64


def logged(p: Project, **changed: object) -> None:
    """A run under a seal whose log says so."""
    relog(p, "train/shallow", **changed)
    p.commit("A run with a guest")


def foreign_module(p: Project) -> None:
    logged(p, foreign={"sitecustomize": DIGEST})


def altered_package(p: Project) -> None:
    logged(p, altered={"numpy/__init__.py": DIGEST})


def other_version(p: Project) -> None:
    p.write("requirements.lock", "# pins\nPyDantic[email] == 0.0.1 ; python_version > '3' \\\n    --hash=sha256:00\n")
    p.commit("Lock")
    p.ran()


def preloaded(p: Project) -> None:
    logged(p, environment={"LD_PRELOAD": "sha256:0123456789ab"})


def path_elsewhere(p: Project) -> None:
    logged(p, environment={"PYTHONPATH": "sha256:0123456789ab"})


def ignored_dependency(p: Project) -> None:
    p.write(".dvcignore", "*.tmp\nshallow.json\n")


def ignored_nested(p: Project) -> None:
    p.write("results/.dvcignore", "/train/*\n!/train/*.run.json\n")


def ignored_input(p: Project) -> None:
    p.write(".dvcignore", "params.*\n")


def undeclared_input(p: Project) -> None:
    p.edit("dvc.yaml", "    deps: [results/train/shallow.json]\n", "")


def undeclared_parameters(p: Project) -> None:
    p.edit("dvc.yaml", "    deps: [results/calibrate/calibration.json]\n    params: [scale]\n", "    deps: [results/calibrate]\n")
