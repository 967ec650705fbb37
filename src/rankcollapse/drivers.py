"""Drivers of the whole study: the skip ramp watched closely near its floor, and drivers that leave the skip connection intact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankcollapse.engine import Fork, Run, State
from rankcollapse.engine.runs import Cadence
from rankcollapse.events import Settled
from rankcollapse.params import Scale
from rankcollapse.schedule import ramp
from rankcollapse.tables import control, drive, warm_up, warmed


def closely(start: int, scale: Scale) -> Cadence:
    """As drivers are measured, and at every step that is within `near_floor` of the ramp's end."""
    arrived, near, every = scale.driver.warm + scale.driver.ramp, scale.study.near_floor, scale.rules.measure_driver
    return ((start, every), (max(start, arrived - near), 1), (arrived + near, every))


def drive_closely(seeds: Sequence[int], origins: Sequence[State | Fork], floor: float, scale: Scale, stop: Settled | None) -> list[Run]:
    """The drivers of `tables.drive`, measured closely, with the markers of the collapse."""
    rows = drive(seeds, origins, floor, scale, stop)
    return [replace(run, measure_every=closely(run.start, scale), readings=scale.study.readings) for run in rows]


def control_closely(seeds: Sequence[int], origins: Sequence[State | Fork], scale: Scale) -> list[Run]:
    """Healthy networks for as long as a driver may last, measured where drivers are."""
    rows = control(seeds, origins, scale.driver.ramp + scale.driver.hold, scale)
    return [replace(run, measure_every=closely(run.start, scale)) for run in rows]


def leave_intact(seeds: Sequence[int], scale: Scale) -> list[Run]:
    """Source paper, appendix C: a weight-decay ramp after the warm-up, and initialisation gains; the skip scale stays at 1.

    The warm-ups come first: they show how large the readings are in a healthy network.
    """
    plan, rules = scale.study.intact, scale.rules
    decay = ramp(scale.driver.warm, plan.ramp, scale.optimiser.weight_decay, plan.decay)
    warm = [replace(run, readings=plan.readings) for run in warm_up(seeds, scale)]
    ramps = [
        Run(f"decay/{seed}", seed, plan.ramp + plan.hold, weight_decay=decay, measure_every=rules.measure_driver, readings=plan.readings, origin=origin)
        for seed, origin in zip(seeds, warmed(seeds, scale), strict=True)
    ]
    gains = [
        Run(f"gain_{gain:g}/{seed}", seed, plan.gain_steps, gain=gain, measure_every=rules.measure_driver, readings=plan.readings)
        for seed in seeds
        for gain in plan.gains
    ]
    return [*warm, *ramps, *gains]
