"""What the scanner sees: the cases of comments, verbatim, odd numbers, layout, files, and what it cannot read."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from audit.cli import main
from audit.finding import Refusal
from audit.numbers.scan import Scan, decode, scan_file, scan_text, scan_tree


def results(source: str) -> list[str]:
    """Texts of the numbers that are results."""
    return [number.literal.text for number in scan_text(source).numbers if number.cls == "result"]


CASES = {
    "escaped percent": (r"Error fell by 4.2\% and then by 0.31 more % old: 0.55", [r"4.2\%", "0.31"]),
    "comment after a line break": ("a\\\\% hidden 0.77\nnext", []),
    "percent before a dollar": (r"it was 80\%$", [r"80\%"]),
    "listing": ("\\begin{lstlisting}\nx = 5 % 0.3\n\\end{lstlisting}\ngain 0.42", ["0.42"]),
    "commented begin": ("% \\begin{verbatim}\ngain 0.42 here", ["0.42"]),
    "verb": (r"\verb|0.91| then 0.62", ["0.62"]),
    "verb with another delimiter": (r"\verb+0.91% x+ then 0.62", ["0.62"]),
    "lstinline": (r"\lstinline[style=a]!0.91! then 0.62", ["0.62"]),
    "comment environment": ("\\begin{comment}\n0.5\n\\end{comment}\nthe gain was 0.6", ["0.6"]),
    "dead branch": (r"\iffalse gain 0.5 \ifx\a\b 1 \fi 0.6 \fi gain 0.7", ["0.7"]),
    "other branch": (r"\iffalse gain 0.5 \else gain 0.6 \fi gain 0.7", ["0.6", "0.7"]),
    "layout and display": (r"row \\[-0.2cm] gain 0.61 \[ x=0.5 \]", ["0.61"]),
    "layout on the next line": ("row \\\\\n  [1.5ex] gain 0.61", ["0.61"]),
    "any citing command": (r"\citeA{x2003} assigned an age of 1090.6 $\pm$ 4.5 Ma to it.", []),
    "colours": (r"\definecolor{c}{HTML}{E69F00}\color[rgb]{0.9,0.1,0.2} gain 0.61", ["0.61"]),
    "width": (r"\begin{subfigure}{0,37\linewidth}x\end{subfigure}", []),
    "reference key": (r"see \ref{tab:run_0.3.csv}", []),
    "caption": (r"\begin{figure}[t]\includegraphics[width=0.5\textwidth]{f1}\caption{A loss of 0.45.}\end{figure}", ["0.45"]),
    "footnote": (r"Text\footnote{The gain was 0.46.} goes on.", ["0.46"]),
    "title": (r"\documentclass[11pt]{article}\title{A gain of 0.47}\begin{document}x\end{document}", ["0.47"]),
    "preamble": (r"\documentclass[11pt]{article}\parindent=3pt\usepackage[margin=1in]{geometry}\begin{document}x\end{document}", []),
    "after the end": ("\\begin{document}gain 0.1\\end{document} gain 0.2", ["0.1"]),
    "macro's body": (r"\newcommand{\best}[1]{0.912#1}", ["0.912"]),
    "stretch": (r"\renewcommand{\arraystretch}{1.2}", []),
    "primitive length": (r"\vskip 3.5pt plus 1pt The gain was 0.3", ["0.3"]),
    "formatting": (r"\textbf{0.77} and {\em 0.78}", ["0.77", "0.78"]),
    "of": ("Eight of ten networks recovered.", ["Eight of ten"]),
    "none": ("None of the networks recovered.", ["None"]),
    "fold": ("It rose twofold.", ["twofold"]),
    "no words": ("One of the reasons is that two things differ; in one sense none.", []),
    "bound": (r"\val[fixed.2]{main.a1.b2} and \verdict{pilot.P1} and \prov{main.commit}", []),
    "verb with an equals sign": (r"\verb=0.1= \verb*/0.2/ gain 0.62", ["0.62"]),
    "minted": ("\\begin{minted}[linenos]{python}\nx = 0.1 # } $\n\\end{minted} gain 0.62", ["0.62"]),
    "listing of a file's kind": ("\\begin{lstlisting}[language=C,firstnumber=10]\nx = 0.1; // {\n\\end{lstlisting} gain 0.62", ["0.62"]),
    "mintinline": (r"\mintinline{c}{x = 0.1} then 0.62", ["0.62"]),
    "both branches of a condition of one's own": (r"\ifarxiv gain 0.61\else gain 0.62\fi", ["0.61", "0.62"]),
    "iffalse given another meaning": (r"\let\iffalse\iftrue \iffalse gain 0.5\fi", ["0.5"]),
    "short title": (r"\section[A gain of 0.47]{A gain of 0.47 in all}", ["0.47", "0.47"]),
    "starred section": (r"\section*{Results}In 1995 it was 0.47.", ["0.47"]),
    "abstract in the preamble": (r"\documentclass{a}\abstract{We found that the gain of the second group was 0.47.}\setlength{\x}{3pt}\begin{document}x\end{document}", ["0.47"]),
    "letter behind": (r"It was 3x faster, rose 4.7-fold, took 12ms and used 9k samples.", ["3", "4.7", "12", "9"]),
    "ordinal behind": (r"It ranked 2nd of 14 systems.", ["2", "14"]),
    "currency in front": (r"It saved \$4.2 million, \pounds310 and \euro{}12.", ["4.2", "310", "12"]),
    "integers in formulas": (r"We found $7$ errors, $12\%$ of all, and $N = 34{,}460$ pairs differed.", ["7", "12\\%", "34{,}460"]),
    "ends of a range": (r"The gain was 12--15\%, from 3 to 5 points, or $0.33 < x < 0.55$ as observed.", ["12", "15\\%", "3", "5", "0.33", "0.55"]),
    "bare macro": (r"\newcommand{\gap}{0.31}\def\n{4312}\newcommand{\half}{\tfrac{1}{2}}", ["0.31", "4312"]),
    "value with errors": (r"The mass is $36^{+5}_{-4}\,M_\odot$ and $2.24 \pm 0.25$.", ["36", "5", "4", "2.24", "0.25"]),
    "statistics": (r"It rose, $F(2, 87) = 5.31$, $p = .007$, $\eta_p^2 = .11$.", ["5.31", ".007", ".11"]),
    "quoted": (r"Earlier work found 0.45 \cite{a}, while we find 0.53. Lee et al.\ (2019) report 12\%.", ["0.53"]),
    "quoted over sentences": (r"A previous study \cite{a} looked at mice. Of these, 31 died. We find 12.", ["12"]),
    "versions": (r"We ran Python 3.10, Llama-2 7B, GPT-4 and a NovaSeq 6000 kit v3.", []),
    "settings": (r"We train 12 layers for 90 epochs at a learning rate of $3\times10^{-4}$ with $\beta_1 = 0.9$.", []),
    "parameters of a table": (r"\begin{tabular}{lr}\toprule Parameter & Value \\ \midrule depth & 12 \\ width & 0.28~kpc \\ \end{tabular}", []),
    "siunitx": (r"\SI{0.35}{\metre\per\second^2} and \num{1.2e-3}", ["0.35", "1.2e-3"]),
}


@pytest.mark.parametrize(("source", "wanted"), CASES.values(), ids=CASES)
def test_results(source: str, wanted: list[str]) -> None:
    """Exactly these numbers are taken for measured."""
    assert results(source) == wanted


ODD = {
    "-0.22": "-0.22", "$-$0.22": "-0.22", "\u22120.22": "-0.22", ".5": ".5", "0{,}53": "0.53", "0,53": "0.53", "0, 315": "0.315", "1{,}024": "1024",
    r"1\,024.5": "1024.5", "1,234,567": "1234567", "1 .25": "1.25", r"$2.17 \times 10^{-4}$": "2.17e-4", r"3$\times$10$^{5}$": "3e5", "1.2(3)": "1.2",
    r"$1.23(4)\times10^{-5}$": "1.23e-5", "1~024": "1024", r"\textbf{0}.5": "0.5", "3.1E+05": "3.1e+05", "2 500": "2500",
    r"12\,\%": "12", "10$^{-3}$": "1e-3", "$-3$": "-3", r"\num{5.1e-3}": "5.1e-3",
}  # fmt: skip


@pytest.mark.parametrize(("source", "plain"), ODD.items(), ids=list(ODD))
def test_odd_numbers_are_one_number(source: str, plain: str) -> None:
    """Each is seen once, as one number, with its value."""
    assert [number.literal.plain for number in scan_text(f"we found {source} there").numbers] == [plain]


@pytest.mark.parametrize(
    ("source", "plains"),
    [("0.3--0.5", ["0.3", "0.5"]), (r"\num{7.2\pm1,4}", ["7.2", "1.4"]), ("$[0,1]$", ["0", "1"]), ("z = 1 1 .25", ["1", "1.25"]), (r"\numrange{1.5}{2.5}", ["1.5", "2.5"]), (r"\qtyrange{1}{2}{m}", ["1", "2"]),
     (r"\numlist{1;2;3}", ["1", "2", "3"]), (r"\num{1.23 +- 0.04}", ["1.23", "0.04"]), ("3.1/0.9", ["3.1", "0.9"]), ("$36^{+5}_{-4}$", ["36", "5", "4"])],
)
def test_neighbours_stay_apart(source: str, plains: list[str]) -> None:
    """Ranges, plus-minus and sets are two numbers."""
    assert [number.literal.plain for number in scan_text(f"we found {source} there").numbers] == plains


def test_places_are_exact() -> None:
    """Line and column, counted from 1, point at the first character."""
    scan = scan_text("first\n% 0.1\nthe gain was {\\bf 0.31}", "p.tex")
    assert [scan.place(number.literal.source_start) for number in scan.numbers] == ["p.tex:3:19"]


WORDS = {
    "none of the nets": "none", "eight of ten nets": "eight of ten", "two of the nets": "two", "one third of it": "one third", "two-thirds, as seen": "two-thirds",
    "half of it": "half", "by half, then": "half", "a twofold rise": "twofold", "a dozen of them": "a dozen", "one in five nets": "one in five",
    "twice the loss": "twice", "fifty percent of it": "fifty percent", r"$\frac{1}{3}$ of the nets": r"\frac{1}{3}", "3/4 of the nets": "3/4",
}  # fmt: skip


@pytest.mark.parametrize(("source", "shown"), WORDS.items(), ids=WORDS.values())
def test_number_words_and_fractions_are_one_number(source: str, shown: str) -> None:
    """Each is a result, found once."""
    assert results(f"We found {source} here.") == [shown]


UNREAD = {
    "open brace": ("\\textbf{gain 0.5", "is open at the end of the file"),
    "stray brace": ("gain } 0.5", "a brace closes nothing"),
    "open formula": ("gain $0.5 and\n\nnext 0.6", "a formula is open at the end of a paragraph"),
    "open environment": ("\\begin{quote} gain 0.5", "environment quote is open at the end of the file"),
    "foreign end": ("gain 0.5 \\end{quote}", "ends and never began"),
    "open verbatim": ("gain 0.5 \\begin{verbatim} 0.6", "verbatim is never closed"),
    "open length": ("\\vspace{0.2cm\n\ngain 0.5", "an argument of \\vspace is open at the end of a paragraph"),
}


@pytest.mark.parametrize(("source", "why"), UNREAD.values(), ids=UNREAD)
def test_what_cannot_be_read_is_said(source: str, why: str) -> None:
    """Unread lines are named, and the number on a line that can be read is still found."""
    scan = scan_text(source)
    assert any(why in unread.why for unread in scan.unread())
    assert "0.5" in [number.literal.plain for number in scan.numbers]


def test_sound_source_has_no_unread_lines() -> None:
    """The negative control: nothing is unread where everything closes."""
    assert scan_text("\\begin{quote}{\\bf a} $x$ \\[ y \\] \\verb|}|\\end{quote}").unread() == []


def test_latin_1_is_read_with_a_note() -> None:
    """Bytes that are not UTF-8 are read as Latin-1 and said so."""
    text, notes = decode("für 0.5".encode("latin-1"))
    assert (text, notes) == ("für 0.5", ["not UTF-8 (byte 1); read as Latin-1"])


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    """A file that is not there is refused with its name."""
    with pytest.raises(Refusal, match=r"none\.tex: cannot be read"):
        scan_file(tmp_path / "none.tex")


FILE_SET = {
    "main.tex": "\\documentclass{article}\\begin{document}\\input{chap/a}\n% \\input{old}\n\\input b.tex\n\\include{c}\\iffalse\\input{gone}\\fi\\end{document}\\input{after}",
    "chap/a.tex": "\\input{chap/deep}\nx\n\\endinput\n\\input{never}",
    "chap/deep.tex": "deep \\input{b}",
    "b.tex": "b",
    "c.tex": "c",
    "never.tex": "n",
    "after.tex": "n",
}


def write_files(folder: Path) -> None:
    for name, text in FILE_SET.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def test_the_same_files_as_latex_reads(tmp_path: Path) -> None:
    """The scanned files are those of the .fls file of a real run."""
    write_files(tmp_path)
    (tmp_path / "out").mkdir()
    subprocess.run(["pdflatex", "-recorder", "-interaction=nonstopmode", "-output-directory=out", "main.tex"], cwd=tmp_path, check=True, capture_output=True)
    recorded = (line.split(" ", 1)[1] for line in (tmp_path / "out/main.fls").read_text().splitlines() if line.startswith("INPUT"))
    read = {os.path.normpath(name) for name in recorded if name.endswith(".tex") and not name.startswith("/")}
    scanned = [item for item in scan_tree(tmp_path / "main.tex", tmp_path)]
    assert all(isinstance(item, Scan) for item in scanned)
    assert {item.path for item in scanned if isinstance(item, Scan)} == read == {"main.tex", "chap/a.tex", "chap/deep.tex", "b.tex", "c.tex"}


IMPORTS = {
    "main.tex": r"\documentclass{article}\begin{document}\import{chap/}{a}\subfile{part/b}\input{shared}\end{document}",
    "chap/a.tex": r"\input{deep}\subimport{more/}{c}",
    "chap/deep.tex": "d",
    "chap/more/c.tex": r"\input{d}\input{shared}",
    "chap/more/d.tex": "d",
    "part/b.tex": r"\documentclass[../main]{subfiles}\begin{document}\input{e}\end{document}",
    "part/e.tex": "e",
    "shared.tex": "s",
}


def test_imports_look_beside_the_imported_file_first(tmp_path: Path) -> None:
    """`\\import`, `\\subimport` and `\\subfile` set the folder in which the file's own inputs are looked for; then the main folder."""
    for name, text in IMPORTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    scanned = [item.path if isinstance(item, Scan) else item[1] for item in scan_tree(tmp_path / "main.tex", tmp_path)]
    assert sorted(scanned) == sorted(IMPORTS)


