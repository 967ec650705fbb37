"""The PDF against what LaTeX wrote down: every value at its place, every row of a table, every number with an origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from forged_pdf import MACROS, PDF, TEX, copy, findings, forge, lines, rebuild, typeset
from paper_project import Paper

from audit.building import main
from audit.layer import skeleton
from audit.marks import attach, read_attached

END = "\\end{document}"
VALUE = "{audit@val@@main.untreated.gap}{0.0887}"
SENTENCE = "We used seed 7 and 12 layers of blocks."


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    """A project with its PDF, built once."""
    made = Paper(tmp_path_factory.mktemp("aligned"))
    made.replace(TEX, END, SENTENCE + "\n" + END)
    rebuild(made)
    return made


@pytest.fixture
def paper(built: Paper, tmp_path: Path) -> Paper:
    return copy(built, tmp_path)


def edit(path: str, old: str, new: str) -> Callable[[Paper], None]:
    return lambda paper: paper.replace(path, old, new)


def swap_values(paper: Paper) -> None:
    """Two values change places: each is still that of some record."""
    paper.replace(MACROS, VALUE, "{audit@val@@main.untreated.gap}{KEPT}")
    paper.replace(MACROS, "{audit@val@@main.untreated.share}{31.2\\%}", "{audit@val@@main.untreated.share}{0.0887}")
    paper.replace(MACROS, "{KEPT}", "{31.2\\%}")


def swap_rows(paper: Paper) -> None:
    paper.replace("manuscript/generated/arms.tex", "0.51", "KEPT")
    paper.replace("manuscript/generated/arms.tex", "1.01", "0.51")
    paper.replace("manuscript/generated/arms.tex", "KEPT", "1.01")


FORGED: dict[str, tuple[Callable[[Paper], None], str, str]] = {
    "a digit": (edit(MACROS, VALUE, VALUE.replace("0.0887", "0.0877")), "A502", "expected 0.0887; found 0.0877"),
    "a small integer": (edit(MACROS, "{audit@val@n@main.untreated.recovered}{10}", "{audit@val@n@main.untreated.recovered}{11}"), "A502", "expected 10; found 11"),
    "a word": (edit(MACROS, "{audit@val@word@main.untreated.recovered}{eight}", "{audit@val@word@main.untreated.recovered}{nine}"), "A502", "expected eight; found nine"),
    "two values swapped": (swap_values, "A502", "expected 31.2\\%; found 0.0887"),
    "two rows swapped": (swap_rows, "A502", "generated/arms.tex a row of this file does not stand in the PDF"),
    "a digit more": (edit(TEX, "fell to \\val{main.untreated.gap} nats", "fell to \\val{main.untreated.gap}3 nats"), "A503", "number 3 in the PDF has no source"),
    "a verdict": (edit(MACROS, "{audit@verdict@pilot.P1}{met}", "{audit@verdict@pilot.P1}{missed}"), "A502", "expected met; found missed"),
    "a sentence of one's own": (edit(TEX, END, "A gap of 0.0777 was seen.\n" + END), "A503", "number 0.0777 in the PDF has no source; found ..."),
    "a typed integer": (edit(TEX, "and 12 layers", "and 14 layers"), "A503", "number 14 in the PDF has no source; found ..."),
    "an exponent": (edit(MACROS, "1.2\\times 10^{-5}", "1.2\\times 10^{-6}"), "A502", "expected 1.2e-5"),
    "a sentence for another verdict": (edit(TEX, "{it held}{it failed}", "{it held}{it did well}"), "A502", "\\ifverdict{pilot.P2} is typeset on page 1 and its text does not stand there"),
}  # fmt: skip


def test_the_built_project_holds(built: Paper) -> None:
    """Nothing is found in the honest PDF."""
    assert lines(built) == []


@pytest.mark.parametrize(("act", "code", "words"), FORGED.values(), ids=FORGED)
def test_what_was_changed_in_the_pdf_is_found(paper: Paper, monkeypatch: pytest.MonkeyPatch, act: Callable[[Paper], None], code: str, words: str) -> None:
    """The sources are honest and their digest stands in the PDF: what it shows is found to be another thing, with page and words."""
    forge(paper, monkeypatch, act)
    found = findings(paper)
    assert any(finding.code == code and words in finding.line() for finding in found), [finding.line() for finding in found]
    assert not any(finding.code in ("A502", "A503", "A505") for finding in paper.report("pdf").findings)


HIDDEN: dict[str, tuple[str, str, str]] = {
    "in a box that nobody uses": (r"\setbox0=\hbox{\val{main.untreated.close}}", "A502", r"uses of \val{main.untreated.close} print nothing"),
    "in a saved box": (r"\newsavebox{\mybox}\savebox{\mybox}{\val{main.untreated.close}}", "A502", r"uses of \val{main.untreated.close} print nothing"),
    "under another word": (r"It fell to \rlap{\val{main.untreated.close}}\colorbox{white}{far less} nats.", "A505", r"\val{main.untreated.close} cannot be read on the page"),
    "under another word, pulled back": (r"It fell to \val{main.untreated.close}\hspace{-2em}none nats.", "A505", r"\val{main.untreated.close} cannot be read on the page"),
    "a digit under a letter": (r"It fell to \val{main.untreated.close}\llap{\colorbox{white}{l}\kern-3pt} nats.", "A505", r"\val{main.untreated.close} cannot be read on the page"),
    "too small": (r"\scalebox{0.2}{\val{main.untreated.close}}", "A505", r"\val{main.untreated.close} cannot be read on the page"),
    "digits by a counter": (r"It took \newcounter{c}\setcounter{c}{977}\arabic{c} of these, 0.\arabic{c} nats.", "A503", "number 0.977 in the PDF"),
    "digits by their numbers": (r"It was 0.\char57 \char55 \char55 \ nats.", "A503", "number 0.977 in the PDF"),
    "active digits": (r"{\catcode`\7=13 \gdef7{9}}\catcode`\7=13 It was 0.87 nats.\catcode`\7=12 ", "A503", "number 0.89 in the PDF"),
    "an evaluator": (r"It was 0.\the\numexpr 970+7\relax\ nats.", "A503", "number 0.977 in the PDF"),
    "two values as one": (r"It took \val{pilot.of}\val[n]{main.untreated.recovered} of these.", "A503", "number 210 in the PDF"),
    "two values as a fraction": (r"It was \val{pilot.of}.\val{pilot.met} nats.", "A503", "number 2.1 in the PDF"),
    "a value behind a point": (r"It was .\val[n]{main.untreated.recovered} nats.", "A503", "number .10 in the PDF"),
    "roman and register": (r"\count255=977 It was 0.\number\count255 \ nats.", "A503", "number 0.977 in the PDF"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "code", "words"), HIDDEN.values(), ids=HIDDEN)
def test_what_nobody_sees_is_not_shown_and_what_tex_computes_has_no_source(tmp_path: Path, text: str, code: str, words: str) -> None:
    """An expansion without visible text is no showing; a number that TeX makes is not one that the sources type."""
    paper = Paper(tmp_path / "p")
    paper.replace(TEX, "\\title", "\\usepackage{graphicx,xcolor}\\title")
    paper.replace(TEX, END, "More text stands here. " + text + " And here.\n" + END)
    rebuild(paper)
    assert any(line.startswith(code) and words in line for line in lines(paper)), lines(paper)


def test_a_page_without_a_word_is_read(tmp_path: Path) -> None:
    """An empty page between others stops no check."""
    paper = Paper(tmp_path / "p")
    paper.replace(TEX, END, "\\newpage\\thispagestyle{empty}\\null\\newpage It ends here.\n" + END)
    rebuild(paper)
    assert lines(paper) == []


def test_values_side_by_side_are_two(tmp_path: Path) -> None:
    """In a fraction, a power, a list, a range, a product, cells of a table, and at the end of a sentence."""
    a, b = r"\val{pilot.of}", r"\val[n]{main.untreated.recovered}"
    paper = Paper(tmp_path / "p")
    text = f"$\\frac{{{a}}}{{{b}}}$, {a}/{b}, ${a}^{{{b}}}$, $x_{{{a}}}^{{{b}}}$, ({a},{b}), {a}--{b}, ${a}\\cdot{b}$, {a} {b}, ${a}\\ {b}$. It was {a}. {b} were."
    paper.replace(TEX, END, text + f"\n\n\\begin{{tabular}}{{@{{}}r@{{ }}l@{{}}}} {a} & {b} \\\\ {a} & {b} \\end{{tabular}}\n" + END)
    rebuild(paper)
    assert lines(paper) == []


UNSEEN = {
    "a phantom": r"\phantom{P1 was \verdict{pilot.P1}}",
    "a skipped branch": "\\iffalse P1 was \\verdict{pilot.P1}\\fi",
    "a box that nobody uses": r"\setbox0=\hbox{\verdict{pilot.P1}}",
    "a box under another name": r"\newsavebox{\mybox}\sbox{\mybox}{\verdict{pilot.P1}}",
    "print too small": r"\scalebox{0.2}{\verdict{pilot.P1}}",
    "print beside the page": r"\makebox[0pt]{\hspace{2000pt}\verdict{pilot.P1}}",
    "print below the page": r"\raisebox{-2000pt}[0pt][0pt]{\verdict{pilot.P1}}",
}


@pytest.mark.parametrize("text", UNSEEN.values(), ids=UNSEEN)
def test_a_verdict_that_nobody_sees_is_not_shown(tmp_path: Path, text: str) -> None:
    """The source names it and the page does not show it: the prediction is named."""
    paper = Paper(tmp_path / "p")
    paper.replace(TEX, "\\title", "\\usepackage{graphicx}\\title")
    paper.replace(TEX, "P1 was \\verdict{pilot.P1}", text)
    rebuild(paper)
    assert any(line.startswith(("A508", "A406")) and "the verdict of pilot.P1" in line for line in lines(paper)), lines(paper)
    assert not any(finding.code in ("A508", "A406") for finding in paper.report("pdf", "shown").findings)


def test_neither_a_comment_nor_text_after_the_end_shows_a_verdict(tmp_path: Path) -> None:
    """What stands in a comment or behind the end of the document is no use at all: the verdict is missing."""
    paper = Paper(tmp_path / "p")
    paper.replace(TEX, "\\title", "\\usepackage{graphicx}\\title")
    paper.replace(TEX, "P1 was \\verdict{pilot.P1}; ", "% P1 was \\verdict{pilot.P1}\n")
    paper.write(TEX, (paper.root / TEX).read_text() + "P1 was \\verdict{pilot.P1}.\n")
    assert any(line.startswith("A406") and "pilot.P1" in line for line in lines(paper))


def test_another_page_than_latex_wrote_down(paper: Paper) -> None:
    """A mark that names a page on which its text does not stand is found; so is a page that is not there."""
    typeset = read_attached(paper.root / PDF)
    assert typeset is not None
    moved = tuple(replace(mark, page=2) if mark.key == "main.untreated.tiny" else mark for mark in typeset.marks)
    attach(paper.root / PDF, replace(typeset, marks=moved))
    assert any("\\val{main.untreated.tiny} is typeset on page 2 and its text does not stand there" in line for line in lines(paper))


def test_a_value_that_no_source_uses(paper: Paper) -> None:
    """A record's value that somebody adds to what LaTeX wrote down, so that a typed number passes for a bound one."""
    typeset = read_attached(paper.root / PDF)
    assert typeset is not None
    added = replace(typeset.marks[0], key="main.untreated.close", text="0.95")
    attach(paper.root / PDF, replace(typeset, marks=(*typeset.marks, added)))
    assert any(line.startswith("A502") and "\\val{main.untreated.close} is written down as typeset" in line for line in lines(paper))


