"""A320: no `.dvcignore` hides from DVC a tracked file that a stage depends on or that a run read or loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from audit.context import Context
from audit.finding import Finding
from audit.history import call_git

IGNORE = ".dvcignore"


def check(context: Context) -> Iterator[Finding]:
    """Every tracked file that counts, by the patterns of all the `.dvcignore` files above it."""
    wanted = sorted(_tracked(context, _counting(context)))
    for path, source, pattern in find_hidden(context.root, wanted):
        what = "DVC is told not to look at this file: a change would not make its stages stale"
        yield Finding(code="A320", place=path, what=what, observed=f"{source}: {pattern}", cure=f"remove the pattern from {source}, dvc repro")


def count(context: Context) -> str:
    """How many files and folders."""
    return f"{len(_counting(context))} files and folders"


def _counting(context: Context) -> set[str]:
    """Files and folders that stages depend on or that run logs name."""
    depends = {dep["path"] for entry in context.pipeline.lock.values() for dep in entry.get("deps", ())} | context.pipeline.dependencies
    return depends.union(*({*log.inputs, *log.code} for log in context.readable_logs.values()))


def _tracked(context: Context, places: set[str]) -> set[str]:
    """Those of them that git tracks, and what it tracks below them."""
    listed = call_git(context.root, "ls-files", "-z")[1].decode(errors="surrogateescape").split("\0")
    return {path for path in listed if path and any(place in places for place in (path, *_folders(path)))}


def _folders(path: str) -> Iterator[str]:
    """The folders on the way to a path, the nearest first and the root, `.`, last."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
    yield "."


def find_hidden(root: Path, paths: list[str]) -> Iterator[tuple[str, str, str]]:
    """Path, `.dvcignore` with line, and pattern of what is ignored: git, which has the same patterns, is asked in a folder that holds nothing else."""
    folders = {folder for folder in {folder for path in paths for folder in _folders(path)} if (root / folder / IGNORE).is_file()}
    if not folders:
        return
    with tempfile.TemporaryDirectory() as name:
        aside = Path(name)
        call_git(aside, "init", "-q", "--template=")
        for folder in folders:
            (aside / folder).mkdir(parents=True, exist_ok=True)
            (aside / folder / ".gitignore").write_bytes((root / folder / IGNORE).read_bytes())
        asked = "\0".join(paths).encode(errors="surrogateescape")
        answer = call_git(
            aside, "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-v", "-z", "--stdin", answers=(0, 1), stdin=asked
        )
    fields = answer[1].decode(errors="surrogateescape").split("\0")
    for source, line, pattern, path in zip(*[iter(fields)] * 4):
        if not pattern.startswith("!"):
            yield path, f"{source.removesuffix('.gitignore')}{IGNORE}:{line}", pattern
