"""The quick DVC of a course writes the bytes that DVC writes."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Any

import pytest
from dvc.utils.serialize import _yaml
from quick_dvc import read_quickly, write_quickly
from smoke import CHECKOUT, Repository

VALUES = [1e-5, 1e-4, 1e20, 0.1, 3.0, float("inf"), 1, 12345678901234567890, True, None, "null", "1e5", "012", "yes", "1:30", "it's", "a: b", "é", "", [], {}, [[1, 2], [3]], OrderedDict(b=1, a=2), "12e3" + "4" * 28, "1" * 32, "word " * 40]  # fmt: skip


def texts(data: Any) -> tuple[str, str]:
    """As DVC writes it, and as the quick DVC does."""
    dvc, quick = io.StringIO(), io.StringIO()
    _yaml._dump(data, dvc)
    write_quickly(data, quick)
    return dvc.getvalue(), quick.getvalue()


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_written_alike(value: Any) -> None:
    """Numbers, words that look like others, empty and nested things, in a mapping and in a list."""
    dvc, quick = texts({"schema": "2.0", "stages": {"a": {"params": {"params.yaml": {"z": value, "a": [value, 1]}}}}})
    assert quick == dvc


@pytest.mark.parametrize("text", [
    "schema: '2.0'\nstages:\n  a:\n    cmd: x\n  b@c:\n    cmd: |-\n      y\n        z\n    frozen: true\n", "schema: '2.0'\nstages: {}\n", "schema: '2.0'\n", "", "{}\n",
    "schema: '2.0'\nstages:\n  a:\n    cmd: x\ndatasets:\n  - name: y\n", "# by hand\nschema: '2.0'\nstages:\n  a:\n    cmd: x\n", "stages:\n  a:\n    cmd: x\nschema: '2.0'\n",
])  # fmt: skip
def test_any_lock_is_read_alike(text: str) -> None:
    """With and without stages, with datasets, comments, and in another order."""
    assert read_quickly(text, "dvc.lock") == _yaml.parse_yaml(text, "dvc.lock")


def test_stages_are_written_alike() -> None:
    """A lock as DVC grows and changes it, stage by stage: what was written before is not what is written now."""
    lock: dict[str, Any] = {"schema": "2.0", "stages": {}}
    for name, entry in [("a", {"cmd": "x"}), ("b@c", OrderedDict(cmd="word " * 40, deps=[])), ("a", {"cmd": "1"}), ("a", {"cmd": 1}), ("a", {"cmd": 1.0}), ("a", {"cmd": True})]:
        lock["stages"][name] = entry
        dvc, quick = texts(lock)
        assert quick == dvc


def test_a_lock_comes_back_as_it_was(made: Repository) -> None:
    """The committed lock, which DVC wrote, and the course's: read and written quickly each is the same text, and DVC leaves the course's so."""
    for text in ((CHECKOUT / "dvc.lock").read_text(), made.read("dvc.lock")):
        assert len(text) > 100_000
        for read in (_yaml.parse_yaml, read_quickly, read_quickly):
            data, stream = read(text, "dvc.lock"), io.StringIO()
            assert data == _yaml.parse_yaml(text, "dvc.lock")
            write_quickly(data, stream)
            assert stream.getvalue() == text
            data["stages"]["data"]["cmd"] = "changed by who read it"
    _yaml._dump(_yaml.parse_yaml_for_update(made.read("dvc.lock"), "dvc.lock"), stream := io.StringIO())
    assert stream.getvalue() == made.read("dvc.lock")
