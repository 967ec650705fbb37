"""A table of runs: what the engine trains, as plain values. It knows nothing of drivers or treatments.

A run is an origin, a number of steps, schedules, an added term, an optimiser, and what to measure when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields

import torch

from audit.records import Refusal
from rankcollapse.engine.optimisers import OPTIMISERS
from rankcollapse.events import Settled
from rankcollapse.measure import NETWORK_READINGS, READINGS
from rankcollapse.model import QUERY_KEY, Shape, initialise
from rankcollapse.params import Optimiser
from rankcollapse.schedule import Schedule, constant, find_fault
from rankcollapse.terms import TERMS

TABLES = {"term": TERMS, "optimiser": OPTIMISERS, "query_key": QUERY_KEY}
OWN_READINGS = ("gradient_norm",)
"""What a run may have measured that the training step itself knows: the norm of its last gradient before clipping, 0 before the first."""
Cadence = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class State:
    """One network at rest: weights and the optimiser's moments (P,) and the step it has reached."""

    weights: torch.Tensor
    moment1: torch.Tensor
    moment2: torch.Tensor
    step: int


@dataclass(frozen=True)
class Fork:
    """The state that another run of the table has at a step."""

    run: str
    step: int


@dataclass(frozen=True)
class Run:
    """One row of a table: a network over some steps."""

    name: str
    seed: int
    steps: int
    skip: Schedule = constant(1.0)
    term: str = "none"
    added: float = 0.0
    """Loss in nats that the term adds when it is switched on; its weight is solved for."""
    measure_every: int | Cadence = 10
    """Steps between two measurements, or pairs (from this step on, every so many)."""
    stop: Settled | None = None
    origin: State | Fork | None = None
    """Where the run continues from; without one it starts at the seed's initialisation."""
    learning_rate: Schedule | None = None
    """Instead of the optimiser's."""
    weight_decay: Schedule | None = None
    """Instead of the optimiser's."""
    gain: float = 1.0
    """Factor on the standard deviation of the initial matrices."""
    blocks: tuple[int, ...] | None = None
    """Blocks whose term is added; all of them without."""
    exempt: bool = False
    """Whether the task gradient is clipped alone and the term's added unclipped."""
    optimiser: str = "adamw"
    query_key: str = "rms"
    readings: tuple[str, ...] = ()
    """What is measured beside rank, residual and loss."""
    tau: float = 0.01
    """Most of a matrix's spectral norm by which one step of adamw2 changes it."""
    logit_limit: float = 100.0
    """Where the query_key `clip` holds each head's largest logit (Kimi K2's value)."""

    def __post_init__(self) -> None:
        for name, table in TABLES.items():
            if getattr(self, name) not in table:
                raise Refusal(f"run {self.name}", f"unknown {name} {getattr(self, name)!r}", expected=", ".join(table))
        known = (*READINGS, *NETWORK_READINGS, *OWN_READINGS)
        for reading in self.readings:
            if reading not in known:
                raise Refusal(f"run {self.name}", f"unknown reading {reading!r}", expected=", ".join(known))
        for name in ("tau", "logit_limit"):
            if not getattr(self, name) > 0:
                raise Refusal(f"run {self.name}", f"{name} does not make sense", expected="above 0", observed=str(getattr(self, name)))
        if (self.optimiser, self.query_key) == ("sigma", "clip"):
            raise Refusal(f"run {self.name}", "query_key clip would undo what optimiser sigma holds", cure="take one of them")
        for name in ("skip", "learning_rate", "weight_decay"):
            fault = find_fault(getattr(self, name), self.start, self.end) if getattr(self, name) is not None else ""
            if fault:
                raise Refusal(f"run {self.name}", f"{name} does not fit the run", expected=f"steps {self.start} to {self.end}", observed=fault)

        cadence = self.cadence
        if min(every for _, every in cadence) < 1 or cadence[0][0] > self.start:
            expected = f"at least 1, from step {self.start} on"
            raise Refusal(f"run {self.name}", "measure_every does not fit the run", expected=expected, observed=str(self.measure_every))

    @property
    def cadence(self) -> Cadence:
        """Pairs (from this step on, every so many steps)."""
        return ((self.start, self.measure_every),) if isinstance(self.measure_every, int) else self.measure_every

    @property
    def start(self) -> int:
        """The step the run starts at."""
        return self.origin.step if self.origin else 0

    @property
    def end(self) -> int:
        """The step the run ends at, unless it stops before."""
        return self.start + self.steps

    def is_due(self, step: int) -> bool:
        """Whether a measurement falls on a step: every so many from the run's start (or the cadence's), and at its end."""
        begun, every = next((begun, every) for begun, every in reversed(self.cadence) if begun <= step)
        return step == self.end or (step - begun) % every == 0


