"""Alignment: what LaTeX says it typeset, and the rows of generated tables, against the words that stand in the PDF."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from audit.layer import Page, Word, skeleton
from audit.marks import Mark
from audit.numbers.stream import NUMERIC_COMMA, VALUE

__all__ = ["Alignment", "Token", "align", "align_rows", "number_tokens", "printed_skeleton", "split_tokens"]

NUMBER = re.compile(r"\d{1,3}(?:[,\u2009\u00a0]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)+|\.\d+|\d+")
VERDICTS = r"(?<![A-Za-z])(?:met|missed|undecided|confirmatory|exploratory|broken)(?![A-Za-z])"
ROW_TOKEN = re.compile(f"{NUMBER.pattern}|{VERDICTS}")
EXPONENT = re.compile(r"(?<=\d)e([+-]?\d+)(?!\w)")
SMALLEST = 2.5
"""Height of a line, in points, below which nobody reads it."""
SLACK = 2.0
AWAY = 2.5
"""How far to the right of its mark, in heights, a value may begin: the space before a relation stands between."""
LATEX = re.compile(r"\\[A-Za-z]+\s?(?:\{\})?|[{}]")


def number_tokens(text: str) -> list[str]:
    """The numbers of a text without signs or separators between thousands."""
    return [plain(match.group()) for match in NUMBER.finditer(text.replace(NUMERIC_COMMA, ","))]


def plain(token: str) -> str:
    return re.sub(r"[,\u2009\u00a0]", "", token)


def printed_skeleton(text: str, form: str) -> str:
    """What of a printed form can be found in a PDF: `4.8e-9` is set as 4.8 x 10 to the minus 9."""
    shown = LATEX.sub("", text) if form == "prov" else EXPONENT.sub(r"10\1", text)
    return skeleton(re.sub("-+", "-", shown))


@dataclass(frozen=True)
class Token:
    """A number (or a verdict) in a text: its plain form and its place."""

    text: str
    page: int
    start: int
    end: int


@dataclass
class Alignment:
    """Which words of the pages are accounted for, and which marks found no text."""

    pages: list[Page]
    covered: list[bytearray] = field(default_factory=list)
    """One byte a character of each page's text: 1 where a mark or a generated row stands."""
    bare: list[tuple[Mark, str]] = field(default_factory=list)
    """Marks whose text is not at their place, and what stands there."""
    tiny: list[Mark] = field(default_factory=list)
    """Marks whose text nobody can read for its size."""

    def blanked(self, page: Page) -> str:
        """A page's text with what is accounted for blanked out."""
        covered = self.covered[page.number - 1]
        return "".join(VALUE if taken else character for character, taken in zip(page.text, covered, strict=True))

    def tokens(self, pattern: re.Pattern[str] = NUMBER) -> Iterator[Token]:
        """The numbers that nothing accounts for yet, in the order in which they were drawn."""
        for page in self.pages:
            for match in pattern.finditer(self.blanked(page)):
                yield Token(plain(match.group()), page.number, *match.span())

    def cover(self, page: int, start: int, end: int) -> None:
        self.covered[page - 1][start:end] = b"\1" * (end - start)


def align(pages: list[Page], marks: Sequence[tuple[Mark, str]]) -> Alignment:
    """Find the text of each mark, given with what it must print, at its place; else, in order, between its neighbours (boxes may be scaled)."""
    found = Alignment(pages, [bytearray(len(page.text)) for page in pages])
    for page in pages:
        here = [(mark, wanted) for mark, wanted in marks if mark.page == page.number]
        spans = [find_at(page, mark, wanted) for mark, wanted in here]
        for index, (mark, wanted) in enumerate(here):
            if spans[index] is None:
                spans[index] = find_between(page, wanted, spans, index)
            settle(found, page, mark, wanted, spans[index])
    found.bare += [(mark, "no such page") for mark, _ in marks if mark.page > len(pages) or mark.page < 1]
    return found


def settle(found: Alignment, page: Page, mark: Mark, wanted: str, span: tuple[int, int] | None) -> None:
    """Note what was found for one mark."""
    if span is None:
        found.bare.append((mark, standing(page, mark)))
        return
    if not wanted:
        return
    place = places_of(page)
    for offset in range(*span):
        found.covered[page.number - 1][place[offset]] = 1
    if max(page.words[index].height for index in {page.word_at(span[0]), page.word_at(span[1] - 1)}) < SMALLEST:
        found.tiny.append(mark)


def places_of(page: Page) -> list[int]:
    """For each character of a page's skeleton its place in the page's text."""
    if "_places" not in page.__dict__:
        places: list[int] = []
        for start, word, bones in zip(page.starts, page.words, page.skeletons, strict=True):
            if bones == word.text:
                places += range(start, start + len(bones))
            else:
                places += (start + at for at, letter in enumerate(word.text) for _ in skeleton(letter))
        page.__dict__["_places"] = places
    found: list[int] = page.__dict__["_places"]
    return found


