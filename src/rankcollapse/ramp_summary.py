"""What trajectories say of one seed set at one depth: drivers on their way down, the reversed ramp, markers, healthy controls; free of torch.

Conventions, so that every event has a finite value. A skip scale that never came back is `NEVER`, above every real one, and its ratio is
0; a skip scale below `LEAST_SKIP` counts as that in a ratio. A marker without a crossing crossed at detection + 1. A control that was
never below the collapse threshold was last there at step 0; one that does not stay above the recovery threshold does so at its last
step + 1. A driver that never came down to a scale is read at its end. A rank at floor is 1.
"""

from __future__ import annotations

from audit.records import Refusal
from rankcollapse.arm_records import ArmRow
from rankcollapse.events import collapsed_rank
from rankcollapse.ramps import MARKERS, cross_markers, find_scale, is_loss_not_later, is_ordered, pass_scale, read_hysteresis, subtract_control
from rankcollapse.records import Event, Trajectory
from rankcollapse.seed_cells import Cell, Values

NEVER = 1.1
"""Skip scale of a recovery on the reversed ramp that did not happen."""
LEAST_SKIP = 1e-3
"""A skip scale below this counts as this in a ratio."""
HELD = {"06": 0.6, "03": 0.3}
"""Scales of the switches at which drivers are looked at on their way down, beside the weak one."""
DELAYED = 0.3
"""Skip scale before which the reversed ramp is slower than a switch (source paper, appendix C)."""
CROSSED = dict(zip(MARKERS, ("gap_crossed", "cosine_crossed", "loss_crossed"), strict=True))


def value_hysteresis(cell: Cell) -> Values:
    """Skip scales at collapse and at recovery on the reversed ramp, and steps of that ramp to 0.3 over those of the schedule."""
    floor, columns = cell.drivers.floor, {}
    for event, row in zip(cell.events, cell.arms.get("ramp", ()), strict=False):
        for name, value in read_event(event, row, cell).items():
            columns.setdefault(f"hyst.{name}", []).append(value)
    columns["hyst.skip_at_collapse"] = [event.skip_at_collapse for event in cell.events]
    columns["hyst.skip_at_collapse_over_floor"] = [ratio_of(event.skip_at_collapse, floor) for event in cell.events]
    return {name: tuple(values) for name, values in columns.items()}


def read_event(event: Event, row: ArmRow, cell: Cell) -> dict[str, float]:
    """One reversed ramp; no steps to 0.3 where it set out from above, or diverged before."""
    rules, floor = cell.scale.rules, cell.drivers.floor
    found = read_hysteresis(event.skip_at_collapse, row.trajectory, cell.threshold, rules.recover_window, rules.recover_hold)
    values = {
        "skip_at_recovery": NEVER if found.recovery is None else found.recovery,
        "ratio": 0.0 if found.first is None else ratio_of(found.first, event.skip_at_collapse),
    }
    arrived = find_scale(row.trajectory, DELAYED) if floor < DELAYED else None
    if arrived is not None:
        values["steps_to_03_over_arithmetic"] = (arrived - row.start) / ((DELAYED - floor) / (1 - floor) * cell.scale.branches.ramp_steps)
    return values


def ratio_of(skip: float, other: float) -> float:
    """One skip scale over another."""
    return max(skip, LEAST_SKIP) / max(other, LEAST_SKIP)


def value_markers(cell: Cell) -> Values:
    """By event, the steps at which spectral gap, squared cosine and loss gap were half-way to their values at detection, and their order."""
    rows = [cross_event(event, cell) for event in cell.events]
    steps = {
        f"markers.{name}": tuple(event.detected + 1 if row[marker] is None else row[marker] for event, row in zip(cell.events, rows, strict=True))
        for marker, name in CROSSED.items()
    }
    return steps | {
        "markers.ordered": tuple(int(is_ordered(row)) for row in rows),
        "markers.loss_not_later": tuple(int(is_loss_not_later(row)) for row in rows),
    }


def cross_event(event: Event, cell: Cell) -> dict[str, int | None]:
    """Crossings of one driver; Refusal where it was not read for a marker."""
    place, driver = f"summary {cell.role}: seed {event.seed}", cell.driver(event.seed).trajectory
    missing = [name for name in MARKERS[:-1] if name not in driver.extra]
    if missing:
        raise Refusal(place, f"the driver has no {' and no '.join(missing)}", expected=", ".join(MARKERS[:-1]), cure="name them in study.readings")
    series = {name: driver.extra[name] for name in MARKERS[:-1]} | {"loss_gap": subtract_control(place, driver, cell.beside_driver(event.seed))}
    return cross_markers(driver.step, series, cell.scale.driver.warm, event.detected)


def value_driver(cell: Cell) -> Values:
    """Rank of the drivers at the scales of the switches, on their way down."""
    runs = [cell.driver(seed).trajectory for seed in cell.seeds]
    scales = HELD | {"weak": cell.readings.weak_scale}
    ranks = {name: tuple(rank_at(run, skip) for run in runs) for name, skip in scales.items()}
    weak = tuple(rank / cell.threshold for rank in ranks["weak"])
    return {f"driver.rank_at_{name}": own for name, own in ranks.items()} | {"driver.rank_at_weak_over_threshold": weak}


def rank_at(driver: Trajectory, skip: float) -> float:
    """Rank at the first measurement at or below a skip scale."""
    found = pass_scale(driver, skip)
    return found.rank if found else collapsed_rank(driver.rank, driver.at_floor)[-1]


def value_controls(cell: Cell) -> Values:
    """By healthy control: whether it was below the collapse threshold, until when, and from when it stayed above the recovery threshold.

    Times are over the first step of the ramp, so that 1 is there.
    """
    low, start = float(cell.calibration.collapse_threshold.value), cell.scale.driver.warm
    runs = [row.trajectory for row in cell.drivers.controls]
    last = [max(steps_below(run, low), default=0) for run in runs]
    return {
        "controls.dipped_early": tuple(int(bool(steps_below(run, low))) for run in runs),
        "controls.last_dip": tuple(last),
        "controls.last_dip_over_ramp_start": tuple(step / start for step in last),
        "controls.recovered_over_ramp_start": tuple(find_stay(run, cell.threshold) / start for run in runs),
    }


def steps_below(run: Trajectory, threshold: float) -> list[int]:
    """Measured steps with a rank below a threshold."""
    return [step for step, rank in zip(run.step, collapsed_rank(run.rank, run.at_floor), strict=True) if rank < threshold]


def find_stay(run: Trajectory, threshold: float) -> int:
    """First measured step from which the rank stays at or above a threshold; the last step + 1 where there is none."""
    last = max(steps_below(run, threshold), default=-1)
    return next((step for step in run.step if step > last), run.step[-1] + 1)


def value_trajectories(cell: Cell) -> Values:
    """Every number of the ramps of one role."""
    return value_hysteresis(cell) | value_markers(cell) | value_driver(cell) | value_controls(cell)
