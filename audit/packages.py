"""Files that this process has loaded and that are not the project's: of the standard library, of installed packages, or nobody's.

A package is known by its RECORD, which pip writes with a SHA-256 for each file. What is compared are the files of loaded modules, compiled
ones too, and the `.pth` files that run code at start-up; libraries that a module itself loads, and data, are not (a gigabyte with torch), nor is
bytecode. The interpreter's own folder is believed; a package that apt installed has no RECORD, so that its modules are nobody's. RECORD lies beside what it describes: who edits both is not seen here.
"""

from __future__ import annotations

import csv
import os
import re
import site
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

from audit.digest import sha256_file

INSTALLED = ("site-packages", "dist-packages")


def loaded_files() -> dict[str, str]:
    """Name -> file of every loaded module that has one; a relative path (torch makes such modules up) is none."""
    files = {name: getattr(module, "__dict__", {}).get("__file__") for name, module in list(sys.modules.items())}
    return {name: file for name, file in sorted(files.items()) if isinstance(file, str) and os.path.isabs(file)}


def is_installed(path: Path) -> bool:
    """Whether a file lies where packages are installed, be it inside the project (a virtual environment)."""
    return bool(set(INSTALLED) & set(path.parts)) or (sys.prefix != sys.base_prefix and path.is_relative_to(Path(sys.prefix).resolve()))


def describe_origins(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """SHA-256 of what no package, nor the project below `root`, nor Python accounts for, by module; and of package files unlike their RECORD."""
    foreign, altered = {}, {}
    for name, file in {**loaded_files(), **_startup_files()}.items():
        if not os.path.isfile(file) or _is_standard(file):
            continue
        path = os.path.join(_real(os.path.dirname(file)), os.path.basename(file))
        known = _records().get(path)
        if known is not None:
            digest = _digest(path)
            if "" not in known and _as_recorded(digest) not in known:
                altered[next(iter(known.values()))] = digest
        elif is_installed(Path(path)) or not Path(path).resolve().is_relative_to(root.resolve()):
            foreign[name] = sha256_file(Path(path))
    return foreign, altered


def strangers(foreign: Iterable[str], admitted: Iterable[str]) -> list[str]:
    """The foreign modules that count: not those admitted by name, and not this tool's own, which no run can vouch for."""
    return sorted(name for name in set(foreign) - set(admitted) if name.partition(".")[0] != __package__)


def _startup_files() -> dict[str, str]:
    """What runs when Python starts and may leave no module behind: `sitecustomize`, `usercustomize`, and the `.pth` files that hold code."""
    folders = {*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])}
    files = [file for folder in sorted(folders) for file in sorted(Path(folder).glob("*.pth"))]
    specs = [spec for name in ("sitecustomize", "usercustomize") if (spec := PathFinder.find_spec(name)) is not None]
    found = {spec.name: spec.origin for spec in specs if spec.origin}
    return found | {file.name: str(file) for file in files if re.search(rb"^import[ \t]", file.read_bytes(), re.MULTILINE)}


def _is_standard(file: str) -> bool:
    """Whether a file is the standard library's, as modules name its folder or as it really is."""
    return file.startswith(_standard()) and not set(INSTALLED) & set(Path(file).parts)


@cache
def _standard() -> tuple[str, ...]:
    folder = os.path.dirname(os.__file__)
    return folder + os.sep, os.path.realpath(folder) + os.sep


def resolve(file: str) -> str:
    """The real path of a file; its folder is resolved once in the life of a process."""
    folder, name = os.path.split(file)
    path = os.path.join(_real(folder), name)
    return os.path.realpath(path) if os.path.islink(path) else path


@cache
def _real(folder: str) -> str:
    return os.path.realpath(folder)


def _digest(path: str) -> str:
    """SHA-256 of a package's file; read again only when it has changed (no program sets the time of a change)."""
    about = os.stat(path)
    return _digest_of(path, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


@cache
def _digest_of(path: str, *_: int) -> str:
    return sha256_file(Path(path))


def _as_recorded(digest: str) -> str:
    """A SHA-256 in the form of RECORD."""
    return "sha256=" + urlsafe_b64encode(bytes.fromhex(digest)).decode().rstrip("=")


@cache
def _records() -> Mapping[str, Mapping[str, str]]:
    """File -> SHA-256 in each RECORD that lists it ("" where it gives none) -> its path there."""
    found: dict[str, dict[str, str]] = {}
    for distribution in metadata.distributions():
        base = os.path.realpath(str(distribution.locate_file("")))
        if not is_installed(Path(base)):
            continue  # a RECORD in the checkout, or in any folder on the path, vouches for nothing
        for path, digest, *_ in csv.reader((distribution.read_text("RECORD") or "").splitlines()):
            place = f"{base}/{path}" if _is_plain(path) else os.path.normpath(os.path.join(base, path))
            found.setdefault(place, {})[digest] = path
    return found


def _is_plain(path: str) -> bool:
    """Whether a path of RECORD needs no normalising; there are forty thousand."""
    return os.sep == "/" and path[:1] not in ("/", ".") and "/." not in path and "//" not in path


def read_lock(lock: str) -> dict[str, str]:
    """Normalised name -> version of every pin of a lock file (`name==version`); extras, markers, comments and hashes are passed over."""
    pins = re.findall(r"^\s*([\w.-]+)\s*(?:\[[^]]*\])?\s*===?\s*([^\s;#\\,]+)", lock, re.MULTILINE)
    return {normalise(name): version for name, version in pins}


def differing(lock: str, packages: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Name, version and locked version of each package that is installed in another version than the lock file pins."""
    pinned = read_lock(lock)
    for name, version in packages.items():
        wanted = pinned.get(normalise(name))
        if wanted is not None and not _agrees(version, wanted):
            yield name, version, wanted


def normalise(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _agrees(version: str, wanted: str) -> bool:
    """Whether a version is the pinned one: a pin without a local label (`+cpu`) allows any, trailing zeros mean nothing."""
    short = version if "+" in wanted else version.partition("+")[0]
    return re.sub(r"(\.0)+$", "", short).lower() == re.sub(r"(\.0)+$", "", wanted).lower()
