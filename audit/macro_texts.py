"""What the generated macros print, read from the generated text itself: the one place where a key and its printed form stand side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Printed", "read_printed"]

LINE = re.compile(r"^\\@namedef\{audit@(val|plain|number|verdict|prov|label|unjudged)@([^{}]*)\}\{(.*)\}$", re.MULTILINE)
CLAIM = re.compile(r"^\\@namedef\{audit@claims@\\detokenize\{(.*)\}\}\{(\w+)\}$", re.MULTILINE)


@dataclass(frozen=True)
class Printed:
    """LaTeX texts by key; values by (format, key)."""

    values: dict[tuple[str, str], str] = field(default_factory=dict)
    plain: dict[tuple[str, str], str] = field(default_factory=dict)
    """Values as plain text."""
    numbers: dict[tuple[str, str], str] = field(default_factory=dict)
    """Values as siunitx reads them, where they are single numbers."""
    verdicts: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    unjudged: dict[str, str] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    """Condition -> `holds`, or what else the macro chooses by."""


def read_printed(definitions: str) -> Printed:
    """The texts of a macros' file."""
    found = Printed()
    families = {"verdict": found.verdicts, "prov": found.provenance, "label": found.labels, "unjudged": found.unjudged}
    by_form = {"val": found.values, "plain": found.plain, "number": found.numbers}
    for family, name, text in LINE.findall(definitions):
        if family in by_form:
            form, _, key = name.partition("@")
            by_form[family][form, key] = text.replace("\\%", "%") if family == "plain" else text
        else:
            families[family][name] = text
    found.claims.update(CLAIM.findall(definitions))
    return found
