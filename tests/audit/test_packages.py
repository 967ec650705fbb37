"""What a run log says of packages, found quickly, is what Python's own slow ways find."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

import pytest

from audit import packages
from audit.digest import sha256_bytes
from audit.machine import describe_packages


def test_packages_are_those_that_python_knows() -> None:
    """Every loaded distribution with its version, those of packages that declare their modules and those of packages that do not."""
    loaded = {name.partition(".")[0] for name in sys.modules}
    names = {name for module, owners in metadata.packages_distributions().items() if module in loaded for name in owners}
    assert describe_packages() == {name: metadata.version(name) for name in sorted(names)}
    assert {"pytest", "pydantic"} <= names


def test_records_name_each_installed_file_once_normalised() -> None:
    """Files of a package and those outside its folder (`../../../bin/pytest`) stand under their real paths."""
    listed = {os.path.realpath(str(file.locate())) for file in metadata.files("pytest") or ()}
    assert {path for path in listed if path.endswith(("/bin/pytest", "/_pytest/config/__init__.py"))} <= packages._records().keys()
    assert len([path for path in packages._records() if path != os.path.normpath(path)]) == 0


@pytest.mark.parametrize("path", ["a/./b.py", "a//b.py", "../b.py", "./b.py", "/b.py", "a/../b.py"])
def test_paths_that_need_normalising_are_recognised(path: str) -> None:
    """All but plain ones."""
    assert not packages._is_plain(path) and packages._is_plain("a/b.c/d.py") and packages._is_plain("a/__init__.py")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """Of the same length, with its old time put back: the time of the change itself tells."""
    file = tmp_path / "module.py"
    file.write_text("LINE = 1\n")
    before, about = packages._digest(str(file)), file.stat()
    file.write_text("LINE = 2\n")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert file.stat().st_mtime_ns == about.st_mtime_ns
    assert before == sha256_bytes(b"LINE = 1\n") and packages._digest(str(file)) == sha256_bytes(b"LINE = 2\n")


def test_files_are_resolved_as_paths_are(tmp_path: Path) -> None:
    """Through a linked folder, through a linked file, and where there is no link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.py").write_text("")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "real/b.py").symlink_to("a.py")
    for name in ("real/a.py", "folder/a.py", "folder/b.py", "real/../real/b.py"):
        assert packages.resolve(str(tmp_path / name)) == str((tmp_path / "real/a.py").resolve())
