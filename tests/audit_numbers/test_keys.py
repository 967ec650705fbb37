"""Keys and typed numbers: an unknown key names the nearest, a typed number every way to print it, and what has no name is one line."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from paper_project import Paper, main_record, quantity

from audit.building import build
from audit.finding import Refusal, Severity
from audit.load import write_bytes
from audit.numbers.keys import Keys
from audit.numbers.matches import INVENTED, Matches
from audit.numbers.scan import scan_text

MAIN = "results/analyse/main.json"


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    return Paper(tmp_path)


def cite(paper: Paper, text: str) -> list[str]:
    """What the check of keys says of a sentence."""
    paper.replace("manuscript/paper.tex", "\\end{document}", text + "\n\\end{document}")
    return [finding.line() for finding in paper.report("generated", "pdf").findings if finding.code == "A402"]


UNKNOWN = {
    "a letter lost": ("main.untreated.gp", "nearest keys: main.untreated.gap"),
    "letters exchanged": ("main.untreated.gpa", "no quantity at key 'untreated.gpa'; found nearest keys: main.untreated.gap, "),
    "record misspelt": ("mian.untreated.gap", "no value for key 'mian.untreated.gap'; found nearest keys: main.untreated.gap, "),
    "folder left out": ("main.gap", "main.untreated.gap"),
    "another folder": ("main.treated.recovered", "nearest keys: main.untreated.recovered"),
    "ends above a quantity": ("main.untreated", "key 'untreated' ends at no quantity"),
    "a record alone": ("main", "no value for key 'main'"),
    "no row of so many": ("main.arms.7.gap", "nearest keys: main.arms."),
    "nothing like it": ("other.zzz", "found nearest keys: none"),
    "nothing": ("", "no value for key ''"),
}


@pytest.mark.parametrize(("key", "words"), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_key_names_the_nearest(paper: Paper, key: str, words: str) -> None:
    """By its letters, or by the same last name; a quantity that no sentence cites is no finding."""
    (line,) = cite(paper, rf"\val{{{key}}}")
    assert words in line and line.startswith("A402 manuscript/paper.tex:")


BAD_RECORDS = {
    "no digits": ({"bad": {"value": 0.5, "unit": "1", "tolerance": 0.0}}, "main.bad", "key 'digits' is missing"),
    "too many digits": ({"bad": quantity(0.5, 40)}, "main.bad", "digits is not valid"),
    "digits in words": ({"bad": quantity(0.5, 2) | {"digits": "two"}}, "main.bad", "digits is not valid"),
    "a text as value": ({"bad": quantity(0.5, 2) | {"value": "0.5"}}, "main.bad", "expected a valid number; found '0.5'"),
    "two of one name": ({"a": {"b": quantity(0.5, 2)}, "a.b": quantity(0.6, 2)}, "main.a.b", "two quantities have the key 'main.a.b'"),
    "a name that LaTeX cannot read": ({"r\u00e4nk": quantity(0.5, 2)}, "main.r\u00e4nk", "LaTeX cannot read the key"),
}


@pytest.mark.parametrize(("more", "key", "words"), BAD_RECORDS.values(), ids=BAD_RECORDS)
def test_a_bad_quantity_is_one_line(paper: Paper, more: dict[str, object], key: str, words: str) -> None:
    """At the place that cites it, and the rendering is refused; nothing of LaTeX or Python is seen."""
    paper.write(MAIN, json.dumps(main_record() | more))
    (line,) = cite(paper, rf"\val{{{key}}}")
    assert words in line and "Traceback" not in line
    with pytest.raises(Refusal, match=words.split("(")[0]):
        paper.render()


def test_a_record_needs_a_name_that_begins_a_key(paper: Paper) -> None:
    """A dot in it would make the key ambiguous."""
    paper.write("audit.toml", f'version = 1\n[records]\n"a.b" = "{MAIN}"\n')
    with pytest.raises(Refusal, match="a record's name 'a.b' cannot begin a key"):
        paper.report()


TYPED = {
    "printed form": ("It fell to 0.0887.", [r"\val{main.untreated.gap} = 0.0887"]),
    "rounding": ("It fell to 0.089.", [r"\val[fixed.3]{main.untreated.gap} = 0.089, a rounding of 0.0887"]),
    "more digits than the record prints": ("It fell to $-0.2249$.", [r"\val[fixed.4]{main.untreated.neg} = -0.2249, the same as -0.22"]),
    "percentage": (r"It won 8.87\%.", [r"\val[percent.2]{main.untreated.gap} = 8.87%, the percentage of 0.0887"]),
    "percentage without its sign": ("It won 31.2 points.", [r"\val[percent.1]{main.untreated.share} = 31.2%, 31.2% without its sign"]),
    "rounded percentage": (r"It won 31\%.", [r"\val[percent.0]{main.untreated.share} = 31%, a rounding of 31.2%"]),
    "largest of the values": ("It rose to 0.75.", [r"\val[max]{main.units} = 0.75"]),
    "invented": ("It fell to 0.7777.", []),
    "a ratio that no count has": ("In total 8 of 11 recovered.", []),
    "a fraction in words": ("In total a third of the runs recovered.", []),
}


@pytest.mark.parametrize(("text", "wanted"), TYPED.values(), ids=TYPED)
def test_a_typed_number_names_its_keys(paper: Paper, text: str, wanted: list[str]) -> None:
    """Each with the macro that would print it and how it follows, or that no record's quantity prints it."""
    paper.record(MAIN, main_record() | {"units": quantity(0.5, 2, values=[0.25, 0.75])})
    matches = Matches(Keys.of(paper.context))
    (number,) = (number.literal for number in scan_text(text).numbers if number.cls == "result")
    assert [match.describe() for match in matches.of(number)] == wanted
    assert (matches.describe(number) == INVENTED) == (not wanted)


