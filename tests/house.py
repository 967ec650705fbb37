"""Reads the project's own source: modules, what they import, what the pipeline says they need."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"audit": ".", "rankcollapse": "src", "stages": "."}


def find_modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module of the project by dotted name, packages under their own name."""
    modules = {}
    for package, base in PACKAGES.items():
        for path in sorted((root / base / package).rglob("*.py")):
            parts = path.relative_to(root / base).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def read_imports(path: Path, name: str, *, top_level: bool = False) -> set[str]:
    """Dotted names a module imports, also inside functions unless `top_level`; `from a import b` gives a and a.b."""
    tree = ast.parse(path.read_text())
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


def find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """One cycle of imports, or nothing."""
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> list[str]:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name in done:
            return []
        for target in sorted(graph[name]):
            if cycle := visit(target, [*trail, name]):
                return cycle
        done.add(name)
        return []

    return next((cycle for name in sorted(graph) if (cycle := visit(name, []))), [])


def find_upward(graph: Mapping[str, set[str]], package: str, floors: list[str]) -> list[str]:
    """Imports inside a package that go to a higher floor, and modules that have no floor."""
    floor = {f"{package}.{name}": level for level, names in enumerate(floors) for name in names.split()}

    def level_of(module: str) -> int | None:
        """A module's floor, or that of the folder it lies in."""
        return floor.get(module, floor.get(module.rpartition(".")[0]))

    faults = []
    for name in sorted(name for name in graph if name.startswith(package + ".")):
        if level_of(name) is None:
            faults.append(f"{name} has no floor")
            continue
        targets = sorted(target for target in graph[name] if target.startswith(package + "."))
        faults += [f"{name} imports {target}" for target in targets if (level_of(target) or 0) > level_of(name)]
    return faults


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


def find_uncovered(stage: Mapping, modules: Mapping[str, Path], graph: Mapping[str, set[str]], root: Path = ROOT) -> list[str]:
    """Source files that a pipeline stage runs and that its `deps` do not name, neither itself nor a folder of it.

    The tool's own modules are left out (run logs name their digests), and so are files that hold no code.
    """
    body = stage.get("do", stage)
    commands = body["cmd"] if isinstance(body["cmd"], list) else [body["cmd"]]
    words = [word for command in commands for word in command.split()]
    started = [words[place + 1] for place, word in enumerate(words[:-1]) if word == "-m"]
    deps = [dep if isinstance(dep, str) else next(iter(dep)) for dep in body.get("deps", [])]
    reached = {name for start in started for name in close_over(graph, start) if not name.startswith("audit")}
    needed = {modules[name].relative_to(root) for name in reached if has_code(modules[name])}
    return sorted(path.as_posix() for path in needed if not any(path.is_relative_to(dep) for dep in deps))


def has_code(path: Path) -> bool:
    """Whether a module holds more than a docstring."""
    body = ast.parse(path.read_text()).body
    return any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in body)
