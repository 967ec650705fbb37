"""Claims: sentences that hold under a condition over records, evaluated exactly, and again within the tolerance of each quantity."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from itertools import pairwise

from audit.context import Context
from audit.denominator import verdict_words
from audit.document import Use, load_document
from audit.finding import Refusal
from audit.numbers.condition import Comparison, Every, Minus, Not, Number, Operation, Standing, Term, Test, Units, Value, walk
from audit.numbers.format import to_decimal
from audit.numbers.grammar import parse_condition
from audit.numbers.keys import Keys
from audit.records import Quantity
from audit.verdict import Truth, at_least, every

__all__ = ["Claim", "claim_states", "find_claims"]

ELSEWHERE = "not evaluated here"
SHOWN = 8
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


@dataclass(frozen=True)
class Claim:
    """One `\\claim`: its condition, whether that holds, and whether it does within tolerance too."""

    use: Use
    condition: Test | None
    """None where it cannot be read, or names nothing."""
    fault: Refusal | None = None
    truth: Truth = None
    """None where it cannot be told under these parameters: a registration is not evaluated here."""
    steady: bool = True
    """Whether every value within the tolerance of the recorded one gives the same."""
    seen: str = ""
    """The recorded values that the condition names."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of records that the condition names."""
        return tuple(dict.fromkeys(node.key for node in walk(self.condition) if isinstance(node, Value | Units)))

    @property
    def predictions(self) -> tuple[str, ...]:
        """The predictions, `registration.prediction`, whose verdicts the condition names."""
        return tuple(dict.fromkeys(node.prediction for node in walk(self.condition) if isinstance(node, Standing)))


@dataclass(frozen=True)
class Span:
    """The values that a term may have."""

    low: Fraction
    high: Fraction

    def combine(self, sign: str, other: Span) -> Span:
        """The values of a sum, difference, product or ratio."""
        found = [ARITHMETIC[sign](one, two) for one in (self.low, self.high) for two in (other.low, other.high)]
        return Span(min(found), max(found))

    def compare(self, sign: str, other: Span) -> Truth:
        """Whether every value compares so with every value of the other; None where some do."""
        if sign in ("=", "!="):
            apart, one = self.high < other.low or other.high < self.low, self.low == self.high == other.low == other.high
            return (sign == "!=") if apart else (sign == "=") if one else None
        if sign in (">", ">="):
            return other.compare("<" if sign == ">" else "<=", self)
        holds = operator.lt if sign == "<" else operator.le
        most, least = holds(self.high, other.low), holds(self.low, other.high)
        return bool(most) if most == least else None


class Boundless(Exception):
    """A ratio whose divisor may be zero within tolerance."""


