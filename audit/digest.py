"""Digests and canonical bytes: the forms in which things are compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit.finding import Refusal


def sha256_bytes(data: bytes) -> str:
    """SHA-256 of bytes, as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes; a missing file is refused, never an empty digest."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise Refusal(path, "cannot be hashed", observed=error.strerror or str(error)) from None


def sha256_tree(path: Path) -> str:
    """SHA-256 of a folder: over the lines `<sha256>  <relative path>` of its files, sorted bytewise by path."""
    files = {file.relative_to(path).as_posix(): sha256_file(file) for file in sorted(path.rglob("*")) if file.is_file()}
    return sha256_lines({name: digest for name, digest in files.items() if Path(name).name != ".gitignore"})


def sha256_lines(digests: Mapping[str, str]) -> str:
    """SHA-256 of the lines `<sha256>  <path>` sorted bytewise by path, as `sha256sum ... | LC_ALL=C sort -k2 | sha256sum` prints it."""
    lines = sorted((path.encode(), digest) for path, digest in digests.items())
    return sha256_bytes(b"".join(digest.encode() + b"  " + path + b"\n" for path, digest in lines))


def md5_bytes(data: bytes) -> str:
    """MD5 of bytes, as DVC names a file by it; no more than a name."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def md5_file(path: Path) -> str:
    """MD5 of a file's bytes; see `md5_bytes`."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def md5_tree(path: Path) -> str:
    """MD5 of a folder as DVC names it: over the JSON list of its files' MD5 and relative paths, sorted by path, with `.dir` behind it."""
    files = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}
    listed = [{"md5": md5_file(files[name]), "relpath": name} for name in sorted(files)]
    return md5_bytes(json.dumps(listed, sort_keys=True).encode()) + ".dir"


def canonical_json(value: Any) -> bytes:
    """One byte string for one value: sorted keys, no blanks, UTF-8, no NaN; floats as Python's shortest form."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
