"""From saved states and trajectories to the rows of `records_readings`; nothing here trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from audit.records import Provenance
from rankcollapse import engine
from rankcollapse.arm_records import ArmRow, Drivers, Treatments
from rankcollapse.blocks import Blocks, Entropies, epsilon_norm, read_blocks, read_entropies, read_noise, read_task
from rankcollapse.checkpoint import STATES, load_states
from rankcollapse.engine import Setting, State, prepare_threads
from rankcollapse.forces import read_force, read_forces, read_lines
from rankcollapse.groups import Study
from rankcollapse.measure import term_path
from rankcollapse.params import Role, Scale
from rankcollapse.plan import setting_of
from rankcollapse.positions import Order, read_order
from rankcollapse.records import Profile, RoleCalibration, Trajectory
from rankcollapse.records_readings import (
    AgedRow,
    BlockRow,
    BranchEnd,
    EntropyRow,
    EventReadings,
    ForceRow,
    LawRow,
    LineRow,
    NoiseRow,
    OrderRow,
    Readings,
    ReplayRow,
    StateRow,
    Synthetic,
)
from rankcollapse.replay import Replayed, read_replayed, relative_error
from rankcollapse.slope import fit_slope, read_law
from rankcollapse.swaps import read_swaps, restoring_groups
from rankcollapse.synthetic import TOKENS, WIDTH, read_curve
from rankcollapse.text import load_stream, probe_batch
from rankcollapse.treatments import ADDED, READ

LINE_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
"""Of the way to the healthy network, at whose end the hinge is silent."""


@dataclass(frozen=True)
class Reader:
    """What the readings of one depth share: setting, probes, token counts, and the skip scales."""

    setting: Setting
    study: Study
    tokens: torch.Tensor
    """Gradient probe (B, T+1)."""
    few: torch.Tensor
    """Rank probe."""
    frequency: np.ndarray
    """Count of each token of the vocabulary in the training span."""
    floor: float
    added: float
    """Matched added loss at switch-on, nats."""
    treatments: dict[str, tuple[str, float]]
    """Loss arms: term, and how many times the matched added loss."""

    def at(self, skip: float) -> torch.Tensor:
        """A skip scale for one model."""
        return torch.tensor([skip], dtype=torch.float64)

    def read_state(self, weights_P: torch.Tensor, skip: float) -> StateRow:
        """One network at a skip scale, before any update: gradients and loss on the gradient probe, rank and entropy on the rank probe."""
        flat, scale, shape = weights_P.double()[None], self.at(skip), self.setting.shape
        task = read_task(flat, self.tokens, scale, shape)
        return StateRow(
            skip=skip, loss=task.loss.item(), gradient_norm=task.gradient_norm.item(), task=profile_of(task.path), opening=task.opening.item(),
            blocks=block_row(read_blocks(flat, self.few, scale, shape)), entropy=entropy_row(read_entropies(flat, self.few, scale, shape)),
        )  # fmt: skip

    def read_event(
        self, seed: int, collapsed: State, healthy: State, switches: Sequence[float], generator: torch.Generator
    ) -> EventReadings:
        """All rows of one saved collapse; `generator` draws the random direction."""
        low, high = collapsed.weights, healthy.weights
        flat, scale, shape, level = low.double()[None], self.at(self.floor), self.setting.shape, self.setting.healthy_q
        return EventReadings(
            seed=seed,
            collapsed=self.read_state(low, self.floor),
            healthy=self.read_state(high, 1.0),
            healthy_at_floor=self.read_state(high, self.floor),
            switches=tuple(self.read_state(low, skip) for skip in switches),
            hinge=profile_of(term_path(flat, self.tokens, scale, shape, "hinge", level, self.added)),
            forces=self.read_treatments(flat),
            lines=self.read_lines(low, high, generator),
            order=order_row(read_order(low, self.tokens, self.floor, shape, self.frequency)),
            order_healthy=order_row(read_order(high, self.tokens, 1.0, shape, self.frequency)),
            noise=self.read_noise(low),
            law=self.read_law(low),
        )

    def read_treatments(self, flat_MP: torch.Tensor) -> tuple[ForceRow, ...]:
        """rho of every loss arm at switch-on."""
        rho = read_forces(flat_MP, self.tokens, self.at(self.floor), self.setting.shape, self.treatments, self.setting.healthy_q, self.added)
        return tuple(ForceRow(arm=arm, rho=value.item()) for arm, value in rho.items())

    def read_lines(self, low_P: torch.Tensor, high_P: torch.Tensor, generator: torch.Generator) -> tuple[LineRow, ...]:
        """rho of every term on the way to the healthy network and along a random direction."""
        kinds = sorted({kind for kind, _ in self.treatments.values()})
        lines = read_lines(
            low_P, high_P, self.few, self.floor, self.setting.shape, kinds, self.setting.healthy_q, self.added, LINE_SHARES, generator
        )
        return tuple(LineRow(term=kind, share=LINE_SHARES, healthy=tuple(line.target), random=tuple(line.random)) for kind, line in lines.items())

    def read_noise(self, weights_P: torch.Tensor) -> NoiseRow:
        """Query-key gradients in both precisions, against Adam's epsilon."""
        noise = read_noise(weights_P[None], self.tokens, self.at(self.floor), self.setting.shape)
        columns = {name: tuple(values[:, 0].tolist()) for name, values in noise._asdict().items()}
        return NoiseRow(**columns, epsilon=epsilon_norm(self.setting.optimiser.epsilon, self.setting.shape.width))

    def read_law(self, weights_P: torch.Tensor) -> LawRow:
        """The slope-two law's points and slope."""
        law = read_law(weights_P, self.tokens, self.floor, self.setting.shape)
        return LawRow(residual=tuple(law.residual.tolist()), ratio=tuple(law.ratio.tolist()), slope=fit_slope([law]))

    def read_replayed(self, seed: int, state: State, skip: float, updates: int, branch: Trajectory | engine.Trajectory | None) -> ReplayRow:
        """A state that was trained again for so many updates after a switch, beside what the switched branch itself logged."""
        return replay_row(seed, skip, read_replayed(state, updates, skip, self.setting, self.few, self.tokens), branch)

    def read_end(self, run: ArmRow, state: State) -> BranchEnd:
        """A branch at the floor in its last state; the force of its term is that of the weight it trained with."""
        rho = None
        if run.term != "none":
            flat, at = state.weights[None], torch.tensor([run.term_weight], dtype=torch.float64)
            rho = read_force(flat, self.tokens, self.at(self.floor), self.setting.shape, run.term, self.setting.healthy_q, at).item()
        return BranchEnd(seed=run.seed, arm=run.arm, state=self.read_state(state.weights, self.floor), rho=rho)

    def read_aged(self, seed: int, saved: State, aged: State) -> AgedRow:
        """A network that stayed at the floor after it was saved: at the delayed switch's scale, and the hinge's force on it where it is.

        After the longest delay, also which group of weights of the saved network opens it again.
        """
        delay, flat = aged.step - saved.step, aged.weights.double()[None]
        longest = delay == self.study.delays[-1]
        swaps = read_swaps(aged.weights, saved.weights, self.tokens, self.study.delayed_skip, self.setting.shape) if longest else {}
        hinge = {"hinge_1x": ("hinge", 1.0)}
        rho = read_forces(flat, self.tokens, self.at(self.floor), self.setting.shape, hinge, self.setting.healthy_q, self.added)
        return AgedRow(
            seed=seed, delay=delay, state=self.read_state(aged.weights, self.study.delayed_skip), rho_hinge=rho["hinge_1x"].item(),
            swaps=swaps, restoring=restoring_groups(swaps) if swaps else (),
        )  # fmt: skip

    def unigram_loss(self) -> float:
        """Loss on the gradient probe of a model that knows how often each token occurs in the training span (one added to each count), nats."""
        share = torch.from_numpy((self.frequency + 1) / (self.frequency + 1).sum())
        return -share[self.tokens[:, 1:]].log().mean().item()


