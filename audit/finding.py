"""What an audit says: findings, and the one exception that stops a command."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from typing import Literal

from pydantic import BaseModel, ConfigDict

HOLDS, FOUND, UNCHECKED = 0, 1, 2


class Severity(StrEnum):
    """How much a finding weighs: it fails, it could not be decided, or it only informs."""

    FINDING = "finding"
    UNCHECKED = "unchecked"
    NOTE = "note"


class Finding(BaseModel):
    """One thing the audit found, in a form that a line, a JSON object or a report can show."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["finding"] = "finding"
    code: str
    """A1xx registrations, A2xx order and time, A3xx records and pipeline, A4xx numbers, A5xx document."""
    severity: Severity = Severity.FINDING
    place: str
    """`path`, `path:line` or `path:line:column`, relative to the project's root."""
    what: str
    """The fault in one clause, without a full stop."""
    expected: str = ""
    observed: str = ""
    cure: str = ""

    def line(self) -> str:
        """The finding as one line of text."""
        parts = [self.what]
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.observed:
            parts.append(f"found {self.observed}")
        if self.cure:
            parts.append(f"cure: {self.cure}")
        mark = {Severity.FINDING: "", Severity.UNCHECKED: "could not check: ", Severity.NOTE: "note: "}[self.severity]
        return f"{self.code} {self.place} {mark}{'; '.join(parts)}"


def exit_code(findings: Iterable[Finding]) -> int:
    """0 when nothing was found, 1 for a finding, else 2 where something could not be checked."""
    severities = {finding.severity for finding in findings}
    if Severity.FINDING in severities:
        return FOUND
    return UNCHECKED if Severity.UNCHECKED in severities else HOLDS


class Refusal(Exception):
    """Bad input or a state in which a command must not go on: one clear line and an exit code."""

    def __init__(self, place: object, what: str, *, expected: str = "", observed: str = "", cure: str = "", code: int = UNCHECKED):
        self.place, self.what, self.code = str(place), what, code
        self.expected, self.observed, self.cure = expected, observed, cure
        clauses = [what, expected and f"expected {expected}", observed and f"found {observed}", cure and f"cure: {cure}"]
        super().__init__(f"{self.place}: " + "; ".join(clause for clause in clauses if clause))

    def __reduce__(self) -> tuple[object, ...]:
        """A refusal survives the way home from a worker process."""
        details = {"expected": self.expected, "observed": self.observed, "cure": self.cure, "code": self.code}
        return partial(type(self), **details), (self.place, self.what)
