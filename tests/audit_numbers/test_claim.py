r"""`\claim`: what its condition may say, what it comes to, and that a sentence that does not hold is never typeset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_project import Paper, main_record, quantity

from audit.building import build
from audit.building import main as build_pdf
from audit.claims import find_claims
from audit.finding import Refusal, Severity
from audit.numbers import condition as c
from audit.numbers.grammar import parse_condition
from audit.pdf import extract_text

TEX = "manuscript/paper.tex"
END = "\\end{document}"


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    return Paper(tmp_path)


def claim(paper: Paper, condition: str, sentence: str = "It outperforms.") -> None:
    """Put a claim before the end of the document."""
    paper.replace(TEX, END, f"\\claim{{{condition}}}{{{sentence}}}\n{END}")


def found(paper: Paper) -> list[str]:
    """What is found of claims, notes too."""
    return [finding.line() for finding in paper.report().findings if finding.code in ("A416", "A417", "A418")]


TRUE = {
    "a bound": "main.untreated.gap < 0.1",
    "the stored value, not the printed one": "main.untreated.close < 0.95",
    "exact decimals": "main.untreated.gap = 0.0887 and main.untreated.gap * 3 = 0.2661",
    "a ratio": "main.untreated.close / main.untreated.gap > 10",
    "a difference": "main.untreated.gap - main.untreated.neg >= 0.3136",
    "a negative number": "main.untreated.neg < -0.2",
    "a scientific number": "main.untreated.tiny = 1.234e-5",
    "a row": "0 < main.untreated.gap < main.untreated.close",
    "unequal": "main.untreated.gap != main.untreated.close",
    "signs of TeX": r"main.untreated.gap\le0.0887 and main.untreated.close \geq 0.9496 and main.untreated.gap \neq 1",
    "an escaped underscore": r"main.with\_line > 0",
    "an item of a list": "main.arms.1.gap > main.arms.0.gap",
    "precedence": "main.untreated.gap > 1 or main.untreated.gap > 0 and not main.untreated.close > 1",
    "parentheses": "(main.untreated.gap + main.untreated.close) * 2 > 2 and not (main.untreated.gap > 1 or main.untreated.close > 1)",
    "units": "at least 8 of main.untreated.recovered > 0 and not all of main.untreated.recovered > 0",
    "summaries of units": "min(main.untreated.recovered) = 0 and max(main.untreated.recovered) = 1 and n(main.untreated.recovered) = 10",
    "a verdict": "pilot.P1 is met and pilot.P2 is not met",
    "a count of verdicts": "pilot.met < pilot.of",
    "over lines, with a comment": "main.untreated.gap %% the gap\n   < 0.1".replace("%%", "%"),
    "blanks around": "  main.untreated.gap < 0.1 ",
}
FALSE = {
    "a bound": ("main.untreated.gap > 0.1", "main.untreated.gap = 0.0887"),
    "at the bound": ("main.untreated.gap < 0.0887", "0.0887"),
    "not what is printed": ("main.untreated.close >= 0.95", "0.9496"),
    "one of two": ("main.untreated.gap < 0.1 and main.untreated.close > 1", "main.untreated.close = 0.9496"),
    "units": ("at least 9 of main.untreated.recovered > 0", "(units: 1, 1, 1"),
    "a verdict": ("pilot.P2 is met", "pilot.P2 is missed"),
}
BAD = {
    "nothing": ("", "expected a number, or a key"),
    "no comparison": ("main.untreated.gap", "compares nothing"),
    "a key without its record": ("gap > 0", "a key with its record such as main.gap; found 'gap'"),
    "a mistyped key": ("main.untreated.gpa > 0", "nearest keys: main.untreated.gap"),
    "an unlisted record": ("other.gap > 0", "nearest keys"),
    "a mistyped key beside what decides": ("main.untreated.gap < 1 or main.untreated.gpa > 0", "nearest keys: main.untreated.gap"),
    "a mistyped prediction": ("pilot.P9 is met", "no verdict 'pilot.P9'; found nearest: pilot.P"),
    "no such verdict": ("pilot.P1 is won", "expected met or missed or undecided; found 'won'"),
    "half a comparison": ("main.untreated.gap >", "found its end"),
    "two signs": ("main.untreated.gap >> 1", "found '>'"),
    "an open parenthesis": ("(main.untreated.gap > 1", "expected )"),
    "two conditions": ("main.untreated.gap < 1 main.untreated.close < 1", "expected its end, and, or"),
    "a sum of comparisons": ("(main.untreated.gap < 1) + 1 > 0", "calculates with a comparison"),
    "another language": ("__import__('os').system('x') > 0", "found"),
    "a power": ("main.untreated.gap ** 2 > 0", "found '*'"),
    "an enormous number": ("main.untreated.gap < 1e99999", "found"),
    "a command": (r"main.untreated.gap > \foo", r"found \foo"),
    "a ratio with zero": ("main.untreated.gap / (main.untreated.gap - main.untreated.gap) > 1", "divides by zero"),
    "units of a single value": ("all of main.untreated.gap > 0", "has no values per unit"),
    "no unit": ("at least 0 of main.untreated.recovered > 0", "a whole number of units from 1"),
    "nested too deeply": ("not " * 50 + "main.untreated.gap > 0", "nested too deeply"),
    "too long": ("main.untreated.gap > 0 and " * 100 + "main.untreated.gap > 0", "is too long"),
    "numbers of its own only": ("1 < 2", "the comparison 1 < 2 says nothing about a record"),
    "numbers of its own beside another": ("main.untreated.gap < 1 or 1 < 2", "the comparison 1 < 2 says nothing about a record"),
    "a value and itself": ("main.untreated.gap <= main.untreated.gap", "says nothing about a record"),
    "different units": ("main.untreated.gap < main.took", "quantities of different units; found main.untreated.gap in nats, main.took in s"),
    "not a quantity": ("main.untreated > 0", "ends at no quantity"),
}


@pytest.mark.parametrize("condition", TRUE.values(), ids=TRUE)
def test_what_holds_is_silent(paper: Paper, condition: str) -> None:
    """Each form of condition over values that bear it out."""
    paper.record("results/analyse/main.json", main_record() | {"with_line": quantity(1, 0)})
    claim(paper, condition)
    assert found(paper) == [] and find_claims(paper.context)[0].truth is True


@pytest.mark.parametrize(("condition", "seen"), FALSE.values(), ids=FALSE)
def test_what_is_false_is_found(paper: Paper, condition: str, seen: str) -> None:
    """The finding names place, condition and the values seen, and nothing defines the sentence's macro."""
    claim(paper, condition)
    (line,) = found(paper)
    assert line.startswith("A416 manuscript/paper.tex:12:7 claim does not hold: ") and seen in line
    assert r"\@namedef{audit@claims@" not in render(paper)


