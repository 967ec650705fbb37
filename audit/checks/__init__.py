"""The checks, in the order in which they are made: one file each, one table here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from audit.context import Context
from audit.finding import Finding

__all__ = ["TABLE", "Check", "Context"]


@dataclass(frozen=True)
class Check:
    """One check: what it may find, what it looks at, and in which pass it is made."""

    codes: tuple[str, ...]
    name: str
    title: str
    """What holds when it finds nothing, as `audit verify` prints it."""
    run: Callable[[Context], Iterable[Finding]]
    stage: Literal["before", "after"] = "before"
    """`before` Jinja (the DVC stage `audit`), or `after` the PDF."""
    count: Callable[[Context], str] | None = None
    """How much was looked at, for the report: `12 records`."""


TABLE: tuple[Check, ...] = ()
