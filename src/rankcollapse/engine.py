"""Trains a stack: runs of one shape in lockstep along a model axis, each on its own clock.

A run is an origin, a number of steps, a skip schedule, an added term and what to measure; the engine knows nothing of
drivers or treatments. Weights, moments and gradients lie flat as (M, P), so clipping, decay and Adam are a few passes.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import monotonic

import numpy as np
import torch
from torch.optim.adamw import adamw

from audit.records import Refusal
from rankcollapse.events import Settled, collapsed_rank
from rankcollapse.measure import read_refined
from rankcollapse.model import Shape, initialise, residual_stream, token_losses, views
from rankcollapse.params import Optimiser
from rankcollapse.schedule import Schedule, at, constant
from rankcollapse.terms import TERMS, block_terms
from rankcollapse.text import batch_at


@dataclass(frozen=True)
class State:
    """One network at rest: weights and Adam's moments (P,) and the step it has reached."""

    weights: torch.Tensor
    moment1: torch.Tensor
    moment2: torch.Tensor
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
    measure_every: int = 10
    stop: Settled | None = None
    origin: State | None = None
    """Where the run continues from; without one it starts at the seed's initialisation."""

    def __post_init__(self) -> None:
        if self.term not in TERMS:
            raise Refusal(f"run {self.name}", f"unknown term {self.term!r}", expected=", ".join(TERMS))


@dataclass
class Trajectory:
    """What was measured of a run, one entry a measurement, and what happened once."""

    step: list[int] = field(default_factory=list)
    skip: list[float] = field(default_factory=list)
    rank: list[float] = field(default_factory=list)
    residual: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    at_floor: list[bool] = field(default_factory=list)
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


class Interrupted(KeyboardInterrupt):
    """A signal asked the engine to stop; its state is in the checkpoint."""


class Stack:
    """Runs in lockstep: tensors for those still alive, trajectories and final states for all."""

    def __init__(self, runs: Sequence[Run], setting: Setting, train: np.ndarray, probe_BT: torch.Tensor):
        self.runs, self.setting, self.train, self.probe = list(runs), setting, train, probe_BT
        origins = [run.origin or fresh_state(run.seed, setting) for run in runs]
        self.alive = list(range(len(runs)))
        self.flat, self.moment1, self.moment2 = (
            torch.stack([getattr(origin, name) for origin in origins]) for name in ("weights", "moment1", "moment2")
        )
        self.clock = [origin.step for origin in origins]
        self.end = [origin.step + run.steps for origin, run in zip(origins, runs, strict=True)]
        self.trajectories = [Trajectory() for _ in runs]
        self.final: dict[int, State] = {}

    @property
    def skip_M(self) -> torch.Tensor:
        """The skip scale that each live run has at its clock."""
        return torch.tensor([at(self.runs[i].skip, self.clock[i]) for i in self.alive])

    def measure(self) -> None:
        """Read every live run whose clock is due."""
        due = [row for row, i in enumerate(self.alive) if self.is_due(i)]
        if not due:
            return
        skip = self.skip_M[due]
        reading = read_refined(views(self.flat[due], self.setting.shape), self.probe, skip, self.setting.shape)
        for place, row in enumerate(due):
            i = self.alive[row]
            trajectory = self.trajectories[i]
            values = [self.clock[i], skip[place].item(), *(column[place] for column in reading[:4])]
            if not all(map(np.isfinite, values)):
                trajectory.diverged_at = self.clock[i]
                continue
            for name, value in zip(("step", "skip", "rank", "residual", "loss", "at_floor"), values, strict=True):
                getattr(trajectory, name).append(value)

    def is_due(self, i: int) -> bool:
        """Whether a run is to be measured now: every so many steps from its start, and at its end, once."""
        since = self.clock[i] - (self.end[i] - self.runs[i].steps)
        scheduled = since % self.runs[i].measure_every == 0 or self.clock[i] == self.end[i]
        return scheduled and self.trajectories[i].step[-1:] != [self.clock[i]]

    def retire(self) -> None:
        """Take finished, settled and diverged runs out of the stack, keeping their final states."""
        done = [row for row, i in enumerate(self.alive) if self.finished(i)]
        if not done:
            return
        for row in done:
            i = self.alive[row]
            self.final[i] = State(self.flat[row].clone(), self.moment1[row].clone(), self.moment2[row].clone(), self.clock[i])
        keep = [row for row in range(len(self.alive)) if row not in done]
        self.alive = [self.alive[row] for row in keep]
        self.flat, self.moment1, self.moment2 = self.flat[keep], self.moment1[keep], self.moment2[keep]

    def finished(self, i: int) -> bool:
        """Whether a run has come to its end, diverged, or met its stop rule."""
        run, trajectory = self.runs[i], self.trajectories[i]
        if self.clock[i] >= self.end[i] or trajectory.diverged_at is not None:
            return True
        return (
            run.stop is not None
            and trajectory.step[-1:] == [self.clock[i]]
            and run.stop(trajectory.step, collapsed_rank(trajectory.rank, trajectory.at_floor))
        )

    def solve_weights(self) -> None:
        """Give each term the weight at which it adds the wanted loss on the probe batch, in the run's first state."""
        rows = [row for row, i in enumerate(self.alive) if self.runs[i].term != "none" and self.trajectories[i].trained == 0]
        if not rows:
            return
        with torch.no_grad():
            named, batch = views(self.flat[rows], self.setting.shape), self.probe[:, :-1].expand(len(rows), -1, -1)
            stream = residual_stream(named, batch, self.skip_M[rows], self.setting.shape)
            kinds = [self.runs[self.alive[row]].term for row in rows]
            terms = block_terms(kinds, stream, len(self.probe), torch.full((len(rows),), self.setting.healthy_q)).mean(0).tolist()
        for row, term in zip(rows, terms, strict=True):
            run = self.runs[self.alive[row]]
            self.trajectories[self.alive[row]].term_weight = run.added / term if term > 0 else 0.0

    def batches(self) -> torch.Tensor:
        """Training tokens (M, B, T+1), each run at its own place in the stream."""
        setting, cache = self.setting, {}
        for i in self.alive:
            if self.clock[i] not in cache:
                inputs, targets = batch_at(self.train, self.clock[i], setting.batch, setting.shape.context)
                cache[self.clock[i]] = torch.from_numpy(np.concatenate([inputs, targets[:, -1:]], axis=1))
        return torch.stack([cache[self.clock[i]] for i in self.alive])

    def gradients(self) -> torch.Tensor:
        """Gradient (M, P) of task loss plus weighted term."""
        named = {name: weight.detach().requires_grad_() for name, weight in views(self.flat, self.setting.shape).items()}
        tokens = self.batches()
        stream = residual_stream(named, tokens[..., :-1], self.skip_M, self.setting.shape)
        total = token_losses(named, stream[-1], tokens[..., 1:]).sum()
        kinds = [self.runs[i].term for i in self.alive]
        if set(kinds) != {"none"}:
            weight = torch.tensor([self.trajectories[i].term_weight for i in self.alive])
            added = block_terms(kinds, stream, tokens.shape[1], torch.full((len(kinds),), self.setting.healthy_q)).mean(0) * weight
            for i, value in zip(self.alive, added.tolist(), strict=True):
                if self.trajectories[i].trained == 0:
                    self.trajectories[i].first_added = value
            total = total + added.sum()
        return torch.cat([grad.flatten(1) for grad in torch.autograd.grad(total, list(named.values()))], 1)

    def step(self) -> None:
        """One AdamW step (decoupled decay, clipping at the run's own norm) of every live run."""
        rule, grad = self.setting.optimiser, self.gradients()
        norm = grad.norm(dim=1)
        grad.mul_((rule.clip / norm.clamp_min(rule.clip)).unsqueeze(1))
        for i, clipped in zip(self.alive, (norm > rule.clip).tolist(), strict=True):
            self.trajectories[i].clipped += clipped
            self.trajectories[i].trained += 1
            self.clock[i] += 1
        self.update(grad, slice(0, self.setting.shape.matrices), rule.weight_decay)
        self.update(grad, slice(self.setting.shape.matrices, None), 0.0)

    def update(self, grad_MP: torch.Tensor, part: slice, weight_decay: float) -> None:
        """AdamW on one stretch of the weights, each run with its own step count."""
        rule = self.setting.optimiser
        rows = [list(tensor[:, part]) for tensor in (self.flat, grad_MP, self.moment1, self.moment2)]
        counts = [torch.tensor(float(self.clock[i] - 1)) for i in self.alive]  # adamw counts the step itself
        adamw(*rows, [], counts, fused=True, amsgrad=False, beta1=rule.beta1, beta2=rule.beta2, lr=rule.learning_rate,
              weight_decay=weight_decay, eps=rule.epsilon, maximize=False)  # fmt: skip


