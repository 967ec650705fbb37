"""YAML is read by a quick parser and a thorough one, and both read the same; the levels of JSON are those of its values."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from audit import load
from audit.finding import Refusal
from audit.load import DEEPEST, HUGE, UNSURE, _compose, _compose_quickly, measure_depth, parse_yaml

ROOT = Path(__file__).parents[2]
PIECES = [
    "a: ", "b: ", "- ", "\n", "\n  ", "x", "no", "012", "1e-4", "0o14", "1_000", "12:30", "2001-01-01", "~", "null", ".inf", "'q'", '"q"', "{", "}",
    "[", "]", ", ", "? ", ": ", "|\n", ">-\n", "#", " #c", "&x", "*x", "!", "<<: ", "=", "---\n", "...\n", "%", "@", "`", "\r\n", "é", "\u2028", "\x85",
]  # fmt: skip


@pytest.mark.parametrize("path", ["dvc.yaml", "dvc.lock", "params.yaml", "prereg/pilot.yaml"])
def test_quick_and_thorough_agree_on_this_project(path: str) -> None:
    """The files that `audit verify` reads most go the quick way and mean the same."""
    text = (ROOT / path).read_text(encoding="utf-8")
    assert _compose_quickly(text, path) == _compose(text, path)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example("a: \tb")
@example("a: !!str 1")
@example("|# c\n  b")
@example("a: \n...\n...\n")
def test_the_quick_parser_is_never_laxer(text: str) -> None:
    """Whatever goes the quick way, the thorough parser reads too, as the same values of the same types."""
    quick: object = Refusal
    with suppress(Exception):
        quick = Refusal if UNSURE.search(text) else _compose_quickly(text, "p")
    if quick is not Refusal:
        assert repr(quick) == repr(_compose(text, "p"))


def test_scalars_are_those_of_yaml_1_2() -> None:
    """`no` is text, `012` is twelve, `1e-4` is a number, whichever parser reads them."""
    for comment in ("", "# !\n"):  # a `!` anywhere asks for the thorough parser
        assert parse_yaml(comment + "{a: no, b: 012, c: 1e-4, d: 0o14}", "p") == {"a": "no", "b": 12, "c": 0.0001, "d": 12}


@pytest.mark.parametrize("python", [sys.executable, "/nowhere/python"])
def test_a_huge_text_means_the_same(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is worth a process of its own is read the same there, and here where there can be none."""
    monkeypatch.setattr(sys, "executable", python)
    entry = "  s{0}: {{cmd: run {0}, deps: [{{path: a/{0}, md5: '{0:032x}'}}], size: {0}, rate: 1.5, last: null, frozen: true}}\n"
    text = "stages:\n" + "".join(entry.format(index) for index in range(HUGE // 100))
    assert len(text) > HUGE
    read = parse_yaml(text, "dvc.lock")
    assert read == _compose_quickly(text, "dvc.lock") and read["stages"]["s7"]["last"] is None and read["stages"]["s7"]["rate"] == 1.5


def test_a_huge_text_with_a_fault_is_refused() -> None:
    """What the process of its own refuses is explained as elsewhere."""
    with pytest.raises(Refusal, match="^dvc.lock:2: .*duplicate key"):
        parse_yaml("a: 1\na: 1\nb: '" + "x" * HUGE + "'\n", "dvc.lock")


VALUES = st.recursive(
    st.integers() | st.text('"\\\\[]{}:,aé\n'), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('"\\\\[{}]b'), inner, max_size=3)
)


def levels(value: Any) -> int:
    """Levels of a plain value, by its definition."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(levels, inner), default=0)


@given(VALUES, st.booleans())
def test_brackets_in_strings_are_no_levels(value: Any, ascii_only: bool) -> None:
    """Beside more brackets than levels may be, a value is as deep as it is, with backslashes in its strings or without, as text or as bytes."""
    text = json.dumps([value, *([[]] * DEEPEST)], ensure_ascii=ascii_only)
    assert measure_depth(text) == measure_depth(text.encode()) == max(1 + levels(value), 2)


def test_a_refused_text_is_refused_again_without_reading_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same words, each time anew: a broken params.yaml is asked for by forty checks."""
    read: list[str] = []
    monkeypatch.setattr(load, "_parse_yaml", lambda text, place, own=load._parse_yaml: read.append(place) or own(text, place))
    seen = []
    for place in ("once.yaml", "once.yaml", "twice.yaml"):
        with pytest.raises(Refusal, match=f"^{place}:2: not readable as YAML; .*duplicate key .*; cure: keep one of the two$") as refused:
            parse_yaml("refused: 1\nrefused: 2\n", place)
        seen.append(refused.value)
    assert read == ["once.yaml", "twice.yaml"] and seen[0] is not seen[1] and str(seen[0]) == str(seen[1])
