"""The pages on which the last build printed each value, as the PDF carries them."""

from __future__ import annotations

from audit.context import Context
from audit.finding import Refusal
from audit.marks import read_attached

__all__ = ["find_pages"]


def find_pages(context: Context) -> dict[tuple[str, str], tuple[str, ...]]:
    """(form, key) -> pages in order; `verdict`, `choice` and the like are the forms of the other macros. Empty without a PDF that says so."""
    path = context.root / context.config.paths.pdf
    try:
        typeset = read_attached(path) if path.is_file() else None
    except Refusal:
        return {}  # the check of the PDF says so
    pages: dict[tuple[str, str], dict[str, None]] = {}
    for mark in typeset.marks if typeset else ():
        pages.setdefault((mark.form, mark.key), {})[str(mark.page)] = None
    return {use: tuple(found) for use, found in pages.items()}
