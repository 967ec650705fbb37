"""`params.yaml` as frozen models: what is misspelt, missing or of the wrong type is refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from audit.records import Frozen, Refusal, parse_model, read_yaml
from rankcollapse.fields import ROLES as ROLES
from rankcollapse.fields import Role as Role
from rankcollapse.fields import Seeds, Share, Steps, refuse_twins
from rankcollapse.groups import Pure, Restart, Spectral, Study
from rankcollapse.machines import Fanout, Hardware

STORE = Path(".checkpoints")
"""Where stacks lie until the record they lead to is written: a folder a stage."""
STUDIES = {"spectral": "attention", "restart": "restart_attention"}
"""A study of attention's spectra, which is the seed set of its runs and its group of parameters -> the set of its development."""
REGISTERED = ("main", "replication", "bursts", "spectral", "restart")
"""Seed sets that may name a registration; a list in their place is an override, at every scale."""
class Data(Frozen):
    """Where the text comes from and how its documents are divided."""

    source: Literal["encyclopedia", "fineweb-edu"]
    vocabulary: int = Field(ge=257)
    documents: Steps
    """At most this many documents are read, in the corpus's own order."""
    shards: tuple[str, ...] = ()
    train: Share
    probe: Share
    unseen: Share


class Model(Frozen):
    """The shape of a network; the depth comes from its role."""

    width: Steps
    heads: Steps
    context: Annotated[int, Field(ge=2)]
    init_std: float = Field(gt=0)

    @model_validator(mode="after")
    def heads_divide_width(self) -> Model:
        if self.width % self.heads:
            raise ValueError(f"a width that heads divide ({self.width} / {self.heads} leaves a rest)")
        return self


class Depths(Frozen):
    """Blocks per role; claims are compared by role, never by depth number."""

    shallow: Steps
    deep: Steps


class Optimiser(Frozen):
    """AdamW and clipping, per run."""

    learning_rate: float = Field(gt=0)
    beta1: Share
    beta2: Share
    epsilon: float = Field(gt=0)
    weight_decay: float = Field(ge=0)
    clip: float = Field(gt=0)


class Probe(Frozen):
    """Sequences of the fixed probe batches: for the rank, and for gradients."""

    rank_sequences: Steps
    gradient_sequences: Steps


class Driver(Frozen):
    """The skip scale: 1 for `warm` steps, linearly to the floor over `ramp`, then held."""

    warm: Steps
    ramp: Steps
    hold: Steps
    floors: tuple[float, ...]
    """The calibration's grid, from weak to strong."""

    @field_validator("floors")
    @classmethod
    def descending(cls, floors: tuple[float, ...]) -> tuple[float, ...]:
        if not floors or list(floors) != sorted(set(floors), reverse=True) or not all(0 <= floor < 1 for floor in floors):
            raise ValueError("different floors in [0, 1), largest first")
        return floors


class Rules(Frozen):
    """Detection, settling and recovery; thresholds are shares of the healthy rank that calibration measures."""

    collapse: Share
    """Collapsed below this share of the healthy rank."""
    recover: Share
    """Recovered at this share of the healthy rank."""
    effective: Share
    """An effective recovery also has the relative residual at this share of the healthy one."""
    settle_after: Steps
    settle_window: Steps
    recover_window: Steps
    recover_hold: Annotated[int, Field(ge=0)]
    measure_driver: Steps
    measure_switch: Steps
    measure_loss: Steps
    tolerance: float = Field(ge=0)
    """Share of the range between units within which a trained quantity agrees with an earlier one."""


class Branches(Frozen):
    """Budgets of the treatments, in steps, and the matched added loss, in nats."""

    added_loss: float = Field(gt=0)
    loss_steps: Steps
    switch_steps: Steps
    ramp_steps: Steps
    after_ramp: Steps
    untreated_steps: Steps


