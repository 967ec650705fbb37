"""From a typed number back to keys: whose printed form, rounding or percentage it is, and the `\\val` that would print it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
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
    def printed(self) -> dict[tuple[Decimal, bool], list[tuple[str, str, str]]]:
        """(number, whether in percent) -> key, option and printed form: of each quantity, and of what its per-unit values say."""
        found: dict[tuple[Decimal, bool], list[tuple[str, str, str]]] = {}
        for key, quantity, _, own in self.quantities:
            forms = {"": own, **({f"[{form}]": format_quantity(quantity, form) for form in ("n", "min", "max")} if quantity.values else {})}
            for option, shown in forms.items():
                found.setdefault((read(shown), shown.endswith("%")), []).append((key, option, shown))
        return found

    @cached_property
    def ordered(self) -> list[tuple[Decimal, str, str]]:
        """Value, key and printed form of every quantity that can be rounded, by value."""
        return sorted((value, key, shown) for key, _, value, shown in self.quantities if value and abs(value) <= Decimal("1e15"))

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
        found = self.printed.get((value, literal.percent), ())
        for key, option, shown in sorted(found, key=lambda each: each[1]):
            if same_digits(shown, value):
                yield Match(key, rf"\val{option}{{{key}}}", shown)

    def of_rounded(self, value: Decimal, literal: Literal) -> Iterator[Match]:
        """Quantities that print another form and, with as many digits as were typed, would print the number or its percentage."""
        digits = max(0, -int(value.as_tuple().exponent))
        if value.is_zero() or digits > 12:
            return
        for stored, key, shown in self.near(value, digits) if not literal.percent else ():
            if round_decimal(stored, digits) == value and not prints(shown, value, percent=False):
                why = f"a rounding of {shown}" if stored != value else f"the same as {shown}"
                yield Match(key, rf"\val[fixed.{digits}]{{{key}}}", f"{value:f}", why)
        for stored, key, shown in self.near(value / 100, digits + 2) if literal.percent or digits < 3 else ():
            if round_decimal(stored * 100, digits) == value and not prints(shown, value, literal.percent):
                why = f"the percentage of {shown}" if "%" not in shown else f"a rounding of {shown}" if literal.percent else f"{shown} without its sign"
                yield Match(key, rf"\val[percent.{digits}]{{{key}}}", f"{value:f}%", why)

    def near(self, value: Decimal, digits: int) -> list[tuple[Decimal, str, str]]:
        """The quantities that may round to a number of so many digits."""
        reach = Decimal(1).scaleb(-digits) / 2
        return self.ordered[bisect_left(self.ordered, (value - reach,)) : bisect_right(self.ordered, (value + reach, "\uffff"))]

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


def read(shown: str) -> Decimal:
    """The number of a printed form, of a percentage without its sign."""
    return Decimal(shown.rstrip("%").replace(",", ""))


def prints(shown: str, value: Decimal, percent: bool) -> bool:
    """Whether a printed form is this number with these digits, percent sign included."""
    return shown.endswith("%") == percent and read(shown) == value and same_digits(shown, value)


def same_digits(shown: str, value: Decimal) -> bool:
    """Whether a form that prints this number has as many decimal places."""
    return "e" in shown or read(shown).as_tuple().exponent == value.as_tuple().exponent
