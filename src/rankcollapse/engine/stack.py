"""A stack: runs of one shape in lockstep along a model axis, each on its own clock.

Weights, moments and gradients lie flat as (M, P). Nothing in a step waits for a GPU: what a step finds out about its runs stays
on the device until a measurement reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from rankcollapse.engine.optimisers import OPTIMISERS, Controls, compute_norms
from rankcollapse.engine.runs import Run, Setting, State, Trajectory, fresh_state
from rankcollapse.events import collapsed_rank
from rankcollapse.measure import read_refined
from rankcollapse.passes import KernelPass, TorchPass, run_forward
from rankcollapse.schedule import constant, tabulate
from rankcollapse.terms import block_terms
from rankcollapse.text import require_tokens

ROWS = ("flat", "moment1", "moment2", "directions")
"""Tensors with one row a live run; they are what a checkpoint holds."""


class Stack:
    """Runs in lockstep: tensors for those still alive, trajectories and final states for all."""

    def __init__(
        self, runs: Sequence[Run], setting: Setting, train: np.ndarray, probe_BT: torch.Tensor, keep: Mapping[str, Sequence[int]] | None = None
    ):
        self.runs, self.setting, self.train, self.keep = list(runs), setting, train, keep or {}
        self.probe = probe_BT.to(setting.device)
        origins = [run.origin or fresh_state(run.seed, setting, run.gain, run.query_key) for run in runs]
        self.alive = list(range(len(runs)))
        self.flat, self.moment1, self.moment2 = (
            torch.stack([getattr(origin, name) for origin in origins]).to(setting.device) for name in ("weights", "moment1", "moment2")
        )
        shape = setting.shape
        self.directions = torch.zeros(len(runs), shape.depth * setting.batch * shape.width, device=setting.device)
        """Top direction of every block and sequence of the last step, where the next step's power iteration starts."""
        self.clock = [origin.step for origin in origins]
        self.trajectories = [Trajectory(extra={name: [] for name in run.readings}) for run in runs]
        self.final: dict[int, State] = {}
        self.kept: dict[tuple[int, int], State] = {}
        self.plan = plan_runs(self.runs, setting)
        self.forget()

    def forget(self) -> None:
        """Start afresh what the device counts between two measurements, after the live runs have changed."""
        self.clipped = torch.zeros(len(self.alive), dtype=torch.int64, device=self.setting.device)
        self.broken = torch.full((len(self.alive),), -1, dtype=torch.int64, device=self.setting.device)
        """The step at which a run's gradient was not finite any more."""

    def on_device(self, values: Sequence[float] | np.ndarray, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """Numbers, one a live run, as a tensor; the copy to a GPU does not wait."""
        return torch.as_tensor(values, dtype=dtype).to(self.setting.device, non_blocking=True)

    def planned(self) -> np.ndarray:
        """Skip scale, learning rate and weight decay (M, 3) of every live run at its clock."""
        return self.plan[self.alive, [self.clock[i] - self.runs[i].start for i in self.alive]]

    def kinds(self, rows: Sequence[int] | None = None) -> list[str]:
        """The query-key treatment of live runs."""
        return [self.runs[self.alive[row]].query_key for row in (range(len(self.alive)) if rows is None else rows)]

    def measure(self) -> None:
        """Read every live run whose clock is due."""
        due = [row for row, i in enumerate(self.alive) if self.runs[i].is_due(self.clock[i]) and self.trajectories[i].step[-1:] != [self.clock[i]]]
        if not due:
            return
        self.take_in()
        skip = self.planned()[due, 0]
        readings = sorted({name for row in due for name in self.runs[self.alive[row]].readings})
        reading = read_refined(
            self.flat[due], self.probe, self.on_device(skip, torch.float32), self.setting.shape, self.kinds(due), readings
        )
        for place, row in enumerate(due):
            i = self.alive[row]
            trajectory = self.trajectories[i]
            values = [self.clock[i], skip[place].item(), *(column[place] for column in reading[:4])]
            if trajectory.diverged_at is not None or not all(map(np.isfinite, values)):
                trajectory.diverged_at = self.clock[i] if trajectory.diverged_at is None else trajectory.diverged_at
                continue
            for name, value in zip(("step", "skip", "rank", "residual", "loss", "at_floor"), values, strict=True):
                getattr(trajectory, name).append(value)
            for name in self.runs[i].readings:
                trajectory.extra[name].append(reading.extra[name][place])

    def take_in(self) -> None:
        """Read what the device has counted since the last time; a run that broke is set back to the step at which it did."""
        for i, clipped, broken in zip(self.alive, self.clipped.tolist(), self.broken.tolist(), strict=True):
            trajectory = self.trajectories[i]
            trajectory.clipped += clipped
            if broken >= 0 and trajectory.diverged_at is None:
                trajectory.trained -= self.clock[i] - broken
                trajectory.diverged_at = self.clock[i] = broken
        self.clipped.zero_()

    def keep_states(self) -> None:
        """Put aside the states that other runs fork from; a run that has diverged has none to give."""
        due = [row for row, i in enumerate(self.alive) if self.clock[i] in self.keep.get(self.runs[i].name, ())]
        if not due:
            return
        self.take_in()
        for row in due:
            i = self.alive[row]
            if self.trajectories[i].diverged_at is None and (i, self.clock[i]) not in self.kept:
                self.kept[i, self.clock[i]] = self.state(row)

    def state(self, row: int) -> State:
        """A live run's state, at rest on the CPU."""
        return State(*(getattr(self, name)[row].detach().cpu().clone() for name in ROWS[:3]), self.clock[self.alive[row]])

    def retire(self) -> None:
        """Take finished, settled and diverged runs out of the stack, keeping their final states."""
        done = [row for row, i in enumerate(self.alive) if self.finished(i)]
        if not done:
            return
        self.take_in()
        for row in done:
            self.final[self.alive[row]] = self.state(row)
        stay = [row for row in range(len(self.alive)) if row not in done]
        self.alive = [self.alive[row] for row in stay]
        for name in ROWS:
            setattr(self, name, getattr(self, name)[stay])
        self.forget()

    def finished(self, i: int) -> bool:
        """Whether a run has come to its end, diverged, or met its stop rule."""
        run, trajectory = self.runs[i], self.trajectories[i]
        if self.clock[i] >= run.end or trajectory.diverged_at is not None:
            return True
        return (
            run.stop is not None
            and trajectory.step[-1:] == [self.clock[i]]
            and run.stop(trajectory.step, collapsed_rank(trajectory.rank, trajectory.at_floor))
        )

    def with_term(self) -> list[int]:
        """Rows of the live runs that have an added term."""
        return [row for row, i in enumerate(self.alive) if self.runs[i].term != "none"]

    def values(self, rows: Sequence[int], stream_LMND: torch.Tensor, sequences: int, start: torch.Tensor | None = None) -> torch.Tensor:
        """The term (R,) of these rows, averaged over their blocks and over sequences, from their stream."""
        runs, depth = [self.runs[self.alive[row]] for row in rows], self.setting.shape.depth
        shares = np.array([[(block in run.blocks) / len(run.blocks) if run.blocks else 1 / depth for run in runs] for block in range(depth)])
        healthy = torch.full((len(rows),), self.setting.healthy_q, device=stream_LMND.device)
        terms = block_terms([run.term for run in runs], stream_LMND, sequences, healthy, start)
        return (terms * self.on_device(shares, terms.dtype)).sum(0)

    def solve_weights(self) -> None:
        """Give each term the weight at which it adds the wanted loss on the probe batch, in the run's first state."""
        rows = [row for row in self.with_term() if self.trajectories[self.alive[row]].trained == 0]
        if not rows:
            return
        with torch.no_grad():
            skip = self.on_device(self.planned()[rows, 0], torch.float32)
            passed = run_forward(self.flat[rows], self.probe.expand(len(rows), -1, -1), skip, self.kinds(rows), self.setting.shape)
            terms = self.values(rows, passed.stream, len(self.probe)).tolist()
        for row, term in zip(rows, terms, strict=True):
            run = self.runs[self.alive[row]]
            self.trajectories[self.alive[row]].term_weight = run.added / term if term > 0 else 0.0

    def batches(self) -> torch.Tensor:
        """Training tokens (M, B, T+1), each run at its own place in the stream (`batch_at` of text.py, for all at once)."""
        batch, context = self.setting.batch, self.setting.shape.context
        clocks = np.array([self.clock[i] for i in self.alive])
        require_tokens(self.train, int(clocks.max()) + 1, batch, context)
        stride = (len(self.train) - 1) // batch
        places = (clocks * context)[:, None, None] + (np.arange(batch) * stride)[:, None] + np.arange(context + 1)
        return self.on_device(self.train[places].astype(np.int64), torch.int64)

    def push(self, passed: KernelPass | TorchPass) -> tuple[torch.Tensor, torch.Tensor] | None:
        """What the terms add to the loss (R,), and its gradient (L, R, N, D) on the stream of the rows that have one."""
        rows = self.with_term()
        if not rows:
            return None
        shape, whole = self.setting.shape, len(rows) == len(self.alive)
        stream = (passed.stream if whole else passed.stream[:, rows]).detach().requires_grad_()
        start = self.directions[rows].view(len(rows), shape.depth, -1).transpose(0, 1).reshape(-1, shape.width)
        weight = self.on_device([self.trajectories[self.alive[row]].term_weight for row in rows], torch.float32)
        added = self.values(rows, stream, self.setting.batch, start) * weight
        self.directions[rows] = start.view(shape.depth, len(rows), -1).transpose(0, 1).reshape(len(rows), -1)
        new = [place for place, row in enumerate(rows) if self.trajectories[self.alive[row]].trained == 0]
        if new:
            for place, value in zip(new, added.detach()[new].tolist(), strict=True):
                self.trajectories[self.alive[rows[place]]].first_added = value
        return added, torch.autograd.grad(added.sum(), stream)[0]

    def gradients(self) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Gradient (M, P) of task loss plus weighted terms that are clipped with it, and (M, P) of the terms that are not."""
        setting, skip = self.setting, self.on_device(self.planned()[:, 0], torch.float32)
        passed = run_forward(self.flat, self.batches(), skip, self.kinds(), setting.shape, setting.precision)
        pushed, one = self.push(passed), torch.ones_like(skip)
        if pushed is None:
            return passed.backward(one), None
        rows = self.with_term()
        exempt = self.on_device([float(self.runs[self.alive[row]].exempt) for row in rows], torch.float32).view(1, -1, 1, 1)
        some_exempt = any(self.runs[self.alive[row]].exempt for row in rows)
        grad = passed.backward(one, self.spread_rows(pushed[1] * (1 - exempt) if some_exempt else pushed[1], rows), again=some_exempt)
        return grad, passed.backward(0 * one, self.spread_rows(pushed[1] * exempt, rows)) if some_exempt else None

    def spread_rows(self, part_LRND: torch.Tensor, rows: Sequence[int]) -> torch.Tensor:
        """Some rows' part of the stream as one for all live runs, zero for the others."""
        if len(rows) == len(self.alive):
            return part_LRND
        whole = part_LRND.new_zeros(len(part_LRND), len(self.alive), *part_LRND.shape[2:])
        whole[:, rows] = part_LRND
        return whole

    def step(self) -> None:
        """One step of every live run: clipped at the run's own norm, at its own learning rate, decay and step count."""
        rule, plan = self.setting.optimiser, self.planned()
        grad, unclipped = self.gradients()
        norm = compute_norms(grad)
        finite = norm.isfinite() if unclipped is None else norm.isfinite() & unclipped.isfinite().all(1)
        factor = torch.where(finite & (self.broken < 0), (rule.clip / norm).clamp_max(1.0), 0.0)
        if unclipped is not None:
            grad = grad * factor.unsqueeze(1).to(grad.dtype) + unclipped
            factor = (factor > 0).double()
        self.clipped += finite & (norm > rule.clip)
        clock = self.on_device([self.clock[i] for i in self.alive], torch.int64)
        self.broken = torch.where(~finite & (self.broken < 0), clock, self.broken)
        controls = Controls(self.on_device(plan[:, 1]), self.on_device(plan[:, 2]), factor, clock.double() + 1)
        self.update(grad, controls)
        for i in self.alive:
            self.trajectories[i].trained += 1
            self.clock[i] += 1
        if self.flat.device.type == "cpu" and not finite.all():
            self.take_in()

    def update(self, grad_MP: torch.Tensor, controls: Controls) -> None:
        """Let each run's optimiser make its step, all runs of one kind at once."""
        kinds = [self.runs[i].optimiser for i in self.alive]
        for kind in sorted(set(kinds)):
            rows = [row for row, other in enumerate(kinds) if other == kind]
            parts = [self.flat, grad_MP, self.moment1, self.moment2]
            numbers = controls
            if len(rows) < len(kinds):
                parts = [part[rows] for part in parts]
                numbers = Controls(*(values[rows] for values in controls))
            OPTIMISERS[kind](*parts, numbers, self.setting.shape.matrices, self.setting.optimiser)
            if len(rows) < len(kinds):
                self.flat[rows], _, self.moment1[rows], self.moment2[rows] = parts


def plan_runs(runs: Sequence[Run], setting: Setting) -> np.ndarray:
    """Skip scale, learning rate and weight decay (runs, steps + 1, 3) of every run at each of its steps; short runs keep their last."""
    longest = max(run.steps for run in runs)
    rule = setting.optimiser
    rows = []
    for run in runs:
        schedules = (run.skip, run.learning_rate or constant(rule.learning_rate), run.weight_decay or constant(rule.weight_decay))
        values = np.stack([tabulate(schedule, run.start, run.steps) for schedule in schedules], 1)
        rows.append(np.pad(values, ((0, longest - run.steps), (0, 0)), mode="edge"))
    return np.stack(rows)
