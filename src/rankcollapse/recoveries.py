"""What became of the branches of one seed set at one depth: recoveries, times, what is left of the loss gap; free of torch.

Conventions, so that every branch has a finite value. What did not recover within its budget took budget + 1 steps, and so did a loss gap
that was not half closed. A rank at floor is 1. The gap is the branch's task loss above its healthy control's at the same step; between two
measurements the control lies on the line through them, but where a branch ends later than the drivers it has to be measured.
A branch that diverged ends with its last measurement, and did not recover after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rankcollapse.arm_records import ArmRow
from rankcollapse.events import collapsed_rank, find_return
from rankcollapse.params import Scale
from rankcollapse.records import RoleCalibration
from rankcollapse.seed_cells import Cell, Control, Values, share_of
from rankcollapse.statistics import censor, count_returns

UNDELAYED = "switch_03"
"""The arm that is `delay_0`."""
POOLED = ("ramp", "switch_03", "switch_06")
"""Arms over which the source paper counts what recovered (section 7): 18 + 16 + 8 networks."""
FAILING = ("untreated", "penalty_1x", "penalty_4x", "hinge_1x", "hinge_4x")
"""Arms none of which recovers in the row of outcomes that the source paper fixed in advance (appendix G)."""
MATCHED = 0.1
"""Share of its target within which the loss added at first counts as matched."""


class Outcome(NamedTuple):
    """One branch. Steps count from where it set out; None for what did not happen."""

    row: ArmRow
    budget: int
    rank: int | None
    """Steps to recovery by rank, to the end of the first held window."""
    effective: int | None
    """Likewise with the relative residual back too."""
    half_gap: int | None
    """Steps to the first measurement at which half of the loss gap at saving is closed."""
    rank_end: float
    gap_end: float
    gap_saved: float


def budget_of(row: ArmRow, scale: Scale) -> int:
    """Steps that a branch was given."""
    plan = scale.branches
    still = {"untreated": plan.untreated_steps, "epsilon": plan.untreated_steps, "aged_decay_0": scale.study.delays[-1]}
    moved = {"ramp": plan.ramp_steps + plan.after_ramp}
    return (still | moved).get(row.arm, plan.switch_steps if row.term == "none" else plan.loss_steps)


def find_time(row: ArmRow, calibration: RoleCalibration, scale: Scale, *, effective: bool = False) -> int | None:
    """Steps from the branch's start to the end of the first trailing window that recovers and holds, by rank or effectively; None without one."""
    residual = scale.rules.effective * float(calibration.healthy_residual.value) if effective else None
    found = find_return(row.trajectory, scale.rules, float(calibration.recover_threshold.value), residual)
    return None if found is None else row.trajectory.step[found] - row.start


def time_half_gap(row: ArmRow, control: Control, gap: float) -> int | None:
    """Steps to the first measurement whose loss is above the control's by half of a gap, or less."""
    series = zip(row.trajectory.step, row.trajectory.loss, strict=True)
    return next((step - row.start for step, loss in series if loss - control.near(step) <= gap / 2), None)


def judge_branch(row: ArmRow, cell: Cell) -> Outcome:
    """What became of one branch."""
    run, scale, control = row.trajectory, cell.scale, cell.control(row.seed)
    ranks = collapsed_rank(run.rank, run.at_floor)
    gap = next(event.loss_gap for event in cell.events if event.seed == row.seed)
    beside = control.at(run.step[-1]) if row.diverged_at is None else control.near(run.step[-1])
    return Outcome(
        row, budget_of(row, scale), find_time(row, cell.calibration, scale), find_time(row, cell.calibration, scale, effective=True),
        time_half_gap(row, control, gap), ranks[-1], run.loss[-1] - beside, gap,
    )  # fmt: skip


def judge_arms(cell: Cell) -> dict[str, list[Outcome]]:
    """Every branch by arm, in the order of the events; `delay_0` is the switch without delay."""
    found = {arm: [judge_branch(row, cell) for row in rows] for arm, rows in cell.arms.items()}
    return found | ({"delay_0": found[UNDELAYED]} if UNDELAYED in found else {})


def key_of(arm: str) -> str:
    """An arm as keys name it."""
    return f"unclipped_{arm.removesuffix('_unclipped')}" if arm.endswith("_unclipped") else arm


