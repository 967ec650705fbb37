"""Relations of order over events: medians with exact intervals, trends over treatments, rank correlation present or absent.

An order holds with a permutation p within 5 % in the stated direction, does not hold where it points nowhere or the other way, and is
open in between. Absence of a correlation needs an interval inside its bound: about 25 events for 0.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh
from typing import Literal

import scipy

from rankcollapse.evidence import BOTH, Evidence, Finding, Readings, Roles, full_key, number, show_roles, whole
from rankcollapse.relations import Comparison
from rankcollapse.statistics import RankTest, Stratum, order_within_rows, rank_within_strata

LEVEL = 0.05
FEWEST = 8
"""Events below which a rank correlation is open, whatever it is."""


def order_statistics(values: Sequence[float]) -> tuple[float, float] | None:
    """Exact 95 % interval of the median from the ordered values; None below six, where there is none."""
    ordered, cut = sorted(values), int(scipy.stats.binom.ppf(0.025, len(values), 0.5)) if values else 0
    return (ordered[cut - 1], ordered[-cut]) if cut else None


def fisher_interval(rho: float, events: int) -> tuple[float, float]:
    """Approximate 95 % interval of a rank correlation (Bonett and Wright 2000)."""
    if abs(rho) >= 1 or events < 5:
        return (-1.0, 1.0) if events < 5 else (rho, rho)
    half = 1.96 * sqrt((1 + rho**2 / 2) / (events - 3))
    return tanh(atanh(rho) - half), tanh(atanh(rho) + half)


@dataclass(frozen=True)
class Median:
    """The median over the events of all roles against a number or an interval, by its exact interval."""

    comparison: Comparison
    roles: Roles = BOTH

    def judge(self, readings: Readings) -> Finding:
        """True where the whole interval of the median compares, false where it lies on one side and does not, else open."""
        key = self.comparison.key
        evidence = [Evidence(key=key, role=role, observed=readings.find(key, role)) for role in self.roles]
        interval = order_statistics([value for role in self.roles for value in readings.values(key, role)])
        if interval is None:
            return Finding(None, "too few events for an interval of the median", tuple(evidence))
        evidence = [item.model_copy(update={"low": number(interval[0]), "high": number(interval[1])}) for item in evidence]
        low, high = (self.comparison.holds(end, self.comparison.limit()) for end in interval)
        if low and high:
            return Finding(True, "the interval of the median compares", tuple(evidence))
        if low or high or self._spans(*interval):
            return Finding(None, "the interval holds both readings", tuple(evidence))
        return Finding(False, "the interval of the median does not compare", tuple(evidence))

    def _spans(self, low: float, high: float) -> bool:
        """Whether both ends lie outside an interval that they enclose."""
        return isinstance(self.comparison.than, tuple) and low < self.comparison.than[0] and high > self.comparison.than[1]

    def keys(self) -> list[str]:
        """With roles."""
        return [full_key(self.comparison.key, role) for role in self.roles]

    def text(self) -> str:
        """As a reader sees it."""
        return f"the median of {self.comparison.text()}{show_roles(self.roles)}"


@dataclass(frozen=True)
class Trend:
    """Readings of the same events, one after the other, that rise (or fall) within events: Page's test with its exact p."""

    series: tuple[str, ...]
    direction: Literal["rises", "falls"]
    roles: Roles = BOTH
    first: bool = False
    """Whether a reading may be of the first events alone, so that those are compared."""

    def judge(self, readings: Readings) -> Finding:
        """Rows are events; their roles make no difference, since only values of one event are compared."""
        sign = 1 if self.direction == "rises" else -1
        table = [[sign * value for value in row] for role in self.roles for row in readings.rows(self.series, role, first=self.first)]
        test = order_within_rows(table, readings.generator)
        evidence = [Evidence(key=key, role=role, observed=readings.find(key, role)) for role in self.roles for key in self.series]
        evidence[0] = evidence[0].model_copy(update={"statistic": number(test.L, 1), "p": number(test.p, 4), "events": whole(len(table))})
        if not table:
            return Finding(None, "no event", tuple(evidence))
        return decide_order(test.p, stated=test.L > test.expected, evidence=tuple(evidence))

    def keys(self) -> list[str]:
        """With roles."""
        return [full_key(key, role) for key in self.series for role in self.roles]

    def text(self) -> str:
        """As a reader sees it."""
        events = "the first events, which have all" if self.first else "events"
        return f"{self.direction} within {events}: {', '.join(self.series)}{show_roles(self.roles)}"


