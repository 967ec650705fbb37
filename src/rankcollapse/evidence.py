"""What claims are judged from and what a judgement consists of: readings by key and role, findings that are true, false or open, evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from audit.records import Frozen, Quantity, Refusal
from rankcollapse.statistics import exact_interval

Truth = bool | None
Role = Literal["shallow", "deep"]
Roles = tuple[Role | None, ...]
BOTH: Roles = ("shallow", "deep")
SHALLOW: Roles = ("shallow",)
DEEP: Roles = ("deep",)
ALONE: Roles = (None,)
"""A key that is read as it is: no role, or both depths of one seed side by side."""
LEAST = 3
"""Events of each role without which nothing holds of all."""


class Evidence(Frozen):
    """What one role, or one key, contributed."""

    key: str
    role: Role | None = None
    observed: Quantity
    """The reading, copied from where it was read."""
    satisfied: Quantity | None = None
    """Events that compare as claimed; the values say which."""
    events: Quantity | None = None
    low: Quantity | None = None
    """95 % interval: exact (Clopper-Pearson) of the share of events that compare as claimed, exact of a median, approximate of a correlation."""
    high: Quantity | None = None
    statistic: Quantity | None = None
    """Spearman's correlation, or Page's L."""
    p: Quantity | None = None
    """Permutation p in the stated direction; two-sided where no correlation is claimed."""


@dataclass(frozen=True)
class Readings:
    """What a study measured. A key may end in a role: `main.untreated.recovered_rank.deep`.

    A Quantity has one value per event in `values`, keys that are compared event by event in the same order of events; `value` alone is a
    single number. `verdicts` are the judge's, by `registration.prediction`. The generator is for permutations of more than eight events.
    """

    quantities: Mapping[str, Quantity]
    verdicts: Mapping[str, str]
    generator: np.random.Generator

    def find(self, key: str, role: Role | None = None) -> Quantity:
        """The reading of a key; Refusal where no record holds it: a gap is never a verdict."""
        name = full_key(key, role)
        if name not in self.quantities:
            raise Refusal("claims", f"no reading {name!r}", expected=name, cure="hand over the record that holds it")
        return self.quantities[name]

    def values(self, key: str, role: Role | None = None) -> tuple[float, ...]:
        """Per-event values; Refusal for a reading that has none."""
        values = self.find(key, role).values
        if values is None:
            raise Refusal("claims", f"{full_key(key, role)} has no values per event", cure="record them beside the summary")
        return tuple(map(float, values))

    def rows(self, keys: Sequence[str], role: Role | None = None, *, first: bool = False) -> list[tuple[float, ...]]:
        """One row per event with the values of all keys; Refusal where they are of different events.

        `first`: of the first events alone, as many as every key has; for arms that only the first events got.
        """
        columns = [self.values(key, role) for key in keys]
        if first:
            columns = [column[: min(map(len, columns))] for column in columns]
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            names = ", ".join(full_key(key, role) for key in keys)
            cure = "hand over the values of the same events, in one order"
            raise Refusal("claims", f"{names} are of different events", expected="one length", observed=str(sorted(lengths)), cure=cure)
        return list(zip(*columns, strict=True))


def full_key(key: str, role: Role | None) -> str:
    """A key with its role."""
    return f"{key}.{role}" if role else key


def show_roles(roles: Roles) -> str:
    """The roles a relation reads, where it does not read both."""
    return f" ({', '.join(role for role in roles if role)})" if roles in (SHALLOW, DEEP) else ""


@dataclass(frozen=True)
class Finding:
    """True, false, or None for open; why, in words without numbers; and the evidence."""

    truth: Truth
    reason: str
    evidence: tuple[Evidence, ...] = ()


class Relation(Protocol):
    """A rule that can come out any way."""

    def judge(self, readings: Readings) -> Finding:
        """True, false or open; Refusal where a reading is not there."""
        ...

    def keys(self) -> list[str]:
        """Every reading it needs, roles included."""
        ...

    def text(self) -> str:
        """The relation as a reader sees it."""
        ...


def number(value: float, digits: int = 3) -> Quantity:
    """A number computed from others."""
    return Quantity(value=float(value), digits=digits, tolerance=0.0)


def count(flags: Sequence[bool]) -> Quantity:
    """How many, and which."""
    return Quantity(value=sum(flags), digits=0, style="integer", tolerance=0.0, summary="count", values=tuple(map(int, flags)))


def whole(value: int) -> Quantity:
    """A count without its units."""
    return Quantity(value=value, digits=0, style="integer", tolerance=0.0)


def describe_count(key: str, role: Role | None, observed: Quantity, flags: Sequence[bool]) -> Evidence:
    """A count over events with its exact interval."""
    low, high = exact_interval(sum(flags), len(flags))
    return Evidence(
        key=key, role=role, observed=observed, satisfied=count(flags), events=whole(len(flags)), low=number(low, 2), high=number(high, 2)
    )
