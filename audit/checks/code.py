"""A311: the code a run loaded is the code of a commit, and frozen code ran as it was sealed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from audit.context import Context
from audit.finding import Finding, Refusal, Severity
from audit.load import parse_json
from audit.order import LOST
from audit.records import RunLog, log_path


def check(context: Context) -> Iterator[Finding]:
    """Every readable run log that belongs to a record."""
    for path in context.record_paths:
        log = context.run_logs.get(log_path(path))
        if log is None or isinstance(log, Refusal):
            continue
        if context.history.knows(log.commit):
            yield from _modules(context, path, log)
            for name in log.seals.keys() & context.seals.keys() - context.outcomes.keys():
                yield from _frozen(context, path, name, log.commit, log.code)
        else:
            what = f"the commit its run started from ({log.commit[:10]}) is not in this history"
            yield Finding(code="A311", severity=Severity.UNCHECKED, place=log_path(path), what=what, cure=LOST)
    for name, outcome in context.outcomes.items():
        for path, blob in outcome.logs.items():
            commit = parse_json(context.history.objects.blob(blob), path)["commit"]
            if name in context.seals and context.history.knows(commit):
                yield from _frozen(context, path, name, commit, {})


def count(context: Context) -> str:
    """How many modules."""
    logs = [log for log in context.run_logs.values() if not isinstance(log, Refusal)]
    return f"{sum(len(log.code) for log in logs)} module digests of {len(logs)} runs"


def _modules(context: Context, path: str, log: RunLog) -> Iterator[Finding]:
    """Modules that neither the start commit nor a commit that brought the record holds: a finding under a seal, else a note."""
    history = context.history
    brought = history.introductions(history.blob_id(context.record_bytes[path]))
    strange = [name for name, digest in log.code.items() if not any(_holds(context, commit, name, digest) for commit in (log.commit, *brought))]
    if strange:
        weight = Severity.FINDING if log.seals and brought else Severity.NOTE
        observed = f"{strange[0]}" + (f" and {len(strange) - 1} more" if len(strange) > 1 else "")
        what = f"its run loaded code that commit {log.commit[:10]} does not hold"
        yield Finding(code="A311", severity=weight, place=path, what=what, observed=observed, cure="commit the code, then run again")


def _frozen(context: Context, place: str, name: str, commit: str, ran: Mapping[str, str]) -> Iterator[Finding]:
    """Frozen code, in the commit the run started from and among the modules it loaded."""
    seal = context.seals[name]
    for file in context.registrations[name].freezes.code:
        digest = seal.files.get(file, "")
        if ran.get(file, digest) != digest or not _holds(context, commit, file, digest):
            what = f"its run started with {file} other than {name} sealed it"
            yield Finding(code="A311", place=place, what=what, expected=digest[:12], cure="restore the frozen file, commit, run again")


def _holds(context: Context, commit: str, path: str, digest: str) -> bool:
    blob = context.history.blob_at(commit, path)
    return blob is not None and context.history.objects.sha256(blob) == digest
