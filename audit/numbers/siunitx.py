"""Options of siunitx that print other digits than it was given: rounded, padded, without an exponent, or computed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.numbers.scan import Scan

__all__ = ["find_rounding"]

ROUNDING = re.compile(
    r"(?<![\w-])(round-[a-z-]+|(?:minimum-decimal|minimum-integer)-digits|drop-exponent|table-auto-round|evaluate-expression)\s*"
    r"(?:=(?!\s*(?:none|false)\b)|[,\]}])"
)


def find_rounding(scan: Scan) -> Iterator[tuple[str, str, str]]:
    """(option, place, reason) of each, wherever it is set: in the preamble, for one number, for a column."""
    aside = scan.reading.aside
    for option in ROUNDING.finditer(aside.text()):
        yield option[1], scan.place(aside.source(option.start())), "lets LaTeX round numbers"
