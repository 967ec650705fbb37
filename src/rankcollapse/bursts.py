"""The second cause of a collapse: a burst of high learning rate on healthy networks, the skip connection intact (source paper, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankcollapse.engine import Fork, Run, State
from rankcollapse.params import Scale
from rankcollapse.schedule import burst


def healthy(seeds: Sequence[int], scale: Scale) -> list[Run]:
    """The stretch before the burst, which all multipliers and the control share."""
    return [Run(f"warm/{seed}", seed, scale.study.bursts.start, measure_every=scale.rules.measure_driver) for seed in seeds]


def excursion(seed: int, multipliers: Sequence[float], scale: Scale) -> list[Run]:
    """One network under each multiplier, and its paired control at the base rate, both to the end of the burst."""
    plan, origin = scale.study.bursts, Fork(f"warm/{seed}", scale.study.bursts.start)
    rate = scale.optimiser.learning_rate
    raised = [
        Run(f"burst_{times:g}/{seed}", seed, plan.updates, learning_rate=burst(plan.start, plan.updates, rate, times), measure_every=plan.measure, origin=origin)
        for times in multipliers
    ]
    return [*raised, Run(f"control/{seed}", seed, plan.updates, measure_every=plan.measure, origin=origin)]


def excursions(seeds: Sequence[int], multipliers: Sequence[float], scale: Scale) -> list[Run]:
    """The whole table: healthy networks, their bursts and their controls."""
    return [*healthy(seeds, scale), *(run for seed in seeds for run in excursion(seed, multipliers, scale))]


def go_on(seed: int, ends: Mapping[float, State | Fork], control: State | Fork, scale: Scale) -> list[Run]:
    """What follows a burst, untreated at the base rate: each multiplier's network from its end, and the paired control."""
    plan = scale.study.bursts
    after = [Run(f"after_{times:g}/{seed}", seed, plan.after, measure_every=plan.measure_after, origin=end) for times, end in ends.items()]
    return [*after, Run(f"control/{seed}", seed, plan.after, measure_every=plan.measure_after, origin=control)]


def choose_multiplier(below: Mapping[float, Sequence[bool]]) -> float:
    """m1: the smallest multiplier at whose end every development network lies below the collapse threshold; where none does, the largest."""
    return next((times for times in sorted(below) if all(below[times])), max(below))
