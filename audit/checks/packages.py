"""A318: the packages of a run under a seal have the versions of the lock file, where there is one, and the files of their own RECORD."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from audit.context import Context
from audit.finding import Finding, Severity
from audit.packages import differing, normalise, read_lock
from audit.records import RunLog


def check(context: Context) -> Iterator[Finding]:
    """Every run log: altered files of packages, and versions against the lock file of the commit the run started from."""
    for path, log in context.readable_logs.items():
        weight = Severity.FINDING if log.seals else Severity.NOTE
        if log.altered:
            observed = min(log.altered) + (f" and {len(log.altered) - 1} more" if len(log.altered) > 1 else "")
            what, cure = "its run loaded a file of a package that is not what the package's RECORD says", "install the packages afresh, run again"
            yield Finding(code="A318", severity=weight, place=path, what=what, observed=observed, cure=cure)
        for name, version, wanted in differing(_lock(context, log), log.packages):
            what, cure = f"its run had another version of {name} than {context.config.paths.lock} pins", "install what is locked, run again"
            yield Finding(code="A318", severity=weight, place=path, what=what, expected=wanted, observed=version, cure=cure)

    yield from _unpinned(context)


def _unpinned(context: Context) -> Iterator[Finding]:
    """A note on packages that runs under a seal loaded and the lock file, where there is one, does not pin; the project itself is none."""
    loose: set[str] = set()
    for log in context.readable_logs.values():
        pinned = read_lock(_lock(context, log)) if log.seals else {}
        loose |= {name for name in log.packages if pinned and normalise(name) not in pinned and normalise(name) != _own_name(context)}
    if loose:
        what = "does not pin packages that runs under a seal loaded"
        yield Finding(code="A318", severity=Severity.NOTE, place=context.config.paths.lock, what=what, observed=", ".join(sorted(loose)))


def _own_name(context: Context) -> str:
    """The project as a package, by its `pyproject.toml`."""
    try:
        project = tomllib.loads((context.bytes_of("pyproject.toml") or b"").decode()).get("project", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return ""
    return normalise(str(project.get("name", ""))) if isinstance(project, dict) else ""


def count(context: Context) -> str:
    """How many packages, and whether their versions are compared with anything."""
    logs = context.readable_logs.values()
    names = {item for log in logs for item in log.packages.items()}
    unlocked = logs and not any(_lock(context, log) for log in logs)
    return f"{len(names)} packages" + ("; no lock file: versions are not compared" if unlocked else "")


def _lock(context: Context, log: RunLog) -> str:
    """The lock file as the run's start commit holds it; a lost start commit is another check's matter."""
    if not context.history.knows(log.commit):
        return ""
    return (context.history.bytes_at(log.commit, context.config.paths.lock) or b"").decode(errors="replace")
