"""How a run differed from what was registered, and what a project declares of it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from audit.finding import Refusal
from audit.load import parse_yaml
from audit.records import Frozen, Sha256, parse_model

Kind = Literal["parameters", "data", "code", "seeds", "packages", "configuration", "outcome"]


class Difference(Frozen):
    """One difference between the commit that brought a seal and what ran under it."""

    kind: Kind
    what: str
    """Dotted key of a parameter, path of a file or record, or name of a package."""
    registered: str
    """A value, the first digits of a SHA-256, or `absent`."""
    run: str
    why: str | None = None
    """As it was declared; absent where nobody declared it."""


class Declared(Frozen):
    """One entry of `prereg/<id>.deviations.yaml`, written by hand."""

    kind: Kind
    what: str = Field(min_length=1)
    """What differs; a key or folder stands for all that is below it."""
    first: Sha256 | None = None
    """Of an outcome: SHA-256 of the record that was committed first, and is the outcome."""
    later: Sha256 | None = None
    """Of an outcome: SHA-256 of the record that came after it, or beside it."""
    why: str = Field(min_length=1)

    @field_validator("why")
    @classmethod
    def _says_something(cls, why: str) -> str:
        if "EDIT-ME" in why or not any(letter.isalpha() for letter in why):
            raise ValueError("a reason in words")
        return why

    @model_validator(mode="after")
    def _names_both(self) -> Declared:
        if (self.kind == "outcome") != (self.first is not None and self.later is not None):
            raise ValueError("first and later, the SHA-256 of both records, for an outcome and for nothing else")
        return self

    def covers(self, difference: Difference) -> bool:
        """Whether this entry declares a difference."""
        if self.kind == "outcome":
            said = {digest[: len(difference.run)] for digest in (self.first, self.later) if digest}
            return difference.kind == "outcome" and self.what == difference.what and said == {difference.registered, difference.run}
        below = self.what.rstrip("/") + ("." if self.kind == "parameters" else "/")
        return self.kind == difference.kind and (difference.what == self.what or difference.what.startswith(below))


def parse_declared(data: bytes, place: str) -> tuple[Declared, ...]:
    """Read a file of declared deviations: a list, strictly."""
    value: Any = parse_yaml(data, place)
    if not isinstance(value, list):
        raise Refusal(place, "is no list of deviations", expected="- {kind: ..., what: ..., why: ...}", observed=type(value).__name__)
    return tuple(parse_model(Declared, item, f"{place}:{index}") for index, item in enumerate(value))
