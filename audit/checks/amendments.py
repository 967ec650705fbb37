"""A118: amendments form one unbroken chain from the seal of their registration, in all of history."""

from __future__ import annotations

from collections.abc import Iterator

from audit.amendment import AmendmentSeal, amendment_id, parse_amendment, parse_amendment_seal, refuse_strange
from audit.chain import amendment_seal_paths
from audit.checks.sealing import one_blob
from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal, Severity, several

ANEW = "register anew: a chain that was broken proves nothing"


def check(context: Context) -> Iterator[Finding]:
    """Every amendment that any commit ever sealed, and every draft of one."""
    seals: dict[str, AmendmentSeal] = {}
    for path in amendment_seal_paths(context):
        if context.is_linked(path):
            yield _linked(path)
            continue
        yield from one_blob(context, path, "A118")
        data = context.history.bytes_at(context.history.head, path)
        try:
            if data is not None:
                seals[path] = parse_amendment_seal(data, path)
        except Refusal as refusal:
            yield Finding(code="A118", place=path, what=f"is no valid seal of an amendment: {str(refusal).removeprefix(f'{path}: ')}")
    for path, seal in seals.items():
        yield from _link(context, path, seal)
        yield from _text(context, path, seal)
    yield from _forks(context)
    yield from _drafts(context)


def count(context: Context) -> str:
    """How many amendments."""
    return several(len(amendment_seal_paths(context)), "amendment")


def _linked(path: str) -> Finding:
    return Finding(code="A118", place=path, what="is a symbolic link", expected="the file itself", cure=f"git checkout HEAD -- {path}")


def _link(context: Context, path: str, seal: AmendmentSeal) -> Iterator[Finding]:
    """The seal hangs on the one before it, as HEAD holds it."""
    history = context.history
    before = context.seal_path(amendment_id(seal.amends, seal.number - 1) if seal.number > 1 else seal.amends)
    data = history.bytes_at(history.head, before)
    if data is None:
        what = f"number {seal.number} of a chain in which {before} is missing"
        yield Finding(code="A118", place=path, what=what, expected="numbers without a gap, from the seal on", cure=f"restore {before} from history")
    elif sha256_bytes(data) != seal.predecessor:
        observed = seal.predecessor[:12]
        yield Finding(code="A118", place=path, what=f"does not hang on {before}", expected=sha256_bytes(data)[:12], observed=observed, cure=ANEW)


def _text(context: Context, path: str, seal: AmendmentSeal) -> Iterator[Finding]:
    """The amendment is, at HEAD, here and in the commit that brought its seal, what was sealed."""
    history, restore = context.history, f"git checkout HEAD -- {seal.amendment}"
    if context.is_linked(seal.amendment):
        yield _linked(seal.amendment)
        return
    head, found = history.bytes_at(history.head, seal.amendment), context.bytes_of(seal.amendment)
    for data in (head, found and found.replace(b"\r\n", b"\n")):
        if data is None or sha256_bytes(data) != seal.sha256:
            observed = "no such file" if data is None else sha256_bytes(data)[:12]
            cure = f"restore the sealed text from history, or {restore}"
            yield Finding(code="A118", place=seal.amendment, what="is not as it was sealed", expected=seal.sha256[:12], observed=observed, cure=cure)
            return
    for commit in history.introductions(history.blob_at(history.head, path) or ""):
        data = history.bytes_at(commit, seal.amendment)
        if data is None or sha256_bytes(data) != seal.sha256:
            what = f"commit {commit[:10]} brings the seal without the amendment it seals"
            yield Finding(code="A118", place=path, what=what, expected=seal.sha256[:12], cure=ANEW)
    if (registration := context.registrations.get(seal.amends)) is not None:
        try:
            refuse_strange(parse_amendment(head or b"", seal.amendment), registration, seal.amendment)
        except Refusal as refusal:
            yield Finding(code="A118", place=seal.amendment, what=str(refusal).removeprefix(f"{seal.amendment}: "))


def _forks(context: Context) -> Iterator[Finding]:
    """Two amendments on one predecessor, in any commit: one could keep the luckier."""
    history, first = context.history, {}
    for path in amendment_seal_paths(context):
        for blob in history.versions(path):
            try:
                predecessor = parse_amendment_seal(history.objects.blob(blob), path).predecessor
            except Refusal:
                continue
            other = first.setdefault(predecessor, path)
            if other != path:
                what = f"history holds two amendments on one predecessor: this one and {other}"
                yield Finding(code="A118", place=path, what=what, expected="one chain", observed=predecessor[:12], cure=ANEW)


def _drafts(context: Context) -> Iterator[Finding]:
    for file in sorted((context.root / context.config.paths.prereg).glob("*.amendment-*.yaml")):
        path = file.relative_to(context.root).as_posix()
        name = file.name.removesuffix(".yaml")
        if not (context.root / context.seal_path(name)).exists():
            committed = context.history.entry(context.history.head, path) is not None
            cure = f"{'' if committed else 'commit it, then '}audit amend {name.partition('.')[0]}{' seals it' if committed else ''}"
            yield Finding(code="A118", severity=Severity.NOTE, place=path, what="a draft, which changes nothing", cure=cure)
