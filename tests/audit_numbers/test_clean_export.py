"""`audit export --manuscript`: plain pdflatex makes the same text of it, with the real LaTeX, and nothing of ours is left in it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from paper_project import MINE, Paper

from audit.checks import TABLE
from audit.cli import main as cli
from audit.expansion import SHAPES, expand, find_uses
from audit.macro_texts import read_printed
from audit.render import generate

ROOT = Path(__file__).resolve().parents[2]
TEX = "manuscript/paper.tex"
PAPER = r"""% A draft; \val{main.untreated.gap} in a comment stays
\documentclass{article}
\usepackage[T1]{fontenc}\usepackage{lmodern,amsmath,booktabs,graphicx,local}
\usepackage{hyperref}
\graphicspath{{../results/figures/}}
\input{generated/macros}
\valstyle{draft}
\newcommand{\gap}{\val{main.untreated.gap}~nats}
\newcommand{\both}[2][\val{main.untreated.close}]{#1 and #2}
\title{A gap of \val{main.untreated.gap}}\author{A}\date{}
\begin{document}
\maketitle\tableofcontents
\section{Results with \val{main.untreated.share}}
Nested: \textbf{\emph{at \val{main.untreated.gap}}}, \both{\val{main.untreated.neg}}, \both[{\val[n]{main.untreated.recovered}}]{\gap}, \gap.
Two on a line \val{main.untreated.gap}--\val{main.untreated.close}, \val [word]
  {main.untreated.recovered} apart, \small\val[word]{main.untreated.recovered}\normalsize, x\val[word]{main.untreated.recovered}.
\begin{align} x_{\val{main.untreated.gap}} &= \sqrt{\val{main.untreated.tiny}} - \val{main.untreated.neg} \end{align}
Power $10^{\val[integer]{main.untreated.recovered}}$ and \verb|\val{main.untreated.gap}|, \verb+%+ \val{main.untreated.gap}.
\begin{verbatim}
We write \val{main.untreated.gap}  % here
\end{verbatim}
\iffalse \val{main.untreated.nothing} \fi
\val{pilot.met} of \val{pilot.of}. P1 was \verdict{pilot.P1}, P2 \ifverdict{pilot.P2}{held, \val{main.untreated.gap}}{failed \emph{at \val{main.untreated.close}} in \LaTeX}{is
open} here; \ifverdict{pilot.P1}{%
  it {\bfseries holds} at \val{main.untreated.gap}
}{no}{no}
and goes on. This line is followed by an empty branch
\ifverdict{pilot.P1}{}{not this}{nor this}
and no paragraph ends. A nested one: \ifverdict{pilot.P1}{\ifverdict{pilot.P2}{a}{b \val{main.untreated.gap}}{c}}{d}{e}.

\ifverdict{pilot.P2}{x}{
  A paragraph of its own,
  with \val{main.untreated.gap}. % said
}{y}
\begin{figure}[h]\centering\includegraphics[width=1cm]{plot}
\caption[Short \val{main.untreated.gap}]{Long \val{main.untreated.gap}, \confirmatory{main.untreated.gap}\footnotemark.}\end{figure}
\begin{tabular}{rl} \val{main.untreated.gap} & \val{main.untreated.neg} \\ \multicolumn{2}{c}{\localgap} \\[2pt]\end{tabular}
\input{generated/arms}
\input sections/one
\include{sections/two}
\bibliographystyle{plain}\bibliography{refs}
\appendix\section{Sources}
\input{generated/sources}
\end{document}
"""
SECTION = "\\section{One}In \\val{main.untreated.gap} of\\footnote{A note on \\val{main.untreated.neg}.} \\cite{one}. % a remark\n\\input{sections/deep/three}\n"
SHORT = r"""\documentclass{article}
\usepackage{booktabs,graphicx}
\graphicspath{{../results/figures/}}
\input{generated/macros}
\begin{document}
In \val{main.untreated.share} the gap is \val{main.untreated.gap} and goes on. Of \val{pilot.of} predictions \val{pilot.met} was met:
P1 was \verdict{pilot.P1}, P2 \verdict{pilot.P2}.
\includegraphics[width=1cm]{plot} \input{generated/arms}
\input sections/one
\end{document}
"""
"""What is quickly typeset, for what hangs on no text."""
BIB = "@book{one, author={A. Author}, title={Title}, publisher={P}, year={2001}}\n"


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path / "project")
    made.write(TEX, PAPER)
    made.write("manuscript/sections/one.tex", SECTION)
    made.write("manuscript/sections/two.tex", "\\section{Two}Here \\val{main.untreated.gap}.\\endinput\n\\val{none}\n")
    made.write("manuscript/sections/deep/three.tex", "Deep \\val{main.untreated.gap}.\n")
    made.write("manuscript/local.sty", "\\ProvidesPackage{local}\n\\newcommand{\\localgap}{\\val{main.untreated.close}}\n")
    made.write("manuscript/refs.bib", BIB)
    made.write("manuscript/macros.tex.j2", "<< definitions >>\n\\newcommand{\\arm}{<< main.arms[1].name >>}\n")
    return enter(made, monkeypatch)


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path / "project")
    made.write(TEX, SHORT)
    made.write("manuscript/sections/one.tex", "\\section{One}In \\val{main.untreated.gap}. \\input{sections/deep/three}\n")
    made.write("manuscript/sections/deep/three.tex", "Deep \\val{main.untreated.gap}.\n")
    return enter(made, monkeypatch)


def enter(made: Paper, monkeypatch: pytest.MonkeyPatch) -> Paper:
    """Work in the project, with its figure drawn and my checks alone."""
    draw(made.root / "results/figures/plot.pdf")
    made.write("results/audit/findings.json", '{"findings": []}')
    monkeypatch.setattr("audit.verify.TABLE", tuple(check for check in TABLE if check.name in MINE))
    monkeypatch.chdir(made.root)
    return made


def draw(path: Path) -> None:
    """A figure made by LaTeX."""
    path.parent.mkdir(parents=True)
    text = r"\documentclass{article}\pagestyle{empty}\begin{document}A plot\end{document}"
    subprocess.run(["pdflatex", "-interaction=batchmode", f"-jobname={path.stem}", text], cwd=path.parent, check=True, capture_output=True)
    for left in ("aux", "log"):
        path.with_suffix(f".{left}").unlink()


def run(*words: str) -> int:
    """Run a command as the shell does, and return its exit code."""
    with pytest.raises(SystemExit) as stop:
        cli(list(words))
    return int(stop.value.code or 0)


def export(target: Path | str) -> int:
    """Export the manuscript into a folder."""
    return run("export", "--manuscript", str(target))


def plain_text(folder: Path, out: Path, runs: int = 2) -> str:
    """What plain pdflatex, run where the sources lie, makes of a tree (a table of contents takes a third run); in a copy, so that the tree stays."""
    shutil.copytree(folder, out)
    for _ in range(runs):
        subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"], cwd=out, check=True, capture_output=True)
    return subprocess.run(["pdftotext", str(out / "paper.pdf"), "-"], check=True, capture_output=True, text=True).stdout


def before_sources(text: str) -> str:
    """The letters of a text up to the appendix of sources, whose lines have pages in our PDF only; spaces depend on kerning beside links."""
    return "".join(text.rpartition("main: results/")[0].split())


def test_an_adversarial_manuscript_prints_the_same_text(paper: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Our PDF, built by latexmk, and the tree's, built by pdflatex alone, say the same; the tree has nothing of ours but verbatim text."""
    assert run("render") == 0
    assert export(tmp_path / "tree") == 0, capsys.readouterr()
    said = capsys.readouterr().out
    assert "replaced by what they print; plain pdflatex gives the text of the manuscript" in said and "comments of the sources" in said
    assert run("pdf") == 0
    ours = subprocess.run(["pdftotext", "manuscript/paper.pdf", "-"], check=True, capture_output=True, text=True).stdout
    theirs = plain_text(tmp_path / "tree", tmp_path / "compiled", runs=3)
    assert before_sources(theirs) == before_sources(ours) != ""
    assert "main.untreated.neg" in theirs.rpartition("main: results/")[2]
    words = " ".join(theirs.split())
    assert "We write \\val{main.untreated.gap} % here" in words and "it holds at 0.0887 and goes on" in words
    names = {path.relative_to(tmp_path / "tree").as_posix() for path in (tmp_path / "tree").rglob("*") if path.is_file()}
    assert names == {
        "paper.tex", "paper.bbl", "refs.bib", "local.sty", "sections/one.tex", "sections/two.tex", "sections/deep/three.tex", "figures/plot.pdf",
        "generated/arms.tex", "generated/sources.tex", "generated/macros.tex", "SHA256SUMS",
    }  # fmt: skip
    for name in names - {"figures/plot.pdf"}:
        assert find_uses((tmp_path / "tree" / name).read_text(), name) == [], name
    assert (tmp_path / "tree/generated/macros.tex").read_text().strip() == "\\newcommand{\\arm}{ramp}"
    assert subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=tmp_path / "tree", check=False).returncode == 0


