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
from audit.definitions import KEPT
from audit.document import Document, Use, generated_inputs, load_document
from audit.finding import Finding, Refusal, exit_code, several
from audit.load import read_bytes, write_bytes
from audit.numbers.reader import read
from audit.numbers.scan import decode
from audit.pdf import PACKAGES, STAMP, collect_sources, document_digest, extract_text, number_tokens, read_texts

__all__ = ["build", "compare_text", "first_error", "main"]

MINUTES = 5
ERROR = re.compile(r"^(?:\./)?(?P<file>[^\n:]+\.\w+):(?P<line>\d+): (?P<what>.+)$", re.MULTILINE)
PRINTED = re.compile(r"\\auditval\s*\{(?P<key>[^{}]*)\}\s*\{(?P<form>[^{}]*)\}")
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
        built = build(context, Path(folder))
        lines = auxiliary_lines(built.parent)
        false = [*find_unprinted(context, lines), *find_redefined(context, lines)]
        findings = [*false, *compare_text(context, built)]
        if not false:
            write_bytes(context.root / paths.pdf, read_bytes(built))
        pages, expanded = count_pages(built), sum(count_printed(lines).values())
    for finding in findings:
        print(finding.line())
    kept = "; not replaced" if false else ""
    print(f"{paths.pdf}: {several(pages, 'page')}, {several(expanded, 'bound value')} typeset, {several(len(findings), 'finding')}{kept}")
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


def compare_text(context: Context, path: Path) -> list[Finding]:
    """Bound values that a PDF does not show, and numbers in it that nothing accounts for."""
    (text,) = read_texts([path])
    sources, found = collect_sources(context), Counter(number_tokens(text.result()))
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


def auxiliary_lines(folder: Path) -> list[str]:
    """What LaTeX wrote to the auxiliary files, those of included files too."""
    return [line for path in sorted(folder.rglob("*.aux")) for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]


def count_printed(lines: list[str]) -> Counter[tuple[str, str]]:
    """(key, format or `verdict`) -> how often our macros typeset it, by the lines they wrote."""
    found = (PRINTED.match(line) for line in lines)
    return Counter((match["key"].strip(), match["form"].strip()) for match in found if match)


def demanded_uses(context: Context, document: Document) -> list[Use]:
    """Every use of a bound value or verdict that LaTeX must typeset, those of the included generated files too."""
    generated = context.config.paths.generated
    uses = [use for use in document.uses() if use.demanded and not use.place.split(":")[0].endswith(".j2")]
    for name in sorted(generated_inputs(context, document)):
        path = context.root / generated / name
        if path.name != "macros.tex" and path.is_file():
            reading = read(decode(path.read_bytes())[0], preamble=False)
            uses += [Use(*use[:3], f"{generated}/{name}", use[4]) for use in reading.uses if use[3] not in reading.optional]
    return [use for use in uses if use.command != "prov"]


def find_unprinted(context: Context, lines: list[str]) -> list[Finding]:
    """A502: uses that stand in the sources and wrote nothing when LaTeX typeset the document."""
    printed, wanted, first = count_printed(lines), Counter[tuple[str, str]](), dict[tuple[str, str], Use]()
    for use in demanded_uses(context, load_document(context)):
        form = {"val": use.option, "ifverdict": "verdict"}.get(use.command, use.command)
        shown = (use.key, form)
        wanted[shown] += 1
        first.setdefault(shown, use)
    return [
        Finding(
            code="A502", place=first[shown].place, what=f"{count - printed[shown]} of {count} uses of \\{first[shown].command}{{{shown[0]}}} print nothing",
            expected=f"{count} typeset by the generated macros", observed=str(printed[shown]), cure="look for a redefinition of our macros, or remove the use",
        )
        for shown, count in wanted.items() if printed[shown] < count
    ]  # fmt: skip


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
