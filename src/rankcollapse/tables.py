"""Which runs each experiment consists of."""

from __future__ import annotations

from collections.abc import Sequence

from rankcollapse.engine import Fork, Run, State
from rankcollapse.events import Settled
from rankcollapse.params import Scale
from rankcollapse.schedule import ramp_down


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
