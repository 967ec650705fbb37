"""Macros of ours that LaTeX is made to mean something else: found in what LaTeX wrote, whatever the source looks like."""

from __future__ import annotations

from pathlib import Path

import pytest
from paper_project import Paper

from audit.building import build, find_redefined, main
from audit.definitions import KEPT
from audit.marks import auxiliary_lines, read_marks
from audit.printed import find_unprinted

TEX = "manuscript/paper.tex"
BEGIN = "\\begin{document}"
ACTS = {
    "by name, late": (r"\AtBeginDocument{\expandafter\def\csname verdict\endcsname#1{met}}", {"A407 verdict", "A502 pilot.P1"}),
    "by name, inside": (r"\expandafter\def\csname val \endcsname{0.1}\expandafter\def\csname\string\val\space\endcsname[#1]#2{0.1}", {"A407 val", "A502 main.untreated.gap"}),
    "by what stands behind it": (r"\expandafter\def\csname audit@robust@val\endcsname#1{0.1}", {"A407 audit@robust@val", "A502 main.untreated.gap"}),
    "the choice": (r"\expandafter\let\csname audit@choice@missed\expandafter\endcsname\csname audit@choice@met\endcsname", {"A407 audit@choice@missed"}),
    "the word": (r"\expandafter\def\csname audit@verdict@pilot.P2\endcsname{met}", {"A407 audit@verdict@pilot.P2"}),
    "a copy": (r"\newcommand\x[1]{met}\RenewCommandCopy\verdict\x", {"A407 verdict", "A502 pilot.P1"}),
    "the claim": (r"\expandafter\def\csname claim\endcsname#1#2{#2}", {"A407 claim"}),
    "the claim's code": (r"\expandafter\def\csname claim code\endcsname#1#2{#2}", {"A407 claim"}),
    "in LaTeX3": (r"\ExplSyntaxOn\cs_set:Npn\verdict#1{met}\ExplSyntaxOff", {"A407 verdict", "A502 pilot.P1"}),
    "put back at the end": (r"\let\kept\verdict\AtBeginDocument{\def\verdict#1{met}}\AtEndDocument{\let\verdict\kept}", {"A502 pilot.P1"}),
    "no auxiliary file": (r"\nofiles", {"A407 meanings", "A502 pilot.P1"}),
}  # fmt: skip


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path)
    monkeypatch.chdir(tmp_path)
    made.render()
    (tmp_path / "out").mkdir()
    return made


def test_the_untouched_document_keeps_every_meaning(paper: Paper) -> None:
    """Each macro is defined where it is remembered, nothing is found, and branches, options and definitions are not demanded."""
    more = r"\newcommand{\x}{\val{main.untreated.close}}\ifverdict{pilot.P2}{\val{main.untreated.close}}{no}{no}"
    paper.replace(TEX, "\\end{document}", more + "\n\\end{document}")
    paper.render()
    build(paper.context, Path.cwd() / "out")
    lines = auxiliary_lines(Path.cwd() / "out")
    kept = [line.partition("=")[2] for line in lines if line.startswith("%audit-was ")]
    assert len(kept) == len(KEPT) + 2 and "\\relax" not in kept
    assert [*find_unprinted(paper.context, read_marks(lines)), *find_redefined(paper.context, lines)] == []


@pytest.mark.parametrize(("text", "wanted"), ACTS.values(), ids=ACTS)
def test_each_redefinition_is_found(paper: Paper, text: str, wanted: set[str]) -> None:
    """The macro is named, and so is a use that no longer prints."""
    paper.replace(TEX, BEGIN, text + "\n" + BEGIN)
    build(paper.context, Path.cwd() / "out")
    lines = auxiliary_lines(Path.cwd() / "out")
    found = [finding.line() for finding in (*find_unprinted(paper.context, read_marks(lines)), *find_redefined(paper.context, lines))]
    for code, word in (pair.split() for pair in wanted):
        assert any(code in line and word in line for line in found), found


def test_the_old_pdf_is_kept(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A document whose macros were redefined does not take the old one's place."""
    paper.write("manuscript/paper.pdf", "old")
    paper.replace(TEX, BEGIN, ACTS["by name, late"][0] + "\n" + BEGIN)
    assert main() == 1
    assert Path("manuscript/paper.pdf").read_text() == "old"
    shown = capsys.readouterr().out
    assert "1 of 2 uses" not in shown and "uses of \\verdict{pilot.P1} print nothing" in shown and "not replaced" in shown
