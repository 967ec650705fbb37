"""The text layer of a PDF: words with their places, in the order in which they were drawn, and the text and numbers that they make."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from audit.finding import Refusal

__all__ = ["PACKAGES", "SLACK", "Page", "Word", "call_poppler", "extract_pages", "read_layers", "read_poppler", "skeleton"]

PACKAGES = "apt-get install --no-install-recommends texlive-latex-recommended texlive-science lmodern latexmk poppler-utils"
PAGE = re.compile(r'<page width="([\d.]+)" height="([\d.]+)">(.*?)</page>', re.DOTALL)
WORD = re.compile(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>')
KEPT = re.compile(r"[^A-Za-z0-9.,%-]+")
SIGNS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2014": "-", "\u2010": "-", "\u2011": "-", "\u00ad": "-", "\x15": "-", "\x16": "-", "\u00d7": "", "\u00b7": ""})
"""Signs as they are compared; U+0015 and U+0016 are the dashes of a T1 font that names no characters."""
BAND, SLACK = 16, 2.0
GLUED, THIN = 0.1, 0.24
"""Up to which gap, in heights of the line, two words are one, or are held apart by a thin space."""


@dataclass(slots=True)
class Word:
    """One word of a page: its text and its box, in points from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        return self.bottom - self.top


@lru_cache(maxsize=4096)
def skeleton(text: str) -> str:
    """Letters, digits, points, commas, percent signs and hyphens of a text: what can be compared however it was set."""
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFKD", text.translate(SIGNS)).translate(SIGNS)
    return KEPT.sub("", text)


@dataclass
class Page:
    """One page: its words in the order in which they were drawn."""

    number: int
    width: float
    height: float
    words: list[Word] = field(default_factory=list)

    @cached_property
    def gaps(self) -> list[str]:
        """What stands before each word: nothing, a thin space, a space, `^` where it is raised or lowered, a line end."""
        return [gap_between(before, after) if before else "" for before, after in zip([None, *self.words], self.words, strict=False)]

    @cached_property
    def text(self) -> str:
        return "".join(gap + word.text for gap, word in zip(self.gaps, self.words, strict=True))

    @cached_property
    def starts(self) -> list[int]:
        """Where in the text each word begins."""
        found, at = [], 0
        for gap, word in zip(self.gaps, self.words, strict=True):
            found.append(at + len(gap))
            at += len(gap) + len(word.text)
        return found

    @cached_property
    def skeletons(self) -> list[str]:
        return [skeleton(word.text) for word in self.words]

    @cached_property
    def skeleton(self) -> str:
        return "".join(self.skeletons)

    @cached_property
    def offsets(self) -> list[int]:
        """Where in the skeleton each word begins."""
        found, at = [], 0
        for part in self.skeletons:
            found.append(at)
            at += len(part)
        return found

    @cached_property
    def bands(self) -> dict[int, list[int]]:
        """The words with a skeleton by the bands of the page, `BAND` points high, that they reach into."""
        found: dict[int, list[int]] = {}
        for index, (word, bones) in enumerate(zip(self.words, self.skeletons, strict=True)):
            for band in range(int((word.top - SLACK) // BAND), int((word.bottom + SLACK) // BAND) + 1) if bones else ():
                found.setdefault(band, []).append(index)
        return found

    def on_line(self, line: float) -> list[int]:
        """The words with a skeleton that stand on a line, given by its distance from the upper edge."""
        near = self.bands.get(int(line // BAND), ())
        return [index for index in near if self.words[index].top - SLACK <= line <= self.words[index].bottom + SLACK]

    def word_at(self, offset: int) -> int:
        """The index of the word that a place of the skeleton lies in."""
        return bisect_right(self.offsets, offset) - 1

    def word_of(self, position: int) -> int:
        """The index of the word that a place of the text lies in."""
        return bisect_right(self.starts, position) - 1


def gap_between(before: Word, after: Word) -> str:
    """How two words that were drawn one after the other are held apart."""
    size, small = max(before.height, after.height, 0.1), min(before.height, after.height)
    overlap = min(before.bottom, after.bottom) - max(before.top, after.top)
    gap = (after.left - before.right) / size
    if overlap < 0.3 * small or not -0.5 < gap < 40:
        return "\n"
    if gap < GLUED and small < 0.85 * size:
        return "^" if after.height < before.height else "\u200b"
    return "" if gap < GLUED else "\u2009" if gap < THIN else " "


def read_poppler(*command: str) -> bytes:
    """Run one of poppler's programs and return what it writes."""
    if shutil.which(command[0]) is None:
        raise Refusal(command[0], "is not installed", cure=PACKAGES)
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    if done.returncode:
        reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[0]
        raise Refusal(next(part for part in reversed(command) if part != "-"), "not readable as a PDF", observed=reason, cure="audit pdf")
    return done.stdout


def call_poppler(*command: str) -> str:
    """The same as text."""
    return read_poppler(*command).decode("utf-8", errors="replace")


def extract_pages(path: Path) -> list[Page]:
    """The pages of a PDF with their words."""
    shown = call_poppler("pdftotext", "-enc", "UTF-8", "-raw", "-bbox", str(path), "-")
    return [read_page(number, *match.groups()) for number, match in enumerate(PAGE.finditer(shown), start=1)]


def read_page(number: int, width: str, height: str, body: str) -> Page:
    """One page of what poppler prints."""
    words = [Word(float(left), float(top), float(right), float(bottom), html.unescape(text)) for left, top, right, bottom, text in WORD.findall(body)]
    return Page(number, float(width), float(height), words)


def read_layers(paths: Iterable[Path]) -> list[Future[list[Page]]]:
    """The text layers of several PDFs, read side by side while the caller goes on."""
    pool = ThreadPoolExecutor()
    layers = [pool.submit(extract_pages, path) for path in paths]
    pool.shutdown(wait=False)
    return layers
