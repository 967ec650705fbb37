"""Whose seeds a registration has: those of its own seal, or of the one it shares them with."""

from __future__ import annotations

from collections.abc import Mapping

from audit.context import Context
from audit.registration import Registration, Seal, derive_seeds


def seed_counts(registration: Registration, registrations: Mapping[str, Registration]) -> dict[str, int]:
    """Name of each seed set of a registration -> its number of seeds: its own sets, or those of the one it shares them with."""
    return dict(registrations.get(registration.seed_owner, registration).seeds.sets)


def derive_sets(owner: Registration, seal: Seal) -> dict[str, tuple[int, ...]]:
    """The seeds of every set of a registration that owns them."""
    return {name: derive_seeds(seal, name, count) for name, count in owner.seeds.sets.items()}


def read_sets(context: Context, name: str) -> dict[str, tuple[int, ...]]:
    """The seeds of a sealed registration as the working tree has it, by set; {} while the seal that gives them is not there."""
    owner = context.registrations[name].seed_owner
    return derive_sets(context.registrations[owner], context.seals[owner]) if owner in context.seals else {}
