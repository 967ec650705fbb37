"""Numbers in tables: which of them label a row or column, by the table's structure."""

from __future__ import annotations

import re

from audit.numbers.sight import Sight
from audit.numbers.stream import CELL, ROW, SEAM

__all__ = ["in_table", "is_heading", "row_of"]

TABLES = frozenset({"tabular", "tabular*", "tabularx", "tabulary", "longtable", "array", "tblr", "supertabular"})
RULE = re.compile(
    r"\\[\\A-Za-z]+\*?\s*(?:\[[^\]]*\])?(?:\s|%[^\n]*\n)*\\(?:c?midrule|hline|cline|specialrule|Xhline|endhead|endfirsthead)(?![A-Za-z])"
)
"""The end of a row with a rule below it."""
VALUE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
REACH = 2000


def in_table(sight: Sight) -> bool:
    return bool(sight.frame.inside & TABLES)


def row_of(sight: Sight) -> str:
    """The table row around the literal."""
    start = max(sight.text.rfind(ROW, 0, sight.literal.start), sight.literal.start - 400, 0)
    end = sight.text.find(ROW, sight.literal.end)
    return sight.text[start : end if end >= 0 else sight.literal.end + 400]


def is_heading(sight: Sight) -> bool:
    """A number in a header row, or an integer alone in the first column."""
    if not in_table(sight) or sight.frame.inside & {"caption", "footnote"} or sight.literal.stream != "main":
        return False
    return (not sight.literal.percent and in_header(sight)) or (sight.integer and labels_row(sight))


def labels_row(sight: Sight) -> bool:
    """Whether the literal stands alone in the first cell of its row, with other cells after it."""
    low = max(0, sight.literal.start - REACH)
    opened = sight.text.rfind(SEAM, low, sight.literal.start)
    column = max(sight.text.rfind(CELL, low, sight.literal.start), sight.text.rfind(ROW, low, sight.literal.start), opened)
    return sight.text[column] != CELL and sight.after.strip() == "" and sight.before.strip() == ""


def in_header(sight: Sight) -> bool:
    """Whether the literal's row is the first, closed by a rule, with rows below, and counts up: integers, or three decimals or more that rise."""
    opened, end = table_start(sight), sight.text.find(ROW, sight.literal.end)
    if end < 0 or ROW in sight.text[opened : sight.literal.start] or ROW not in sight.text[end + 1 : end + REACH]:
        return False
    if not RULE.match(sight.reading.source, sight.reading.main.source(end)):
        return False
    values = [float(value) for value in VALUE.findall(sight.text[opened:end])]
    return sight.integer or (len(values) > 2 and values == sorted(set(values)))


def table_start(sight: Sight) -> int:
    """Where in the text the table around the literal begins."""
    frame = sight.frame
    while frame.parent is not None and not (frame.kind == "environment" and frame.name in TABLES):
        frame = frame.parent
    return frame.begun
