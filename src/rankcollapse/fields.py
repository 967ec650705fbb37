"""Types of the fields of `params.yaml`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field

ROLES = ("shallow", "deep")
Role = Literal["shallow", "deep"]
Steps = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Number = TypeVar("Number", int, float)


def refuse_unsorted(values: tuple[Number, ...]) -> tuple[Number, ...]:
    """The values, if there is one, and each is larger than the one before."""
    if not values or list(values) != sorted(set(values)):
        raise ValueError("different values, smallest first")
    return values


Rising = Annotated[tuple[Number, ...], AfterValidator(refuse_unsorted)]


Seeds = Annotated[tuple[Annotated[int, Field(ge=0, lt=2**63)], ...], Field(min_length=1)]


def refuse_twins(seeds: tuple[int, ...]) -> tuple[int, ...]:
    """The seeds, unless one stands twice."""
    twins = sorted({seed for seed in seeds if seeds.count(seed) > 1})
    if twins:
        raise ValueError(f"each seed once (twice: {', '.join(map(str, twins))})")
    return seeds
