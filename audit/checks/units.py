"""A419: what stands around a cited value gives it no other unit, sign or size than its quantity has (a note: the right key in the wrong sentence)."""

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
    "%": "percent", "pp": "percent", "s": "second", "sec": "second", "ms": "millisecond", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "b": "bit", "px": "pixel",
    **{name: name for name in "second millisecond minute hour day week month year nat bit byte step epoch iteration token sample percent pixel kilobyte megabyte gigabyte".split()},
}  # fmt: skip
"""Words for units, in the singular, and the one name of each."""
WORD = re.compile(r"[\s\u00a0\u2009-]*([A-Za-z]+)")
UNITLESS = ("n", "unit", "percent", "word", "Word", "ordinal")
BLANK = r"[\s\u00a0\u2009]*"
PERCENT = re.compile(rf"{BLANK}(?:%|per ?cent\b)")
POWER = re.compile(rf"{BLANK}(?:[\u00d7\u00b7]{BLANK}10(?!\d)|[eE][+-]?\d)")
SIGNED = {
    False: re.compile(r"(?:^|[\s\u00a0(\[])[-\u2212]$"),
    True: re.compile(rf"(?:^|[(\[{{=<>\u2264\u2265\u2248,;:|\u00d7\u00b7/]){BLANK}[-\u2212]{BLANK}$"),
}
"""A minus sign that belongs to the value: in text after a blank, in a formula after nothing that it could subtract from."""


def check_units(context: Context) -> Iterator[Finding]:
    """Each `\\val` that the text around it makes another quantity, or another number."""
    keys = Keys.of(context)
    for scan in load_document(context).scans:
        for place, key, what, expected in find_around(scan, keys):
            cure = "cite the quantity that the sentence is about, or correct the text around it"
            yield Finding(code=CODE, severity=Severity.NOTE, place=place, what=f"\\val{{{key}}} {what}", expected=expected, cure=cure)


def find_around(scan: Scan, keys: Keys) -> Iterator[tuple[str, str, str, str]]:
    """(place, key, what the text around it says, what its quantity says) of each value of one source where the two differ."""
    stream, text = scan.reading.main, scan.reading.main.text()
    for command, option, key, offset, _ in scan.reading.uses:
        try:
            quantity = keys.resolve(key, "") if command == "val" else None
        except Refusal:
            continue  # A402
        if quantity is not None:
            at = stream.starts[max(0, bisect_right(stream.sources, offset) - 1)] if stream.starts else 0
            frame = stream.frame(at)
            before = text[max(frame.begun if frame.math else 0, at - 20) : at]
            for what, expected in describe_around(before, text[at + 1 : at + 40], frame.math, (option or quantity.style).split(".")[0], quantity.unit):
                yield scan.place(offset), key, what, expected


def describe_around(before: str, after: str, math: str, style: str, unit: str) -> Iterator[tuple[str, str]]:
    """(what the text before and after a value makes of it, what its quantity says)."""
    word = WORD.match(after)
    if word and style not in UNITLESS and name_of(unit) and name_of(word[1]) not in (None, name_of(unit)):
        yield f"is followed by {word[1]!r}", f"its unit, {unit}"
    elif PERCENT.match(after) and style not in UNITLESS[:2] and (style == "percent" or name_of(unit) != "percent"):
        yield "is followed by a percent sign", f"its unit, {unit}" if name_of(unit) else "the form [percent], and no sign behind it"
    if POWER.match(after):
        yield "is followed by a power of ten", "the recorded value alone"
    if SIGNED[bool(math)].search(before):
        yield "stands behind a minus sign", "the recorded value alone"


def name_of(word: str) -> str | None:
    """The one name of a unit, or None for a word that is none."""
    lower = word.lower()
    return NAMES.get(lower) or NAMES.get(lower.removesuffix("s"))
