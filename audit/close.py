"""Closing a registration: its outcome is named by commit and blobs, after which the code may move on."""

from __future__ import annotations

from audit.chain import standing_amendments
from audit.context import Context
from audit.declared import deviations_path, give_reasons, read_declared
from audit.deviations import asks_for_reasons, open_comparison
from audit.difference import Difference
from audit.evaluate import files_read, metric_files
from audit.finding import Refusal, escape
from audit.judged import Verdicts, compute_verdicts
from audit.load import parse_json, write_bytes
from audit.mended import first_outcomes
from audit.records import log_path, parse_model, record_bytes
from audit.registration import Outcome
from audit.standing import Standing, read_standing
from audit.under import refuse_other_outcomes


def main(name: str) -> None:
    """Write `prereg/<id>.outcome.json` from what HEAD holds."""
    context = Context.open()
    path = context.outcome_path(name)
    if (context.root / path).exists() or context.history.versions(path):
        raise Refusal(path, "the registration is closed already; an outcome is never written again")
    outcome = make_outcome(context, read_standing(context, name))
    write_bytes(context.root / path, record_bytes(outcome))
    shown = ", ".join(f"{prediction} {verdict}" for prediction, verdict in outcome.verdicts.items())
    print(f"closed {name}: {shown}")
    for row in outcome.deviations or ():
        print(escape(f"deviation, {row.kind} {row.what}: registered {row.registered}, run {row.run}; why: {row.why}"))
    print(f"now: git add {path} && git commit -m 'Close {name}'")


def make_outcome(context: Context, standing: Standing) -> Outcome:
    """The outcome of a judged registration: verdicts, judged again from HEAD's own files, and the blobs they stand on."""
    registration, head = standing.registration, context.history.head
    path = context.verdicts_path(registration.id)
    refuse_other_outcomes(context, registration)
    stored = parse_model(Verdicts, parse_json(committed(context, path), path), path)
    files = metric_files(context, registration)
    seal, links = standing.seal, standing_amendments(context, registration.id)
    read = files_read(context, registration, links)
    again = compute_verdicts(
        registration,
        stored.provenance,
        None,
        lambda file: parse_json(committed(context, read[file]), file),
        seal,
        links,
        first_outcomes(context, registration),
    )
    if again != stored:
        cure = f"{context.judging(registration.id, amended=bool(links))}, commit it, then close"
        raise Refusal(path, "is not what the committed records give", cure=cure)
    records = sorted({path, *(file for file, read in files.items() if file == read)})
    return Outcome(
        id=registration.id,
        seal=standing.seal_sha256,
        commit=head,
        records={record: blob(context, record) for record in records},
        logs={log_path(record): blob(context, log_path(record)) for record in records},
        files={name: blob(context, name) for name in standing.seal.files},
        deviations=settle_deviations(context, registration.id) if asks_for_reasons(open_comparison(context, registration.id, head)) else None,
        verdicts={shown.id: shown.verdict for shown in stored.predictions if shown.verdict != "not evaluated here"},
    )


def settle_deviations(context: Context, name: str) -> tuple[Difference, ...]:
    """Every difference between registered and run, each with its declared reason; refuses while one has none."""
    path = deviations_path(context, name)
    if (context.root / path).exists():
        committed(context, path)
    rows = give_reasons(open_comparison(context, name, context.history.head).differences, read_declared(context, name))
    open_rows = [row for row in rows if row.why is None]
    if open_rows:
        first, more = open_rows[0], f" and {len(open_rows) - 1} more" if len(open_rows) > 1 else ""
        what, observed = f"{name} cannot be closed: an undeclared difference between registered and run", f"{first.kind} {first.what}{more}"
        cure = f"declare it there with why, or run again as registered: - {{kind: {first.kind}, what: {first.what}, why: ...}}"
        raise Refusal(path, what, expected=first.registered, observed=f"{first.run} ({observed})", cure=cure)
    return rows


def committed(context: Context, path: str) -> bytes:
    """The committed bytes of a file, which the working tree must not have changed."""
    data = context.history.bytes_at(context.history.head, path)
    if data is None:
        raise Refusal(path, "is not committed", expected="the judged record at HEAD", cure=f"git add {path} && git commit")
    if context.bytes_of(path) != data:
        raise Refusal(path, "differs from the committed file", cure=f"commit it, or git checkout HEAD -- {path}")
    return data


def blob(context: Context, path: str) -> str:
    """Id of a committed file's blob."""
    found = context.history.blob_at(context.history.head, path)
    if found is None:
        raise Refusal(path, "is not committed", cure=f"git add {path} && git commit")
    return found
