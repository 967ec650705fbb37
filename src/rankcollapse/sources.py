"""Reads the project's own source: its modules, what they import, and the files that a stage runs; no module is imported for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from audit.records import Refusal, sha256_bytes

PACKAGES = {"audit": ".", "rankcollapse": "src", "stages": "."}
TOOL = "audit"
"""The package of which no stage grows stale: run logs name the digests of its files."""


def find_modules(root: Path) -> dict[str, Path]:
    """Every module of the project by dotted name, packages under their own name."""
    modules = {}
    for package, base in PACKAGES.items():
        for path in sorted((root / base / package).rglob("*.py")):
            parts = path.relative_to(root / base).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def parse(path: Path) -> ast.Module:
    """A module's syntax tree; Refusal where it has none."""
    try:
        return ast.parse(path.read_text())
    except (SyntaxError, UnicodeDecodeError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise Refusal(f"{path}{line}", "is not Python", observed=str(error).partition(" (")[0]) from None


def read_imports(path: Path, name: str, *, top_level: bool = False) -> set[str]:
    """Dotted names a module imports, also inside functions unless `top_level`; `from a import b` gives a and a.b."""
    tree = parse(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in walk_top(tree) if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join(parents[: len(parents) - node.level + 1] + ([node.module] if node.module else []))
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return found


def walk_top(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when the module is imported, but for what only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from walk_top(node)


def build_graph(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Each module's imports from the project, the most specific name only."""
    graph = {}
    for name, path in modules.items():
        known = {target for target in read_imports(path, name) if target in modules and target != name}
        graph[name] = {target for target in known if not any(other.startswith(target + ".") for other in known)}
    return graph


def close_over(graph: Mapping[str, set[str]], name: str) -> set[str]:
    """A module, all that it imports, directly or not, and the packages they lie in."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module in found or module not in graph:
            continue
        found.add(module)
        waiting += [*graph[module], module.rpartition(".")[0]]
    return found


def list_sources(root: Path) -> dict[str, list[Path]]:
    """By script of `stages`, the files that it runs but for the tool's, in order; beside a module lies what it compiles (`kernel.cpp`)."""
    modules = find_modules(root)
    graph = build_graph(modules)
    scripts = {name: close_over(graph, name) for name in graph if name.startswith("stages.")}
    return {
        script.removeprefix("stages."): sorted(file for name in names if name.partition(".")[0] != TOOL for file in files_of(modules[name]))
        for script, names in scripts.items()
    }


def files_of(module: Path) -> list[Path]:
    """A module's source and what lies beside it under its name; none of one that holds only words."""
    if not has_code(module):
        return []
    return [module] if module.stem == "__init__" else [file for file in module.parent.glob(f"{module.stem}.*") if file.is_file()]


def has_code(path: Path) -> bool:
    """Whether a module holds more than a docstring."""
    body = parse(path).body
    return any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in body)


def describe_sources(root: Path, files: list[Path]) -> str:
    """One line a file, its SHA-256 and its path, as `sha256sum` writes and checks them."""
    return "".join(f"{sha256_bytes(file.read_bytes())}  {file.relative_to(root).as_posix()}\n" for file in files)
