"""A408: every template renders from the records as they are, and prints numbers through the filters only."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal
from audit.render import generate

CODE = "A408"


def check_templates(context: Context) -> Iterator[Finding]:
    """Numbers that a template puts together, and the first template that does not render; unknown keys of the manuscript itself are A402."""
    if load_document(context).main is None:
        return
    try:
        for path, literal in generate(context).typed:
            yield Finding(code=CODE, place=path, what=f"prints {literal}, a measured number that no filter printed", cure="a quantity with the filter val")
    except Refusal as refusal:
        place = refusal.place.split(":")[0]
        if place.endswith(".j2") and refusal.place not in {use.place for use in load_document(context).uses()}:
            yield Finding(code=CODE, place=refusal.place, what=str(refusal).removeprefix(f"{refusal.place}: "))