@pytest.mark.parametrize(("condition", "words"), BAD.values(), ids=BAD)
def test_a_bad_condition_is_one_line(paper: Paper, condition: str, words: str) -> None:
    """It says where, and what was expected."""
    paper.record("results/analyse/main.json", main_record() | {"took": quantity(3.5, 1, unit="s")})
    claim(paper, condition)
    (line,) = found(paper)
    assert line.startswith("A417 manuscript/paper.tex:12:7 ") and words in line and "\n" not in line
    assert paper.report().code == 1


KEYS = st.from_regex(r"[a-z][a-z_]{0,4}(?:\.[a-z0-9_]{1,4}){1,2}", fullmatch=True).filter(lambda key: key.partition(".")[0] not in c.__all__)
TERMS = st.recursive(
    st.builds(c.Number, st.sampled_from(["0", "1.50", ".5", "2e-3", "12"])) | st.builds(c.Value, KEYS, st.sampled_from(["", "min", "max", "n"])),
    lambda inner: st.builds(c.Minus, inner) | st.builds(c.Operation, st.sampled_from("+-*/"), inner, inner),
    max_leaves=6,
)
SIGNS = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])
COMPARISONS = st.lists(st.tuples(SIGNS, TERMS), min_size=1, max_size=2).flatmap(
    lambda rest: st.builds(lambda first: c.Comparison((first, *(term for _, term in rest)), tuple(sign for sign, _ in rest)), TERMS)
)
LEAVES = (
    COMPARISONS
    | st.builds(c.Units, st.none() | st.integers(1, 99), KEYS, SIGNS, TERMS)
    | st.builds(c.Standing, KEYS, st.sampled_from(["met", "missed", "undecided"]))
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.builds(c.Not, inner) | st.builds(lambda kind, parts: kind(tuple(parts)), st.sampled_from([c.Every, c.Either]), st.lists(inner, min_size=2, max_size=3)),
    max_leaves=5,
)
PIECES = st.sampled_from(r"main.a a.b-c pilot.P1 1 0.5 1e-3 .5 ( ) < <= > >= = != + - * / and or not all of at least min max n is met missed \le \foo \_ _ % & # { $ ≥ e 1e9".split())