class ScaleSeeds(Frozen):
    """Lists that stand in for those of the whole file at one scale, where no registration holds."""

    calibration: Seeds
    main: Seeds
    replication: Seeds
    bursts: Seeds
    development: Seeds
    """Networks that choose the multipliers of the bursts."""
    intact: Seeds
    """Networks of the drivers that leave the skip connection intact."""
    attention: Seeds
    """Networks that choose learning rate and cap of the study of attention's spectra."""
    spectral: Seeds
    """Networks of that study."""
    restart_attention: Seeds
    """Networks that choose learning rate and cap of the study of restarts."""
    restart: Seeds
    """Networks of that study."""
    twins = field_validator("*")(lambda seeds: refuse_twins(seeds) if isinstance(seeds, tuple) else seeds)


class SeedSets(ScaleSeeds):
    """A list of seeds (exploratory), or the id of the registration whose seal they derive from."""

    main: Seeds | str
    replication: Seeds | str
    bursts: Seeds | str
    spectral: Seeds | str
    restart: Seeds | str


class SetArms(Frozen):
    """The arms that a seed set's saved collapses get, by the names of `treatments.py`."""

    every: tuple[str, ...]
    few: tuple[str, ...] = ()
    """Descriptive arms, of the set's first collapses only."""
    few_events: Steps = 2


class Scale(Frozen):
    """All values of one scale."""

    data: Data
    model: Model
    depths: Depths
    optimiser: Optimiser
    batch: Steps
    stack: Steps
    """Runs trained in lockstep in one process; a fixed block, never derived from the machine."""
    checkpoint_seconds: float = Field(ge=0)
    probe: Probe
    driver: Driver
    rules: Rules
    branches: Branches
    seed_sets: ScaleSeeds | None = None
    hardware: Hardware = Hardware()
    fanout: Fanout = Fanout()
    """Filled in from the top of the file."""
    arms: dict[str, SetArms] = {}
    """By seed set; filled in from the top of the file."""
    study: Study
    spectral: Spectral
    restart: Restart
    pure: Pure = Pure()

    def arms_of(self, name: str) -> SetArms:
        """The arms of a seed set."""
        if name not in self.arms:
            raise Refusal("params.yaml", f"no arms for the seed set {name!r}", expected=", ".join(self.arms))
        return self.arms[name]

    def study_of(self, name: str) -> Scale:
        """The scale as a study of attention's spectra sees it: its plan as `spectral`, and networks of that plan's shape."""
        if name == "spectral":
            return self
        plan = self.restart
        own = {"model": self.model.model_copy(update={"init_std": plan.init_std}), "depths": self.depths.model_copy(update={plan.role: plan.depth})}
        return self.model_copy(update={"spectral": plan, "batch": plan.batch, **own})


class Scales(Frozen):
    """The three sizes of the study."""

    smoke: Scale
    laptop: Scale
    paper: Scale


class Params(Frozen):
    """The whole of `params.yaml`."""

    scale: Literal["smoke", "laptop", "paper"]
    seed_sets: SeedSets
    scales: Scales
    fanout: Fanout = Fanout()
    arms: dict[str, SetArms]

    @property
    def chosen(self) -> Scale:
        """The values of the scale in use."""
        return getattr(self.scales, self.scale).model_copy(update={"fanout": self.fanout, "arms": self.arms})

    def seed_set(self, name: str) -> tuple[int, ...] | str:
        """A set's seeds, or the registration they derive from; the scale's own list replaces a registration's id."""
        value = getattr(self.seed_sets, name, None)
        if value is None:
            raise Refusal("params.yaml", f"no seed set {name!r}", expected=", ".join(SeedSets.model_fields))
        own = getattr(self.chosen.seed_sets, name, None)
        return own if own is not None and (isinstance(value, str) or name not in REGISTERED) else value


def load_params(path: Path = Path("params.yaml")) -> Params:
    """Read and check `params.yaml`; the first fault is one line with its key."""
    return parse_model(Params, read_yaml(path), path)
