"""The command `audit pdf`: LaTeX in a staging folder, the PDF's numbers compared, and only then the old PDF replaced."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, exit_code
from audit.load import read_bytes, write_bytes
from audit.pdf import PACKAGES, STAMP, collect_sources, document_digest, extract_text, number_tokens

__all__ = ["build", "compare_text", "first_error", "main"]

MINUTES = 5
ERROR = re.compile(r"^(?:\./)?(?P<file>[^\n:]+\.\w+):(?P<line>\d+): (?P<what>.+)$", re.MULTILINE)
FATAL = re.compile(r"^! (?P<what>.+)$", re.MULTILINE)


def main() -> int:
    """Build, compare, replace; 1 where the PDF shows numbers that have no source."""
    context = Context.open()
    paths = context.config.paths
    if load_document(context).main is None:
        raise Refusal(paths.manuscript, "no manuscript", cure="write it, or name it in audit.toml under [paths]")
    if not (context.root / paths.generated).is_dir():
        raise Refusal(paths.generated, "nothing is rendered", cure="audit render")
    with tempfile.TemporaryDirectory(prefix="audit-pdf-") as folder:
        built = build(context, Path(folder))
        findings = compare_text(context, extract_text(built))
        write_bytes(context.root / paths.pdf, read_bytes(built))
        pages, expanded = count_pages(built), count_expansions(built.with_suffix(".aux"))
    for finding in findings:
        print(finding.line())
    print(f"{paths.pdf}: {pages} pages, {expanded} bound values typeset, {len(findings)} findings")
    return exit_code(findings)


def build(context: Context, folder: Path) -> Path:
    """Run latexmk with its outputs in `folder`; the first LaTeX error is one line."""
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
    return built


def run_latex(source: Path, folder: Path, digest: str) -> subprocess.CompletedProcess[str]:
    """latexmk without the user's configuration or a shell; no date and no path in the PDF, the digest of its sources in it."""
    stamp = rf"\pdftrailerid{{}}\pdfsuppressptexinfo=-1\pdfinfoomitdate=1\pdfinfo{{/{STAMP} ({digest})}}"
    latex = "pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error -file-line-error %O %P"
    command = ["latexmk", "-norc", "-pdf", f"-pdflatex={latex}", f"-pretex={stamp}", f"-outdir={folder}", source.name]
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


def compare_text(context: Context, text: str) -> list[Finding]:
    """Bound values that the PDF does not show, and numbers in it that nothing accounts for."""
    sources, found = collect_sources(context), Counter(number_tokens(text))
    findings = []
    for use, shown, wanted, count in sources.missing(found):
        findings.append(
            Finding(
                code="A502",
                place=use.place,
                what=f"\\val{{{use.key}}} does not stand in the PDF as often as in the source",
                expected=f"{shown} at least {wanted} times",
                observed=f"{count}",
                cure="audit render, audit pdf",
            )  # fmt: skip
        )
    for token, count, known in sources.unaccounted(found):
        findings.append(
            Finding(
                code="A503",
                place=context.config.paths.pdf,
                what=f"number {token} in the PDF has no source",
                expected=f"{known} places in the sources",
                observed=f"{count} in the PDF",
                cure="audit render, audit pdf; cite it with \\val",
            )  # fmt: skip
        )
    return findings


def count_pages(path: Path) -> int:
    """Pages of a PDF by the form feeds of its text."""
    return max(1, extract_text(path).count("\f"))


def count_expansions(aux: Path) -> int:
    """How many bound values LaTeX typeset, by the lines they wrote to the auxiliary file."""
    return aux.read_text(encoding="utf-8", errors="replace").count("\\auditval{") if aux.is_file() else 0
