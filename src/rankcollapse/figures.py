"""Records to the paper's figures: vector PDF and SVG, the same bytes from the same records, readable in black and white."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from audit.records import Refusal
from rankcollapse import looks
from rankcollapse.arm_records import ArmRow, SetRecords
from rankcollapse.curves import (
    LEAST_SKIP,
    Bursts,
    Cell,
    find_opening,
    list_cells,
    median_course,
    ranks_of,
    recovery_index,
    recovery_time,
    smooth_rank,
)
from rankcollapse.figures_attention import Attention, draw_attention
from rankcollapse.figures_bursts import draw_bursts
from rankcollapse.figures_forces import draw_forces
from rankcollapse.figures_path import draw_path
from rankcollapse.figures_pure import draw_pure
from rankcollapse.looks import ARMS, GREY, WIDTH, Look, add_legend, draw_budget, draw_keys, draw_time, spread_ticks, write
from rankcollapse.params import Role, Rules
from rankcollapse.records import Calibration
from rankcollapse.records_pure import Pure
from rankcollapse.records_readings import Synthetic

RANK, QK = "stable rank, last block", r"$\|\nabla_{Q,K}\|$, median over blocks"
TIMED = ("switch_03", "delay_1", "delay_2", "delay_3", "decay_0", "reset")
"""Switches to the same skip scale, by what went before."""
PUSHED = [arm for arm in looks.ADDED if arm.startswith(("penalty", "hinge"))]
GROUPS = {
    "stable rank:\npenalty, hinge": PUSHED, "stable rank: untreated,\ncosine, ramp": [arm for arm in looks.ADDED if arm not in PUSHED],
    "stable rank:\nswitches": list(looks.SWITCHED), "stable rank:\nlater switches": list(looks.AGED),
}  # fmt: skip
"""Rows of the figure of treatments, by label; what moves the rank least has an axis of its own."""


def draw_all(
    folder: Path, calibration: Calibration, main: SetRecords, replication: SetRecords | None, synthetic: Synthetic, bursts: Bursts | None,
    *, rules: Rules, thresholds: Mapping[Role, float] | None = None, pure: Pure | None = None,
    attention: Attention | None = None,
) -> None:  # fmt: skip
    """Draw the figures into a folder, without the panels of what is None.

    Ranks are trailing medians and recoveries those of the rules; `thresholds` are those of the predictor, as a gradient norm. Refusal for an arm
    that no figure knows.
    """
    cells = list_cells(calibration, main, replication)
    refuse_strange(cells)
    folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(looks.STYLE):
        write(folder / "driver.pdf", draw_driver([cell for cell in cells if cell.first], rules))
        write(folder / "treatments.pdf", draw_treatments(cells, rules))
        write(folder / "path.pdf", draw_path(cells))
        write(folder / "hysteresis.pdf", draw_hysteresis(cells, rules))
        write(folder / "delays.pdf", draw_delays(cells, rules))
        write(folder / "forces.pdf", draw_forces(cells, synthetic))
        write(folder / "prediction.pdf", draw_prediction(cells, rules, thresholds or {}))
        if bursts is not None:
            write(folder / "bursts.pdf", draw_bursts(bursts, cells, getattr(calibration, bursts.excursions.role), rules))
        if pure is not None:
            write(folder / "pure.pdf", draw_pure(pure))
        if attention is not None:
            draw_attention(folder, attention)


def refuse_strange(cells: Sequence[Cell]) -> None:
    """Every arm has a look, so that none is left out in silence."""
    strange = sorted({row.arm for cell in cells for row in cell.branches()} - set(ARMS))
    if strange:
        raise Refusal("figures", "arms without a look", expected=", ".join(ARMS), observed=", ".join(strange), cure="give them one in looks.py")


def open_grid(rows: int, columns: int, height: float, **more: Any) -> tuple[Any, Any]:
    """A figure as wide as the line, with an array of axes (rows, columns)."""
    return plt.subplots(rows, columns, figsize=(WIDTH, height), squeeze=False, **more)


def draw_threshold(axis: Any, value: float, look: Look = looks.RECOVER) -> None:
    """A threshold across a panel."""
    axis.axhline(value, linewidth=0.7, **look.line())


def draw_driver(cells: Sequence[Cell], rules: Rules) -> Any:
    """Skip scale, rank and loss along the drivers, and calibration's grid of floors (figure 5 of the source paper)."""
    figure, axes = open_grid(4, len(cells), 5.8, sharex="row", sharey="row")
    for column, cell in zip(axes.T, cells, strict=True):
        record, threshold = cell.records.drivers[cell.role], float(cell.healthy.collapse_threshold.value)
        for rows, look in ((record.controls, looks.CONTROL), (record.drivers, looks.DRIVEN)):
            for run in (row.trajectory for row in rows):
                series = (np.maximum(run.skip, LEAST_SKIP), ranks_of(run), run.loss)
                for axis, values in zip(column, series, strict=False):
                    axis.plot(run.step, values, linewidth=0.7, **look.line())
        for event in record.events:
            column[1].plot(event.detected, threshold, zorder=3, **Look("first below the threshold", looks.INK, "", "v").dots(False))
            column[1].plot(event.saved, event.rank, zorder=3, **Look("settled and saved", looks.INK, "", "o").dots(False))
        draw_floors(column[3], cell, rules.settle_window)
        for axis in (column[1], column[3]):
            draw_threshold(axis, threshold, looks.COLLAPSE)
        draw_threshold(column[3], cell.recover)
        column[0].set(yscale="log", ylabel=r"skip scale $\alpha$")
        column[0].set_title(cell.title)
        column[1].set(ylabel=RANK)
        column[2].set(ylabel="loss, nats per token", xlabel="training step")
        column[3].set(ylabel="stable rank,\ncalibration", xlabel=r"floor $\alpha_{\min}$ of the skip scale")
    return finish(figure, axes, 4, own=(2,))


