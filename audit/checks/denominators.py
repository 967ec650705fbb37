"""A411: a document that shows a verdict shows of how many predictions it is one."""

from __future__ import annotations

from collections.abc import Iterator

from audit.appendix import denominator_mark
from audit.context import Context
from audit.denominator import verdict_records
from audit.document import load_document
from audit.finding import Finding
from audit.render import shown_marks

CODE = "A411"
WHOLE = ("met", "of")


def check_denominators(context: Context) -> Iterator[Finding]:
    """Registrations whose verdicts the document shows without `k of n`: by two values, a phrase, or a table of all verdicts."""
    document, records = load_document(context), verdict_records(context)
    if document.main is None or not records:
        return
    names = {path: name for name, path in context.config.records.items()}
    uses = [use for use in document.uses() if not use.place.partition(":")[0].endswith(".j2")]
    cited = {use.key for use in uses if use.command == "val"}
    tables = shown_marks(context)
    verdicts = {use.key for use in uses if use.command in ("verdict", "ifverdict")}
    for registration, (path, record) in sorted(records.items()):
        rows = {f"{registration}.{row['id']}" for row in record["predictions"]}
        counted = {f"{names.get(path)}.{part}" for part in WHOLE} <= cited
        if rows & (verdicts | tables) and not (counted or rows <= tables or denominator_mark(registration) in tables):
            name = names.get(path, registration)
            yield Finding(
                code=CODE, place=document.main, what=f"shows verdicts of {registration} and not of how many",
                expected=f"\\val{{{name}.met}} of \\val{{{name}.of}}, a table of all its verdicts, or its phrase of denominator()",
                cure="print both counts, or include the table",
            )  # fmt: skip
