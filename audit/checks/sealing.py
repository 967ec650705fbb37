"""A104, A108, A109, A110: one seal for ever, committed with the bytes it covers, naming all seals before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from audit.amendment import is_amendment_seal, parse_amendment_seal
from audit.ancestry import find_ancestors
from audit.chain import amendment_seal_paths
from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal, Severity
from audit.load import parse_yaml
from audit.registration import Seal, digest_value, look_up, parse_seal
from audit.seal import find_attributes


def check(context: Context) -> Iterator[Finding]:
    """Every seal that any commit ever held, and every seal of the working tree."""
    for path in seal_paths(context):
        yield from one_blob(context, path, "A104")
    committed = committed_seals(context)
    for seal in committed.values():
        yield from _bytes_at_birth(context, seal)
        yield from _parameters_at_birth(context, seal)
    yield from _attributes(context, committed)
    ledgers = {seal.id: seal.ledger for seal in committed.values()} | amendment_ledgers(context)
    earlier = find_earlier(context, ledgers)
    for name, ledger in ledgers.items():
        yield from _ledger(context, name, ledger, earlier[name])


def count(context: Context) -> str:
    """How many seals."""
    return f"{len(seal_paths(context))} seals in {len(context.history.log.parents)} commits"


def seal_paths(context: Context) -> list[str]:
    """Paths of the seals of all registrations, in history or in the working tree."""
    folder = context.config.paths.prereg
    on_disk = {path.relative_to(context.root).as_posix() for path in (context.root / folder).glob("*.seal.json")}
    ever = {path for path in context.history.paths_ever(folder, ".seal.json") if PurePosixPath(path).parent.as_posix() == folder}
    return sorted(path for path in on_disk | ever if not is_amendment_seal(path))


def committed_seals(context: Context) -> dict[str, Seal]:
    """The readable seals at HEAD, by id; an unreadable one is a finding of its own."""
    history, seals = context.history, {}
    for path in seal_paths(context):
        data = history.bytes_at(history.head, path)
        try:
            if data is not None:
                seals[PurePosixPath(path).name.removesuffix(".seal.json")] = parse_seal(data, path)
        except Refusal:
            continue
    return seals


def amendment_ledgers(context: Context) -> dict[str, dict[str, str]]:
    """The ledger of each amendment that is sealed at HEAD, by its name; an unreadable one is a finding of its own."""
    history, ledgers = context.history, {}
    for path in amendment_seal_paths(context):
        data = history.bytes_at(history.head, path)
        try:
            if data is not None:
                seal = parse_amendment_seal(data, path)
                ledgers[seal.id] = seal.ledger
        except Refusal:
            continue
    return ledgers


def one_blob(context: Context, path: str, code: str) -> Iterator[Finding]:
    """A seal is one blob in all of history, at HEAD and in the working tree."""
    history, restore = context.history, f"git checkout HEAD -- {path}"
    versions, head, found = history.versions(path), history.bytes_at(history.head, path), context.bytes_of(path)
    if not versions:
        what = "is not committed yet: nothing stands under it"
        yield Finding(code=code, severity=Severity.NOTE, place=path, what=what, cure=f"git add {path} && git commit")
        return
    if len(versions) > 1:
        observed = ", ".join(blob[:10] for blob in versions)
        cure = "register anew: a seal that was made again proves nothing"
        yield Finding(
            code=code, place=path, what="history holds more than one version of this seal", expected="one blob", observed=observed, cure=cure
        )
    if head is None:
        cure = f"git log --all -- {path}; restore it: a seal is never dropped"
        yield Finding(code=code, place=path, what="was sealed and is gone from HEAD", expected="every seal of the history", cure=cure)
    elif found is None:
        yield Finding(code=code, place=path, what="is missing from the working tree", expected="the committed seal", cure=restore)
    elif found != head and found.replace(b"\r\n", b"\n") != head:
        yield Finding(code=code, place=path, what="was edited since it was committed", expected="the committed bytes", cure=restore)


def _bytes_at_birth(context: Context, seal: Seal) -> Iterator[Finding]:
    history, path = context.history, context.seal_path(seal.id)
    for commit in history.introductions(history.blob_at(history.head, path) or ""):
        for name, digest in seal.files.items():
            data = history.bytes_at(commit, name)
            if data is None or sha256_bytes(data) != digest:
                observed = "no such file" if data is None else sha256_bytes(data)[:12]
                what = f"commit {commit[:10]} brings the seal without the bytes it seals: {name}"
                yield Finding(
                    code="A109", place=path, what=what, expected=digest[:12], observed=observed, cure="register anew, and commit both together"
                )


def _parameters_at_birth(context: Context, seal: Seal) -> Iterator[Finding]:
    """The frozen parameters had, in the commit that brought the seal, the values that it seals."""
    history, path, place = context.history, context.seal_path(seal.id), context.config.paths.parameters
    for commit in history.introductions(history.blob_at(history.head, path) or "") if seal.parameters else ():
        value = parse_yaml(history.bytes_at(commit, place) or b"", place)
        for key, frozen in seal.parameters.items():
            if digest_value(look_up(value, key)) != frozen.sha256:
                what, observed = f"commit {commit[:10]} brings the seal with another {key} in {place} than it seals", repr(look_up(value, key))[:60]
                yield Finding(code="A109", place=path, what=what, expected=repr(frozen.value)[:60], observed=observed, cure="register anew")


def _ledger(context: Context, own: str, ledger: dict[str, str], earlier: set[str]) -> Iterator[Finding]:
    path, history = context.seal_path(own), context.history
    for name, digest in ledger.items():
        blob = history.blob_at(history.head, context.seal_path(name))
        found = None if blob is None else history.objects.sha256(blob)
        if found != digest:
            observed = "no such seal" if found is None else found[:12]
            what = f"its ledger names seal {name}, which is not at HEAD with these bytes"
            yield Finding(code="A108", place=path, what=what, expected=digest[:12], observed=observed, cure="restore the earlier seal from history")
    for name in sorted(earlier - ledger.keys()):
        yield Finding(
            code="A108", place=path, what=f"its ledger leaves out the earlier seal {name}", expected="every seal before it", cure="register anew"
        )
def find_earlier(context: Context, seals: Iterable[str]) -> dict[str, set[str]]:
    """Of each seal, those that stood in the history when it came."""
    history = context.history
    births = {name: history.introductions(history.blob_at(history.head, context.seal_path(name)) or "") for name in seals}
    brought: dict[str, list[str]] = {}
    for name, commits in births.items():
        for commit in commits:
            brought.setdefault(commit, []).append(name)
    before = find_ancestors(history.log.parents, brought)
    return {
        name: {other for commit in commits for old in before[commit] - {commit} for other in brought[old]} - {name} for name, commits in births.items()
    }


def _attributes(context: Context, seals: dict[str, Seal]) -> Iterator[Finding]:
    """Of each open seal the first of its files that git may change."""
    place_of = {path: seal.id for seal in seals.values() if seal.id not in context.outcomes for path in (*seal.files, context.seal_path(seal.id))}
    said: set[str] = set()
    for refusal in find_attributes(context, list(place_of)):
        if place_of[refusal.place] in said:
            continue
        said.add(place_of[refusal.place])
        yield Finding(code="A110", place=refusal.place, what=str(refusal).removeprefix(f"{refusal.place}: "))
