"""Records of a stage that a registration names, made with another seed set: nothing under the registration comes from them."""

from __future__ import annotations

from audit.context import Context
from audit.finding import Refusal
from audit.tokens import derived_seeds


def is_beside(context: Context, name: str, path: str) -> bool:
    """Whether a record has the seeds of another known set, and is no source of what is judged under this registration."""
    said = context.provenance.get(path)
    return said is not None and said.seeds in other_sets(context, name) and path not in judged_sources(context, name)


def other_sets(context: Context, name: str) -> set[tuple[int, ...]]:
    """The seeds of each set that another sealed registration owns, and of each that the parameters list."""
    owner = context.registrations[name].seed_owner
    owners = {context.registrations[other].seed_owner for other in context.seals} & context.seals.keys()
    listed = context.parameters.get("seed_sets") if isinstance(context.parameters, dict) else None
    found = {tuple(seeds) for seeds in (listed.values() if isinstance(listed, dict) else ()) if isinstance(seeds, list | tuple)}
    for other in owners - {owner}:
        try:
            found |= set(derived_seeds(context, other).values())
        except Refusal:
            continue  # said where that registration's own records are looked at
    return found


def judged_sources(context: Context, name: str) -> set[str]:
    """The records that a registration's metrics stand in, and all that these were made from, once a context."""
    known: dict[str, set[str]] = context.__dict__.setdefault("_judged_sources", {})
    if name not in known:
        pending, seen = [prediction.metric.file for prediction in context.registrations[name].predictions], set()
        while pending:
            seen.add(place := pending.pop())
            said = context.provenance.get(place)
            pending += [source for source in (said.data if said else ()) if source not in seen]
        known[name] = seen
    return known[name]
