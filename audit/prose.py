"""Sentences of a manuscript as a reader has them: the text around a use of our macros, with what the macros print."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property

from audit.numbers.scan import Scan
from audit.numbers.stream import ARGUMENT, CELL, CITE, MACRO, REF, ROW, SCRIPT_END, SEAM, VALUE, Frame

__all__ = ["Prose"]

END = re.compile(rf"[.!?]['\")]*[\s\u00a0]+(?=[A-Z\\$`({VALUE}{ARGUMENT}{CITE}])|\n\n|[{SEAM}{CELL}{ROW}]")
SILENT = str.maketrans(dict.fromkeys((ARGUMENT, MACRO, SEAM, SCRIPT_END, CELL, ROW), "") | {CITE: "…", REF: "…", "\u00a0": " ", "\u2009": " "})
BRANCHES = ("met", "missed", "undecided")


class Prose:
    """One file's text, cut into sentences."""

    def __init__(self, scan: Scan):
        self.scan, self.stream = scan, scan.reading.main
        self.offsets = [use[3] for use in scan.reading.uses]

    @cached_property
    def borders(self) -> list[int]:
        """Where sentences begin."""
        return [0, *(match.end() for match in END.finditer(self.stream.text())), self.stream.length]

    def sentence(self, offset: int) -> tuple[int, int]:
        """Start and end, in the text, of the sentence of the use whose argument opens at a place of the source."""
        piece = max(0, bisect_right(self.stream.sources, offset) - 1)
        if self.stream.pieces[piece] != VALUE and not self.stream.pieces[piece].startswith("\\"):
            piece = min(piece + 1, len(self.stream.pieces) - 1)
        begun = self.stream.starts[piece]
        index = bisect_right(self.borders, begun)
        return self.borders[index - 1], self.borders[min(index, len(self.borders) - 1)]

    def spell(self, start: int, end: int, prints: Callable[[int], str]) -> str:
        """A stretch as plain text; `prints` says what the use with a number (the first is 0) prints: a value, or the verdict that chooses a branch."""
        stream, shown = self.stream, []
        for index in range(max(0, bisect_right(stream.starts, start) - 1), bisect_right(stream.starts, end - 1)):
            piece, begun = stream.pieces[index], stream.starts[index]
            if not self.is_chosen(stream.frames[index], prints):
                continue
            if piece == VALUE:
                shown.append(prints(bisect_right(self.offsets, stream.sources[index])))
            elif not piece.startswith("\\"):
                shown.append(piece[max(0, start - begun) : end - begun])
        return " ".join("".join(shown).translate(SILENT).split())

    def is_chosen(self, frame: Frame, prints: Callable[[int], str]) -> bool:
        """Whether a piece stands in no `\\ifverdict`, or in the branch of its verdict."""
        at: Frame | None = frame
        while at is not None:
            if at.name == "ifverdict" and at.kind == "argument" and not at.opaque:
                branch, use = BRANCHES[2 - len(at.rest)], self.chooser(at)
                if not prints(use).startswith(branch):
                    return False
            at = at.parent
        return True

    def chooser(self, branch: Frame) -> int:
        """The number of the use that chooses a branch: the last `\\ifverdict` before it."""
        uses = self.scan.reading.uses
        return max(number for number, use in enumerate(uses) if use[0] == "ifverdict" and use[3] < branch.start)
