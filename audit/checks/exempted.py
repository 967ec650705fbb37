"""A404: each exemption matches exactly the number of places it names."""

from __future__ import annotations

from collections.abc import Iterator

from audit.checks.constants import find_constants
from audit.checks.constructs import find_constructs
from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, several
from audit.numbers.exemptions import Exemption, load_exemptions, match_exemptions, parse_exemptions

CODE = "A404"


def check_exemptions(context: Context) -> Iterator[Finding]:
    """An invalid file, and exemptions that match nothing, more or fewer places than they say, or stand twice."""
    try:
        exemptions = parse_exemptions(context)
    except Refusal as refusal:
        details = {"expected": refusal.expected, "observed": refusal.observed, "cure": f"{refusal.cure}: nothing is exempted until then"}
        yield Finding(code=CODE, place=refusal.place, what=refusal.what, **details)
        return
    document = load_document(context)
    typed = [(scan.path, number.literal.text) for scan, number in document.typed()]
    typed += [(scan.path, literal.text) for scan, literal, _, _ in find_constants(context)]
    constructs = [(scan.path, name) for scan in document.all for name, _, _ in find_constructs(scan)]
    read = {scan.path for scan in document.all}
    for number, exemption, found in match_exemptions(exemptions, [*typed, *constructs])[1]:
        yield Finding(
            code=CODE, place=context.config.paths.exemptions, what=f"exemption {number} of {exemption.pattern!r} in {exemption.place}",
            expected=f"{several(exemption.count, 'place')}, named once", observed=describe_count(exemption, found, read),
            cure="remove it, or correct place, pattern and count: each is taken literally",
        )  # fmt: skip


def describe_count(exemption: Exemption, found: int, read: set[str]) -> str:
    """What is wrong with an exemption."""
    if exemption.place not in read:
        return f"no source of this name among {several(len(read), 'file')} read"
    return str(found) if found != exemption.count else "named twice"


def count_exemptions(context: Context) -> str:
    """How many exemptions there are, and of how many places."""
    exemptions = load_exemptions(context)
    return f"{several(len(exemptions), 'exemption')} of {several(sum(exemption.count for exemption in exemptions), 'place')}"
