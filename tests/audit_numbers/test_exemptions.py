"""Exemptions: one file, one literal text, a reason, a count; nothing widens them, and every report counts them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paper_project import Paper

from audit.finding import Severity
from audit.numbers.exemptions import load_exemptions
from audit.provenance import provenance_files, provenance_values
from audit.verify import as_json, as_text

TEX = "manuscript/paper.tex"
END = "\\end{document}"
TYPED = "The gap was 0.99, then 0.99 and 0.98."
REASON = "quoted from the archive"


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    made = Paper(tmp_path)
    made.replace(TEX, END, f"{TYPED}\n{END}")
    return made


def exempt(paper: Paper, *entries: str) -> None:
    """Write the file of exemptions."""
    paper.write("manuscript/exemptions.yaml", "version: 1\nexemptions:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries))


def entry(pattern: str, count: int = 1, place: str = TEX, reason: str = REASON) -> str:
    """One exemption in YAML."""
    return f"place: '{place}', pattern: '{pattern}', reason: '{reason}', count: {count}"


def lines(paper: Paper, code: str) -> list[str]:
    """What is found under one code, notes left out."""
    return [finding.line() for finding in paper.report("generated", "pdf").findings if finding.code == code and finding.severity is not Severity.NOTE]


def test_each_exemption_names_place_text_reason_and_count(paper: Paper) -> None:
    """With them nothing is found, without them each number is."""
    assert len(lines(paper, "A401")) == 3
    exempt(paper, entry("0.99", 2), entry("0.98"))
    assert paper.report("generated", "pdf").code == 0 and lines(paper, "A401") == []


WIDENED = {
    "everything": entry(".*", 3),
    "any number": entry("\\d+", 3),
    "any digit": entry("0.9.", 3),
    "a blank": entry(" ", 3),
    "every file": entry("0.99", 2, "manuscript/*"),
    "every file, by a question mark": entry("0.99", 2, "manuscript/paper.te?"),
    "the folder": entry("0.99", 2, "manuscript"),
    "another spelling of the path": entry("0.99", 2, "./manuscript/paper.tex"),
    "every construct": entry("\\.*"),
}


@pytest.mark.parametrize("wide", WIDENED.values(), ids=WIDENED)
def test_what_looks_like_a_wildcard_is_taken_literally(paper: Paper, wide: str) -> None:
    """It exempts nothing, so the three numbers are still found, and it matches nothing, which is found too."""
    paper.replace(TEX, TYPED, TYPED + "\\catcode`\\@=11")
    exempt(paper, wide)
    assert len(lines(paper, "A401")) == 3 and len(lines(paper, "A407")) == 1
    (line,) = lines(paper, "A404")
    assert "exemption 1 of" in line and ("found 0;" in line or "no source of this name among 2 files read" in line)


MISCOUNTED = {
    "one too few": ((entry("0.99", 1),), "expected 1 place, named once; found 2"),
    "one too many": ((entry("0.99", 3),), "expected 3 places, named once; found 2"),
    "nothing": ((entry("0.5", 1),), "expected 1 place, named once; found 0"),
    "twice": ((entry("0.99", 2), entry("0.99", 2)), "found named twice"),
    "split in two": ((entry("0.99", 1), entry("0.99", 1)), "expected 1 place, named once; found 2"),
    "a file that is gone": ((entry("0.99", 2, "manuscript/gone.tex"),), "no source of this name"),
    "a file that is not of the document": ((entry("0.99", 2, "params.yaml"),), "no source of this name"),
}


@pytest.mark.parametrize(("entries", "words"), MISCOUNTED.values(), ids=MISCOUNTED)
def test_another_count_is_found(paper: Paper, entries: tuple[str, ...], words: str) -> None:
    """The line names the exemption, what it says, and what there is."""
    exempt(paper, *entries)
    found = lines(paper, "A404")
    assert len(found) == len(entries) and all(words in line for line in found)


def test_an_exemption_that_outlives_its_number_is_found(paper: Paper) -> None:
    """The number goes, the exemption stays: it would let the next one in."""
    exempt(paper, entry("0.99", 2), entry("0.98"))
    paper.replace(TEX, TYPED, "The gap was 0.99, then 0.99.")
    assert ["0.98" in line for line in lines(paper, "A404")] == [True]


INVALID = {
    "no reason": (f"place: {TEX}, pattern: '0.99', count: 2", "reason' is missing"),
    "no place": (f"pattern: '0.99', reason: {REASON}, count: 2", "place' is missing"),
    "a short reason": (entry("0.99", 2, reason="ok"), "at least 10 characters"),
    "a reason without words": (entry("0.99", 2, reason="..........."), "expected a reason in words"),
    "a reason of one word": (entry("0.99", 2, reason="conventional"), "expected a reason in words"),
    "a reason to come": (entry("0.99", 2, reason="TODO: find a reason"), "expected a reason in words"),
    "the number for a reason": (entry("0.99", 2, reason="0.99 0.99 0.99"), "expected a reason in words"),
    "no count at all": (entry("0.99", 0), "greater than or equal to 1"),
    "an empty pattern": (entry("", 2), "at least 1 character"),
    "a number in place of a text": (f"place: {TEX}, pattern: 0.99, reason: {REASON}, count: 2", "expected a valid string; found 0.99"),
    "another key": (entry("0.99", 2) + ", regex: true", "unknown key 'exemptions.0.regex'; expected one of place, pattern, reason, count;"),
    "our macro": (entry("\\val"), "our own macros are never exempted"),
    "our macro without its stroke": (entry("claim"), "our own macros are never exempted"),
    "what lies below our macros": (entry("\\audit@val"), "our own macros are never exempted"),
}


@pytest.mark.parametrize(("text", "words"), INVALID.values(), ids=INVALID)
def test_an_invalid_file_is_one_line_and_exempts_nothing(paper: Paper, text: str, words: str) -> None:
    """One finding names the key, and every typed number is found."""
    exempt(paper, text)
    assert load_exemptions(paper.context) == ()
    (line,) = lines(paper, "A404")
    assert words in line and "nothing is exempted until then" in line
    assert len(lines(paper, "A401")) == 3 and paper.report("generated", "pdf").code == 1


@pytest.mark.parametrize("text", ["", "- a", "version: 1\nversion: 1\n", "version: 2\n", "version: 1\nexemptions: [\n", "a: &b 1\nc: *b\n"])
def test_a_file_that_is_none_is_one_line(paper: Paper, text: str) -> None:
    """Whatever stands there instead."""
    paper.write("manuscript/exemptions.yaml", text)
    assert len(lines(paper, "A404")) == 1 and len(lines(paper, "A401")) == 3


CONSTRUCTS = {"by name": ("\\catcode", 1, []), "twice": ("\\catcode", 2, ["A404"]), "another": ("\\lccode", 1, ["A404", "A407"]), "without its stroke": ("catcode", 1, ["A404", "A407"])}


@pytest.mark.parametrize(("pattern", "count", "codes"), CONSTRUCTS.values(), ids=CONSTRUCTS)
def test_a_construct_is_exempted_by_its_name_in_the_same_way(paper: Paper, pattern: str, count: int, codes: list[str]) -> None:
    """Place, name, reason and count."""
    paper.replace(TEX, TYPED, "\\catcode`\\@=11")
    exempt(paper, entry(pattern, count))
    assert sorted({*(line.split()[0] for code in ("A404", "A407") for line in lines(paper, code))}) == codes


def test_every_report_counts_them(paper: Paper) -> None:
    """The text and the JSON of `audit verify`, and what the paper can print of them, with the file it comes from."""
    exempt(paper, entry("0.99", 2), entry("0.98"))
    report = paper.report("generated", "pdf")
    assert any("exemptions" in line and "(2 exemptions of 3 places)" in line for line in as_text(report))
    counted = {check["name"]: check["counted"] for check in json.loads(as_json(report, {}))["checks"]}
    assert counted["exemptions"] == "2 exemptions of 3 places"
    values = provenance_values(paper.context)
    assert (values["all.exemptions"], values["all.exempted"]) == ("2", "3")
    assert provenance_files(paper.context, "all.exempted") == ["manuscript/exemptions.yaml"]


def test_the_paper_prints_how_many_there_are(paper: Paper) -> None:
    """`\\prov{all.exempted}`: an exemption more, and what was rendered is stale."""
    exempt(paper, entry("0.99", 2), entry("0.98"))
    paper.replace(TEX, TYPED, TYPED + " \\prov{all.exempted} numbers stand typed, for \\prov{all.exemptions} reasons.")
    paper.render()
    assert r"\@namedef{audit@prov@all.exempted}{3}" in (paper.root / "manuscript/generated/macros.tex").read_text()
    exempt(paper, entry("0.99", 2))
    assert [finding.code for finding in paper.report("numbers", "pdf").findings if "made from another version of manuscript/exemptions.yaml" in finding.what] == ["A403"]


def test_a_constant_can_be_exempted(paper: Paper) -> None:
    """A constant unlike its parameter is exempted by its text as a typed number is, and counted."""
    paper.write("params.yaml", "optimiser: {learning_rate: 0.002}\n")
    paper.replace(TEX, TYPED, "We trained with a learning rate of 0.003.")
    assert any("learning rate 0.003" in line for line in lines(paper, "A412"))
    exempt(paper, entry("0.003"))
    assert lines(paper, "A412") == [] and lines(paper, "A404") == []
    exempt(paper, entry("0.003", count=2))
    assert lines(paper, "A404")
