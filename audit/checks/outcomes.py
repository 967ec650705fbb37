"""A112, A113, A116: the metrics of open registrations exist as they were registered, and their frozen outputs still come out."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal, Severity
from audit.load import parse_json
from audit.predictions import Prediction
from audit.quantities import differences, find_quantity, walk_quantities
from audit.records import Quantity
from audit.registration import Registration, Seal
from audit.verdict import refuse_unsealed


def check(context: Context) -> Iterator[Finding]:
    """Every open registration that holds here, against the records there are."""
    for name, registration in context.registrations.items():
        if name not in context.outcomes and context.holds(registration):
            yield from _metrics(context, registration)
            if name in context.seals:
                yield from _frozen_outputs(context, context.seals[name])


def count(context: Context) -> str:
    """How many predictions."""
    return f"{sum(len(registration.predictions) for registration in context.registrations.values())} predictions"


def _metrics(context: Context, registration: Registration) -> Iterator[Finding]:
    place = f"{context.config.paths.prereg}/{registration.id}.yaml"
    for prediction in registration.predictions:
        file = prediction.metric.file
        record = context.records.get(file)
        if record is None and context.pipeline.stages and not context.pipeline.writes(prediction.metric.stage, file):
            what = f"{prediction.id} names {file}, which stage {prediction.metric.stage} does not write"
            yield Finding(code="A113", place=place, what=what, cure="register a metric that a stage of dvc.yaml writes")
        said = context.provenance.get(file)
        if said is not None and said.stage.split("@")[0] != prediction.metric.stage.split("@")[0]:
            what, cure = f"{prediction.id} names stage {prediction.metric.stage}, and another one made {file}", "run again as registered, or register anew"
            yield Finding(code="A113", place=place, what=what, expected=prediction.metric.stage, observed=said.stage, cure=cure)
        for key in prediction.keys() if record is not None else ():
            try:
                quantity = find_quantity(record, key, file)
            except Refusal as refusal:
                yield Finding(code="A113", place=place, what=f"{prediction.id} names a metric that no record has: {refusal}")
            else:
                yield from _sealed_as(registration, prediction, quantity) if key == prediction.metric.key else ()


def _sealed_as(registration: Registration, prediction: Prediction, observed: Quantity) -> Iterator[Finding]:
    """The metric's tolerance, summary and number of units are those that were registered."""
    try:
        refuse_unsealed(prediction, observed, registration.units_of(prediction))
    except Refusal as fault:
        what = f"{fault.what} by {registration.id}"
        yield Finding(code="A116", place=fault.place, what=what, expected=fault.expected, observed=fault.observed, cure=fault.cure)


def _frozen_outputs(context: Context, seal: Seal) -> Iterator[Finding]:
    for copy, origin in seal.origins.items():
        frozen, live = context.bytes_of(copy), context.records.get(origin)
        if frozen is None or live is None or sha256_bytes(frozen) == sha256_bytes(context.record_bytes[origin]):
            continue
        sealed = parse_json(frozen, copy)
        dropped = {key for key, _ in walk_quantities(sealed)} - {key for key, _ in walk_quantities(live)}
        moved = sorted(differences(sealed, live) | dropped)
        if moved:
            observed = ", ".join(moved[:3]) + (f" and {len(moved) - 3} more" if len(moved) > 3 else "")
            cure = f"git checkout HEAD -- {origin}; judging reads {copy} in any case"
            weight = Severity.FINDING if _is_committed(context, origin) else Severity.NOTE
            what = f"differs from the frozen copy {copy} beyond tolerance"
            yield Finding(code="A112", severity=weight, place=origin, what=what, observed=observed, cure=cure)


def _is_committed(context: Context, path: str) -> bool:
    try:
        return context.history.bytes_at(context.history.head, path) == context.record_bytes[path]
    except Refusal:
        return True
