"""Numbers in tables: which of them label a row or column, by the table's structure."""

from __future__ import annotations

import re

from audit.numbers.sight import Sight
from audit.numbers.stream import ARGUMENT, CELL, CITE, ROW, SEAM

__all__ = ["in_design_column", "in_table", "is_heading", "is_quoted_row", "stands_alone"]

TABLES = frozenset({"tabular", "tabular*", "tabularx", "tabulary", "longtable", "array", "tblr", "supertabular"})
RULE = re.compile(
    r"\\[\\A-Za-z]+\*?\s*(?:\[[^\]]*\])?(?:\s|%[^\n]*\n)*\\(?:c?midrule|hline|cline|specialrule|Xhline|endhead|endfirsthead)(?![A-Za-z])"
)
"""The end of a row with a rule below it."""
VALUE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
REACH = 2000
NAMED_STUDY = re.compile(rf"[A-Z][\w'-]+\s+(?:et\s+al\.?|and\s+[A-Z][\w'-]+|&\s*[A-Z][\w'-]+)[\s,.(]*{CITE}")
DESIGN_COLUMN = re.compile(
    r"[dDnNkKLmMT]|\\#.*|#.*|(?:.*\b)?(?:dim(?:ension)?s?\.?|(?:batch |hidden |input |image |model |window )?sizes?|(?:hyper)?param(?:eter)?s?\.?|layers|heads|depth|width|epochs|steps|runs|seeds|folds|features|resolution|classes|"
    r"threshold|bits|budget|no\.?|id|years?|dates?|versions?|learning rate|setting|default)\s*(?:\([^)]*\))?",
    re.IGNORECASE,
)
"""What heads a column of things that were chosen."""
CLUTTER = re.compile(rf"[{ARGUMENT}{SEAM}$\u200b]|\\\\[A-Za-z]+|\\s+")
BARE_VALUE = re.compile(r"[-\u2212+~≈<>(]*\s*\.?\d")
PARAMETERS = re.compile(r"\b(?:hyper-?)?parameters?\b|\bsettings?\b|\boptions?\b", re.IGNORECASE)
VALUES = re.compile(r"\s*(?:values?|settings?|defaults?|ranges?|choices?)\b", re.IGNORECASE)


def in_table(sight: Sight) -> bool:
    if sight.frame.inside & TABLES:
        return True
    return not sight.frame.math and (CELL in sight.text[sight.row[0] : sight.literal.start] or CELL in sight.text[sight.literal.end : sight.row[1]])


def row_of(sight: Sight) -> str:
    """The table row around the literal."""
    return sight.text[sight.row[0] : sight.row[1]]


def stands_alone(sight: Sight) -> bool:
    """Whether the literal is all that its cell holds."""
    frame = sight.frame
    if not frame.inside & TABLES or frame.inside & {"caption", "footnote"} or frame.math == "display" or frame.opaque:
        return False
    return sight.after.strip(" $\u200b") == "" and sight.before.strip(" $") == ""


def is_heading(sight: Sight) -> bool:
    """A number in a header row, or an integer alone in the first column."""
    if not sight.frame.inside & TABLES or sight.frame.inside & {"caption", "footnote"} or sight.literal.stream != "main":
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


def is_quoted_row(sight: Sight) -> bool:
    """Whether the row tells what a cited study found: its subject is cited, or a column names the source."""
    first, *cells = row_of(sight).split(CELL)
    return bool(NAMED_STUDY.search(first)) or any(CITE in cell for cell in cells) or CITE in first


def in_design_column(sight: Sight) -> bool:
    """Whether the head of the literal's column names something chosen, or the table lists parameters and their values."""
    if not in_table(sight) or sight.frame.inside & {"caption", "footnote"} or sight.literal.percent or sight.literal.stream != "main":
        return False
    cells = header_of(sight)
    start = max(sight.text.rfind(ROW, 0, sight.literal.start), table_start(sight))
    column = sight.text.count(CELL, start, sight.literal.start)
    if not 0 < column < len(cells) or sight.text.find(ROW, table_start(sight), sight.literal.start) < 0:
        return False
    if VALUES.match(cells[column]):
        return bool(PARAMETERS.search(" ".join(cells[:column])))
    return bool(DESIGN_COLUMN.fullmatch(cells[column]))


def header_of(sight: Sight) -> list[str]:
    """The cells of the last row before the first row that holds a number of its own."""
    opened = table_start(sight)
    if opened not in sight.reading.headers:
        header: list[str] = []
        for row in sight.text[opened : opened + REACH].split(ROW):
            cells = [CLUTTER.sub(" ", cell).strip() for cell in row.split(CELL)]
            if header and any(BARE_VALUE.match(cell) for cell in cells[1:]):
                break
            header = cells if len(cells) > 1 else header
        sight.reading.headers[opened] = header
    return sight.reading.headers[opened]
