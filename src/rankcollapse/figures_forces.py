"""The figure of the forces: on a synthetic matrix, per treatment, and along lines from the collapsed weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from rankcollapse.curves import Cell, lift_zeros
from rankcollapse.looks import ADDED, ENDED, INK, ROLE_MARKERS, TERMS, WIDTH, Look, add_legend, draw_keys, draw_medians
from rankcollapse.records_readings import LineRow, Synthetic

RHO = r"$\rho$, added over task gradient"


def draw_forces(cells: Sequence[Cell], synthetic: Synthetic) -> Any:
    """Force of each term against the distance from rank one, per treatment, and on the way to healthy weights (figure 6 of the source paper)."""
    lines = {role: rows for role in dict.fromkeys(cell.role for cell in cells) if (rows := lines_of(cells, role))}
    below = [list(lines) if len(lines) != 1 else [*lines, *lines]] if lines else []
    figure = plt.figure(figsize=(WIDTH, 4.8 if lines else 2.7))
    axes = figure.subplot_mosaic([["synthetic", "treated"], *below])
    draw_synthetic(axes["synthetic"], synthetic)
    draw_treated(axes["treated"], cells)
    for role, rows in lines.items():
        draw_lines(axes[role], rows, next(cell.depth for cell in cells if cell.role == role))
    draw_keys(axes["treated"], cells)
    add_legend(figure, 3)
    return figure


Rows = Sequence[tuple[bool, LineRow]]
"""Whether of the main set, and a line."""


def lines_of(cells: Sequence[Cell], role: str) -> Rows:
    """The lines of every collapse of one depth."""
    return [(cell.first, line) for cell in cells if cell.role == role for event in cell.readings() for line in event.lines]


def draw_synthetic(axis: Any, synthetic: Synthetic) -> None:
    """The norm of each term's gradient as the matrix comes close to rank one: points, and closed forms as lines."""
    delta = [point.delta for point in synthetic.points]
    for term, arm in TERMS.items():
        look = ADDED[arm]
        axis.plot(delta, [getattr(point, term) for point in synthetic.points], **look.dots(None, label=term))
        axis.plot(delta, [getattr(point, f"{term}_closed") for point in synthetic.points], color=look.colour, linewidth=0.7, zorder=1)
    axis.plot([], [], color=INK, linewidth=0.7, label="line through points: closed form")
    axis.set(xscale="log", yscale="log", xlabel=r"distance from rank one, $\delta$", ylabel=r"gradient norm on $X$")
    axis.set_title("synthetic matrix")


def draw_treated(axis: Any, cells: Sequence[Cell]) -> None:
    """rho of every treatment at switch-on and, beside it, at the end of its branch, one point an event; markers say which, and open is replication."""
    arms = [arm for arm in ADDED if any(row.arm == arm for cell in cells for event in cell.readings() for row in event.forces)]
    for place, arm in enumerate(arms):
        for cell in cells:
            x = place + (-0.18 if cell.role == "shallow" else 0.18)
            started = [row.rho for event in cell.readings() for row in event.forces if row.arm == arm]
            ended = [end.rho for end in cell.ends() if end.arm == arm and end.rho is not None]
            for values, marker, moved in ((started, ROLE_MARKERS[cell.role], -0.09), (ended, ENDED[cell.role], 0.09)):
                look = ADDED[arm].dots(cell.first, marker=marker, label="_", markersize=3, markeredgewidth=0.6)
                axis.plot([x + moved] * len(values), lift_zeros(np.array(values)), **look)
    for role, depth in {cell.role: cell.depth for cell in cells}.items():
        for markers, when in ((ROLE_MARKERS, "at switch-on"), (ENDED, "at the branch's end")):
            axis.plot([], [], **Look(f"{depth} blocks, {when}", INK, "", markers[role]).dots(None))
    axis.set(yscale="log", ylabel=RHO)
    axis.set_xticks(range(len(arms)), [ADDED[arm].label for arm in arms], rotation=25, ha="right")
    axis.set_title("per treatment")


def draw_lines(axis: Any, rows: Rows, depth: int) -> None:
    """Median over events and range of rho along the way to the healthy network (solid) and along a random direction (dotted)."""
    for term, arm in TERMS.items():
        own = [(first, row) for first, row in rows if row.term == term]
        if own:
            draw_line(axis, own, ADDED[arm]._replace(dash="-"), "healthy")
            draw_line(axis, own, ADDED[arm]._replace(dash=":"), "random")
    for dash, label in (("-", "towards the healthy network"), (":", "along a random direction")):
        axis.plot([], [], color=INK, linestyle=dash, label=label)
    axis.set(yscale="log", xlabel="share of the way to the healthy network", ylabel=RHO)
    axis.set_title(f"{depth} blocks")


def draw_line(axis: Any, rows: Rows, look: Look, direction: str) -> None:
    """One term along one direction."""
    values = lift_zeros(np.array([getattr(row, direction) for _, row in rows]))
    draw_medians(axis, rows[0][1].share, values, [first for first, _ in rows], look, label="_")
