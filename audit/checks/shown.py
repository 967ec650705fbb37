"""A406: every registered prediction's verdict stands in the document."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.denominator import verdict_records
from audit.document import load_document
from audit.finding import Finding
from audit.render import shown_marks

CODE = "A406"


def check_verdicts_shown(context: Context) -> Iterator[Finding]:
    """Predictions that neither `\\verdict`, `\\ifverdict` nor an included table shows."""
    document, records = load_document(context), verdict_records(context)
    if document.main is None or not records:
        return
    shown = {use.key for use in document.uses() if use.command in ("verdict", "ifverdict")}
    shown |= shown_marks(context)
    for registration, (path, record) in sorted(records.items()):
        for row in record["predictions"]:
            if f"{registration}.{row['id']}" not in shown:
                yield Finding(
                    code=CODE, place=document.main, what=f"the verdict of {registration}.{row['id']} is not shown",
                    expected=f"\\verdict{{{registration}.{row['id']}}} or a verdict table", observed=f"{row['verdict']} in {path}",
                )  # fmt: skip
