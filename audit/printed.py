"""What the generated macros print, read from the generated text itself: the one place where a key and its printed form stand side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Printed", "read_printed"]

LINE = re.compile(r"^\\@namedef\{audit@(val|verdict|prov|label|unjudged)@([^{}]*)\}\{(.*)\}$", re.MULTILINE)


@dataclass(frozen=True)
class Printed:
    """LaTeX texts by key; values by (format, key)."""

    values: dict[tuple[str, str], str] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    unjudged: dict[str, str] = field(default_factory=dict)


def read_printed(definitions: str) -> Printed:
    """The texts of a macros' file."""
    found = Printed()
    families = {"verdict": found.verdicts, "prov": found.provenance, "label": found.labels, "unjudged": found.unjudged}
    for family, name, text in LINE.findall(definitions):
        if family == "val":
            form, _, key = name.partition("@")
            found.values[form, key] = text
        else:
            families[family][name] = text
    return found
