"""Git's own bytes: commits, trees and the pass over a history, parsed, and ids computed again; git is not called here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from audit.finding import Refusal

ENTRY = {width: re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % width, re.DOTALL) for width in (20, 32)}
"""Mode, name and object id of an entry of a tree, by the bytes of an id (SHA-1 or SHA-256)."""
WHOLE_CLONE = "git fetch --unshallow (in CI: fetch-depth 0)"


@dataclass(frozen=True)
class Log:
    """What one pass over the history says: parents, who added which blob, and which blobs stood at which path."""

    parents: dict[str, tuple[str, ...]]
    additions: dict[str, dict[str, int]]
    """blob -> commit -> in how many of the comparisons with its parents the blob is new."""
    paths: dict[str, dict[str, None]]
    """blob -> paths at which it ever stood."""
    versions: dict[str, dict[str, None]]
    """path -> blobs that ever stood there, newest first."""


def parse_log(shown: bytes) -> Log:
    """What `git log --raw -z` showed, with every parent of every merge."""
    log = Log({}, {}, {}, {})
    for commit, parents, added in _sections(shown):
        log.parents[commit] = parents
        for blob in {blob for blob, _ in added}:
            counts = log.additions.setdefault(blob, {})
            counts[commit] = counts.get(commit, 0) + 1
        for blob, path in added:
            log.paths.setdefault(blob, {})[path] = None
            log.versions.setdefault(path, {})[blob] = None
    return log


def _sections(shown: bytes) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, str]]]]:
    """Each comparison of a commit with one parent: (commit, parents, [(new blob, path)])."""
    tokens = iter(shown.split(b"\0"))
    commit, parents, added = "", (), []
    for token in tokens:
        token = token.lstrip(b"\n")
        if token.startswith(b"\x01"):
            if commit:
                yield commit, parents, added
            commit, *rest = token[1:].decode().split()
            parents, added = tuple(rest), []
        elif token.startswith(b":"):
            path, (old, new) = next(tokens).decode(errors="surrogateescape"), token.decode().split()[2:4]
            if new.strip("0") and new != old:  # another mode of the same bytes is no new blob
                added.append((new, path))
    if commit:
        yield commit, parents, added


def parse_batch(shown: bytes, names: list[str]) -> Iterator[tuple[str, str, bytes]]:
    """Name, kind and bytes of each object that `git cat-file --batch` was asked for; a missing or altered one could not be checked."""
    at = 0
    for name in names:
        end = shown.index(b"\n", at)
        header = shown[at:end].split()
        if len(header) != 3:
            raise missing_object(name)
        kind, size = header[1].decode(), int(header[2])
        data, at = shown[end + 1 : end + 1 + size], end + 2 + size
        refuse_altered(name, kind, data)
        yield name, kind, data


def parse_tree(data: bytes, width: int) -> dict[str, tuple[str, str]]:
    """A tree as name -> (mode, object id), from its bytes."""
    found = ENTRY[width].findall(data)
    if sum(len(mode) + len(entry) + 2 + width for mode, entry, _ in found) != len(data):
        raise ValueError("bytes in a tree that are no entry")
    return {entry.decode(errors="surrogateescape"): (_mode(mode), name.hex()) for mode, entry, name in found}


@cache
def _mode(digits: bytes) -> str:
    return digits.decode().zfill(6)


def parse_commit(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The tree and the parents of a commit, from its bytes."""
    tree, *lines = data.partition(b"\n\n")[0].split(b"\n")
    return tree[5:].decode(), tuple(line[7:].decode() for line in lines if line.startswith(b"parent "))


def refuse_altered(name: str, kind: str, data: bytes) -> None:
    """Refuse an object whose bytes do not give its id."""
    digest = hashlib.new("sha1" if len(name) == 40 else "sha256", f"{kind} {len(data)}\0".encode() + data).hexdigest()
    if digest != name:
        raise Refusal(f"git object {name[:12]}", "its bytes do not give its id", observed=digest[:12], cure="git fsck, then clone again")


def missing_object(name: str) -> Refusal:
    """What to say of an object that git does not have."""
    return Refusal(f"git object {name[:12]}", "is not in this clone", cure=f"{WHOLE_CLONE}; a partial clone must be completed")
