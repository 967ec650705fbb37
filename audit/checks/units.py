"""A419: nothing beside a cited value gives it another unit, sign or size than its record has (a note: the right key in the wrong sentence)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, Severity
from audit.numbers.keys import Keys
from audit.numbers.literals import SIUNITX
from audit.numbers.scan import Scan
from audit.numbers.stream import VALUE

CODE = "A419"
NAMES = {
    "s": "second", "sec": "second", "ms": "millisecond", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "b": "bit", "px": "pixel", "%": "percent", "pp": "percent",
    **{name: name for name in "second millisecond minute hour day week month year nat bit byte step epoch iteration token sample percent pixel kilobyte megabyte gigabyte".split()},
}  # fmt: skip
"""Words for units, in the singular, and the one name of each."""
WORD = re.compile(r"[\s\u00a0\u2009-]*([A-Za-z]+)")
CHANGED = re.compile(
    rf"(?<![\w)\]{VALUE}-])(?P<sign>[-\u2212]){VALUE}|{VALUE}(?P<size>\s*[\u00d7\u00b7]\s*10\^|e[+-]?\d|\s+(?:thousand|million|billion|trillion)\b)"
)
"""A minus sign of the text's own, a power of ten, or a word for one."""
QUANTITY = re.compile(r"\{[^{}]*\}\s*\}\s*\{\s*((?:\\[A-Za-z]+|[A-Za-z%]+)(?:\s*\\[A-Za-z]+)*)\s*\}")
"""From a value's key on, in its braces, the unit that siunitx sets behind it: its second argument."""
UNITLESS = ("n", "unit", "percent", "word", "Word", "ordinal")


def check_units(context: Context) -> Iterator[Finding]:
    """Each `\\val` of a quantity with a unit that the text follows with another one."""
    keys = Keys.of(context)
    for scan in load_document(context).all:
        for place, beside in find_changed(scan):
            what, cure = f"a cited value stands with {beside!r}, which makes another value of it", "cite the quantity that has this value"
            yield Finding(code=CODE, severity=Severity.NOTE, place=place, what=what, cure=cure)
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
        given = QUANTITY.match(scan.reading.source, offset) if scan.reading.main.frame(begun).inside & SIUNITX else None
        if given and not same_unit(unit, given[1]):
            yield scan.place(offset), key, unit, given[1]
            continue
        found = WORD.match(text, begun + 1)
        if text.startswith("%", begun + 1) and name_of(unit) != "percent":
            yield scan.place(offset), key, unit, "%"
        elif found and name_of(unit) and name_of(found[1]) not in (None, name_of(unit)):
            yield scan.place(offset), key, unit, found[1]


def same_unit(unit: str, given: str) -> bool:
    """Whether a unit in siunitx's words may be a quantity's: another known one, or one with a prefix before it, is not."""
    *prefixes, last = re.findall(r"[A-Za-z%]+", given)
    return None in (name_of(unit), name_of(last)) or (name_of(unit) == name_of(last) and not prefixes)


def find_changed(scan: Scan) -> Iterator[tuple[str, str]]:
    """(place, what stands beside it) of each value of one source or template that gets a sign or a power of ten from the text."""
    text = scan.reading.main.text()
    for match in CHANGED.finditer(text):
        yield scan.place(scan.reading.main.source(match.start())), (match["sign"] or match["size"]).strip()


def name_of(word: str) -> str | None:
    """The one name of a unit, or None for a word that is none."""
    lower = word.lower()
    return NAMES.get(lower) or NAMES.get(lower.removesuffix("s"))
