"""Which runs each experiment consists of."""

from __future__ import annotations

from collections.abc import Sequence

from rankcollapse.engine import Fork, Run, State
from rankcollapse.events import Settled
from rankcollapse.params import Scale
from rankcollapse.schedule import Schedule, constant, ramp_down, ramp_up

SWITCHES = {"switch_03": 0.3, "switch_1": 1.0}
LOSS_ARMS = {"penalty_1x": ("penalty", 1), "penalty_4x": ("penalty", 4), "hinge_1x": ("hinge", 1), "hinge_4x": ("hinge", 4)}
ARMS = ("untreated", "ramp", *SWITCHES, *LOSS_ARMS)


def warm_up(seeds: Sequence[int], scale: Scale) -> list[Run]:
    """The stretch at full skip that a driver and its control share."""
    return [Run(f"warm/{seed}", seed, scale.driver.warm, measure_every=scale.rules.measure_driver) for seed in seeds]


def warmed(seeds: Sequence[int], scale: Scale) -> list[Fork]:
    """Where drivers and controls set out: the networks of `warm_up` at its end."""
    return [Fork(f"warm/{seed}", scale.driver.warm) for seed in seeds]


def drive(seeds: Sequence[int], origins: Sequence[State | Fork], floor: float, scale: Scale, stop: Settled | None) -> list[Run]:
    """From the warmed networks: the skip scale ramped down to the floor and held, until the stop rule or the end of the hold."""
    driver = scale.driver
    skip = ramp_down(driver.warm, driver.ramp, floor)
    return [
        Run(f"driver/{floor:g}/{seed}", seed, driver.ramp + driver.hold, skip, measure_every=scale.rules.measure_driver, stop=stop, origin=state)
        for seed, state in zip(seeds, origins, strict=True)
    ]


def control(seeds: Sequence[int], origins: Sequence[State | Fork], steps: int, scale: Scale) -> list[Run]:
    """Healthy networks on the same data: the skip scale stays at 1."""
    every = scale.rules.measure_driver
    return [Run(f"control/{seed}", seed, steps, measure_every=every, origin=origin) for seed, origin in zip(seeds, origins, strict=True)]


def treat(seed: int, event: State | Fork, floor: float, scale: Scale) -> list[Run]:
    """Every treatment of one saved collapse."""
    plan, rules = scale.branches, scale.rules

    def row(arm: str, steps: int, skip: Schedule, every: int, term: str = "none", added: float = 0.0) -> Run:
        return Run(f"{arm}/{seed}", seed, steps, skip, term, added, every, origin=event)

    reversed_ramp = ramp_up(event.step, plan.ramp_steps, floor)
    return [
        row("untreated", plan.untreated_steps, constant(floor), rules.measure_loss),
        row("ramp", plan.ramp_steps + plan.after_ramp, reversed_ramp, rules.measure_driver),
        *(row(arm, plan.switch_steps, constant(skip), rules.measure_switch) for arm, skip in SWITCHES.items()),
        *(row(arm, plan.loss_steps, constant(floor), rules.measure_loss, term, times * plan.added_loss) for arm, (term, times) in LOSS_ARMS.items()),
    ]


def longest(scale: Scale) -> int:
    """Steps of the longest treatment."""
    plan = scale.branches
    return max(plan.untreated_steps, plan.loss_steps, plan.switch_steps, plan.ramp_steps + plan.after_ramp)