def decide_order(p: float, *, stated: bool, evidence: tuple[Evidence, ...]) -> Finding:
    """An order by its p and by whether it stands in the stated direction at all."""
    if p <= LEVEL:
        return Finding(True, "the order is that stated", evidence)
    return Finding(None, "the order may be chance", evidence) if stated else Finding(False, "no order in the stated direction", evidence)


def rank(x: str, y: str, roles: Roles, readings: Readings) -> tuple[int, RankTest, tuple[Evidence, ...]]:
    """Number of events, the mean within-role correlation of two readings, and the evidence."""
    rows = {role: readings.rows((x, y), role) for role in roles}
    strata = [Stratum(str(role), tuple(range(len(own))), tuple(a for a, _ in own), tuple(b for _, b in own)) for role, own in rows.items()]
    test = rank_within_strata(strata, readings.generator)
    evidence = tuple(Evidence(key=key, role=role, observed=readings.find(key, role)) for role in roles for key in (x, y))
    return sum(map(len, rows.values())), test, evidence


@dataclass(frozen=True)
class Ranked:
    """Two readings that rank events alike, or the opposite way: the mean within-role Spearman."""

    x: str
    y: str
    sign: Literal["positive", "negative"]
    roles: Roles = BOTH

    def judge(self, readings: Readings) -> Finding:
        """Open below `FEWEST` events."""
        events, test, evidence = rank(self.x, self.y, self.roles, readings)
        p = test.p_positive if self.sign == "positive" else test.p_negative
        first = evidence[0].model_copy(update={"statistic": number(test.rho, 2), "p": number(p, 4), "events": whole(events)})
        if events < FEWEST or not test.strata:
            return Finding(None, "too few events", (first, *evidence[1:]))
        stated = test.rho > 0 if self.sign == "positive" else test.rho < 0
        return decide_order(p, stated=stated, evidence=(first, *evidence[1:]))

    def keys(self) -> list[str]:
        """With roles."""
        return [full_key(key, role) for key in (self.x, self.y) for role in self.roles]

    def text(self) -> str:
        """As a reader sees it."""
        return f"{self.sign} rank correlation of {self.x} and {self.y}{show_roles(self.roles)}"


@dataclass(frozen=True)
class Unranked:
    """Two readings whose rank correlation is small: no correlation is shown by an interval inside the bound, not by a large p."""

    x: str
    y: str
    bound: float = 0.4
    roles: Roles = BOTH

    def judge(self, readings: Readings) -> Finding:
        """False where the two-sided p is within 5 %, true where the interval lies inside, else open."""
        events, test, evidence = rank(self.x, self.y, self.roles, readings)
        p, (low, high) = min(1.0, 2 * min(test.p_negative, test.p_positive)), fisher_interval(test.rho, events)
        shown = {"statistic": number(test.rho, 2), "p": number(p, 4), "events": whole(events), "low": number(low, 2), "high": number(high, 2)}
        evidence = (evidence[0].model_copy(update=shown), *evidence[1:])
        if events < FEWEST or not test.strata:
            return Finding(None, "too few events", evidence)
        if -self.bound <= low and high <= self.bound:
            return Finding(True, "the interval lies inside the bound", evidence)
        return Finding(False, "the two are correlated", evidence) if p <= LEVEL else Finding(None, "the interval holds both readings", evidence)

    def keys(self) -> list[str]:
        """With roles."""
        return [full_key(key, role) for key in (self.x, self.y) for role in self.roles]

    def text(self) -> str:
        """As a reader sees it."""
        return f"rank correlation of {self.x} and {self.y} within {self.bound:g} of none{show_roles(self.roles)}"