def open_reader(scale: Scale, calibration: RoleCalibration, floor: float, folder: Path) -> Reader:
    """The reader of one depth at a scale, for the floor and the losses of its arms."""

    def probe(sequences: int) -> torch.Tensor:
        inputs, targets = probe_batch(folder, sequences, scale.model.context)
        return torch.from_numpy(np.concatenate([inputs, targets[:, -1:]], axis=1))

    setting, train = setting_of(scale, int(calibration.depth.value), calibration.healthy_q), load_stream(folder, "train")
    counts = np.bincount(train, minlength=scale.data.vocabulary)
    tokens, few = probe(scale.probe.gradient_sequences), probe(scale.probe.rank_sequences)
    arms = {arm: (added.term, float(added.times)) for arm, added in ADDED.items() if not added.exempt}
    return Reader(setting, scale.study, tokens, few, counts, floor, scale.branches.added_loss, arms)


def measure_readings(
    provenance: Provenance, role: Role, reader: Reader, drivers: Drivers, treated: Treatments, weak: float, states: Path, ends: Path
) -> Readings:
    """Everything read from the saved collapses of one cell before any switch; the random direction of an event is drawn from its seed."""
    prepare_threads()
    saved, left = load_states(states / STATES)[0], load_states(ends / STATES)[0]
    skips, rows, aged = [weak, *READ.values()], [], []
    for seed in (event.seed for event in drivers.events):
        print(f"path {role}: seed {seed}", flush=True)
        low, high = saved[f"event-{seed}"], saved[f"control-{seed}"]
        rows.append(reader.read_event(seed, low, high, skips, torch.Generator().manual_seed(seed)))
        aged += [reader.read_aged(seed, low, left[name]) for name in paused_names(seed, treated) if name in left]
    runs = [run for run in treated.branches if f"{run.arm}-{run.seed}" in left and run.diverged_at is None]
    return Readings(
        provenance=provenance, role=role, depth=drivers.depth, floor=drivers.floor, weak_scale=weak, unigram_loss=reader.unigram_loss(),
        events=tuple(rows), ends=tuple(reader.read_end(run, left[f"{run.arm}-{run.seed}"]) for run in runs), aged=tuple(aged),
    )  # fmt: skip


