"""Where `\\val` may stand: text, formulas, headings, captions, tables, siunitx; each is typeset by pdflatex and read back from the PDF."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from paper_project import MINE, TEMPLATE, Paper, main_record, quantity

from audit.building import build, main
from audit.checks import TABLE
from audit.clean import main as export
from audit.finding import Refusal
from audit.pdf import extract_text

U = "main.untreated"
PLACES = {
    "text": (rf"Fell by \val{{{U}.neg}} to \val[fixed.5]{{{U}.gap}}.", "Fell by −0.22 to 0.08870."),
    "formula": (rf"$x = \val{{{U}.tiny}}$ and \[ a_{{\val{{{U}.neg}}}} = \frac{{\val{{{U}.gap}}}}{{b}} \]", "x = 1.2 × 10−5 and 0.0887 a−0.22 = b"),
    "aligned formula": (rf"\begin{{align}} a &= \val{{{U}.neg}}, \text{{\val{{{U}.gap}}}} \end{{align}}", "a = −0.22, 0.0887"),
    "range and spread": (r"\val[range]{main.mean}, \val[range]{main.low}, \val[spread]{main.mean}, $\val[spread]{main.low}$.", "0.25–0.75, −1.00 to 0.50, 0.50 ± 0.35, 0.25 (−1.00 to 0.50)."),
    "p-value": (r"(\val[p=]{main.p}) or $\val[p]{main.p}$.", "(p < 0.001) or < 0.001."),
    "ordinal, words, unit": (rf"\val[ordinal]{{{U}.recovered}}, \val[Word]{{{U}.recovered}}, \val[unit]{{{U}.gap}}.", "8th, Eight, nats."),
    "thousands": (r"\val{main.large} or $\val{main.large}$.", "12,345 or 12,345."),
    "list and footnote": (rf"\begin{{description}}\item[\val{{{U}.share}}] item\footnote{{Of \val{{{U}.neg}}.}}\end{{description}}", "31.2% item"),
    "tabularx": (rf"\begin{{tabularx}}{{5cm}}{{lX}} a & \val{{{U}.neg}} \\ \end{{tabularx}}", "a −0.22"),
    "num": (rf"\num{{\val{{{U}.neg}}}}, $\num{{\val[fixed.2]{{{U}.gap}}}}$, \num{{\val{{{U}.tiny}}}}, \num{{\val{{main.large}}}}.", "−0.22, 0.09, 1.2 × 10−5 , 12 345."),
    "qty": (rf"\qty{{\val{{{U}.gap}}}}{{\metre}}, \SI{{\val{{{U}.neg}}}}{{\metre}}.", "0.0887 m, −0.22 m."),
    "ranges and lists": (
        rf"\numrange{{\val{{main.low}}}}{{\val{{main.mean}}}} or \qtyrange{{\val{{{U}.neg}}}}{{\val{{main.mean}}}}{{\metre}} or \numlist{{\val{{main.low}};\val{{main.mean}};\val{{{U}.gap}}}}.",
        "0.25 to 0.50 or −0.22 m to 0.50 m or 0.25, 0.50 and 0.0887.",
    ),
    "column S without a format": (
        rf"\begin{{tabular}}{{lS}} e & \val{{{U}.neg}} \\ f & \val{{main.large}} \\ g & \val[fixed.4]{{main.mean}} \\ \end{{tabular}}", "e −0.22 f 12 345 g 0.5000",
    ),
    "column S": (
        rf"\begin{{tabular}}{{lS[table-format=-5.4]}} & {{of \val{{main.mean}}}} \\ b & \val{{{U}.neg}} \\ c & \val[fixed.2]{{{U}.gap}} \\ d & \val{{main.large}} \\ \end{{tabular}}", "of 0.50 b −0.22 c 0.09 d 12 345",
    ),
}  # fmt: skip
HEAD = r"""\documentclass{book}\usepackage{booktabs,amsmath,tabularx,siunitx,hyperref}
\input{generated/macros}
\begin{document}\tableofcontents
"""
HEADING = rf"Results of \val{{{U}.neg}}, \val[percent.1]{{{U}.share}}, \verdict{{pilot.P1}}"
VERDICTS = r"Of \val{pilot.of} predictions \val{pilot.met} was met: \verdict{pilot.P1}, \verdict{pilot.P2}."


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path)
    monkeypatch.chdir(tmp_path)
    more = {
        "mean": quantity(0.5, 2, values=[0.25, 0.75], summary="mean"), "low": quantity(0.25, 2, values=[-1, 0.25, 0.5], summary="median"),
        "p": quantity(0.00012, 5), "large": quantity(12345, 0, style="integer"),
    }  # fmt: skip
    made.record("results/analyse/main.json", main_record() | more)
    return made


def write(paper: Paper, body: str) -> None:
    paper.write("manuscript/paper.tex", f"{HEAD}{VERDICTS}\n\n{body}\n\\end{{document}}\n")
    paper.render()


def test_every_place_prints_the_value(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """In one document, so that LaTeX runs once: what a reader sees, with nothing unprinted, redefined or without a source."""
    write(paper, "\n\n".join(latex for latex, _ in PLACES.values()))
    assert main() == 0, capsys.readouterr().out
    text = " ".join(extract_text(Path("manuscript/paper.pdf")).split())
    assert [name for name, (_, shown) in PLACES.items() if shown not in text] == [], text


@pytest.mark.parametrize(("setup", "shown"), [("", "1404, 12 345"), ("group-separator={,},group-minimum-digits=4", "1,404, 12,345"), ("group-digits=none", "1404, 12345")])
def test_siunitx_groups_as_it_was_told(
    paper: Paper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], setup: str, shown: str
) -> None:
    """In numbers, columns and scaled columns alike: the value is found however its thousands are parted; plain siunitx prints the export so too."""
    paper.record("results/analyse/main.json", main_record() | {"small": quantity(1404, 0, style="integer"), "large": quantity(12345, 0, style="integer")})
    table = r"\begin{tabular}{l@{ }S[table-format=-5.3]*{2}{S}} a & \val{main.small} & {\val{main.large}} \\ \multicolumn{3}{c}{\val{main.large}} & \val{main.untreated.tiny} \\ & \val{main.untreated.neg} & \val{main.large} \\ \end{tabular}"
    numbers = rf"\sisetup{{{setup}}}{VERDICTS} \num{{\val{{main.small}}}}, \num{{\val{{main.large}}}}"
    body = "\n\n".join([numbers, table, rf"\noindent\resizebox{{3cm}}{{!}}{{{table}}}"])
    opening = "\\documentclass{article}\\usepackage{graphicx,siunitx}\\input{generated/macros}\n\\begin{document}\n"
    paper.write("manuscript/paper.tex", f"{opening}{body}\n\\end{{document}}\n")
    paper.render()
    assert main() == 0, capsys.readouterr().out
    text = " ".join(extract_text(Path("manuscript/paper.pdf")).replace("\u2009", " ").split())
    assert shown in text
    paper.write("results/audit/findings.json", '{"findings": []}')
    monkeypatch.setattr("audit.verify.TABLE", tuple(check for check in TABLE if check.name in MINE))
    export("build/tree")
    assert "\\num{1404}, \\num{12345}" in Path("build/tree/paper.tex").read_text()


def test_headings_captions_and_bookmarks(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A value moves into the table of contents, the running head in capitals, the list of figures and the PDF's outline."""
    write(paper, rf"\chapter{{{HEADING}}}\begin{{figure}}\caption[Of \val{{{U}.gap}}]{{From \val{{{U}.gap}}.}}\end{{figure}}\newpage Text\newpage\listoffigures")
    main()
    assert "print nothing" not in capsys.readouterr().out
    text = " ".join(extract_text(Path("manuscript/paper.pdf")).split())
    assert text.count("Results of −0.22, 31.2%, met") == 2 and "RESULTS OF −0.22, 31.2%, MET" in text
    assert "Figure 1.1: From 0.0887." in text and "1.1 Of 0.0887" in text
    (paper.root / "out").mkdir()
    build(paper.context, paper.root / "out")
    outline = (paper.root / "out/paper.out").read_text()
    written = re.findall(r"\{(\\376\\377[^}]*)\}", outline)[-1]
    title = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), written).encode("latin-1").decode("utf-16")
    assert title == "Results of -0.22, 31.2%, met"


