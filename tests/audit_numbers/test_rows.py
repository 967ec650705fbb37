"""Rows of generated tables in the text of a page: each at its own place, though it reads like part of another table's row."""

from __future__ import annotations

import re

import pytest

from audit.alignment import Alignment
from audit.layer import Page, Word
from audit.rows import Row, align_rows

MACHINE = ["2 pure.paths.heads", "0.72 pure.hull.width", "5 pure.skip.depth", "1.33 pure.paths.over_half_of_all_heads"]
"""A table of values and keys, in its order."""
STATEMENTS = ["T17 counts pure.paths.one: 1.00 (pure.paths.heads: 2; pure.paths.heads_over: 1.33)", "T18 depth pure.paths.two: 0.91"]
"""Another table: `2; pure.paths.heads` has the skeleton of the first row above."""


def page_of(number: int, lines: list[str]) -> Page:
    """A page with these lines, one below the other."""
    words = [
        Word(50.0 + 6 * match.start(), 20.0 * line, 50.0 + 6 * match.end(), 20.0 * line + 10, match[0])
        for line, text in enumerate(lines, 1) for match in re.finditer(r"\S+", text)
    ]  # fmt: skip
    return Page(number, 600.0, 800.0, words)


def lay_out(*pages: list[str]) -> Alignment:
    """Pages of which nothing is accounted for."""
    made = [page_of(number, lines) for number, lines in enumerate(pages, 1)]
    return Alignment(made, [bytearray(len(page.text)) for page in made])


def lost(found: Alignment, lines: list[str]) -> list[Row]:
    """The rows of a table that stand nowhere."""
    return align_rows(found, map(Row.of, lines))


PLACES = {
    "before it on the same page": ([*STATEMENTS, *MACHINE],),
    "after it on the same page": ([*MACHINE, *STATEMENTS],),
    "after it": (MACHINE[:2], MACHINE[2:], STATEMENTS),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("first", [MACHINE, STATEMENTS])
def test_a_row_stands_among_the_rows_of_its_table(name, first):
    """Whichever table is looked for first, every row of both is found, and no number is left over."""
    found = lay_out(*PLACES[name])
    assert lost(found, first) == [] and lost(found, STATEMENTS if first is MACHINE else MACHINE) == []
    assert list(found.tokens()) == []


def test_a_row_is_looked_for_between_its_neighbours():
    """The longest row of a table stands on its last page, and nearer to that page than the first row's own place is another table's like text."""
    found = lay_out(MACHINE[:3], ["A page of text."], ["Another one."], STATEMENTS, [MACHINE[3]])
    assert lost(found, MACHINE) == [] and lost(found, STATEMENTS) == [] and list(found.tokens()) == []


def test_a_row_that_is_not_there_is_lost():
    """A changed digit, and a row that stands once and is wanted twice."""
    found = lay_out(MACHINE)
    assert [row.tokens for row in lost(found, [*MACHINE[:2], "6 pure.skip.depth", MACHINE[3]])] == [("6",)]
    assert [row.tokens for row in lost(lay_out(MACHINE), [*MACHINE, MACHINE[0]])] == [("2",)]


def test_a_page_is_read_again_only_where_more_is_accounted_for(monkeypatch):
    """Three pages are read once each; after a number of the second is accounted for, that page alone, and the number is gone."""
    found, read, blanked = lay_out(["1 and 22"], ["333 and 4.5"], ["6"]), [], Alignment.blanked
    monkeypatch.setattr(Alignment, "blanked", lambda self, page: read.append(page.number) or blanked(self, page))
    assert [token.text for token in found.tokens()] == [token.text for token in found.tokens()] == ["1", "22", "333", "4.5", "6"]
    assert read == [1, 2, 3]
    found.cover(2, 0, 3)
    assert [(token.text, token.page, token.start) for token in found.tokens()] == [("1", 1, 0), ("22", 1, 6), ("4.5", 2, 8), ("6", 3, 0)]
    assert read == [1, 2, 3, 2]