def test_several_equal_keys_are_all_named(paper: Paper) -> None:
    """The first three in full, the others counted."""
    paper.record(MAIN, main_record() | {f"copy_{number}": quantity(0.0887, 4) for number in range(4)})
    (number,) = (number.literal for number in scan_text("The gap was 0.0887 nats.").numbers)
    line = Matches(Keys.of(paper.context)).describe(number)
    assert line.startswith(r"nearest: \val{main.untreated.gap} = 0.0887, \val{main.copy_0} = 0.0887, \val{main.copy_1}") and line.endswith("(and 2 more)")


def stale(paper: Paper) -> set[tuple[str, str]]:
    """(code, place) of what is older than its sources."""
    return {(finding.code, finding.place) for finding in paper.report().findings if finding.severity is not Severity.NOTE}


def test_staleness_is_by_digest_and_not_by_time(paper: Paper) -> None:
    """Macros, tables and PDF of an older record are found however new they look; the same record written again is no finding."""
    paper.render()
    (folder := paper.root / "out").mkdir()
    build(paper.context, folder)
    write_bytes(paper.root / "manuscript/paper.pdf", (folder / "paper.pdf").read_bytes())
    assert stale(paper) == set()
    record = (paper.root / MAIN).read_bytes()
    (paper.root / MAIN).write_bytes(record)
    assert stale(paper) == set()
    (paper.root / MAIN).write_bytes(record + b"\n")
    long_ago, tomorrow = time.time() - 1e8, time.time() + 1e5
    os.utime(paper.root / MAIN, (long_ago, long_ago))
    for path in (paper.root / "manuscript/generated").iterdir():
        os.utime(path, (tomorrow, tomorrow))
    found = stale(paper)
    assert {("A403", "manuscript/generated/macros.tex"), ("A403", "manuscript/generated/arms.tex")} <= found
    paper.render()
    assert {code for code, _ in stale(paper)} == {"A504"}
