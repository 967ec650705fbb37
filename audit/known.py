"""Whether an outcome is known before its seal: a judged record, or the metric on the same seeds, anywhere in the history at hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.context import Context
from audit.finding import Refusal
from audit.history import call_git
from audit.load import parse_json
from audit.quantities import find_quantity
from audit.registration import Registration, Seal

CURE = "register under a new id, or audit seal --post-hoc"


def refuse_known_outcome(context: Context, registration: Registration, seal: Seal, seeds: set[int]) -> None:
    """Refuse when a judged record with this seal's id or these seeds exists already, or a metric of it at any other path, on any ref."""
    judged = {prediction.metric.file for prediction in registration.predictions} - set(seal.origins.values())
    keys = {prediction.metric.key for prediction in registration.predictions if prediction.metric.file in judged}
    for path, record in each_record(context):
        provenance = record.get("provenance")
        provenance = provenance if isinstance(provenance, dict) else {}
        if not (seal.id in _container(provenance, "seals", dict) or seeds & _numbers(provenance)):
            continue
        metric = next((key for key in sorted(keys) if has_quantity(record, key)), None)
        if path in judged:
            raise Refusal(path, f"an outcome of {seal.id} exists already: this seal would come after it", cure=CURE)
        if metric is not None:
            raise Refusal(path, f"holds the metric {metric} on the seeds of {seal.id}: this seal would come after it", cure=CURE)


def each_record(context: Context) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every JSON object of the working tree's records, of HEAD's history and of every local ref, whatever its path; seals and logs left out."""
    for path, data in context.record_bytes.items():
        yield from _parsed(path, data)
    history = context.history
    named = {blob: path for blob, paths in history.log.paths.items() for path in paths}
    for blob, path in {**elsewhere(context), **named}.items():
        if is_record(path):
            yield from _parsed(path.removeprefix(history.prefix), history.objects.blob(blob))


def elsewhere(context: Context) -> dict[str, str]:
    """Blob -> path of what only other refs reach: branches, tags, remotes, experiments, the stash."""
    shown = call_git(context.root, "rev-list", "--objects", "--all", "--not", "HEAD")[1].decode(errors="surrogateescape")
    return {blob: path for blob, _, path in (line.partition(" ") for line in shown.splitlines()) if is_record(path)}


def is_record(path: str) -> bool:
    """Whether a file may be a record, by its name."""
    return path.endswith(".json") and not path.endswith((".run.json", ".seal.json", ".outcome.json"))


def has_quantity(record: Any, key: str) -> bool:
    """Whether a record has a quantity at a key."""
    try:
        find_quantity(record, key, "")
    except Refusal:
        return False
    return True


def _parsed(path: str, data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        found = parse_json(data, path)
    except Refusal:
        return
    if isinstance(found, dict):
        yield path, found


def _container(value: dict[str, Any], name: str, kind: type) -> Any:
    found = value.get(name)
    return found if isinstance(found, kind) else kind()


def _numbers(provenance: dict[str, Any]) -> set[int]:
    return {seed for seed in _container(provenance, "seeds", list) if isinstance(seed, int)}
