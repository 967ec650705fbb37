"""The one way in for JSON and YAML: what two readers could understand differently is refused."""

from __future__ import annotations

import copy
import json
import marshal
import os
import re
import stat
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from audit.finding import Refusal
from audit.folders import naming

UNSURE = re.compile("[\t!\x85\u2028\u2029]|\r(?!\n)|^%|^\\.\\.\\.|[|>][-+0-9]*(?:\\s*#| *\n +\n)", re.MULTILINE)
"""What the two YAML parsers read differently: tabs, a lone `!`, line ends of YAML 1.1, directives, ends of documents, odd heads of blocks."""


PLAIN_NUMBER = re.compile("[1-9][0-9]{0,17}")
PLAIN_TEXT = re.compile("[0-9][0-9a-f]*[acdf][0-9a-f]*")
"""A digest, which begins like a number and is none."""
LONG = 2**16
"""A text of so many letters is read once, and no copy of it is kept."""
HUGE = 2**19
"""A text of so many letters is worth a process."""


DEEPEST = 100
"""Levels of a JSON file: nobody writes more, and what walks it must end."""


NESTING = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
"""Strings, which are passed over, and what opens or closes a level of JSON."""
FLAT = bytes({*range(256)} - {*b'"[]{}'})
"""Bytes that neither open nor close a string or a level, in a text without backslashes."""


