"""The arms of the study of attention's spectra, and the runs that they stand for (the note on spectral energy and AdamW2).

No network normalises its queries and keys, but for one arm; all start at the highest learning rate of a cosine decay, but for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankcollapse.adamw2 import ITERATIONS
from rankcollapse.engine import Fork, Run, State
from rankcollapse.groups import Spectral
from rankcollapse.model import Shape
from rankcollapse.params import Scale
from rankcollapse.plan import count_flops
from rankcollapse.schedule import constant, cosine_decay
from rankcollapse.spectral_tests import CAPPED, FORETOLD, LOWER, PLAIN, WARM_UP

TAUGHT = 20
"""Steps between two measurements while networks learn at a gentle rate."""
NONE: Mapping[int, Any] = {}
"""What was learnt before an arm that begins with the first weights."""


@dataclass(frozen=True)
class Arm:
    """What sets an arm apart."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    """Of its runs."""
    warm: int = 0
    """Steps of warm-up."""
    share: float = 1.0
    """Of the highest learning rate."""

    @property
    def taught(self) -> str:
        """How the arm's networks treat queries and keys while they learn at a gentle rate: as ever after, where it changes what they compute."""
        return "rms" if self.fields.get("query_key") == "rms" else "none"


def name_cap(place: int) -> str:
    """The arm of AdamW2 under a cap, by its place in the grid from 1 on."""
    return f"{CAPPED}_{place}"


def list_caps(plan: Spectral) -> dict[str, Arm]:
    """AdamW2 without warm-up under every cap of the grid."""
    return {name_cap(place): Arm({"optimiser": "adamw2", "tau": tau}) for place, tau in enumerate(plan.taus, 1)}


def list_arms(plan: Spectral) -> dict[str, Arm]:
    """Every arm by name."""
    return {
        PLAIN: Arm(),
        WARM_UP: Arm(warm=plan.warm),
        LOWER: Arm(share=plan.lower),
        **list_caps(plan),
        "sigma": Arm({"optimiser": "sigma"}),
        "qk_norm": Arm({"query_key": "rms"}),
        "qk_clip": Arm({"query_key": "clip", "logit_limit": plan.logit_limit}),
    }


def teach(seeds: Sequence[int], scale: Scale, query_key: str = "none") -> list[Run]:
    """The stretch at a gentle rate by which every network has learnt when its arm begins; none where arms begin with the first weights."""
    plan = scale.spectral
    shared = {"query_key": query_key, "learning_rate": constant(plan.gentle), "measure_every": TAUGHT, "readings": FORETOLD}
    return [Run(f"learnt_{query_key}/{seed}", seed, plan.learn, **shared) for seed in seeds] if plan.learn else []


def make_runs(
    name: str, arm: Arm, rate: float, seeds: Sequence[int], scale: Scale, foretold: bool, learnt: Mapping[int, State | Fork] = NONE
) -> list[Run]:  # fmt: skip
    """An arm's runs at one highest learning rate, all measured at the same steps, since a crash is read from what is measured.

    They go on from what was `learnt`, by seed, if anything was. Those whose crash is foretold come in two stretches, so that the state at
    the warning is at hand.
    """
    plan = scale.spectral
    begin, warning = plan.learn, plan.learn + plan.at
    schedule = cosine_decay(arm.share * rate, plan.steps, arm.warm, hold=plan.hold, start=begin)
    shared = {"query_key": "none", **arm.fields, "learning_rate": schedule} | ({"readings": FORETOLD} if foretold else {})
    early, late = (begin, plan.measure), ((warning, plan.measure), (begin + max(plan.closely, plan.at), plan.later))
    if not foretold:
        return [Run(f"{name}/{seed}", seed, plan.steps, measure_every=(early, *late), origin=learnt.get(seed), **shared) for seed in seeds]
    runs = []
    for seed in seeds:
        runs.append(Run(f"{name}_start/{seed}", seed, plan.at, measure_every=(early,), origin=learnt.get(seed), **shared))
        runs.append(Run(f"{name}/{seed}", seed, plan.steps - plan.at, origin=Fork(f"{name}_start/{seed}", warning), measure_every=late, **shared))
    return runs


def count_extra(shape: Shape, batch: int) -> dict[str, float]:
    """Operations that an arm adds to a step over those of the matrix products, by kind of arm; what is done number by number is not counted.

    AdamW2: two power iterations on every matrix and its update, 8 operations a weight each time. Sigma-reparametrisation: one on every
    projection, and its gradient through sigma, 12 a weight. QK-clip: queries, keys and their products once more.
    """
    tokens, base, projections = batch * shape.context, count_flops(shape, batch), 12 * shape.depth * shape.width**2
    clip = shape.depth * (2 * tokens * 2 * shape.width**2 + 2 * batch * shape.context**2 * shape.width)
    return {CAPPED: 8 * ITERATIONS * shape.matrices / base, "sigma": 12 * projections / base, "qk_clip": clip / base}
