"""`audit export --manuscript`: a source tree with literal numbers that plain pdflatex compiles to the same text, for a journal or preprint server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from audit.building import MINUTES, build, first_error
from audit.context import Context
from audit.digest import sha256_bytes
from audit.document import load_document
from audit.finding import FOUND, Refusal, escape, several
from audit.folders import write_folder
from audit.load import read_bytes
from audit.numbers.lexer import lex
from audit.pdf import extract_text
from audit.render import generate
from audit.rendering import refuse_findings
from audit.tree import Tree, collect_tree

__all__ = ["main"]

SUMS = "SHA256SUMS"
SUM = re.compile(r"([0-9a-f]{64})  (.+)")
FINAL = r"\def\auditfinal{}"
RUNS = 4
NEAR = 40
"""Letters of context beside the first that differs."""


def main(target: str) -> None:
    """Refuse while the audit finds anything; collect, compile and compare in scratch folders; then write the folder at once."""
    context, folder = Context.open(), Path(target)
    if load_document(context).main is None:
        raise Refusal(context.config.paths.manuscript, "no manuscript", cure="write it, or name it in audit.toml under [paths]")
    refuse_foreign(folder)
    refuse_findings(context)
    can_build = all(shutil.which(program) for program in ("latexmk", "pdflatex", "pdftotext"))
    with tempfile.TemporaryDirectory(prefix="audit-export-") as scratch:
        tree, proof = export_built(context, Path(scratch)) if can_build else (collect_tree(context, None), "not compiled here: no LaTeX")
    tree.files[SUMS] = "".join(f"{sha256_bytes(data)}  {name}\n" for name, data in sorted(tree.files.items())).encode()
    try:
        write_folder(Path(os.path.abspath(folder)), tree.files)
    except OSError as error:
        raise Refusal(folder, "cannot be written", observed=error.strerror or str(error), cure="name a folder that can be written") from None
    print(f"{escape(str(folder))}: {several(len(tree.files), 'file')}, {several(tree.replaced, 'macro')} replaced by what they print; {proof}")
    if (comments := count_comments(tree)) > 0:
        print(f"kept as they stand: {several(comments, 'comment')} of the sources; preprint servers publish them")


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder with anything in it that is not, to the byte, what this command wrote."""
    cure = "name another folder, or empty it"
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise Refusal(folder, "is no folder", cure="name another folder")
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()} if folder.exists() else {}
    sums = found.pop(SUMS, None)
    written = dict(match.groups()[::-1] for line in read_bytes(sums).decode(errors="replace").splitlines() if (match := SUM.fullmatch(line))) if sums else {}
    strange = [name for name, path in sorted(found.items()) if path.is_symlink() or written.get(name) != sha256_bytes(read_bytes(path))]
    if strange:
        raise Refusal(folder, "holds files that this command did not write, or that were edited since", observed=strange[0], cure=cure)


def export_built(context: Context, scratch: Path) -> tuple[Tree, str]:
    """The tree with the bibliography that LaTeX made, and what compiling it showed."""
    refuse_stale(context)
    main_source = context.root / context.config.paths.manuscript
    ours, theirs, copy = (scratch / name for name in ("ours", "theirs", "copy"))
    for path in (ours, theirs, copy):
        path.mkdir()
    build(context, ours)
    tree = collect_tree(context, recorded_files(context, ours))
    bibliography = ours / f"{main_source.stem}.bbl"
    if bibliography.is_file():
        tree.files.setdefault(bibliography.name, read_bytes(bibliography))
    write_folder(copy, tree.files)
    for name in tree.files:
        for output in (ours, theirs):
            (output / name).parent.mkdir(parents=True, exist_ok=True)
    wanted = compile_plainly(main_source, ours, f"{FINAL}\\input{{{main_source.name}}}", context.config.paths.manuscript)
    made = compile_plainly(copy / main_source.name, theirs, f"\\input{{{main_source.name}}}", "the exported source")
    compare_texts(wanted, made)
    return tree, f"plain pdflatex gives the text of the manuscript, {several(max(1, made.count(chr(12))), 'page')}"


def refuse_stale(context: Context) -> None:
    """Refuse where the generated folder is not what the records give now: the manuscript's own PDF could not be built from it."""
    name = context.config.paths.generated
    for file, data in generate(context).files.items():
        path = context.root / name / file
        if not path.is_file() or read_bytes(path) != data:
            raise Refusal(f"{name}/{file}", "is missing or not what the records give now", cure="audit render")


def recorded_files(context: Context, folder: Path) -> dict[Path, None]:
    """The project's files that LaTeX read, by the recorder's file, those that it wrote itself left out."""
    source = context.root / context.config.paths.manuscript
    lines = (folder / f"{source.stem}.fls").read_text(encoding="utf-8", errors="replace").splitlines()
    paths = ((source.parent / line.removeprefix("INPUT ")).resolve() for line in lines if line.startswith("INPUT "))
    return dict.fromkeys(path for path in paths if path.is_relative_to(context.root.resolve()) and path.is_file())


def compile_plainly(source: Path, folder: Path, text: str, place: str) -> str:
    """The text of the PDF that pdflatex makes by itself, without a shell or a bibliography program, run until its own files settle."""
    before = None
    for _ in range(RUNS):
        run_pdflatex(source, folder, text, place)
        now = {path: sha256_bytes(path.read_bytes()) for path in folder.rglob("*") if path.suffix in (".aux", ".toc", ".lof", ".lot", ".out")}
        if now == before:
            break
        before = now
    return extract_text(folder / f"{source.stem}.pdf")


def run_pdflatex(source: Path, folder: Path, text: str, place: str) -> None:
    """One run, its files in `folder`; the first error is one line."""
    flags = ("-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error", f"-output-directory={folder}")
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "LANG")}
    environment = {**kept, "SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1", "max_print_line": "10000", "openout_any": "p"}
    command = ["pdflatex", *flags, f"-jobname={source.stem}", text]
    try:
        done = subprocess.run(command, cwd=source.parent, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60 * MINUTES, check=False)
    except subprocess.TimeoutExpired:
        raise Refusal(place, f"LaTeX did not end within {MINUTES} minutes", cure="look for a loop in the source") from None
    if done.returncode:
        log = folder / f"{source.stem}.log"
        refusal = first_error(log.read_text(encoding="utf-8", errors="replace") if log.is_file() else "", ".", place)
        raise Refusal(f"{place}: {refusal.place}", refusal.what, cure="nothing was written; part the macro there from what surrounds it")


def compare_texts(wanted: str, made: str) -> None:
    """Refuse an exported source whose PDF does not say, letter by letter, what the manuscript's says; spaces depend on kerning."""
    ours, theirs = ("".join(text.split()) for text in (wanted, made))
    if ours != theirs:
        first = next((index for index, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), min(len(ours), len(theirs)))
        near = slice(max(0, first - NEAR), first + NEAR)
        cure = "nothing was written; part the macro there from what surrounds it"
        raise Refusal("the exported source", "would print another text", expected=ours[near], observed=theirs[near], cure=cure, code=FOUND)


def count_comments(tree: Tree) -> int:
    """Comments in the tree's LaTeX sources that say something."""
    sources = (data.decode(errors="replace") for name, data in tree.files.items() if name.endswith((".tex", ".sty", ".cls")))
    return sum(1 for text in sources for token in lex(text) if token.kind == "comment" and token.text.strip("% \t\n"))
