"""A208: nothing that this clone holds beside its history shows a judged record before its seal; what else stands there is counted."""

from __future__ import annotations

from collections.abc import Iterator

from audit.checks.order import judged
from audit.context import Context
from audit.finding import Finding, Refusal, Severity
from audit.history import call_git
from audit.load import parse_json
from audit.logs import open_logs
from audit.mended import judged_paths
from audit.order import Order, open_order
from audit.registration import Registration, Seal
from audit.tokens import derived_seeds
from audit.versions import committed_versions


def check(context: Context) -> Iterator[Finding]:
    """Branches, experiments, stashes and reflogs: they can add findings, never take one away, and need not be whole."""
    try:
        elsewhere = context.history.elsewhere
        if elsewhere.parents:
            yield from _seals(context)
            for registration, seal in judged(context):
                yield from _records(context, registration, seal)
    except Refusal as refusal:
        what = f"branches, experiments and reflogs outside this history were not all read: {refusal}"
        yield Finding(code="A208", severity=Severity.NOTE, place=".git/refs", what=what)


def count(context: Context) -> str:
    """How many commits."""
    return f"{len(context.history.elsewhere.parents)} commits outside this history"


def _records(context: Context, registration: Registration, seal: Seal) -> Iterator[Finding]:
    history, path = context.history, context.seal_path(seal.id)
    if history.blob_at(history.head, path) is None:
        return
    order = open_order(context, open_logs(context), seal)
    for record in judged_paths(registration, seal):
        for version in committed_versions(context, order.logs, seal, order.sha256, record):
            for commit in history.elsewhere.additions.get(version.blob, ()):
                if history.blob_at(commit, path) != order.blob:
                    yield _early(context, record, path, commit)
    others = _others(context, order)
    if others:
        what = f"{len(others)} more results under this seal or on its seeds stand on branches, experiments, stashes or reflogs outside this history"
        observed = f"{others[0][0]} first, on {where(context, others[0][1])}"
        yield Finding(code="A208", severity=Severity.NOTE, place=path, what=what, observed=observed, cure="say in the report why they are not in it")


def where(context: Context, commit: str) -> str:
    """What of this clone still holds a commit outside the history: the first branch, experiment or stash, else a reflog."""
    asked = ("for-each-ref", "--count=1", f"--contains={commit}", "--format=%(refname)")
    shown = call_git(context.root, *asked, answers=(0, 128, 129))[1].decode(errors="replace").strip()
    return shown or f"a reflog entry alone (git reflog --all: {commit[:10]}, dropped by an amend, reset, rebase or stash)"


def _early(context: Context, record: str, path: str, commit: str) -> Finding:
    what, observed = "stands in a commit outside this history that does not hold its seal", f"commit {commit[:10]}, on {where(context, commit)}"
    cure = f"git branch -a --contains {commit[:10]} (or git reflog) shows whose it is; if it came first, register anew"
    return Finding(code="A208", place=record, what=what, expected=f"{path} committed first", observed=observed, cure=cure)


def _others(context: Context, order: Order) -> list[tuple[str, str]]:
    """Path and commit of records that only other refs hold, and that name the seal or one of its seeds."""
    history, results = context.history, f"{context.history.prefix}{context.config.paths.results}/"
    seeds, found = {seed for drawn in derived_seeds(context, order.seal.id).values() for seed in drawn}, []
    for path, blobs in history.elsewhere.versions.items():
        if path.startswith(results) and path.endswith(".json") and not path.endswith(".run.json"):
            fresh = (blob for blob in blobs if blob not in history.log.additions)
            concern = (blob for blob in fresh if _concerns(history.objects.blob(blob), order.seal.id, seeds))
            found += [(path.removeprefix(history.prefix), next(iter(history.elsewhere.additions[blob]))) for blob in concern]
    return found


def _concerns(data: bytes, name: str, seeds: set[int]) -> bool:
    try:
        said = parse_json(data, name)["provenance"]
        return name in said["seals"] or not seeds.isdisjoint(said["seeds"])
    except (Refusal, KeyError, TypeError, AttributeError):
        return False


def _seals(context: Context) -> Iterator[Finding]:
    history, folder = context.history, f"{context.history.prefix}{context.config.paths.prereg}/"
    seals = [path for path in history.elsewhere.versions if path.startswith(folder) and path.endswith(".seal.json")]
    fresh = sorted({path for path in seals if history.elsewhere.versions[path].keys() - history.log.additions.keys()})
    if fresh:
        what = f"{len(fresh)} seals stand on branches, experiments, stashes or reflogs outside this history"
        blob = min(history.elsewhere.versions[fresh[0]].keys() - history.log.additions.keys())
        place, first = context.config.paths.prereg, next(iter(history.elsewhere.additions[blob]))
        observed = f"{fresh[0].removeprefix(history.prefix)} first, on {where(context, first)}"
        yield Finding(code="A208", severity=Severity.NOTE, place=place, what=what, observed=observed, cure="merge or report them")