class Assessor:
    """What a condition comes to: over the recorded values, or (`spread`) over all that agree with them within tolerance."""

    def __init__(self, keys: Keys, words: Mapping[str, str], place: str):
        self.keys, self.words, self.place, self.spread = keys, words, place, False
        self.seen: dict[str, str] = {}

    def holds(self, test: Test) -> Truth:
        """Whether a condition holds; None where it cannot be told. Every part is looked at, so that a wrong key is not passed over."""
        match test:
            case Comparison(terms, signs):
                return self.compare(terms, signs)
            case Units(least, key, sign, term):
                return self.count(least, key, sign, term)
            case Standing(prediction, word):
                return self.stands(prediction, word)
            case Not(inner):
                answer = self.holds(inner)
                return None if answer is None else not answer
        parts = [self.holds(part) for part in test.parts]  # type: ignore[attr-defined]
        if isinstance(test, Every):
            return every(parts)
        return True if True in parts else None if None in parts else False

    def compare(self, terms: tuple[Term, ...], signs: tuple[str, ...]) -> Truth:
        """Whether terms in a row compare as the signs between them say."""
        if not any(isinstance(node, Value) for node in walk(terms)) or any(one == two for one, two in pairwise(terms)):
            what = f"the comparison {Comparison(terms, signs)} says nothing about a record"
            raise Refusal(self.place, what, expected="a quantity, compared with something else", cure="compare what the sentence is about")
        self.check_units(terms)
        try:
            spans = [self.weigh(term) for term in terms]
        except Boundless:
            return None
        return every(one.compare(sign, two) for one, sign, two in zip(spans, signs, spans[1:], strict=False))

    def check_units(self, terms: tuple[Term, ...]) -> None:
        """Refuse two quantities of different named units that are compared as they are."""
        units = {self.find(term.key).unit: term.key for term in terms if isinstance(term, Value) and term.form != "n"}
        if len(units.keys() - {"1"}) > 1:
            shown = ", ".join(f"{key} in {unit}" for unit, key in units.items())
            raise Refusal(self.place, "the condition compares quantities of different units", observed=shown, cure="compare quantities of one unit")

    def count(self, least: int | None, key: str, sign: str, term: Term) -> Truth:
        """Whether all units, or at least so many, compare as the sign says."""
        quantity = self.find(key)
        values = self.values(key, quantity)
        try:
            target = self.weigh(term)
        except Boundless:
            return None
        answers = [self.widen(value, quantity).compare(sign, target) for value in values]
        return every(answers) if least is None else at_least(answers, least)

    def stands(self, prediction: str, word: str) -> Truth:
        """Whether a prediction has a verdict, post hoc or not."""
        if prediction not in self.words:
            nearest = ", ".join(get_close_matches(prediction, list(self.words), n=3, cutoff=0.3)) or "none"
            raise Refusal(self.place, f"no verdict {prediction!r}", observed=f"nearest: {nearest}", cure="correct it, or run audit evaluate")
        found = self.words[prediction]
        self.seen[prediction] = f"{prediction} is {found}"
        return None if found == ELSEWHERE else found.removesuffix(" (post hoc)") == word

    def weigh(self, term: Term) -> Span:
        """The values of a term."""
        match term:
            case Number():
                return Span(term.value, term.value)
            case Minus(inner):
                span = self.weigh(inner)
                return Span(-span.high, -span.low)
            case Operation(sign, left, right):
                return self.operate(sign, self.weigh(left), self.weigh(right))
        assert isinstance(term, Value)
        quantity = self.find(term.key)
        if not term.form:
            return self.widen(quantity.value, quantity)
        values = self.values(term.key, quantity)
        return Span(Fraction(len(values)), Fraction(len(values))) if term.form == "n" else self.widen((min if term.form == "min" else max)(values), quantity)

    def operate(self, sign: str, left: Span, right: Span) -> Span:
        """A sum, difference, product or ratio; one with a divisor that is zero is refused."""
        if sign == "/" and right.low <= 0 <= right.high:
            if right.low == right.high == 0 and not self.spread:
                raise Refusal(self.place, "the condition divides by zero", observed=", ".join(self.seen.values()), cure="compare without the ratio")
            raise Boundless
        return left.combine(sign, right)

    def find(self, key: str) -> Quantity:
        """The quantity of a key, remembered as seen."""
        quantity = self.keys.resolve(key, self.place)
        self.seen[key] = f"{key} = {quantity.value}" + f" (tolerance {quantity.tolerance:.3g})" * self.spread
        return quantity

    def values(self, key: str, quantity: Quantity) -> tuple[float | int, ...]:
        """The values per unit, which the condition asks for."""
        if not quantity.values:
            raise Refusal(self.place, f"{key} has no values per unit", expected="a quantity with `values`", cure="compare its value")
        shown = ", ".join(map(str, quantity.values[:SHOWN])) + ", ..." * (len(quantity.values) > SHOWN)
        self.seen[key] = f"{key} = {quantity.value} (units: {shown})"
        return quantity.values

    def widen(self, value: float | int, quantity: Quantity) -> Span:
        """A recorded value, or all that agree with it within the quantity's tolerance."""
        exact, give = Fraction(to_decimal(value)), Fraction(to_decimal(quantity.tolerance)) if self.spread else Fraction(0)
        return Span(exact - give, exact + give)


def find_claims(context: Context) -> list[Claim]:
    """Every claim of the document, evaluated; where no registration holds under these parameters, a false one cannot be told."""
    uses = [use for use in load_document(context).uses() if use.command == "claim"]
    if not uses:
        return []
    keys, words = Keys.of(context), verdict_words(context)
    elsewhere = bool(context.registrations) and not any(map(context.holds, context.registrations.values()))
    return [evaluate(use, keys, words, elsewhere) for use in uses]


def evaluate(use: Use, keys: Keys, words: Mapping[str, str], elsewhere: bool) -> Claim:
    """One claim, its fault instead of an answer where its condition cannot be read or names nothing."""
    condition = None
    try:
        condition = parse_condition(use.key, use.place)
        assessor = Assessor(keys, words, use.place)
        truth = assessor.holds(condition)
        seen, assessor.spread = dict(assessor.seen), True
        steady = truth is None or assessor.holds(condition) is truth
    except Refusal as refusal:
        return Claim(use, condition, refusal)
    return Claim(use, condition, None, None if elsewhere and truth is False else truth, steady, ", ".join((seen if steady else assessor.seen).values()))


def claim_states(claims: list[Claim]) -> dict[str, str]:
    """Condition -> `holds`, or `open` where it cannot be told here; none of one that is false or at fault, so that LaTeX stops at it."""
    return {claim.use.key: "open" if claim.truth is None else "holds" for claim in claims if claim.fault is None and claim.truth is not False}