SENTENCE_OF = "The gap was %s nats in all."
ELSEWHERE = {
    "run at the end": (r"\AtEndDocument{\par The gap was 0.977 nats in all.}", ""),
    "a character": (r"\DeclareUnicodeCharacter{03B1}{0.977}", SENTENCE_OF % "\u03b1"),
    "a command of another kind": (r"\NewDocumentCommand\mine{}{0.977}", SENTENCE_OF % r"\mine{}"),
    "an environment": (r"\newenvironment{mine}{0.977}{}", SENTENCE_OF % r"\begin{mine}\end{mine}"),
    "a theorem's name": (r"\newtheorem{mine}{A gap of 0.977 nats}", r"\begin{mine}So it is.\end{mine}"),
    "a token list": (r"\newtoks\mine\mine={0.977}", SENTENCE_OF % r"\the\mine{}"),
    "a length": (r"\newlength\mine\setlength\mine{0.977pt}", SENTENCE_OF % r"\the\mine{}"),
    "a length of LaTeX": ("", r"\setlength\parindent{0.977pt}" + SENTENCE_OF % r"\the\parindent{}"),
    "a note to the authors": (r"\author{A\thanks{The gap was 0.977 nats.}}", ""),
    "a tag": (r"\usepackage{amsmath}", r"\begin{equation}x\tag{0.977}\label{q}\end{equation}" + SENTENCE_OF % r"\ref{q}"),
    "the name of a work": ("", r"The gap was \cite{q} nats in all.\begin{thebibliography}{9}\bibitem[0.977]{q} Foo.\end{thebibliography}"),
    "another entry of the contents": ("", r"\section[The gap was 0.977 nats]{More}\tableofcontents"),
}


