"""The quick DVC of a course writes the bytes that DVC writes."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Any

import pytest
from dvc.utils.serialize import _yaml
from quick_dvc import write_quickly
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


def test_a_lock_comes_back_as_it_was(made: Repository) -> None:
    """The committed lock, which DVC wrote, and the course's: read and written quickly each is the same text, and DVC leaves the course's so."""
    for text in ((CHECKOUT / "dvc.lock").read_text(), made.read("dvc.lock")):
        assert len(text) > 100_000
        stream = io.StringIO()
        write_quickly(_yaml.parse_yaml(text, "dvc.lock"), stream)
        assert stream.getvalue() == text
    _yaml._dump(_yaml.parse_yaml_for_update(made.read("dvc.lock"), "dvc.lock"), stream := io.StringIO())
    assert stream.getvalue() == made.read("dvc.lock")