@settings(max_examples=300, deadline=None)
@given(CONDITIONS)
def test_a_condition_prints_as_what_it_is_read_from(condition: c.Test) -> None:
    """What is printed is read as the same condition again."""
    assert parse_condition(str(condition), "x") == condition


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES | st.text(max_size=3), max_size=25).map(" ".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but a Refusal, of one line."""
    try:
        again = parse_condition(text, "x")
    except Refusal as refusal:
        assert "\n" not in str(refusal) and str(refusal).startswith("x: the condition ")
    else:
        assert parse_condition(str(again), "x") == again


def test_deep_and_long_conditions_are_refused_at_once() -> None:
    """Parentheses and signs without end cost no stack."""
    for text in ("(" * 1900, "-" * 1900 + "1", "(" * 900 + "a.b > 1" + ")" * 900, "not " * 400):
        with pytest.raises(Refusal, match="nested too deeply"):
            parse_condition(text, "x")


def widen(paper: Paper, tolerance: float) -> None:
    """Give the gap a tolerance."""
    record = main_record()
    record["untreated"]["gap"]["tolerance"] = tolerance
    paper.record("results/analyse/main.json", record)


@pytest.mark.parametrize(("tolerance", "condition", "steady"), [
    (0.02, "main.untreated.gap < 0.1", False), (0.01, "main.untreated.gap < 0.1", True), (0.02, "main.untreated.gap < 0.1 or pilot.P1 is met", True),
    (0.09, "1 / main.untreated.gap > 1", False), (0.001, "main.untreated.gap = 0.0887", False), (0.09, "main.untreated.gap / main.untreated.gap = 1", False),
    (0.1, "main.untreated.neg < main.untreated.gap", True), (0.1, "main.untreated.neg * main.untreated.gap < 0.1", True),
])  # fmt: skip
def test_what_could_turn_within_tolerance_is_a_note(paper: Paper, tolerance: float, condition: str, steady: bool) -> None:
    """It holds for the recorded values, so it is typeset; a recomputation that agrees could say otherwise."""
    widen(paper, tolerance)
    claim(paper, condition)
    assert [line.split()[0] for line in found(paper)] == ([] if steady else ["A418"])
    assert all(f"main.untreated.gap = 0.0887 (tolerance {tolerance})" in line for line in found(paper))
    assert all(finding.severity is Severity.NOTE for finding in paper.report().findings if finding.code == "A418")
    assert "{holds}" in render(paper)


def render(paper: Paper) -> str:
    """The macros' file."""
    paper.render()
    return (paper.root / "manuscript/generated/macros.tex").read_text()


def test_a_claim_of_a_branch_that_is_not_chosen_is_a_note(paper: Paper) -> None:
    """Sentences for every outcome stand in the source: those of the others do not hold, and are not typeset."""
    paper.replace(TEX, "{it held}", "{\\claim{main.untreated.recovered > 9}{more held}}")
    (finding,) = [finding for finding in paper.report().findings if finding.code == "A416"]
    assert finding.severity is Severity.NOTE and "claim of another outcome" in finding.what


def test_where_no_registration_holds_a_false_claim_is_not_evaluated(paper: Paper) -> None:
    """At another scale the document says so in place of the sentence; what holds is still typeset."""
    claim(paper, "main.untreated.gap > 1")
    claim(paper, "main.untreated.gap < 1")
    paper.write("params.yaml", "scale: smoke\n")
    (finding,) = [finding for finding in paper.report().findings if finding.code == "A416"]
    assert finding.severity is Severity.NOTE and "not evaluated here" in finding.what
    macros = render(paper)
    assert "> 1}}{open}" in macros and "< 1}}{holds}" in macros


WITHOUT: dict[str, Callable[[Paper], None]] = {
    "a record that is gone": lambda paper: (paper.root / "results/analyse/main.json").unlink(),
    "an unreadable record": lambda paper: paper.write("results/analyse/main.json", "{"),
}


@pytest.mark.parametrize("act", WITHOUT.values(), ids=WITHOUT)
def test_without_its_record_a_claim_is_not_read(paper: Paper, act: Callable[[Paper], None]) -> None:
    """A record that is not there bears nothing out."""
    claim(paper, "main.untreated.gap < 1")
    act(paper)
    assert "needs a record that is absent or unreadable; found results/analyse/main.json" in found(paper)[0]


BODY = r"""
\section{Where \claim{main.untreated.gap < 0.1}{the gap is small}}
\begin{figure}[h]\caption{Here \claim{main.untreated.close\ge main.untreated.gap}{it outperforms \val{main.untreated.gap}}.}\end{figure}
Text\footnote{And \claim{ main.with_line > 0 % so far
   and pilot.P1 is met }{here too}.}
\begin{tabular}{l}\claim{main.untreated.gap != 1}{in a cell} \\\end{tabular}
\claim{main.untreated.neg < 0}{A paragraph.

Another one of \val[word]{main.untreated.recovered}.}
\listoffigures\tableofcontents
"""


def test_claims_are_typeset_wherever_they_stand(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Title, caption and their lists, footnote, table, several paragraphs, `\\val` inside; none is missed or redefined."""
    paper.record("results/analyse/main.json", main_record() | {"with_line": quantity(1, 0)})
    paper.replace(TEX, END, BODY + END)
    paper.replace(TEX, "\\begin{document}", "\\usepackage[colorlinks]{hyperref}\\begin{document}")
    monkeypatch.chdir(paper.root)
    paper.render()
    assert [finding.line() for finding in paper.report("pdf").findings if finding.severity is not Severity.NOTE] == []
    assert build_pdf() == 0
    text = " ".join(extract_text(paper.root / "manuscript/paper.pdf").split())
    for words in ("Where the gap is small", "Here it outperforms 0.0887", "here too", "in a cell", "A paragraph.", "Another one of eight."):
        assert words in text
    assert [finding.line() for finding in paper.report().findings if finding.severity is not Severity.NOTE] == []


@pytest.mark.parametrize("late", [False, True], ids=["false when it is rendered", "false for a macro that nobody renders again"])
def test_latex_stops_at_a_claim_that_does_not_hold(paper: Paper, monkeypatch: pytest.MonkeyPatch, late: bool) -> None:
    """The build names the condition, whether or not somebody ran the audit."""
    monkeypatch.chdir(paper.root)
    if late:
        paper.render()
    claim(paper, "main.untreated.gap > 1")
    if not late:
        paper.render()
    (folder := paper.root / "out").mkdir()
    with pytest.raises(Refusal, match=r"No true claim for `main.untreated.gap > 1'"):
        build(paper.context, folder)


def test_an_open_claim_says_so_in_the_document(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under other parameters the sentence does not stand there."""
    claim(paper, "main.untreated.gap > 1", "It outperforms.")
    paper.write("params.yaml", "scale: smoke\n")
    monkeypatch.chdir(paper.root)
    paper.render()
    assert build_pdf() == 0
    text = extract_text(paper.root / "manuscript/paper.pdf")
    assert "[not evaluated here]" in text and "outperforms" not in text
