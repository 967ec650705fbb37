"""The chance that a prediction is met in an uninteresting world: exact, as fractions, or not given at all.

Without a declared chance only exchangeability is used: what is compared could as well have stood in any other order, ties aside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import cache

from audit.numbers.format import significant
from audit.predictions import OPERATORS, Comparison, Prediction
from audit.registration import Registration

LARGEST = 16
"""Units up to which the distribution of Spearman's correlation is counted: 2 ** n sets of units are gone through, about a second."""


@dataclass(frozen=True)
class Chance:
    """A chance and how it comes about."""

    value: Fraction
    text: str


def registered_chance(registration: Registration, prediction: Prediction, sets: Mapping[str, int] | None = None) -> Chance | None:
    """The chance under the null of a prediction that names its population or declares one; `sets` are seeds by set where it shares another's."""
    declared = prediction.null.chance is not None or prediction.null.unit_chance is not None
    population = prediction.population
    units = population.units(registration.seeds.sets if sets is None else sets) if population else None
    return chance_of(prediction, units) if declared or population else None


def chance_of(prediction: Prediction, units: int | None) -> Chance | None:
    """The chance of being met under the null, given how many units there are; None where it is neither declared nor follows."""
    null, comparator = prediction.null, prediction.comparator
    if null.chance is not None:
        return Chance(exact(null.chance), "declared")
    if comparator.all is None:
        return chance_of_comparison(comparator, units, null.unit_chance)
    known = [chance for part in comparator.all if (chance := chance_of_comparison(part, units))]
    if not known:
        return None
    least = min(known, key=lambda chance: chance.value)
    return Chance(least.value, f"at most that of one part: {least.text}")


def chance_of_comparison(comparison: Comparison, units: int | None, unit_chance: float | None = None) -> Chance | None:
    """The chance of one comparison."""
    if comparison.rank_correlation:
        if units is None or not 2 <= units <= LARGEST or comparison.op is None or comparison.value is None:
            return None
        value = chance_of_correlation(units, comparison.op, exact(comparison.value))
        return Chance(value, f"of {math.factorial(units)} equally likely orders of {units} units without ties")
    one = Chance(exact(unit_chance), "declared") if unit_chance is not None else chance_of_unit(comparison)
    if one is None or not comparison.units:
        return one
    if units is None:
        return None
    value = chance_of_count(units, comparison.units, one.value)
    return Chance(value, f"at least {comparison.units} of {units} independent units at {one.value} each ({one.text})")


def chance_of_unit(comparison: Comparison) -> Chance | None:
    """The chance of one comparison of exchangeable quantities: first of k + 1, or all in one order."""
    if comparison.op in ("==", "in") or comparison.labels:
        return None
    if comparison.than:
        arms = len(comparison.than) + 1
        return Chance(Fraction(1, arms), f"first of {arms} exchangeable ones without ties")
    if comparison.order:
        arms = len(comparison.order) + 1
        return Chance(Fraction(1, math.factorial(arms)), f"one order of {arms} exchangeable ones without ties")
    return None


def chance_of_count(units: int, at_least: int, one: Fraction) -> Fraction:
    """The binomial chance that at least so many of the independent units succeed."""
    won, lost = one.numerator, one.denominator - one.numerator
    if at_least > units:
        return Fraction(0)
    ways = term = won**units  # of all units; each further term has one success less
    for count in range(units, at_least, -1):
        term = term * count * lost // ((units - count + 1) * won) if won else 0
        ways += term
    return Fraction(ways, one.denominator**units)


def chance_of_correlation(units: int, op: str, target: Fraction) -> Fraction:
    """The chance that Spearman's correlation of two independent orders without ties compares with the target."""
    compare, most = OPERATORS[op], units**3 - units
    met = sum(ways for distance, ways in count_orders(units).items() if compare(1 - Fraction(6 * distance, most), target))
    return Fraction(met, math.factorial(units))


@cache
def count_orders(units: int) -> Mapping[int, int]:
    """How many permutations have each sum of squared rank differences; exact, by going through the sets of ranks that are used up.

    One whole number holds the counts of a set, `width` bits for each sum, so that adding a rank is a shift.
    """
    width = math.factorial(units).bit_length()
    sets = {0: 1}
    for place in range(units):
        grown: dict[int, int] = {}
        for used, counts in sets.items():
            for rank in range(units):
                if not used >> rank & 1:
                    grown[used | 1 << rank] = grown.get(used | 1 << rank, 0) + (counts << width * (rank - place) ** 2)
        sets = grown
    counts, found = sets[2**units - 1], {}
    for distance in range((units**3 - units) // 3 + 1):
        if ways := counts >> width * distance & (1 << width) - 1:
            found[distance] = ways
    return found


def exact(number: float) -> Fraction:
    """A number as it is written: 0.8 is four fifths."""
    return Fraction(repr(number))


SHOWN = Context(prec=3, rounding=ROUND_HALF_UP)
"""Three significant digits, by the rule that rounds every printed number."""


def show(chance: Fraction) -> str:
    """A chance as it is, and as a decimal; the decimal alone where the fraction is long."""
    decimal = significant(SHOWN.divide(Decimal(chance.numerator), Decimal(chance.denominator)))
    return f"{chance} = {decimal}" if chance.denominator < 10**9 else decimal
