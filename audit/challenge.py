"""`audit challenge`: the reader's own seeds, the judged stages run again on them elsewhere, each verdict beside the registered one."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.context import Context
from audit.digest import canonical_json, sha256_bytes
from audit.finding import FOUND, HOLDS, Refusal, escape
from audit.history import WHOLE_CLONE
from audit.judged import PredictionVerdict, Verdicts
from audit.load import parse_json, parse_yaml, read_bytes, write_bytes
from audit.quantities import walk_quantities
from audit.records import Quantity, parse_model
from audit.registration import Outcome, seed_of
from audit.rerun import prepare, reproduce
from audit.standing import Standing, all_registrations, read_standing
from audit.verdict import Judgement, judge

FOLDER = Path("build", "challenge")


@dataclass(frozen=True)
class Registered:
    """What was registered and came out: read from the outcome's commit where the registration is closed, else from here."""

    standing: Standing
    commit: str
    """Where the judged code is."""
    shown: Mapping[str, PredictionVerdict]
    """What became of each prediction, by its id."""
    records: Mapping[str, Any]
    """Each judged record that a run writes, by path."""
    frozen: Mapping[str, Any]
    """Each record that the seal froze, from its sealed copy, by the path of the output."""


@dataclass(frozen=True)
class Unmoved:
    """Quantities of one judged record that are exactly what they were on the registered seeds."""

    path: str
    of: int
    """How many quantities both records have."""
    measured: Mapping[str, Any]
    """Key -> value of those with a fraction: no measurement of other networks gives them again."""
    frozen: Mapping[str, Any]
    """Key -> value of those with a fraction that the seal freezes too, in an output or a parameter."""
    whole: Mapping[str, Any]
    """Key -> value of counts and other whole numbers, which may well be the same."""


def main(name: str, nonce: str, work: str | None, keep: bool) -> int:
    """Challenge a judged registration; 0 where every verdict is the registered one, 1 where one differs."""
    refuse_nonce(nonce)
    context = Context.open()
    registered = read_registered(context, name)
    fresh = {seed_set: challenge_seeds(name, nonce, seed_set, count) for seed_set, count in registered.standing.registration.seeds.sets.items()}
    mark = sha256_bytes(canonical_json([name, registered.commit, {seed_set: list(seeds) for seed_set, seeds in fresh.items()}]))
    place = choose_place(context, work, f"{name}-{mark[:12]}")
    say(registered, fresh, nonce, place)
    judgements, records = rerun(context, registered, fresh, place, mark)
    print("\n".join(map(escape, [*show_verdicts(registered, judgements), *show_unmoved(registered, records)])))
    if keep:
        print(f"the clone is kept: {place}")
    else:
        shutil.rmtree(place)
    return HOLDS if all(registered.shown[judgement.prediction.id].verdict == judgement.verdict for judgement in judgements) else FOUND


def refuse_nonce(nonce: str) -> None:
    """Refuse what is empty, or would not stand in one line."""
    if not nonce.strip() or not nonce.isprintable():
        raise Refusal(
            "--nonce", "is no nonce", expected="a text of your own, in one line", observed=repr(nonce), cure="give a text nobody could know before"
        )


def seed_text(name: str, nonce: str, seed_set: str, index: int) -> str:
    """The text whose SHA-256 gives one seed: one line per field."""
    return f"challenge-seed-1\n{name}\n{nonce}\n{seed_set}\n{index}\n"


def challenge_seeds(name: str, nonce: str, seed_set: str, count: int) -> tuple[int, ...]:
    """The reader's seeds of a set."""
    seeds = tuple(seed_of(seed_text(name, nonce, seed_set, index)) for index in range(count))
    if len(set(seeds)) != count:
        raise Refusal("--nonce", f"gives two equal seeds in set {seed_set}", cure="give another text")
    return seeds


