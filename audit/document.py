"""The project's document: its sources as scanned files, its templates, and every use of our macros."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from audit.context import Context
from audit.numbers.classify import Classified
from audit.numbers.scan import Scan, decode, locate, relative, scan_file, scan_text, scan_tree

__all__ = ["SETTINGS", "Document", "Use", "load_document", "template_paths"]

SETTINGS = (".cfg", ".def", ".clo", ".fd", ".ldf")
LOADERS = frozenset({"documentclass", "usepackage", "RequirePackage", "RequirePackageWithOptions", "LoadClass", "LoadClassWithOptions"})
LOADED = re.compile(r"\\[A-Za-z]+\s*(?:\[[^\]]*\]\s*)?\{([^{}]*)\}")

JINJA = re.compile(r"<<.*?>>|<%.*?%>|<#.*?#>|^[ \t]*%[%#][^\n]*", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Use:
    """One use of `\\val`, `\\verdict`, `\\ifverdict`, `\\prov`, `\\confirmatory`, `\\unjudged` or `\\claim` (its key is the condition)."""

    command: str
    option: str
    key: str
    place: str
    moving: bool = False
    """In a caption or title, which LaTeX may print again elsewhere."""
    demanded: bool = True
    """Where LaTeX must typeset it: outside branches, definitions and options."""


@dataclass
class Document:
    """What the audit reads of a manuscript."""

    scans: list[Scan] = field(default_factory=list)
    templates: list[Scan] = field(default_factory=list)
    packages: list[Scan] = field(default_factory=list)
    """Classes, packages and their settings that lie beside the manuscript and that LaTeX loads."""
    broken: list[tuple[str, str]] = field(default_factory=list)
    """Places of inputs that cannot be followed, and why."""
    main: str | None = None
    """Path of the main source, or None where the project has no manuscript."""

    @property
    def all(self) -> list[Scan]:
        return [*self.scans, *self.templates, *self.packages]

    def uses(self) -> list[Use]:
        """Every use of our macros, in source order."""
        return [
            Use(command, option, key, scan.place(offset), moving, offset not in scan.reading.optional)
            for scan in self.all
            for command, option, key, offset, moving in scan.reading.uses
        ]

    def typed(self) -> list[tuple[Scan, Classified]]:
        """Every number that a reader takes for measured and that is typed."""
        return [(scan, number) for scan in self.all for number in scan.numbers if number.cls == "result"]

    def included(self, commands: frozenset[str]) -> list[tuple[str, str]]:
        """(argument, place) of each file that one of the commands includes."""
        return [(argument, scan.place(offset)) for scan in self.scans for command, argument, offset, _ in scan.reading.inputs if command in commands]


def load_document(context: Context) -> Document:
    """Scan the manuscript and its templates, once a context."""
    found = context.__dict__.get("_document")
    if found is None:
        found = context.__dict__["_document"] = scan_document(context)
    return found


def scan_document(context: Context) -> Document:
    root, paths = context.root, context.config.paths
    main = root / paths.manuscript
    if not main.is_file():
        return Document(templates=scan_templates(context))
    document = Document(templates=scan_templates(context), main=paths.manuscript)
    for item in scan_tree(main, root, root / paths.generated):
        if isinstance(item, Scan):
            document.scans.append(item)
        else:
            document.broken.append(item)
    document.packages = scan_packages(document.scans, root, main.parent)
    return document


def scan_packages(scans: list[Scan], root: Path, folder: Path) -> list[Scan]:
    """Local files that the sources load as class or package, those that these load, and settings that LaTeX finds by name."""
    found = {path: scan_package(path, root) for suffix in SETTINGS for path in sorted(folder.glob(f"*{suffix}")) if path.is_file()}
    waiting = [*scans, *found.values()]
    while waiting:
        for path in loaded_packages(waiting.pop(0), folder):
            if path not in found:
                found[path] = scan_package(path, root)
                waiting.append(found[path])
    return list(found.values())


def scan_package(path: Path, root: Path) -> Scan:
    """One class or package, read as part of the preamble."""
    return scan_file(path, relative(path, root), preamble=True)


def loaded_packages(scan: Scan, folder: Path) -> list[Path]:
    """The classes and packages beside the manuscript that a source loads."""
    named = (LOADED.match(scan.reading.source, offset) for name, offset in scan.reading.commands if name in LOADERS)
    names = [name.strip() for match in named if match for name in match[1].split(",")]
    return [path for name in names for suffix in (".sty", ".cls") if name and (path := folder / f"{name}{suffix}").is_file()]


def template_paths(context: Context) -> list[Path]:
    """Every template: `*.tex.j2` under the manuscript's folder, outside `generated/`."""
    folder = (context.root / context.config.paths.manuscript).parent
    generated = context.root / context.config.paths.generated
    return sorted(path for path in folder.rglob("*.tex.j2") if generated not in path.parents and path.is_file())


def scan_templates(context: Context) -> list[Scan]:
    """Templates as LaTeX: what Jinja prints stands there as a bound value, its statements as blanks."""
    scans = []
    for path in template_paths(context):
        text, _ = decode(path.read_bytes())
        blank = JINJA.sub(blank_out, text)
        scans.append(scan_text(blank, path.relative_to(context.root).as_posix(), preamble=False))
    return scans


def blank_out(match: re.Match[str]) -> str:
    """As many characters as the construct had, so that places stay true."""
    shown = match.group()
    filler = re.sub(r"[^\n]", " ", shown)
    return "\ue002" + filler[1:] if shown.startswith("<<") else filler


def generated_inputs(context: Context, document: Document) -> set[str]:
    """Names (relative to `generated/`) of the generated files that the document includes."""
    root, paths = context.root, context.config.paths
    folder, generated = (root / paths.manuscript).parent, (root / paths.generated).resolve()
    names = set()
    for argument, _ in document.included(frozenset({"input", "include", "subfile"})):
        found = locate("input", argument, folder, folder)
        candidate = found or (folder / (argument if argument.endswith(".tex") else argument + ".tex"))
        if candidate.resolve().is_relative_to(generated):
            names.add(candidate.resolve().relative_to(generated).as_posix())
    return names
