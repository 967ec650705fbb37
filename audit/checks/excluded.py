"""A410: no record has more units than were registered, and a verdict that excluded units would turn is shown with its attrition."""

from __future__ import annotations

from collections.abc import Iterator

from audit.appendix import attrition_mark, compute_attrition
from audit.attrition import Attrition
from audit.context import Context
from audit.document import load_document
from audit.finding import Finding
from audit.render import shown_marks

CODE = "A410"


def check_excluded(context: Context) -> Iterator[Finding]:
    """Each verdict that flips when excluded units count against it and the document does not say so."""
    found = compute_attrition(context)
    flipping = {name: each for name, each in found.items() if each.flips}
    main = load_document(context).main
    if flipping and main is not None:
        shown = shown_marks(context)
        for name, each in flipping.items():
            if attrition_mark(name) not in shown:
                yield describe_flip(main, name, each)


def describe_flip(main: str, name: str, each: Attrition) -> Finding:
    """A verdict that hangs on what was left out."""
    rule = f" (undecided where {each.rule})" if each.rule else ""
    return Finding(
        code=CODE, place=main, what=f"{name} is {each.verdict} without {each.excluded} excluded units{rule} and {each.against} with them against it",
        expected="an included table over attrition()", cure="show the attrition table: << row.against >> of each row",
    )  # fmt: skip
