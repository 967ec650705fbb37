"""The arms that one saved collapse can get, and the runs they stand for.

Source paper, sections 3 and 7 and appendix C: added losses clipped and unclipped, the untreated copy, the reversed ramp, and skip
scales set back at once or after a delay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch

from audit.records import Refusal
from rankcollapse.engine import Fork, Run, State
from rankcollapse.params import Scale, SetArms
from rankcollapse.schedule import constant, ramp_up


@dataclass(frozen=True)
class Added:
    """An added loss: the term, how many times the matched loss, and whether its gradient is exempt from clipping."""

    term: str
    times: int
    exempt: bool = False


READ = {"switch_03": 0.3, "switch_1": 1.0}
"""Switches whose path is read before any update, and whose first updates are replayed."""
SWITCHES = READ | {"switch_06": 0.6}
WEAK = "switch_weak"
AGED = {"decay_0": "aged_decay_0", "reset": "reset"}
"""Switches after the longest delay that ask what ages: the arm, and the network that it sets out from."""
EPSILON = "epsilon"
"""The untreated copy with a smaller epsilon of Adam, which would let a query-key gradient below it move the weights."""
ADDED = {
    "penalty_1x": Added("penalty", 1),
    "penalty_4x": Added("penalty", 4),
    "hinge_1x": Added("hinge", 1),
    "hinge_4x": Added("hinge", 4),
    "cosine_1x": Added("cosine", 1),
    "penalty_1x_unclipped": Added("penalty", 1, exempt=True),
    "hinge_1x_unclipped": Added("hinge", 1, exempt=True),
    "hinge_4x_unclipped": Added("hinge", 4, exempt=True),
    "hinge_10x_unclipped": Added("hinge", 10, exempt=True),
}


@dataclass(frozen=True)
class Site:
    """One saved collapse: where its arms set out, the floor it collapsed at, and the weak skip scale of its depth."""

    seed: int
    origin: State | Fork
    floor: float
    weak: float
    scale: Scale
    aged: Mapping[str, State | Fork] = field(default_factory=dict)
    """Networks that stayed at the floor, by the run that left them; a plan has none and forks the untreated branch."""

    def pause(self, number: int) -> Fork:
        """Where the untreated branch is after the delay of that number; the first is 1, the last 0."""
        return Fork(f"untreated/{self.seed}", self.origin.step + self.scale.study.delays[number - 1])

    def after(self, name: str, number: int) -> State | Fork:
        """The network that a run left after the delay of that number at the floor."""
        return self.aged.get(name) or self.pause(number)

    def row(self, arm: str, steps: int, skip: float, every: int, **more) -> Run:
        """One arm's run at a fixed skip scale, from the saved collapse unless `more` says otherwise."""
        return Run(f"{arm}/{self.seed}", self.seed, steps, constant(skip), measure_every=every, **{"origin": self.origin} | more)


def untreated(site: Site) -> Run:
    """The skip scale stays at the floor, and nothing is added."""
    return site.row("untreated", site.scale.branches.untreated_steps, site.floor, site.scale.rules.measure_loss)


def reversed_ramp(site: Site) -> Run:
    """The skip scale goes up as slowly as `ramp_steps` says, and stays at 1."""
    plan = site.scale.branches
    still = site.row("ramp", plan.ramp_steps + plan.after_ramp, site.floor, site.scale.rules.measure_loss)
    return replace(still, skip=ramp_up(site.origin.step, plan.ramp_steps, site.floor))


def switched(site: Site, arm: str, skip: float) -> Run:
    """The skip scale is set to a fixed value at once."""
    return site.row(arm, site.scale.branches.switch_steps, skip, site.scale.rules.measure_switch)


def delayed(site: Site, number: int) -> Run:
    """The switch after so many further steps at the floor."""
    skip = site.scale.study.delayed_skip
    return replace(switched(site, f"delay_{number}", skip), origin=site.after(f"paused_{number}", number))


def undecayed(site: Site) -> Run:
    """The stretch of the longest delay without weight decay, which is back from the switch on."""
    return replace(untreated(site), name=f"aged_decay_0/{site.seed}", steps=site.scale.study.delays[-1], weight_decay=constant(0.0))


def rejuvenated(site: Site, arm: str) -> Run:
    """The switch after the longest delay, of a network that aged otherwise."""
    return replace(switched(site, arm, site.scale.study.delayed_skip), origin=site.after(AGED[arm], 0))


