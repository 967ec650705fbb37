"""Alignment: what LaTeX says it typeset against the words that stand in the PDF."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from audit.ink import Box
from audit.layer import SLACK, Page, Word, skeleton
from audit.marks import Mark
from audit.numbers.stream import NUMERIC_COMMA, VALUE

__all__ = ["NUMBER", "Alignment", "Token", "align", "number_tokens", "places_of", "plain", "printed_skeleton"]

NUMBER = re.compile(r"\d{1,3}(?:[,\u2009\u00a0]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)+|\.\d+|\d+")
EXPONENT = re.compile(r"(?<=\d)e([+-]?\d+)(?!\w)")
SMALLEST = 2.5
"""Height of a line, in points, below which nobody reads it."""
MOST = 0.6
"""Which part of a letter's width and of a value's height another word must cover to hide it."""
AWAY = 2.5
"""How far to the right of its mark, in heights, a value may begin: the space before a relation stands between."""
GROUPED = re.compile(r"(?<=\d),(?=\d{3})")
"""The comma between thousands: a package may set none, a thin space, or one where we set none."""
THOUSANDS = re.compile(r"(?<=\d)(?=(?:\d{3})+(?!\d))")
LATEX = re.compile(r"\\[A-Za-z]+\s?(?:\{\})?|[{}]")
COVERED = re.compile(b"\1+")


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
    standing: list[tuple[Mark, list[Box]]] = field(default_factory=list)
    """Marks with the places of their text on the page."""
    tiny: list[Mark] = field(default_factory=list)
    """Marks whose text nobody can read for its size."""
    joined: list[Token] = field(default_factory=list)
    """Values that stand so close, or so close behind a point, that a reader takes them for another number."""
    _read: dict[tuple[int, re.Pattern[str]], tuple[bytes, list[Token]]] = field(default_factory=dict)
    """Page and pattern -> what was accounted for when the page was read last, and what was read."""

    def blanked(self, page: Page) -> str:
        """A page's text with what is accounted for blanked out."""
        pieces: list[str] = []
        at = 0
        for match in COVERED.finditer(self.covered[page.number - 1]):
            pieces += page.text[at : match.start()], VALUE * len(match.group())
            at = match.end()
        return "".join([*pieces, page.text[at:]])

    def tokens(self, pattern: re.Pattern[str] = NUMBER) -> Iterator[Token]:
        """The numbers that nothing accounts for yet, in the order in which they were drawn."""
        for page in self.pages:
            yield from self._tokens_of(page, pattern)

    def _tokens_of(self, page: Page, pattern: re.Pattern[str]) -> list[Token]:
        """Those of one page; it is read again where more is accounted for since."""
        covered = bytes(self.covered[page.number - 1])
        known = self._read.get((page.number, pattern))
        if known is None or known[0] != covered:
            found = [Token(plain(match.group()), page.number, *match.span()) for match in pattern.finditer(self.blanked(page))]
            known = self._read[page.number, pattern] = covered, found
        return known[1]

    def cover(self, page: int, start: int, end: int) -> None:
        self.covered[page - 1][start:end] = b"\1" * (end - start)


def align(pages: list[Page], marks: Sequence[tuple[Mark, str]], scaled: Callable[[Mark], bool] = lambda _: False) -> Alignment:
    """Find the text of each mark, given with what it must print, at its place; in order between its neighbours where LaTeX scaled or turned it."""
    found = Alignment(pages, [bytearray(len(page.text)) for page in pages])
    for page in pages:
        here = [(mark, wanted) for mark, wanted in marks if mark.page == page.number]
        spans = find_apart(page, here)
        for index, (mark, wanted) in enumerate(here):
            if spans[index] is None and (scaled(mark) or (is_on(page, mark) and not words_near(page, mark, AWAY))):
                spans[index] = find_between(page, wanted, spans, index)
            settle(found, page, mark, wanted, spans[index])
        found.joined += join(page, [(mark.y, span) for (mark, _), span in zip(here, spans, strict=True) if span and span[1] > span[0]])
    found.bare += [(mark, "no such page") for mark, _ in marks if mark.page > len(pages) or mark.page < 1]
    return found


def find_apart(page: Page, marks: Sequence[tuple[Mark, str]]) -> list[tuple[int, int] | None]:
    """Where each mark's text stands at its place; no two share a character."""
    spans: list[tuple[int, int] | None] = []
    taken: set[int] = set()
    for mark, wanted in marks:
        span = find_at(page, mark, wanted)
        spans.append(None if span is None or taken & {*range(*span)} else span)
        taken.update(range(*(spans[-1] or (0, 0))))
    return spans


