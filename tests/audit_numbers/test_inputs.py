"""What LaTeX read and what it drew: files that the audit did not read, other documents, figures of no run or of another."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from forged_pdf import MACROS, PDF, TEX, rebuild
from paper_project import Paper, main_record

from audit.digest import sha256_bytes, sha256_file
from audit.document import load_document
from audit.finding import Refusal
from audit.numbers.scan import scan_file
from audit.pdf import graphic_paths
from audit.records import RunLog, write_record

END = "\\end{document}"
FIGURE, OTHER = "results/figures/gap.pdf", "results/figures/share.pdf"
DRAWN = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 90 90]>>endobj\ntrailer<</Root 1 0 R>>\n"


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    """A project with one figure that a logged run made."""
    made = Paper(tmp_path / "p")
    for name, tail in ((FIGURE, b""), (OTHER, b"% another\n")):
        (made.root / name).parent.mkdir(parents=True, exist_ok=True)
        (made.root / name).write_bytes(DRAWN + tail)
    made.replace(TEX, "\\title", "\\usepackage{graphicx}\\title")
    made.replace(TEX, END, "\\includegraphics[width=1cm]{../results/figures/gap}\n" + END)
    log(made)
    return made


def log(paper: Paper) -> None:
    """The run log that names the figure, and what it was made from."""
    record = "results/analyse/main.json"
    inputs = {record: sha256_file(paper.root / record)}
    fields = {"changed": (), "code": {}, "seals": {}, "packages": {}, "python": "3.11.7", "machine": "box", "threads": 2, "started": "2026-01-02T03:04:05Z", "ended": "x", "seconds": 5.0}
    made = RunLog(stage="draw", command=("python",), commit="0123456789abcdef", record="results/draw/draw.json", record_sha256="ab" * 32, outputs={FIGURE: sha256_file(paper.root / FIGURE)}, inputs=inputs, **fields)  # fmt: skip
    write_record(paper.root / "results/draw/draw.run.json", made)


def lines(paper: Paper, *disabled: str) -> list[str]:
    return [finding.line() for finding in paper.report("generated", *disabled).findings if finding.code in ("A506", "A507")]


@pytest.mark.parametrize("name", ["h.tex", "tables/h.tex.j2", "own.sty", "own.cls", "own.bst", "own.cfg", "own.def"])
def test_a_name_without_a_file_is_none(paper: Paper, name: str) -> None:
    """A link to nothing, or a folder of that name, stops no check and changes no digest."""
    rebuild(paper)
    for act in (lambda path: path.symlink_to("/nowhere/at/all"), lambda path: (path.unlink(), path.mkdir())):
        act(paper.root / "manuscript" / name)
        assert [line for finding in paper.report().findings if " note: " not in (line := finding.line())] == []


def test_a_figure_of_a_logged_run_is_nothing_to_say(paper: Paper) -> None:
    """Made from the records that are here, and the one that the log names: neither finding nor note."""
    assert lines(paper) == []


def test_a_figure_exchanged_for_another_is_found(paper: Paper) -> None:
    """The figure of another record under this one's name."""
    (paper.root / FIGURE).write_bytes((paper.root / OTHER).read_bytes())
    expected = sha256_bytes(DRAWN)[:12]
    assert [line.partition("; found")[0] for line in lines(paper)] == [
        f"A507 {FIGURE} the figure is not the one that the run of results/draw/draw.json made; expected {FIGURE} with {expected}"
    ]
    assert lines(paper, "figures") == []


def test_a_figure_older_than_its_record_is_found(paper: Paper) -> None:
    """The record moved on and the figure did not."""
    paper.record("results/analyse/main.json", main_record() | {"more": 1})
    assert len(lines(paper)) == 1 and "the figure was made from another version of results/analyse/main.json" in lines(paper)[0]


def test_figures_of_no_run_and_drawings_are_noted(paper: Paper) -> None:
    """What was not read is said, and fails nothing."""
    paper.replace(TEX, END, "\\includegraphics{../results/figures/share}\n\\begin{tikzpicture}\\end{tikzpicture}\n" + END)
    found = lines(paper)
    assert len(found) == 2 and all(" note: not read: " in line for line in found)
    assert found[0].startswith(f"A507 {OTHER}") and "the numbers of a tikzpicture are drawn by the source" in found[1]


