"""A401: every number that a reader takes for measured is cited from a record, or exempted with a reason."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Severity, several
from audit.numbers.exemptions import load_exemptions, match_exemptions
from audit.numbers.keys import Keys
from audit.numbers.matches import Matches

CODE = "A401"


def check_typed(context: Context) -> Iterator[Finding]:
    """Each typed result, with the keys whose printed form it equals."""
    typed = load_document(context).typed()
    exempted, _ = match_exemptions(load_exemptions(context), ((scan.path, number.literal.text) for scan, number in typed))
    matches = Matches(Keys.of(context))
    for scan, number in typed:
        if (scan.path, number.literal.text) not in exempted:
            kind = "number in words" if number.literal.words else "typed number"
            yield Finding(
                code=CODE, place=scan.place(number.literal.source_start), what=f"{kind} {number.literal.text}; {matches.describe(number.literal)}",
                cure="cite it with \\val, or exempt it with a reason",
            )  # fmt: skip
    yield from note_verbatim(context)


def note_verbatim(context: Context) -> Iterator[Finding]:
    """What verbatim text and listings show with a decimal point is not read as a result, and said so: one note a source."""
    for scan in load_document(context).all:
        shown = [number for number in scan.numbers if number.rule == "verbatim" and "." in number.literal.text]
        if shown:
            what = f"not checked: {several(len(shown), 'number')} in verbatim text or a listing, first {shown[0].literal.text}"
            cure = "print results outside of it, with \\val"
            yield Finding(code=CODE, severity=Severity.NOTE, place=scan.place(shown[0].literal.source_start), what=what, cure=cure)


def count_numbers(context: Context) -> str:
    """How many numbers were read, by class."""
    document = load_document(context)
    numbers = [number for scan in document.all for number in scan.numbers]
    quoted = sum(number.rule.startswith("quoted") for number in numbers)
    bound = sum(use.command == "val" for use in document.uses())
    return f"{len(numbers)} literals, {bound} bound values, {quoted} quoted beside citations, {len(load_exemptions(context))} exemptions"
