"""The finished PDF: its text, the digest it carries, and the files it is made from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from audit.context import Context
from audit.digest import sha256_file, sha256_lines
from audit.document import SETTINGS, Document, load_document
from audit.layer import call_poppler
from audit.marks import Typeset, read_attached

__all__ = ["STAMP", "bibliography_paths", "document_digest", "document_paths", "extract_text", "find_graphic", "graphic_paths", "read_build", "read_stamp"]

STAMP = "AuditSources"
GRAPHICS = ("", ".pdf", ".png", ".jpg", ".jpeg")
SEARCHED = re.compile(r"\\graphicspath\s*\{((?:\s*\{[^{}]*\})+)\s*\}")


def extract_text(path: Path) -> str:
    """The text layer of a PDF, one form feed a page."""
    return call_poppler("pdftotext", "-enc", "UTF-8", str(path), "-")


def read_stamp(path: Path) -> str | None:
    """The digest of the sources that `audit pdf` wrote into the PDF, or None."""
    shown = call_poppler("pdfinfo", "-custom", str(path))
    match = re.search(rf"^{STAMP}:\s*([0-9a-f]{{64}})\s*$", shown, re.MULTILINE)
    return match.group(1) if match else None


def read_build(context: Context) -> tuple[str | None, str, Typeset | None]:
    """The digest of sources that the project's PDF carries, that of the sources here, and what LaTeX wrote down of it; read once a context."""
    if "_build" not in context.__dict__:
        path = context.root / context.config.paths.pdf
        stamp, wanted = read_stamp(path), document_digest(context)
        context.__dict__["_build"] = stamp, wanted, read_attached(path) if stamp == wanted else None
    found: tuple[str | None, str, Typeset | None] = context.__dict__["_build"]
    return found


def graphic_paths(context: Context, document: Document) -> list[Path]:
    """The figures that the document includes and that are files of the project."""
    folder = (context.root / context.config.paths.manuscript).parent
    found = (find_graphic(folder, document, argument) for argument, _ in document.included(frozenset({"includegraphics"})))
    return [path for path in found if path is not None]


def find_graphic(folder: Path, document: Document, name: str) -> Path | None:
    """The file that `\\includegraphics` shows: in the manuscript's folder, or where a `\\graphicspath` of the sources or local packages points."""
    scans = [*document.scans, *document.packages]
    found = (SEARCHED.match(scan.reading.source, offset) for scan in scans for command, offset in scan.reading.commands if command == "graphicspath")
    searched = ["", *(inner for match in found if match for inner in re.findall(r"\{([^{}]*)\}", match[1]))]
    return next((path for where in searched for suffix in GRAPHICS if (path := folder / f"{where}{name}{suffix}").is_file()), None)


def bibliography_paths(context: Context, document: Document) -> list[Path]:
    """The bibliography files that the document names."""
    folder = (context.root / context.config.paths.manuscript).parent
    names = [name.strip() for argument, _ in document.included(frozenset({"bibliography", "addbibresource"})) for name in argument.split(",")]
    candidates = [folder / (name if name.endswith(".bib") else f"{name}.bib") for name in names]
    return [path for path in candidates if path.is_file()]


def document_paths(context: Context) -> list[Path]:
    """Every file of the project that the PDF is made from."""
    document = load_document(context)
    folder = context.root / context.config.paths.generated
    generated = sorted(path for path in folder.glob("*") if path.is_file()) if folder.is_dir() else []
    local = [path for pattern in ("*.cls", "*.sty", "*.bst", *(f"*{suffix}" for suffix in SETTINGS)) for path in (context.root / context.config.paths.manuscript).parent.glob(pattern) if path.is_file()]
    sources: Iterable[Path] = (context.root / scan.path for scan in document.scans)
    local += [context.root / scan.path for scan in document.packages if context.root / scan.path not in local]
    return [*sources, *generated, *graphic_paths(context, document), *bibliography_paths(context, document), *local]


def document_digest(context: Context) -> str:
    """SHA-256 over the `sha256sum` lines of every file that the PDF is made from."""
    root = context.root.resolve()
    found = {path.resolve(): sha256_file(path) for path in document_paths(context)}
    return sha256_lines({(path.relative_to(root) if path.is_relative_to(root) else path).as_posix(): digest for path, digest in found.items()})
