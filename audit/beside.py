"""Records of a stage that a registration names, made with another seed set: nothing under the registration comes from them."""

from __future__ import annotations

from contextlib import suppress

from audit.context import Context
from audit.finding import Refusal
from audit.tokens import derived_seeds


def is_beside(context: Context, name: str, path: str) -> bool:
    """Whether a record has the seeds of another known set, and is no source of what is judged under this registration."""
    said = context.provenance.get(path)
    return said is not None and is_anothers(context, name, said.seeds) and path not in judged_sources(context, name)


def is_anothers(context: Context, name: str, seeds: tuple[int, ...]) -> bool:
    """Whether these are the seeds of a set that another sealed registration owns, or that the parameters list."""
    return bool(set_owners(context).get(seeds, set()) - {context.registrations[name].seed_owner})


def set_owners(context: Context) -> dict[tuple[int, ...], set[str]]:
    """Seeds of each known set -> the sealed registrations that own it, "" where the parameters list it; once a context."""
    if "_set_owners" not in context.__dict__:
        listed = context.parameters.get("seed_sets") if isinstance(context.parameters, dict) else None
        plain = listed.values() if isinstance(listed, dict) else ()
        found = {tuple(seeds): {""} for seeds in plain if isinstance(seeds, list | tuple)}
        for owner in {context.registrations[name].seed_owner for name in context.seals} & context.seals.keys():
            with suppress(Refusal):  # said where that registration's own records are looked at
                for seeds in derived_seeds(context, owner).values():
                    found.setdefault(seeds, set()).add(owner)
        context.__dict__["_set_owners"] = found
    known: dict[tuple[int, ...], set[str]] = context.__dict__["_set_owners"]
    return known


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
