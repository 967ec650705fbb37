"""Which quantities are confirmatory: never declared, computed for each (sealed prediction, metric, seed set)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from audit.attrition import population_of
from audit.context import Context
from audit.digest import sha256_bytes
from audit.document import load_document
from audit.finding import Refusal, Severity
from audit.load import parse_json
from audit.logs import open_logs
from audit.order import open_order
from audit.quantities import differences, find_quantity
from audit.registration import Prediction, Registration, Seal
from audit.tokens import derived_seeds

__all__ = ["Label", "Word", "cited_keys", "is_whole", "label", "predicted_keys"]


class Word(StrEnum):
    """What a cited quantity is; only the first stands for a prediction that could have failed."""

    CONFIRMATORY = "confirmatory"
    ON_SEEDS = "exploratory on confirmatory seeds"
    EXPLORATORY = "exploratory"
    TALLY = "a tally of verdicts"
    UNKNOWN = "not checked"


@dataclass(frozen=True)
class Label:
    """The label of one quantity, and why it has it."""

    key: str
    """`record.path`, as the manuscript cites it."""
    word: Word
    predictions: tuple[str, ...] = ()
    """`registration.prediction` of each prediction whose metric it is."""
    seed_set: str = ""
    why: str = ""


def cited_keys(context: Context) -> Counter[str]:
    """Every key that the sources cite with `\\val` or `\\confirmatory`, and how often."""
    return Counter(use.key for use in load_document(context).uses() if use.command in ("val", "confirmatory"))


def predicted_keys(context: Context) -> list[str]:
    """The key of every prediction's metric, where the manuscript can cite its record."""
    names = {path: name for name, path in context.config.records.items()}
    found = (prediction.metric for registration in context.registrations.values() for prediction in registration.predictions)
    return sorted({f"{names[metric.file]}.{metric.key}" for metric in found if metric.file in names})


def label(context: Context, key: str) -> Label:
    """The label of a quantity by its key, once a context."""
    known: dict[str, Label] = context.__dict__.setdefault("_labels", {})
    if key not in known:
        known[key] = compute_label(context, key)
    return known[key]


def is_whole(context: Context) -> bool:
    """Whether every label that was asked for could be computed: without the whole history some cannot."""
    return all(each.word is not Word.UNKNOWN for each in context.__dict__.get("_labels", {}).values())


def compute_label(context: Context, key: str) -> Label:
    """Confirmatory where a sealed prediction is about this very quantity and its record stands under that seal, on its seeds."""
    name, _, inner = key.partition(".")
    path = context.config.records.get(name, "")
    if context.records.get(path, {}).get("kind") == "verdicts":
        return Label(key, Word.TALLY)
    predictions = find_predictions(context, path, inner)
    names = tuple(f"{registration.id}.{prediction.id}" for registration, prediction in predictions)
    reasons: list[str] = []
    for registration, prediction in predictions:
        try:
            fault = find_fault(context, registration, prediction, path)
        except Refusal as refusal:
            return Label(key, Word.UNKNOWN, names, why=str(refusal))
        if not fault:
            return Label(key, Word.CONFIRMATORY, names, seed_set_of(context, registration, prediction, path))
        reasons.append(f"{registration.id}.{prediction.id}: {fault}")
    owner = owner_of(context, seeds_of(context, path))
    word = Word.ON_SEEDS if owner else Word.EXPLORATORY
    return Label(key, word, names, owner, "; ".join(reasons) or "no sealed prediction is about it")


def find_predictions(context: Context, path: str, key: str) -> list[tuple[Registration, Prediction]]:
    """The sealed predictions whose metric is exactly this quantity."""
    return [
        (registration, prediction)
        for name, registration in context.registrations.items()
        for prediction in registration.predictions
        if name in context.seals and (prediction.metric.file, prediction.metric.key) == (path, key)
    ]


def find_fault(context: Context, registration: Registration, prediction: Prediction, path: str) -> str:
    """What keeps a quantity from being confirmatory, in one clause; "" where nothing does."""
    if not seed_set_of(context, registration, prediction, path):
        return "its record has other seeds than the registered ones"
    known: dict[tuple[str, str], tuple[str, Any]] = context.__dict__.setdefault("_judged_records", {})
    if (registration.id, path) not in known:
        known[registration.id, path] = judge_record(context, registration, context.seals[registration.id], path)
    fault, judged = known[registration.id, path]
    if fault or judged is context.records[path] or same_quantity(judged, context.records[path], prediction.metric.key):
        return fault
    return "it is not the value that the registration was closed with"


