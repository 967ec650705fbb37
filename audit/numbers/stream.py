"""What the reader produces: text with its context and its places in the source."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from audit.numbers.lexer import Lines

__all__ = ["ARGUMENT", "BODIES", "CELL", "CITE", "MACRO", "NUMERIC_COMMA", "REF", "ROW", "SEAM", "SCRIPT_END", "VALUE", "Frame", "Reading", "Stream", "Unread"]

CITE, REF, VALUE, MACRO, SEAM, CELL, ROW, ARGUMENT = (chr(0xE000 + number) for number in range(8))
"""What stands in the text for a citation, a reference, a bound value, a parameter, a seam (footnote, caption), the end of a
cell and of a row, the border of a macro's argument."""
NUMERIC_COMMA = "\ufe50"
"""`{,}`: a comma inside a number, whatever it separates."""
SCRIPT_END = "\u200b"


TITLES = frozenset({"title", "author"})
BODIES = frozenset("ifverdict claim def gdef edef xdef newcommand renewcommand providecommand newcommand* renewcommand* DeclareRobustCommand".split()) | {
    "newenvironment", "renewenvironment", "NewDocumentCommand", "newsavebox", "hypersetup", "texorpdfstring"
}  # fmt: skip
"""Commands whose arguments LaTeX typesets not at all, or elsewhere and any number of times."""


@dataclass(slots=True, eq=False)
class Frame:
    """What encloses a stretch of text: a group, an argument, an environment, a formula."""

    kind: str
    name: str
    start: int
    parent: Frame | None = None
    opaque: str = ""
    """The class of everything inside, where the frame alone decides it."""
    math: str = ""
    """`inline`, `display` or nothing."""
    script: bool = False
    preamble: bool = False
    inside: frozenset[str] = frozenset()
    """Names of all commands and environments around."""
    begun: int = 0
    """Position in the main stream where it opened."""
    rest: str = ""
    """Arguments of the same command that are still to come."""
    rest_class: str = ""

    @property
    def need_not_print(self) -> bool:
        """Whether LaTeX may pass over what stands here: a branch, a definition, an option, the preamble outside titles."""
        return bool(self.opaque or self.kind == "option" or self.inside & BODIES or (self.preamble and not self.inside & TITLES))

    def describe(self) -> str:
        """The frame as a reader of the source would call it."""
        named = {"environment": f"environment {self.name}", "argument": f"an argument of \\{self.name}", "option": f"an option of \\{self.name}"}
        return named.get(self.kind, "a formula" if self.kind.startswith("math") else "a group")


@dataclass(slots=True)
class Unread:
    """Lines whose context could not be read, and why."""

    first: int
    last: int
    why: str


@dataclass(slots=True)
class Stream:
    """Text with its places: pieces joined, each with its offset in the source and its frame."""

    pieces: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    length: int = 0

    def add(self, text: str, source: int, width: int, frame: Frame) -> None:
        """Append a piece that stands at `source` and takes `width` characters there."""
        if text:
            self.pieces.append(text)
            self.starts.append(self.length)
            self.sources.append(source)
            self.widths.append(width)
            self.frames.append(frame)
            self.length += len(text)

    def text(self) -> str:
        return "".join(self.pieces)

    def source(self, position: int) -> int:
        """The source offset of a character."""
        index = bisect_right(self.starts, position) - 1
        same = self.widths[index] == len(self.pieces[index])
        return self.sources[index] + (position - self.starts[index] if same else 0)

    def source_end(self, position: int) -> int:
        """The source offset just after a character."""
        index = bisect_right(self.starts, position) - 1
        same = self.widths[index] == len(self.pieces[index])
        return self.sources[index] + (position - self.starts[index] + 1 if same else self.widths[index])

    def frame(self, position: int) -> Frame:
        return self.frames[bisect_right(self.starts, position) - 1]


@dataclass(slots=True)
class Reading:
    """One file as a reader sees it: prose and formulas in `main`, arguments without prose in `aside`."""

    source: str
    lines: Lines
    main: Stream = field(default_factory=Stream)
    aside: Stream = field(default_factory=Stream)
    formulas: list[tuple[int, int, str]] = field(default_factory=list)
    """Start, end in `main`, and kind of each formula."""
    uses: list[tuple[str, str, str, int, bool]] = field(default_factory=list)
    """Command, option, argument and place of each of our macros, and whether LaTeX may print it again (captions, titles)."""
    optional: set[int] = field(default_factory=set)
    """Places of those uses that LaTeX need not typeset."""
    inputs: list[tuple[str, str, int, bool]] = field(default_factory=list)
    """Command, argument, place, and whether in the preamble, of each included file."""
    commands: list[tuple[str, int]] = field(default_factory=list)
    """Every command that is executed, with its place."""
    named: list[tuple[str, int]] = field(default_factory=list)
    """Commands that stand as another's argument without braces (`\\def\\x`, `\\setlength\\parskip`)."""
    passed: list[Unread] = field(default_factory=list)
    """Lines that TeX never typesets: dead branches, what follows the end of the document."""
    sections: list[tuple[int, str, int]] = field(default_factory=list)
    """Where in `main` a section begins, its title and its rank (0 the highest)."""
    headers: dict[int, list[str]] = field(default_factory=dict)
    """Cells of the last header row of each table, by where it begins in `main`."""
    unread: list[Unread] = field(default_factory=list)
