"""What ages while a network is collapsed: origins for swaps of weight groups, an optimiser reset, and a stretch without weight decay."""

from __future__ import annotations

from dataclasses import replace

import torch

from rankcollapse.engine import Fork, Run, State
from rankcollapse.schedule import constant
from rankcollapse.treatments import Site, switched, untreated, whole


def reset_moments(state: State) -> State:
    """The same network with the optimiser's moments at zero.

    The bias correction goes on at the run's own step, so the first update is at most (1 - beta1) / sqrt(1 - beta2) of the learning rate.
    """
    return replace(state, moment1=torch.zeros_like(state.moment1), moment2=torch.zeros_like(state.moment2))


def age(site: Site, aged: State | Fork) -> list[Run]:
    """Two arms of the switch after the longest delay, each beside the delayed switch of the main arms.

    `reset` sets out from the aged network whose moments `reset_moments` has emptied; `decay_0` ages without weight decay, which is back
    from the switch on.
    """
    study = whole(site.scale)
    stretch = replace(untreated(site), name=f"aged_decay_0/{site.seed}", steps=study.delays[-1], weight_decay=constant(0.0))
    return [
        stretch,
        replace(switched(site, "decay_0", study.delayed_skip), origin=Fork(stretch.name, stretch.end)),
        replace(switched(site, "reset", study.delayed_skip), origin=aged),
    ]