def draw_floors(axis: Any, cell: Cell, window: int) -> None:
    """Rank at the end of calibration's drivers by floor, and of its healthy networks: median over the last measurements, and their range."""
    floors = sorted(float(row.floor.value) for row in cell.healthy.grid)
    places: dict[int, list[Sequence[float]]] = {place: [] for place in range(len(floors) + 1)}
    for row in cell.healthy.runs:
        nearest = int(np.argmin([abs(floor - row.trajectory.skip[-1]) for floor in floors]))
        places[nearest if row.arm == "driver" else len(floors)].append(ranks_of(row.trajectory)[-window:])
    for place, ends in places.items():
        look = looks.CONTROL if place == len(floors) else looks.DRIVEN
        for x, end in zip(place + looks.spread(len(ends)), ends, strict=True):
            axis.vlines(x, min(end), max(end), color=look.colour, linewidth=0.8)
            axis.plot(x, np.median(end), **look.dots(place < len(floors), label="_", markersize=3))
    axis.plot([], [], **looks.DRIVEN.dots(label="driver, end of calibration (bar: range)", markersize=3))
    axis.set_xticks(list(places), [*(f"{floor:g}" for floor in floors), "healthy"])


def finish(figure: Any, axes: Any, columns: int, order: Sequence[str] = (), own: Sequence[int] = ()) -> Any:
    """Labels at the outside only, but for rows with a horizontal axis of their `own`, and one legend below."""
    for (row, column), axis in np.ndenumerate(axes):
        if column:
            axis.set_ylabel("")
            axis.tick_params(which="both", labelleft=False)
        if row < len(axes) - 1 and row not in own:
            axis.set_xlabel("")
            axis.tick_params(which="both", labelbottom=False)
    figure.align_ylabels(axes[:, 0])
    add_legend(figure, columns, order)
    return figure


