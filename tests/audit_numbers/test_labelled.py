"""The development set: lines in the styles of several fields, each number labelled by hand."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from audit.numbers.scan import scan_text

FILES = sorted((Path(__file__).parent / "labelled").glob("*.tex"))
LABELS = re.compile(r"%= (.*)$")


def labels_of(line: str) -> list[tuple[str, str]]:
    """(text, class) of each label of a line; `@` stands for a blank."""
    found = LABELS.search(line)
    pairs = (label.split(":", 1) for label in found.group(1).split()) if found else ()
    return [(text.replace("@", " ").strip("$"), cls) for cls, text in pairs]


def count_confusions() -> Counter[tuple[str, str]]:
    """(labelled class, given class) over all files; MISSING and EXTRA stand for no partner."""
    confusions: Counter[tuple[str, str]] = Counter()
    for file in FILES:
        scan = scan_text(file.read_text(encoding="utf-8"), file.name, preamble=False)
        given: dict[int, list[tuple[str, str]]] = {}
        for number in scan.numbers:
            line = scan.reading.lines.place(number.literal.source_start)[0]
            given.setdefault(line, []).append((number.literal.text.strip("$"), number.cls))
        for line, text in enumerate(scan.reading.source.splitlines(), start=1):
            compare_line(labels_of(text), given.get(line, []), confusions)
    return confusions


def compare_line(wanted: list[tuple[str, str]], given: list[tuple[str, str]], confusions: Counter[tuple[str, str]]) -> None:
    """Pair the labels of a line with what was found there."""
    left = list(given)
    for text, cls in wanted:
        partner = (text, cls) if (text, cls) in left else next((found for found in left if found[0] == text), None)
        confusions[cls, partner[1] if partner else "MISSING"] += 1
        if partner:
            left.remove(partner)
    for _, cls in left:
        confusions["EXTRA", cls] += 1


CONFUSIONS = count_confusions()


def share(cls: str, given: str) -> float:
    total = sum(count for (wanted, _), count in CONFUSIONS.items() if wanted == cls)
    return CONFUSIONS[cls, given] / total


def test_the_set_is_large_enough() -> None:
    """At least 450 labelled lines and 1,200 labelled numbers."""
    lines = [line for file in FILES for line in file.read_text(encoding="utf-8").splitlines() if LABELS.search(line)]
    assert len(lines) >= 450
    assert sum(count for (wanted, _), count in CONFUSIONS.items() if wanted != "EXTRA") >= 1200


def test_results_are_found() -> None:
    """Recall of results is at least 0.95."""
    assert share("result", "result") >= 0.95


@pytest.mark.parametrize(("cls", "most"), [("layout", 0.0), ("mathematics", 0.03), ("reference", 0.10), ("design", 0.25)])
def test_other_classes_are_left_alone(cls: str, most: float) -> None:
    """Layout is never flagged; mathematics, references and design constants seldom."""
    assert share(cls, "result") <= most


def test_findings_are_mostly_results() -> None:
    """Precision of findings is at least 0.9."""
    flagged = sum(count for (_, given), count in CONFUSIONS.items() if given == "result")
    assert CONFUSIONS["result", "result"] / flagged >= 0.9


def test_measure_can_fail() -> None:
    """A line whose label is wrong counts as a confusion."""
    confusions: Counter[tuple[str, str]] = Counter()
    compare_line([("0.5", "layout")], [("0.5", "result"), ("7", "result")], confusions)
    assert confusions == {("layout", "result"): 1, ("EXTRA", "result"): 1}