@pytest.mark.parametrize(("opening", "text"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_number_that_no_sentence_types_has_no_source_in_one(tmp_path: Path, opening: str, text: str) -> None:
    """A length, an option or what the preamble keeps for later accounts for no decimal between the words of a sentence."""
    paper = Paper(tmp_path / "p")
    paper.replace(TEX, "\\title", opening + "\n\\title")
    paper.replace(TEX, END, text + "\n" + END)
    rebuild(paper)
    found = ("A503", "A401") if "section[" in text else ("A503",)  # the source's own scan knows that the contents print a heading's option
    assert any(line.startswith(found) and "number 0.977" in line for line in lines(paper)), lines(paper)


def test_a_pdf_that_was_not_renewed_is_one_line(paper: Paper) -> None:
    """Older than its sources: one finding, whatever its numbers are."""
    paper.replace("results/analyse/main.json", "0.0887", "0.0881")
    paper.replace(TEX, END, "The gap was 0.99, 0.98 and 0.97.\n" + END)
    paper.render()
    assert [line.split(";")[0] for line in lines(paper) if line.startswith("A5")] == [f"A504 {PDF} built from other sources"]


def test_a_pdf_that_lost_what_latex_wrote_down(paper: Paper) -> None:
    """Saved by another program: said, with the cure; damaged: could not be checked."""
    data = (paper.root / PDF).read_bytes()
    (paper.root / PDF).write_bytes(data[: data.index(b"%audit-typeset")])
    assert any(line.startswith("A504") and "carries nothing of what LaTeX wrote down" in line for line in lines(paper))
    for edited in (data + b"% and more\n", data[:7] + b"4" + data[8:]):
        (paper.root / PDF).write_bytes(edited)
        assert any(line.startswith("A504") and "another program saved it" in line for line in lines(paper))
    at = data.index(b"%audit-typeset") + 40
    (paper.root / PDF).write_bytes(data[:at] + b"????" + data[at + 4 :])
    assert any(line.startswith("A501") and "is damaged" in line for line in lines(paper))


PALE = {
    "white": r"\textcolor{white}{(\val{main.untreated.close})}",
    "nearly white": r"\definecolor{pale}{gray}{0.97}\textcolor{pale}{\val{main.untreated.close}}",
    "covered": r"\val{main.untreated.close}\llap{\textcolor{white}{\rule[-3pt]{7mm}{12pt}}}",
    "blackened": r"\val{main.untreated.close}\llap{\rule{7mm}{1em}}",
    "drawn with no ink": r"\pdfliteral direct {3 Tr}\val{main.untreated.close}\pdfliteral direct {0 Tr}",
    "a verdict in white": r"\color{white}\verdict{pilot.P1}",
}


@pytest.mark.parametrize("text", PALE.values(), ids=PALE)
def test_what_shows_no_ink_is_found_where_the_pdf_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str) -> None:
    """The text layer has it and the drawn page does not: found, and the word in the same colour as others is not."""
    paper = Paper(tmp_path / "p")
    paper.replace(TEX, "\\title", "\\usepackage{xcolor}\\title")
    paper.replace(TEX, END, f"More text, \\textcolor{{red}}{{\\val{{main.untreated.gap}}}}. {{{text}}} And here.\n{END}")
    paper.render()
    monkeypatch.chdir(paper.root)
    assert main() == 1
    shown = capsys.readouterr().out
    assert shown.count("A505") == 1 and "cannot be read on the page" in shown, shown


def test_values_in_drawings_are_found_in_order(tmp_path: Path) -> None:
    """A drawing moves its texts behind TeX's back: they are looked for in order, and a wrong one is found all the same."""
    paper = Paper(tmp_path / "p")
    shift = "\\newenvironment{tikzpicture}{\\pdfsave\\pdfsetmatrix{0.5 0 0 0.5}\\hbox\\bgroup}{\\egroup\\pdfrestore}"
    paper.replace(TEX, "\\title", shift + "\\title")
    paper.replace(TEX, END, "\\noindent\\begin{tikzpicture}Of \\val{main.untreated.gap} and \\val{main.untreated.close}\\end{tikzpicture}\n" + END)
    rebuild(paper)
    assert not [line for line in lines(paper) if line.startswith(("A502", "A503"))]
    paper.replace(MACROS, "{audit@val@@main.untreated.close}{0.95}", "{audit@val@@main.untreated.close}{0.85}")
    typeset(paper)
    assert any(line.startswith("A502") and "main.untreated.close" in line for line in lines(paper))


def test_dashes_of_a_font_that_names_no_characters() -> None:
    """A T1 font in bitmaps has its dashes at U+0015 and U+0016: a range there is the range that was bound."""
    assert skeleton("(1.29\x151.52)") == skeleton("(1.29\u20131.52)") == "1.29-1.52"
    assert skeleton("4\x16x") == "4-x"
