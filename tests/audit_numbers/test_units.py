"""The word behind a cited value: another unit than its quantity's is a note, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from paper_project import Paper, main_record, quantity

from audit.finding import Severity

OTHER = {
    "seconds for nats": "\\val{main.untreated.gap} seconds",
    "with a tie": "\\val{main.untreated.gap}~bits",
    "abbreviated": "\\val[fixed.2]{main.untreated.gap}\\,ms",
    "hyphened": "a \\val[max]{main.took}-hour run",
}
SAME = {
    "its own": "\\val{main.untreated.gap} nats and \\val{main.untreated.gap} nat",
    "abbreviated": "\\val{main.took}\\,s, \\val{main.took} sec, \\val{main.took} seconds",
    "no unit of its own": "\\val{main.untreated.share} seconds",
    "no unit behind": "\\val{main.untreated.gap} above, \\val{main.untreated.gap}, steps; \\val{main.untreated.gap}",
    "a range": "\\val[min]{main.took}--\\val[max]{main.took} seconds",
    "how many units": "\\val[n]{main.took} epochs",
    "a compound unit": "\\val{main.rate} nats per token",
    "a mistyped key, which is another finding": "\\val{main.untreated.gpa} seconds",
    "another sentence": "It is \\val{main.untreated.gap}. Seconds later",
    "a footnote between": "\\val{main.untreated.gap}\\footnote{Seconds count.}",
}


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    made = Paper(tmp_path)
    more = {"took": quantity(3.5, 1, unit="s", values=[3.0, 4.0]), "rate": quantity(0.5, 1, unit="nats/token")}
    made.record("results/analyse/main.json", main_record() | more)
    return made


def found(paper: Paper, sentence: str) -> list[Severity]:
    """How each note about a unit weighs, once the sentence stands in the document."""
    paper.replace("manuscript/paper.tex", "\\end{document}", f"{sentence}.\n\\end{{document}}")
    return [finding.severity for finding in paper.report().findings if finding.code == "A419"]


@pytest.mark.parametrize("sentence", OTHER.values(), ids=OTHER)
def test_another_unit_is_a_note(paper: Paper, sentence: str) -> None:
    """One for the value, and the exit code stays."""
    assert found(paper, sentence) == [Severity.NOTE]


@pytest.mark.parametrize("sentence", SAME.values(), ids=SAME)
def test_anything_else_is_silent(paper: Paper, sentence: str) -> None:
    """Its own unit in any spelling, no unit, or words further on."""
    assert found(paper, sentence) == []
