"""Rows of generated tables, which no macro marks: each must stand in the PDF whole, or as its run of numbers and verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from audit.alignment import NUMBER, Alignment, places_of, plain
from audit.layer import Page, skeleton
from audit.numbers.stream import NUMERIC_COMMA

__all__ = ["Row", "align_rows", "bones_of"]

VERDICTS = r"(?<![A-Za-z])(?:met|missed|undecided|confirmatory|exploratory|broken)(?![A-Za-z])"
ROW_TOKEN = re.compile(f"{NUMBER.pattern}|{VERDICTS}")
COMMAND = re.compile(r"\\[A-Za-z@]+")


@dataclass(frozen=True)
class Row:
    """A row of a generated table, or a stretch of text between two, as it must stand in the PDF."""

    bones: str
    """Its skeleton without hyphens."""
    tokens: tuple[str, ...]
    """Its numbers and verdicts."""
    sure: bool
    """Whether it holds no command of which only LaTeX knows what it prints."""

    @classmethod
    def of(cls, text: str) -> Row:
        """A row from what the reader makes of its source."""
        shown = COMMAND.sub("", text.replace(NUMERIC_COMMA, ","))
        tokens = tuple(plain(match.group()) for match in ROW_TOKEN.finditer(shown))
        return cls(skeleton(shown).replace("-", ""), tokens, shown == text.replace(NUMERIC_COMMA, ",") and not re.search("[\ue000-\ue003]", shown))


def align_rows(found: Alignment, rows: Iterable[Row]) -> list[Row]:
    """Account for the rows of one generated table, each whole, else by its run of numbers and verdicts; the rows that stand nowhere."""
    lost, late, placed, listed = [], [], {}, list(rows)
    for number in sorted(range(len(listed)), key=lambda number: len(listed[number].bones), reverse=True):
        row = listed[number]
        places = [place for page in found.pages for place in whole_places(found, page, row.bones)]
        if not places:
            (lost if row.sure else late).append(row)
            continue
        page, start, end = min(places, key=lambda place: disorder(placed, number, place)) if len(places) > 1 else places[0]
        placed[number] = page, start
        cover_bones(found, page, start, end)
    tokens = list(found.tokens(ROW_TOKEN)) if late else []
    texts, taken = [token.text for token in tokens], bytearray(len(tokens))
    for row in late:
        runs = [run for place, text in enumerate(texts) if text == row.tokens[0] and (run := run_from(texts, taken, place, row.tokens))]
        if not runs:
            lost.append(row)
        for place in min(runs, key=lambda run: run[-1] - run[0], default=[]):
            taken[place] = 1
            found.cover(tokens[place].page, tokens[place].start, tokens[place].end)
    return lost


def disorder(placed: Mapping[int, tuple[int, int]], number: int, place: tuple[int, int, int]) -> tuple[int, int, int]:
    """How many rows of the table, by their numbers, would stand on the wrong side of a row at a place, and how far that is from the first of them."""
    wrong = sum((other > number) == (at < place[:2]) for other, at in placed.items())
    page, start = next(iter(placed.values()), place[:2])
    return wrong, abs(place[0] - page), abs(place[1] - start)


def bones_of(page: Page) -> tuple[str, list[int]]:
    """A page's skeleton without hyphens, and where in its text each character stands."""
    if "_bones" not in page.__dict__:
        pairs = [(letter, place) for letter, place in zip(page.skeleton, places_of(page), strict=True) if letter != "-"]
        page.__dict__["_bones"] = "".join(letter for letter, _ in pairs), [place for _, place in pairs]
    found: tuple[str, list[int]] = page.__dict__["_bones"]
    return found


def whole_places(found: Alignment, page: Page, bones: str) -> Iterator[tuple[int, int, int]]:
    """(page, start, end) of each place where a row stands whole and nothing else was accounted for."""
    text, places = bones_of(page)
    at = text.find(bones)
    while at >= 0:
        if not any(found.covered[page.number - 1][place] for place in places[at : at + len(bones)]):
            yield page.number, at, at + len(bones)
        at = text.find(bones, at + 1)


def cover_bones(found: Alignment, page: int, start: int, end: int) -> None:
    for place in bones_of(found.pages[page - 1])[1][start:end]:
        found.covered[page - 1][place] = 1


def run_from(texts: list[str], taken: bytearray, start: int, row: tuple[str, ...]) -> list[int] | None:
    """Places of a row's tokens from `start` on; a note's mark may stand between two of them."""
    run, at = [], start
    for wanted in row:
        limit = min(len(texts), at + 3 if run else at + 1)
        while at < limit and (texts[at] != wanted or taken[at]):
            at += 1
        if at >= limit:
            return None
        run.append(at)
        at += 1
    return run

