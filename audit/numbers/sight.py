"""What a rule sees of a literal: its frame, the text around it, its sentence, its formula."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from audit.numbers import cues
from audit.numbers.literals import SIUNITX, Literal
from audit.numbers.stream import ARGUMENT, CELL, CITE, ROW, SEAM, Reading

__all__ = ["Page", "Sight"]

SENTENCE_END = re.compile(rf"[.!?]['\")]*[\s\u00a0]+(?=[A-Z\\{CITE}{ARGUMENT}$]|\([A-Za-z]\)\s)|(?<=[a-z]{{5}})(?<!approx)\.[\s\u00a0]+(?=\d)|\n\n|[{SEAM}{CELL}{ROW}]")
ASSIGNS = re.compile(r"[A-Za-z][^\w\s]{0,2}\s*[=<>≈≤≥]")
SOLAR = re.compile(r"[MRL]_\\(?:odot|oplus|sun|earth|star|ast)")
UNIT_MACRO = re.compile(r"\\(?!(?:alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega|infty|ell|hbar|partial|nabla|dots|prime|star|ast|log|ln|exp|mathbb|mathcal|mathrm|rm|text)\b)[A-Za-z]{3,}")
"""A unit by a command of the writer's own, set off from its number: `$29~\\kpc$`."""
LETTER_FIRST = re.compile(r"\s*[A-Za-z]")
PLAIN_DIGITS = frozenset({"15", "25", "35", "75", "95", "99", "999", "125"})
BEYOND = re.compile(r"^(?:[\s$]*(?:±|--?|\u2013|to|and|or|,)[\s$]*[-+]?\d+(?:\.\d+)?)+")
REACH, LONGEST = 90, 400
FORMULA_FILL = re.compile(rf"[\s\u2009%‰±∓×·≈<>≤≥=~+\-\u2212\u2013,;:()\[\]/→…°$£€{ARGUMENT}\u200b'|]|\\(?:%|pm|times)")


class Lazy:
    """A property that is found once; without the lock of `functools.cached_property`, which costs as much as a rule."""

    def __init__(self, find: Callable[[Any], Any]):
        self.find, self.name = find, find.__name__

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        found = owner.__dict__[self.name] = self.find(owner)
        return found


def kind_of_section(title: str) -> str:
    """What a section is about, by its title."""
    kinds = {"references": cues.LIST_TITLE, "method": cues.METHOD_TITLE, "background": cues.BACKGROUND_TITLE, "result": cues.RESULT_TITLE}
    return next((kind for kind, cue in kinds.items() if cue.search(title)), "")


def kinds_of_sections(reading: Reading) -> Iterator[str]:
    """What each section is about: by its own title, or by that of the section it is part of."""
    above: list[tuple[int, str]] = []
    for _, title, rank in reading.sections:
        while above and above[-1][0] >= rank:
            above.pop()
        kind, whole = kind_of_section(title), above[-1][1] if above else ""
        if kind == "method" and cues.FOUND_TITLE.search(title):
            kind = whole = ""  # `Methods and results`
        elif not kind or (kind == "background" and whole in ("method", "result")) or (kind == "result" and whole == "method" and not cues.FOUND_TITLE.search(title)):
            kind = whole
        above.append((rank, kind))
        yield kind


class Page:
    """One stream of a reading, with what the numbers of a sentence share."""

    def __init__(self, reading: Reading, text: str):
        self.reading, self.text = reading, text
        ends = [match.span() for match in SENTENCE_END.finditer(text)]
        self.stops, self.starts = [start for start, _ in ends], [end for _, end in ends]
        self.formulas = [start for start, _, _ in reading.formulas]
        self.sections, self.kinds = [start for start, _, _ in reading.sections], list(kinds_of_sections(reading))
        self.memo: dict[object, Any] = {}

    def once(self, question: object, find: Callable[[], Any]) -> Any:
        """The answer to a question, found once."""
        if question not in self.memo:
            self.memo[question] = find()
        return self.memo[question]


