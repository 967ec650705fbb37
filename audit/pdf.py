"""The finished PDF: its text, the numbers in it, and where each of them may come from."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from audit.context import Context
from audit.digest import sha256_file, sha256_lines
from audit.document import SETTINGS, Document, Use, load_document
from audit.finding import Refusal
from audit.numbers.format import format_quantity
from audit.numbers.keys import Keys
from audit.numbers.macros import MOVING
from audit.numbers.reader import read
from audit.numbers.scan import Scan, decode
from audit.numbers.stream import NUMERIC_COMMA

__all__ = ["PACKAGES", "Sources", "collect_sources", "document_digest", "extract_text", "number_tokens", "read_stamp", "read_texts"]

PACKAGES = "apt-get install --no-install-recommends texlive-latex-recommended texlive-science lmodern latexmk poppler-utils"
STAMP = "AuditSources"
NUMBER = re.compile(r"\d{1,3}(?:[,\u2009\u00a0]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)+|\.\d+|\d+")
EXPONENT = re.compile(r"(?<=\d)e(-?\d+)$")
GRAPHICS = ("", ".pdf", ".png", ".jpg", ".jpeg")
HEADINGS = ("section", "subsection", "subsubsection")


def call_poppler(*command: str) -> str:
    """Run one of poppler's programs and return what it prints."""
    if shutil.which(command[0]) is None:
        raise Refusal(command[0], "is not installed", cure=PACKAGES)
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    if done.returncode:
        reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[0]
        raise Refusal(next(part for part in reversed(command) if part != "-"), "not readable as a PDF", observed=reason, cure="audit pdf")
    return done.stdout.decode("utf-8", errors="replace")


def extract_text(path: Path) -> str:
    """The text layer of a PDF, one form feed a page."""
    return call_poppler("pdftotext", "-enc", "UTF-8", str(path), "-")


def read_texts(paths: Iterable[Path]) -> list[Future[str]]:
    """The text layers of several PDFs, read side by side while the caller goes on."""
    pool = ThreadPoolExecutor()
    texts = [pool.submit(extract_text, path) for path in paths]
    pool.shutdown(wait=False)
    return texts


def read_stamp(path: Path) -> str | None:
    """The digest of the sources that `audit pdf` wrote into the PDF, or None."""
    shown = call_poppler("pdfinfo", "-custom", str(path))
    match = re.search(rf"^{STAMP}:\s*([0-9a-f]{{64}})\s*$", shown, re.MULTILINE)
    return match.group(1) if match else None


def number_tokens(text: str) -> list[str]:
    """The numbers of a text without signs, exponents' forms or separators between thousands."""
    text = text.replace(NUMERIC_COMMA, ",")
    return [re.sub(r"[,\u2009\u00a0]", "", match.group()) for match in NUMBER.finditer(text)]


def is_checked(token: str) -> bool:
    """Small whole numbers (pages, sections, citations) are left to the source's own check."""
    return "." in token or len(token) >= 4


class Sources:
    """What the PDF's numbers may come from: counted, and those that LaTeX may repeat."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.free: set[str] = set()
        self.bound: list[tuple[Use, str]] = []
        """Each `\\val` with its printed form."""

    def unaccounted(self, found: Counter[str]) -> Iterator[tuple[str, int, int]]:
        """(number, times in the PDF, times in the sources) of each number that has too few sources."""
        for token, count in sorted(found.items()):
            if is_checked(token) and token not in self.free and count > self.counted[token]:
                yield token, count, self.counted[token]

    def missing(self, found: Counter[str]) -> Iterator[tuple[Use, str, int, int]]:
        """(use, printed form, times wanted, times found) of each bound value that the PDF shows too seldom."""
        plain = {shown: set(number_tokens(EXPONENT.sub("", shown))) for _, shown in self.bound}
        wanted = Counter(token for _, shown in self.bound for token in plain[shown])
        for use, shown in self.bound:
            for token in sorted(plain[shown]):
                if found[token] < wanted[token]:
                    yield use, shown, wanted[token], found[token]
                    break


def collect_sources(context: Context) -> Sources:
    """Every number that the sources, the generated files, the figures and the bibliography can put into the PDF."""
    document, keys, sources = load_document(context), Keys.of(context), Sources()
    graphics = read_texts(path for path in graphic_paths(context, document) if path.suffix == ".pdf")
    for scan in document.scans:
        add_scan(sources, scan)
    for use in document.uses():
        if use.command == "val" and not use.place.split(":")[0].endswith(".j2"):
            shown = format_quantity(keys.resolve(use.key, use.place), use.option)
            sources.bound.append((use, shown))
            sources.counted.update(spread_tokens(shown))
            sources.free |= set(spread_tokens(shown)) if use.moving else set()
    add_generated(context, sources)
    for text in graphics:
        sources.free |= set(number_tokens(text.result()))
    for path in bibliography_paths(context, document):
        sources.free |= set(number_tokens(decode(path.read_bytes())[0]))
    sources.free |= set(heading_numbers(document))
    return sources


def spread_tokens(shown: str) -> list[str]:
    """The numbers a printed form shows; `1.2e-5` is set as 1.2 x 10 to the minus 5, and of `1.2e12` the PDF's text makes 1.2 and 1012."""
    return number_tokens(EXPONENT.sub(r" 10 \1", shown)) + [f"10{exponent}" for exponent in EXPONENT.findall(shown)]