def read_registered(context: Context, name: str) -> Registered:
    """The registration, the verdicts it came to and the records they stand on; what is not judged cannot be challenged."""
    history = context.history
    if history.shallow:
        raise Refusal(context.root.name, "a shallow clone cannot be run again with its history", cure=WHOLE_CLONE)
    if name not in all_registrations(context):
        raise Refusal(f"{context.config.paths.prereg}/{name}.yaml", "no such registration", cure="audit status lists them")
    standing, outcome = read_standing(context, name), context.outcomes.get(name)
    if standing.closed and outcome is None:
        raise Refusal(context.outcome_path(name), "is not the outcome that HEAD holds", cure=f"git checkout HEAD -- {context.outcome_path(name)}")
    commit = outcome.commit if outcome else history.head
    shown = read_shown(context, standing, outcome, parameters_at(context, commit))
    copies = standing.seal.origins.items()
    frozen = {origin: parse_json(history.bytes_at(commit, copy) or b"", copy) for copy, origin in copies if origin.endswith(".json")}
    files = {prediction.metric.file for prediction in standing.registration.predictions} - set(frozen)
    if not files:
        raise Refusal(standing.seal.registration, "every metric is frozen by the seal: no seed decides anything")
    return Registered(standing, commit, shown, {file: read_judged(context, outcome, file) for file in sorted(files)}, frozen)


def read_judged(context: Context, outcome: Outcome | None, path: str) -> Any:
    """A judged record, or the verdicts' own: the outcome's blob where there is one, else what lies here."""
    data = context.history.objects.blob(outcome.records[path]) if outcome and path in outcome.records else context.bytes_of(path)
    if data is None:
        raise Refusal(path, "is not there, so that there is nothing to challenge", cure="dvc repro, then audit evaluate the registration")
    return parse_json(data, path)


def read_shown(context: Context, standing: Standing, outcome: Outcome | None, parameters: Any) -> dict[str, PredictionVerdict]:
    """What became of each prediction, by id; refuse where the registration was not evaluated, or not whole."""
    registration = standing.registration
    path = context.verdicts_path(registration.id)
    verdicts = parse_model(Verdicts, read_judged(context, outcome, path), path)
    unmet = registration.unmet(parameters) or (None if verdicts.evaluated else str(verdicts.reason))
    if unmet:
        raise Refusal(path, "the registration is not evaluated here", observed=unmet, cure="put the registered parameters back")
    shown = {row.id: row for row in verdicts.predictions}
    if set(shown) != {prediction.id for prediction in registration.predictions}:
        cure = context.judging(registration.id)
        raise Refusal(path, "does not judge what is registered", expected="a verdict for each prediction", cure=cure)
    return shown


def parameters_at(context: Context, commit: str) -> Any:
    """The parameters as a commit holds them."""
    path = context.config.paths.parameters
    return parse_yaml(context.history.bytes_at(commit, path) or b"", f"{commit[:10]}:{path}") or {}


def choose_place(context: Context, work: str | None, name: str) -> Path:
    """The folder of the clone: the given one, else one below `build/`, which is kept out of git in any project."""
    root, place = context.root.resolve(), Path(work or context.root / FOLDER / name).resolve()
    if place.is_relative_to(root) and not place.is_relative_to(root / FOLDER.parts[0]):
        raise Refusal(
            place, "lies in the checkout", expected=f"a folder below {FOLDER.parts[0]}/, or elsewhere", cure="name another folder with --work"
        )
    if work is None:
        write_bytes(place.parent / ".gitignore", b"*\n")
    return place


def rerun(
    context: Context, registered: Registered, fresh: Mapping[str, tuple[int, ...]], place: Path, mark: str
) -> tuple[tuple[Judgement, ...], dict[str, Any]]:
    """Run the chain that writes the metrics in the clone, and judge the registration on what it wrote."""
    registration = registered.standing.registration
    project = prepare(context, registered.commit, fresh, registered.records, place, mark)
    makers = project.pipeline.uncached  # of a stage with cells, the one that writes the file: the others may be another set's
    metrics = [prediction.metric for prediction in registration.predictions if prediction.metric.file in registered.records]
    stages = {makers.get(metric.file, metric.stage): None for metric in metrics}
    reproduce(project, context.root, stages)
    records = {file: parse_json(read_bytes(project.root / file), file) for file in registered.records}
    return judge(registration, lambda file: {**registered.frozen, **records}[file]), records


