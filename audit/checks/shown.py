"""A406: every registered prediction's verdict stands in the document."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.denominator import verdict_records
from audit.document import Document, load_document
from audit.finding import Finding
from audit.printed import arguments
from audit.render import shown_marks

CODE = "A406"


def find_choices(document: Document) -> Iterator[tuple[str, str, list[str]]]:
    """(prediction, place, sentences) of each `\\ifverdict` of the document."""
    for scan in document.all:
        for command, _, key, offset, _ in scan.reading.uses:
            if command == "ifverdict":
                yield key, scan.place(offset), [" ".join(text.split()) for text in arguments(scan.reading.source, offset)[1:]]


def check_verdicts_shown(context: Context) -> Iterator[Finding]:
    """Predictions that neither `\\verdict`, `\\ifverdict` nor an included table shows."""
    document, records = load_document(context), verdict_records(context)
    if document.main is None or not records:
        return
    shown = {use.key for use in document.uses() if use.command == "verdict"} | shown_marks(context)
    for key, place, sentences in find_choices(document):
        if len(sentences) < 2 or sentences[0] != sentences[1]:
            shown.add(key)
        elif sentences[0]:
            yield Finding(code=CODE, place=place, what=f"\\ifverdict{{{key}}} says the same whether it is met or missed", observed=sentences[0][:60], cure="write a sentence for each")
    for registration, (path, record) in sorted(records.items()):
        for row in record["predictions"]:
            if f"{registration}.{row['id']}" not in shown:
                yield Finding(
                    code=CODE, place=document.main, what=f"the verdict of {registration}.{row['id']} is not shown",
                    expected=f"\\verdict{{{registration}.{row['id']}}} or a verdict table", observed=f"{row['verdict']} in {path}",
                )  # fmt: skip
