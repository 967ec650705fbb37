"""A308: the seeds in a record that stands under a seal are those that derive from it; none swapped, doubled, dropped or added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.beside import is_beside
from audit.context import Context
from audit.finding import Finding, Refusal, Severity
from audit.quantities import PLAIN
from audit.tokens import derived_seeds

SEEDS = ("seed", "seeds")


def check(context: Context) -> Iterator[Finding]:
    """Every record that names seeds and a seal."""
    derived: dict[str, dict[str, tuple[int, ...]] | Refusal] = {}
    for path, provenance in context.provenance.items():
        for name in provenance.seals.keys() & context.seals.keys() if provenance.seeds else ():
            if is_beside(context, name, path):
                continue
            if name not in derived:
                derived[name] = _derive(context, name)
            sets = derived[name]
            if isinstance(sets, Refusal):
                what = f"its seeds cannot be derived: {sets.what}"
                yield Finding(code="A308", severity=Severity.UNCHECKED, place=path, what=what, cure=sets.cure)
            else:
                yield from _derived(context, path, provenance.seeds, name, sets)
    for name in context.seals:
        yield from _unnamed(context, name)


def _unnamed(context: Context, name: str) -> Iterator[Finding]:
    """A judged record under a seal that names none of its seeds, nor does any record that it was made from: nobody knows on what it ran."""
    registration, seal = context.registrations[name], context.seals[name]
    if seal.post_hoc or name in context.outcomes or not context.holds(registration):
        return
    for path in sorted({prediction.metric.file for prediction in registration.predictions} - set(seal.origins.values())):
        pending, seen = [path], set()
        while pending:
            seen.add(place := pending.pop())
            said = context.provenance.get(place)
            pending += [source for source in (said.data if said else ()) if source not in seen]
        chain = [context.provenance[place] for place in seen if place in context.provenance]
        if path in context.provenance and name in context.provenance[path].seals and not any(said.seeds and name in said.seals for said in chain):
            what, cure = f"names none of the seeds of {name}, nor does what it was made from", "ask the gate for the seed set; run the stages again"
            yield Finding(code="A308", place=f"{path}:provenance.seeds", what=what, expected="derived seeds", observed="none", cure=cure)


def _derive(context: Context, name: str) -> dict[str, tuple[int, ...]] | Refusal:
    try:
        return derived_seeds(context, name)
    except Refusal as refusal:
        return refusal


def count(context: Context) -> str:
    """How many seeds."""
    own = [registration.seeds.sets for name, registration in context.registrations.items() if name in context.seals]
    return f"{sum(sum(counts.values()) for counts in own)} derived seeds"


def _derived(context: Context, path: str, seeds: tuple[int, ...], name: str, sets: Mapping[str, tuple[int, ...]]) -> Iterator[Finding]:
    if sets and seeds not in sets.values():
        nearest = max(sets.values(), key=lambda wanted: len(set(wanted) & set(seeds)))
        what, cure = f"its seeds are not those of {name}: {describe(nearest, seeds)}", f"audit seeds {name} shows them; run the stage again"
        yield Finding(code="A308", place=f"{path}:provenance.seeds", what=what, expected=f"{len(nearest)} derived seeds", cure=cure)
    known = {seed for wanted in sets.values() for seed in wanted}
    strange = sorted({seed for seed in _walk_seeds(context.records[path]) if seed not in known})
    if sets and strange:
        yield Finding(
            code="A308", place=path, what=f"names a seed that does not derive from {name}", observed=str(strange[0]), cure=f"audit seeds {name}"
        )


def describe(wanted: tuple[int, ...], found: tuple[int, ...]) -> str:
    """What happened to the seeds, in one clause."""
    if len(set(found)) < len(found):
        return "one is doubled"
    if sorted(found) == sorted(wanted):
        return "they are in another order"
    if len(found) != len(wanted):
        return f"{len(set(wanted) - set(found))} dropped, {len(set(found) - set(wanted))} added"
    return f"{len(set(found) - set(wanted))} swapped for others"


def _walk_seeds(record: Any) -> Iterator[int]:
    """Every whole number under a key `seed` or `seeds`, outside of the provenance."""
    pending = [(record, "")]
    while pending:
        value, key = pending.pop()
        if isinstance(value, dict):
            pending += [(child, name) for name, child in value.items() if name != "provenance"]
        elif isinstance(value, list) and (key in SEEDS or not PLAIN.issuperset(map(type, value))):
            pending += [(child, key) for child in value]
        elif key in SEEDS and type(value) is int:
            yield value
