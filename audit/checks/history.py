"""A205, A206, A207: there is a whole history to check in, and nothing local falsifies it."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.finding import Finding, Refusal, Severity
from audit.history import WHOLE_CLONE, call_git


def check(context: Context) -> Iterator[Finding]:
    """Whether git answers, the clone is whole, and neither replace refs, grafts nor index flags hide something."""
    try:
        history = context.history
        if history.shallow:
            yield _unchecked("the clone is shallow: what came first cannot be told", "", WHOLE_CLONE)
            return
        _ = history.log
    except Refusal as refusal:
        yield _unchecked(refusal.what, refusal.observed, refusal.cure)
        return
    replaced = call_git(context.root, "for-each-ref", "--format=%(refname)", "refs/replace")[1].decode().split()
    if replaced:
        what = f"{len(replaced)} replace refs show a history that is not there"
        yield Finding(code="A206", place=".git/refs/replace", what=what, observed=replaced[0], cure="git replace -d; this audit ignores them")
    if history.grafts:
        yield Finding(
            code="A206", place=".git/info/grafts", what="a grafts file shows a history that is not there", cure="remove it; this audit ignores it"
        )
    yield from _flags(context)


def count(context: Context) -> str:
    """How many commits."""
    return f"{len(context.history.log.parents)} commits"


def _flags(context: Context) -> Iterator[Finding]:
    for line in call_git(context.root, "ls-files", "-v", "-z")[1].decode(errors="surrogateescape").split("\0"):
        mark, path = line[:1], line[2:]
        if mark == "S" or mark.islower():
            flag = "skip-worktree" if mark.upper() == "S" else "assume-unchanged"
            what = f"git is told not to look at this file ({flag}): a change would not be seen"
            yield Finding(code="A207", place=path, what=what, cure=f"git update-index --no-{flag} {path}")


def _unchecked(what: str, observed: str, cure: str) -> Finding:
    return Finding(code="A205", severity=Severity.UNCHECKED, place=".git", what=what, expected="every commit", observed=observed, cure=cure)