def test_loops_links_and_missing_files(tmp_path: Path) -> None:
    """An input loop ends; a link out of the project, a missing file and a program are named."""
    outside = tmp_path / "outside.tex"
    outside.write_text("gain 0.9")
    root = tmp_path / "project"
    root.mkdir()
    (root / "link.tex").symlink_to(outside)
    (root / "main.tex").write_text("\\input{main}\\input{link}\\input{gone}\\input{|ls}")
    reasons = [item[1] for item in scan_tree(root / "main.tex", root) if not isinstance(item, Scan)]
    assert reasons == ["included file lies outside the project: link", "included file is missing: gone", "input from a program: |ls"]


def test_command_lists_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`audit numbers --format json` gives file, line, column, text, class and why, outside any project."""
    (tmp_path / "a.tex").write_text("The gain was 0.31 \\vspace{2pt}.")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["numbers", "a.tex", "--format", "json"])
    shown = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert shown["numbers"][0] == {"file": "a.tex", "line": 1, "column": 14, "end_line": 1, "end_column": 18, "text": "0.31", "class": "result", "rule": "measured", "why": "a number a reader takes for measured"}
    assert [row["class"] for row in shown["numbers"]] == ["result", "layout"]


def test_command_tells_what_is_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Dead branches, what follows the end, and Latin-1 are notes, and the code is 0; the text is that of the source, line end and all."""
    (tmp_path / "a.tex").write_bytes("für 0.31\n\\% \\iffalse 0.4\n\\fi x\n\\endinput\n0.5".encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["numbers", "a.tex", "--format", "json"])
    shown = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0 and [row["text"] for row in shown["numbers"]] == ["0.31\n\\%"]
    assert [(row["place"], row["what"].split(",")[0]) for row in shown["notes"]] == [
        ("a.tex", "not UTF-8 (byte 1); read as Latin-1"), ("a.tex:2", "a dead branch or a comment environment"), ("a.tex:5", "after the end of the document or of its input"),
    ]  # fmt: skip


def test_command_says_what_it_could_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An open brace ends in exit code 2 with its line."""
    (tmp_path / "a.tex").write_text("fine\n{ open 0.31")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["numbers", "a.tex"])
    assert ended.value.code == 2
    shown = capsys.readouterr().out
    assert "a.tex:2  unread: a group is open at the end of the file" in shown and "cure" not in shown


def test_command_names_the_cure_for_an_unbuilt_document(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where generated files are not there yet, the command that writes them is named."""
    (tmp_path / "a.tex").write_text("\\input{generated/macros}\nfine")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["numbers", "a.tex"])
    assert ended.value.code == 2
    assert "cure: dvc repro render (or audit render) writes the generated files" in capsys.readouterr().out
