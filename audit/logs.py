"""Every run log of the history and of the working tree, found by the digest of what the run made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit.context import Context
from audit.finding import Refusal
from audit.load import parse_json


@dataclass(frozen=True)
class Logged:
    """One run log: where it lies and what it says, as plain values (older forms of the log are read too)."""

    path: str
    data: bytes
    said: Mapping[str, Any]
    """The log itself, as a plain value."""
    commit: str
    """The commit the run started from, as the log says."""
    inputs: dict[str, str]
    code: dict[str, str]
    seals: dict[str, str]
    made: frozenset[str]
    """SHA-256 of the record and of every other output."""
    record: str
    """Where the run wrote its record."""
    stage: str
    committed: bool
    """Whether a commit holds this log; only such a log is evidence for a committed record."""


@dataclass(frozen=True)
class Logs:
    """An index of run logs: all of them, or those that history held at one commit."""

    context: Context
    until: str | None = None

    def any_under(self, registration: str) -> bool:
        """Whether any run log names the seal of a registration."""
        return registration in self._by_seal

    @cached_property
    def _by_digest(self) -> dict[str, list[Logged]]:
        return self._index(lambda logged: logged.made)

    @cached_property
    def _by_record(self) -> dict[str, list[Logged]]:
        return self._index(lambda logged: (logged.record,))

    @cached_property
    def _by_seal(self) -> dict[str, list[Logged]]:
        return self._index(lambda logged: logged.seals)

    def _index(self, keys: Callable[[Logged], Iterable[str]]) -> dict[str, list[Logged]]:
        index: dict[str, list[Logged]] = {}
        for logged in self._all:
            for key in keys(logged):
                index.setdefault(key, []).append(logged)
        return index

    def naming(self, digest: str) -> list[Logged]:
        """The run logs that name a digest as something they made."""
        return self._by_digest.get(digest, [])

    def of_record(self, path: str) -> list[Logged]:
        """The run logs of runs that wrote their record to a path, wherever it lies now."""
        return self._by_record.get(path, [])

    @cached_property
    def _all(self) -> list[Logged]:
        return list(self._every())

    def under(self, name: str, seal: str) -> list[Logged]:
        """The run logs that name a seal, by the id of its registration and the SHA-256 of its file."""
        return list({logged.data: logged for logged in self._by_seal.get(name, []) if logged.seals[name] == seal}.values())

    def _every(self) -> Iterator[Logged]:
        history, seen = self.context.history, set()
        paths = history.paths_ever(self.context.config.paths.results, ".run.json")
        history.objects.load(blob for path in paths for blob in history.versions(path))
        for path in paths:
            for blob in history.versions(path):
                seen.add(blob)
                if self.until is None or any(new in history.ancestors(self.until) for new in history.introductions(blob)):
                    yield from _read(path, history.objects.blob(blob), True)
        for path, data in self.context.run_log_bytes.items() if self.until is None else ():
            if history.blob_id(data) not in seen:
                yield from _read(path, data, False)


def open_logs(context: Context, until: str | None = None) -> Logs:
    """The index of run logs, made once a context and commit: reading them is most of the work."""
    opened: dict[str | None, Logs] = context.__dict__.setdefault("_logs", {})
    return opened.setdefault(until, Logs(context, until))


def _read(path: str, data: bytes, committed: bool) -> Iterator[Logged]:
    try:
        value = parse_json(data, path)
        made = frozenset([value["record_sha256"], *_texts(value.get("outputs")).values()])
        maps = (_texts(value.get(name)) for name in ("inputs", "code", "seals"))
        yield Logged(path, data, value, str(value["commit"]), *maps, made, str(value.get("record")), str(value.get("stage")), committed)
    except (Refusal, KeyError, TypeError, AttributeError):
        return  # names nothing, so it can prove nothing; the check of run logs reports a present one


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(item) for key, item in (value or {}).items()}
