"""A122: a seed set belongs to one seal; who shares it says so, and was sealed before any run on it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal
from audit.load import parse_json
from audit.logs import open_logs
from audit.registration import Registration
from audit.tokens import derived_seeds


def check(context: Context) -> Iterator[Finding]:
    """Every sealed registration."""
    sealed = [context.registrations[name] for name in context.seals]
    yield from _rivals(context, sealed)
    for registration in sealed:
        if registration.seeds.same_as:
            yield from _shared(context, registration)


def count(context: Context) -> str:
    """How many seed sets."""
    sealed = [context.registrations[name] for name in context.seals]
    shared = sum(1 for registration in sealed if registration.seeds.same_as)
    return f"{sum(len(registration.seeds.sets) for registration in sealed)} seed sets, {shared} registrations that share one"


def _rivals(context: Context, sealed: list[Registration]) -> Iterator[Finding]:
    for pair in combinations([registration for registration in sealed if registration.id not in context.outcomes], 2):
        first, second = sorted(pair, key=lambda registration: len(context.seals[registration.id].ledger))
        for name in sorted(first.rivals(second)):
            what = f"claims seed set {name!r}, which {first.id} owns under the same parameters"
            yield _finding(context, second, what, "one seal for a seed set", "", f"register anew, with seeds: {{same_as: {first.id}}}")


def _shared(context: Context, registration: Registration) -> Iterator[Finding]:
    """The owner is sealed and has the seeds; each run on them started from a commit that holds this seal too."""
    owner = registration.seed_owner
    if owner not in context.seals or context.registrations[owner].seeds.same_as:
        what, expected = f"shares the seeds of {owner}, which has none", "a sealed registration whose seal gives the seeds"
        yield _finding(context, registration, what, expected, "", f"audit seal {owner}, or register anew")
        return
    history, path = context.history, context.seal_path(registration.id)
    seal = history.blob_at(history.head, path)
    for place, start in _runs(context, {seed for drawn in derived_seeds(context, owner).values() for seed in drawn}):
        if start and (seal is None or (history.knows(start) and history.blob_at(start, path) != seal)):
            what = f"a run on the seeds of {owner} started without this seal: its predictions are post hoc"
            observed = f"the run of {place} started from {start[:10]}"
            yield _finding(context, registration, what, f"{path} in the start commit of every run on them", observed, "register anew, on other seeds")
            return
        if born := [] if start else [commit for commit in history.introductions(place) if history.blob_at(commit, path) != seal]:
            what, observed = f"a record on the seeds of {owner} was in the history before this seal", f"commit {born[0][:10]} brought it"
            yield _finding(context, registration, what, f"{path} in every commit that brings one", observed, "register anew, on other seeds")
            return


def _runs(context: Context, seeds: set[int]) -> Iterator[tuple[str, str]]:
    """Path and start commit of every logged run whose record, in any commit or here, names one of the seeds; and its blob, with ""."""
    logs = open_logs(context)
    for path, blob, digest, named in _seeded(context):
        if not seeds.isdisjoint(named):
            yield from ((path, logged.commit) for logged in logs.naming(digest))
            yield blob, ""  # git alone tells, where no log does


def _seeded(context: Context) -> list[tuple[str, str, str, list[int]]]:
    """Path, blob, digest and seeds of every record, in any commit or here, that names seeds; read once a context, whoever shares a set."""
    if "_seeded" not in context.__dict__:
        history, results, known, found = context.history, context.config.paths.results, dict[str, list[int]](), []
        committed = ((path, history.objects.blob(blob)) for path in history.paths_ever(results, ".json") for blob in history.versions(path))
        for path, data in chain(context.record_bytes.items(), committed):
            if path.endswith(".run.json"):
                continue
            if (digest := sha256_bytes(data)) not in known:
                known[digest] = _seeds(data, digest)
            if known[digest]:
                found.append((path, history.blob_id(data), digest, known[digest]))
        context.__dict__["_seeded"] = found
    made: list[tuple[str, str, str, list[int]]] = context.__dict__["_seeded"]
    return made


def _seeds(data: bytes, digest: str) -> list[int]:
    """The seeds that a record names."""
    try:
        return list(parse_json(data, digest)["provenance"]["seeds"])
    except (Refusal, KeyError, TypeError):
        return []


def _finding(context: Context, registration: Registration, what: str, expected: str, observed: str, cure: str) -> Finding:
    place = f"{context.config.paths.prereg}/{registration.id}.yaml"
    return Finding(code="A122", place=place, what=what, expected=expected, observed=observed, cure=cure)
