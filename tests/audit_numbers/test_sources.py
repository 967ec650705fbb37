"""The appendix of sources and the links to it: with hyperref and without, in every place a number can stand, and `\\valstyle`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from paper_project import Paper

from audit.building import auxiliary_lines, build, find_redefined, main
from audit.context import Context
from audit.finding import Refusal
from audit.pdf import call_poppler
from audit.records import RunLog, sha256_file, write_record
from audit.render import generate, read_header
from audit.sources import show_line

TEX = "manuscript/paper.tex"
END = "\\end{document}"
APPENDIX = "\\newpage\\appendix\\section{Sources}\\input{generated/sources}\n"
PLACES = r"""\newpage\section{Gap \val{main.untreated.close}}
A sum $x_{\val{main.untreated.gap}} = \frac{\val{main.untreated.tiny}}{2}$ and\footnote{Of \val{main.untreated.gap}.}
\[ y = \val{main.untreated.neg} \]
\begin{figure}[h]\caption[Short \val{main.untreated.gap}]{Long \val{main.untreated.gap}.}\end{figure}
\begin{tabular}{rp{3cm}} \val{main.untreated.gap} & \textbf{\val{main.untreated.share}} \\ \multicolumn{2}{c}{\val[n]{main.untreated.recovered}} \end{tabular}
\uppercase{x}\mbox{\val[word]{main.untreated.recovered}}
"""


BOXED = {
    "a short value": ("0.09", True),
    "one power of ten": (r"\ensuremath{1.2\times 10^{-5}}", True),
    "a range": (r"0.80\mbox{--}1.04", True),
    "a range of two powers of ten": (r"\ensuremath{1.5\times 10^{-15}}\ \mbox{to}\ \ensuremath{3.9\times 10^{-8}}", True),
    "a value with its spread": (r"0.49\ (0.04\ \mbox{to}\ 9.05)", True),
    "a power of ten with its spread": (r"\ensuremath{1.5\times 10^{6}}\ (\ensuremath{1.0\times 10^{3}}\ \mbox{to}\ \ensuremath{3.6\times 10^{8}})", False),
}


@pytest.mark.parametrize(("shown", "boxed"), BOXED.values(), ids=BOXED)
def test_a_wide_value_does_not_run_over_its_key(shown: str, boxed: bool) -> None:
    """Only what the column has room for stands in a box of its width."""
    assert (r"\makebox[12em][l]" in show_line("", "main.gap", shown)) is boxed


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path)
    monkeypatch.chdir(tmp_path)
    made.replace(TEX, "\\usepackage{booktabs}", "\\usepackage[T1]{fontenc}\\usepackage{lmodern}\\usepackage{booktabs}")
    made.replace(TEX, "\\maketitle\n", "\\maketitle\\tableofcontents\\listoffigures\n")
    made.replace(TEX, END, PLACES + APPENDIX + END)
    return made


def load(paper: Paper, lines: str) -> None:
    """Put lines before the generated macros."""
    paper.replace(TEX, "\\input{generated/macros}", lines + "\n\\input{generated/macros}")


def typeset(paper: Paper) -> tuple[bytes, str, str]:
    """The PDF's bytes without compression, its text and LaTeX's log."""
    paper.replace(TEX, "\\documentclass", "\\pdfcompresslevel=0\\pdfobjcompresslevel=0\\documentclass")
    paper.render()
    out = paper.root / "out"
    out.mkdir()
    build(paper.context, out)
    built = out / "paper.pdf"
    return built.read_bytes(), call_poppler("pdftotext", "-layout", str(built), "-"), (out / "paper.log").read_text(errors="replace")


def links(data: bytes) -> list[tuple[str, str]]:
    """(what the annotation says of itself, destination) of each link to a source."""
    found = re.findall(rb"/Subtype\s*/Link(.{0,200}?)/A\s*<<\s*/S\s*/GoTo\s*/D\s*\(([^)]*)\)", data, re.DOTALL)
    return [(about.decode("latin-1"), target.decode("latin-1")) for about, target in found]


def test_each_number_is_linked_to_its_line_and_back(paper: Paper) -> None:
    """Titles, formulas, footnotes, captions, tables and lists of figures: a link without border or colour, to a line that exists."""
    load(paper, "\\usepackage[colorlinks]{hyperref}")
    data, text, log = typeset(paper)
    found = links(data)
    wanted = {f"audit.{form}@main.untreated.{key}" for form, key in (("", "gap"), ("", "tiny"), ("", "neg"), ("", "close"), ("", "share"), ("n", "recovered"), ("word", "recovered"))}
    assert wanted <= {target for _, target in found}
    assert all("/Border[0 0 0]" in about for about, target in found if target.startswith("audit."))
    assert {target for _, target in found if target.startswith("page.")} >= {"page.1", "page.2"}
    assert "has been referenced but does not exist" not in log and "Rerun to get" not in log
    assert re.search(r"0\.0887\s+main\.untreated\.gap\s[. ]*p\. 1, 2", " ".join(text.split()))


def test_bookmarks_and_lists_keep_their_text(paper: Paper) -> None:
    """A number in a title is plain in the bookmark; the run is quiet about it."""
    load(paper, "\\usepackage{hyperref}")
    data, text, log = typeset(paper)
    assert "".join(f"\\000{letter}" for letter in "Gap 0.95").replace(" ", "\\040").encode() in data
    assert "Token not allowed in a PDF string" not in log
    assert text.count("Gap 0.95") >= 2


@pytest.mark.parametrize("package", ["", "\\usepackage{hyperref}", "\\usepackage{amsmath,hyperref}"])
def test_the_audit_of_the_pdf_holds_with_the_appendix(paper: Paper, package: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With hyperref and without, every use is counted, every meaning kept, every number of the appendix has its source."""
    load(paper, package)
    paper.render()
    assert main() == 0, capsys.readouterr().out
    assert "0 findings" in capsys.readouterr().out


