"""A506: what LaTeX read is what the audit read, and no other document of the folder passes for the audited one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, Severity
from audit.pdf import GRAPHICS, document_paths, read_build

CODE = "A506"


def check_inputs(context: Context) -> Iterator[Finding]:
    """Files of the project, or of no TeX distribution, that LaTeX read and the audit did not; and documents that are not audited."""
    document = load_document(context)
    if document.main is None:
        return
    audited = {path.resolve() for path in document_paths(context)}
    for path in sorted(path for path in audited if not path.is_relative_to(context.root.resolve())):
        yield Finding(code=CODE, place=str(path), what="the document includes this file, which lies outside the project", cure="copy it into the project: it is no output of its stages")
    for path in other_documents(context, audited):
        what = f"another document beside {document.main}: its numbers are not audited"
        yield Finding(code=CODE, severity=Severity.NOTE, place=path, what=what, cure="name it in audit.toml of a project of its own, or remove it")
    for name in read_files(context):
        if (context.root / name).resolve() not in audited:
            where = "lies outside the project, in no TeX distribution" if name.startswith("/") else "the audit did not read it"
            drawn = name.endswith(GRAPHICS[1:])
            cure = "name the figure in full, without a macro" if drawn else "load it by \\input or \\usepackage from beside the manuscript"
            yield Finding(code=CODE, place=name, what=f"LaTeX read this file and {where}", cure=cure)


def read_files(context: Context) -> tuple[str, ...]:
    """What LaTeX read for the PDF that lies here, where it was built from these sources."""
    path = context.root / context.config.paths.pdf
    try:
        typeset = read_build(context)[2] if path.is_file() else None
    except Refusal:
        return ()  # the same refusal is A501
    return typeset.files if typeset else ()


def other_documents(context: Context, audited: set[Path]) -> Iterator[str]:
    """Sources under the manuscript's folder that begin a document and are no part of the audited one."""
    folder, generated = (context.root / context.config.paths.manuscript).parent, context.root / context.config.paths.generated
    for path in sorted(folder.rglob("*.tex")):
        if path.resolve() not in audited and generated not in path.parents and path.is_file() and b"\\documentclass" in path.read_bytes():
            yield path.relative_to(context.root).as_posix()
