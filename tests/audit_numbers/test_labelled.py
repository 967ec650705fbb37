"""The development set: lines in the styles of several fields, each number labelled by hand; `-s` prints the table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.labelled import LABELS, compare_line, count_confusions, precision, share, table

FILES = sorted((Path(__file__).parent / "labelled").glob("*.tex"))
CONFUSIONS = count_confusions(FILES)


def test_the_set_is_large_enough() -> None:
    """At least 450 labelled lines and 1,200 labelled numbers."""
    lines = [line for file in FILES for line in file.read_text(encoding="utf-8").splitlines() if LABELS.search(line)]
    assert len(lines) >= 450
    assert sum(count for (wanted, _), count in CONFUSIONS.items() if wanted != "EXTRA") >= 1200


def test_results_are_found() -> None:
    """Recall of results is at least 0.95."""
    print("", *table(CONFUSIONS), sep="\n")
    assert share(CONFUSIONS, "result") >= 0.95


@pytest.mark.parametrize(("cls", "most"), [("layout", 0.0), ("mathematics", 0.03), ("reference", 0.10), ("design", 0.25)])
def test_other_classes_are_left_alone(cls: str, most: float) -> None:
    """Layout is never flagged; mathematics, references and design constants seldom."""
    assert share(CONFUSIONS, cls) <= most


def test_findings_are_mostly_results() -> None:
    """Precision of findings is at least 0.9."""
    assert precision(CONFUSIONS) >= 0.9


def test_measure_can_fail() -> None:
    """A line whose label is wrong counts as a confusion."""
    confusions: Counter[tuple[str, str]] = Counter()
    compare_line([("0.5", "layout")], [("0.5", "result"), ("7", "result")], confusions)
    assert confusions == {("layout", "result"): 1, ("EXTRA", "result"): 1}
    assert share(confusions, "layout") == 1 and precision(confusions) == 0
