"""The experiments, each one function from parameters and earlier results to a record (and the states it saves)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean, median
from typing import NoReturn

import numpy as np

from audit.records import Provenance, Quantity, Refusal
from rankcollapse import events as rules
from rankcollapse.engine import Run, Setting, State, Trajectory
from rankcollapse.fanout import checkpoint_folder, train_table
from rankcollapse.params import ROLES, Scale
from rankcollapse.plan import setting_of
from rankcollapse.quantities import count, exact, trained
from rankcollapse.records import Calibration, Event, FloorRow, RoleCalibration, RunRow
from rankcollapse.records import Trajectory as TrajectoryRow
from rankcollapse.tables import control, drive, warm_up, warmed
from rankcollapse.text import probe_batch


@dataclass(frozen=True)
class Bench:
    """What every experiment of one role at one scale trains with."""

    label: str
    scale: Scale
    setting: Setting
    folder: str
    data: dict[str, str]
    store: Path

    def probe(self, sequences: int) -> np.ndarray:
        """The fixed probe batch (B, T+1)."""
        return joined(*probe_batch(Path(self.folder), sequences, self.scale.model.context))

    def train(self, name: str, runs: Sequence[Run]) -> list[tuple[Trajectory, State]]:
        """Train a table."""
        rank_probe = self.probe(self.scale.probe.rank_sequences)
        return train_table(
            f"{self.label} {name}", runs, self.setting, folder=self.folder, probe=rank_probe,
            block=self.scale.stack, data=self.data, store=self.store, seconds=self.scale.checkpoint_seconds, fanout=self.scale.fanout,
        )  # fmt: skip


def joined(inputs_BT: np.ndarray, targets_BT: np.ndarray) -> np.ndarray:
    """Inputs and targets as one batch (B, T+1)."""
    return np.concatenate([inputs_BT, targets_BT[:, -1:]], axis=1)


def set_up(stage: str, scale: Scale, depth: int, healthy_q: float, folder: str, provenance: Provenance) -> Bench:
    """The bench of one role."""
    return Bench(stage, scale, setting_of(scale, depth, healthy_q), folder, dict(provenance.data), checkpoint_folder(provenance.stage))


def ranks(trajectory: Trajectory | TrajectoryRow) -> list[float]:
    """Ranks as the rules read them: at floor counts as collapsed."""
    return rules.collapsed_rank(trajectory.rank, trajectory.at_floor)


def describe_run(run: Run, trajectory: Trajectory) -> RunRow:
    """A run as its record shows it."""
    series = {name: tuple(getattr(trajectory, name)) for name in TrajectoryRow.model_fields}
    return RunRow(
        name=run.name, seed=run.seed, arm=run.name.split("/")[0], term=run.term, added_target=run.added,
        first_added=trajectory.first_added, term_weight=trajectory.term_weight, clip_share=trajectory.clipped / max(trajectory.trained, 1),
        diverged_at=trajectory.diverged_at, trajectory=TrajectoryRow(**series),
    )  # fmt: skip


def calibrate(provenance: Provenance, scale: Scale, seeds: Sequence[int], folder: str) -> Calibration:
    """Healthy values and thresholds per role, and the largest floor at which every seed collapses and stays."""
    roles = {role: calibrate_role(role, scale, seeds, folder, provenance) for role in ROLES}
    floor = choose_floor("calibrate", [role.grid for role in roles.values()], len(seeds))
    return Calibration(provenance=provenance, floor=floor, **roles)


def choose_floor(place: str, grids: Sequence[Sequence[FloorRow]], seeds: int) -> Quantity:
    """The largest floor at which every seed, in every grid given, collapsed, stayed, and lost its residual too.

    Where the grid has none, the largest at which they collapsed and stayed by rank: a rank can be lost while a residual, and with it a
    path, survives, and such networks are not what the treatments are about.
    """
    found = {rule: find_floor(grids, seeds, rule) for rule in ("effective", "stayed")}
    return found["effective"] or found["stayed"] or refuse_grid(place, grids, seeds)


def find_floor(grids: Sequence[Sequence[FloorRow]], seeds: int, rule: str) -> Quantity | None:
    """The largest floor at which a rule holds for every seed of every grid."""
    return next((rows[0].floor for rows in zip(*grids, strict=True) if all(getattr(row, rule).value == seeds for row in rows)), None)


def refuse_grid(place: str, grids: Sequence[Sequence[FloorRow]], seeds: int) -> NoReturn:
    """No floor collapses every seed for good."""
    found = "; ".join(", ".join(f"{row.floor.value:g}: {row.stayed.value}/{seeds}" for row in grid) for grid in grids)
    raise Refusal(place, "no floor of the grid collapses every seed for good", observed=found, cure="add a smaller floor to driver.floors")


def calibrate_role(role: str, scale: Scale, seeds: Sequence[int], folder: str, provenance: Provenance) -> RoleCalibration:
    """Calibrate one depth: healthy networks first, then a driver per floor and seed."""
    depth = getattr(scale.depths, role)
    bench = set_up(f"calibrate {role}", scale, depth, 0.0, folder, provenance)
    origins, number = warmed(seeds, scale), len(seeds)
    healthy_runs = control(seeds, origins, scale.driver.ramp + scale.driver.hold, scale)
    driven_runs = [run for floor in scale.driver.floors for run in drive(seeds, origins, floor, scale, None)]
    results = bench.train("floors", [*warm_up(seeds, scale), *healthy_runs, *driven_runs])
    refuse_diverged(bench, seeds, results)
    warm, healthy, driven = results[:number], [t for t, _ in results[number : 2 * number]], [t for t, _ in results[2 * number :]]
    window = scale.rules.settle_window
    rank = [median(t.rank[-window:]) for t in healthy]
    level, spread = fmean(rank), trained(rank, scale, "mean", digits=2).tolerance
    low, high = scale.rules.collapse * level, scale.rules.recover * level
    if any(value < high for value in rank):
        raise Refusal(
            f"calibrate {role}",
            "a healthy network lies below the recovery threshold",
            expected=f">= {high:.3f}",
            observed=f"{min(rank):.3f}",
            cure="train longer before the ramp (driver.warm)",
        )
    residual = [median(t.residual[-window:]) for t in healthy]
    grid = judge_grid(scale, len(seeds), driven, low, high, scale.rules.effective * fmean(residual))
    dips = [last_below([*w.step, *t.step], [*w.rank, *t.rank], low) for (w, _), t in zip(warm, healthy, strict=True)]
    return RoleCalibration(
        depth=exact(depth, unit="blocks"),
        edge=find_floor([grid], len(seeds), "stayed") or refuse_grid(f"calibrate {role}", [grid], len(seeds)),
        healthy_rank=trained(rank, scale, "mean", digits=2),
        healthy_residual=trained(residual, scale, "mean", digits=2),
        healthy_q=sqrt(level - 1),
        collapse_threshold=Quantity(value=low, digits=2, tolerance=scale.rules.collapse * spread),
        recover_threshold=Quantity(value=high, digits=2, tolerance=scale.rules.recover * spread),
        early_dip_ends=trained(dips, scale, "max", unit="steps", digits=0, style="integer"),
        grid=grid,
        runs=tuple(describe_run(run, t) for run, t in zip([*healthy_runs, *driven_runs], [*healthy, *driven], strict=True)),
    )  # fmt: skip


def refuse_diverged(bench: Bench, seeds: Sequence[int], results: Sequence[tuple[Trajectory, State]]) -> None:
    """A network that diverged in the warm-up, which stands first in its table, leaves nothing to drive."""
    for seed, (trajectory, _) in zip(seeds, results):
        if trajectory.diverged_at is not None:
            raise Refusal(
                f"{bench.label}: seed {seed}",
                "diverged in the warm-up",
                observed=f"step {trajectory.diverged_at}",
                cure="lower optimiser.learning_rate",
            )


def last_below(steps: Sequence[int], ranks_: Sequence[float], threshold: float) -> int:
    """Last measured step with a rank below the threshold; 0 where there is none."""
    return max((step for step, rank in zip(steps, ranks_, strict=True) if rank < threshold), default=0)


def judge_grid(scale: Scale, seeds: int, driven: Sequence[Trajectory], low: float, high: float, least: float) -> tuple[FloorRow, ...]:
    """For each floor, how many seeds settled into a collapse, how many of them stayed in it, and how many of these lost their residual too."""
    rows = []
    for index, floor in enumerate(scale.driver.floors):
        own = driven[index * seeds : (index + 1) * seeds]
        settled, stays = zip(*(settle(t, scale, low, high) for t in own), strict=True)
        lost = [stay and median(t.residual[-scale.rules.settle_window :]) < least for t, stay in zip(own, stays, strict=True)]
        rows.append(FloorRow(floor=exact(floor, digits=4), settled=count(settled), stayed=count(stays), effective=count(lost)))
    return tuple(rows)


def settle(trajectory: Trajectory, scale: Scale, low: float, high: float) -> tuple[bool, bool]:
    """Whether a driver's collapse settled, and whether its trailing median then stayed below recovery."""
    series, rule = ranks(trajectory), scale.rules
    found = rules.find_lasting(trajectory.step, series, low, scale.driver.warm, rule.settle_after, rule.settle_window)
    if found is None:
        return False, False
    later = rules.trailing_medians(series, rule.recover_window)[found[1] :]
    return True, all(value is not None and value < high for value in later)


def joined_trajectory(first: Trajectory, then: Trajectory) -> Trajectory:
    """The warm-up and what followed it as one trajectory; the shared measurement stands once."""
    whole = Trajectory(clipped=first.clipped + then.clipped, trained=first.trained + then.trained, diverged_at=then.diverged_at)
    for name in TrajectoryRow.model_fields:
        getattr(whole, name).extend([*getattr(first, name)[:-1], *getattr(then, name)])
    return whole


def find_event(seed: int, driven: Trajectory, healthy: Trajectory, low: float, scale: Scale) -> Event | None:
    """The settled collapse of a driver, or None."""
    series, rule = ranks(driven), scale.rules
    found = rules.find_lasting(driven.step, series, low, scale.driver.warm, rule.settle_after, rule.settle_window)
    if found is None:
        return None
    detected, settled = found
    beside = healthy.loss[healthy.step.index(driven.step[settled])]
    return Event(
        seed=seed, detected=driven.step[detected], saved=driven.step[settled], skip_at_collapse=driven.skip[detected],
        rank=driven.rank[settled], residual=driven.residual[settled], at_floor=driven.at_floor[settled],
        loss=driven.loss[settled], loss_gap=driven.loss[settled] - beside,
    )  # fmt: skip
