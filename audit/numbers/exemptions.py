"""Exemptions: numbers that may be typed, each with its file, its literal text, a reason and how often it occurs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field

from audit.context import Context
from audit.definitions import OURS
from audit.finding import Refusal
from audit.load import parse_yaml
from audit.records import Frozen, parse_model

__all__ = ["Exemption", "Exemptions", "load_exemptions", "match_exemptions", "parse_exemptions"]

WORD = re.compile(r"[^\W\d_]{2,}")
UNWRITTEN = re.compile(r"\b(?:TODO|TBD|FIXME|XXX+)\b|\?\?", re.IGNORECASE)


def in_words(reason: str) -> str:
    """A reason that says something: at least two words, and none that stands for one to come."""
    if len(WORD.findall(reason)) < 2 or UNWRITTEN.search(reason):
        raise ValueError("a reason in words")
    return reason


def not_ours(pattern: str) -> str:
    """A pattern that is none of our macros: whoever redefines one of them types every number."""
    if pattern.lstrip("\\") in OURS or "audit@" in pattern:
        raise ValueError("a number or a construct; our own macros are never exempted")
    return pattern


class Exemption(Frozen):
    """One number (or construct) that stands typed in one file for a reason."""

    place: str
    """The file, relative to the project's root."""
    pattern: Annotated[str, AfterValidator(not_ours)] = Field(min_length=1)
    """The literal's text, or the construct's name, as the finding prints it; no wildcard."""
    reason: Annotated[str, AfterValidator(in_words)] = Field(min_length=10)
    """Why it is no result, in words."""
    count: int = Field(ge=1, default=1)
    """In how many places it occurs."""


class Exemptions(Frozen):
    """The whole of `exemptions.yaml`."""

    version: int = Field(ge=1, le=1)
    exemptions: tuple[Exemption, ...] = ()


def parse_exemptions(context: Context) -> tuple[Exemption, ...]:
    """The project's exemptions; none where the file is absent, and refused where it is not valid."""
    path = context.config.paths.exemptions
    data = context.bytes_of(path)
    return () if data is None else parse_model(Exemptions, parse_yaml(data, path), path).exemptions


def load_exemptions(context: Context) -> tuple[Exemption, ...]:
    """The same; a file that is not valid, which A404 says once, exempts nothing."""
    try:
        return parse_exemptions(context)
    except Refusal:
        return ()


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
