"""From a number back to the run: what a quantity is, which record, run and commit it came from, who judges it, and where it is used."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass

from audit.claims import find_claims
from audit.confirmatory import label
from audit.context import Context
from audit.definitions import OURS
from audit.denominator import verdict_words
from audit.digest import sha256_bytes
from audit.document import generated_inputs, load_document
from audit.finding import Refusal
from audit.macro_texts import Printed, read_printed
from audit.numbers.format import format_quantity
from audit.numbers.keys import Keys
from audit.numbers.scan import Scan
from audit.prose import Prose
from audit.provenance import log_of, provenance_files, provenance_values
from audit.registration import Prediction
from audit.render import MACROS, generate, quantity_mark
from audit.typeset_pages import find_pages

__all__ = [
    "Judgement", "Place", "TracedPrediction", "TracedProvenance", "TracedQuantity", "cited_in", "shown", "trace_prediction", "trace_provenance",
    "trace_quantity", "used_keys", "uses_at",
]  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where the document uses a key."""

    place: str
    """`path:line:column` of the source, or the generated file that prints it."""
    command: str
    """The macro as it stands there; empty for a generated file."""
    text: str
    """As printed; empty where a generated file prints it in its own form."""
    pages: tuple[str, ...]
    """Pages of the last build; empty where none is known."""
    sentence: str
    """The sentence around it, with what our macros print; empty for a generated file."""


@dataclass(frozen=True)
class Judgement:
    """A prediction that judges a quantity."""

    prediction: str
    claim: str
    metric: str
    """Key of the quantity it is about."""
    target: str
    verdict: str
    """Empty where it has none."""


@dataclass(frozen=True)
class TracedQuantity:
    """A quantity with everything behind and before it."""

    key: str
    printed: tuple[str, ...]
    """Each printed form in the document, else the one that the record declares."""
    value: float | int
    unit: str
    digits: int
    style: str
    summary: str
    values: int
    """How many per-unit values it has."""
    record: str
    sha256: str
    stage: str
    command: str
    run_commit: str
    """Commit the run started from, by a run log that names these very bytes; empty without one."""
    record_commits: tuple[str, ...]
    """Commits that brought the record's bytes into history."""
    label: str
    seed_set: str
    why: str
    """What keeps it from being confirmatory, where something does."""
    judged: tuple[Judgement, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True)
class TracedPrediction:
    """A prediction, and every place that uses it or a quantity that it judges."""

    judgement: Judgement
    sealed: bool
    places: tuple[Place, ...]


@dataclass(frozen=True)
class TracedProvenance:
    """A value about runs and seals, `\\prov`, with the files that it is read from."""

    key: str
    text: str
    files: tuple[str, ...]
    places: tuple[Place, ...]


def trace_quantity(context: Context, key: str) -> TracedQuantity:
    """Everything known of one key."""
    name, path = key.partition(".")[0], context.config.records[key.partition(".")[0]]
    quantity, data = Keys.of(context).resolve(key, "trace"), context.record_bytes.get(path, b"")
    found, sha256 = log_of(context, path), sha256_bytes(data)
    log = found[1] if found and found[1].record_sha256 == sha256 else None
    said = context.provenance.get(path)
    stage = log.stage if log else said.stage if said else ""
    given = label(context, key)
    places = tuple(cited_in(context, {key}))
    forms = dict.fromkeys(place.text for place in places if place.text and place.command.startswith("\\val"))
    return TracedQuantity(
        key=key, printed=tuple(forms) or (shown(context, key),), value=quantity.value, unit=quantity.unit, digits=quantity.digits, style=quantity.style,
        summary=quantity.summary or "", values=len(quantity.values or ()), record=path, sha256=sha256, stage=stage,
        command=command_of(context, stage) or " ".join(log.command if log else ()), run_commit=log.commit if log else "",
        record_commits=introductions(context, data), label=given.word.value, seed_set=given.seed_set, why=given.why,
        judged=tuple(judgements(context, path, key.removeprefix(f"{name}."))), places=places,
    )  # fmt: skip


def shown(context: Context, key: str) -> str:
    """The form that the record declares; "" where it has none."""
    try:
        return format_quantity(Keys.of(context).resolve(key, "trace"))
    except Refusal:
        return ""


def command_of(context: Context, stage: str) -> str:
    """The command of a stage by `dvc.yaml`, else by `dvc.lock`; "" where neither knows it."""
    with suppress(Refusal):
        return context.pipeline.commands.get(stage) or str(context.pipeline.lock.get(stage, {}).get("cmd", ""))
    return ""


def introductions(context: Context, data: bytes) -> tuple[str, ...]:
    """Commits that brought these bytes; none where they are not committed or there is no history."""
    with suppress(Refusal):
        return tuple(context.history.introductions(context.history.blob_id(data)))
    return ()


