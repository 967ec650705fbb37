"""The appendix of sources, `\\input{generated/sources}`: every number of the text with its key, under the record, stage and commit it came from."""

from __future__ import annotations

import re

from audit.context import Context
from audit.digest import sha256_bytes
from audit.macro_texts import read_printed
from audit.provenance import SHORT, log_of
from audit.templates import latex_text

__all__ = ["SOURCES", "render_sources"]

SOURCES = "sources.tex"
COLUMN, LONG = "12em", 22
"""Width of the column of values, and letters of a typeset form that it has room for."""
COMMANDS = re.compile(r"\\(?:ensuremath|mbox)|[{}^]")


def render_sources(context: Context, definitions: str) -> tuple[str, set[str]]:
    """The appendix's LaTeX, and the files it was read from."""
    values = read_printed(definitions).values
    records: dict[str, list[tuple[str, str]]] = {}
    for form, key in sorted(values, key=lambda pair: (pair[1], pair[0])):
        records.setdefault(key.partition(".")[0], []).append((form, key))
    lines, read = [r"\auditlinks", r"{\footnotesize\setlength{\parindent}{0pt}\raggedright"], set()
    for name, uses in records.items():
        lines += ["", rf"\medskip\textbf{{{latex_text(name)}}}: {describe_record(context, name, read)}", "", r"\smallskip"]
        lines += [line for form, key in uses for line in (show_line(form, key, values[form, key]), "")]
    return "\n".join([*lines, r"\par}", ""]), read


def describe_record(context: Context, name: str, read: set[str]) -> str:
    """Path and digest of a record, and stage and commit of the run that wrote it."""
    path = context.config.records[name]
    read.add(path)
    parts = [typewriter(path), f"SHA-256 {typewriter(sha256_bytes(context.bytes_of(path) or b'')[:SHORT])}"]
    found = log_of(context, path)
    if found is not None:
        read.add(found[0])
        parts += [f"stage {typewriter(found[1].stage)}", f"run from commit {typewriter(found[1].commit[:SHORT])}"]
    return ", ".join(parts)


def show_line(form: str, key: str, shown: str) -> str:
    """One number: as printed, its key, its format where one is named, and the pages that LaTeX finds."""
    width = rf"\makebox[{COLUMN}][l]" if count_letters(shown) <= LONG else ""
    named = f" [{latex_text(form)}]" if form else ""
    anchor = f"{form}@{key}"
    return rf"\auditanchor[{anchor}]{width}{{{shown}}}{'' if width else ' '}{typewriter(key)}{named}\auditpages[{anchor}]"


def count_letters(shown: str) -> int:
    """Letters of a printed form as LaTeX sets it: `1.2 x 10` with its exponent has eight or so, an en dash one."""
    return len(COMMANDS.sub("", shown).replace(r"\times ", "x").replace(r"\ ", " ").replace("--", "-").replace("\\%", "%"))


def typewriter(text: str) -> str:
    """Text in typewriter letters that may break after a point, a slash or an underscore."""
    return rf"\texttt{{{''.join(break_after(part) for part in re.split(r'(?<=[./_])', text))}}}"


def break_after(part: str) -> str:
    return latex_text(part) + (r"\allowbreak{}" if part.endswith((".", "/", "_")) else "")
