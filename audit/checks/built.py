"""A501 to A504: the PDF that lies here was built from these sources and shows their numbers, and no others."""

from __future__ import annotations

from collections.abc import Iterator

from audit.building import compare_text
from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, Severity
from audit.pdf import document_digest, read_stamp

BUILD = "dvc repro paper, or audit pdf"


def check_pdf(context: Context) -> Iterator[Finding]:
    """The PDF's presence, its sources' digest, and its numbers."""
    name = context.config.paths.pdf
    path = context.root / name
    if load_document(context).main is None:
        return
    if not path.is_file() or not (context.root / context.config.paths.generated).is_dir():
        yield Finding(code="A501", severity=Severity.NOTE, place=name, what="not built here", cure=BUILD)
        return
    try:
        stamp, wanted = read_stamp(path), document_digest(context)
        if stamp != wanted:
            yield Finding(
                code="A504", place=name, what="built from other sources", expected=wanted[:12], observed=(stamp or "no digest")[:12], cure=BUILD
            )
        yield from compare_text(context, path)
    except Refusal as refusal:
        yield Finding(code="A501", severity=Severity.UNCHECKED, place=name, what=str(refusal).removeprefix(f"{refusal.place}: "))
