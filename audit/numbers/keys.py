"""Keys: `<record name>.<path>` to the quantity it names; an unknown one names the nearest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from audit.context import Context
from audit.finding import Refusal
from audit.quantities import find_quantity, walk_quantities
from audit.records import Quantity, parse_model

__all__ = ["Keys"]

SHOWN = 3
PLAIN = re.compile(r"[A-Za-z0-9_.,:;@+*/=!?()<>| -]+")
"""What a key may be written with, so that LaTeX reads it as it stands."""


@dataclass(frozen=True)
class Keys:
    """Every quantity that the project's manuscript may cite."""

    records: dict[str, Any]
    """Name -> plain record, or None where its file is absent or unreadable."""
    paths: dict[str, str]

    @classmethod
    def of(cls, context: Context) -> Keys:
        """The keys of a project, from the records listed in `audit.toml`; once a context."""
        if "_keys" not in context.__dict__:
            paths = context.config.records
            context.__dict__["_keys"] = cls({name: context.records.get(path) for name, path in paths.items()}, paths)
        made: Keys = context.__dict__["_keys"]
        return made

    @cached_property
    def _walked(self) -> list[tuple[str, Mapping[str, Any]]]:
        named = ((name, record) for name, record in self.records.items() if record is not None)
        return [(f"{name}.{key}", quantity) for name, record in named for key, quantity in walk_quantities(record)]

    @cached_property
    def quantities(self) -> dict[str, Mapping[str, Any]]:
        """Key -> plain quantity, over all named records."""
        return dict(self._walked)

    @cached_property
    def repeated(self) -> set[str]:
        """Keys that two quantities have, where a name inside a record holds a dot."""
        return {key for key, times in Counter(key for key, _ in self._walked).items() if times > 1}

    def resolve(self, key: str, place: str) -> Quantity:
        """The quantity of a key; an unknown one names the nearest keys."""
        found = self.quantities.get(key)
        if found is None:
            raise self.refuse_unknown(key, place)
        if key in self.repeated:
            cure = "rename one: a name inside it holds a dot"
            raise Refusal(place, f"two quantities have the key {key!r}", observed=self.paths[key.partition(".")[0]], cure=cure)
        if not PLAIN.fullmatch(key):
            raise Refusal(place, f"LaTeX cannot read the key {key!r}", expected="plain letters, digits, points, underscores", cure="rename it in the record")
        return parse_model(Quantity, found, f"{place}: {key}")

    def refuse_unknown(self, key: str, place: str) -> Refusal:
        """Why a key names no quantity: its record is absent, it ends above one, or nothing has that name."""
        name, _, path = key.partition(".")
        if path and name in self.records and self.records[name] is None:
            what = f"key {key!r} needs a record that is absent or unreadable"
            return Refusal(place, what, observed=self.paths[name], cure="rerun the stage that writes it")
        nearest = f"nearest keys: {', '.join(self.nearest(key)) or 'none'}"
        if name not in self.records or not path:
            return Refusal(place, f"no value for key {key!r}", observed=nearest, cure="correct the key")
        try:
            find_quantity(self.records[name], path, place)
            what = f"no quantity at key {path!r}"
        except Refusal as refusal:
            what = refusal.what
        return Refusal(place, what, observed=nearest, cure="correct the key, or rerun the stage that writes it")

    def nearest(self, key: str) -> list[str]:
        """The keys most like a mistyped one: by their letters, and those that end in the same name; looked for once, a tenth of a second each."""
        if key not in self._nearest:
            self._nearest[key] = self._look_for(key)
        return self._nearest[key]

    @cached_property
    def _nearest(self) -> dict[str, list[str]]:
        return {}

    def _look_for(self, key: str) -> list[str]:
        leaf = key.rpartition(".")[2]
        close = get_close_matches(key, list(self.quantities), n=SHOWN, cutoff=0.6)
        namesakes = get_close_matches(key, [other for other in self.quantities if other.rpartition(".")[2] == leaf], n=SHOWN, cutoff=0)
        return list(dict.fromkeys([*close[:1], *namesakes, *close]))[:SHOWN] or get_close_matches(key, list(self.quantities), n=1, cutoff=0.45)
