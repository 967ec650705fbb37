"""What formulas tell as found: intervals behind values, small calculations, values around one, tuples, rough values."""

from __future__ import annotations

import re

from audit.numbers import cues
from audit.numbers.outcomes import ends_relation
from audit.numbers.sight import Sight

__all__ = ["tells_found"]

INNER_INTERVAL = re.compile(r"(?:\bCr?I|\bHDI|\bHPD|[Ii]nterval)[^\d\[\](]{0,12}[\[(]\s*(?:[-\u2212+]?[\d.]+\s*(?:,|;|to|--?|\u2013)\s*)?[-\u2212+]?$")
"""The interval of a value, told in the same formula: `b = 0.41, 95\\% CI [0.22`."""
SUM_BEFORE = re.compile(r"\d%?\s*[-\u2212+/×·]\s*[\d.,]+%?\s*[=≈]\s*[-\u2212+]?$")
SUM_AFTER = re.compile(r"(?:\s*[-\u2212+/×·]\s*[\d.,]+)?%?\s*[=≈]\s*[-\u2212+]?[\d.]+%?\s*(?:$|[,;.)])")
SUMMAND = re.compile(r"(?:[=≈]|[\d.]%?\s*[-\u2212+/×·])\s*$")
"""A small calculation: `d = 0.91 - 0.64 = 0.27`."""
GAIN = re.compile(r"\b(?:effect|gain|difference|change|gap|saving|loss|improvement|reduction|excess|remainder)s?\b", re.IGNORECASE)
MET = re.compile(r"\b(?:peak(?:s|ed)?|f[oi]u?nd|measured?|reach(?:es|ed)?|breaks?|occurs?|observed?|settles?|converges?|estimated?)\b[^.;]*$")
AROUND = re.compile(r"≈\s*$")
TUPLE_BEFORE = re.compile(r"(?:[=≈]|±)\s*\(\s*(?:[-\u2212+]?[\d.]+\s*,\s*)*[-\u2212+]?$")
TUPLE_AFTER = re.compile(r"(?:\s*,\s*[-\u2212+]?[\d.]+)*\s*\)")
"""One of several values that a parenthesis holds: `x = (0.4, 1.2)`, `\\pm (0.1, 0.3)`."""
LIES_AT = re.compile(r"\b(?:remains?|peak(?:s|ed)?|cent(?:er|re)d|located|lies?|situated|identified|detected|found|near|appears?)(?:\s+(?:at|near|around|to be))?\s*$|\b(?:find|found|obtain\w*|measured?|yields?|gives?|gave|get|derived?|infer(?:red)?)\s*$")
SETS = re.compile(r"\b(?:at|for|with|where|when|if|let|using|set|uniform|priors?|over|from|choose|chose|take|range|interval|domain|fixed?)\b[^.;]{0,24}$", re.IGNORECASE)
COMPUTES = re.compile(r"\b(?:comput|calculat|deriv|correspond|yield|impl[iy]|infer|measur|f[io]u?nd|estimat|total)\w*\b", re.IGNORECASE)
PART_OF = re.compile(r"%[^.;]{0,60}\b(?:have|has|had)\s*$")
"""A share of things, and the bound that they keep: `95 % of the samples have s < 0.3`."""


def tells_found(sight: Sight) -> object:
    """Whether an inline formula tells the number as found, beyond the plain value of a symbol."""
    if sight.frame.math != "inline" or sight.frame.script or sight.formula is None:
        return False
    return is_calculated(sight) or is_unity(sight) or is_in_tuple(sight) or is_rough(sight) or is_kept_by_part(sight)


def ahead_of(sight: Sight, reach: int) -> str:
    """The text before the formula, on one line."""
    start = sight.formula[0] if sight.formula else sight.literal.start
    return sight.text[max(0, start - reach) : start].replace("\n", " ")


def is_in_tuple(sight: Sight) -> object:
    """One of the values of a tuple in a sentence about an outcome, or behind words that say where something lies."""
    if not TUPLE_BEFORE.search(sight.left) or not TUPLE_AFTER.match(sight.right):
        return False
    ahead = ahead_of(sight, 40)
    return LIES_AT.search(ahead) or (sight.claims and not SETS.search(ahead) and (sight.literal.kind == "decimal" or not sight.round))


def is_rough(sight: Sight) -> object:
    """A rough value of a symbol, of two digits or more, that a sentence calculates: `the total mass is M \\approx 1200`."""
    if not sight.integer or len(sight.literal.plain) < 2 or not AROUND.search(sight.left[-4:]) or not ends_relation(sight):
        return False
    return COMPUTES.search(sight.lead) and not SETS.search(ahead_of(sight, 30))


def is_kept_by_part(sight: Sight) -> object:
    """The bound that a share of things was found to keep."""
    return cues.RELATION.search(sight.left) and ends_relation(sight) and PART_OF.search(ahead_of(sight, 80))


def is_inner_interval(sight: Sight) -> object:
    """An end of the interval that a formula tells behind its value."""
    return sight.frame.math == "inline" and not sight.frame.script and INNER_INTERVAL.search(sight.left) and re.match(r"[^\[(]{0,40}[\])]", sight.right)


def is_calculated(sight: Sight) -> object:
    """What a small calculation with decimals comes to, and what it is made of, in a sentence about an outcome."""
    if sight.frame.math != "inline" or sight.frame.script or sight.literal.kind != "decimal" or not (sight.claims or GAIN.search(sight.lead)):
        return False
    return (SUM_BEFORE.search(sight.left) and ends_relation(sight)) or (SUMMAND.search(sight.left) and SUM_AFTER.match(sight.right))


def is_unity(sight: Sight) -> object:
    """`z \\approx 1`, where the text says at once that it was found there."""
    if sight.literal.plain != "1" or sight.frame.math != "inline" or sight.frame.script or not AROUND.search(sight.left[-3:]) or sight.formula is None:
        return False
    return ends_relation(sight) and MET.search(ahead_of(sight, 40))