def test_without_hyperref_there_are_pages_and_no_links(paper: Paper) -> None:
    """Nothing breaks, and the way back is printed."""
    data, text, _ = typeset(paper)
    assert links(data) == [] and re.search(r"0\.0887\s+main\.untreated\.gap\s[. ]*p\. 1, 2", " ".join(text.split()))


def test_without_the_appendix_nothing_is_linked(paper: Paper) -> None:
    """It is opt-in: no file, no link, no further line in the auxiliary file."""
    paper.replace(TEX, APPENDIX, "")
    load(paper, "\\usepackage{hyperref}")
    data, _, _ = typeset(paper)
    lines = auxiliary_lines(paper.root / "out")
    assert not [target for _, target in links(data) if target.startswith("audit.")]
    assert "sources.tex" not in generate(paper.context).files and not [line for line in lines if line.startswith(("\\auditpage", "\\auditlinked"))]


def test_final_has_no_links_and_no_pages(paper: Paper) -> None:
    """`\\valstyle{final}`: the appendix keeps its lines, the rest is plain text."""
    load(paper, "\\usepackage{hyperref}")
    paper.replace(TEX, "\\begin{document}", "\\valstyle{final}\\begin{document}")
    data, text, _ = typeset(paper)
    assert not [target for _, target in links(data) if target.startswith("audit.")]
    assert "main.untreated.gap" in text and ", 2" not in text.split("Sources")[-1]


def test_draft_marks_numbers(paper: Paper) -> None:
    """`\\valstyle{draft}` prints numbers in blue where colours are loaded, and is harmless without."""
    paper.replace(TEX, "\\begin{document}", "\\valstyle{draft}\\begin{document}")
    plain = typeset(paper)[0]
    load(paper, "\\usepackage{color}")
    paper.render()
    (paper.root / "again").mkdir()
    build(paper.context, paper.root / "again")
    coloured = (paper.root / "again/paper.pdf").read_bytes()
    assert plain.count(b"0 0 1 rg") == 0 and coloured.count(b"0 0 1 rg") >= 12


