"""The command `audit pdf`: LaTeX in a staging folder, the PDF's numbers compared, and only then the old PDF replaced."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from audit.context import Context
from audit.definitions import KEPT
from audit.document import load_document
from audit.finding import Finding, Refusal, exit_code, several
from audit.layer import PACKAGES
from audit.load import read_bytes, write_bytes
from audit.marks import Typeset, attach, auxiliary_lines, collect
from audit.pdf import STAMP, document_digest
from audit.printed import compare_pdf, find_unprinted

__all__ = ["build", "find_redefined", "first_error", "main"]

MINUTES = 5
ERROR = re.compile(r"^(?:\./)?(?P<file>[^\n:]+\.\w+):(?P<line>\d+): (?P<what>.+)$", re.MULTILINE)
UNWATCHED = "$hash_calc_ignore_pattern{'aux'} = '^%audit-val';"
"""Places are written anew in each run; they alone are no reason for another."""
FATAL = re.compile(r"^! (?P<what>.+)$", re.MULTILINE)


def main() -> int:
    """Build, compare, replace; 1 where the PDF shows numbers that have no source, or our macros did not print what they should."""
    context = Context.open()
    paths = context.config.paths
    if load_document(context).main is None:
        raise Refusal(paths.manuscript, "no manuscript", cure="write it, or name it in audit.toml under [paths]")
    if not (context.root / paths.generated).is_dir():
        raise Refusal(paths.generated, "nothing is rendered", cure="audit render")
    with tempfile.TemporaryDirectory(prefix="audit-pdf-") as folder:
        built, typeset = build(context, Path(folder))
        false = [*find_unprinted(context, typeset.marks), *find_redefined(context, auxiliary_lines(built.parent))]
        compared = compare_pdf(context, built, typeset, ink=True)
        if not false:
            write_bytes(context.root / paths.pdf, read_bytes(built))
    findings = [*false, *compared.findings]
    for finding in findings:
        print(finding.line())
    kept = "; not replaced" if false else ""
    print(f"{paths.pdf}: {several(compared.pages, 'page')}, {compared.counted}, {several(len(findings), 'finding')}{kept}")
    return exit_code(findings)


def build(context: Context, folder: Path) -> tuple[Path, Typeset]:
    """Run latexmk with its outputs in `folder`, and put into the PDF what LaTeX wrote down; the first LaTeX error is one line."""
    missing = [program for program in ("latexmk", "pdflatex", "pdftotext") if shutil.which(program) is None]
    if missing:
        raise Refusal("audit pdf", f"{', '.join(missing)} not installed", cure=PACKAGES)
    source = context.root / context.config.paths.manuscript
    for scan in load_document(context).scans:
        inner = os.path.relpath((context.root / scan.path).parent, source.parent)
        if not inner.startswith(".."):
            (folder / inner).mkdir(parents=True, exist_ok=True)
    done = run_latex(source, folder, document_digest(context))
    built = folder / f"{source.stem}.pdf"
    if done.returncode or not built.is_file():
        log = folder / f"{source.stem}.log"
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else done.stdout
        raise first_error(text, os.path.relpath(source.parent, context.root), context.config.paths.manuscript)
    typeset = collect(folder, source, context.root)
    attach(built, typeset)
    return built, typeset


def run_latex(source: Path, folder: Path, digest: str) -> subprocess.CompletedProcess[str]:
    """latexmk without the user's configuration or a shell; no date and no path in the PDF, the digest of its sources in it."""
    stamp = rf"\pdftrailerid{{}}\pdfsuppressptexinfo=-1\pdfinfoomitdate=1\pdfinfo{{/{STAMP} ({digest})}}"
    latex = "pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error -file-line-error %O %P"
    command = ["latexmk", "-norc", "-pdf", f"-pdflatex={latex}", f"-pretex={stamp}", f"-outdir={folder}", "-e", UNWATCHED, source.name]
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "LANG")}
    environment = {**kept, "SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1", "max_print_line": "10000", "openout_any": "p"}
    try:
        return subprocess.run(
            command, cwd=source.parent, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=60 * MINUTES, check=False, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Refusal(source.name, f"LaTeX did not end within {MINUTES} minutes", cure="look for a loop in the source") from None


def first_error(log: str, folder: str, manuscript: str) -> Refusal:
    """The first error of a LaTeX log as one line with file and line."""
    found = ERROR.search(log)
    if found:
        place = os.path.normpath(os.path.join(folder, found["file"])) if not os.path.isabs(found["file"]) else found["file"]
        return Refusal(f"{place}:{found['line']}", f"LaTeX: {found['what'].strip()}", cure="repair the source; the old PDF is kept")
    fatal = FATAL.search(log)
    what = fatal["what"] if fatal else (log.strip().splitlines() or ["no message"])[-1]
    return Refusal(manuscript, f"LaTeX: {what.strip()}", cure="repair the source; the old PDF is kept")


def find_redefined(context: Context, lines: list[str]) -> list[Finding]:
    """A407: macros of ours whose meaning at the end of the document is not the one they were defined with."""
    was, end = (dict(line.removeprefix(mark).partition("=")[::2] for line in lines if line.startswith(mark)) for mark in ("%audit-was ", "%audit-end "))
    if len(was) < len(KEPT):
        return [
            Finding(
                code="A407", place=context.config.paths.manuscript, what="the meanings of our macros are not in the auxiliary file",
                expected=f"at least {len(KEPT)}", observed=str(len(was)), cure="\\input{generated/macros} in the preamble, without \\nofiles; audit render",
            )
        ]  # fmt: skip
    return [
        Finding(
            code="A407", place=context.config.paths.manuscript, what=f"\\{name.strip().lstrip(chr(92))} is redefined while LaTeX runs",
            expected=meaning[:60], observed=end.get(name, "nothing")[:60], cure="remove the redefinition: definitions come from generated/",
        )
        for name, meaning in sorted(was.items()) if end.get(name) != meaning
    ]  # fmt: skip
