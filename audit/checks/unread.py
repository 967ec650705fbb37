"""A405: every line of the manuscript was read, and every file that it includes."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, Severity

CODE = "A405"


def check_read(context: Context) -> Iterator[Finding]:
    """Lines whose context could not be read, and files that are missing or lie elsewhere."""
    document = load_document(context)
    if document.main is None:
        yield describe_absent(context)
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


def describe_absent(context: Context) -> Finding:
    """A note in a project without a manuscript; a finding where HEAD holds it or `audit.toml` names it."""
    path = context.config.paths.manuscript
    if "manuscript" not in context.config.paths.model_fields_set and not is_committed(context, path):
        cure = "write it, or name it in audit.toml under [paths]: manuscript, generated, pdf, exemptions"
        return Finding(code=CODE, severity=Severity.NOTE, place=path, what="no manuscript; its numbers were not read", cure=cure)
    cure = f"git checkout HEAD -- {path}, or correct [paths] in audit.toml"
    return Finding(code=CODE, place=path, what="the manuscript is missing; its numbers were not read", cure=cure)


def is_committed(context: Context, path: str) -> bool:
    """Whether HEAD holds a file, as far as there is a history."""
    try:
        return context.history.blob_at(context.history.head, path) is not None
    except Refusal:
        return False
