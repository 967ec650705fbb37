"""A413: numbers that count as quoted from others although their sentence speaks of this work, counted for the reader."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Severity, several

CODE = "A413"
SHOWN = 5


def check_quoted(context: Context) -> Iterator[Finding]:
    """One note a file: how many own-looking numbers stand beside a citation, and the first of them."""
    for scan in load_document(context).all:
        found = [number.literal for number in scan.numbers if number.rule == "quoted here"]
        if found:
            shown = ", ".join(f"{literal.text} (line {scan.reading.lines.place(literal.source_start)[0]})" for literal in found[:SHOWN])
            yield Finding(
                code=CODE, severity=Severity.NOTE, place=scan.path,
                what=f"{several(len(found), 'number')} beside a citation in a sentence or table of one's own, taken as quoted: {shown}{' ...' if len(found) > SHOWN else ''}",
                cure="cite from a record what this work measured",
            )  # fmt: skip
