"""From a sealed registration and its records to the verdicts' record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audit import gate
from audit.chain import Link, standing_amendments
from audit.changes import print_changes
from audit.context import Context
from audit.finding import Refusal, escape
from audit.judged import ELSEWHERE, AmendedVerdict, Verdicts, compute_verdicts
from audit.kept import keep_verdicts
from audit.load import parse_json
from audit.mended import first_outcomes
from audit.numbers.format import format_beside
from audit.records import Quantity
from audit.registration import Registration
from audit.standing import all_registrations
from audit.under import refuse_other_outcomes
from audit.verdict import Judgement, judge


def main(name: str, other: str | None, out: str | None) -> None:
    """Judge a registration and write the verdicts' record, or judge it on another record and only print."""
    context = Context.open()
    registration = all_registrations(context).get(name)
    if registration is None:
        known = ", ".join(sorted(context.registrations)) or "none"
        raise Refusal(f"{context.config.paths.prereg}/{name}.yaml", "no such registration", observed=f"registered: {known}")
    if other is not None:
        print_judgements(registration, judge(registration, read_other(context, registration, other)))
        return
    path = choose_target(context, out) if out is not None else context.verdicts_path(name)
    if not keep_verdicts(context, name, path):
        print_verdicts(evaluate(context, registration, path))
    print_changes(name)


def read_other(context: Context, registration: Registration, other: str) -> Callable[[str], Any]:
    """Reads another record in place of those with metrics; frozen thresholds stay where they are."""
    record, files = read_record(context, other), files_read(context, registration)
    metrics = {prediction.metric.file for prediction in registration.predictions}
    return lambda file: record if file in metrics else read_record(context, files[file])


def choose_target(context: Context, out: str) -> str:
    """Where the verdicts go on request: a record's place below the results, which holds nothing, or verdicts."""
    results = f"{context.config.paths.results}/"
    path = gate.relative(context, out)
    if not path.startswith(results) or not path.endswith(".json") or path.endswith(".run.json") or path == context.config.paths.findings():
        raise Refusal(out, "is no place for verdicts", expected=f"a path {results}STAGE/NAME.json", cure="name one, or leave --out away")
    data = context.bytes_of(path)
    if (context.root / path).exists() and (data is None or not holds_verdicts(data, path)):
        cure = "name another file; nothing but verdicts is written over"
        raise Refusal(out, "exists and holds no verdicts", expected="a verdicts' record, or no file", cure=cure)
    return path


def holds_verdicts(data: bytes, path: str) -> bool:
    """Whether bytes are a record of verdicts."""
    try:
        record = parse_json(data, path)
    except Refusal:
        return False
    return isinstance(record, dict) and record.get("kind") == "verdicts"


def evaluate(context: Context, registration: Registration, path: str) -> Verdicts:
    """Judge a registration from its sealed and recorded inputs and write record and run log."""
    unmet = registration.unmet(context.parameters)
    links = standing_amendments(context, registration.id)
    files = {} if unmet else files_read(context, registration, links)
    amendments = [path for link in links for path in (link.seal.amendment, context.seal_path(link.seal.id))]
    name = f"{context.config.paths.prereg}/{registration.id}.yaml"
    run = gate.start(
        stage="evaluate",
        parameters={"registration": registration.id, "evaluated": unmet is None},
        inputs=[name, *amendments, *files.values()],
        registrations=() if unmet else (registration.id,),
    )
    if unmet is None:
        refuse_other_outcomes(context, registration)
    seal = context.seals.get(registration.id)
    firsts = {} if unmet else first_outcomes(context, registration)
    verdicts = compute_verdicts(registration, run.provenance, unmet, lambda file: read_record(context, files[file]), seal, links, firsts)
    run.finish(verdicts, path)
    return verdicts


def metric_files(context: Context, registration: Registration) -> dict[str, str]:
    """Each metric's file -> where it is read: the sealed copy of a frozen output, else the file itself."""
    seal = context.seals.get(registration.id)
    files = sorted({prediction.metric.file for prediction in registration.predictions})
    return {file: seal.copy_of(file) if seal else file for file in files}


def files_read(context: Context, registration: Registration, links: tuple[Link, ...] = ()) -> dict[str, str]:
    """Every file that judging reads -> where: metrics, and frozen thresholds in their sealed copies; what amendments read, too."""
    seal = context.seals.get(registration.id)
    amended = (registration.model_copy(update={"predictions": link.amendment.predictions}).files() for link in links)
    return {file: seal.copy_of(file) if seal else file for file in sorted(registration.files().union(*amended))}


def read_record(context: Context, path: str, commit: str | None = None) -> Any:
    """A record of the project, or of a commit, as a plain value."""
    data = context.history.bytes_at(commit, path) if commit else context.bytes_of(path)
    if data is None:
        raise Refusal(path, "is not there", expected="the record that holds the metric", cure="run the stage that writes it (dvc repro)")
    return parse_json(data, path)


def print_judgements(registration: Registration, judgements: tuple[Judgement, ...]) -> None:
    """One line a prediction."""
    for judgement in judgements:
        print(
            _line(judgement.prediction.id, judgement.verdict, judgement.prediction.comparator.text(), judgement.observed, judgement.prediction.claim)
        )
    met = sum(1 for judgement in judgements if judgement.verdict == "met")
    print(f"{registration.id}: {met} of {len(judgements)} met on this record (nothing written)")


def print_verdicts(verdicts: Verdicts) -> None:
    """One line a prediction, then the count."""
    for shown in verdicts.predictions:
        print(_line(shown.id, shown.verdict, shown.target, shown.observed, f"[post hoc] {shown.claim}" if shown.post_hoc else shown.claim))
        if shown.later:
            print(escape(f"     a later record under this seal would be {shown.later.verdict}; the first outcome counts ({shown.later.first[:12]})"))
        if shown.amended:
            print(_amended_line(shown.amended, "instead"))
    for added in verdicts.added or ():
        print(_amended_line(added, "besides"))
    for warning in verdicts.warnings or ():
        print(escape(f"sealed with the warning: {warning}"))
    if verdicts.evaluated:
        tally = f"{verdicts.met.value} met, {verdicts.missed.value} missed, {verdicts.undecided.value} undecided of {verdicts.of.value}"
        print(f"{verdicts.registration}: {tally}")
    else:
        print(f"{verdicts.registration}: {ELSEWHERE} ({verdicts.reason})")


def _line(name: str, verdict: str, target: str, observed: Quantity | None, claim: str) -> str:
    seen = "-" if observed is None else format_beside(observed, target)
    return escape(f"{name:4} {verdict:10} {seen} (registered {target})  {claim}")


def _amended_line(row: AmendedVerdict, how: str) -> str:
    said = f"amendment {row.number}, sealed {row.sealed}, {how}: "
    return "     " + said + _line(row.id, row.verdict, row.target, row.observed, row.claim).replace("(registered ", "(amended ", 1)
