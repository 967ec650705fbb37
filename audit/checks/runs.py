"""A303, A305, A311, A314: each record is the one its run log names, made from what is there, by code that a commit holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from audit.beside import is_beside
from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal, Severity
from audit.kept import is_kept
from audit.records import RunLog, log_path

RERUN = "rerun the stage that writes it, or git checkout HEAD -- {}"


def check(context: Context) -> Iterator[Finding]:
    """Every record against the run log beside it, and against the records it names as its sources."""
    waiting = stages_waiting(context)
    for path in context.record_paths:
        log = context.run_logs.get(log_path(path))
        if log is None:
            cure = f"git checkout HEAD -- {log_path(path)}, or rerun its stage"
            yield Finding(code="A305", severity=Severity.UNCHECKED, place=log_path(path), what="the run log is missing", observed=path, cure=cure)
        elif isinstance(log, Refusal):
            yield Finding(code="A305", place=log_path(path), what=f"is no valid run log: {str(log).removeprefix(f'{log_path(path)}: ')}")
        else:
            yield from _same_record(context, path, log)
        yield from _sources(context, path, waiting)
    yield from _lost_seals(context)


def count(context: Context) -> str:
    """How many run logs."""
    return f"{len(context.run_logs)} run logs"


def _same_record(context: Context, path: str, log: RunLog) -> Iterator[Finding]:
    found = sha256_bytes(context.record_bytes[path])
    if log.record != path or log.record_sha256 != found:
        expected = f"{log.record} {log.record_sha256[:12]}"
        yield Finding(
            code="A303", place=path, what="is not the record its run log names", expected=expected, observed=found[:12], cure=RERUN.format(path)
        )
        return
    said = context.provenance.get(path)
    if said and (said.stage, said.seals) != (log.stage, log.seals):
        observed = f"stage {log.stage}, seals of {', '.join(log.seals) or 'none'}"
        yield Finding(
            code="A303", place=log_path(path), what="names another stage or other seals than the record", observed=observed, cure=RERUN.format(path)
        )


def stages_waiting(context: Context) -> dict[str, list[str]]:
    """Stage -> the open registrations that hold here and whose seal a record of it must name."""
    waiting: dict[str, list[str]] = {}
    for name, seal in context.seals.items():
        if name in context.outcomes or seal.post_hoc:
            continue
        registration = context.registrations[name]
        for stage in registration.judged_stages() if context.holds(registration) else ():
            waiting.setdefault(stage, []).append(name)
    return waiting


def _sources(context: Context, path: str, waiting: Mapping[str, list[str]]) -> Iterator[Finding]:
    """A314: what the record says it was made from is what is there."""
    said = context.provenance.get(path)
    if said is None:
        return
    for source, digest in () if is_kept(context, path) else said.data.items():
        data = context.record_bytes.get(source)
        if data is not None and sha256_bytes(data) != digest:
            what = f"was made from another version of {source}"
            yield Finding(code="A314", place=path, what=what, expected=digest[:12], observed=sha256_bytes(data)[:12], cure="dvc repro")
    for name in waiting.get(said.stage.split("@")[0], ()):
        if name not in said.seals and not is_beside(context, name, path):
            yield Finding(code="A314", place=path, what=f"was made without the seal of {name}, which its stage must wait for", cure="dvc repro")


def _lost_seals(context: Context) -> Iterator[Finding]:
    """A314: the seals that records stand under are there; one finding a seal, however many records."""
    under: dict[tuple[str, str], list[str]] = {}
    for path, said in context.provenance.items():
        for name, digest in said.seals.items():
            under.setdefault((name, digest), []).append(path)
    for (name, digest), paths in sorted(under.items()):
        seal = context.seal_path(name)
        data = context.bytes_of(seal)
        if data is None or sha256_bytes(data) != digest:
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            what = f"is not the seal that {paths[0]}{more} stand under"
            observed = "no such file" if data is None else sha256_bytes(data)[:12]
            yield Finding(code="A314", place=seal, what=what, expected=digest[:12], observed=observed, cure=f"git checkout HEAD -- {seal}")
