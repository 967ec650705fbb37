"""What was amended and what deviates, as `status` and `evaluate` say it: a count and one line each."""

from __future__ import annotations

from collections.abc import Iterator

from audit.chain import standing_amendments
from audit.context import Context
from audit.deviations import find_deviations
from audit.finding import Refusal, escape, several


def count_changes(context: Context, name: str) -> str:
    """How many amendments and deviations, and how many of them wait for a seal or a reason; "" where there are none."""
    drafts = len(list((context.root / context.config.paths.prereg).glob(f"{name}.amendment-*.yaml")))
    amended = len(standing_amendments(context, name))
    rows = find_deviations(context, name) if name in context.seals else ()
    undeclared = sum(1 for row in rows if row.why is None and context.seals[name].version > 1)
    parts = [f"{amended} amended" if amended else "", f"{several(drafts - amended, 'amendment')} not sealed" if drafts > amended else ""]
    parts += [several(len(rows), "deviation") + (f", {undeclared} not declared" if undeclared else "") if rows else ""]
    return "; ".join(part for part in parts if part)


def list_changes(context: Context, name: str) -> Iterator[str]:
    """A line for each amendment and each deviation."""
    for link in standing_amendments(context, name):
        amended = ", ".join(prediction.id for prediction in link.amendment.predictions)
        yield f"amendment {link.amendment.number}, sealed {link.sealed}: {amended}; why: {link.amendment.why}; known: {link.amendment.known}"
    for row in find_deviations(context, name) if name in context.seals else ():
        yield f"deviation, {row.kind} {row.what}: registered {row.registered}, run {row.run}; why: {row.why or 'not declared'}"


def print_changes(name: str) -> None:
    """Amendments and deviations below the verdicts; that they cannot be told is one line, and takes no verdict away."""
    context = Context.open()
    try:
        lines = [count_changes(context, name), *list_changes(context, name)]
    except Refusal as refusal:
        lines = [f"amendments and deviations cannot be told: {refusal}"]
    for line in filter(None, lines):
        print(escape(f"  {line}"))