def draw_treatments(cells: Sequence[Cell], rules: Rules) -> Any:
    """Rank after each treatment is switched on: penalties and hinges on axes of their own, cosine and ramp, switches, and switches after a
    delay (figure 1 of the source paper)."""
    figure, axes = open_grid(len(GROUPS), len(cells), 6.8, sharey="row", sharex="row", height_ratios=(1.6, 1, 1, 1))
    for column, cell in zip(axes.T, cells, strict=True):
        for axis, (label, arms) in zip(column, GROUPS.items(), strict=True):
            for place, arm in enumerate(arms):
                draw_arm(axis, cell.of_arm(arm), ARMS[arm], rules.recover_window, place / len(arms))
            draw_threshold(axis, cell.recover)
            axis.set(ylabel=label, xlabel="steps since switch-on")
        column[0].set_title(cell.title)
    for rows in (axes[:1], axes[1:]):
        last = max(axis.get_xlim()[1] for axis in rows.flat)
        for axis in rows.flat:
            axis.set_xlim(0, last)
    return finish(figure, axes, 4, [look.label for look in ARMS.values()], own=(0,))


def draw_arm(axis: Any, rows: Sequence[ArmRow], look: Look, window: int, shift: float) -> None:
    """Smoothed ranks of one arm over the steps since its start: every network as a thin line, their median with markers, from `shift` on."""
    courses = [[(step - row.start, rank) for step, rank in zip(*smooth_rank(row.trajectory, window), strict=True)] for row in rows]
    for course in courses:
        axis.plot(*zip(*course, strict=True), linewidth=0.35, **look.line(label="_", alpha=0.7, linestyle="-"))
    middle = median_course(courses)
    if middle:
        every = max(len(middle) // 3, 1)
        marks = dict(marker=look.marker, markevery=(round(shift * every), every), markersize=3, markeredgewidth=0.7, markerfacecolor="white")
        axis.plot(*zip(*middle, strict=True), linewidth=1.0, zorder=3, **look.line(**marks))


def draw_hysteresis(cells: Sequence[Cell], rules: Rules) -> Any:
    """Rank against the skip scale on the way down and back up, with where it was lost and found again (figure 3 of the source paper)."""
    figure, axes = open_grid(1, len(cells), 2.3, sharey=True, sharex=True)
    for axis, cell in zip(axes[0], cells, strict=True):
        up, down = ARMS["ramp"], looks.DRIVEN
        for run in (row.trajectory for row in cell.records.drivers[cell.role].drivers):
            axis.plot(np.maximum(run.skip, LEAST_SKIP), ranks_of(run), linewidth=0.7, **down.line(label="ramped down (driver)"))
        for run in (row.trajectory for row in cell.of_arm("ramp")):
            axis.plot(np.maximum(run.skip, LEAST_SKIP), ranks_of(run), linewidth=0.7, **up.line(label="ramped back up"))
            found = recovery_index(run, cell.recover, rules)
            if found is not None:
                axis.plot(run.skip[found], cell.recover, zorder=3, **up.dots(False, marker="^", label="recovered"))
        for event in cell.events.values():
            low = float(cell.healthy.collapse_threshold.value)
            axis.plot(max(event.skip_at_collapse, LEAST_SKIP), low, zorder=3, **down.dots(False, marker="v", label="collapsed"))
        draw_threshold(axis, cell.recover)
        axis.set(xscale="log", ylabel=RANK, xlabel=r"skip scale $\alpha$")
        axis.set_title(cell.title)
    return finish(figure, axes, 5)


def draw_delays(cells: Sequence[Cell], rules: Rules) -> Any:
    """Steps to recovery after a switch against the steps at the floor before it (figure 7 of the source paper)."""
    figure, axes = open_grid(1, len(roles_of(cells)), 2.7, sharey=True)
    for axis, role in zip(axes[0], roles_of(cells), strict=True):
        own = [cell for cell in cells if cell.role == role]
        rows = [row for cell in own for arm in TIMED for row in cell.of_arm(arm)]
        spread = max((row.start for row in rows), default=0) - min((row.start for row in rows), default=0)
        budget = draw_budget(axis, rows)
        for cell in own:
            draw_cell_delays(axis, cell, rules, spread / 160, budget)
        axis.set(xlabel="steps at the floor before the switch", ylabel="steps to recovery")
        axis.set_title(f"{own[0].depth} blocks")
    draw_keys(axes[0][0], cells)
    return finish(figure, axes, 3, [ARMS[arm].label for arm in TIMED])


def roles_of(cells: Sequence[Cell]) -> list[Role]:
    """The depths among cells, by role."""
    return list(dict.fromkeys(cell.role for cell in cells))


def draw_cell_delays(axis: Any, cell: Cell, rules: Rules, apart: float, budget: int) -> None:
    """Points of one set, the recoveries of a seed joined over the delays; neighbours lie `apart` so that none hides another."""
    for place, (seed, event) in enumerate(cell.events.items()):
        joined = []
        for arm in TIMED:
            for row in (row for row in cell.of_arm(arm) if row.seed == seed):
                x, time = row.start - event.saved + apart * (2 * place + (not cell.first) - len(cell.events)), recovery_time(row, cell.recover, rules)
                draw_time(axis, x, time, ARMS[arm], cell.first, budget)
                joined += [(x, time.steps)] if arm not in looks.AGED_OTHERWISE and not time.censored else []
        axis.plot([x for x, _ in joined], [steps for _, steps in joined], color=GREY, linewidth=0.5, zorder=1, linestyle="-" if cell.first else ":")


def draw_prediction(cells: Sequence[Cell], rules: Rules, thresholds: Mapping[Role, float]) -> Any:
    """Recovery against the predictor: outcomes of the weak switch, and times after the switch to 0.3 by delay (figure 8 of the source paper)."""
    figure, axes = open_grid(2, len(roles_of(cells)), 4.4, sharey="row")
    for column, role in zip(axes.T, roles_of(cells), strict=True):
        own = [cell for cell in cells if cell.role == role]
        for cell in own:
            draw_outcomes(column[0], cell, rules, thresholds.get(role))
        if role in thresholds:
            column[0].axvline(thresholds[role], color=looks.INK, linestyle="--", linewidth=0.7, label="threshold, fitted on main")
        found = [(cell, row, x) for cell in own for arm in TIMED for row in cell.of_arm(arm) if (x := find_opening(cell, row)) is not None]
        budget = draw_budget(column[1], [row for _, row, _ in found])
        for cell, row, x in found:
            draw_time(column[1], x, recovery_time(row, cell.recover, rules), ARMS[row.arm], cell.first, budget)
        column[0].set(xscale="log", ylim=(-0.5, 1.5), xlabel=f"{QK}, right after the weak switch")
        column[0].set_yticks([0, 1], ["not recovered", "recovered"])
        column[0].set_title(f"{own[0].depth} blocks")
        column[1].set(xscale="log", xlabel=f"{QK}, right after the switch", ylabel="steps to recovery")
        for axis in column:
            spread_ticks(axis)
    draw_keys(axes[1][0], cells)
    add_legend(figure, 3, [ARMS[arm].label for arm in ("switch_weak", *TIMED)])
    return figure


def draw_outcomes(axis: Any, cell: Cell, rules: Rules, threshold: float | None) -> None:
    """Whether each network recovered after the weak switch, at its predictor; what the threshold gets wrong has a ring around it."""
    for place, row in enumerate(cell.of_arm("switch_weak")):
        x, came = find_opening(cell, row), not recovery_time(row, cell.recover, rules).censored
        if x is not None:
            y = came + 0.07 * (place % 4) - (0 if cell.first else 0.28)
            axis.plot(x, y, **ARMS["switch_weak"].dots(cell.first))
            if threshold is not None and (x >= threshold) != came:
                axis.plot(x, y, **Look("wrong prediction", looks.INK, "", "o").dots(False, markersize=8, markerfacecolor="none", markeredgewidth=0.6))
