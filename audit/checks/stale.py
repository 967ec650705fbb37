"""A403: the generated files are exactly what the records give now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.confirmatory import is_whole
from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal, Severity
from audit.history import WHOLE_CLONE
from audit.render import generate, read_header

CODE = "A403"
CURE = "dvc repro render, or audit render"


def check_generated(context: Context) -> Iterator[Finding]:
    """Render again in memory and compare byte by byte."""
    name = context.config.paths.generated
    folder = context.root / name
    if not (context.root / context.config.paths.manuscript).is_file():
        return
    if not folder.is_dir():
        yield Finding(code=CODE, severity=Severity.NOTE, place=name, what="not built here", cure=CURE)
        return
    try:
        wanted = generate(context).files
    except Refusal:
        return  # the same refusal is A402 or A408 of the first pass
    for file in sorted({*wanted, *(path.name for path in folder.iterdir())}):
        yield from compare_file(context, f"{name}/{file}", wanted.get(file), folder / file)


def compare_file(context: Context, place: str, wanted: bytes | None, path: Path) -> Iterator[Finding]:
    """One generated file against what it should be."""
    if wanted is None:
        yield Finding(code=CODE, place=place, what="a file that nothing generates", cure=f"remove it, then {CURE}")
    elif not path.is_file():
        yield Finding(code=CODE, place=place, what="a generated file is missing", cure=CURE)
    elif path.read_bytes() != wanted:
        yield weigh(context, describe_difference(context, place, path.read_bytes()))


def weigh(context: Context, found: Finding) -> Finding:
    """A difference, which could not be checked where labels could not be computed."""
    if is_whole(context):
        return found
    return found.model_copy(update={"severity": Severity.UNCHECKED, "cure": f"labels need the history: {WHOLE_CLONE}"})


def describe_difference(context: Context, place: str, found: bytes) -> Finding:
    """Whether the file is older than a record, or was edited."""
    for source, digest in sorted(read_header(found).items()):
        now = sha256_bytes(context.bytes_of(source) or b"")
        if now != digest:
            return Finding(code=CODE, place=place, what=f"made from another version of {source}", expected=now[:12], observed=digest[:12], cure=CURE)
    return Finding(code=CODE, place=place, what="not what its sources give now: edited by hand, or a template or key changed", cure=CURE)
