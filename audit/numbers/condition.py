"""The parts of a claim's condition: what is compared, and how; each prints as the text it is read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction

__all__ = ["Comparison", "Either", "Every", "Minus", "Node", "Not", "Number", "Operation", "Standing", "Term", "Test", "Units", "Value", "walk"]


class Test:
    """What holds or does not."""


class Term:
    """What has a value."""


@dataclass(frozen=True)
class Number(Term):
    """A number of the sentence's own, exactly as it is written."""

    text: str

    @property
    def value(self) -> Fraction:
        """The number, exactly."""
        return Fraction(self.text)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Value(Term):
    """The value of a quantity; with a form its smallest or largest value per unit, or how many units there are."""

    key: str
    form: str = ""

    def __str__(self) -> str:
        return f"{self.form}({self.key})" if self.form else self.key


@dataclass(frozen=True)
class Minus(Term):
    """A term with the other sign."""

    term: Term

    def __str__(self) -> str:
        return f"-{enclose(self.term)}"


@dataclass(frozen=True)
class Operation(Term):
    """A sum, difference, product or ratio of two terms."""

    sign: str
    left: Term
    right: Term

    def __str__(self) -> str:
        return f"{enclose(self.left)} {self.sign} {enclose(self.right)}"


@dataclass(frozen=True)
class Comparison(Test):
    """Terms in a row with a sign between each two: `0 < a < b` holds where both signs do."""

    terms: tuple[Term, ...]
    signs: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.terms[0]) + "".join(f" {sign} {term}" for sign, term in zip(self.signs, self.terms[1:], strict=True))


@dataclass(frozen=True)
class Units(Test):
    """A comparison of each value per unit of a quantity, which holds for all units or for at least so many."""

    least: int | None
    key: str
    sign: str
    term: Term

    def __str__(self) -> str:
        return f"{'all' if self.least is None else f'at least {self.least}'} of {self.key} {self.sign} {self.term}"


@dataclass(frozen=True)
class Standing(Test):
    """The verdict of a registered prediction."""

    prediction: str
    word: str

    def __str__(self) -> str:
        return f"{self.prediction} is {self.word}"


@dataclass(frozen=True)
class Not(Test):
    """What holds where the other does not."""

    test: Test

    def __str__(self) -> str:
        return f"not {enclose(self.test)}"


@dataclass(frozen=True)
class Every(Test):
    """What holds where all parts hold."""

    parts: tuple[Test, ...]

    def __str__(self) -> str:
        return " and ".join(map(enclose, self.parts))


@dataclass(frozen=True)
class Either(Test):
    """What holds where one part does."""

    parts: tuple[Test, ...]

    def __str__(self) -> str:
        return " or ".join(map(enclose, self.parts))


Node = Test | Term


def enclose(node: Node) -> str:
    """A part as text, in parentheses unless it is one word."""
    return str(node) if isinstance(node, Number | Value) else f"({node})"


def walk(node: object) -> Iterator[Node]:
    """A condition and everything in it."""
    if isinstance(node, tuple):
        for part in node:
            yield from walk(part)
    elif isinstance(node, Test | Term):
        yield node
        for field in fields(node):  # type: ignore[arg-type]
            yield from walk(getattr(node, field.name))
