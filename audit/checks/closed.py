"""A114: a closed registration is, in history, what its outcome says; the working tree may have moved on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal, Severity
from audit.judged import judge_firsts
from audit.load import parse_json
from audit.mended import first_outcomes
from audit.records import log_path
from audit.registration import Outcome, Registration, Seal, parse_registration
from audit.verdict import judge


def check(context: Context) -> Iterator[Finding]:
    """Every outcome of the working tree, and every one the history holds."""
    folder, cure = context.config.paths.prereg, "git checkout HEAD -- {}; an outcome is never written again"
    on_disk = {path.relative_to(context.root).as_posix() for path in (context.root / folder).glob("*.outcome.json")}
    for path in sorted(on_disk | set(context.history.paths_ever(folder, ".outcome.json"))):
        if not context.history.versions(path):
            what = "is not committed and counts for nothing yet"
            yield Finding(code="A114", severity=Severity.NOTE, place=path, what=what, cure=f"git add {path} && git commit")
            continue
        name = path.removeprefix(f"{folder}/").removesuffix(".outcome.json")
        outcome, seal = context.outcomes.get(name), context.seals.get(name)
        if outcome is None or seal is None:
            what = "is missing, a symbolic link, unreadable or not as HEAD holds it, or its registration or seal is"
            yield Finding(code="A114", place=path, what=what, expected="the outcome as it was written", cure=cure.format(path))
            continue
        for fault in _faults(context, outcome, seal, path):
            yield Finding(code="A114", place=path, what=fault, cure=cure.format(path))


def count(context: Context) -> str:
    """How many outcomes."""
    return f"{len(context.outcomes)} closed"


def _faults(context: Context, outcome: Outcome, seal: Seal, path: str) -> Iterator[str]:
    history = context.history
    head = history.bytes_at(history.head, context.seal_path(seal.id))
    if head is None or sha256_bytes(head) != outcome.seal:
        yield "names another seal than the committed one"
        return
    if len(history.versions(path)) > 1:
        yield "was written more than once"
    for name, blob in (*outcome.records.items(), *outcome.logs.items(), *outcome.files.items()):
        if not history.knows(outcome.commit) or history.blob_at(outcome.commit, name) != blob:
            yield f"{name} is not {blob[:10]} in commit {outcome.commit[:10]}"
            return
    for name, digest in seal.files.items():
        if name not in outcome.files or sha256_bytes(history.objects.blob(outcome.files[name])) != digest:
            yield f"{name} was not as sealed when it was closed"
            return
    registration = parse_registration(history.objects.blob(outcome.files[seal.registration]), seal.registration)
    if fault := _other_names(context, registration, outcome, seal):
        yield fault
        return

    def read(file: str) -> Any:
        return _record(context, outcome, seal, file)

    judgements = {judgement.prediction.id: judgement for judgement in judge(registration, read)}
    firsts = judge_firsts(registration, judgements, read, first_outcomes(context, registration))
    verdicts = {name: firsts[name][1].verdict if name in firsts else judgement.verdict for name, judgement in judgements.items()}
    if verdicts != outcome.verdicts:
        shown = ", ".join(f"{name} {verdict}" for name, verdict in verdicts.items())
        yield f"its verdicts do not follow from its records, which give {shown}"
    reported = _reported(context, registration, outcome)
    if reported != outcome.verdicts:
        shown = ", ".join(f"{name} {verdict}" for name, verdict in reported.items())
        yield f"its verdicts are not those of its verdicts' record, which gives {shown or 'none'}"


def _other_names(context: Context, registration: Registration, outcome: Outcome, seal: Seal) -> str:
    """Names that closing puts into an outcome and this one lacks, or has beyond them; "" where it has exactly those."""
    metrics = {prediction.metric.file for prediction in registration.predictions}
    records = {context.verdicts_path(registration.id), *(file for file in metrics if seal.copy_of(file) == file)}
    wanted = {"records": records, "logs": {log_path(record) for record in records}, "files": set(seal.files)}
    for part, names in wanted.items():
        odd = sorted(names ^ set(getattr(outcome, part)))
        if odd:
            return f"its {part} {'lack' if odd[0] in names else 'name beside those of a closing'} {odd[0]}"
    return ""


def _reported(context: Context, registration: Registration, outcome: Outcome) -> dict[str, Any]:
    """The verdicts that the verdicts' record of the outcome reports, as plain values: its form may have been another."""
    path = context.verdicts_path(registration.id)
    record = parse_json(context.history.objects.blob(outcome.records[path]), path)
    rows = record.get("predictions") if isinstance(record, dict) else None
    return {str(row.get("id")): row.get("verdict") for row in rows or () if isinstance(row, dict)} if isinstance(rows, list) else {}


def _record(context: Context, outcome: Outcome, seal: Seal, file: str) -> Any:
    blob = outcome.files.get(seal.copy_of(file)) or outcome.records.get(file)
    if blob is None:
        raise Refusal(file, "is not among the records of the outcome", code=1)
    return parse_json(context.history.objects.blob(blob), file)
