"""Honest papers in several styles: every value is found at its place, and no number is called one from nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from forged_pdf import PDF, TEX, rebuild
from invented_papers import BIBLIOGRAPHY, PAPERS, TABLES
from paper_project import Paper

from audit.marks import read_attached
from audit.printed import compare_pdf, find_unprinted


@pytest.mark.parametrize("text", PAPERS.values(), ids=PAPERS)
def test_an_honest_paper_finds_nothing(tmp_path: Path, text: str) -> None:
    """Formulas, notes, floats, columns, turned and scaled boxes, running heads in capitals, siunitx, line numbers, algorithms: nothing is found."""
    paper = Paper(tmp_path)
    paper.write(TEX, text)
    paper.write("manuscript/r.bib", BIBLIOGRAPHY)
    for name, template in TABLES.items():
        paper.write(f"manuscript/tables/{name}.tex.j2", template)
    rebuild(paper)
    typeset = read_attached(paper.root / PDF)
    assert typeset is not None and len(typeset.marks) >= 5
    found = [*find_unprinted(paper.context, typeset.marks), *compare_pdf(paper.context, paper.root / PDF, typeset).findings]
    assert [finding.line() for finding in found] == []
