"""A PDF as somebody would forge it: built from other sources, with the digest and the writing-down of the honest ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from paper_project import Paper

from audit import building
from audit.finding import Finding, Severity
from audit.load import write_bytes
from audit.pdf import document_digest

TEX, MACROS, PDF = "manuscript/paper.tex", "manuscript/generated/macros.tex", "manuscript/paper.pdf"


def rebuild(paper: Paper) -> None:
    """Render and build the PDF as it is now, findings or not."""
    paper.render()
    typeset(paper)


def typeset(paper: Paper) -> None:
    """Build the PDF from what lies here."""
    folder = paper.root.parent / f"{paper.root.name}-out"
    folder.mkdir(exist_ok=True)
    write_bytes(paper.root / PDF, building.build(paper.context, folder)[0].read_bytes())
    shutil.rmtree(folder)


def forge(paper: Paper, monkeypatch: pytest.MonkeyPatch, act: Callable[[Paper], None]) -> None:
    """Change the sources, build with the digest of the honest ones, and put them back."""
    honest, kept = document_digest(paper.context), paper.root.parent / f"{paper.root.name}-kept"
    shutil.copytree(paper.root / "manuscript", kept)
    act(paper)
    with monkeypatch.context() as patched:
        patched.setattr(building, "document_digest", lambda _: honest)
        typeset(paper)
    pdf = (paper.root / PDF).read_bytes()
    shutil.rmtree(paper.root / "manuscript")
    shutil.move(kept, paper.root / "manuscript")
    (paper.root / PDF).write_bytes(pdf)


def findings(paper: Paper) -> list[Finding]:
    """What my checks find, without notes."""
    return [finding for finding in paper.report().findings if finding.severity is not Severity.NOTE]


def lines(paper: Paper) -> list[str]:
    return [finding.line() for finding in findings(paper)]


def copy(paper: Paper, root: Path) -> Paper:
    """The project in another folder."""
    shutil.copytree(paper.root, root / "copy")
    made = object.__new__(Paper)
    made.root = root / "copy"
    return made
