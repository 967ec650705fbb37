"""The arms that one saved collapse can get, and the runs they stand for.

Source paper, sections 3 and 7 and appendix C: added losses clipped and unclipped, the untreated copy, the reversed ramp, and skip
scales set back at once or after a delay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from audit.records import Refusal
from rankcollapse import tables
from rankcollapse.engine import Fork, Run, State
from rankcollapse.params import Scale, SetArms, Study
from rankcollapse.schedule import constant, ramp_up
from rankcollapse.tables import LOSS_ARMS


@dataclass(frozen=True)
class Added:
    """An added loss: the term, how many times the matched loss, and whether its gradient is exempt from clipping."""

    term: str
    times: int
    exempt: bool = False


SWITCHES = {**tables.SWITCHES, "switch_06": 0.6}
WEAK = "switch_weak"
ADDED = {
    **{arm: Added(*row) for arm, row in LOSS_ARMS.items()},
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

    def row(self, arm: str, steps: int, skip: float, every: int, **more) -> Run:
        """One arm's run at a fixed skip scale, from the saved collapse unless `more` says otherwise."""
        return Run(f"{arm}/{self.seed}", self.seed, steps, constant(skip), measure_every=every, **{"origin": self.origin} | more)


def whole(scale: Scale) -> Study:
    """The scale's values for the whole study; one without them is refused."""
    if scale.study is None:
        raise Refusal("params.yaml", "this scale has no values for the whole study", expected="scales.<scale>.study")
    return scale.study


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
    """The switch after so many further steps at the floor: it leaves the untreated branch, which has trained them already."""
    skip = whole(site.scale).delayed_skip
    return replace(switched(site, f"delay_{number}", skip), origin=aged(site, number))


def aged(site: Site, number: int) -> Fork:
    """Where the untreated branch is after the delay of that number; the first is 1."""
    return Fork(f"untreated/{site.seed}", site.origin.step + whole(site.scale).delays[number - 1])


def pushed(site: Site, arm: str, added: Added) -> Run:
    """A loss is added while the skip scale stays at the floor."""
    nats = added.times * site.scale.branches.added_loss
    return site.row(
        arm, site.scale.branches.loss_steps, site.floor, site.scale.rules.measure_loss, term=added.term, added=nats, exempt=added.exempt
    )  # fmt: skip


def list_arms(scale: Scale) -> dict[str, Callable[[Site], Run]]:
    """Name -> what builds the run, of every arm there is at this scale."""
    numbers = range(1, len(whole(scale).delays) + 1)
    return {
        "untreated": untreated,
        "ramp": reversed_ramp,
        WEAK: lambda site: switched(site, WEAK, site.weak),
        **{arm: partial(switched, arm=arm, skip=skip) for arm, skip in SWITCHES.items()},
        **{f"delay_{number}": partial(delayed, number=number) for number in numbers},
        **{arm: partial(pushed, arm=arm, added=added) for arm, added in ADDED.items()},
    }


def arms_of(scale: Scale, name: str) -> SetArms:
    """The arms of a seed set, all of them known."""
    given, known = scale.arms, list_arms(scale)
    if name not in given:
        raise Refusal("params.yaml", f"no arms for the seed set {name!r}", expected=", ".join(given))
    strange = [arm for arm in (*given[name].every, *given[name].few) if arm not in known]
    if strange:
        raise Refusal("params.yaml", f"arms.{name} names no arm", expected=", ".join(known), observed=", ".join(strange))
    return given[name]


def treat(sites: Sequence[Site], arms: SetArms) -> list[Run]:
    """Every arm of every collapse, the descriptive ones of the first collapses only.

    Collapse by collapse, the longest run first, so that a further seed leaves the blocks before it as they are.
    """
    rows = []
    for index, site in enumerate(sites):
        known = list_arms(site.scale)
        names = arms.every + (arms.few if index < arms.few_events else ())
        rows += sorted((known[name](site) for name in names), key=lambda run: -run.steps)
    return rows


def pauses(sites: Sequence[Site], arms: SetArms) -> list[Run]:
    """Runs of no step: the collapses at the moment of each delayed switch, whose states the path is read from."""
    return [
        site.row(f"paused_{number}", 0, site.floor, site.scale.rules.measure_loss, origin=aged(site, number))
        for site in sites
        for number in range(1, len(whole(site.scale).delays) + 1)
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
    for arm in ("switch_03", "switch_1"):
        origin, done = site.origin, 0
        for updates in whole(site.scale).replays:
            name = f"replay_{arm.removeprefix('switch_')}_{updates}"
            rows.append(site.row(name, updates - done, SWITCHES[arm], site.scale.rules.measure_switch, origin=origin))
            origin, done = Fork(rows[-1].name, rows[-1].end), updates
    return rows
