"""A501 to A504: the PDF that lies here was built from these sources and shows their numbers, and no others."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, Severity
from audit.pdf import read_build
from audit.printed import compare_pdf, find_unprinted

BUILD = "dvc repro paper, or audit pdf"
AGAIN = "audit pdf, or dvc repro paper where its deps name what changed"


def check_pdf(context: Context) -> Iterator[Finding]:
    """The PDF's presence, its sources' digest, and its numbers."""
    name = context.config.paths.pdf
    path = context.root / name
    if load_document(context).main is None:
        return
    if not path.is_file():
        yield Finding(code="A501", severity=Severity.NOTE, place=name, what="not built here", cure=BUILD)
        return
    if not (context.root / context.config.paths.generated).is_dir():
        what = "the generated files that it was built from are not here"
        yield Finding(code="A501", severity=Severity.UNCHECKED, place=name, what=what, cure=f"audit render, then {BUILD}; or remove it")
        return
    try:
        stamp, wanted, typeset = read_build(context)
        if typeset is None:
            what = "built from other sources" if stamp != wanted else "carries nothing of what LaTeX wrote down, or not of these bytes: another program saved it"
            yield Finding(code="A504", place=name, what=what, expected=wanted[:12], observed=(stamp or "no digest")[:12], cure=AGAIN)
            return
        yield from find_unprinted(context, typeset.marks)
        yield from compare_pdf(context, path, typeset).findings
    except Refusal as refusal:
        yield Finding(code="A501", severity=Severity.UNCHECKED, place=name, what=str(refusal).removeprefix(f"{refusal.place}: "))
