"""A117, A201, A202, A203, A204: every judged record stands after its seal, made by a run that started after it, from nothing older."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from audit.context import Context
from audit.declared import declared_outcomes, deviations_path
from audit.finding import Finding, Severity
from audit.history import SUBMODULE
from audit.logs import open_logs
from audit.mended import find_mended, judged_paths
from audit.order import names_seal, open_order
from audit.registration import Registration, Seal


def check(context: Context) -> Iterator[Finding]:
    """Every judged record of every sealed registration that holds here or is closed."""
    logs, history = open_logs(context), context.history
    history.objects.load(filter(None, (history.blob_at(history.head, path) for path in context.record_paths)))
    for registration, seal in judged(context):
        if seal.post_hoc:
            what = "was sealed after its outcome: post hoc, nothing under it is confirmatory, and its order is not asked"
            yield Finding(code="A117", severity=Severity.NOTE, place=context.seal_path(seal.id), what=what)
            continue
        outcome = context.outcomes.get(seal.id)
        history = context.history
        if history.blob_at(history.head, context.seal_path(seal.id)) is None:  # refuses where an object is missing: not checked, no finding
            if any((context.root / path).exists() for path in judged_paths(registration, seal)):
                what, cure = "the outcome exists and the seal is not committed", f"git add {context.config.paths.prereg} && git commit, then run"
                yield Finding(code="A201", place=context.seal_path(seal.id), what=what, expected="the seal committed first", cure=cure)
            continue
        order = open_order(context, open_logs(context, outcome.commit) if outcome else logs, seal)
        for path in judged_paths(registration, seal):
            for data in judged_versions(context, seal, order.sha256, path):
                yield from order.rule(path, data) if names_seal(data, seal.id, order.sha256) else _not_under(context, seal, path)
            yield from _mended(context, seal.id, path)
            yield from _uncommitted(context, seal, path)
            yield from _outside(context, path)


def count(context: Context) -> str:
    """How many judged records."""
    paths = [path for registration, seal in judged(context) for path in judged_paths(registration, seal)]
    return f"{sum(1 for path in paths if (context.root / path).exists())} judged records, {len(context.history.log.parents)} commits"


def judged(context: Context) -> Iterator[tuple[Registration, Seal]]:
    """Registrations with a seal, where they are to be judged."""
    for name, seal in context.seals.items():
        if name in context.outcomes or context.holds(context.registrations[name]):
            yield context.registrations[name], seal


def judged_versions(context: Context, seal: Seal, sha256: str, path: str) -> list[bytes]:
    """The bytes that are judged: the outcome's where it is closed, else HEAD's and the working tree's."""
    history, outcome = context.history, context.outcomes.get(seal.id)
    if outcome is not None:
        return [history.objects.blob(outcome.records[path])] if path in outcome.records else []
    here, head = context.bytes_of(path), history.bytes_at(history.head, path)
    if here is not None and head is not None and names_seal(here, seal.id, sha256) and not names_seal(head, seal.id, sha256):
        head = None  # another registration's outcome, or an exploratory one, that a run under this seal has replaced
    return list({data: None for data in (head, here) if data is not None})


def _not_under(context: Context, seal: Seal, path: str) -> Iterator[Finding]:
    what, cure = f"was not made under the seal of {seal.id}: it is no outcome of it", "run its stage again (dvc repro), and commit the result"
    yield Finding(code="A202", place=path, what=what, expected=f"a run that names {context.seal_path(seal.id)}", cure=cure)


def _outside(context: Context, path: str) -> Iterator[Finding]:
    """A record of a submodule: this history holds none of its versions, and nobody could say which came first."""
    history = context.history
    for folder in map(str, PurePosixPath(path).parents):
        if (entry := history.entry(history.head, folder)) is not None and entry[0] == SUBMODULE:
            what, cure = f"lies in {folder}, a submodule: none of its versions is in this history", f"keep {folder} in this repository, and run again"
            yield Finding(code="A201", place=path, what=what, expected="a file of this repository", cure=cure)


def _uncommitted(context: Context, seal: Seal, path: str) -> Iterator[Finding]:
    data = context.bytes_of(path)
    if seal.id not in context.outcomes and data is not None and not context.history.introductions(context.history.blob_id(data)):
        what = "not yet committed: checked against its run's starting commit alone"
        yield Finding(code="A201", severity=Severity.NOTE, place=path, what=what)


def _mended(context: Context, name: str, path: str) -> Iterator[Finding]:
    """A version under this seal that differs from the first one, or from one that stands beside it, and that no deviation names."""
    for found in find_mended(context, name, path):
        if not any(entry.covers(found.row) for entry in declared_outcomes(context, name)):
            what = f"another outcome under this seal stands in history and {found.how}: the first is the outcome"
            entry = f"{{kind: outcome, what: {path}, first: {found.first.sha256}, later: {found.other.sha256}, why: ...}}"
            cure = f"restore and report the first, or declare both in {deviations_path(context, name)}: {entry}"
            yield Finding(code="A204", place=path, what=what, expected=found.expected, observed=found.observed, cure=cure)