def test_a_form_that_is_no_number_stops_siunitx(paper: Paper) -> None:
    """A percentage inside `\\num` would be read a hundred times too large: one line, with its place."""
    write(paper, rf"\num{{\val{{{U}.share}}}}")
    with pytest.raises(Refusal, match=r"^manuscript/paper\.tex:6: LaTeX: Package audit Error: No single number for `main\.untreated\.share'"):
        main()


def test_two_macros_of_one_name_are_one_line(paper: Paper) -> None:
    """LaTeX keeps the first; the place of the second is named."""
    write(paper, rf"\newcommand\gap{{\val{{{U}.gap}}}}\gap" "\n" rf"\newcommand\gap{{\val{{{U}.neg}}}}")
    with pytest.raises(Refusal, match=r"^manuscript/paper\.tex:7: LaTeX: LaTeX Error: Command \\gap already defined"):
        main()


def test_tables_for_columns_of_siunitx(paper: Paper) -> None:
    """The filter `num` prints what siunitx aligns: minus sign, no separators, a power of ten."""
    paper.write("manuscript/tables/arms.tex.j2", TEMPLATE.replace("{lr}", "{lS}").replace("& gap", "& {gap}").replace("arm.gap | val", "arm.gap | num"))
    paper.record("results/analyse/main.json", main_record() | {"arms": [{"name": "a", "gap": quantity(-0.5, 1)}, {"name": "b", "gap": quantity(123456, 1)}]})
    write(paper, r"\input{generated/arms}")
    assert "a & -0.5 \\\\" in Path("manuscript/generated/arms.tex").read_text() and "b & 123456.0 \\\\" in Path("manuscript/generated/arms.tex").read_text()
    main()
    assert "−0.5 123 456.0" in " ".join(extract_text(Path("manuscript/paper.pdf")).split())
