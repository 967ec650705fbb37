"""A stack: runs of one shape in lockstep along a model axis, each on its own clock.

Weights, moments and gradients lie flat as (M, P). Nothing in a step waits for a GPU: what a step finds out about its runs stays
on the device until a measurement reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from rankcollapse.engine.capture import Captured, Inputs
from rankcollapse.engine.optimisers import OPTIMISERS, Controls, clip_heads, compute_norms, fresh_memories
from rankcollapse.engine.runs import OWN_READINGS, Run, Setting, State, Trajectory, fresh_state
from rankcollapse.events import collapsed_rank
from rankcollapse.measure import read_refined
from rankcollapse.passes import KernelPass, TorchPass, run_forward
from rankcollapse.schedule import constant, tabulate
from rankcollapse.terms import block_terms
from rankcollapse.text import require_tokens

ROWS = ("flat", "moment1", "moment2", "directions", "memory", "norm")
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
        self.memory = fresh_memories([run.optimiser for run in runs], self.flat, shape)
        """What an optimiser holds beside the moments."""
        self.norm = torch.zeros(len(runs), dtype=torch.float64, device=setting.device)
        """Of each run's last gradient, before clipping."""
        self.clock = [origin.step for origin in origins]
        self.trajectories = [Trajectory(extra={name: [] for name in run.readings}) for run in runs]
        self.final: dict[int, State] = {}
        self.kept: dict[tuple[int, int], State] = {}
        self.plan = plan_runs(self.runs, setting)
        self.forget()

    def forget(self) -> None:
        """Start afresh what the device counts between two measurements, after the live runs have changed."""
        self.run = Captured(self, (*ROWS, "clipped", "broken", "added")) if self.setting.graph and self.setting.device == "cuda" else self.compute
        self.clipped = torch.zeros(len(self.alive), dtype=torch.int64, device=self.setting.device)
        self.broken = torch.full((len(self.alive),), -1, dtype=torch.int64, device=self.setting.device)
        """The step at which a run's gradient was not finite any more."""
        self.grad = torch.empty_like(self.flat)
        self.added = torch.zeros(len(self.alive), device=self.setting.device)
        """Loss in nats that each run's term added in the last step."""
        self.tau = self.on_device([self.runs[i].tau for i in self.alive])
        clipped = [i for i in self.alive if self.runs[i].query_key == "clip"]
        self.limit = self.on_device([self.runs[i].logit_limit if i in clipped else np.inf for i in self.alive]) if clipped else None
        """Where a run's largest logits are held; None where no run asks for it."""
        kinds = [self.runs[i].optimiser for i in self.alive]
        self.by_optimiser = {kind: self.on_device([row for row, other in enumerate(kinds) if other == kind], torch.int64) for kind in sorted(set(kinds))}
        rows = self.with_term()
        self.rows = self.on_device(rows, torch.int64)
        """Live runs with a term; `shares` (L, R) of their blocks, and which are exempt from clipping."""
        self.shares = self.on_device(self.block_shares(rows), torch.float32)
        self.exempt = self.on_device([float(self.runs[self.alive[row]].exempt) for row in rows], torch.float32)

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
        readings = sorted({name for row in due for name in self.runs[self.alive[row]].readings} - {*OWN_READINGS})
        reading = read_refined(
            self.flat if len(due) == len(self.alive) else self.flat[due], self.probe, self.on_device(skip, torch.float32), self.setting.shape, self.kinds(due), readings
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
                trajectory.extra[name].append(self.norm[row].item() if name == "gradient_norm" else reading.extra[name][place])

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

    def block_shares(self, rows: Sequence[int]) -> np.ndarray:
        """What each block counts in the terms of these rows (L, R); a run's shares add up to one."""
        depth, chosen = self.setting.shape.depth, [self.runs[self.alive[row]].blocks for row in rows]
        return np.array([[(block in blocks) / len(blocks) if blocks else 1 / depth for blocks in chosen] for block in range(depth)]).reshape(depth, len(rows))

    def values(self, stream_LRND: torch.Tensor, sequences: int, start: torch.Tensor | None = None) -> torch.Tensor:
        """The terms (R,) of the rows that have one, averaged over their blocks and over sequences, from their stream."""
        kinds = [self.runs[self.alive[row]].term for row in self.with_term()]
        healthy = torch.full((len(kinds),), self.setting.healthy_q, device=stream_LRND.device)
        return (block_terms(kinds, stream_LRND, sequences, healthy, start) * self.shares).sum(0)

    def solve_weights(self) -> None:
        """Give each term the weight at which it adds the wanted loss on the probe batch, in the run's first state."""
        rows = self.with_term()
        if all(self.trajectories[self.alive[row]].trained for row in rows):
            return
        with torch.no_grad():
            skip = self.on_device(self.planned()[rows, 0], torch.float32)
            passed = run_forward(self.flat[self.rows], self.probe.expand(len(rows), -1, -1), skip, self.kinds(rows), self.setting.shape)
            terms = self.values(passed.stream, len(self.probe)).tolist()
        for row, term in zip(rows, terms, strict=True):
            run, trajectory = self.runs[self.alive[row]], self.trajectories[self.alive[row]]
            if trajectory.trained == 0:
                trajectory.term_weight = run.added / term if term > 0 else 0.0

    def batches(self) -> torch.Tensor:
        """Training tokens (M, B, T+1), each run at its own place in the stream (`batch_at` of text.py, for all at once)."""
        batch, context = self.setting.batch, self.setting.shape.context
        clocks = np.array([self.clock[i] for i in self.alive])
        require_tokens(self.train, int(clocks.max()) + 1, batch, context)
        stride = (len(self.train) - 1) // batch
        places = (clocks * context)[:, None, None] + (np.arange(batch) * stride)[:, None] + np.arange(context + 1)
        return self.on_device(self.train[places].astype(np.int64), torch.int64)

    def inputs(self) -> Inputs:
        """What the next step needs to know of each live run, on the device."""
        plan = self.planned()
        return Inputs(
            self.batches(), self.on_device(plan[:, 0], torch.float32), self.on_device(plan[:, 1]), self.on_device(plan[:, 2]),
            self.on_device([self.clock[i] for i in self.alive], torch.int64),
            self.on_device([self.trajectories[i].term_weight for i in self.alive], torch.float32),
        )  # fmt: skip

    def push(self, passed: KernelPass | TorchPass, weight_M: torch.Tensor) -> torch.Tensor | None:
        """Gradient (L, R, N, D) of the weighted terms on the stream of the rows that have one; what they add is noted."""
        rows, shape = self.rows, self.setting.shape
        if not len(rows):
            return None
        stream = (passed.stream if len(rows) == len(self.alive) else passed.stream[:, rows]).detach().requires_grad_()
        start = self.directions[rows].view(len(rows), shape.depth, -1).transpose(0, 1).reshape(-1, shape.width)
        added = self.values(stream, self.setting.batch, start) * weight_M[rows]
        self.directions[rows] = start.view(shape.depth, len(rows), -1).transpose(0, 1).reshape(len(rows), -1)
        self.added[rows] = added.detach()
        return torch.autograd.grad(added.sum(), stream)[0]

    def gradients(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Gradient (M, P) of task loss plus weighted terms that are clipped with it, and (M, P) of the terms that are not."""
        passed = run_forward(self.flat, inputs.tokens, inputs.skip, self.kinds(), self.setting.shape, self.setting.precision)
        self.logits = None if self.limit is None else passed.top_logits(self.limit.isfinite())
        pushed, one = self.push(passed, inputs.weight), torch.ones_like(inputs.skip)
        if pushed is None:
            return passed.backward(one, out=self.grad), None
        if not any(self.runs[self.alive[row]].exempt for row in self.with_term()):
            return passed.backward(one, self.spread_rows(pushed), out=self.grad), None
        alone = self.exempt.view(1, -1, 1, 1)
        grad = passed.backward(one, self.spread_rows(pushed * (1 - alone)), again=True)
        return grad, passed.backward(0 * one, self.spread_rows(pushed * alone))

    def spread_rows(self, part_LRND: torch.Tensor) -> torch.Tensor:
        """The part of the stream of the rows with a term as one for all live runs, zero for the others."""
        if len(self.rows) == len(self.alive):
            return part_LRND
        whole = part_LRND.new_zeros(len(part_LRND), len(self.alive), *part_LRND.shape[2:])
        whole[:, self.rows] = part_LRND
        return whole

    def compute(self, inputs: Inputs) -> None:
        """One step on the device, without a look at any value: each run clipped at its own norm, at its own learning rate, decay and step count."""
        clip = self.setting.optimiser.clip
        grad, unclipped = self.gradients(inputs)
        norm = compute_norms(grad)
        self.norm.copy_(norm)
        finite = norm.isfinite() if unclipped is None else norm.isfinite() & unclipped.isfinite().all(1)
        factor = torch.where(finite & (self.broken < 0), (clip / norm).clamp_max(1.0), 0.0)
        if unclipped is not None:
            grad = grad * factor.unsqueeze(1).to(grad.dtype) + unclipped
            factor = (factor > 0).double()
        self.clipped += finite & (norm > clip)
        self.broken.copy_(torch.where(~finite & (self.broken < 0), inputs.clock, self.broken))
        self.update(grad, Controls(inputs.rate, inputs.decay, factor, inputs.clock.double() + 1, self.tau))
        if self.limit is not None:
            clip_heads(self.flat, self.logits, torch.where(factor > 0, self.limit, torch.inf), self.setting.shape)

    def step(self) -> None:
        """One step of every live run."""
        self.run(self.inputs())
        new = [(row, i) for row, i in enumerate(self.alive) if self.trajectories[i].trained == 0]
        if any(self.runs[i].term != "none" for _, i in new):
            added = self.added.tolist()
            for row, i in new:
                self.trajectories[i].first_added = added[row]
        for i in self.alive:
            self.trajectories[i].trained += 1
            self.clock[i] += 1
        if self.flat.device.type == "cpu" and (self.broken >= 0).any():
            self.take_in()

    def update(self, grad_MP: torch.Tensor, controls: Controls) -> None:
        """Let each run's optimiser make its step, all runs of one kind at once."""
        for kind, rows in self.by_optimiser.items():
            parts, numbers, whole = [self.flat, grad_MP, self.moment1, self.moment2, self.memory], controls, len(rows) == len(self.alive)
            if not whole:
                parts, numbers = [part[rows] for part in parts], controls.pick(rows)
            OPTIMISERS[kind](*parts, numbers, self.setting.shape, self.setting.optimiser)
            if not whole:
                self.flat[rows], _, self.moment1[rows], self.moment2[rows], self.memory[rows] = parts


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