def powers(text: str) -> set[str]:
    """Powers of ten in a LaTeX text as the text of a PDF shows them: `10^{12}` is 1012."""
    return {f"10{exponent}" for exponent in re.findall(r"(?<!\d)10\s*\^\s*\{?(\d+)", text)}


def add_scan(sources: Sources, scan: Scan) -> None:
    """Numbers of one source: prose is counted, what LaTeX may repeat is free."""
    reading = scan.reading
    sources.free |= powers(reading.source)
    sources.counted.update(number_tokens(reading.main.text()))
    sources.free |= set(number_tokens(reading.aside.text()))
    for piece, frame in zip(reading.main.pieces, reading.main.frames, strict=True):
        if frame.inside & MOVING:
            sources.free |= set(number_tokens(piece))


def add_generated(context: Context, sources: Sources) -> None:
    """Numbers of the generated tables, and of the provenance macros."""
    folder = context.root / context.config.paths.generated
    for path in sorted(folder.glob("*.tex")) if folder.is_dir() else ():
        text = decode(path.read_bytes())[0]
        if path.name == "macros.tex":
            shown = re.findall(r"\\@namedef\{audit@prov@[^}]*\}\{(.*)\}$", text, re.MULTILINE)
            sources.free |= {token for value in shown for token in number_tokens(value)}
        else:
            reading = read(text, preamble=False)
            sources.free |= powers(text)
            sources.counted.update(number_tokens(reading.main.text()))
            sources.free |= set(number_tokens(reading.aside.text()))
            for command, _, key, _, _ in reading.uses:
                if command == "val":
                    sources.free |= set(spread_tokens(format_quantity(Keys.of(context).resolve(key, path.name))))


def graphic_paths(context: Context, document: Document) -> list[Path]:
    """The figures that the document includes and that are files of the project."""
    folder = (context.root / context.config.paths.manuscript).parent
    found = []
    for argument, _ in document.included(frozenset({"includegraphics"})):
        candidates = (folder / f"{argument}{suffix}" for suffix in GRAPHICS)
        found += [next((path for path in candidates if path.is_file()), None)]
    return [path for path in found if path is not None]


def bibliography_paths(context: Context, document: Document) -> list[Path]:
    """The bibliography files that the document names."""
    folder = (context.root / context.config.paths.manuscript).parent
    names = [name.strip() for argument, _ in document.included(frozenset({"bibliography", "addbibresource"})) for name in argument.split(",")]
    candidates = [folder / (name if name.endswith(".bib") else f"{name}.bib") for name in names]
    return [path for path in candidates if path.is_file()]


def heading_numbers(document: Document) -> Iterator[str]:
    """Numbers such as 3.1 that LaTeX gives to sections."""
    counts = [0, 0, 0]
    for scan in document.scans:
        for command, _ in scan.reading.commands:
            if command in HEADINGS:
                level = HEADINGS.index(command)
                counts[level] += 1
                counts[level + 1 :] = [0] * (2 - level)
                yield ".".join(str(count) for count in counts[: level + 1])


def document_paths(context: Context) -> list[Path]:
    """Every file of the project that the PDF is made from."""
    document = load_document(context)
    folder = context.root / context.config.paths.generated
    generated = sorted(path for path in folder.glob("*") if path.is_file()) if folder.is_dir() else []
    local = [path for pattern in ("*.cls", "*.sty", "*.bst", *(f"*{suffix}" for suffix in SETTINGS)) for path in (context.root / context.config.paths.manuscript).parent.glob(pattern)]
    sources: Iterable[Path] = (context.root / scan.path for scan in document.scans)
    local += [context.root / scan.path for scan in document.packages if context.root / scan.path not in local]
    return [*sources, *generated, *graphic_paths(context, document), *bibliography_paths(context, document), *local]


def document_digest(context: Context) -> str:
    """SHA-256 over the `sha256sum` lines of every file that the PDF is made from."""
    return sha256_lines({path.resolve().relative_to(context.root.resolve()).as_posix(): sha256_file(path) for path in document_paths(context)})
