"""The stack of frames under the reader: what encloses the token at hand, where text goes, and what stays unread."""

from __future__ import annotations

from audit.numbers.lexer import Lines
from audit.numbers.stream import SCRIPT_END, Frame, Reading, Unread

__all__ = ["Stack"]


class Stack:
    """Frames over one source, innermost on top."""

    def __init__(self, source: str, preamble: bool):
        self.source = source
        self.reading = Reading(source, Lines(source))
        self.root = self.top = Frame("root", "", 0, preamble=preamble)
        self.seen_to = 0

    def finish(self) -> None:
        """At the end of the file: what is still open is said."""
        while self.top.parent is not None:
            if self.top.kind not in ("document",):
                self.mark_unread(self.top.start, len(self.source), f"{self.top.describe()} is open at the end of the file")
            self.pop()
        rest = self.source[self.seen_to :]
        if rest.strip():
            self.pass_over(len(self.source) - len(rest.lstrip()), len(self.source), "after the end of the document or of its input")

    def pass_over(self, start: int, end: int, why: str) -> None:
        """Remember what TeX never typesets."""
        place = self.reading.lines.place
        self.reading.passed.append(Unread(place(start)[0], place(max(start, end - 1))[0], why))

    def push(self, kind: str, name: str, start: int, *, opaque: str = "", math: str | None = None, script: bool = False) -> Frame:
        above = self.top
        inside = above.inside | {name} if name and name not in above.inside else above.inside
        self.top = Frame(
            kind, name, start, above, above.opaque or opaque, above.math if math is None else math, above.script or script,
            above.preamble, inside, self.reading.main.length,
        )  # fmt: skip
        return self.top

    def pop(self) -> None:
        closed = self.top
        if closed.parent is None:
            return
        self.top = closed.parent
        if closed.math and not self.top.math:
            self.reading.formulas.append((closed.begun, self.reading.main.length, closed.math))
        if closed.script and not self.top.script:
            self.emit(SCRIPT_END, closed.start, 0)

    def emit(self, text: str, start: int, width: int | None = None) -> None:
        stream = self.reading.aside if self.top.opaque else self.reading.main
        stream.add(text, start, len(text) if width is None else width, self.top)

    def mark_unread(self, start: int, end: int, why: str) -> None:
        place = self.reading.lines.place
        self.reading.unread.append(Unread(place(start)[0], place(max(start, end - 1))[0], why))

    def close_to(self, target: Frame, end: int) -> None:
        """Close everything that stands open inside a frame, and say so."""
        while self.top is not target and self.top.parent is not None:
            self.mark_unread(self.top.start, end, f"{self.top.describe()} is not closed where {target.describe()} ends")
            self.pop()

    def find(self, kinds: tuple[str, ...], name: str | None = None) -> Frame | None:
        frame: Frame | None = self.top
        while frame is not None and not (frame.kind in kinds and (name is None or frame.name == name)):
            frame = frame.parent
        return frame
