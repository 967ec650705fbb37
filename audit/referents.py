"""What a reader may hold in hand: a key, a prediction, a place in a source, or a number; each as the keys and predictions it stands for."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path

from audit.context import Context
from audit.document import load_document
from audit.finding import Refusal, several
from audit.numbers.format import round_decimal, to_decimal
from audit.numbers.keys import Keys
from audit.numbers.literals import parse_decimal
from audit.numbers.scan import Scan
from audit.provenance import provenance_values
from audit.trace import read_macros, shown, used_keys, uses_at

__all__ = ["Referents", "find_matches"]

MACRO = re.compile(r"\\(?:val|verdict|ifverdict|confirmatory|prov)(?:\[[^\]]*\])?\{([^{}]*)\}")
PLACE = re.compile(r"(?P<path>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?")
SIGNS = str.maketrans({"\u2212": "-", "\u2009": ",", "\u00a0": ",", "\u202f": ",", "$": None})
WRITTEN = (("{,}", ","), ("\\,", ","), ("\\%", "%"), ("\\times", "×"))
POWER = re.compile(r"\s*[×x·]\s*10\s*\^?\s*\{?(-?\d+)\}?$")
NUMBER = re.compile(r"-?(?:\d{1,30}(?:,\d{3}){0,9})?(?:\.\d{1,30})?(?:[eE]-?\d{1,2})?%?")
SHOWN = 3
LONGEST = 30
"""Decimal places of a number that anybody prints."""


@dataclass
class Referents:
    """Keys and predictions that something stands for."""

    bound: list[str] = field(default_factory=list)
    """Keys that the document uses."""
    others: list[str] = field(default_factory=list)
    """Keys with an equal printed form, or an equal rounding or percentage, that the document does not use."""
    predictions: list[str] = field(default_factory=list)
    provenance: list[str] = field(default_factory=list)
    """Keys of values about runs and seals, `\\prov`."""
    nearest: list[str] = field(default_factory=list)
    """What comes nearest, where nothing matches."""

    def __bool__(self) -> bool:
        return bool(self.bound or self.others or self.predictions or self.provenance)

    def add(self, other: Referents) -> None:
        """Take in other matches, each once."""
        for name in ("bound", "others", "predictions", "provenance", "nearest"):
            mine = getattr(self, name)
            mine.extend(item for item in getattr(other, name) if item not in mine)


def find_matches(context: Context, what: str) -> Referents:
    """What `what` stands for; nothing matched leaves `nearest` only."""
    macro = MACRO.fullmatch(what.strip())
    what = " ".join((macro[1] if macro else what).split())
    found = match_names(context, what)
    place = PLACE.fullmatch(what)
    if not found and place and (scan := find_scan(context, place["path"])) is not None:
        return match_place(context, scan, int(place["line"]), int(place["column"] or 0))
    if not found and plain_number(what) is None and place and place["path"].endswith((".tex", ".j2", ".sty", ".cls")):
        sources = ", ".join(scan.path for scan in load_document(context).all) or "none"
        raise Refusal(place["path"], "is no source of the manuscript", observed=f"sources: {sources}", cure="name one of them")
    return found or match_number(context, what)


def match_names(context: Context, what: str) -> Referents:
    """A key, a registration's prediction, or a provenance value."""
    keys, names = Keys.of(context).quantities, prediction_names(context)
    known = provenance_values(context) if what not in keys and what not in names else {}
    found = Referents(predictions=[what] if what in names else [], provenance=[what] if what in known else [])
    (found.bound if what in used_keys(context) else found.others).extend([what] if what in keys else [])
    return found


def prediction_names(context: Context) -> list[str]:
    """`registration.prediction` of every prediction."""
    return [f"{registration.id}.{prediction.id}" for registration in context.registrations.values() for prediction in registration.predictions]


def find_scan(context: Context, path: str) -> Scan | None:
    """The source that a path names, from the project's root or from the current folder."""
    named = {path, os.path.relpath(Path(path).resolve(), context.root)}
    return next((scan for scan in load_document(context).all if scan.path in named), None)


