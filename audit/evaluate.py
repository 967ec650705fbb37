"""From a sealed registration and its records to the verdicts' record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from audit import gate
from audit.chain import Link, standing_amendments
from audit.chance import Chance, chance_of, show
from audit.changes import print_changes
from audit.context import Context
from audit.finding import Refusal, escape
from audit.kept import keep_verdicts
from audit.load import parse_json
from audit.numbers.format import format_beside
from audit.predictions import Prediction
from audit.records import Frozen, Provenance, Quantity, Record
from audit.registration import Registration, Seal
from audit.standing import all_registrations
from audit.under import refuse_other_outcomes
from audit.verdict import Judgement, judge, reading_of

ELSEWHERE = "not evaluated here"


class Judged(Frozen):
    """One prediction, the metric as it was found, and the verdict."""

    id: str
    claim: str
    metric: str
    """`file:key` of the quantity."""
    target: str
    """How the metric must compare."""
    null: str
    """What an uninteresting world would give."""
    population: str | None = None
    """The units it is about, where the registration names them."""
    chance: Quantity | None = None
    """Chance of being met under the null, where population or null are registered so that it follows."""
    chance_text: str | None = None
    """How that chance comes about."""
    post_hoc: Literal[True] | None = None
    """Sealed although its outcome was there: it confirms nothing."""
    verdict: Literal["met", "missed", "undecided", "not evaluated here"]
    observed: Quantity | None = None
    """The metric, copied from its record; absent where the registration is not evaluated."""
    units: Quantity | None = None
    """Where the prediction is about units: how many of them compare as registered; the values say which."""
    correlation: Quantity | None = None
    """Where it is about a rank correlation: the one found."""


class AmendedVerdict(Judged):
    """What an amendment would judge instead of a registered prediction, or beside them; it counts nowhere."""

    number: int
    """Of the amendment; of several that speak of one prediction, the last."""
    sealed: Literal["before outcome", "after outcome"]
    """By ancestry: `before` only where every run and every outcome under the registration's seal came after the amendment's."""


class PredictionVerdict(Judged):
    """One registered prediction with its verdict, and beside it the amended one."""

    amended: AmendedVerdict | None = None


class Verdicts(Record):
    """What became of every prediction of a registration."""

    kind: Literal["verdicts"] = "verdicts"
    version: Literal[1] = 1
    registration: str
    title: str
    primary: str
    evaluated: bool
    """False where the parameters are not those the registration holds for."""
    reason: str | None = None
    """Why it is not evaluated."""
    predictions: tuple[PredictionVerdict, ...]
    added: tuple[AmendedVerdict, ...] | None = None
    """Predictions that amendments add; never among the counts."""
    met: Quantity
    missed: Quantity
    undecided: Quantity
    of: Quantity
    """How many predictions are registered."""
    reading: str | None = None
    """The reading that was fixed in advance for these verdicts."""
    warnings: tuple[str, ...] | None = None
    """What the linter said when it was sealed."""


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
    verdicts = compute_verdicts(registration, run.provenance, unmet, lambda file: read_record(context, files[file]), seal, links)
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


def compute_verdicts(
    registration: Registration,
    provenance: Provenance,
    unmet: str | None,
    read: Callable[[str], Any],
    seal: Seal | None = None,
    links: tuple[Link, ...] = (),
) -> Verdicts:
    """The verdicts' record, a pure function of registration, provenance, records, seal and amendments."""
    judgements = () if unmet else judge(registration, read)
    found = {judgement.prediction.id: judgement for judgement in judgements}
    verdicts = {name: judgement.verdict for name, judgement in found.items()}
    counts = {verdict: count(sum(1 for given in verdicts.values() if given == verdict)) for verdict in ("met", "missed", "undecided")}
    amended = judge_amendments(registration, links, None if unmet else read, seal)
    added = tuple(row for name, row in amended.items() if name not in {prediction.id for prediction in registration.predictions})
    return Verdicts(
        provenance=provenance,
        registration=registration.id,
        title=registration.title,
        primary=registration.primary,
        evaluated=unmet is None,
        reason=unmet,
        predictions=tuple(
            PredictionVerdict(**_show(registration, prediction, found.get(prediction.id), seal), amended=amended.get(prediction.id))
            for prediction in registration.predictions
        ),
        added=added or None,
        **counts,
        of=count(len(registration.predictions)),
        reading=reading_of(registration, verdicts),
        warnings=(seal.warnings or None) if seal else None,
    )


def count(number: int) -> Quantity:
    """A count as a quantity: exact, without decimals."""
    return Quantity(value=number, unit="1", digits=0, style="integer", tolerance=0)


def judge_amendments(
    registration: Registration, links: tuple[Link, ...], read: Callable[[str], Any] | None, seal: Seal | None
) -> dict[str, AmendedVerdict]:
    """What the amendments say of each prediction they name, the last word of several; without `read` nothing is judged."""
    rows: dict[str, AmendedVerdict] = {}
    for link in links:
        predictions = link.amendment.predictions
        judgements = judge(registration.model_copy(update={"predictions": predictions}), read) if read else (None,) * len(predictions)
        for prediction, judgement in zip(predictions, judgements, strict=True):
            rows[prediction.id] = AmendedVerdict(**_show(registration, prediction, judgement, seal), number=link.amendment.number, sealed=link.sealed)
    return rows


def _show(registration: Registration, prediction: Prediction, judgement: Judgement | None, seal: Seal | None) -> dict[str, Any]:
    population, chance = prediction.population, registered_chance(registration, prediction)
    return dict(
        id=prediction.id,
        claim=prediction.claim,
        metric=f"{prediction.metric.file}:{prediction.metric.key}",
        target=prediction.comparator.text(),
        null=prediction.null.text,
        population=population.text(registration.seeds.sets) if population else None,
        chance=ratio(float(chance.value), 4) if chance else None,
        chance_text=f"{show(chance.value)}: {chance.text}" if chance else None,
        post_hoc=True if seal and seal.post_hoc else None,
        verdict=judgement.verdict if judgement else ELSEWHERE,
        observed=judgement.observed if judgement else None,
        units=count_units(judgement.units) if judgement and judgement.units is not None else None,
        correlation=ratio(judgement.correlation, 2) if judgement and judgement.correlation is not None else None,
    )


def registered_chance(registration: Registration, prediction: Prediction) -> Chance | None:
    """The chance under the null of a prediction that names its population or declares one."""
    declared = prediction.null.chance is not None or prediction.null.unit_chance is not None
    return chance_of(prediction, registration.units_of(prediction)) if declared or prediction.population else None


def ratio(number: float, digits: int) -> Quantity:
    """A number computed from others without rounding."""
    return Quantity(value=number, digits=digits, tolerance=0)


def count_units(flags: tuple[bool, ...]) -> Quantity:
    """How many units compare as registered."""
    values = tuple(int(flag) for flag in flags)
    return Quantity(value=sum(values), digits=0, style="integer", tolerance=0, summary="count", values=values)


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
