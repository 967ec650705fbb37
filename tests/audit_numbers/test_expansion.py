"""Our macros replaced by what they print: each fits its neighbours, and what cannot be read is one line."""

from __future__ import annotations

import pytest

from audit.expansion import expand
from audit.finding import Refusal
from audit.macro_texts import Printed

PRINTED = Printed(
    values={("", "a"): "0.09", ("word", "a"): "eight", ("", "b"): r"\ensuremath{1\times 10^{3}}", ("", "c"): "1{,}024"}, numbers={("", "c"): "1024"},
    verdicts={"p.P1": "met", "p.P2": "missed (post hoc)", "p.P3": "not evaluated here"}, provenance={"x": "abc"}, labels={"a": "exploratory"}, unjudged={"q": "q"},
    claims={"a < 1": "open"},
)  # fmt: skip
CASES = {
    "a command would swallow a word": (r"\small\val[word]{a}", r"\small eight"),
    "an argument without braces": (r"x^\val{a}", r"x^{0.09}"),
    "digits would join": (r"2\val{a}", r"2{}0.09"),
    "a row's end would take a bracket": (r"\\\ifverdict{p.P3}{}{}{}", r"\\{}[not evaluated here]"),
    "a word at a branch's end": (r"\ifverdict{p.P2}{}{in \TeX}{} we", r"in \TeX{} we"),
    "an empty line would begin": ("a\n\\ifverdict{p.P1}{}{b}{c}\nd", "a\n{}\nd"),
    "a comment at a branch's end": ("a \\ifverdict{p.P1}{b % c\n}{}{}\nd", "a b \nd"),
    "a space that TeX would skip": (r"\TeX\ifverdict{p.P1}{ a}{}{}", r"\TeX{} a"),
    "a style alone on its line": ("a\n\\valstyle{final}\nb", "a\nb"),
    "a claim": (r"\claim{a < 3}{We saw \val{a}.}", "We saw 0.09."),
    "a claim that is open": (r"\claim{a < 1}{We saw \val{a}.}", "[not evaluated here]"),
    "a reason": (r"\unjudged{q}{it \emph{runs} \val{b}}", r"q: not judged, it \emph{runs} \ensuremath{1\times 10^{3}}"),
    "the other macros": (r"\verdict{p.P1} \prov{x} \confirmatory{a}", "met abc exploratory"),
    "within siunitx": (r"\num[a=b]{\val{c}} and \val{c}; \qty{\val{c}}{\metre}", r"\num[a=b]{1024} and 1{,}024; \qty{1024}{\metre}"),
    "behind the end": ("\\val{a}\\end{document}\\val{zzz}", "0.09\\end{document}\\val{zzz}"),
    "an escaped percent sign": ("5\\% \\val{a} % \\val{zzz}\n", "5\\% 0.09 % \\val{zzz}\n"),
}


@pytest.mark.parametrize(("source", "wanted"), CASES.values(), ids=CASES)
def test_each_macro_fits_its_place(source: str, wanted: str) -> None:
    """The neighbours of a macro are read as before."""
    assert expand(source, PRINTED, "x.tex") == wanted


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (r"a \val b", r"x.tex:1:3: \val stands without its arguments; cure: write them in braces"),
        ("\n\\ifverdict{p.P1}{a}{b", r"x.tex:2:1: an argument of \ifverdict is never closed; cure: close the brace"),
        (r"\val{zzz}", "x.tex: nothing is rendered for ('', 'zzz'); cure: audit verify"),
    ],
)
def test_bad_sources_are_one_line(source: str, line: str) -> None:
    """Place, fault and cure."""
    with pytest.raises(Refusal) as refused:
        expand(source, PRINTED, "x.tex")
    assert str(refused.value) == line
