"""The verdicts' record: what became of every prediction, as a pure function of registration, records, seal and amendments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from audit.chain import Link
from audit.chance import registered_chance, show
from audit.finding import Refusal
from audit.predictions import Prediction
from audit.records import Frozen, Provenance, Quantity, Record, Sha256
from audit.registration import Registration, Seal
from audit.verdict import Judgement, judge, judge_prediction, reading_of
from audit.versions import Version

ELSEWHERE = "not evaluated here"
LOSING = ("missed", "undecided", "met")


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


class LaterVerdict(Frozen):
    """What a later record under the same seal would give, where the first outcome gave another verdict; it counts nowhere."""

    first: Sha256
    """Of the record that was committed first, by which the prediction is judged."""
    verdict: Literal["met", "missed", "undecided"]
    observed: Quantity
    units: Quantity | None = None


class PredictionVerdict(Judged):
    """One registered prediction with its verdict, and beside it those of a later record and of an amendment."""

    later: LaterVerdict | None = None
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


def compute_verdicts(
    registration: Registration,
    provenance: Provenance,
    unmet: str | None,
    read: Callable[[str], Any],
    seal: Seal | None = None,
    links: tuple[Link, ...] = (),
    firsts: Mapping[str, Sequence[Version]] | None = None,
) -> Verdicts:
    """The verdicts' record, a pure function of registration, provenance, records, seal, amendments and first outcomes."""
    later = {} if unmet else {row.prediction.id: row for row in judge(registration, read)}
    before = judge_firsts(registration, later, read, firsts or {})
    found = {**later, **{name: judgement for name, (_, judgement) in before.items()}}
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
            PredictionVerdict(
                **_show(registration, prediction, found.get(prediction.id), seal),
                later=_show_later(before[prediction.id][0], later[prediction.id]) if prediction.id in before else None,
                amended=amended.get(prediction.id),
            )
            for prediction in registration.predictions
        ),
        added=added or None,
        **counts,
        of=count(len(registration.predictions)),
        reading=reading_of(registration, verdicts),
        warnings=(seal.warnings or None) if seal else None,
    )


def judge_firsts(
    registration: Registration, later: Mapping[str, Judgement], read: Callable[[str], Any], firsts: Mapping[str, Sequence[Version]]
) -> dict[str, tuple[Version, Judgement]]:
    """The predictions to which a first outcome gives another verdict than the record at hand."""
    found = {name: _judge_first(registration, judgement, read, firsts) for name, judgement in later.items()}
    return {name: first for name, first in found.items() if first}


def _judge_first(
    registration: Registration, present: Judgement, read: Callable[[str], Any], firsts: Mapping[str, Sequence[Version]]
) -> tuple[Version, Judgement] | None:
    """The first outcome, of parallel ones the least favourable, with its judgement; None where the present record says the same."""
    prediction, found = present.prediction, []
    for version in firsts.get(prediction.metric.file, ()):
        try:
            found.append((version, judge_prediction(prediction, version.record, read, registration.units_of(prediction))))
        except Refusal:  # without the metric it was no outcome of this prediction
            continue
    first = min(found, key=lambda pair: LOSING.index(pair[1].verdict), default=None)
    return first if first and first[1].verdict != present.verdict else None


def _show_later(first: Version, judgement: Judgement) -> LaterVerdict:
    units = count_units(judgement.units) if judgement.units is not None else None
    return LaterVerdict(first=first.sha256, verdict=judgement.verdict, observed=judgement.observed, units=units)


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


def ratio(number: float, digits: int) -> Quantity:
    """A number computed from others without rounding."""
    return Quantity(value=number, digits=digits, tolerance=0)


def count_units(flags: tuple[bool, ...]) -> Quantity:
    """How many units compare as registered."""
    values = tuple(int(flag) for flag in flags)
    return Quantity(value=sum(values), digits=0, style="integer", tolerance=0, summary="count", values=values)
