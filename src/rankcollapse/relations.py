"""Relations that a claim is judged by: each is computed from values per event and comes out true, false or open.

Events are compared within their role (shallow, deep) and never across depth numbers. What is said of all events can be refuted by one
counterexample at any n, and needs `LEAST` events of each role to hold. A share against one half and a contrast of two readings are open
while their exact 95 % interval holds both answers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from audit.records import Refusal
from rankcollapse.evidence import (
    BOTH,
    LEAST,
    Evidence,
    Finding,
    Readings,
    Relation,
    Role,
    Roles,
    Truth,
    count,
    describe_count,
    full_key,
    show_roles,
)
from rankcollapse.statistics import exact_interval

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "==": operator.eq,
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """One reading against a number, an interval (both ends inside), or `factor` times another reading."""

    key: str
    op: str = "=="
    than: float | str | tuple[float, float] = 1
    factor: float = 1.0

    def holds(self, value: float, other: float) -> bool:
        """One value against the bound, or against the other reading."""
        if isinstance(self.than, tuple):
            return self.than[0] <= value <= self.than[1]
        return bool(OPERATORS[self.op](value, self.factor * other))

    def flags(self, readings: Readings, role: Role | None) -> list[bool]:
        """Per event of a role, whether it compares."""
        return [self.holds(row[0], row[-1] if isinstance(self.than, str) else self.limit()) for row in readings.rows(self.keys(), role)]

    def keys(self) -> list[str]:
        """Without roles."""
        return [self.key, self.than] if isinstance(self.than, str) else [self.key]

    def text(self) -> str:
        """As a reader sees it."""
        if isinstance(self.than, tuple):
            return f"{self.key} in {self.than[0]:g} to {self.than[1]:g}"
        factor = "" if self.factor == 1 else f"{self.factor:g} x "
        return f"{self.key} {self.op} {factor}{self.than if isinstance(self.than, str) else format(self.than, 'g')}"

    def limit(self) -> float:
        """The number to compare with, where there is one."""
        return 0.0 if isinstance(self.than, str | tuple) else float(self.than)


Quantifier = Literal["all", "none", "most", "under half", "mixed"]


@dataclass(frozen=True)
class Events:
    """A comparison of every event, and for how many it is claimed."""

    quantifier: Quantifier
    comparison: Comparison
    roles: Roles = BOTH
    spared: int = 0
    """Exceptions that `all` allows, over the roles together."""

    def judge(self, readings: Readings) -> Finding:
        """By role for all and none; shares over the roles together."""
        flags = {role: self.comparison.flags(readings, role) for role in self.roles}
        key = self.comparison.key
        evidence = tuple(describe_count(key, role, readings.find(key, role), own) for role, own in flags.items())
        enough = all(len(own) >= LEAST for own in flags.values())
        return replace(self._decide([flag for own in flags.values() for flag in own], enough), evidence=evidence)

    def _decide(self, flags: Sequence[bool], enough: bool) -> Finding:
        met = sum(flags)
        if self.quantifier in ("most", "under half"):
            return decide_share(met, len(flags), above=self.quantifier == "most")
        if self.quantifier == "mixed":
            return Finding(True, "both outcomes occur") if 0 < met < len(flags) else needing(enough, False, "one outcome only")
        failures = met if self.quantifier == "none" else len(flags) - met
        if failures > self.spared:
            return Finding(False, "counterexamples")
        return needing(enough, True, "no event speaks against it" if not self.spared else "no more exceptions than allowed")

    def keys(self) -> list[str]:
        """With roles."""
        return [full_key(key, role) for key in self.comparison.keys() for role in self.roles]

    def text(self) -> str:
        """As a reader sees it."""
        amount = {"all": "every event", "none": "no event", "most": "most events", "under half": "under half of the events", "mixed": "some events"}
        spared = f" but {self.spared}" if self.spared else ""
        return f"{self.comparison.text()} in {amount[self.quantifier]}{spared}{show_roles(self.roles)}"


def needing(enough: bool, truth: bool, reason: str) -> Finding:
    """What is said of all events needs enough of them."""
    return Finding(truth, reason) if enough else Finding(None, "too few events of a role")


def decide_share(met: int, of: int, *, above: bool) -> Finding:
    """A share against one half: open while its exact interval holds one half."""
    low, high = exact_interval(met, of)
    if low > 0.5 or high < 0.5:
        return Finding((low > 0.5) == above, "the interval lies on one side of one half")
    return Finding(None, "the interval holds both readings")


@dataclass(frozen=True)
class Separated:
    """Every value of one reading below every value of another, within each role."""

    low: str
    high: str
    roles: Roles = BOTH

    def judge(self, readings: Readings) -> Finding:
        """False where any two overlap."""
        pairs = {role: (readings.values(self.low, role), readings.values(self.high, role)) for role in self.roles}
        evidence = tuple(Evidence(key=key, role=role, observed=readings.find(key, role)) for role in self.roles for key in (self.low, self.high))
        if any(low and high and max(low) >= min(high) for low, high in pairs.values()):
            return Finding(False, "the two overlap", evidence)
        enough = all(min(len(low), len(high)) >= LEAST for low, high in pairs.values())
        return replace(needing(enough, True, "the two do not overlap"), evidence=evidence)

    def keys(self) -> list[str]:
        """With roles."""
        return [full_key(key, role) for key in (self.low, self.high) for role in self.roles]

    def text(self) -> str:
        """As a reader sees it."""
        return f"every {self.low} below every {self.high}{show_roles(self.roles)}"


@dataclass(frozen=True)
class Contrast:
    """Two readings of the same events: the comparison holds for more of the events that differ than its opposite does."""

    comparison: Comparison
    roles: Roles = BOTH

    def judge(self, readings: Readings) -> Finding:
        """The share of the discordant events against one half; false where none differs among enough."""
        keys = self.comparison.keys()
        rows = [row for role in self.roles for row in readings.rows(keys, role)]
        flags = [self.comparison.holds(one, other) for one, other in rows if one != other]
        evidence = tuple(Evidence(key=name, role=role, observed=readings.find(name, role)) for role in self.roles for name in keys)
        evidence += (describe_count(keys[0], None, count(flags), flags),)
        if not flags and len(rows) >= LEAST * len(self.roles):
            return Finding(False, "no event differs", evidence)
        return replace(decide_share(sum(flags), len(flags), above=True), evidence=evidence)

    def keys(self) -> list[str]:
        """With roles."""
        return [full_key(key, role) for key in self.comparison.keys() for role in self.roles]

    def text(self) -> str:
        """As a reader sees it."""
        return f"{self.comparison.text()} in most of the events that differ{show_roles(self.roles)}"


@dataclass(frozen=True)
class Value:
    """One number without events against a bound or another number; open within the declared tolerance of either."""

    comparison: Comparison

    def judge(self, readings: Readings) -> Finding:
        """From the summary values as they are."""
        keys = self.comparison.keys()
        found = [readings.find(key) for key in keys]
        evidence = tuple(Evidence(key=key, observed=quantity) for key, quantity in zip(keys, found, strict=True))
        value, slack = float(found[0].value), sum(quantity.tolerance for quantity in found)
        other = self.comparison.limit() if len(found) == 1 else float(found[1].value)
        answers = {self.comparison.holds(value + move, other) for move in (-slack, 0.0, slack)}
        if len(answers) > 1:
            return Finding(None, "both readings lie within tolerance", evidence)
        return Finding(answers.pop(), "as it was read", evidence)

    def keys(self) -> list[str]:
        """As they are."""
        return self.comparison.keys()

    def text(self) -> str:
        """As a reader sees it."""
        return self.comparison.text()


@dataclass(frozen=True)
class Series:
    """The course of one reading over a grid (values in the grid's order): never falling, or with an extremum inside."""

    key: str
    shape: Literal["never falls", "turns inside"]

    def judge(self, readings: Readings) -> Finding:
        """Open below three points."""
        values, evidence = readings.values(self.key), (Evidence(key=self.key, observed=readings.find(self.key)),)
        if len(values) < 3:
            return Finding(None, "too few points", evidence)
        if self.shape == "never falls":
            return Finding(all(one <= other for one, other in pairwise(values)) and values[0] < values[-1], "point by point", evidence)
        ends, inside = (values[0], values[-1]), values[1:-1]
        return Finding(max(inside) > max(ends) or min(inside) < min(ends), "inside against both ends", evidence)

    def keys(self) -> list[str]:
        """As it is."""
        return [self.key]

    def text(self) -> str:
        """As a reader sees it."""
        return f"{self.key} {self.shape}"


@dataclass(frozen=True)
class Registered:
    """The judge's verdict on a prediction is the one the source paper reports for its counterpart."""

    prediction: str
    """registration.prediction"""
    outcome: Literal["met", "missed"]

    def judge(self, readings: Readings) -> Finding:
        """Open where the prediction is undecided or not evaluated; Refusal where it was never judged."""
        if self.prediction not in readings.verdicts:
            raise Refusal("claims", f"no verdict on {self.prediction}", expected=self.prediction, cure="evaluate its registration first")
        verdict = readings.verdicts[self.prediction]
        return Finding(verdict == self.outcome if verdict in ("met", "missed") else None, f"{self.prediction} is {verdict}")

    def keys(self) -> list[str]:
        """No reading: a verdict."""
        return []

    def text(self) -> str:
        """As a reader sees it."""
        return f"{self.prediction} {self.outcome}"


@dataclass(frozen=True)
class Every:
    """Several relations that must all hold: false as soon as one is, true when all are, else open."""

    parts: tuple[Relation, ...]

    def judge(self, readings: Readings) -> Finding:
        """Kleene's conjunction; the reasons of the parts that decide."""
        findings = [part.judge(readings) for part in self.parts]
        truths = [finding.truth for finding in findings]
        truth: Truth = False if False in truths else None if None in truths else True
        reasons = dict.fromkeys(finding.reason for finding in findings if finding.truth is truth)
        return Finding(truth, "; ".join(reasons), tuple(item for finding in findings for item in finding.evidence))

    def keys(self) -> list[str]:
        """Of all parts."""
        return [key for part in self.parts for key in part.keys()]

    def text(self) -> str:
        """As a reader sees it."""
        return "; and ".join(part.text() for part in self.parts)


@dataclass(frozen=True)
class Not:
    """A relation that the source paper reports as failing: what is open stays open."""

    part: Relation

    def judge(self, readings: Readings) -> Finding:
        """The opposite, with the same evidence."""
        finding = self.part.judge(readings)
        return replace(finding, truth=None if finding.truth is None else not finding.truth)

    def keys(self) -> list[str]:
        """Of the relation."""
        return self.part.keys()

    def text(self) -> str:
        """As a reader sees it."""
        return f"not: {self.part.text()}"


def walk(relation: Relation | None) -> list[Relation]:
    """A relation and its parts."""
    if relation is None:
        return []
    parts = relation.parts if isinstance(relation, Every) else (relation.part,) if isinstance(relation, Not) else ()
    return [relation, *(inner for part in parts for inner in walk(part))]