def match_place(context: Context, scan: Scan, line: int, column: int) -> Referents:
    """What stands in a line of a source, or at a column of it: macros of ours, else typed numbers."""
    place = scan.reading.lines.place
    lines = len(scan.reading.source.splitlines())
    if not 0 < line <= lines:
        raise Refusal(f"{scan.path}:{line}", "the file has no such line", observed=several(lines, "line"))
    spans = [(start, end, key) for start, end, _, _, key in uses_at(scan)]
    found = Referents()
    for key in [key for start, end, key in spans if covers(place(start), place(end - 1), line, column)]:
        found.add(match_names(context, key))
    if not found:
        literals = [number.literal for number in scan.numbers if number.cls in ("result", "design")]
        for literal in literals:
            if covers(place(literal.source_start), place(max(literal.source_start, literal.source_end - 1)), line, column):
                found.add(match_plain(context, literal.plain + ("%" if literal.percent else "")))
    return found


def covers(first: tuple[int, int], last: tuple[int, int], line: int, column: int) -> bool:
    """Whether a stretch of a source lies on a line, and holds the column where one is named."""
    return first <= (line, column) <= last if column else first[0] <= line <= last[0]


def plain_number(what: str) -> str | None:
    """A number as plain text, `-0.22`, `1024`, `31.2%`, `1.2e-5`; None for what is none."""
    text = what.translate(SIGNS)
    for old, new in WRITTEN:
        text = text.replace(old, new)
    text = POWER.sub(r"e\1", text.replace(" ", "")).removeprefix("+")
    return text if NUMBER.fullmatch(text) and re.search(r"\d", text) else None


def match_number(context: Context, what: str) -> Referents:
    """The keys whose printed form a number or word equals: those that the document prints so first."""
    plain = plain_number(what)
    if plain is not None:
        return match_plain(context, plain)
    macros = read_macros(context)
    printed = [key for (_, key), text in macros.plain.items() if text.lower() == what.lower()]
    provenance = [key for key, text in macros.provenance.items() if text == what]
    return Referents(bound=list(dict.fromkeys(printed)), provenance=provenance, nearest=nearest_names(context, what))


def match_plain(context: Context, plain: str) -> Referents:
    """Keys that a number equals: printed so by the document, then used by it, then others."""
    plain = plain.replace(",", "").lower()
    value, percent = parse_decimal(plain.rstrip("%")), plain.endswith("%")
    if value is None:
        return Referents()
    so = {key for (_, key), text in read_macros(context).plain.items() if text.replace(",", "") == plain}
    equal = [key for key, stored, shown in known_values(context) if shown.replace(",", "") == plain or equals(stored, value, percent)]
    used = sorted((key for key in used_keys(context) if key in so or key in equal), key=lambda key: key not in so)
    others = [key for key in equal if key not in used]
    provenance = [key for key, text in read_macros(context).provenance.items() if text == plain]
    nearest = [] if used or others or provenance else nearest_values(context, value, percent)
    return Referents(bound=used, others=others, provenance=provenance, nearest=nearest)


def equals(stored: Decimal, value: Decimal, percent: bool) -> bool:
    """Whether a stored value, rounded as a number is written, gives it; nothing but zero gives zero."""
    if value.is_zero() or stored.is_zero():
        return value == stored
    digits = max(0, -int(value.as_tuple().exponent))
    return digits <= LONGEST and round_decimal(stored * 100 if percent else stored, digits) == value


def known_values(context: Context) -> list[tuple[str, Decimal, str]]:
    """Key, value and printed form of every quantity that has one."""
    found = []
    for key in Keys.of(context).quantities:
        with suppress(Refusal):  # no valid quantity: A301 says so
            found.append((key, to_decimal(Keys.of(context).resolve(key, "trace").value), shown(context, key)))
    return found


def nearest_names(context: Context, what: str) -> list[str]:
    """The keys and predictions most like a mistyped one."""
    return get_close_matches(what, [*Keys.of(context).quantities, *prediction_names(context)], n=SHOWN, cutoff=0.4)


def nearest_values(context: Context, value: Decimal, percent: bool) -> list[str]:
    """The keys whose values lie nearest to a number, with their printed forms."""
    value = value / 100 if percent else value
    known = sorted(known_values(context), key=lambda each: distance(each[1], value))
    return [f"{key} = {shown}" for key, _, shown in known[:SHOWN]]


def distance(stored: Decimal, value: Decimal) -> Decimal:
    """How far a value lies from another, as a share of the larger one."""
    larger = max(abs(stored), abs(value))
    return abs(stored - value) / larger if larger else Decimal(0)