class Sight:
    """What a rule sees of a literal: its frame, the text around it, its sentence, its formula."""

    def __init__(self, page: Page, literal: Literal):
        self.page, self.reading, self.text, self.literal, self.frame = page, page.reading, page.text, literal, literal.frame

    @Lazy
    def before(self) -> str:
        """The text before, cut at the last seam."""
        window = self.text[max(0, self.literal.start - REACH) : self.literal.start]
        for seam in (SEAM, CELL, ROW, "\n\n"):
            window = window.rpartition(seam)[2]
        return window.replace("\n", " ").replace(ARGUMENT, "")

    @Lazy
    def after(self) -> str:
        """The text after, cut at the next seam."""
        window = self.text[self.literal.end : self.literal.end + REACH]
        for seam in (SEAM, CELL, ROW, "\n\n"):
            window = window.partition(seam)[0]
        return window.replace("\n", " ").replace(ARGUMENT, "")

    @Lazy
    def unit(self) -> str:
        """The text after, past the other end of a range and past an error: where the unit stands."""
        return BEYOND.sub("", self.after)

    @Lazy
    def span(self) -> tuple[int, int]:
        """Start and end of the sentence in the stream."""
        before, after = bisect_right(self.page.starts, self.literal.start) - 1, bisect_left(self.page.stops, self.literal.end)
        start = self.page.starts[before] if before >= 0 else 0
        end = self.page.stops[after] + 1 if after < len(self.page.stops) else len(self.text)
        return max(start, self.literal.start - LONGEST), min(end, self.literal.end + LONGEST)

    @Lazy
    def row(self) -> tuple[int, int]:
        """Start and end of what lies between two ends of rows, seams or paragraphs."""
        low = max(0, self.literal.start - 400)
        starts = [self.text.rfind(mark, low, self.literal.start) for mark in (ROW, SEAM, "\n\n")]
        ends = [end for mark in (ROW, SEAM, "\n\n") if (end := self.text.find(mark, self.literal.end, self.literal.end + 400)) >= 0]
        return max(low, max(starts) + 1), min(ends, default=min(len(self.text), self.literal.end + 400))

    @Lazy
    def sentence(self) -> str:
        return self.page.once(self.span, lambda: self.text[self.span[0] : self.span[1]].replace("\n", " ").replace(ARGUMENT, ""))

    def says(self, cue: cues.Cue) -> bool:
        """Whether the sentence holds a cue."""
        return self.page.once((cue, self.span), lambda: bool(cue.search(self.sentence)))

    @Lazy
    def lead(self) -> str:
        """The sentence up to the literal."""
        window = self.text[max(self.span[0], self.literal.start - REACH) : self.literal.start]
        return window.replace("\n", " ").replace(ARGUMENT, "")

    @Lazy
    def claims(self) -> bool:
        """Whether the sentence speaks of an outcome."""
        return self.says(cues.CLAIM) and self.page.once(("claims", self.span), lambda: bool(cues.CLAIM.search(cues.NO_CLAIM.strip(self.sentence))))

    @Lazy
    def formula(self) -> tuple[int, int, str] | None:
        """The formula around the literal."""
        index = bisect_right(self.page.formulas, self.literal.start) - 1
        for start, end, kind in reversed(self.reading.formulas[max(0, index - 3) : index + 1]):
            if start <= self.literal.start < end:
                return start, end, kind
        return None

    @Lazy
    def alone(self) -> bool:
        """Whether the formula holds numbers, signs and units and nothing else, so that it reads as prose."""
        if self.formula is None:
            return False
        start, end, _ = self.formula
        if end - start > LONGEST:
            return False
        if ASSIGNS.search(self.text[start:end]) or LETTER_FIRST.match(self.text, start, end):
            return False
        rest = re.sub(r"\d+(?:[.,\ufe50]\d+)*|\.\d+", "", self.text[start:end])
        rest = re.sub(r"10\^|\^[-\u2212+]?\u200b?", "", rest)
        rest = FORMULA_FILL.sub("", rest)
        if UNIT_MACRO.fullmatch(rest) and re.search(r"[\d)][\u2009\u00a0 ]+\\", self.text[start:end]):
            return True
        return rest in ("", "\\sigma") or bool(SOLAR.fullmatch(rest)) or bool(re.fullmatch(rf"(?:{cues.UNIT}|pp|st|nd|rd|th|fold)(?:\^\u200b)?", rest))

    @Lazy
    def left(self) -> str:
        """The formula up to the literal."""
        start = self.formula[0] if self.formula else self.literal.start
        return self.text[max(start, self.literal.start - REACH) : self.literal.start].replace(ARGUMENT, "")

    @Lazy
    def right(self) -> str:
        """The formula from the literal on."""
        end = self.formula[1] if self.formula else self.literal.end
        return self.text[self.literal.end : min(end, self.literal.end + REACH)].replace(ARGUMENT, "")

    @Lazy
    def section(self) -> str:
        """`references`, `method`, `background`, `result` or nothing: what the title of the section around says it is about."""
        index = bisect_right(self.page.sections, self.literal.start) - 1 if self.literal.stream == "main" else -1
        return self.page.kinds[index] if index >= 0 else ""

    @Lazy
    def round(self) -> bool:
        """Whether the number is one that people choose: at most two digits before its zeros, or a power of two."""
        digits = re.sub(r"\D", "", self.literal.plain)
        value = int(digits or 0)
        return len(digits.strip("0")) <= 2 or value & (value - 1) == 0

    @property
    def plain_decimal(self) -> bool:
        """Whether a decimal looks chosen: one digit besides zeros, or a quarter, or a level near one."""
        digits = re.sub(r"\D", "", self.literal.plain.partition("e")[0]).strip("0")
        return len(digits) <= 1 or digits in PLAIN_DIGITS

    @Lazy
    def prose(self) -> bool:
        """Whether the literal reads as prose: outside formulas, or alone in one."""
        return not self.frame.math or self.alone or bool(self.frame.inside & SIUNITX)

    @Lazy
    def integer(self) -> bool:
        return self.literal.kind == "integer"
