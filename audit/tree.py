"""The manuscript as a source tree of its own: literal numbers for our macros, and every file that LaTeX reads, at names below one folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from audit.context import Context
from audit.definitions import PREAMBLE
from audit.document import Document, load_document
from audit.expansion import SILENT, expand, find_uses
from audit.finding import Refusal
from audit.load import read_bytes
from audit.macro_texts import Printed, read_printed
from audit.numbers.reader import read
from audit.numbers.scan import decode, locate
from audit.numbers.stream import Reading
from audit.pdf import find_graphic
from audit.render import MACROS, generate, read_header

__all__ = ["Tree", "collect_tree", "included_macros"]

DEFINITIONS = re.compile(re.escape(PREAMBLE.rstrip()) + r".*?^\\makeatother\n", re.DOTALL | re.MULTILINE)
BIBLIOGRAPHY = frozenset({"bibliography", "addbibresource"})
FOLDERS = {"includegraphics": "figures", **dict.fromkeys(BIBLIOGRAPHY, "bibliography")}
"""Where a file from outside the manuscript's folder goes; others into `inputs`."""


@dataclass
class Tree:
    """A source tree in the making: files by name, and the name of each file of the project in it."""

    context: Context
    printed: Printed
    files: dict[str, bytes] = field(default_factory=dict)
    names: dict[Path, str] = field(default_factory=dict)
    replaced: int = 0
    """How many macros of ours were replaced."""

    @property
    def folder(self) -> Path:
        """The manuscript's own folder, whose inner order is kept."""
        return (self.context.root / self.context.config.paths.manuscript).parent

    def name(self, path: Path, kind: str) -> str:
        """The name of a file in the tree: its own below the manuscript's folder, else a new one by its kind."""
        path = Path(os.path.normpath(path))
        if path not in self.names:
            inner = os.path.relpath(path, self.folder)
            free = (f"{kind}/{'-'.join(path.parts[-depth:])}" for depth in range(1, len(path.parts)))
            self.names[path] = next(name for name in free if name not in self.names.values()) if inner.startswith("..") else Path(inner).as_posix()
        return self.names[path]

    def add(self, path: Path, kind: str) -> str:
        """Put a file into the tree as it is, and return its name there."""
        name = self.name(path, kind)
        self.files.setdefault(name, read_bytes(path))
        return name

    def add_source(self, path: Path, text: str, encoding: str = "utf-8") -> None:
        """Put a LaTeX source into the tree, its paths and macros replaced."""
        place = os.path.relpath(path, self.context.root)
        text = point_anew(self, read(text), place)
        self.replaced += sum(use.name not in SILENT for use in find_uses(text, place))
        self.files[self.name(path, "inputs")] = expand(text, self.printed, place).encode(encoding)


def collect_tree(context: Context, recorded: Mapping[Path, None] | None) -> Tree:
    """The whole tree in memory; `recorded` are the project's files that LaTeX was seen to read, None where nothing was built."""
    document, made = load_document(context), generate(context).files
    tree = Tree(context, read_printed(made[MACROS].decode()))
    for scan in [*document.scans, *document.packages]:
        path = context.root / scan.path
        tree.add_source(path, without_macros(context, scan.reading, made) if scan in document.scans else scan.reading.source, encoding_of(path))
    for path in included_generated(context, document, made):
        tree.add_source(path, own_text(made[path.name]))
    for path in sorted(tree.folder.glob("*.bst")):
        tree.add(path, "")
    add_recorded(tree, recorded)
    return tree


def encoding_of(path: Path) -> str:
    """The encoding a source is in, as the scanner read it."""
    return "latin-1" if any("Latin-1" in note for note in decode(read_bytes(path))[1]) else "utf-8"


def own_text(data: bytes) -> str:
    """A generated file without its first lines and without our definitions."""
    text = "".join(data.decode().splitlines(keepends=True)[1 + len(read_header(data)) :])
    return DEFINITIONS.sub("", text)


def included_macros(context: Context, reading: Reading) -> Iterator[tuple[str, int]]:
    """(argument, place) of each `\\input` of the generated macros."""
    generated = (context.root / context.config.paths.generated / MACROS).resolve()
    folder = (context.root / context.config.paths.manuscript).parent
    for command, argument, offset, _ in reading.inputs:
        if command not in FOLDERS and (folder / (argument if argument.endswith(".tex") else f"{argument}.tex")).resolve() == generated:
            yield argument, offset