def reset_moments(state: State) -> State:
    """The same network with the optimiser's moments at zero.

    The bias correction goes on at the run's own step, so the first update is at most (1 - beta1) / sqrt(1 - beta2) of the learning rate.
    """
    return replace(state, moment1=torch.zeros_like(state.moment1), moment2=torch.zeros_like(state.moment2))


def pushed(site: Site, arm: str, added: Added) -> Run:
    """A loss is added while the skip scale stays at the floor."""
    nats = added.times * site.scale.branches.added_loss
    return site.row(
        arm, site.scale.branches.loss_steps, site.floor, site.scale.rules.measure_loss, term=added.term, added=nats, exempt=added.exempt
    )  # fmt: skip


def list_arms(scale: Scale) -> dict[str, Callable[[Site], Run]]:
    """Name -> what builds the run, of every arm there is at this scale."""
    numbers = range(1, len(scale.study.delays) + 1)
    return {
        "untreated": untreated,
        "ramp": reversed_ramp,
        WEAK: lambda site: switched(site, WEAK, site.weak),
        **{arm: partial(switched, arm=arm, skip=skip) for arm, skip in SWITCHES.items()},
        **{f"delay_{number}": partial(delayed, number=number) for number in numbers},
        "aged_decay_0": undecayed,
        EPSILON: lambda site: replace(untreated(site), name=f"{EPSILON}/{site.seed}"),
        **{arm: partial(rejuvenated, arm=arm) for arm in AGED},
        **{arm: partial(pushed, arm=arm, added=added) for arm, added in ADDED.items()},
    }


def arms_of(scale: Scale, name: str) -> SetArms:
    """The arms of a seed set, all of them known."""
    given, known = scale.arms_of(name), list_arms(scale)
    strange = [arm for arm in (*given.every, *given.few) if arm not in known]
    if strange:
        raise Refusal("params.yaml", f"arms.{name} names no arm", expected=", ".join(known), observed=", ".join(strange))
    return given


def is_switch(arm: str) -> bool:
    """Whether an arm sets the skip scale back at once: those are trained after the path has been read and their outcome forecast."""
    return arm in (WEAK, *SWITCHES, *AGED) or arm.startswith("delay_")


def treat(sites: Sequence[Site], arms: SetArms, wanted: Callable[[str], bool] = lambda _: True) -> list[Run]:
    """Every wanted arm of every collapse, the descriptive ones of the first collapses only; collapse by collapse, the longest run first."""
    rows = []
    for index, site in enumerate(sites):
        known = list_arms(site.scale)
        names = arms.every + (arms.few if index < arms.few_events else ())
        rows += sorted((known[name](site) for name in names if wanted(name)), key=lambda run: -run.steps)
    return rows


def pauses(sites: Sequence[Site], arms: SetArms) -> list[Run]:
    """Runs of no step: the collapses at the moment of each delayed switch, whose states the path is read from."""
    return [
        site.row(f"paused_{number}", 0, site.floor, site.scale.rules.measure_loss, origin=site.pause(number))
        for site in sites
        for number in range(1, len(site.scale.study.delays) + 1)
        if f"delay_{number}" in arms.every
    ]


def accompany(seed: int, healthy: State | Fork, runs: Sequence[Run], scale: Scale) -> Run:
    """The healthy control as far as the seed's last arm goes, measured where each of them ends too."""
    ends = sorted({run.end for run in runs if run.seed == seed and run.end > healthy.step})
    cadence = tuple((step, scale.rules.measure_driver) for step in (healthy.step, *ends))
    return Run(f"control/{seed}", seed, max([1, *(end - healthy.step for end in ends)]), measure_every=cadence, origin=healthy)


def replay(site: Site) -> list[Run]:
    """The first updates after the switches to 0.3 and 1, again from the saved collapse: one run from each look at the network to the next."""
    rows = []
    for arm, skip in READ.items():
        origin, done = site.origin, 0
        for updates in site.scale.study.replays:
            name = f"replay_{arm.removeprefix('switch_')}_{updates}"
            rows.append(site.row(name, updates - done, skip, site.scale.rules.measure_switch, origin=origin))
            origin, done = Fork(rows[-1].name, rows[-1].end), updates
    return rows
