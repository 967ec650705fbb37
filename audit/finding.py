"""What an audit says: findings, and the one exception that stops a command."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

HOLDS, FOUND, UNCHECKED = 0, 1, 2


def escape(text: str) -> str:
    """The text in one line that shows what it is: line ends, control characters and lone surrogates as escapes."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


Line = Annotated[str, BeforeValidator(lambda text: escape(text) if isinstance(text, str) else text)]
"""Text from anywhere, a file's name with a line end in it too: it can forge no line of a report."""


def several(number: int, noun: str) -> str:
    """A number with its noun: `1 deviation`, `2 deviations`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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
    place: Line
    """`path`, `path:line` or `path:line:column`, relative to the project's root."""
    what: Line
    """The fault in one clause, without a full stop."""
    expected: Line = ""
    observed: Line = ""
    cure: Line = ""

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
        super().__init__(escape(f"{self.place}: " + "; ".join(clause for clause in clauses if clause)))

    def __reduce__(self) -> tuple[object, ...]:
        """A refusal survives the way home from a worker process."""
        details = {"expected": self.expected, "observed": self.observed, "cure": self.cure, "code": self.code}
        return partial(type(self), **details), (self.place, self.what)
