"""Scanning: a file, and the files that TeX would read with it, as classified literals with line and column."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from audit.finding import Refusal
from audit.numbers.classify import Classified, classify
from audit.numbers.literals import find_literals
from audit.numbers.macros import FOLDERED
from audit.numbers.reader import read
from audit.numbers.stream import Reading, Unread

__all__ = ["Scan", "decode", "locate", "relative", "scan_file", "scan_text", "scan_tree"]

NOT_TEX = frozenset({"includegraphics", "bibliography", "addbibresource"})
REBASING = FOLDERED | {"subfile", "subfileinclude"}
"""Commands whose file looks for its own inputs beside itself first."""
LIMIT = 64 * 1024 * 1024


@dataclass
class Scan:
    """One scanned file."""

    path: str
    reading: Reading
    numbers: list[Classified]
    notes: list[str] = field(default_factory=list)

    def place(self, offset: int) -> str:
        """`path:line:column` of a source offset."""
        line, column = self.reading.lines.place(offset)
        return f"{self.path}:{line}:{column}"

    def unread(self) -> list[Unread]:
        return self.reading.unread


def decode(data: bytes) -> tuple[str, list[str]]:
    """Bytes as text: UTF-8, else Latin-1 with a note; line ends as TeX sees them."""
    notes = []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = data.decode("latin-1")
        notes.append(f"not UTF-8 (byte {error.start}); read as Latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def scan_text(text: str, path: str = "-", preamble: bool | None = None) -> Scan:
    """Scan a source given as text."""
    reading = read(text, preamble)
    return Scan(path, reading, classify(reading, find_literals(reading)))


def scan_file(path: Path, name: str | None = None, preamble: bool | None = None) -> Scan:
    """Scan one file."""
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise Refusal(name or path, "cannot be read", expected="a file", observed="a device or a pipe")
        if found.st_size > LIMIT:
            raise Refusal(name or path, "too large to scan", expected="at most 64 MiB", observed=f"{found.st_size} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise Refusal(name or path, "cannot be read", observed=error.strerror or str(error)) from None
    text, notes = decode(data)
    scan = scan_text(text, name or str(path), preamble)
    scan.notes.extend(notes)
    return scan


def scan_tree(main: Path, root: Path, skip: Path | None = None) -> Iterator[Scan | tuple[str, str]]:
    """Scan a document and all files that TeX reads with it; (place, reason) for each that cannot be followed.

    Files under `skip` (the generated ones) are not scanned. Names are relative to `root`.
    """
    root = root.resolve()
    waiting: list[tuple[Path, bool | None, Path]] = [(main, None, main.parent)]
    seen: set[Path] = set()
    while waiting:
        path, preamble, base = waiting.pop(0)
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        scan = scan_file(path, relative(path, root), preamble)
        yield scan
        for command, argument, offset, in_preamble in scan.reading.inputs:
            if command in NOT_TEX:
                continue
            found = locate(command, argument, main.parent, base)
            reason = check_input(found, argument, root, skip)
            if reason and (found or command != "InputIfFileExists"):
                yield scan.place(offset), reason
            elif found is not None and not is_under(found, skip):
                waiting.append((found, in_preamble, found.parent if command in REBASING else base))


def relative(path: Path, root: Path) -> str:
    """A path as the findings name it."""
    try:
        return Path(os.path.abspath(path)).relative_to(root).as_posix()
    except ValueError:
        return str(path)


def is_under(path: Path, folder: Path | None) -> bool:
    return folder is not None and path.resolve().is_relative_to(folder.resolve())


def locate(command: str, argument: str, folder: Path, here: Path) -> Path | None:
    """The file TeX would read: names are relative to the folder that an import set, or to the main document's, with `.tex` added."""
    name = argument.strip().strip('"')
    for place in (folder,) if command in FOLDERED and not command.startswith("sub") else (here, folder):
        for candidate in (place / f"{name}.tex", place / name):
            if candidate.is_file():
                return candidate
    return None


def check_input(found: Path | None, argument: str, root: Path, skip: Path | None) -> str:
    """Why an included file is not followed, or nothing."""
    if argument.startswith(("|", '"|')):
        return f"input from a program: {argument}"
    if "\\" in argument or "#" in argument:
        return f"included file has a computed name: {argument}"
    if found is None:
        absent = skip is not None and is_under((skip.parent / argument), skip)
        return "" if absent else f"included file is missing: {argument}"
    if not found.resolve().is_relative_to(root):
        return f"included file lies outside the project: {argument}"
    return ""
