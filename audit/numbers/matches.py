"""From a typed number back to keys: whose printed form, rounding or percentage it is, and the `\\val` that would print it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from audit.finding import Refusal
from audit.numbers.format import format_quantity, round_decimal, to_decimal
from audit.numbers.keys import SHOWN, Keys
from audit.numbers.literals import Literal, parse_decimal
from audit.records import Quantity

__all__ = ["INVENTED", "Match", "Matches"]

INVENTED = "matches nothing: no record's quantity prints it"
RATIO = re.compile(r"(?P<part>\w[\w-]*)(?P<joint>\s+(?:out\s+)?of\s+|/)(?P<whole>\w[\w-]*)")
WORDS = re.compile(r"[A-Za-z]+(?:-[a-z]+)?")


@dataclass(frozen=True)
class Match:
    """One way to print a typed number from a record."""

    key: str
    macro: str
    """The LaTeX to be written in its place."""
    shown: str
    """What that prints."""
    why: str = ""
    """How the typed number follows from the stored one where it is not its printed form."""

    def describe(self) -> str:
        """`\\val[fixed.2]{main.gap} = 0.09, a rounding of 0.0887`."""
        return f"{self.macro} = {self.shown}" + (f", {self.why}" if self.why else "")


class Matches:
    """The quantities of a project with their printed forms, asked for one typed number after the other."""

    def __init__(self, keys: Keys):
        self.keys = keys

    @cached_property
    def quantities(self) -> list[tuple[str, Quantity, Decimal, str]]:
        """Key, quantity, value and printed form of all that can be printed."""
        found = []
        for key in self.keys.quantities:
            try:
                quantity = self.keys.resolve(key, "audit.toml")
                found.append((key, quantity, to_decimal(quantity.value), format_quantity(quantity)))
            except Refusal:
                continue  # no valid quantity: A301 says so
        return found

    @cached_property
    def units(self) -> list[tuple[str, str, str]]:
        """Key, format and printed form of what the per-unit values say: their number, the smallest and the largest."""
        return [(key, form, format_quantity(quantity, form)) for key, quantity, _, _ in self.quantities if quantity.values for form in ("n", "min", "max")]

    def of(self, literal: Literal) -> list[Match]:
        """Every match of a typed number: its printed forms first, then roundings and percentages."""
        if literal.kind in ("words", "fraction"):
            ratio = RATIO.fullmatch(literal.text)
            return list(self.of_ratio(ratio) if ratio else self.of_word(literal))
        value = parse_decimal(literal.plain)
        if value is None:
            return []
        found = [*self.of_printed(value, literal), *self.of_rounded(value, literal)]
        return sorted(found, key=lambda match: bool(match.why))

    def of_printed(self, value: Decimal, literal: Literal) -> Iterator[Match]:
        """Quantities that print the number in their own form, and those whose per-unit values give it."""
        for key, _, _, shown in self.quantities:
            if same_number(shown, value, literal.percent):
                yield Match(key, rf"\val{{{key}}}", shown)
        for key, form, shown in self.units:
            if same_number(shown, value, literal.percent):
                yield Match(key, rf"\val[{form}]{{{key}}}", shown)

    def of_rounded(self, value: Decimal, literal: Literal) -> Iterator[Match]:
        """Quantities that print another form and, with as many digits as were typed, would print the number or its percentage."""
        digits = max(0, -int(value.as_tuple().exponent))
        for key, _, stored, shown in self.quantities:
            if same_number(shown, value, literal.percent) or stored.is_zero() or abs(stored) > Decimal("1e15") or digits > 12:
                continue
            if value.is_zero():
                return
            if not literal.percent and round_decimal(stored, digits) == value:
                yield Match(key, rf"\val[fixed.{digits}]{{{key}}}", f"{value:f}", f"a rounding of {shown}" if stored != value else f"the same as {shown}")
            elif (literal.percent or digits < 3) and round_decimal(stored * 100, digits) == value:
                why = f"the percentage of {shown}" if "%" not in shown else f"a rounding of {shown}" if literal.percent else f"{shown} without its sign"
                yield Match(key, rf"\val[percent.{digits}]{{{key}}}", f"{value:f}%", why)

    def of_word(self, literal: Literal) -> Iterator[Match]:
        """Whole numbers that would be written with these words."""
        for key, quantity, value, _ in self.quantities if WORDS.fullmatch(literal.text) else ():
            form = "Word" if literal.text[0].isupper() else "word"
            if 0 <= value <= 99 and value == value.to_integral_value() and format_quantity(quantity, form) == literal.text:
                yield Match(key, rf"\val[{form}]{{{key}}}", literal.text)

    def of_ratio(self, ratio: re.Match[str]) -> Iterator[Match]:
        """Counts with the number of their units: `8 of 10`, `8/10`, `Eight of 10`; a whole in words can be printed in digits only."""
        for key, quantity, value, shown in self.quantities:
            if not quantity.values or not 0 <= value <= 99 or value != value.to_integral_value():
                continue
            whole = quantity.model_copy(update={"value": len(quantity.values)})
            wholes = {format_quantity(whole, "integer"): "", **({format_quantity(whole, "word"): "its whole in digits"} if len(quantity.values) < 100 else {})}
            forms = {shown: "", format_quantity(quantity, "word"): "[word]", format_quantity(quantity, "Word"): "[Word]"}
            if ratio["part"] in forms and ratio["whole"] in wholes:
                macro = rf"\val{forms[ratio['part']]}{{{key}}}{ratio['joint']}\val[n]{{{key}}}"
                yield Match(key, macro, f"{ratio['part']}{ratio['joint']}{len(quantity.values)}", wholes[ratio["whole"]])

    def describe(self, literal: Literal) -> str:
        """The nearest keys of a typed number, or that there is none."""
        found = self.of(literal)
        if not found:
            return INVENTED
        more = f" (and {len(found) - SHOWN} more)" if len(found) > SHOWN else ""
        return f"nearest: {', '.join(match.describe() for match in found[:SHOWN])}{more}"


def same_number(shown: str, value: Decimal, percent: bool) -> bool:
    """Whether a printed form is this number with these digits, percent sign included."""
    if shown.endswith("%") != percent:
        return False
    plain = Decimal(shown.rstrip("%").replace(",", ""))
    return plain == value and ("e" in shown or plain.as_tuple().exponent == value.as_tuple().exponent)
