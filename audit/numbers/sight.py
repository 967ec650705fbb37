"""What a rule sees of a literal: its frame, the text around it, its sentence, its formula."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from audit.numbers import cues
from audit.numbers.literals import SIUNITX, Literal
from audit.numbers.stream import ARGUMENT, CELL, CITE, ROW, SEAM, Reading

__all__ = ["Sight"]

SENTENCE_END = re.compile(rf"[.!?]['\")]*[\s\u00a0]+(?=[A-Z\\{CITE}{ARGUMENT}$])|\n\n|[{SEAM}{CELL}{ROW}]")
PLAIN_DIGITS = frozenset({"15", "25", "35", "75", "95", "99", "999", "125"})
REACH = 90
FORMULA_FILL = re.compile(rf"[\s\u2009%‰±∓×·≈<>≤≥=~+\-\u2212\u2013,;:()\[\]/→…°$£€{ARGUMENT}\u200b'|]|\\(?:%|pm|times)")


class Sight:
    """What a rule sees of a literal: its frame, the text around it, its sentence, its formula."""

    def __init__(self, reading: Reading, text: str, literal: Literal, formulas: list[int]):
        self.reading, self.text, self.literal, self.frame = reading, text, literal, literal.frame
        self.formula_starts = formulas

    @cached_property
    def before(self) -> str:
        """The text before, cut at the last seam."""
        window = self.text[max(0, self.literal.start - REACH) : self.literal.start]
        for seam in (SEAM, CELL, ROW, "\n\n"):
            window = window.rpartition(seam)[2]
        return window.replace("\n", " ").replace(ARGUMENT, "")

    @cached_property
    def after(self) -> str:
        """The text after, cut at the next seam."""
        window = self.text[self.literal.end : self.literal.end + REACH]
        for seam in (SEAM, CELL, ROW, "\n\n"):
            window = window.partition(seam)[0]
        return window.replace("\n", " ").replace(ARGUMENT, "")

    @cached_property
    def span(self) -> tuple[int, int]:
        """Start and end of the sentence in the stream."""
        low = max(0, self.literal.start - 400)
        ends = [match.end() for match in SENTENCE_END.finditer(self.text, low, self.literal.start + 1) if match.end() <= self.literal.start]
        after = SENTENCE_END.search(self.text, self.literal.end, self.literal.end + 400)
        return (ends[-1] if ends else low), (after.start() + 1 if after else min(len(self.text), self.literal.end + 400))

    @cached_property
    def row(self) -> tuple[int, int]:
        """Start and end of what lies between two ends of rows, seams or paragraphs."""
        low = max(0, self.literal.start - 400)
        starts = [self.text.rfind(mark, low, self.literal.start) for mark in (ROW, SEAM, "\n\n")]
        ends = [end for mark in (ROW, SEAM, "\n\n") if (end := self.text.find(mark, self.literal.end, self.literal.end + 400)) >= 0]
        return max(low, max(starts) + 1), min(ends, default=min(len(self.text), self.literal.end + 400))

    @cached_property
    def sentence(self) -> str:
        return self.text[self.span[0] : self.span[1]].replace("\n", " ").replace(ARGUMENT, "")

    @cached_property
    def lead(self) -> str:
        """The sentence up to the literal."""
        window = self.text[max(self.span[0], self.literal.start - REACH) : self.literal.start]
        return window.replace("\n", " ").replace(ARGUMENT, "")

    @cached_property
    def claims(self) -> bool:
        """Whether the sentence speaks of an outcome."""
        return bool(cues.CLAIM.search(self.sentence))

    @cached_property
    def formula(self) -> tuple[int, int, str] | None:
        """The formula around the literal."""
        index = bisect_right(self.formula_starts, self.literal.start) - 1
        for start, end, kind in reversed(self.reading.formulas[max(0, index - 3) : index + 1]):
            if start <= self.literal.start < end:
                return start, end, kind
        return None

    @cached_property
    def alone(self) -> bool:
        """Whether the formula holds numbers, signs and units and nothing else, so that it reads as prose."""
        if self.formula is None:
            return False
        start, end, _ = self.formula
        rest = re.sub(r"\d+(?:[.,\ufe50]\d+)*|\.\d+", "", self.text[start:end])
        rest = re.sub(r"10\^|\^[-\u2212+]?\u200b?", "", rest)
        rest = FORMULA_FILL.sub("", rest)
        return rest in ("", "\\sigma") or bool(re.fullmatch(rf"(?:{cues.UNIT}|pp|st|nd|rd|th|fold)(?:\^\u200b)?", rest))

    @cached_property
    def left(self) -> str:
        """The formula up to the literal."""
        start = self.formula[0] if self.formula else self.literal.start
        return self.text[max(start, self.literal.start - REACH) : self.literal.start].replace(ARGUMENT, "")

    @cached_property
    def right(self) -> str:
        """The formula from the literal on."""
        end = self.formula[1] if self.formula else self.literal.end
        return self.text[self.literal.end : min(end, self.literal.end + REACH)].replace(ARGUMENT, "")

    @cached_property
    def section(self) -> str:
        """`method`, `background` or nothing: what the title of the section around says it is about."""
        index = bisect_right(self.reading.sections, (self.literal.start, "\uffff")) - 1 if self.literal.stream == "main" else -1
        title = self.reading.sections[index][1] if index >= 0 else ""
        return "method" if cues.METHOD_TITLE.search(title) else "background" if cues.BACKGROUND_TITLE.search(title) else ""

    @cached_property
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

    @property
    def prose(self) -> bool:
        """Whether the literal reads as prose: outside formulas, or alone in one."""
        return not self.frame.math or self.alone or bool(self.frame.inside & SIUNITX)

    @property
    def integer(self) -> bool:
        return self.literal.kind == "integer"
