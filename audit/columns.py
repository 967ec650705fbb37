"""Columns of tables whose cells siunitx reads: where a value must stand as a bare number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.numbers.lexer import Token

__all__ = ["Tables"]

BEGIN = re.compile(r"\\begin\s*\{(tabular\*?|tabularx|tabulary|longtable|supertabular)\}\s*(?:\[[^\]]*\]\s*)?")
WIDE = frozenset({"tabular*", "tabularx", "tabulary"})
TABLES = WIDE | {"tabular", "longtable", "supertabular"}
SPAN = re.compile(r"\\multicolumn\s*\{\s*(\d+)\s*\}")
COLUMN = re.compile(r"\*\{(?P<times>\d+)\}(?=\{)|(?P<plain>[A-Za-z])\s*(?:\[[^\]]*\])?|(?P<other>[^{}])")


@dataclass
class Table:
    """A table that is open: its columns, at which depth of braces its cells stand, and the cell one is in."""

    columns: list[str]
    depth: int
    cell: int = 0
    spanned: bool = False


class Tables:
    """The tables that are open while one passes over the tokens of a source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.open: list[Table] = []

    def pass_by(self, token: Token, depth: int) -> None:
        """Take note of one token that stands under `depth` braces."""
        if token.kind == "begin" and (begun := BEGIN.match(self.source, token.start)):
            start = group_end(self.source, begun.end()) if begun[1] in WIDE else begun.end()
            start += len(self.source[start:]) - len(self.source[start:].lstrip())
            self.open.append(Table([*columns(self.source[start + 1 : group_end(self.source, start) - 1])], depth))
        elif token.kind == "end" and token.text in TABLES and self.open:
            self.open.pop()
        elif self.open and depth == self.open[-1].depth:
            self.move(self.open[-1], token)

    def move(self, table: Table, token: Token) -> None:
        """Go on to the next cell or row, over the columns that one cell spans."""
        if token.text in ("\\\\", "\\tabularnewline", "\\cr"):
            table.cell, table.spanned = 0, False
        elif token.text == "&":
            table.cell, table.spanned = table.cell + 1, False
        elif span := SPAN.match(self.source, token.start) if token.text == "\\multicolumn" else None:
            table.cell, table.spanned = table.cell + int(span[1]) - 1, True

    def is_number(self, depth: int) -> bool:
        """Whether siunitx reads what stands here: in a column S, outside braces."""
        table = self.open[-1] if self.open else None
        return table is not None and depth == table.depth and not table.spanned and table.columns[table.cell : table.cell + 1] == ["S"]


def group_end(source: str, start: int) -> int:
    """The offset behind the braces that open at `start`, or `start` where none do."""
    depth = 0
    for offset in range(start, len(source)):
        depth += (source[offset] == "{") - (source[offset] == "}")
        if depth == 0:
            return offset + 1 if offset > start else start
    return len(source)


def columns(text: str) -> Iterator[str]:
    """The letter of each column of a table's preamble, repeated ones as often as they stand there."""
    offset = 0
    while offset < len(text):
        match = COLUMN.match(text, offset)
        if match is None:
            offset = max(group_end(text, offset), offset + 1)
            continue
        offset = match.end()
        if match["times"]:
            end = group_end(text, offset)
            yield from int(match["times"]) * [*columns(text[offset + 1 : end - 1])]
            offset = end
        elif match["plain"]:
            yield match["plain"]
