"""Exemptions: numbers that may be typed, each with its file, its literal text, a reason and how often it occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from audit.context import Context
from audit.load import parse_yaml
from audit.records import Frozen, parse_model

__all__ = ["Exemption", "Exemptions", "load_exemptions", "match_exemptions"]


class Exemption(Frozen):
    """One number (or construct) that stands typed in one file for a reason."""

    place: str
    """The file, relative to the project's root."""
    pattern: str = Field(min_length=1)
    """The literal's text as the finding prints it; no wildcard."""
    reason: str = Field(min_length=10)
    count: int = Field(ge=1, default=1)
    """In how many places it occurs."""


class Exemptions(Frozen):
    """The whole of `exemptions.yaml`."""

    version: int = Field(ge=1, le=1)
    exemptions: tuple[Exemption, ...] = ()


def load_exemptions(context: Context) -> tuple[Exemption, ...]:
    """The project's exemptions; none where the file is absent."""
    path = context.config.paths.exemptions
    data = context.bytes_of(path)
    return () if data is None else parse_model(Exemptions, parse_yaml(data, path), path).exemptions


def match_exemptions(
    exemptions: Iterable[Exemption], typed: Iterable[tuple[str, str]]
) -> tuple[set[tuple[str, str]], list[tuple[int, Exemption, int]]]:
    """The (file, text) pairs that are exempted, and each exemption whose count differs with its number and what was found."""
    seen = Counter(typed)
    wrong, named = [], Counter((exemption.place, exemption.pattern) for exemption in exemptions)
    exempted = set()
    for number, exemption in enumerate(exemptions, start=1):
        pair = (exemption.place, exemption.pattern)
        exempted.add(pair)
        if seen[pair] != exemption.count or named[pair] > 1:
            wrong.append((number, exemption, seen[pair]))
    return exempted, wrong
