"""A405: every line of the manuscript was read, and every file that it includes."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Severity

CODE = "A405"


def check_read(context: Context) -> Iterator[Finding]:
    """Lines whose context could not be read, and files that are missing or lie elsewhere."""
    document = load_document(context)
    if document.main is None:
        cure = "write it, or name it in audit.toml under [paths]: manuscript, generated, pdf, exemptions"
        yield Finding(code=CODE, severity=Severity.NOTE, place=context.config.paths.manuscript, what="no manuscript; its numbers were not read", cure=cure)
        return
    for place, reason in document.broken:
        yield Finding(code=CODE, severity=Severity.UNCHECKED, place=place, what=reason, cure="restore the file, or remove the command")
    for scan in document.all:
        for unread in scan.unread():
            place = f"{scan.path}:{unread.first}"
            last = f" (to line {unread.last})" if unread.last != unread.first else ""
            yield Finding(
                code=CODE, severity=Severity.UNCHECKED, place=place, what=f"{unread.why}{last}", cure="close it, so that the lines can be read"
            )
        for note in scan.notes:
            yield Finding(code=CODE, severity=Severity.NOTE, place=scan.path, what=note, cure="save it as UTF-8")
