"""The figure of the bursts: what a burst of high learning rate does to the rank, what it leaves of the path, and whether the rank comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt

from rankcollapse import looks
from rankcollapse.arm_records import ArmRow, Development, Excursions
from rankcollapse.curves import Bursts, Cell, burst_rows, gaps_after, multipliers_of, ranks_of, recovery_time
from rankcollapse.looks import WIDTH, Look, add_legend, draw_budget, draw_time
from rankcollapse.params import Rules
from rankcollapse.records import RoleCalibration


def draw_bursts(bursts: Bursts, cells: Sequence[Cell], healthy: RoleCalibration, rules: Rules) -> Any:
    """Rank during and after the bursts above; predictor, where given, and recovery below (figure 4 of the source paper)."""
    figure = plt.figure(figsize=(WIDTH, 4.6))
    panels = [["rank", "rank"], ["path", "time"]] if bursts.openings is not None else [["rank", "rank"], ["time", "time"]]
    axes = figure.subplot_mosaic(panels)
    draw_ranks(axes["rank"], bursts, healthy)
    draw_times(axes["time"], bursts, float(healthy.recover_threshold.value), rules)
    if bursts.openings is not None:
        draw_openings(axes["path"], bursts, bursts.openings, cells, healthy, rules)
    add_legend(figure, 3)
    return figure


def draw_ranks(axis: Any, bursts: Bursts, healthy: RoleCalibration) -> None:
    """Rank at every measurement from before the burst to the end of what followed it; the burst is shaded."""
    record, after = bursts.excursions, bursts.continuations
    start = min(row.start for row in record.bursts)
    end = max(row.start for row in after.branches) if after.branches else max(row.trajectory.step[-1] for row in record.bursts)
    axis.axvspan(0, end - start, color="#DDDDDD", linewidth=0, label="burst")
    for row in (*record.warm, *record.controls, *after.controls):
        plot_rank(axis, row, looks.CONTROL, start, start - end)
    for multiplier, look in zip(multipliers_of(record), looks.BURSTS, strict=True):
        names = (f"burst_{multiplier:g}", f"after_{multiplier:g}")
        for row in (row for row in (*record.bursts, *after.branches) if row.arm in names):
            plot_rank(axis, row, look, start, start - end)
    axis.axhline(float(healthy.recover_threshold.value), linewidth=0.7, **looks.RECOVER.line())
    axis.axhline(float(healthy.collapse_threshold.value), linewidth=0.7, **looks.COLLAPSE.line())
    axis.set(xlabel="updates since the burst began", ylabel="stable rank, last block")
    axis.set_xlim(left=start - end)
    axis.set_title(f"{record.depth} blocks")


def plot_rank(axis: Any, row: ArmRow, look: Look, since: int, first: int) -> None:
    """One run, from `first` updates after the burst began: what lies outside of the panel would stretch its axis."""
    shown = [(step - since, rank) for step, rank in zip(row.trajectory.step, ranks_of(row.trajectory), strict=True) if step - since >= first]
    axis.plot([step for step, _ in shown], [rank for _, rank in shown], linewidth=0.7, **look.line())


def draw_times(axis: Any, bursts: Bursts, threshold: float, rules: Rules) -> None:
    """Steps to recovery against the loss gap at the end of the burst."""
    budget = draw_budget(axis, [row for _, rows, _ in list_records(bursts) for row in rows])
    for record, rows, name in list_records(bursts):
        for place, look in enumerate(looks.BURSTS):
            gaps, own = gaps_after(record, place, bursts.gaps), look_of(look, name)
            axis.plot([], [], **own.dots())  # so that the legend shows it filled, whatever came of the first
            for row in burst_rows(record, rows, place):
                time = recovery_time(row, threshold, rules)
                draw_time(axis, gaps[row.seed], time, own, not time.censored, budget)
    probe = "rank" if bursts.gaps is None else "gradient"
    axis.set(xlabel=f"loss gap at the end of the burst,\nnats per token of the {probe} probe", ylabel="steps to recovery")


def look_of(look: Look, name: str) -> Look:
    """The look of a multiplier's networks after the burst; development networks are triangles."""
    return look._replace(label=f"after {look.label}{name}", marker={"o": "^", "D": "v"}[look.marker] if name else look.marker)


def list_records(bursts: Bursts) -> list[tuple[Excursions | Development, Sequence[ArmRow], str]]:
    """The registered networks, and the development ones where they are given: record, what followed, and what a legend adds."""
    found: list[tuple[Excursions | Development, Sequence[ArmRow], str]] = [(bursts.excursions, bursts.continuations.branches, "")]
    if bursts.development is not None:
        found.append((bursts.development, bursts.development.branches, " (development)"))
    return found


def draw_openings(
    axis: Any, bursts: Bursts, openings: Mapping[tuple[float, int], float], cells: Sequence[Cell], healthy: RoleCalibration, rules: Rules
) -> None:
    """The predictor of the collapsed, of every network at the end of its burst (filled here where it recovered) and of the healthy."""
    events = [event for cell in cells if cell.role == bursts.excursions.role for event in cell.readings()]
    threshold = float(healthy.recover_threshold.value)
    for x, look, values in ((0, looks.COLLAPSED, [e.collapsed.opening for e in events]), (3, looks.HEALTHY, [e.healthy.opening for e in events])):
        axis.plot([x] * len(values), values, **look.dots(x == 3, label="_"))
    for record, rows, name in list_records(bursts):
        for place, look in enumerate(looks.BURSTS):
            multiplier = multipliers_of(record)[place]
            for row in burst_rows(record, rows, place):
                if (multiplier, row.seed) in openings:
                    came = not recovery_time(row, threshold, rules).censored
                    dots = look_of(look, name).dots(came, label="_", zorder=2 + came)
                    axis.plot(1 + place + (0.15 if name else 0), openings[multiplier, row.seed], **dots)
    axis.set(yscale="log", ylabel=r"$\|\nabla_{Q,K}\|$, median over blocks")
    axis.set_xticks(range(4), ["collapsed", "burst $m_1$", "burst $m_2$", "healthy"])
    axis.set_xlim(-0.5, 3.5)
