"""A404: each exemption matches exactly the number of places it names."""

from __future__ import annotations

from collections.abc import Iterator

from audit.checks.constructs import find_constructs
from audit.context import Context
from audit.document import load_document
from audit.finding import Finding
from audit.numbers.exemptions import load_exemptions, match_exemptions

CODE = "A404"


def check_exemptions(context: Context) -> Iterator[Finding]:
    """Exemptions that match nothing, more or fewer places than they say, or stand twice."""
    document = load_document(context)
    typed = [(scan.path, number.literal.text) for scan, number in document.typed()]
    constructs = [(scan.path, name) for scan in document.all for name, _, _ in find_constructs(scan)]
    _, wrong = match_exemptions(load_exemptions(context), [*typed, *constructs])
    for number, exemption, found in wrong:
        yield Finding(
            code=CODE, place=context.config.paths.exemptions, what=f"exemption {number} of {exemption.pattern!r} in {exemption.place}",
            expected=f"{exemption.count} places, named once", observed=str(found) if found != exemption.count else "named twice",
            cure="remove it, or correct pattern and count",
        )  # fmt: skip
