"""Groups of a scale's parameters that belong to one experiment each."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from audit.records import Frozen
from rankcollapse.fields import Positive, Rising, Role, Share, Steps


class WeakGrid(Frozen):
    """Skip scales among which calibration looks for the weak one of each depth, and the shares of recoveries it should lie between."""

    shallow: Rising[Share]
    deep: Rising[Share]
    low: Share = 0.3
    high: Share = 0.7


class Intact(Frozen):
    """Drivers that leave the skip connection intact: a weight-decay ramp after the warm-up, and initialisation gains."""

    decay: Positive = 10.0
    """The weight decay that the ramp goes up to."""
    ramp: Steps
    hold: Annotated[int, Field(ge=0)]
    gains: Rising[Positive] = (4.0, 8.0, 16.0)
    gain_steps: Steps
    readings: tuple[str, ...] = ()
    """What is measured beside rank, residual and loss: names of measure.READINGS."""


class Bursts(Frozen):
    """Learning-rate bursts on healthy networks of one depth, and what follows them."""

    role: Role = "deep"
    start: Steps
    """Step at which the networks are healthy and the burst begins."""
    updates: Steps
    multipliers: Rising[Positive]
    """The first at whose end every development network is collapsed is m1."""
    second: Positive = 2.0
    """m2 over m1."""
    after: Steps
    measure: Steps = 2
    measure_after: Steps = 10


class Spectral(Frozen):
    """Networks without query-key normalisation under learning rates that collapse their attention, and what should prevent it."""

    role: Role = "shallow"
    steps: Steps
    warm: Steps
    """Steps over which the arm with warm-up raises its rate."""
    rates: Rising[Positive]
    """Highest learning rates among which development looks for one under which some networks crash and some do not."""
    lower: Share = 0.25
    """Share of the chosen rate in the arm that asks whether a lower one does as well as a cap."""
    taus: Rising[Positive]
    """Caps of AdamW2, over the ratio of spectral norms."""
    logit_limit: Positive = 100.0
    """Largest logit that QK-clip leaves."""
    at: Steps
    """Step at which a crash is foretold."""
    measure: Steps = 20
    closely: Steps = 120
    """Step up to which the attention of the plain arm is read as often as losses are."""
    later: Steps = 40
    """Steps between two readings after that."""
    learned: Positive = 0.1
    """A network has learnt once its loss lies so many nats below that of the unigram distribution."""
    rise: Positive = 0.5
    """Nats above its smallest loss from which a network that had learnt has crashed."""
    few: Steps = 8
    """Networks that every arm gets; the arm whose crashes are foretold gets the whole set."""
    learn: Annotated[int, Field(ge=0)] = 0
    """Steps at a gentle rate before the schedule begins, at its highest rate; 0 where it begins with the first weights."""
    gentle: Positive = 1e-3
    """That rate."""
    hold: Annotated[int, Field(ge=0)] = 0
    """Steps at the highest rate before it decays."""

    @model_validator(mode="after")
    def foretold_before_the_end(self) -> Spectral:
        if not self.at < self.steps or not self.warm < self.steps or not self.hold < self.steps:
            raise ValueError(f"at, warm and hold below steps ({self.steps})")
        return self


class Restart(Spectral):
    """Networks of a shape of their own that have learnt at a gentle rate, and go on at one that throws them back."""

    depth: Steps
    init_std: Positive
    batch: Steps


class Study(Frozen):
    """What the whole study adds to a scale."""

    delays: Rising[Steps]
    """Steps at the floor before the delayed switches."""
    delayed_skip: Annotated[float, Field(gt=0, le=1)] = 0.3
    near_floor: Annotated[int, Field(ge=0)] = 20
    """Drivers and their controls are measured at every step that is within so many of the ramp's end."""
    readings: tuple[str, ...] = ("cosine",)
    """Markers of the collapse along the ramp: names of measure.READINGS."""
    replays: Rising[Steps] = (4, 20)
    """Updates after a switch at which the network is looked at again."""
    epsilon: Positive = 1e-12
    """Adam's epsilon in the arm that asks whether it holds the collapsed networks."""
    weak: WeakGrid
    intact: Intact
    bursts: Bursts


class Pure(Frozen):
    """Untrained attention: how many draws of how large networks are looked at."""

    draws: Steps = 3
    tokens: Rising[Annotated[int, Field(ge=4)]] = (16, 64, 256)
    """Sequence lengths."""
    width: Annotated[int, Field(ge=16)] = 64
    depth: Annotated[int, Field(ge=10)] = 24
    deep: Annotated[int, Field(ge=20)] = 200
    """Layers of the normalised networks, and of the text's demonstration carried on."""
    exact: Annotated[int, Field(ge=4)] = 7
    """Layers followed in many digits; a layer more asks for three times as many."""
    digits: Annotated[int, Field(ge=50)] = 800