def test_our_own_manuscript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """This repository's paper, in a clone: the exported tree compiles with pdflatex alone and prints the paper's text."""
    subprocess.run(["git", "clone", "-q", str(ROOT), str(tmp_path / "clone")], check=True)
    ignored = shutil.ignore_patterns("generated", "*.pdf", "*.aux")
    shutil.copytree(ROOT / "manuscript", tmp_path / "clone/manuscript", dirs_exist_ok=True, ignore=ignored)
    monkeypatch.chdir(tmp_path / "clone")
    assert run("render") == 0
    assert export(tmp_path / "tree") == 0, capsys.readouterr()
    assert run("pdf") == 0
    ours = subprocess.run(["pdftotext", "manuscript/paper.pdf", "-"], check=True, capture_output=True, text=True).stdout
    theirs = plain_text(tmp_path / "tree", tmp_path / "compiled")
    cut = "Where each number comes from"
    assert theirs.rpartition(cut)[0].split() == ours.rpartition(cut)[0].split() != []
    assert not (tmp_path / "tree/generated/macros.tex").exists()
    sources = [path for path in (tmp_path / "tree").rglob("*.tex")]
    assert len(sources) > 5 and not [path for path in sources if any(f"\\{name}{{" in path.read_text() for name in SHAPES)]


