"""A412: a constant that the text calls by a parameter's name has a value which that parameter has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding
from audit.numbers.exemptions import load_exemptions
from audit.numbers.literals import Literal, parse_decimal
from audit.numbers.scan import Scan

CODE = "A412"
LINK = r"s?(?:[\s\u00a0~$(:=≈]|\b(?:of|is|was|were|are|be|to|set|fixed|kept|at|about)\b)*$"
REACH = 60


def check_constants(context: Context) -> Iterator[Finding]:
    """Each constant that is not its parameter's value, unless it is exempted."""
    exempted = {(exemption.place, exemption.pattern) for exemption in load_exemptions(context)}
    for scan, literal, name, held in find_constants(context):
        if (scan.path, literal.text) not in exempted:
            yield Finding(
                code=CODE, place=scan.place(literal.source_start), what=f"{name} {literal.text} is not what {context.config.paths.parameters} holds",
                observed=", ".join(sorted(map(str, held))[:4]), cure="correct it, or cite the value from a record",
            )  # fmt: skip


def find_constants(context: Context) -> Iterator[tuple[Scan, Literal, str, set[Decimal]]]:
    """Each design constant that stands behind the name of a parameter, `learning rate of 0.003`, and equals none of its values.

    The class comes from the context alone, and only names of two words or more are looked for: a batch or a width may be anybody's.
    """
    values = named_values(context.parameters)
    if not values:
        return
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(values, key=len, reverse=True)))}){LINK}", re.IGNORECASE)
    for scan in load_document(context).all:
        text = scan.reading.main.text()
        for number in scan.numbers:
            literal = number.literal
            if number.cls != "design" or literal.stream != "main":
                continue
            named = pattern.search(text[max(0, literal.start - REACH) : literal.start].replace("\n", " "))
            value = value_of(literal)
            if named and value is not None and value not in (held := values[named[1].lower()]):
                yield scan, literal, named[1], held


def value_of(literal: Literal) -> Decimal | None:
    """The literal as a parameter file would hold it."""
    value = parse_decimal(literal.plain)
    return value / 100 if value is not None and literal.percent else value


def named_values(tree: Any, name: str = "") -> dict[str, set[Decimal]]:
    """Every name of two words or more in a parameter tree, and the numbers anywhere below it: `learning rate` -> {0.002}."""
    found: dict[str, set[Decimal]] = {}
    pairs = tree.items() if isinstance(tree, Mapping) else ((name, item) for item in tree) if isinstance(tree, (list, tuple)) else ()
    for key, below in pairs:
        word = str(key).replace("_", " ").replace("-", " ").lower()
        for inner, values in named_values(below, word).items():
            found.setdefault(inner, set()).update(values)
            if " " in word:
                found.setdefault(word, set()).update(values)
    if not pairs and isinstance(tree, (int, float)) and not isinstance(tree, bool) and " " in name:
        found[name] = {Decimal(str(tree))}
    return found