@dataclass
class Trajectory:
    """What was measured of a run, one entry a measurement, and what happened once."""

    step: list[int] = field(default_factory=list)
    skip: list[float] = field(default_factory=list)
    rank: list[float] = field(default_factory=list)
    residual: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    at_floor: list[bool] = field(default_factory=list)
    extra: dict[str, list[float]] = field(default_factory=dict)
    term_weight: float = 0.0
    first_added: float = 0.0
    """Loss in nats that the term added on the first training step."""
    clipped: int = 0
    trained: int = 0
    diverged_at: int | None = None


@dataclass(frozen=True)
class Setting:
    """What the runs of a stack share."""

    shape: Shape
    optimiser: Optimiser
    batch: int
    init_std: float
    healthy_q: float
    """s_0 of the hinge: the healthy value of Q; 0 where no term needs it."""
    device: str = "cpu"
    precision: str = "float32"
    """Arithmetic of the trunk on a GPU: `PRECISIONS` of passes.py. Everything measured is float32 or float64."""
    graph: bool = False
    """Whether a GPU's step is captured as one CUDA graph."""


def fresh_state(seed: int, setting: Setting, gain: float = 1.0, query_key: str = "rms") -> State:
    """A seed's initial weights, with empty moments, at step 0."""
    weights = initialise(setting.shape, seed, gain * setting.init_std, query_key)
    return State(weights, torch.zeros_like(weights), torch.zeros_like(weights), 0)


def check_table(label: str, runs: Sequence[Run], shape: Shape) -> None:
    """Refuse a table with two runs of one name, an origin that is not there, or a block there is not."""
    by_name = {run.name: run for run in runs}
    twins = sorted({run.name for run in runs if by_name[run.name] is not run})
    if twins or not runs:
        raise Refusal(label, "a table needs runs of different names", observed=", ".join(twins) or "no run")
    for run in runs:
        strange = [block for block in run.blocks or () if not 0 <= block < shape.depth]
        if strange or run.blocks == ():
            raise Refusal(f"run {run.name}", "no such block", expected=f"0 to {shape.depth - 1}", observed=", ".join(map(str, strange)) or "none")
        if isinstance(run.origin, Fork):
            check_fork(run, run.origin, by_name)


def check_fork(run: Run, fork: Fork, by_name: dict[str, Run]) -> None:
    """Refuse a fork from a run that is not in the table, does not pass the step, or comes from the fork itself."""
    parent = by_name.get(fork.run)
    if parent is None:
        raise Refusal(f"run {run.name}", "origin does not exist", expected="a run of the same table", observed=fork.run)
    if not parent.start <= fork.step <= parent.end:
        raise Refusal(f"run {run.name}", f"origin {fork.run} is never at that step", expected=f"{parent.start} to {parent.end}", observed=str(fork.step))
    if parent.stop is not None:
        raise Refusal(f"run {run.name}", f"origin {fork.run} may stop before that step", expected="a run without a stop rule")
    seen = {run.name}
    while isinstance(parent.origin, Fork):
        if parent.name in seen:
            raise Refusal(f"run {run.name}", "origins go in a circle", observed=", ".join(sorted(seen)))
        seen.add(parent.name)
        parent = by_name.get(parent.origin.run, parent)
        if parent.name in seen:
            raise Refusal(f"run {run.name}", "origins go in a circle", observed=", ".join(sorted(seen)))


def describe_runs(runs: Sequence[Run], setting: Setting) -> dict[str, object]:
    """What a stack is, as plain values: the configuration that a checkpoint must match."""
    rows = [plain_fields(run) | {"origin": None, "start": run.start} for run in runs]
    return {"runs": rows, "shape": asdict(setting.shape), "optimiser": setting.optimiser.model_dump(), "batch": setting.batch,
            "init_std": setting.init_std, "healthy_q": setting.healthy_q, "device": setting.device, "precision": setting.precision}  # fmt: skip


def plain_fields(run: Run) -> dict[str, object]:
    """A run's fields but for its origin, whose tensors have a digest of their own."""
    values = {each.name: getattr(run, each.name) for each in fields(run) if each.name != "origin"}
    return values | {"stop": run.stop and asdict(run.stop)}