def test_findings_stop_the_export(short: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As with `audit render`: a typed number, and nothing is written."""
    assert run("render") == 0
    short.replace(TEX, "and goes on", "and the gap fell to 0.4711 nats and goes on")
    assert export(tmp_path / "tree") == 1
    assert "A401" in capsys.readouterr().err and not (tmp_path / "tree").exists()


def test_stale_generated_files_are_refused(short: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tree is compared with the manuscript's own text, which must be the present one."""
    assert export(tmp_path / "tree") == 2
    assert "is missing or not what the records give now; cure: audit render" in capsys.readouterr().err
    assert not (tmp_path / "tree").exists()


def test_a_foreign_folder_is_not_overwritten(short: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder with other files, an edited tree, a file: refused, and left as it is. An own tree is replaced."""
    assert run("render") == 0
    tree = tmp_path / "tree"
    assert export(tree) == 0 and export(tree) == 0
    (tree / "mine").symlink_to(tmp_path, target_is_directory=True)
    assert export(tree) == 2 and (tree / "mine").is_symlink()
    (tree / "mine").unlink()
    (tree / "paper.tex").write_text("edited")
    assert export(tree) == 2 and (tree / "paper.tex").read_text() == "edited"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "other")
    for name in ("other", "file", "link"):
        assert export(tmp_path / name) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 5 and sum("that this command did not write, or that were edited since" in line for line in errors) == 3
    assert (tmp_path / "other/notes.txt").read_text() == "mine"


def test_a_tree_inside_an_empty_folder(short: Paper, tmp_path: Path) -> None:
    """An empty folder is filled; a nested new one is made."""
    assert run("render") == 0
    (tmp_path / "empty").mkdir()
    assert export(tmp_path / "empty") == 0 and export("build/a/b") == 0
    assert (tmp_path / "empty/paper.tex").is_file() and Path("build/a/b/paper.tex").is_file()


def test_without_latex_the_tree_is_written_and_says_so(paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No bibliography is made then, and the sentence says that nothing was compiled."""
    monkeypatch.setattr("audit.clean.shutil.which", lambda program: None)
    assert export(tmp_path / "tree") == 0
    assert "not compiled here: no LaTeX" in capsys.readouterr().out and not (tmp_path / "tree/paper.bbl").exists()
    assert (tmp_path / "tree/refs.bib").is_file() and (tmp_path / "tree/figures/plot.pdf").is_file()


def test_another_text_is_refused(short: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An exporter that went wrong is found by what pdflatex makes of its tree: one line, exit 1, nothing written."""
    assert run("render") == 0
    monkeypatch.setattr("audit.tree.expand", lambda text, printed, place: expand(text, printed, place).replace("goes on", "stops"))
    assert export(tmp_path / "tree") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "the exported source: would print another text; expected" in line and "goeson" in line and "stops" in line
    assert not (tmp_path / "tree").exists()


def test_a_figure_by_a_computed_name_outside_is_refused(short: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the source does not spell the file out, it could not be found at its new place."""
    short.replace(TEX, "\\graphicspath{{../results/figures/}}", "\\newcommand{\\fig}[1]{\\includegraphics{../results/figures/#1}}")
    short.replace(TEX, "\\includegraphics[width=1cm]{plot}", "\\fig{plot}")
    assert run("render") == 0
    assert export(tmp_path / "tree") == 2
    assert "results/figures/plot.pdf: LaTeX reads it by a name that the source does not spell out" in capsys.readouterr().err


def test_a_computed_name_inside_is_copied(short: Paper, tmp_path: Path) -> None:
    """A figure below the manuscript's folder keeps its name, however it is reached."""
    (short.root / "manuscript/figs").mkdir()
    shutil.copy(short.root / "results/figures/plot.pdf", short.root / "manuscript/figs/own.pdf")
    short.replace(TEX, "\\begin{document}", "\\newcommand{\\fig}[1]{\\includegraphics{figs/#1}}\\begin{document}")
    short.replace(TEX, "\\includegraphics[width=1cm]{plot}", "\\includegraphics[width=1cm]{plot}\\fig{own}")
    assert run("render") == 0
    assert export(tmp_path / "tree") == 0 and (tmp_path / "tree/figs/own.pdf").is_file()


def test_sources_and_figures_outside_get_names_of_their_own(short: Paper, tmp_path: Path) -> None:
    """An input and two figures of one name from other folders lie side by side in the tree."""
    short.write("elsewhere/intro.tex", "Common \\val{main.untreated.gap}.\n")
    (short.root / "elsewhere/figures").mkdir()
    shutil.copy(short.root / "results/figures/plot.pdf", short.root / "elsewhere/figures/plot.pdf")
    short.replace(TEX, "\\input sections/one", "\\input{../elsewhere/intro}\\includegraphics{../elsewhere/figures/plot.pdf}\\input sections/one")
    assert run("render") == 0
    assert export(tmp_path / "tree") == 0
    assert (tmp_path / "tree/inputs/intro.tex").read_text() == "Common 0.0887.\n"
    text = (tmp_path / "tree/paper.tex").read_text()
    assert "\\input{inputs/intro}" in text and {path.name for path in (tmp_path / "tree/figures").iterdir()} == {"plot.pdf", "figures-plot.pdf"}


def test_latin_1_stays_latin_1(short: Paper, tmp_path: Path) -> None:
    """A source in another encoding is written back in it."""
    short.replace(TEX, "{booktabs,", "[latin1]{inputenc}\\usepackage{booktabs,")
    path = short.root / "manuscript/sections/deep/three.tex"
    path.write_bytes("Café \\val{main.untreated.gap}.\n".encode("latin-1"))
    assert run("render") == 0
    assert export(tmp_path / "tree") == 0
    assert (tmp_path / "tree/sections/deep/three.tex").read_bytes() == "Café 0.0887.\n".encode("latin-1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a registration, or --manuscript DIR"),
        (("pilot", "--manuscript", "x"), "name a registration, or --manuscript DIR"),
        (("--manuscript", "x", "--format", "osf"), "--format and --out are for a registration"),
        (("pilot",), "Missing option '--format'"),
    ],
)
def test_bad_usage(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and one reason."""
    assert run("export", *words) == 2 and said in capsys.readouterr().err


def test_no_manuscript(paper: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A project without one is told where it was looked for."""
    (paper.root / TEX).unlink()
    assert export(tmp_path / "tree") == 2 and "manuscript/paper.tex: no manuscript" in capsys.readouterr().err


def test_printed_forms_are_read_back(paper: Paper) -> None:
    """What the generated macros say is found whole: values in every form, plain forms, verdicts, labels."""
    printed = read_printed(generate(paper.context).files["macros.tex"].decode())
    assert printed.values["", "main.untreated.gap"] == "0.0887" and printed.values["word", "main.untreated.recovered"] == "eight"
    assert printed.plain["", "main.untreated.share"] == "31.2%" and printed.verdicts == {"pilot.P1": "met", "pilot.P2": "missed"}
    assert printed.labels == {"main.untreated.gap": "exploratory"}
