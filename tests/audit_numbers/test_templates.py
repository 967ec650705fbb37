"""Templates: own delimiters, strict names, one filter that prints numbers, text escaped, nothing empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from paper_project import Paper

from audit.finding import Refusal
from audit.render import generate
from audit.templates import RecordText, latex_text, print_label


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    return Paper(tmp_path)


def body(paper: Paper, template: str) -> str:
    """What a template gives, without the header."""
    paper.write("manuscript/tables/arms.tex.j2", template)
    text = generate(paper.context).files["arms.tex"].decode()
    return "\n".join(line for line in text.splitlines() if not line.startswith("%"))


GOOD = {
    "latex braces": (r"\newcommand{\s}[1]{^{#1}} \textbf{<< main.untreated.gap | val >>}", r"\newcommand{\s}[1]{^{#1}} \textbf{0.0887}"),
    "percent at a line end": ("{%\na}%\n", "{%\na}%"),
    "format": ('<< main.untreated.gap | val("fixed.2") >>', "0.09"),
    "by key": ('<< q("main.untreated.neg") | val >>', r"\ensuremath{-}0.22"),
    "label": ("<< main.arms[0].name | label >>", r"hinge\_4 \& more"),
    "verdict": ("<% for row in verdicts.pilot.predictions %><< row.id | label >> << row.verdict >>; <% endfor %>", "P1 met; P2 missed; "),
    "comment": ("a<# \\VAR 0.5 #>b", "ab"),
    "tie of rounding": ("<< main.arms[1].gap | val >>", "1.01"),
    "absent": ("<% if main.untreated.gpa is defined %>x<% else %>none here<% endif %>", "none here"),
    "limits": ("<% for limit in limits() %><% if loop.last %><< limit | label >><% endif %><% endfor %>", "That the predictions were worth making, or their thresholds sensible."),
    "attrition": ("<% for row in attrition() %><< row.prediction | label >> << row.seeds | val >> << row.verdict >> << row.against >>; <% endfor %>", "pilot.P1 3 met cannot be counted; pilot.P2 3 missed same; "),
    "denominator": ("<< denominator().phrase | label >>", "0 met, 0 missed, 0 undecided of 0 registered"),
    "labels": ("<% for row in labels().others %><< row.record | label >> << row.label >> << row.count | val >>; <% endfor %>", "main exploratory 5; pilot a tally of verdicts 2; "),
    "siunitx": ("<< main.untreated.neg | num >>, << main.untreated.tiny | num >>", "-0.22, 1.2e-5"),
    "macro": ("<% macro bold(q) %>\\textbf{<< q | val >>}<% endmacro %><< bold(main.untreated.gap) >>", r"\textbf{0.0887}"),
    "count": ("<% if main.arms | length == 2 %>two<% endif %>", "two"),
}


@pytest.mark.parametrize(("template", "text"), GOOD.values(), ids=GOOD)
def test_good_templates(paper: Paper, template: str, text: str) -> None:
    """Each gives exactly this LaTeX."""
    assert body(paper, template) == text


BAD = {
    "unknown record": ("<< acc_seed_b >>", "'acc_seed_b' is undefined"),
    "misspelt attribute": ("<< main.untreated.gpa | val >>", "main.untreated has no gpa|gpa"),
    "unknown key": ('<< q("main.untreated.gpa") >>', "nearest keys: main.untreated.gap"),
    "a quantity without the filter": ("<< main.untreated.gap >>", "printed without the filter"),
    "arithmetic": ("<< main.untreated.gap.value * 1.1 >>", "only quantities and text"),
    "arithmetic through the filter": ("<< (main.untreated.gap.value * 1.1) | val >>", "takes a quantity"),
    "a number": ("<< 0.0887 >>", "only quantities and text"),
    "digits in a text": ('<< "0.0887" >>', "text with digits"),
    "typed label": ('<< "run 3" | label >>', "takes a text of a record"),
    "empty": ('<< "" >>', "empty or placeholder"),
    "none": ("<< none >>", "only quantities and text"),
    "placeholder": ('<< "TODO" >>', "empty or placeholder"),
    "two texts joined": ('<< "0." ~ "53" >>', "text with digits"),
    "a format of Python": ('<< "{}".format(main.untreated.gap.value) >>', "text with digits"),
    "a counter": ("<% for row in main.arms %><< loop.index >><% endfor %>", "only quantities and text"),
    "a percentage for siunitx": ("<< main.untreated.share | num >>", "siunitx reads one number; found 31.2%"),
    "a changed copy": ("<< main.untreated.gap.model_copy(update={'value': 0.4}) | val >>", "access to attribute 'model_copy'"),
    "a quantity of its own": ("<< q('main.untreated.gap').model_construct(value=0.4, digits=4) | val >>", "access to attribute 'model_construct'"),
    "our own marks": ("\ue010 0.5 \ue011", "a private character"),
    "a record": ("<< main >>", "cannot be printed"),
    "syntax": ("<% for %>", r"arms\.tex\.j2:1"),
    "unknown filter": ("<< main.untreated.gap | round >>", "No filter named 'round'"),
    "escape from the sandbox": ("<< main.__class__.__mro__ >>", "undefined|unsafe|has no"),
    "unknown provenance": ('<< prov("main.commit") >>', "no provenance value"),
}


@pytest.mark.parametrize(("template", "reason"), BAD.values(), ids=BAD)
def test_bad_templates(paper: Paper, template: str, reason: str) -> None:
    """Each is refused in one line that names the template."""
    with pytest.raises(Refusal, match=reason) as refused:
        body(paper, template)
    assert "manuscript/tables/arms.tex.j2" in str(refused.value)
    assert "\n" not in str(refused.value)


ESCAPED = {"12%": r"12\%", "run_a": r"run\_a", "A & B": r"A \& B", "~/x": r"\textasciitilde{}/x", "\u03b1": r"\ensuremath{\alpha}", "0.5 # note": r"0.5 \# note",
           "a\\b{c}": r"a\textbackslash{}b\{c\}", "$5^2$": r"\$5\textasciicircum{}2\$", ">= 3": r"\ensuremath{\ge} 3", "at most 1e-05, 1.5e+16": r"at most \ensuremath{1\times 10^{-5}}, \ensuremath{1.5\times 10^{16}}",
           "commit 12e4567890": "commit 12e4567890", "5 µs & 2 Ω": r"5 \ensuremath{\mu}s \& 2 \ensuremath{\Omega}", "Mäder": "Mäder"}  # fmt: skip


@pytest.mark.parametrize(("text", "latex"), ESCAPED.items(), ids=list(ESCAPED))
def test_text_is_escaped(text: str, latex: str) -> None:
    """Nothing in a value can hide the rest of its line."""
    assert latex_text(text) == latex


PUT_TOGETHER = {
    "words": ('<< "eight of ten" >> runs recovered', "eight of ten"),
    "in a loop": ('<% for name in ["eight"] %><< name >> runs recovered<% endfor %>', "eight"),
    "from two halves": ("It fell to 0.<% if main.arms %>53<% endif %> nats", "0.53"),
    "in a macro": ("<% macro row(q) %><< 'eight' >> runs recovered, << q | val >><% endmacro %><< row(main.untreated.gap) >>", "eight"),
}


@pytest.mark.parametrize(("template", "literal"), PUT_TOGETHER.values(), ids=PUT_TOGETHER)
def test_a_template_puts_no_number_together(paper: Paper, template: str, literal: str) -> None:
    """What is printed is scanned as a reader would see it; what the filters printed is bound."""
    paper.write("manuscript/tables/arms.tex.j2", template)
    assert literal in [text for _, text in generate(paper.context).typed]


def test_text_that_latex_cannot_print_is_refused() -> None:
    """A character without a form is named by its code point."""
    with pytest.raises(Refusal, match=r"U\+4E16"):
        latex_text("\u4e16")


def test_two_templates_of_one_name_are_refused(paper: Paper) -> None:
    """No generated file silently replaces another."""
    paper.write("manuscript/arms.tex.j2", "x")
    with pytest.raises(Refusal, match="two templates write one file"):
        generate(paper.context)


def test_keys_that_differ_only_in_digits_stay_apart(paper: Paper) -> None:
    """`acc`, `acc_1`, `acc.one` and the like each keep their own value in LaTeX's look-up."""
    record = {"kind": "main", "version": 1}
    for number, key in enumerate(["acc", "acc_1", "acc_2", "accOne", "input", "def"]):
        record[key] = {"value": number, "unit": "1", "digits": 0, "tolerance": 0.0}
    paper.record("results/analyse/main.json", record)
    paper.write("manuscript/tables/arms.tex.j2", "x")
    uses = " ".join(rf"\val{{main.{key}}}" for key in record if key not in ("kind", "version"))
    paper.write("manuscript/paper.tex", rf"\documentclass{{article}}\begin{{document}}{uses}\end{{document}}")
    macros = generate(paper.context).files["macros.tex"].decode()
    assert [f"\\@namedef{{audit@val@@main.{key}}}{{{number}}}" in macros for number, key in enumerate(["acc", "acc_1", "acc_2", "accOne", "input", "def"])] == [True] * 6


@pytest.mark.parametrize("text", ["P1 has no known chance of being met under the null: declare null.chance", "None of the networks recovers."])
def test_label_prints_words_that_are_no_placeholders(text: str) -> None:
    """In a record's own prose `null` and `None` are words; alone, or beside a mark of unwritten text, they are not printed."""
    assert print_label(RecordText(text)) == latex_text(text)
    for missing in ("null", " None ", "nan", "", "--", "TODO the claim", "why ??"):
        with pytest.raises(Refusal, match="an empty or placeholder text"):
            print_label(RecordText(missing))