def find_at(page: Page, mark: Mark, wanted: str) -> tuple[int, int] | None:
    """Where in the page's skeleton a mark's text stands, if it stands where LaTeX put it."""
    if mark.form == "choice":
        return (0, 0) if begins_near(page, mark, wanted) else None
    if not wanted:
        return (0, 0)
    for index in words_near(page, mark, AWAY):
        for offset in offsets_in(page.words[index], page.skeletons[index], mark.x, wanted[0]):
            end = consume(page, page.offsets[index] + offset, wanted)
            if end is not None:
                return page.offsets[index] + offset, end
    return None


def begins_near(page: Page, mark: Mark, wanted: str) -> bool:
    """Whether one of the beginnings (`a|b`) of a chosen sentence stands near its mark, which may lie above the paragraph that it opens."""
    beginnings = wanted.split("|")
    below = [i for i, word in enumerate(page.words) if -SLACK <= word.bottom - (page.height - mark.y) < 40 and abs(word.left - mark.x) < 60]
    near = [*words_near(page, mark, AWAY), *below]
    return "" in beginnings or any(consume(page, page.offsets[index], one) is not None for index in near for one in beginnings)


def words_near(page: Page, mark: Mark, away: float) -> list[int]:
    """The words that hold a mark's place, or begin behind it on the same line, the nearest first."""
    line, found = page.height - mark.y, []
    for index, word in enumerate(page.words):
        if word.top - SLACK <= line <= word.bottom + SLACK and word.left - away * max(word.height, 4) <= mark.x <= word.right + 0.5 and page.skeletons[index]:
            found.append((max(0.0, word.left - mark.x), abs(word.bottom - line), index))
    return [index for *_, index in sorted(found)]


def offsets_in(word: Word, bones: str, x: float, first: str) -> Iterator[int]:
    """Where in a word's skeleton a text may begin whose place is `x`, the nearest first."""
    if x <= word.left + 1:
        yield 0
        return
    width = (word.right - word.left) / max(len(word.text), 1)
    shift = len(word.text) - len(word.text.lstrip("([{\u201c\"'~<>=\u2248\u2264\u2265|$"))
    guesses = [at for at, letter in enumerate(bones) if letter == first and abs(word.left + (at + shift) * width - x) <= 2 * width + 1]
    yield from sorted(guesses, key=lambda at: abs(word.left + (at + shift) * width - x))


def consume(page: Page, start: int, wanted: str) -> int | None:
    """The end of a text that begins at a place of the skeleton; hyphens at line ends are passed over."""
    bones = page.skeleton
    if bones.startswith(wanted, start):
        return start + len(wanted)
    at = start
    for letter in wanted:
        while at < len(bones) and bones[at] != letter and bones[at] == "-" and page.word_at(at) != page.word_at(at + 1):
            at += 1
        if at >= len(bones) or bones[at] != letter:
            return None
        at += 1
    return at


def find_between(page: Page, wanted: str, spans: Sequence[tuple[int, int] | None], index: int) -> tuple[int, int] | None:
    """A mark's text between those of the nearest marks before and after that were found; where it stands with digits of its own only."""
    low = next((span[1] for span in reversed(spans[:index]) if span and span[1]), 0)
    high = next((span[0] for span in spans[index + 1 :] if span and span[1]), len(page.skeleton))
    if not wanted or "|" in wanted:
        return None if wanted else (0, 0)
    pattern = re.compile(rf"(?<![\d.]){re.escape(wanted)}(?!\d)" if wanted[-1].isdigit() else re.escape(wanted))
    match = pattern.search(page.skeleton, low, high) or re.compile(re.escape(wanted)).search(page.skeleton, low, high)
    return match.span() if match and page.word_at(match.start()) in starting(page, match.start()) else None


def starting(page: Page, offset: int) -> tuple[int, ...]:
    """The word that a place of the skeleton lies in, where it begins a number or a word there."""
    index = page.word_at(offset)
    before = page.skeleton[offset - 1 : offset] if offset > page.offsets[index] else ""
    return () if before.isalnum() else (index,)


def standing(page: Page, mark: Mark) -> str:
    """What stands at a mark's place, for the reader of a finding."""
    near = words_near(page, mark, AWAY)[:1]
    if not near:
        return "nothing there"
    return " ".join(word.text for word in page.words[near[0] : near[0] + 3])


def split_tokens(text: str) -> tuple[str, ...]:
    """The numbers and verdicts of a row of a generated table, in order."""
    return tuple(plain(match.group()) for match in ROW_TOKEN.finditer(text.replace(NUMERIC_COMMA, ",")))


def align_rows(found: Alignment, rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Account for the rows of one generated table, each a run of numbers and verdicts; the rows that stand nowhere."""
    tokens = list(found.tokens(ROW_TOKEN))
    texts, taken, lost, near = [token.text for token in tokens], bytearray(len(tokens)), [], None
    index: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        index.setdefault(text, []).append(place)
    for row in sorted(rows, key=len, reverse=True):
        runs = [run for place in index.get(row[0], ()) if (run := run_from(texts, taken, place, row))]
        if not runs:
            lost.append(row)
            continue
        centre = near if near is not None else runs[0][0]
        run = min(runs, key=lambda run: (run[-1] - run[0], abs(run[0] - centre)))
        near = run[0] if near is None else near
        for place in run:
            taken[place] = 1
            found.cover(tokens[place].page, tokens[place].start, tokens[place].end)
    return lost


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