def parse_json(text: str | bytes, place: object) -> Any:
    """Parse JSON, refusing repeated keys, NaN and infinity, naming the place."""

    def refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            keys = [key for key, _ in pairs]
            key = next(key for key in found if keys.count(key) > 1)
            raise Refusal(place, f"key {key!r} stands twice in one object", expected="each key once", cure="remove one")
        return found

    def refuse_constant(name: str) -> None:
        raise Refusal(place, "not a JSON number", expected="a finite number", observed=name, cure="rerun the stage that wrote it")

    if isinstance(text, bytes) and (text[:3] == b"\xef\xbb\xbf" or b"\0" in text[:4]):
        raise Refusal(place, "not readable as JSON", expected="plain UTF-8", observed="a byte-order mark or another encoding", cure="rerun the stage that wrote it")
    if measure_depth(text) > DEEPEST:
        raise Refusal(place, "is nested too deeply", expected=f"at most {DEEPEST} levels", cure="rerun the stage that wrote it")
    try:
        return json.loads(text, object_pairs_hook=refuse_repeats, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:  # among them a number of thousands of digits, and nesting without end
        raise Refusal(place, "not readable as JSON", observed=str(error), cure="the file may be truncated; restore or rerun") from None


def measure_depth(text: str | bytes) -> int:
    """Levels of a JSON text; where there are few brackets at all, their number."""
    data = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    opened = data.count(b"[") + data.count(b"{")
    if opened <= DEEPEST:
        return opened
    bare = data if b"\\" in data else data.translate(None, FLAT)  # most of a record is digits
    level = deepest = 0
    for token in NESTING.findall(bare.decode(errors="replace")):
        if token[0] != '"':
            level += 1 if token in "[{" else -1
            deepest = max(deepest, level)
    return deepest


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file; one line when it is absent or no file (a pipe that nobody writes to is not waited for)."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise OSError("not a regular file")
            return stream.read()
    except OSError as error:
        raise Refusal(path, "cannot be read", expected="a readable file", observed=error.strerror or str(error), cure="restore it") from None


def read_json(path: Path) -> Any:
    """Read a JSON file strictly; see `parse_json`."""
    return parse_json(read_bytes(path), path)


def parse_yaml(text: str | bytes, place: object) -> Any:
    """Parse one YAML 1.2 document; repeated keys, anchors, aliases, tags, merges and a second document are refused."""
    if len(text) > LONG:
        return _parse_yaml(text, str(place))
    found = _answer(text, str(place))
    if isinstance(found, Refusal):
        raise copy.copy(found)
    return copy.deepcopy(found)


@lru_cache(maxsize=256)
def _answer(text: str | bytes, place: str) -> Any:
    """What a text holds, or its refusal, which may take seconds to find and is asked for as often."""
    try:
        return _parse_yaml(text, place)
    except Refusal as refusal:
        return copy.copy(refusal)  # without the frames it came through


def _parse_yaml(text: str | bytes, place: str) -> Any:
    from ruamel.yaml.error import YAMLError

    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refusal(place, "not UTF-8", expected="UTF-8 text", observed=str(error), cure="save the file as UTF-8") from None
    if text.startswith("\ufeff"):
        raise Refusal(place, "starts with a byte-order mark", expected="plain UTF-8", cure="save without BOM")
    try:
        if not UNSURE.search(text):
            with suppress(Exception):  # what the quick parser stumbles over, the thorough one reads or explains
                return (_compose_apart if len(text) > HUGE else _compose_quickly)(text, place)
        return _compose(text, place)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{place}:{mark.line + 1}" if mark else place
        reason = " ".join((getattr(error, "problem", None) or str(error)).split()).removeprefix("found ")
        if "another document" in reason:
            raise Refusal(where, "holds a second document", expected="one YAML document", cure="remove the second") from None
        cure = "keep one of the two" if reason.startswith("duplicate key") else "correct the line, or what stands above it"
        raise Refusal(where, "not readable as YAML", expected="one YAML 1.2 document", observed=reason, cure=cure) from None
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:  # a date 2001-99-99, nesting without end
        cure = "put dates in quotes; write no number of thousands of digits and no deep nesting"
        raise Refusal(place, "holds a value that YAML readers cannot read", observed=f"{type(error).__name__}: {error}", cure=cure) from None


def _compose(text: str, place: str) -> Any:
    """The document by ruamel's own parser and constructor."""
    from ruamel.yaml import YAML

    constructor, parser = YAML(typ="safe", pure=True).get_constructor_parser(text)
    take, parser.get_event = parser.get_event, lambda: examine_event(take(), place)  # one pass: looked at as they are composed
    return constructor.get_single_data()


def _compose_apart(text: str, place: str) -> Any:
    """The same in a process of its own, on another core; half a second for the lock of 5,000 stages."""
    code = "import marshal, sys; sys.path.insert(0, sys.argv[1]); from audit.load import _compose_quickly as read; "
    code += "sys.stdout.buffer.write(marshal.dumps(read(sys.stdin.buffer.read().decode(), sys.argv[2])))"
    command = [sys.executable, "-I", "-c", code, str(Path(__file__).parents[1]), place]
    try:
        shown = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return _compose_quickly(text, place)
    return marshal.loads(shown)


def _compose_quickly(text: str, place: str) -> Any:
    """The same from the events of the parser in C, fifteen times quicker; any exception means: ask the other."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import MappingEndEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent, StreamEndEvent
    from ruamel.yaml.nodes import ScalarNode

    loader, parser = YAML(typ="safe", pure=False).get_constructor_parser(text)
    ambiguous = frozenset(loader.versioned_resolver)
    """First letters of what may be no text."""

    ends, take = (SequenceEndEvent, MappingEndEvent), parser.get_event

    def compose(event: Any) -> Any:
        examine_event(event, place)
        kind = type(event)
        if kind is ScalarEvent:
            value = event.value
            if not event.implicit[0] or value[:1] not in ambiguous or PLAIN_TEXT.fullmatch(value):
                return value
            if PLAIN_NUMBER.fullmatch(value):
                return int(value)
            return loader.construct_object(ScalarNode(loader.resolve(ScalarNode, event.value, (True, False)), event.value))
        inner = []
        while type(following := take()) not in ends:
            inner.append(compose(following))
        if kind is SequenceStartEvent:
            return inner
        found = dict(zip(inner[::2], inner[1::2], strict=True))
        if 2 * len(found) != len(inner) or "<<" in found:
            raise ValueError("a repeated or a merged key")
        return found

    parser.get_event()
    if isinstance(parser.get_event(), StreamEndEvent):
        return None
    value = compose(parser.get_event())
    parser.get_event()
    if not isinstance(parser.get_event(), StreamEndEvent):
        raise ValueError("a second document")
    return value


def examine_event(event: Any, place: str) -> Any:
    """The event, unless it is an anchor, an alias or a tag, which two readers may understand differently."""
    if type(event).__name__ == "ScalarEvent" and event.anchor is None and event.ctag is None and event.value != "<<":
        return event
    tag = getattr(event, "tag", None) or getattr(event, "ctag", None)
    linked = getattr(event, "anchor", None) or type(event).__name__ == "AliasEvent"
    where = f"{place}:{event.start_mark.line + 1}" if event.start_mark else place
    if linked:
        raise Refusal(where, "anchors and aliases are not allowed", expected="values written out", cure="write the value out")
    if tag is not None and str(tag) not in ("", "None", "!"):
        raise Refusal(where, "tags are not allowed", observed=str(tag), expected="plain values", cure="remove the tag")
    if getattr(event, "value", None) == "<<" and event.implicit[0]:
        raise Refusal(where, "merge keys are not allowed", expected="keys written out", cure="write the merged keys out")
    return event


def read_yaml(path: Path) -> Any:
    """Read a YAML file strictly; see `parse_yaml`."""
    return parse_yaml(read_bytes(path), path)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: staging name in the same folder, then rename."""
    path = Path(path)
    with naming(path):
        write_staged(path, data)


def write_staged(path: Path, data: bytes) -> None:
    """Write beside the file, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, staging = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(staging, 0o644)
        os.replace(staging, path)
    except BaseException:
        Path(staging).unlink(missing_ok=True)
        raise
