"""The forms a comparison can have: one table, read by the parser and by editors."""

from __future__ import annotations

from typing import Any

TARGETS = ("value", "frozen", "low", "high", "than", "band", "order", "rank_correlation", "labels")
COMPARE = (">=", ">", "<=", "<", "==")
FORMS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (COMPARE, ("value",)),
    (COMPARE, ("frozen",)),
    (COMPARE, ("than",)),
    (("in",), ("low", "high")),
    (("in",), ("value", "band")),
    (("in",), ("than", "band")),
    (COMPARE[:4], ("order",)),
    (COMPARE, ("value", "rank_correlation")),
    (COMPARE[:4], ("value", "labels")),
    (COMPARE[:4], ("frozen", "labels")),
)
"""Operators, and the targets that stand with them: nothing else is a comparator."""


def describe_forms(schema: dict[str, Any]) -> None:
    """Give editors the same table of forms that the parser has."""
    forms: list[dict[str, Any]] = []
    for operators, targets in FORMS:
        absent = {name: False for name in (*TARGETS, *(["all"] if "all" in schema["properties"] else [])) if name not in targets}
        required = ["op", *targets, *(["units"] if "labels" in targets else [])]
        without = {"units": False} if "rank_correlation" in targets else {}
        forms.append({"required": required, "properties": {"op": {"enum": list(operators)}, **absent, **without}})
    if "all" in schema["properties"]:
        forms.append({"required": ["all"], "properties": dict.fromkeys(("op", "units", *TARGETS), False)})
    schema["oneOf"] = forms
