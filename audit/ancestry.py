"""Who descends from whom, in a history that is given as the parents of each commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def find_ancestors(parents: Mapping[str, tuple[str, ...]], wanted: Iterable[str]) -> dict[str, frozenset[str]]:
    """Of each wanted commit, those wanted ones that it descends from, itself included; one pass over the history."""
    names = [name for name in dict.fromkeys(wanted) if name in parents]
    marks = {name: 1 << place for place, name in enumerate(names)}
    below: dict[str, int] = {}
    pending = list(names)
    while pending:
        commit = pending[-1]
        missing = [parent for parent in parents.get(commit, ()) if parent not in below] if commit not in below else []
        if missing:
            pending += missing
            continue
        pending.pop()
        if commit not in below:
            below[commit] = marks.get(commit, 0)
            for parent in parents.get(commit, ()):
                below[commit] |= below[parent]
    return {name: frozenset(other for other in names if below[name] & marks[other]) for name in names}
