"""The scanner never raises, whatever the text, and agrees with an independent LaTeX parser about comments and formulas."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.numbers.scan import Scan, scan_text

PIECES = st.sampled_from(
    "\\ { } [ ] $ $$ % \n \n\n & ~ ^ _ # #1 ## \\\\ \\% \\begin{verbatim} \\end{verbatim} \\begin{tabular}{lr} \\end{tabular} \\verb| | \\iffalse \\fi \\else \\[ \\] \\( \\) "
    "\\val{a} \\val[n]{a.b} \\ifverdict{p.P}{a}{b}{c} \\input{x} \\input x \\def\\a#1{ \\newcommand{\\b}[1]{ \\frac12 \\num{1.2e3} \\SI{1}{m^2} 0.5 1{,}024 1\\,024 -3 .5 10^{-4} "
    "eight of ten none of the twofold \u2212 \u2009 \u00a0 \x00 \ud7ff \\cite{a} \\caption{ \\footnote{ \\vspace{ \\item[ \\textsuperscript \\end{document} \\begin{document} \\endinput ^^ x Y".split(" ")
)
FILES = sorted((Path(__file__).parent / "labelled").glob("*.tex"))


def check(scan: Scan) -> None:
    """What holds of every scan: places are inside, spans are ordered and do not overlap, each has a class."""
    end, last = len(scan.reading.source), -1
    for number in scan.numbers:
        literal = number.literal
        assert 0 <= literal.source_start < literal.source_end <= end
        assert literal.source_start >= last or literal.stream == "aside"
        assert any(character.isdigit() for character in literal.text) or literal.words
        last = literal.source_start
    for unread in scan.unread():
        assert 1 <= unread.first <= unread.last


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join))
def test_never_raises(source: str) -> None:
    """Any text whatsoever."""
    check(scan_text(source))


@pytest.mark.parametrize("seed", range(40))
def test_mutated_sources(seed: int) -> None:
    """The development set with characters dropped, doubled and exchanged."""
    chance = random.Random(seed)  # noqa: S311
    text = list(chance.choice(FILES).read_text(encoding="utf-8"))
    for _ in range(30):
        place = chance.randrange(len(text))
        text[place] = chance.choice(["", text[place] * 2, "{", "}", "$", "\\", "%", "\n\n", "0"])
    check(scan_text("".join(text)))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_agrees_with_an_independent_parser(file: Path) -> None:
    """pylatexenc sees the same comments, and puts the same numbers into formulas."""
    walker = pytest.importorskip("pylatexenc.latexwalker")
    source = file.read_text(encoding="utf-8").replace("(see) ", "")
    nodes = walker.LatexWalker(source, tolerant_parsing=True).get_latex_nodes()[0]
    comments, formulas = spans(walker, nodes)
    scan = scan_text(source, preamble=False)
    for number in scan.numbers:
        place = number.literal.source_start
        assert not any(start <= place < end for start, end in comments), number.literal.text
        if number.literal.stream == "main" and number.literal.frame.math:
            assert any(start <= place < end for start, end in formulas), number.literal.text


def spans(walker: object, nodes: object) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Spans of comments and of formulas in a pylatexenc tree."""
    comments: list[tuple[int, int]] = []
    formulas: list[tuple[int, int]] = []
    waiting = list(nodes or ())  # type: ignore[call-overload]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        name = type(node).__name__
        (comments if name == "LatexCommentNode" else formulas if name == "LatexMathNode" else []).append((node.pos, node.pos + node.len))
        waiting += list(getattr(node, "nodelist", None) or ())
        arguments = getattr(getattr(node, "nodeargd", None), "argnlist", None)
        waiting += list(arguments or ())
    return comments, formulas
