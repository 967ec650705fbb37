"""The versions of a judged record that history holds under one seal: which came first, and what differs from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.context import Context
from audit.finding import Refusal
from audit.load import parse_json
from audit.logs import Logs
from audit.order import stands_under
from audit.quantities import walk_quantities
from audit.registration import Registration, Seal

DIGEST = re.compile(rb'"([0-9a-f]{64})"')


@dataclass(frozen=True)
class Version:
    """One committed outcome."""

    blob: str
    sha256: str
    record: Any
    born: tuple[str, ...]
    """The commits that introduce it."""


def committed_versions(context: Context, logs: Logs, seal: Seal, sha256: str, path: str) -> list[Version]:
    """Every version of a record, at its path or where a run log says that it was moved to, that names the seal."""
    history = context.history
    stray = (blob for blob, said in records_under(context, seal.id, sha256).items() if _is_version(context, logs, blob, said, path))
    moved = {logged.path.removesuffix(".run.json") + ".json" for logged in logs.of_record(path) if logged.committed}
    blobs = dict.fromkeys([*(blob for place in (path, *sorted(moved)) for blob in history.versions(place)), *stray])
    return [
        Version(blob, history.objects.sha256(blob), _read(context, blob), tuple(history.introductions(blob)))
        for blob in blobs
        if stands_under(_read(context, blob), seal.id, sha256)
    ]


def outcome_versions(context: Context, logs: Logs, seal: Seal, sha256: str, path: str) -> list[Version]:
    """The committed versions that may be the outcome: of a closed registration, without what came after it was closed."""
    outcome = context.outcomes.get(seal.id)
    found = committed_versions(context, logs, seal, sha256, path)
    if outcome is None:
        return found
    return [version for version in found if version.blob == outcome.records.get(path) or not _came_after(context, version, outcome.commit)]


def _came_after(context: Context, version: Version, commit: str) -> bool:
    return all(commit in context.history.ancestors(born) for born in version.born)


def records_under(context: Context, name: str, sha256: str) -> dict[str, Mapping[str, Any]]:
    """Blob -> plain value of every record that any commit held at any path, in `results/` or not, and that names a seal."""
    known: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = context.__dict__.setdefault("_records_under", {})
    if (name, sha256) not in known:
        named = {blob: _read(context, blob) for blob in _naming(context).get(sha256.encode(), ())}
        known[name, sha256] = {blob: said for blob, said in named.items() if stands_under(said, name, sha256)}
    return known[name, sha256]


def _read(context: Context, blob: str) -> Any:
    """The plain value of a blob, read once a context; None where it is no JSON."""
    read: dict[str, Any] = context.__dict__.setdefault("_blobs_read", {})
    if blob not in read:
        history, data = context.history, context.history.objects.blob(blob)
        here = (path.removeprefix(history.prefix) for path in history.log.paths.get(blob, ()))
        same = next((path for path in here if context.record_bytes.get(path) == data), None)
        try:
            read[blob] = context.records.get(same) if same else parse_json(data, blob)
        except Refusal:
            read[blob] = None
    return read[blob]


def _naming(context: Context) -> dict[bytes, list[str]]:
    """SHA-256 as text -> the blobs that name it, of all that may be records; every one is read, once a context."""
    if "_naming" not in context.__dict__:
        history, index = context.history, context.__dict__.setdefault("_naming", {})
        blobs = dict.fromkeys(blob for path, found in history.log.versions.items() if _may_be_record(path) for blob in found)
        history.objects.load(blobs)
        for blob in blobs:
            for digest in set(DIGEST.findall(history.objects.blob(blob))):
                index.setdefault(digest, []).append(blob)
    found: dict[bytes, list[str]] = context.__dict__["_naming"]
    return found


def _may_be_record(path: str) -> bool:
    return path.endswith(".json") and not path.endswith((".run.json", ".seal.json", ".outcome.json"))


def _is_version(context: Context, logs: Logs, blob: str, said: Mapping[str, Any], path: str) -> bool:
    """Whether a record is one of the stage and kind that write a path, and no run log says that it was written to another."""
    wrote = {(log.record, log.path) for log in logs.naming(context.history.objects.sha256(blob))}
    makers = {(log.stage, kind) for log in logs.of_record(path) for kind in [said.get("kind")] if kind == _kind(context, path)}
    return (said["provenance"].get("stage"), said.get("kind")) in makers and all(record == path for record, _ in wrote)


def _kind(context: Context, path: str) -> Any:
    return context.records.get(path, {}).get("kind")


def first_versions(context: Context, versions: Collection[Version]) -> list[Version]:
    """Those that no other came before: one, or several that stood side by side."""
    return [version for version in versions if not any(_precedes(context, other, version) for other in versions if other != version)]


def _precedes(context: Context, one: Version, other: Version) -> bool:
    history = context.history
    return any(all(born != late and born in history.ancestors(late) for late in other.born) for born in one.born)


def pairs(firsts: Collection[Version], versions: Collection[Version]) -> Iterator[tuple[Version, Version]]:
    """Each first version with each other one, once."""
    seen: set[frozenset[str]] = set()
    for first in firsts:
        for other in versions:
            pair = frozenset((first.sha256, other.sha256))
            if len(pair) == 2 and pair not in seen:
                seen.add(pair)
                yield first, other


def moved_quantities(first: Any, other: Any, sealed: Mapping[str, float]) -> list[str]:
    """Keys of quantities whose value or values differ by more than the sealed tolerance, else the first version's own."""
    before, after = dict(walk_quantities(first)), dict(walk_quantities(other))
    return sorted(key for key in before.keys() & after.keys() if _moved(before[key], after[key], sealed.get(key, before[key].get("tolerance", 0))))


def _moved(one: Mapping[str, Any], other: Mapping[str, Any], tolerance: Any) -> bool:
    before, after = ([quantity["value"], *(quantity.get("values") or ())] for quantity in (one, other))
    if len(before) != len(after) or not all(isinstance(number, int | float) for number in (tolerance, *before, *after)):
        return before != after
    return any(abs(old - new) > tolerance for old, new in zip(before, after, strict=True))


def sealed_tolerances(registration: Registration, path: str) -> dict[str, float]:
    """Key of each metric in a file -> the tolerance that its registration fixes, where it does."""
    metrics = [prediction.metric for prediction in registration.predictions if prediction.metric.file == path]
    found = {metric.key: getattr(metric, "tolerance", None) for metric in metrics}
    return {key: tolerance for key, tolerance in found.items() if tolerance is not None}
