"""The command `audit trace`: from a number, key, place or prediction to everything behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from audit.context import Context
from audit.finding import FOUND, HOLDS, Refusal, escape, several
from audit.numbers.keys import Keys
from audit.referents import Referents, find_matches
from audit.trace import (
    Judgement,
    Place,
    TracedPrediction,
    TracedProvenance,
    TracedQuantity,
    shown,
    trace_prediction,
    trace_provenance,
    trace_quantity,
)  # fmt: skip

__all__ = ["main"]

SHORT = 10
WIDTH = 10
"""Of the words at the left."""


def main(what: str, form: str) -> int:
    """Print what stands behind `what`; 1 where nothing does: such a number is invented, such a name misspelt."""
    context = Context.open()
    found = find_matches(context, what)
    if form == "json":
        print(json.dumps(as_object(context, what, found), indent=1, ensure_ascii=False))
        return HOLDS if found else FOUND
    if not found:
        keys = Keys.of(context)
        absent = "".join(f"; absent or unreadable: {path}" for name, path in keys.paths.items() if keys.records[name] is None)
        observed = f"nearest: {', '.join(found.nearest) or 'none'}{absent}"
        raise Refusal(what.strip() or "an empty text", "matches nothing", observed=observed, cure="name a number, a key, FILE:LINE or REGISTRATION.PREDICTION", code=FOUND)
    for line in as_text(context, found):
        click.echo(line)
    return HOLDS


def as_object(context: Context, what: str, found: Referents) -> dict[str, object]:
    """Everything as one JSON object."""
    return {
        "kind": "trace",
        "version": 1,
        "what": what,
        "quantities": [asdict(trace_quantity(context, key)) for key in [*found.bound, *found.others]],
        "predictions": [asdict(trace_prediction(context, name)) for name in found.predictions],
        "provenance": [asdict(trace_provenance(context, key)) for key in found.provenance],
        "nearest": found.nearest,
    }


def as_text(context: Context, found: Referents) -> Iterator[str]:
    """What the document uses in full, or the only match; of the others one line each."""
    whole = found.bound or (found.others if len(found.others) == 1 and not (found.predictions or found.provenance) else [])
    blocks = [tell_quantity(trace_quantity(context, key)) for key in whole]
    blocks += [tell_prediction(trace_prediction(context, name)) for name in found.predictions]
    blocks += [tell_provenance(trace_provenance(context, key)) for key in found.provenance]
    for number, block in enumerate(blocks):
        yield from ([""] if number else [])
        yield from block
    rest = [key for key in found.others if key not in whole]
    if rest:
        yield from ([""] if blocks else [])
        yield f"{several(len(rest), 'key')} with an equal value that the document does not use:"
        yield from (f"  {escape(f'{key} = {shown(context, key)}'):60} {Keys.of(context).paths[key.partition('.')[0]]}" for key in rest)


def row(word: str, text: str) -> str:
    """One line: a word, and what it says."""
    return f"  {click.style(f'{word:{WIDTH}}', dim=True)} {escape(text)}"


def tell_quantity(found: TracedQuantity) -> Iterator[str]:
    """A quantity, from the printed number back to the run, and on to the places that use it."""
    yield f"{click.style(escape(', '.join(found.printed)), bold=True)}  {escape(found.key)}"
    spread = f", {found.summary or 'with'}{' of' if found.summary else ''} {several(found.values, 'value')}" if found.values else ""
    yield row("quantity", f"{found.value!r}{'' if found.unit == '1' else f' {found.unit}'}, {found.style}, {several(found.digits, 'digit')}{spread}")
    yield row("record", f"{found.record}, SHA-256 {found.sha256[:SHORT]}")
    yield row("stage", f"{found.stage or 'unknown'}{': ' if found.command else ''}{found.command}")
    run = f"run from {found.run_commit[:SHORT]}" if found.run_commit else "no run log names these bytes"
    brought = ", ".join(commit[:SHORT] for commit in found.record_commits)
    yield row("commits", f"{run}; {f'brought by {brought}' if brought else 'the record is in no commit yet'}")
    why = f" ({found.why})" if found.why and found.seed_set else ""
    yield row("seeds", f"{found.label}{f', seed set {found.seed_set}' if found.seed_set else ''}{why}")
    for judgement in found.judged:
        yield row("judged by" if judgement.metric == found.key else "read by", describe(judgement))
    yield from tell_places(found.places, "not in the document")


def describe(judgement: Judgement) -> str:
    """A prediction in one line."""
    return f"{judgement.prediction} {judgement.verdict or 'without a verdict'}: {judgement.metric} {judgement.target}"


def tell_prediction(found: TracedPrediction) -> Iterator[str]:
    """A prediction, and backwards every sentence that uses it or a quantity it reads."""
    judgement = found.judgement
    yield f"{click.style(escape(judgement.prediction), bold=True)}  {escape(judgement.verdict or 'without a verdict')}"
    yield row("claim", judgement.claim)
    yield row("metric", f"{judgement.metric} {judgement.target}{'' if found.sealed else '; not sealed'}")
    yield from tell_places(found.places, "nowhere in the document")


def tell_provenance(found: TracedProvenance) -> Iterator[str]:
    """A value about runs and seals, with its files."""
    yield f"{click.style(escape(found.text), bold=True)}  {escape(found.key)}"
    yield row("read from", ", ".join(found.files))
    yield from tell_places(found.places, "not in the document")


def tell_places(places: Sequence[Place], none: str) -> Iterator[str]:
    """Each place with its sentence; a sentence that stands already above is not repeated."""
    last = ""
    for place in places or ():
        pages = f", page {' or '.join(place.pages)}" if place.pages else ""
        does = {"\\ifverdict": "chooses", "\\claim": "which"}.get(place.command.partition("{")[0], "prints")
        yield row("used", f"{place.place}{pages}: {f'{place.command} {does} {place.text}' if place.command else 'prints it'}")
        if place.sentence and place.sentence != last:
            yield row("", place.sentence)
        last = place.sentence
    if not places:
        yield row("used", none)
