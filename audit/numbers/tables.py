"""Numbers in tables: which of them label a row or column, by the table's structure."""

from __future__ import annotations

import re

from audit.numbers.sight import Sight
from audit.numbers.stream import ARGUMENT, CELL, CITE, ROW, SEAM

__all__ = ["in_design_column", "in_table", "is_heading", "is_quoted_row", "lists_parameters", "stands_alone"]

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
    r"threshold|bits|budget|chr(?:omosome)?\.?|lvl\.?|no\.?|id|years?|dates?|versions?|learning rate|(?:tested )?settings?|bounds|priors?(?: range)?|default|wavelength|revisit|cadence|sampling rate|frequency|code|latitude|longitude)\s*(?:\([^)]*\))?",
    re.IGNORECASE,
)
"""What heads a column of things that were chosen."""
CLUTTER = re.compile(rf"[{ARGUMENT}{SEAM}$\u200b]|\\[A-Za-z]+|\\s+")
BARE_VALUE = re.compile(r"[-\u2212+~≈<>(]*\s*\.?\d")
PARAMETERS = re.compile(r"\b(?:hyper-?)?parameters?\b|\bsettings?\b|\boptions?\b", re.IGNORECASE)
CAPTION = re.compile(r"\\caption(?:of\{table\})?\*?(?:\[[^\]]*\])?\{(?P<text>[^\n]{0,300})")
OF_PARAMETERS = re.compile(
    r"\bhyper-?parameters?\b|\b(?:physical|material|operating|geometric\w*|simulation|model|training|experiment(?:al)?|input|network|numerical|algorithm\w*|default|control(?:ler)?|design|search|solver|sampling|optimi[sz]ation|hardware|system) (?:parameters?|settings?|constants?|configurations?)\b"
    r"|\bparameters? (?:values? )?(?:used|settings?|chosen|adopted|of the (?:simulation|model|algorithm|controller|network|training|sampler|solver)|for the (?:simulation|model|algorithm|training|experiment)s?)\b|\b(?:settings|configurations?)\b|\bsearch space\b",
    re.IGNORECASE,
)
FOUND_PARAMETERS = re.compile(r"\b(?:deriv|fit)\w*\s+(?:\w+\s+){0,2}param|\bparam\w*\s+(?:deriv|fit)|\b(?:estimat|best|posterior|infer|recover|result|compar|accura|perform|effect|ablat|measur|error|score|different|across|varying|under|between|runtime|time)\w*", re.IGNORECASE)
FOUND_VALUES = re.compile(r"\b(?:infer|deriv|fitt?(?:ed|s|ting)?\b|measur|posterior|best|recover|observ|result)\w*", re.IGNORECASE)
SETTING_ROW = re.compile(
    r"(?:\\?#\s*|\S+\s+|(?:max(?:imum|\.)?|min(?:imum|\.)?|initial|total|number of|no\. of)\s+)*(?:tolerance|learning rate|batch size|epochs?|drop-?out(?: rate)?|optimi[sz]er|weight decay|momentum|hidden (?:size|units|dimension|layers)|attention heads|random seed|seed|warm-?up(?: steps)?|(?:expansion )?order|"
    r"quadrature points|threshold|cut-?off|bandwidth|window(?: size| length)?|step size|time ?step|iterations|restarts|estimators|patience|(?:sampling )?cadence|sampling (?:rate|frequency|interval|cadence)|context length|sequence length|vocabulary size|kernel size|stride|grid (?:size|spacing)|population size|mutation rate|discount factor|gradient clipping|replications)\s*(?:\([^)]*\)|\[[^\]]*\]|\$[^$]*\$|[A-Za-z]{0,2})?",
    re.IGNORECASE,
)
"""A row's label that names something set."""
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
    return (not sight.literal.percent and in_header(sight)) or (sight.integer and labels_row(sight)) or (not sight.literal.percent and is_in_label(sight))


def is_in_label(sight: Sight) -> bool:
    """Whether the literal stands among words, or behind a sign of equality, in the first cell of a row that has others: `Main (lag = 21)`."""
    low = max(0, sight.literal.start - REACH)
    start = max(sight.text.rfind(ROW, low, sight.literal.start), table_start(sight))
    if CELL in sight.text[start : sight.literal.start] or CELL not in sight.text[sight.literal.end : sight.literal.end + REACH].partition(ROW)[0]:
        return False
    return bool(re.search(r"[A-Za-z]{2,}[^A-Za-z]*$|=\s*$", sight.before) or re.match(r"[^A-Za-z=]{0,12}[A-Za-z]{3,}", sight.after)) and not re.match(r"\s*\(?\d", sight.after)


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
        return bool(PARAMETERS.search(" ".join(cells[:column]))) and not FOUND_VALUES.search(caption_of(sight))
    if cells[column] in ("n", "N") and not sight.round:
        return False  # cases that were left
    return bool(DESIGN_COLUMN.fullmatch(cells[column]))


def lists_parameters(sight: Sight) -> bool:
    """Whether the literal stands in the body of a table of things that were set: its caption says so, or its row's label names one."""
    if not sight.frame.inside & TABLES or sight.frame.inside & {"caption", "footnote"} or sight.literal.stream != "main":
        return False
    start = max(sight.text.rfind(ROW, 0, sight.literal.start), table_start(sight))
    if CELL not in sight.text[start : sight.literal.start]:
        return False
    label = CLUTTER.sub(" ", sight.text[start + 1 : sight.text.find(CELL, start)]).strip()
    digits = re.sub(r"\D", "", sight.literal.plain).strip("0") if sight.literal.kind == "decimal" else ""
    return (len(digits) < 4 and bool(SETTING_ROW.fullmatch(label))) or sight.page.once(("caption", table_start(sight)), lambda: is_of_parameters(caption_of(sight)))


def is_of_parameters(caption: str) -> bool:
    """Whether a caption announces parameters that were set, not found."""
    return bool(OF_PARAMETERS.search(caption)) and not FOUND_PARAMETERS.search(caption)


def caption_of(sight: Sight) -> str:
    """The caption of the float around the literal, as its source stands; empty where there is none."""
    frame = sight.frame
    while frame.parent is not None and not (frame.kind == "environment" and frame.name.startswith(("table", "sidewaystable", "longtable", "wraptable"))):
        frame = frame.parent
    if frame.parent is None:
        return ""
    found = CAPTION.search(sight.reading.source, frame.start, sight.reading.source.find("\\end{" + frame.name, frame.start))
    return found["text"] if found else ""


def header_of(sight: Sight) -> list[str]:
    """The cells of the last row before the first row that holds a number of its own."""
    opened = table_start(sight)
    if opened not in sight.reading.headers:
        header: list[str] = []
        for row in sight.text[opened : opened + REACH].split(ROW):
            cells = [CLUTTER.sub(" ", cell).strip() for cell in row.split(CELL)]
            if header and any(BARE_VALUE.match(cell) for cell in cells[1:]):
                break
            if len(cells) > 1:
                header = [cell or (header[index] if index < len(header) and not any(cells[:index]) else "") for index, cell in enumerate(cells)]
        sight.reading.headers[opened] = header
    return sight.reading.headers[opened]
