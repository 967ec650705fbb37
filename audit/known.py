"""Whether an outcome is known before its seal: a judged record, or the metric on the same seeds, anywhere in the history at hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.context import Context
from audit.finding import Refusal
from audit.history import call_git
from audit.load import parse_json
from audit.quantities import find_quantity
from audit.registration import Registration, Seal, derive_seeds
from audit.standing import all_registrations, read_standing
from audit.tokens import derived_seeds

CURE = "register under a new id, or audit seal --post-hoc"


def refuse_rivals(context: Context, registration: Registration) -> None:
    """Refuse a seed set that another sealed registration, not closed yet, claims under the same parameters."""
    history, place = context.history, f"{context.config.paths.prereg}/{registration.id}.yaml"
    for name, other in all_registrations(context).items():
        sealed, closed = (history.blob_at(history.head, path(name)) is not None for path in (context.seal_path, context.outcome_path))
        rivals = sorted(registration.rivals(other)) if name != registration.id and sealed and not closed else []
        if rivals:
            what, expected = f"claims seed set {rivals[0]!r}, which {name} owns under the same parameters", "one seal for a seed set"
            cure = f"seeds: {{same_as: {name}}}, or another set, or `seed_sets.{rivals[0]}: {registration.id}` under holds_for"
            raise Refusal(place, what, expected=expected, cure=cure)


def with_owner_seeds(context: Context, registration: Registration) -> Registration:
    """A registration that shares its seeds as if they were its own, for what counts its units."""
    owner = all_registrations(context).get(registration.seed_owner, registration)
    return registration.model_copy(update={"seeds": owner.seeds})


def find_seeds(context: Context, registration: Registration, seal: Seal) -> set[int]:
    """The seeds that derive from this seal, or from that of the owner it shares them with; none while a witness, which comes later, is awaited."""
    place, name = f"{context.config.paths.prereg}/{registration.id}.yaml: seeds.same_as", registration.seeds.same_as
    if name is None:
        sets = {} if registration.seeds.from_ == "seal+witness" else registration.seeds.sets
        return {seed for drawn, count in sets.items() for seed in derive_seeds(seal, drawn, count)}
    if name not in all_registrations(context):
        raise Refusal(place, f"no registration {name!r}", expected="the id of a sealed registration", cure="correct the id")
    owner = read_standing(context, name)
    if owner.registration.seeds.same_as:
        cure = f"write same_as: {owner.registration.seed_owner}"
        raise Refusal(place, f"{name} has no seeds of its own", expected="the registration whose seal gives the seeds", observed=name, cure=cure)
    if owner.closed:
        raise Refusal(place, f"{name} is closed: its runs came before this seal", expected="a registration that has not run", cure="seeds of its own")
    return {seed for seeds in derived_seeds(context, name).values() for seed in seeds}


def refuse_known_outcome(context: Context, registration: Registration, seal: Seal) -> None:
    """Refuse when a judged record with this seal's id or its seeds exists already, or a metric of it at any other path, on any ref; of seeds
    that are shared, any record at all."""
    seeds, owner = find_seeds(context, registration, seal), registration.seed_owner
    judged = {prediction.metric.file for prediction in registration.predictions} - set(seal.origins.values())
    keys = {prediction.metric.key for prediction in registration.predictions if prediction.metric.file in judged}
    for path, record in each_record(context):
        provenance = record.get("provenance")
        provenance = provenance if isinstance(provenance, dict) else {}
        if not (seal.id in _container(provenance, "seals", dict) or seeds & _numbers(provenance)):
            continue
        metric = next((key for key in sorted(keys) if has_quantity(record, key)), None)
        if path in judged:
            raise Refusal(path, f"an outcome of {seal.id} exists already: this seal would come after it", cure=CURE)
        if owner != seal.id:
            raise Refusal(path, f"has run already on the seeds of {owner}: this seal would come after it", cure="register on other seeds")
        if metric is not None:
            raise Refusal(path, f"holds the metric {metric} on the seeds of {seal.id}: this seal would come after it", cure=CURE)


def each_record(context: Context) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every JSON object of the working tree's records, of HEAD's history and of every local ref, whatever its path; seals and logs left out."""
    for path, data in context.record_bytes.items():
        yield from _parsed(path, data)
    history = context.history
    named = {blob: path for blob, paths in history.log.paths.items() for path in paths}
    for blob, path in {**elsewhere(context), **named}.items():
        if is_record(path):
            yield from _parsed(path.removeprefix(history.prefix), history.objects.blob(blob))


def elsewhere(context: Context) -> dict[str, str]:
    """Blob -> path of what only other refs reach: branches, tags, remotes, experiments, the stash."""
    shown = call_git(context.root, "rev-list", "--objects", "--all", "--not", "HEAD")[1].decode(errors="surrogateescape")
    return {blob: path for blob, _, path in (line.partition(" ") for line in shown.splitlines()) if is_record(path)}


def is_record(path: str) -> bool:
    """Whether a file may be a record, by its name."""
    return path.endswith(".json") and not path.endswith((".run.json", ".seal.json", ".outcome.json"))


def has_quantity(record: Any, key: str) -> bool:
    """Whether a record has a quantity at a key."""
    try:
        find_quantity(record, key, "")
    except Refusal:
        return False
    return True


def _parsed(path: str, data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        found = parse_json(data, path)
    except Refusal:
        return
    if isinstance(found, dict):
        yield path, found


def _container(value: dict[str, Any], name: str, kind: type) -> Any:
    found = value.get(name)
    return found if isinstance(found, kind) else kind()


def _numbers(provenance: dict[str, Any]) -> set[int]:
    return {seed for seed in _container(provenance, "seeds", list) if isinstance(seed, int)}