@pytest.mark.parametrize("spelled", ["{../results/figures/}", "{nowhere/}{../results/figures/}", " {../results/figures/} "])
def test_a_figure_is_found_where_graphicspath_points(paper: Paper, spelled: str) -> None:
    """One of a logged run is nothing to say, one of no run is noted; neither is a file that the audit did not read."""
    paper.replace(TEX, "{../results/figures/gap}", "{gap}")
    paper.replace(TEX, "\\title", f"\\graphicspath{{{spelled}}}\\title")
    assert [path.name for path in graphic_paths(paper.context, load_document(paper.context))] == ["gap.pdf"]
    paper.replace(TEX, END, "\\includegraphics{share.pdf}\n% \\graphicspath{{elsewhere/}}\n" + END)
    assert [line.partition(" note")[0] for line in lines(paper)] == [f"A507 {OTHER}"]


def test_another_document_is_noted(paper: Paper) -> None:
    """A second document beside the audited one is named."""
    paper.write("manuscript/submitted.tex", "\\documentclass{article}")
    assert [line.split(":")[0] for line in lines(paper)] == ["A506 manuscript/submitted.tex note"]


def read_by_a_package(paper: Paper) -> None:
    """A file that only TeX can name."""
    paper.write("manuscript/hidden.tex", "\\newcommand\\gap{0.1}")
    paper.write("manuscript/own.sty", "\\edef\\name{hid}\\makeatletter\\@input{\\name den.tex}\\makeatother")
    paper.replace(TEX, "\\title", "\\usepackage{own}\\title")


def read_from_elsewhere(paper: Paper) -> None:
    """A file outside the project."""
    outside = paper.root.parent / "elsewhere.tex"
    outside.write_text("\\newcommand\\gap{0.1}")
    paper.write("manuscript/own.sty", f"\\makeatletter\\@input{{{outside}}}\\makeatother")
    paper.replace(TEX, "\\title", "\\usepackage{own}\\title")


UNREAD: dict[str, tuple[Callable[[Paper], None], str]] = {
    "by a computed name": (read_by_a_package, "A506 manuscript/hidden.tex LaTeX read this file and the audit did not read it"),
    "outside the project": (read_from_elsewhere, "elsewhere.tex LaTeX read this file and lies outside the project"),
}


@pytest.mark.parametrize(("act", "words"), UNREAD.values(), ids=UNREAD)
def test_a_file_that_latex_read_and_the_audit_did_not_is_found(paper: Paper, act: Callable[[Paper], None], words: str) -> None:
    """By LaTeX's own record of what it read, which the PDF carries."""
    act(paper)
    rebuild(paper)
    assert any(words in line for line in lines(paper)), lines(paper)
    assert not any("LaTeX read" in line for line in lines(paper, "inputs"))
    assert (paper.root / PDF).is_file() and (paper.root / MACROS).is_file()


OUTSIDE: dict[str, Callable[[Path], str]] = {
    "a figure": lambda folder: f"\\includegraphics{{{folder}/a.pdf}}",
    "a figure by a link": lambda _: "\\includegraphics{linked}",
    "a bibliography": lambda folder: f"\\bibliography{{{folder}/a}}",
    "a package": lambda folder: f"\\usepackage{{{folder}/a}}",
    "a package above": lambda _: "\\usepackage{../../outside/a}",
}


@pytest.mark.parametrize("text", OUTSIDE.values(), ids=OUTSIDE)
def test_a_file_from_outside_the_project_is_found(paper: Paper, text: Callable[[Path], str]) -> None:
    """By its absolute path, over the parent folder or through a link: named before LaTeX runs, and nothing stops over it."""
    folder = paper.root.parent / "outside"
    folder.mkdir()
    for name, data in (("a.pdf", DRAWN), ("a.bib", b"@misc{a, title={A}}"), ("a.sty", b"\\newcommand\\mine{x}\n")):
        (folder / name).write_bytes(data)
    (paper.root / "manuscript/linked.pdf").symlink_to(folder / "a.pdf")
    paper.replace(TEX, "\\title", text(folder) + "\n\\title")
    paper.render()
    paper.write(PDF, "x")
    assert any(line.startswith(f"A506 {folder}/a.") and "lies outside the project" in line for line in lines(paper))
    assert not any(finding.code == "A500" for finding in paper.report().findings)


def test_a_device_or_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """What has no end is one line, not memory."""
    os.mkfifo(tmp_path / "pipe.tex")
    for path in (tmp_path / "pipe.tex", Path("/dev/zero")):
        with pytest.raises(Refusal, match="cannot be read; expected a file; found a device or a pipe"):
            scan_file(path)