def judge_record(context: Context, registration: Registration, seal: Seal, path: str) -> tuple[str, Any]:
    """What keeps a record from standing under a seal ("" where nothing does), and the plain record that is judged: the closed one, else this."""
    said, outcome, judged = context.provenance.get(path), context.outcomes.get(seal.id), context.records[path]
    sha256 = sha256_bytes(context.bytes_of(context.seal_path(seal.id)) or b"")
    if said is None or said.seals.get(seal.id) != sha256:
        return "its record does not name the seal", judged
    if seal.post_hoc:
        return "it was registered post hoc", judged
    if outcome is None and not context.holds(registration):
        return "the registration does not hold for these parameters", judged
    if outcome is not None and path not in outcome.records:
        return "its record is not one that the registration was closed with", judged
    data = context.history.objects.blob(outcome.records[path]) if outcome else context.record_bytes[path]
    fault = find_order_fault(context, seal, path, data, sha256)
    return fault, parse_json(data, path) if outcome and data != context.record_bytes[path] else judged


def find_order_fault(context: Context, seal: Seal, path: str, data: bytes, sha256: str) -> str:
    """What keeps the bytes of a record from standing after the seal as its first outcome; "" where nothing does."""
    outcome = context.outcomes.get(seal.id)
    order = open_order(context, open_logs(context, outcome.commit) if outcome else open_logs(context), seal)
    found = order.rule(path, data)
    for fault in found:
        if fault.severity is Severity.FINDING:
            return f"{fault.code}: its record {fault.what}"
    for fault in found:
        if fault.severity is Severity.UNCHECKED:
            raise Refusal(path, fault.what, observed=fault.observed, cure=fault.cure)
    first = outcome is not None or is_first(context, seal, sha256, path)
    return "" if first else "A204: another outcome stands in history"


def same_quantity(one: Any, other: Any, key: str) -> bool:
    """Whether two records have the same quantity at a key, in value and in each unit's value."""
    first, second = find_quantity(one, key, "outcome"), find_quantity(other, key, "record")
    return (first.value, first.values) == (second.value, second.values)


def is_first(context: Context, seal: Seal, sha256: str, path: str) -> bool:
    """Whether every version of the record under this seal says the same, within its tolerance."""
    for blob in context.history.versions(path):
        other = parse_json(context.history.objects.blob(blob), path)
        if named_seal(other, seal.id) == sha256 and differences(other, context.records[path]):
            return False
    return True


def named_seal(record: Any, name: str) -> Any:
    """The digest under which a plain record names a seal, or None."""
    said = record.get("provenance") if isinstance(record, dict) else None
    seals = said.get("seals") if isinstance(said, dict) else None
    return seals.get(name) if isinstance(seals, dict) else None


def seeds_of(context: Context, path: str) -> tuple[int, ...]:
    """The seeds that a record says it was made with."""
    said = context.provenance.get(path)
    return said.seeds if said else ()


def derived_sets(context: Context, names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """`registration.set` -> seeds, for the sealed registrations that give these ones their seeds."""
    owners = {context.registrations[name].seed_owner for name in names}
    return {
        f"{owner}.{seed_set}": seeds
        for owner in sorted(owners & context.seals.keys())
        for seed_set, seeds in derived_seeds(context, owner).items()
    }


def seed_set_of(context: Context, registration: Registration, prediction: Prediction, path: str) -> str:
    """The seed set the record was made with, if it is one the prediction is about; else ""."""
    about, _ = population_of(prediction)
    found, seeds = derived_sets(context, (registration.id,)), seeds_of(context, path)
    return next((name for name, wanted in found.items() if wanted == seeds and about in (None, name.partition(".")[2])), "")


def owner_of(context: Context, seeds: tuple[int, ...]) -> str:
    """The derived seed set from which any of these seeds comes; "" where none does."""
    return next((name for name, wanted in derived_sets(context, context.seals).items() if set(wanted) & set(seeds)), "")