def fresh_state(seed: int, setting: Setting) -> State:
    """A seed's initial weights, with empty moments, at step 0."""
    weights = initialise(setting.shape, seed, setting.init_std)
    return State(weights, torch.zeros_like(weights), torch.zeros_like(weights), 0)


def prepare_threads(threads: int = 1) -> None:
    """One thread a stack, so that results do not depend on how many cores there are; denormals flushed."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)


def train_stack(
    stack: Stack,
    *,
    save: Callable[[Stack], None] | None = None,
    save_seconds: float = 20.0,
    say: Callable[[Stack], None] | None = None,
) -> list[tuple[Trajectory, State]]:
    """Train until every run has ended; return trajectories and final states in the table's order.

    `save` is called every `save_seconds` and when a signal asks to stop; then `Interrupted` is raised.
    """
    stopping: list[int] = []
    with signals_to(stopping):
        saved = shown = monotonic()
        stack.solve_weights()
        while stack.alive:
            stack.measure()
            stack.retire()
            if not stack.alive:
                break
            stack.step()
            now = monotonic()
            if save and (stopping or now - saved >= save_seconds):
                save(stack)
                saved = monotonic()
            if stopping:
                raise Interrupted
            if say and now - shown >= 1:
                say(stack)
                shown = now
        if stopping:
            if save:
                save(stack)
            raise Interrupted
    return [(stack.trajectories[i], stack.final[i]) for i in range(len(stack.runs))]


class signals_to:
    """Within it SIGINT and SIGTERM are noted in a list instead of breaking a step in the middle."""

    def __init__(self, noted: list[int]):
        self.noted = noted

    def __enter__(self) -> None:
        try:
            self.before = {number: signal.signal(number, lambda number, _: self.noted.append(number)) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not in the main thread: the process that owns the signals decides
            self.before = {}

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)


def describe_runs(runs: Sequence[Run], setting: Setting) -> dict[str, object]:
    """What a stack is, as plain values: the configuration that a checkpoint must match."""
    rows = [asdict(replace(run, origin=None)) | {"start": run.origin.step if run.origin else 0} for run in runs]
    return {"runs": rows, "shape": asdict(setting.shape), "optimiser": setting.optimiser.model_dump(), "batch": setting.batch,
            "init_std": setting.init_std, "healthy_q": setting.healthy_q}  # fmt: skip