def judgements(context: Context, path: str, inner: str) -> Iterator[Judgement]:
    """The predictions that read a quantity of a record: as their metric, in their comparator or in what leaves them undecided."""
    for registration in context.registrations.values():
        for prediction in registration.predictions:
            if prediction.metric.file == path and inner in prediction.keys():
                yield judge(context, registration.id, prediction)


def judge(context: Context, registration: str, prediction: Prediction) -> Judgement:
    """One prediction with its verdict, where it has one here."""
    name, metric = f"{registration}.{prediction.id}", prediction.metric
    return Judgement(name, prediction.claim, key_of(context, metric.file, metric.key), prediction.comparator.text(), verdict_words(context).get(name, ""))


def key_of(context: Context, path: str, inner: str) -> str:
    """The key under which the manuscript can cite a quantity, else file and path."""
    names = {record: name for name, record in context.config.records.items()}
    return f"{names[path]}.{inner}" if path in names else f"{path}:{inner}"


def trace_prediction(context: Context, name: str) -> TracedPrediction:
    """A prediction, with the places of its verdict and of every quantity that judging it reads."""
    registration_id, _, prediction_id = name.partition(".")
    registration = context.registrations[registration_id]
    prediction = next(each for each in registration.predictions if each.id == prediction_id)
    keys = {key_of(context, prediction.metric.file, key) for key in prediction.keys()}
    places = tuple(cited_in(context, {name, *keys}))
    return TracedPrediction(judge(context, registration_id, prediction), registration_id in context.seals, places)


def trace_provenance(context: Context, key: str) -> TracedProvenance:
    """A provenance value with its files and places."""
    text = provenance_values(context)[key]
    return TracedProvenance(key, text, tuple(provenance_files(context, key)), tuple(place for place in cited_in(context, {key}, ("prov",)) if place.command))


def cited_in(context: Context, keys: set[str], commands: Collection[str] = OURS - {"prov"}) -> Iterator[Place]:
    """Every place of the document that uses one of these keys or verdicts, in source order, then the generated files that print it."""
    pages, printed = find_pages(context), read_macros(context)
    claims = {claim.use.key for claim in find_claims(context) if keys & {*claim.keys, *claim.predictions}}
    for scan in load_document(context).all:
        for start, end, command, option, key in uses_at(scan):
            if key in (claims if command == "claim" else keys) and command in commands:
                form = {"val": option, "ifverdict": "choice"}.get(command, command)
                shown = f"\\{command}{f'[{option}]' if option else ''}{{{key}}}"
                yield Place(scan.place(start), shown, text_of(printed, command, option, key), pages.get((form, key), ()), sentence(scan, end, printed))
    with suppress(Refusal):
        marks = keys | {quantity_mark(key) for key in keys}
        for name, shown in included_marks(context):
            if marks & shown:
                yield Place(f"{context.config.paths.generated}/{name}", "", "", (), "")


def included_marks(context: Context) -> list[tuple[str, set[str]]]:
    """The generated files that the document includes, each with what its template is noted to show."""
    made = generate(context)
    return [(name, made.shown.get(name, set())) for name in sorted(generated_inputs(context, load_document(context)))]


def used_keys(context: Context) -> dict[str, None]:
    """The keys of quantities that the document uses, in source order, then those that its generated files read."""
    found = dict.fromkeys(use.key for use in load_document(context).uses() if use.command in ("val", "confirmatory"))
    with suppress(Refusal):
        marks: set[str] = set().union(*(shown for _, shown in included_marks(context)))
        found |= dict.fromkeys(key for key in Keys.of(context).quantities if quantity_mark(key) in marks)
    return found


def uses_at(scan: Scan) -> Iterator[tuple[int, int, str, str, str]]:
    """(start, end, command, option, key) of each use of our macros in a source, in order."""
    commands = [(offset, name) for name, offset in scan.reading.commands if name in OURS]
    for command, option, key, offset, _ in scan.reading.uses:
        start = max((place for place, name in commands if name == command and place < offset), default=offset)
        yield start, scan.reading.source.find("}", offset) + 1, command, option, key


def read_macros(context: Context) -> Printed:
    """What our macros print now; nothing where rendering is refused, which `audit verify` reports."""
    with suppress(Refusal):
        return read_printed(generate(context).files[MACROS].decode())
    return Printed()


def text_of(printed: Printed, command: str, option: str, key: str) -> str:
    """What one use prints, as a reader sees it; a chosen branch is in the sentence."""
    if command == "val":
        return printed.plain.get((option, key), "")
    return {"prov": printed.provenance, "confirmatory": printed.labels, "claim": printed.claims}.get(command, printed.verdicts).get(key, "")


def sentence(scan: Scan, end: int, printed: Printed) -> str:
    """The sentence around a use, which ends at a place of the source, as a reader has it."""
    prose, uses = Prose(scan), scan.reading.uses
    last = max(use[3] for use in uses if use[3] < end)
    return prose.spell(*prose.sentence(last), lambda number: text_of(printed, *uses[number][:3]))