def paused_names(seed: int, treated: Treatments) -> list[str]:
    """Names of the states at the moment of each delayed switch, the shortest delay first."""
    return [f"paused_{number}-{seed}" for number in range(1, len(treated.delays) + 1)]


def profile_of(norms: Mapping[str, torch.Tensor]) -> Profile:
    """Norms (L, 1) of one network as a profile."""
    return Profile(**{name: tuple(values[:, 0].tolist()) for name, values in norms.items()})


def block_row(blocks: Blocks) -> BlockRow:
    """Readings (L, 1) of one network as a row."""
    return BlockRow(**{name: tuple(values[:, 0].tolist()) for name, values in blocks._asdict().items()})


def entropy_row(entropies: Entropies) -> EntropyRow:
    """Entropies (L, 1) of one network as a row."""
    return EntropyRow(**{name: tuple(values[:, 0].tolist()) for name, values in entropies._asdict().items()})


def order_row(order: Order) -> OrderRow:
    """Correlations of one network as a row."""
    return OrderRow(**{name: tuple(values.tolist()) for name, values in order._asdict().items() if name != "at_floor"}, at_floor=order.at_floor)


def replay_row(seed: int, skip: float, replayed: Replayed, branch: Trajectory | engine.Trajectory | None) -> ReplayRow:
    """A replayed state as a row, with the branch's own rank where it was measured at the same step."""
    reading, step = replayed.reading, replayed.state.step
    logged = branch.rank[branch.step.index(step)] if branch is not None and step in branch.step else None
    return ReplayRow(
        seed=seed, skip=skip, updates=replayed.updates, rank=reading.rank[0], residual=reading.residual[0], at_floor=reading.at_floor[0], loss=reading.loss[0],
        task=profile_of(replayed.path), logged=logged, error=None if logged is None else relative_error(reading.rank[0], logged),
    )  # fmt: skip


def read_synthetic(provenance: Provenance, deltas: Sequence[float], seed: int) -> Synthetic:
    """The synthetic matrix curve."""
    return Synthetic(provenance=provenance, tokens=TOKENS, width=WIDTH, points=read_curve(deltas, seed))