def without_macros(context: Context, reading: Reading, made: Mapping[str, bytes]) -> str:
    """A source without its `\\input` of the generated macros, unless the author's own template put something into that file."""
    text = reading.source
    if own_text(made[MACROS]).strip():
        return text
    for argument, offset in sorted(included_macros(context, reading), reverse=True, key=lambda pair: pair[1]):
        start, end = text.rindex("\\", 0, offset), text.index(argument, offset) + len(argument)
        end += text.startswith("}", end)
        line, after = text.rfind("\n", 0, start) + 1, text.find("\n", end) + 1 or len(text)
        alone = not text[line:start].strip() and not text[end:after].strip()
        text = text[:line] + text[after:] if alone else text[:start] + text[end:]
    return text


def included_generated(context: Context, document: Document, made: Mapping[str, bytes]) -> list[Path]:
    """The generated files that the document includes, those too that a generated one does; the macros only with text of the author's."""
    folder, generated = (context.root / context.config.paths.manuscript).parent, context.root / context.config.paths.generated
    waiting, found = [scan.reading for scan in document.scans], dict[Path, None]()
    while waiting:
        for command, argument, _, _ in waiting.pop().inputs:
            path = Path(os.path.normpath(folder / (argument if argument.endswith(".tex") else f"{argument}.tex")))
            if command not in FOLDERS and path.parent == generated and path.name in made and path not in found:
                found[path] = None
                waiting.append(read(own_text(made[path.name]), preamble=False))
    return [path for path in found if path.name != MACROS or own_text(made[MACROS]).strip()]


def point_anew(tree: Tree, reading: Reading, place: str) -> str:
    """A source whose names of files are those in the tree; figures and bibliographies that it names are put there."""
    text = reading.source
    for command, argument, offset, _ in sorted(reading.inputs, key=lambda each: each[2], reverse=True):
        wanted = ",".join(rename(tree, reading, command, name.strip(), place) for name in argument.split(","))
        start = text.find(argument, offset)
        if wanted != argument and start < 0:
            raise Refusal(place, f"the name of a file stands over several lines: {argument}", cure="write it in one line")
        text = text[:start] + wanted + text[start + len(argument) :] if wanted != argument else text
    return text


def rename(tree: Tree, reading: Reading, command: str, name: str, place: str) -> str:
    """The name under which a source finds a file in the tree; one that LaTeX finds elsewhere, or that a macro computes, is left as it is."""
    path = find_file(tree, command, name)
    if path is None:
        return name
    moved = tree.add(path, FOLDERS[command]) if command in FOLDERS else tree.name(path, "inputs")
    kept = moved if path.name == Path(name).name else moved.removesuffix(path.suffix)
    outside = os.path.relpath(path, tree.folder).startswith("..")
    if outside and command not in ("input", "include", *FOLDERS):
        raise Refusal(place, f"\\{command} names a file outside of the manuscript's folder: {name}", cure="include it with \\input, or move it")
    return kept if outside else name


def find_file(tree: Tree, command: str, name: str) -> Path | None:
    """The file of the project that a command names, or None."""
    folder = tree.folder
    if command in BIBLIOGRAPHY:
        candidates = [folder / (name if name.endswith(".bib") else f"{name}.bib")]
    elif command in FOLDERS:
        figure = find_graphic(folder, load_document(tree.context), name)
        candidates = [figure] if figure else []
    else:
        generated = folder / (name if name.endswith(".tex") else f"{name}.tex")
        within = generated.resolve().is_relative_to((tree.context.root / tree.context.config.paths.generated).resolve())
        candidates = [generated] if within else [path for path in [locate(command, name, folder, folder)] if path]
        return Path(os.path.normpath(candidates[0])) if candidates else None
    return next((Path(os.path.normpath(path)) for path in candidates if path.is_file()), None)


def add_recorded(tree: Tree, recorded: Mapping[Path, None] | None) -> None:
    """What else LaTeX was seen to read; a file that only a computed name outside of the manuscript's folder reaches is refused."""
    generated = (tree.context.root / tree.context.config.paths.generated).resolve()
    known = {path.resolve() for path in tree.names}
    for path in recorded or ():
        if path in known or path.is_relative_to(generated):
            continue
        if not path.is_relative_to(tree.folder.resolve()):
            shown = os.path.relpath(path, tree.context.root)
            raise Refusal(shown, "LaTeX reads it by a name that the source does not spell out", cure="name it in full where it is included")
        tree.add(path, "")