def test_an_unknown_style_is_an_error(paper: Paper) -> None:
    """One line, with file and line."""
    paper.replace(TEX, "\\begin{document}", "\\valstyle{fancy}\\begin{document}")
    paper.render()
    (paper.root / "out").mkdir()
    with pytest.raises(Refusal, match=r"paper\.tex:\d+: LaTeX: Package audit Error: No style `fancy' of numbers"):
        build(paper.context, paper.root / "out")


@pytest.mark.parametrize("name", ["audit@link", "audit@mark", "audit@hidden", "auditanchor", "auditpages"])
def test_a_redefined_link_is_found(paper: Paper, name: str) -> None:
    """What a number passes through on its way to the page keeps its meaning, or A407 says so."""
    paper.render()
    paper.replace(TEX, "\\begin{document}", f"\\makeatletter\\def\\{name}#1{{99}}\\makeatother\\begin{{document}}")
    (paper.root / "out").mkdir()
    build(paper.context, paper.root / "out")
    found = [finding.line() for finding in find_redefined(paper.context, auxiliary_lines(paper.root / "out"))]
    assert any("A407" in line and name in line for line in found)


@pytest.mark.parametrize("name", ["valstyle", "auditpages", "auditpage"])
def test_what_is_ours_may_not_be_redefined(paper: Paper, name: str) -> None:
    """`\\valstyle` and the marks of the appendix are ours, like `\\val`."""
    paper.replace(TEX, "\\begin{document}", f"\\renewcommand{{\\{name}}}[1]{{}}\\begin{{document}}")
    assert any("A407" in finding.line() and name in finding.line() for finding in paper.report().findings)


def test_records_runs_and_commits_stand_in_the_appendix(paper: Paper) -> None:
    """Path, digest, stage and commit of each record, escaped; the header names what it was read from."""
    paper.write("results/analyse/main.run.json", "{}")
    digest = sha256_file(paper.root / "results/analyse/main.json")
    log = RunLog(
        stage="ana_lyse", command=("python",), commit="0123456789abcdef", changed=(), record="results/analyse/main.json", record_sha256=digest, outputs={}, inputs={}, code={},
        seals={}, packages={}, python="3.11.7", machine="m", threads=1, started="2026-01-02T03:04:05Z", ended="x", seconds=1.0,
    )  # fmt: skip
    write_record(paper.root / "results/analyse/main.run.json", log)
    data = generate(Context.open(paper.root)).files["sources.tex"]
    assert set(read_header(data)) == {"results/analyse/main.json", "results/analyse/main.run.json", "results/evaluate/pilot.json"}
    text = " ".join(typeset(paper)[1].split())
    assert f"main: results/analyse/main.json, SHA-256 {digest[:10]}, stage ana_lyse, run from commit 0123456789" in text
    assert "pilot: results/evaluate/pilot.json, SHA-256" in text


def test_a_template_of_that_name_is_the_authors(paper: Paper) -> None:
    """An own `sources.tex.j2` is rendered instead."""
    paper.write("manuscript/tables/sources.tex.j2", "Mine: << main.untreated.gap | val >>.\n")
    assert generate(paper.context).files["sources.tex"].decode().endswith("Mine: 0.0887.\n")


def test_verbatim_output_of_links_is_stable(paper: Paper) -> None:
    """Two builds give the same bytes."""
    load(paper, "\\usepackage{hyperref}")
    first = typeset(paper)[0]
    (paper.root / "second").mkdir()
    build(paper.context, paper.root / "second")
    assert (paper.root / "second/paper.pdf").read_bytes() == first
    assert subprocess.run(["pdfinfo", str(paper.root / "second/paper.pdf")], capture_output=True, check=True).returncode == 0
