"""The amendments of a registration as HEAD holds them: a linear chain from its seal, each labelled by what history held before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from audit.amendment import Amendment, AmendmentSeal, amendment_id, is_amendment_seal, parse_amendment, parse_amendment_seal, refuse_strange
from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.load import parse_json
from audit.logs import open_logs
from audit.versions import records_under


@dataclass(frozen=True)
class Link:
    """One amendment that stands: its text, its seal, and whether a run or outcome may have been there first."""

    amendment: Amendment
    seal: AmendmentSeal
    seal_sha256: str
    sealed: Literal["before outcome", "after outcome"]
    """`before` only where every run and every outcome under the registration's seal came after the amendment's."""


def amendment_seal_paths(context: Context) -> list[str]:
    """Paths of the seals of all amendments, in history or in the working tree."""
    folder = context.config.paths.prereg
    on_disk = {path.relative_to(context.root).as_posix() for path in (context.root / folder).glob("*.seal.json")}
    return sorted(path for path in on_disk | set(context.history.paths_ever(folder, ".seal.json")) if is_amendment_seal(path))


def standing_amendments(context: Context, name: str) -> tuple[Link, ...]:
    """The unbroken chain from the seal of a registration; what hangs on a broken link does not stand, and A118 says so."""
    if not context.prereg_files(f"{name}.amendment-", ".seal.json"):
        return ()
    return tuple(_links(context, name))


def _links(context: Context, name: str) -> Iterator[Link]:
    history, registration = context.history, context.registrations.get(name)
    root = history.bytes_at(history.head, context.seal_path(name))
    predecessor, number = sha256_bytes(root or b""), 0
    while True:
        number += 1
        path = context.seal_path(amendment_id(name, number))
        data = history.bytes_at(history.head, path)
        if registration is None or root is None or data is None:
            return
        try:
            seal = parse_amendment_seal(data, path)
            text = history.bytes_at(history.head, seal.amendment) or b""
            amendment = parse_amendment(text, seal.amendment)
            refuse_strange(amendment, registration, seal.amendment)
        except Refusal:
            return
        if seal.predecessor != predecessor or sha256_bytes(text) != seal.sha256:
            return
        predecessor = sha256_bytes(data)
        after = is_after_outcome(context, name, sha256_bytes(root), path)
        yield Link(amendment, seal, predecessor, "after outcome" if after else "before outcome")


def is_after_outcome(context: Context, name: str, seal_sha256: str, path: str) -> bool:
    """Whether a run under the registration's seal, or an outcome, cannot be shown to be younger than the seal of an amendment.

    Every run that names the seal counts, its first stage too: what it made could be looked at. Commits decide, never dates.
    """
    history = context.history
    sealed = history.blob_at(history.head, path)

    def holds(commit: str) -> bool:
        return history.knows(commit) and history.blob_at(commit, path) == sealed

    if not all(holds(logged.commit) for logged in open_logs(context).under(name, seal_sha256)):
        return True
    commits = (commit for data in outcome_versions(context, name, seal_sha256) for commit in history.introductions(history.blob_id(data)))
    return not all(any(holds(parent) for parent in history.objects.commit(commit)[1]) for commit in commits)


def outcome_versions(context: Context, name: str, seal_sha256: str) -> Iterator[bytes]:
    """Every version of a judged record that stands under a seal, in the working tree, and in history any record at all, at any path."""
    history, registration = context.history, context.registrations.get(name)
    yield from map(history.objects.blob, records_under(context, name, seal_sha256))
    for path in {prediction.metric.file for prediction in registration.predictions} if registration else ():
        present = context.bytes_of(path)
        if present is not None and _seals(present, path).get(name) == seal_sha256:
            yield present


def _seals(data: bytes, path: str) -> dict[str, Any]:
    try:
        found = parse_json(data, path)["provenance"]["seals"]
    except (Refusal, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