def say(registered: Registered, fresh: Mapping[str, tuple[int, ...]], nonce: str, place: Path) -> None:
    """Say what is going to be computed, from which seeds, and how anybody derives them."""
    name = registered.standing.registration.id
    for seed_set, seeds in fresh.items():
        print(f"set {seed_set}, {len(seeds)} seeds: the first 16 hex digits, top bit cleared, of")
        for index, seed in enumerate(seeds):
            words = " ".join(map(shlex.quote, seed_text(name, nonce, seed_set, index).splitlines()))
            print(escape(f"  printf '%s\\n' {words} | sha256sum   # seed {index}: {seed}"))
    sys.stdout.flush()
    print(escape(f"challenge: commit {registered.commit[:10]} runs in {place}; interrupted, the same command goes on"), file=sys.stderr)


def show_verdicts(registered: Registered, judgements: tuple[Judgement, ...]) -> Iterator[str]:
    """One line a prediction, the registered verdict and value beside the challenged ones, then the sum."""
    rows = [("", "registered", "challenged", "")]
    differ = []
    for judgement in judgements:
        shown = registered.shown[judgement.prediction.id]
        differ += [shown.id] if shown.verdict != judgement.verdict else []
        told = f"{'DIFFERS  ' if shown.verdict != judgement.verdict else ''}{shown.claim} ({shown.target})"
        rows.append((shown.id, _result(shown.verdict, shown.observed), _result(judgement.verdict, judgement.observed), told))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    yield from (" ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip() for row in rows)
    which = f"; another verdict: {', '.join(differ)}" if differ else ""
    yield f"{registered.standing.registration.id}: {len(judgements) - len(differ)} of {len(judgements)} verdicts as registered{which}"


def _result(verdict: str, observed: Quantity | None) -> str:
    return f"{verdict:9} {'-' if observed is None else f'{observed.value} {observed.unit}'}  "


def show_unmoved(registered: Registered, records: Mapping[str, Any]) -> Iterator[str]:
    """What other seeds did not change, record by record."""
    sealed = sealed_numbers(registered)
    for path, record in records.items():
        found = find_unmoved(path, registered.records[path], record, sealed)
        yield f"{path}: {len(found.measured)} of {found.of} quantities did not move with the seeds"
        yield from (f"  did not move: {key} = {value}" for key, value in found.measured.items())
        for what, some in (("the same, as the seal freezes them", found.frozen), ("the same whole numbers (may be so)", found.whole)):
            if some:
                yield f"  {what}: {', '.join(f'{key} = {value}' for key, value in some.items())}"


def sealed_numbers(registered: Registered) -> frozenset[tuple[Any, ...]]:
    """Value, and value of every unit, of each quantity of the sealed outputs; and each number of the sealed parameters."""
    quantities = (_numbers(quantity) for record in registered.frozen.values() for _, quantity in walk_quantities(record))
    parameters = ((number,) for frozen in registered.standing.seal.parameters.values() for number in _leaves(frozen.value))
    return frozenset([*quantities, *parameters])


def _leaves(value: Any) -> Iterator[float]:
    for child in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _leaves(child)
    if isinstance(value, int | float):
        yield value


def find_unmoved(path: str, before: Any, after: Any, sealed: frozenset[tuple[Any, ...]]) -> Unmoved:
    """The quantities whose value, and value of every unit, is exactly the same in both records."""
    old, new = dict(walk_quantities(before)), dict(walk_quantities(after))
    both = [key for key in old if key in new]
    parts: dict[str, dict[str, Any]] = {"measured": {}, "frozen": {}, "whole": {}}
    for key in both:
        if _numbers(old[key]) == _numbers(new[key]):
            part = "whole" if is_whole(old[key]) else "frozen" if _numbers(old[key]) in sealed else "measured"
            parts[part][key] = old[key]["value"]
    return Unmoved(path, len(both), **parts)


def _numbers(quantity: Mapping[str, Any]) -> tuple[Any, ...]:
    return (quantity["value"], *(quantity.get("values") or ()))


def is_whole(quantity: Mapping[str, Any]) -> bool:
    """Whether a quantity counts, or is made of whole numbers only: what other seeds may give again."""
    numbers = quantity.get("values") or (quantity["value"],)
    return quantity.get("summary") in ("count", "share") or all(float(number).is_integer() for number in numbers)
