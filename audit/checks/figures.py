"""A507: each figure is what a run made from the records that are here; of what no run made, the report says that it was not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from audit.context import Context
from audit.digest import sha256_bytes, sha256_file, sha256_tree
from audit.document import load_document
from audit.finding import Finding, Severity
from audit.pdf import graphic_paths
from audit.records import RunLog

CODE = "A507"
DRAWN = re.compile(r"^[^%\n]*\\begin\{(tikzpicture|pgfpicture|axis|semilogyaxis|semilogxaxis|loglogaxis|picture|pspicture)\}", re.MULTILINE)


def check_figures(context: Context) -> Iterator[Finding]:
    """Figures that are not the output that their run log names, or older than its records; those of no run and drawings, as notes."""
    for name in figure_names(context):
        made = maker(context, name)
        if made is None:
            what = "not read: no stage makes this figure" if not is_output(context, name) else "not read: no run log names this figure"
            yield Finding(code=CODE, severity=Severity.NOTE, place=name, what=what, cure="make it in a stage that logs its outputs")
        else:
            yield from compare_figure(context, name, *made)
    for scan in load_document(context).all:
        for match in DRAWN.finditer(scan.reading.source):
            what = f"not read: the numbers of a {match[1]} are drawn by the source"
            yield Finding(code=CODE, severity=Severity.NOTE, place=scan.place(match.start(1)), what=what, cure="draw it in a stage")


def count_figures(context: Context) -> str:
    """How many figures, and how many of them a run made."""
    names = figure_names(context)
    return f"{len(names)} figures, {sum(maker(context, name) is not None for name in names)} of them made by logged runs"


def figure_names(context: Context) -> list[str]:
    """The figures of the document, relative to the project; each once."""
    paths = (path.resolve() for path in graphic_paths(context, load_document(context)))
    return list(dict.fromkeys(path.relative_to(context.root.resolve()).as_posix() for path in paths if path.is_relative_to(context.root.resolve())))


def is_output(context: Context, name: str) -> bool:
    return any(PurePosixPath(name).is_relative_to(out) for out in context.pipeline.outs)


def maker(context: Context, name: str) -> tuple[str, RunLog] | None:
    """The output (the figure or a folder around it) and the run log that name a figure."""
    for log in context.readable_logs.values():
        for out in log.outputs:
            if PurePosixPath(name).is_relative_to(out) and out != log.record:
                return out, log
    return None


def compare_figure(context: Context, name: str, out: str, log: RunLog) -> Iterator[Finding]:
    """One figure against the digests of the run that made it."""
    path = context.root / out
    now = sha256_tree(path) if path.is_dir() else sha256_file(path)
    cure = f"dvc repro --single-item {log.stage}"
    if now != log.outputs[out]:
        what = f"the figure is not the one that the run of {log.record} made"
        yield Finding(code=CODE, place=name, what=what, expected=f"{out} with {log.outputs[out][:12]}", observed=now[:12], cure=cure)
    for record, digest in sorted(log.inputs.items()):
        data = context.record_bytes.get(record)
        if data is not None and sha256_bytes(data) != digest:
            yield Finding(code=CODE, place=name, what=f"the figure was made from another version of {record}", expected=sha256_bytes(data)[:12], observed=digest[:12], cure=cure)
