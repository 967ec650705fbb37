"""Constructs that can print a number unseen, and their fair relatives: each of the first is named, none of the second is."""

from __future__ import annotations

from pathlib import Path

import pytest
from paper_project import Paper

from audit.checks.constructs import find_constructs
from audit.numbers.scan import scan_text

NAMED = {
    r"\catcode`\1=13": r"\catcode", r"\lccode`1=`2": r"\lccode", r"\mathcode`\1=`\9": r"\mathcode", r"\pdfliteral{3 Tr}": r"\pdfliteral", r"\special{ps: x}": r"\special",
    r"\BeginAccSupp{method=hex}": r"\BeginAccSupp", r"<</ActualText (0.9)>>": "ActualText", r"\pdfglyphtounicode{one}{0039}": r"\pdfglyphtounicode", "/ToUnicode 5 0 R": "ToUnicode",
    "1 beginbfchar": "beginbfchar", r"\directlua{x}": r"\directlua", r"\immediate\write18{ls}": r"\write18", r"\input{|ls}": r"\input|", r"\input|ls ": r"\input|", r"\scantokens{1}": r"\scantokens",
    "It was 0.^^31": "^^", "It was 0.^^^^0031": "^^", r"\char49": r"\char", r"\symbol{49}": r"\symbol", r"\chardef\x=49": r"\chardef", r"\the\count0": r"\the", r"\number\count0": r"\number",
    r"\the\numexpr 1+1": r"\numexpr", r"\fpeval{1+1}": r"\fpeval", r"\pgfmathparse{1+1}": r"\pgfmathparse", r"\pgfmathresult": r"\pgfmathresult", r"\romannumeral 1000": r"\romannumeral",
    r"\setcounter{mine}{977}": r"\setcounter", r"\the\value{mine}": r"\the", r"\renewcommand{\val}[1]{0.9}": r"\val", r"\textcolor{white}{\verdict{a.P1}}": r"\color",
    r"{\color[rgb]{1,1,1}\val{a.b}}": r"\color", r"\fontsize{1}{1}\selectfont": r"\fontsize", r"\transparent{0}": r"\transparent", r"\textpdfrender{TextRenderingMode=3}{x}": r"\textpdfrender",
    r"\makeatletter\write\@auxout{x}": r"\@auxout", r"\pdfmapline{x}": r"\pdfmapline", r"\openin5=x": r"\openin",
    r"\TextField[name=gap,value={0.4}]{Gap}": r"\TextField", r"\pdfannot width 1cm {/Contents (0.4)}": r"\pdfannot",
}  # fmt: skip
FAIR = (
    r"\setcounter{enumi}{3}", r"\renewcommand{\labelenumi}{(\arabic{enumi})}", r"\renewcommand{\theequation}{\thesection.\arabic{equation}}", r"\number\value{page}", r"\the\year",
    r"\textcolor{white}{Header}", r"\textcolor{red}{\val{a.b}}", r"\fontsize{8}{9}\selectfont", r"\input{section/one}", r"\the\textwidth", r"\usepackage{cmap}", r"$x^{^2}$", r"\write\mine{x}",
    r"\input{glyphtounicode}\pdfgentounicode=1", r"\newcounter{hyp}\renewcommand{\thehyp}{H\arabic{hyp}}", "% 0.^^31", r"\verb|^^31|", r"\transparent{0.5}", r"\mathcode`\,=\string", r"\today",
)  # fmt: skip


@pytest.mark.parametrize(("text", "name"), NAMED.items(), ids=NAMED)
def test_each_construct_is_named(text: str, name: str) -> None:
    """The finding says which."""
    assert name in {found for found, _, _ in find_constructs(scan_text(text, "x"))}


@pytest.mark.parametrize("text", FAIR)
def test_fair_use_is_not_named(text: str) -> None:
    """Counters of LaTeX's own, standard packages, colours of headings: nothing."""
    assert list(find_constructs(scan_text(text, "x"))) == []


@pytest.mark.parametrize("name", ["own.sty", "article.cfg"])
def test_a_local_package_is_read_and_exempted_by_name_and_place(tmp_path: Path, name: str) -> None:
    """A construct in a package beside the manuscript is found there; an exemption names file, construct, count and reason."""
    paper = Paper(tmp_path)
    paper.replace("manuscript/paper.tex", "\\title", "\\usepackage{own}\\title")
    paper.write("manuscript/own.sty", "\\newcommand\\mine{x}\n")
    paper.write(f"manuscript/{name}", "\\newcommand\\mine{x}\n\\catcode`\\@=11\n")
    assert any(line.startswith(f"A407 manuscript/{name}:2") for line in (finding.line() for finding in paper.report("generated").findings))
    entry = f"{{place: manuscript/{name}, pattern: '\\catcode', reason: the usual letter for internal names, count: 1}}"
    paper.write("manuscript/exemptions.yaml", f"version: 1\nexemptions:\n  - {entry}\n")
    assert not any(finding.code in ("A404", "A407") for finding in paper.report("generated").findings)
