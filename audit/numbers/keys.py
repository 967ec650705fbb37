"""Keys: `<record name>.<path>` to the quantity it names, and from a typed number back to keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from audit.context import Context
from audit.finding import Refusal
from audit.numbers.format import format_quantity, round_decimal, to_decimal
from audit.numbers.literals import Literal, parse_decimal
from audit.quantities import find_quantity, walk_quantities
from audit.records import Quantity, parse_model

__all__ = ["Keys"]

SHOWN = 3


@dataclass(frozen=True)
class Keys:
    """Every quantity that the project's manuscript may cite."""

    records: dict[str, Any]
    """Name -> plain record, or None where its file is absent or unreadable."""
    paths: dict[str, str]

    @classmethod
    def of(cls, context: Context) -> Keys:
        """The keys of a project, from the records listed in `audit.toml`."""
        paths = context.config.records
        return cls({name: context.records.get(path) for name, path in paths.items()}, paths)

    @cached_property
    def quantities(self) -> dict[str, Mapping[str, Any]]:
        """Key -> plain quantity, over all named records."""
        return {f"{name}.{key}": quantity for name, record in self.records.items() if record is not None for key, quantity in walk_quantities(record)}

    def resolve(self, key: str, place: str) -> Quantity:
        """The quantity of a key; an unknown one names the nearest keys."""
        found = self.quantities.get(key)
        if found is not None:
            return parse_model(Quantity, found, f"{place}: {key}")
        name, _, path = key.partition(".")
        if name in self.records and self.records[name] is None:
            raise Refusal(
                place, f"key {key!r} needs a record that is absent or unreadable", observed=self.paths[name], cure="rerun the stage that writes it"
            )
        if name in self.records and path:
            find_quantity(self.records[name], path, place)
        raise Refusal(place, f"no value for key {key!r}", observed=f"nearest keys: {', '.join(self.nearest(key)) or 'none'}", cure="correct the key")

    def nearest(self, key: str) -> list[str]:
        """The keys most like a mistyped one."""
        return get_close_matches(key, list(self.quantities), n=SHOWN, cutoff=0.4)

    @cached_property
    def values(self) -> list[tuple[str, Decimal, str]]:
        """Key, value and printed form of every quantity."""
        found = []
        for key in self.quantities:
            try:
                quantity = self.resolve(key, "audit.toml")
                found.append((key, to_decimal(quantity.value), format_quantity(quantity)))
            except Refusal:
                continue  # no valid quantity: A301 says so
        return found

    def matching(self, literal: Literal) -> list[tuple[str, str]]:
        """Keys and printed forms that equal a typed number: its printed form first, then its rounding or percentage."""
        value = parse_decimal(literal.plain)
        if value is None:
            return []
        share = value / 100 if literal.percent else value
        digits = max(0, -int(value.as_tuple().exponent))
        exact, rounded = [], []
        for key, stored, shown in self.values:
            if same_number(shown, value, literal.percent):
                exact.append((key, shown))
            elif equals_rounded(stored, value, share, digits, literal.percent):
                rounded.append((key, shown))
        return exact + rounded


def same_number(shown: str, value: Decimal, percent: bool) -> bool:
    """Whether a printed form is this number, percent sign included."""
    if shown.endswith("%") != percent:
        return False
    plain = shown.rstrip("%").replace(",", "")
    return Decimal(plain) == value and (
        percent or "e" in plain or Decimal(plain).as_tuple().exponent == value.as_tuple().exponent or value == value.to_integral_value()
    )


def equals_rounded(stored: Decimal, value: Decimal, share: Decimal, digits: int, percent: bool) -> bool:
    """Whether the stored value, rounded as the typed number is, or as its percentage, gives it."""
    if stored.is_zero() or abs(stored) > Decimal("1e15"):
        return stored == value
    if round_decimal(stored, digits + (2 if percent else 0)) == share:
        return True
    return not percent and digits < 3 and round_decimal(stored * 100, digits) == value