def join(page: Page, spans: Sequence[tuple[float, tuple[int, int]]]) -> Iterator[Token]:
    """The numbers that a page makes of values on one baseline with nothing or only a point between them, and of one behind a point."""
    place, text = places_of(page), page.text
    values = sorted((place[start], place[end - 1] + 1, y) for y, (start, end) in spans)
    for (begun, end, line), (start, last, y) in pairwise([(0, 0, 0.0), *values]):
        if not text[start].isdigit():
            continue
        if end and abs(y - line) < 0.5 and text[end - 1].isdigit() and text[end:start] in ("", "."):
            yield Token(text[begun:last], page.number, begun, last)
        elif text[:start].endswith((" .", "\n.")):
            yield Token(text[start - 1 : last], page.number, start - 1, last)


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
    boxes, own = boxes_of(page, [place[offset] for offset in range(*span)]), {page.word_at(offset) for offset in (*range(*span), span[0])}
    found.standing.append((mark, boxes))
    if max(page.words[index].height for index in own) < SMALLEST or any(is_overprinted(page, box, own) for box in boxes):
        found.tiny.append(mark)


def is_overprinted(page: Page, box: Box, own: set[int]) -> bool:
    """Whether another word lies over most of a letter of a box."""
    _, left, top, right, bottom = box
    letter = min((right - left, *((word.right - word.left) / len(word.text) for index in own if (word := page.words[index]).text)))
    for index in page.on_line((top + bottom) / 2):
        word = page.words[index]
        wide, high = min(right, word.right) - max(left, word.left), min(bottom, word.bottom) - max(top, word.top)
        if index not in own and wide > MOST * letter and high > MOST * (bottom - top):
            return True
    return False


def boxes_of(page: Page, places: list[int]) -> list[Box]:
    """Where the characters of a text stand, one box a word, without what the word holds beside them."""
    boxes: list[Box] = []
    for index in sorted({page.word_of(place) for place in places}):
        word, start = page.words[index], page.starts[index]
        own = [place - start for place in places if start <= place < start + len(word.text)]
        if word.height > 2 * (word.right - word.left) and len(word.text) > 1:
            boxes.append((page.number, word.left, word.top, word.right, word.bottom))
            continue
        width = (word.right - word.left) / len(word.text)
        inset = 0.3 * width if len(own) < len(word.text) else 0
        boxes.append((page.number, word.left + min(own) * width + inset, word.top, word.left + (max(own) + 1) * width - inset, word.bottom))
    return boxes


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
            start = page.offsets[index] + offset
            end = consume(page, start, wanted) or consume(page, start, GROUPED.sub("", wanted), GROUPED)
            if end is not None:
                return start, end
    return None


def is_on(page: Page, mark: Mark) -> bool:
    """Whether a mark lies within the edges of its page."""
    return 0 <= mark.x <= page.width and 0 <= mark.y <= page.height


def begins_near(page: Page, mark: Mark, wanted: str) -> bool:
    """Whether one of the beginnings (`a|b`) of a chosen sentence stands near its mark, which may lie above the paragraph that it opens."""
    beginnings = wanted.split("|")
    below = [i for i, word in enumerate(page.words) if -SLACK <= word.bottom - (page.height - mark.y) < 40 and abs(word.left - mark.x) < 60]
    near = [*words_near(page, mark, AWAY), *below]
    return "" in beginnings or any(consume(page, page.offsets[index], one) is not None for index in near for one in beginnings)


def words_near(page: Page, mark: Mark, away: float) -> list[int]:
    """The words that hold a mark's place, else those that begin first behind it on the same line, the nearest first."""
    line, found = page.height - mark.y, []
    for index in page.on_line(line):
        word = page.words[index]
        if word.left - away * max(word.height, 4) <= mark.x < word.right - 0.3:
            found.append((max(0.0, word.left - mark.x), abs(word.bottom - line), index))
    first = min(found, default=(0.0, 0.0, 0))[0]
    return [index for distance, _, index in sorted(found) if distance <= first + SLACK]


def offsets_in(word: Word, bones: str, x: float, first: str) -> Iterator[int]:
    """Where in a word's skeleton a text may begin whose place is `x`, the nearest first."""
    if x <= word.left + 1:
        yield 0
        return
    width = (word.right - word.left) / max(len(word.text), 1)
    shift = len(word.text) - len(word.text.lstrip("([{\u201c\"'~<>=\u2248\u2264\u2265|$"))
    guesses = [at for at, letter in enumerate(bones) if letter == first and abs(word.left + (at + shift) * width - x) <= 2 * width + 1]
    yield from sorted(guesses, key=lambda at: abs(word.left + (at + shift) * width - x))


def consume(page: Page, start: int, wanted: str, between: re.Pattern[str] | None = None) -> int | None:
    """The end of a text that begins at a place of the skeleton; hyphens at line ends are passed over, and what may stand `between` its letters."""
    bones = page.skeleton
    if bones.startswith(wanted, start):
        return start + len(wanted)
    at = start
    for letter in wanted:
        at += bool(between and at > start and bones[at : at + 1] != letter and between.match(bones, at))
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
    loose = THOUSANDS.sub(",?", re.escape(GROUPED.sub("", wanted)))
    pattern = re.compile(rf"(?<![\d.]){loose}(?!\d)" if wanted[-1].isdigit() else loose)
    match = pattern.search(page.skeleton, low, high) or re.compile(loose).search(page.skeleton, low, high)
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
