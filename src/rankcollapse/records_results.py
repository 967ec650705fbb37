"""The records that are computed from others, without training: what manuscript, registrations and claims read; free of torch."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypeAliasType

from audit.records import Quantity, Record

Tree = TypeAliasType("Tree", "dict[str, Quantity | Tree]")
"""Quantities by name, nested: a dotted key leads to one."""


class Summary(Record):
    """What one seed set came to: quantities by role, and over both."""

    kind: Literal["summary"] = "summary"
    version: Literal[1] = 1
    shallow: Tree
    deep: Tree
    both: Tree
    """Over the events of both roles, shallow ones first; and what pairs the two depths of a seed."""


class Drawn(Record):
    """Which figures were drawn; their bytes stand in the run log."""

    kind: Literal["figures"] = "figures"
    version: Literal[1] = 1
    files: tuple[str, ...]


def plant(quantities: dict[str, Quantity]) -> Tree:
    """Quantities by dotted key as a tree; ValueError where one key leads through another."""
    tree: dict = {}
    for key, quantity in quantities.items():
        *groups, leaf = key.split(".")
        place = tree
        for group in groups:
            place = place.setdefault(group, {})
            if isinstance(place, Quantity):
                raise ValueError(f"{key} leads through a quantity")
        if leaf in place:
            raise ValueError(f"{key} stands twice, or another key leads through it")
        place[leaf] = quantity
    return tree


def gather(tree: Tree, prefix: str = "") -> dict[str, Quantity]:
    """The quantities of a tree by dotted key."""
    found: dict[str, Quantity] = {}
    for name, value in tree.items():
        key = f"{prefix}{name}"
        found |= {key: value} if isinstance(value, Quantity) else gather(value, f"{key}.")
    return found
