"""A419: the word behind a cited value is no other unit than that of its quantity (a note: the right key in the wrong sentence)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, Severity
from audit.numbers.keys import Keys
from audit.numbers.scan import Scan

CODE = "A419"
NAMES = {
    "s": "second", "sec": "second", "ms": "millisecond", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "b": "bit", "px": "pixel",
    **{name: name for name in "second millisecond minute hour day week month year nat bit byte step epoch iteration token sample percent pixel kilobyte megabyte gigabyte".split()},
}  # fmt: skip
"""Words for units, in the singular, and the one name of each."""
WORD = re.compile(r"[\s\u00a0\u2009-]*([A-Za-z]+)")
UNITLESS = ("n", "unit", "percent", "word", "Word", "ordinal")


def check_units(context: Context) -> Iterator[Finding]:
    """Each `\\val` of a quantity with a unit that the text follows with another one."""
    keys = Keys.of(context)
    for scan in load_document(context).scans:
        for place, key, unit, word in find_units(scan, keys):
            yield Finding(
                code=CODE, severity=Severity.NOTE, place=place, what=f"\\val{{{key}}} is followed by {word!r}", expected=f"its unit, {unit}",
                cure="cite the quantity that the sentence is about, or correct the word",
            )  # fmt: skip


def find_units(scan: Scan, keys: Keys) -> Iterator[tuple[str, str, str, str]]:
    """(place, key, unit, word) of each value of one source whose unit and following word are different units."""
    stream, text = scan.reading.main, scan.reading.main.text()
    for command, option, key, offset, _ in scan.reading.uses:
        if command != "val" or option.split(".")[0] in UNITLESS:
            continue
        try:
            unit = keys.resolve(key, "").unit
        except Refusal:
            continue  # A402
        begun = stream.starts[max(0, bisect_right(stream.sources, offset) - 1)] if stream.starts else 0
        found = WORD.match(text, begun + 1)
        if found and name_of(unit) and name_of(found[1]) not in (None, name_of(unit)):
            yield scan.place(offset), key, unit, found[1]


def name_of(word: str) -> str | None:
    """The one name of a unit, or None for a word that is none."""
    lower = word.lower()
    return NAMES.get(lower) or NAMES.get(lower.removesuffix("s"))
