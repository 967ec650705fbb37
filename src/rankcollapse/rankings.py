"""Which registered predictions rank, read from the form they are written in, and what that form leaves out; no outcome is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from audit.records import Refusal

Form = Literal["correlation", "order", "warning"]
"""Spearman's correlation within strata; Page's L over columns; area under the curve (Mann-Whitney) within strata."""
LEAVES: Mapping[str, Form] = {"rho": "correlation", "L": "order", "auc": "warning"}
"""How the key of a metric ends, after its last dot or underscore -> what it is."""
BRANCHED = ("test1",)
"""First word of a key: strata are depths at each ranked delay, with the same networks at every delay."""
DELAYED = ("delay", "ageing")
"""First word of a key: the columns of Page's L are no delay and every delay."""
RIVAL = 0.4
"""True correlation given to a rival, as the registration of the path says."""
SILENT = ("test1.rho_hinge.rho",)
"""A metric that is itself the rival, and says nothing where the prediction is true; what it is compared with is the predictor."""
STRICT = 1e-6
"""What a bound is raised by where it must be passed and not reached: less than a step of any rank statistic."""
POWER = "results/power/power.json"
"""The record of powers: a registration that freezes it was sealed with it."""


@dataclass(frozen=True)
class Ranking:
    """One prediction that ranks: its units, and what it asks of the statistic, which is turned so that more is as predicted."""

    registration: str
    prediction: str
    form: Form
    strata: int
    """Strata, or rows of Page's L."""
    units: int
    """Units of a stratum, or columns of Page's L."""
    branches: int = 1
    """Strata that hold branches of the same networks, permuted together."""
    bound: float | None = None
    """The statistic must reach it."""
    level: float | None = None
    """The p must be within it."""
    rivals: tuple[float, ...] = ()
    """True correlations of the rivals that must be beaten."""
    frozen: bool = False
    """Whether the registration's seal holds the record of powers."""


def find_rankings(registrations: Mapping[str, Any], delays: int) -> tuple[Ranking, ...]:
    """Every prediction that ranks, of registrations as plain values by id, in their order; `delays` are those of the study, without none."""
    return tuple(
        found
        for name, registration in registrations.items()
        for prediction in registration["predictions"]
        if (found := read_ranking(name, registration, prediction, seed_counts(registrations, name), delays)) is not None
    )


def seed_counts(registrations: Mapping[str, Any], name: str) -> Mapping[str, int]:
    """Seeds by set, of the registration whose seal gives them; Refusal where that is not there."""
    owner = registrations[name]["seeds"].get("same_as", name)
    if owner not in registrations:
        raise Refusal(f"prereg/{name}.yaml", "shares the seeds of a registration that is not there", expected=f"prereg/{owner}.yaml")
    return registrations[owner]["seeds"].get("sets", {})


def read_ranking(name: str, registration: Any, prediction: Any, sets: Mapping[str, int], delays: int) -> Ranking | None:
    """What one prediction ranks, or None where it ranks nothing; Refusal where its population does not follow."""
    key, parts = prediction["metric"]["key"], list(list_parts(prediction))
    form = form_of(key, parts)
    if form is None:
        return None
    population = prediction.get("population") or {}
    seeds, depths = sets.get(population.get("set")), len(population.get("depths", (None,)))
    if not seeds or not depths:
        expected = f"population.set, one of {', '.join(sets) or 'none'}"
        raise Refusal(f"prereg/{name}.yaml", f"{prediction['id']} ranks, and its population is not known", expected=expected)
    strata, units, branches = shape_of(form, key, seeds, depths, delays, whole=any("rank_correlation" in part for part in parts))
    own = [part for part in parts if part.get("key", key) == key]
    level = next((float(part["value"]) for part in parts if is_p(part.get("key", "")) and part.get("op") == "<="), None)
    if form == "order" and level is None:
        raise Refusal(f"prereg/{name}.yaml", f"{prediction['id']} names Page's L without a p", expected="a part with the key of its p, and op <=")
    rivals = (0.0,) if key in SILENT else (RIVAL,) * (0 if form == "order" else sum(count_rivals(part) for part in own))
    if branches > 1 and rivals and level is not None:
        raise Refusal(f"prereg/{name}.yaml", f"{prediction['id']} asks for a p and for rivals over branches at once", expected="two predictions")
    sign = -1 if any(str(part.get("op")).startswith("<") for part in own) else 1
    return Ranking(
        name, prediction["id"], form, strata, units, branches,
        bound=next((sign * float(part["value"]) + (STRICT if part["op"] in ("<", ">") else 0.0) for part in own if "value" in part), None),
        level=level,
        rivals=rivals,
        frozen=POWER in (registration.get("freezes") or {}).get("outputs", ()),
    )  # fmt: skip


def list_parts(prediction: Any) -> Iterator[Mapping[str, Any]]:
    """The comparisons that must hold, one or several."""
    comparator = prediction["comparator"]
    yield from comparator.get("all", [comparator])


def form_of(key: str, parts: list[Mapping[str, Any]]) -> Form | None:
    """What a metric is that ranks: by its comparator, else by how its key ends."""
    if any("rank_correlation" in part for part in parts):
        return "correlation"
    return LEAVES.get(key.rpartition(".")[2].rpartition("_")[2])


def shape_of(form: Form, key: str, seeds: int, depths: int, delays: int, *, whole: bool) -> tuple[int, int, int]:
    """Strata, units of each, and strata that share networks; Refusal where nothing says how many columns Page's L has."""
    first = key.partition(".")[0]
    if form == "order":
        if first not in DELAYED:
            raise Refusal(key, "is Page's L over columns that are not known", expected=f"a key that begins with {' or '.join(DELAYED)}")
        return seeds * depths, delays + 1, 1
    if whole:
        return 1, seeds * depths, 1
    branches = delays if first in BRANCHED else 1  # none, and all delays but the shortest
    return depths * branches, seeds, branches


def is_p(key: str) -> bool:
    """Whether a key names a permutation p."""
    leaf = key.rpartition(".")[2]
    return leaf == "p" or leaf.startswith("p_") or leaf.endswith("_p")


def count_rivals(part: Mapping[str, Any]) -> int:
    """How many other quantities a comparison names."""
    than = part.get("than", ())
    return 1 if isinstance(than, str) else len(than)
