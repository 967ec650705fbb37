"""The scanner never raises, whatever the text; its places are true; comments change nothing; an independent parser agrees with it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.numbers.scan import Scan, decode, scan_text

PIECES = st.sampled_from(
    "\\ { } [ ] $ $$ % \n \n\n & ~ ^ _ # #1 ## \\\\ \\% \\begin{verbatim} \\end{verbatim} \\begin{tabular}{lr} \\end{tabular} \\verb| | \\iffalse \\fi \\else \\[ \\] \\( \\) "
    "\\val{a} \\val[n]{a.b} \\ifverdict{p.P}{a}{b}{c} \\input{x} \\input x \\import{a}{b} \\def\\a#1{ \\newcommand{\\b}[1]{ \\frac12 \\frac{1}{2} \\num{1.2e3} \\SI{1}{m^2} 0.5 1{,}024 1\\,024 -3 .5 10^{-4} "
    "eight of ten none of the twofold one in five \u2212 \u2009 \u00a0 \x00 \ud7ff \\cite{a} \\caption{ \\footnote{ \\vspace{ \\item[ \\textsuperscript \\end{document} \\begin{document} \\endinput ^^ x Y "
    "\\section{Methods} Smith et al. (2019) 36^{+5}_{-4} \\pm (3) [12] \\begin{lstlisting} \\end{lstlisting} \\begin{comment} \\end{comment} \\let\\iffalse = < of found we".split(" ")
)
FILES = sorted((Path(__file__).parent / "labelled").glob("*.tex"))
SOURCES = [file.read_text(encoding="utf-8") for file in FILES]


def check(scan: Scan) -> None:
    """What holds of every scan: literals lie in the source in order, with their own text, and hold a digit or a word; lines exist."""
    source, last = scan.reading.source, -1
    for number in scan.numbers:
        literal = number.literal
        assert 0 <= literal.source_start < literal.source_end <= len(source)
        assert literal.text == " ".join(source[literal.source_start : literal.source_end].split())
        assert literal.source_start >= last or literal.stream == "aside"
        assert any(character.isdigit() for character in literal.text) or literal.words
        last = literal.source_start
    lines = source.count("\n") + 1
    for stretch in [*scan.unread(), *scan.reading.passed]:
        assert 1 <= stretch.first <= stretch.last <= lines


def findings(scan: Scan) -> list[tuple[str, str, str]]:
    """What a reader is told of each number: text, class and rule."""
    return [(number.literal.text, number.cls, number.rule) for number in scan.numbers]


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join))
def test_never_raises(source: str) -> None:
    """Any text whatsoever, read twice the same."""
    scan = scan_text(source)
    check(scan)
    assert findings(scan) == findings(scan_text(source))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_text(data: bytes) -> None:
    """Bytes of any encoding decode, at worst with a note, and scan."""
    text, notes = decode(data)
    assert len(notes) <= 1
    check(scan_text(text))


@pytest.mark.parametrize("piece", ["{", "$", "\\[0.5 ", "(Smith, 2019", "\\begin{a}", "\\footnote{0.5 ", "{\n\n", "1,000", "0.5 & ", "\\", "\\iffalse ", "x^{", "\\cite{a} 0.5 ", "}"])
def test_long_and_deep(piece: str) -> None:
    """A piece three thousand times over: no recursion, and no time that grows with the square."""
    check(scan_text(piece * 3000))


def cut(chance: random.Random, text: str) -> str:
    """Up to a place, or from one on."""
    place = chance.randrange(len(text))
    return text[:place] if chance.random() < 0.5 else text[place:]


def swap(chance: random.Random, text: str) -> str:
    """Two stretches exchanged."""
    first, second, third, fourth = sorted(chance.randrange(len(text) + 1) for _ in range(4))
    return text[:first] + text[third:fourth] + text[second:third] + text[first:second] + text[fourth:]


def drop(chance: random.Random, text: str) -> str:
    """A stretch taken out."""
    start, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    return text[:start] + text[min(end, start + 40) :]


def insert(chance: random.Random, text: str) -> str:
    """Braces, commands and ends of environments put in anywhere."""
    place = chance.randrange(len(text))
    piece = chance.choice(["{", "}", "$", "$$", "\\", "%", "\n\n", "0", "\\[", "\\end{tabular}", "\\begin{verbatim}", "\\iffalse", "\\fi", "\\footnote{", "\\caption[", "&", "^", "\\verb|"])
    return text[:place] + piece + text[place:]


MUTATIONS: tuple[Callable[[random.Random, str], str], ...] = (cut, swap, drop, insert, insert, insert)


@pytest.mark.parametrize("seed", range(60))
def test_mutated_sources(seed: int) -> None:
    """The development set cut, swapped, dropped and broken."""
    chance = random.Random(seed)  # noqa: S311
    text = chance.choice(SOURCES)
    for _ in range(chance.randrange(1, 12)):
        text = chance.choice(MUTATIONS)(chance, text) or "x"
        check(scan_text(text))


@pytest.mark.parametrize("text", SOURCES, ids=[file.stem for file in FILES])
def test_comments_change_nothing(text: str) -> None:
    """A comment with numbers at the end of each line, and a file whose own comments are gone: the same findings."""
    bare = scan_text("\n".join(line.partition("%=")[0].rstrip() for line in text.splitlines()), preamble=False)
    commented = "\n".join(f"{line} % was 0.73 in {number} of 12" if "erbatim" not in line and "listing" not in line else line for number, line in enumerate(bare.reading.source.splitlines()))
    assert findings(bare) == findings(scan_text(commented, preamble=False))
    assert findings(bare)


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_agrees_with_an_independent_parser(file: Path) -> None:
    """pylatexenc sees the same comments, and puts the same numbers into formulas."""
    walker = pytest.importorskip("pylatexenc.latexwalker")
    source = file.read_text(encoding="utf-8").replace("(see) ", "")
    nodes = walker.LatexWalker(source, tolerant_parsing=True).get_latex_nodes()[0]
    comments, formulas = spans(nodes)
    scan = scan_text(source, preamble=False)
    for number in scan.numbers:
        place = number.literal.source_start
        assert not any(start <= place < end for start, end in comments), number.literal.text
        if number.literal.stream == "main" and number.literal.frame.math:
            assert any(start <= place < end for start, end in formulas), number.literal.text


def spans(nodes: object) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Spans of comments and of formulas in a pylatexenc tree."""
    comments: list[tuple[int, int]] = []
    formulas: list[tuple[int, int]] = []
    waiting = list(nodes or ())  # type: ignore[call-overload]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        name = type(node).__name__
        display = getattr(node, "environmentname", "").rstrip("*") in ("equation", "align", "gather", "multline")
        (comments if name == "LatexCommentNode" else formulas if name == "LatexMathNode" or display else []).append((node.pos, node.pos + node.len))
        waiting += list(getattr(node, "nodelist", None) or ())
        arguments = getattr(getattr(node, "nodeargd", None), "argnlist", None)
        waiting += list(arguments or ())
    return comments, formulas