def value_arm(branches: Sequence[Outcome], threshold: float) -> Values:
    """Every number of one arm, one a branch; `T_recovered` of those alone that recovered by rank, and absent where none did."""
    times = [censor([branch.rank], branch.budget)[0] for branch in branches]
    runs = [branch.row.trajectory for branch in branches]
    values: Values = {
        "branches": (1,) * len(branches),
        "recovered_rank": tuple(int(branch.rank is not None) for branch in branches),
        "recovered_effective": tuple(int(branch.effective is not None) for branch in branches),
        "T_rec": tuple(times),
        "T_over_budget": tuple(time / branch.budget for time, branch in zip(times, branches, strict=True)),
        "half_gap": tuple(censor([branch.half_gap], branch.budget)[0] for branch in branches),
        "rank_end": tuple(branch.rank_end for branch in branches),
        "rank_end_over_threshold": tuple(branch.rank_end / threshold for branch in branches),
        "residual_end": tuple(run.residual[-1] for run in runs),
        "loss_gap_end": tuple(branch.gap_end for branch in branches),
        "clip_share": tuple(branch.row.clip_share for branch in branches),
    }
    if recovered := tuple(float(branch.rank) for branch in branches if branch.rank is not None):
        values["T_recovered"] = recovered
    if branches[0].row.term != "none":
        values["first_added"] = tuple(branch.row.first_added for branch in branches)
    return values


def value_arms(arms: dict[str, list[Outcome]], threshold: float) -> Values:
    """Every number of every arm."""
    return {f"{key_of(arm)}.{name}": own for arm, branches in arms.items() for name, own in value_arm(branches, threshold).items()}


def value_matched(arms: dict[str, list[Outcome]]) -> Values:
    """Of every clipped branch with a term, whether the loss it added at first was within a tenth of its target.

    An unclipped one adds the same loss at first as its clipped twin, and would count that a second time.
    """
    rows = [branch.row for branches in arms.values() for branch in branches if branch.row.term != "none" and not branch.row.exempt]
    flags = tuple(int(abs(row.first_added - row.added_target) <= MATCHED * row.added_target) for row in rows)
    return {"treat.matched_within_tenth": flags} if rows else {}


def value_recovered(name: str, branches: Sequence[Outcome]) -> Values:
    """Loss gap at the end of the branches that recovered by rank, and over the gap at saving; absent where none did."""
    own = [branch for branch in branches if branch.rank is not None]
    gaps, shares = tuple(branch.gap_end for branch in own), tuple(share_of(branch.gap_end, branch.gap_saved) for branch in own)
    return {f"{name}.loss_gap_end": gaps, f"{name}.gap_end_over_gap_saved": shares} if own else {}


def is_delayed(arm: str) -> bool:
    """Whether an arm waits at the floor before its switch."""
    return arm.startswith("delay_") and arm != "delay_0"


def value_pools(arms: dict[str, list[Outcome]]) -> Values:
    """What recovered on the ramp and after the switches to 0.3 and 0.6; and with every other switch, delayed ones included."""
    pinned = [branch for arm in POOLED for branch in arms.get(arm, ())]
    wider = [branch for arm, branches in arms.items() if arm == "ramp" or arm.startswith("switch_") or is_delayed(arm) for branch in branches]
    return value_recovered("recovered", pinned) | value_recovered("recovered_all", wider)


def value_delays(arms: dict[str, list[Outcome]]) -> Values:
    """By event: recoveries without delay, their share among its delayed branches, and whether a longer delay recovered after a shorter failed.

    Over the events that have every delay; absent where there is no delayed arm.
    """
    delayed = sorted((arm for arm in arms if is_delayed(arm)), key=lambda arm: int(arm.removeprefix("delay_")))
    if not delayed or UNDELAYED not in arms:
        return {}
    flags = [[branch.rank is not None for branch in row] for row in zip(*(arms[arm] for arm in (UNDELAYED, *delayed)), strict=False)]
    return {
        "delay.undelayed_recovered": tuple(int(row[0]) for row in flags),
        "delay.share_recovered": tuple(sum(row[1:]) / len(delayed) for row in flags),
        "delay.returned": tuple(int(returns > 0) for returns in count_returns(flags)),
    }


def none_recovers(arms: dict[str, list[Outcome]]) -> bool:
    """Whether no penalty, no hinge and no untreated branch recovered by rank."""
    return all(branch.rank is None for arm in FAILING for branch in arms.get(arm, ()))


def value_branches(arms: dict[str, list[Outcome]], threshold: float) -> Values:
    """Every number of the branches of one role."""
    return value_arms(arms, threshold) | value_matched(arms) | value_pools(arms) | value_delays(arms)
