"""The figure of untrained attention: residual by depth, slope of successive residuals, paths by length, and the text's demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import matplotlib.pyplot as plt

from rankcollapse.looks import INK, SKIP_DASHES, SKIPS, UNTRAINED, WIDTH, Look, add_legend
from rankcollapse.records_pure import CourseRow, PathRow, Pure, ShownRow, SlopeRow

ROUNDING = 100 * 2.0**-52
"""The relative residual under which a rank is not reported."""
LOWEST = 1e-17
"""A residual of exactly zero stands here."""


def draw_pure(record: Pure) -> Any:
    """Top: relative residual by depth without and with a causal mask, at the middle length. Below: what the text says of slope, paths and rank."""
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.7))
    lengths = sorted({row.tokens for row in record.courses})
    for axis, causal in zip(axes[0], (False, True), strict=False):
        draw_courses(axis, [row for row in record.courses if row.causal == causal and row.tokens == lengths[len(lengths) // 2]])
        axis.set_title("causal mask" if causal else "no mask")
    draw_deep(axes[0][2], record.deep)
    draw_slope(axes[1][0], record.slopes)
    draw_lengths(axes[1][1], record.lengths)
    draw_shown(axes[1][2], record.shown)
    add_legend(figure, 4, [look.label for look in UNTRAINED.values()])
    return figure


def draw_courses(axis: Any, rows: Sequence[CourseRow]) -> None:
    """The residual of every variant by layer, and where rounding begins."""
    for row in rows:
        draw_course(axis, row, 3)
    axis.axhline(ROUNDING, color=INK, linewidth=0.6, linestyle=":", label="rounding")
    axis.set(yscale="log", xlabel="layer", ylabel="relative residual")


def draw_course(axis: Any, row: CourseRow, marks: int, **more: Any) -> None:
    """One network, with some of its layers marked."""
    look, every = UNTRAINED[row.variant], max(len(row.residual) // marks, 1)
    values = [max(value, LOWEST) for value in row.residual]
    dots = {"marker": look.marker, "markevery": every, "markersize": 2.5, "markerfacecolor": "white", "linewidth": 0.8}
    axis.plot(range(len(values)), values, **look.line(**dots | more))


def draw_deep(axis: Any, rows: Sequence[CourseRow]) -> None:
    """The normalised networks at the large depth: without a mask in full colour, causal ones faint."""
    for row in rows:
        draw_course(axis, row, 4, alpha=0.45 if row.causal else 1.0)
    axis.set(yscale="log", xlabel="layer")
    axis.set_title("large depth (faint: causal)")


def draw_slope(axis: Any, rows: Sequence[SlopeRow]) -> None:
    """Residual after a layer against before, in powers of ten, with lines of the slopes two and three through one."""
    decades = [[value / log(10) for value in row.log_residual] for row in rows]
    for each in decades:
        axis.plot(each[:-1], each[1:], **UNTRAINED["attention"].dots(False, label="_", markersize=3))
    least = min(each[-2] for each in decades)
    for slope, dash in ((3, "-"), (2, "--")):
        axis.plot([0, least], [0, slope * least], color=INK, linewidth=0.7, linestyle=dash, zorder=1, label=f"slope {slope}")
    axis.set(xlabel=r"$\log_{10}$ residual before", ylabel=r"$\log_{10}$ residual after")
    axis.set_title("successive residuals")


def draw_lengths(axis: Any, rows: Sequence[PathRow]) -> None:
    """Share of the output that paths of each length carry, by skip scale."""
    for place, row in enumerate(rows):
        look = Look(rf"$\alpha={row.skip:g}$", SKIPS[place % len(SKIPS)], SKIP_DASHES[place % len(SKIP_DASHES)], "o")
        axis.plot(range(len(row.weight)), row.weight, marker=look.marker, markersize=2, linewidth=0.8, **look.line())
    axis.set(xlabel="path length", ylabel="share of the output")
    axis.set_title("paths")


def draw_shown(axis: Any, rows: Sequence[ShownRow]) -> None:
    """What the script prints, hollow where it is rounding, and the rank with mean and differences held apart."""
    layers, alone = [row.layer for row in rows], UNTRAINED["attention"]
    axis.plot(layers, [row.block for row in rows], **UNTRAINED["pre"].line(label="_", linewidth=0.8))
    axis.plot(layers, [row.apart for row in rows], color=alone.colour, linewidth=0.7, linestyle=":", label="all digits kept")
    for floor, label in ((False, "printed: tokens"), (True, "printed: rounding")):
        own = [row for row in rows if row.at_floor == floor]
        axis.plot([row.layer for row in own], [row.pure for row in own], **alone.dots(not floor, label=label, markersize=3))
    axis.set(yscale="log", xlabel="layer", ylabel="effective rank")
    axis.set_title("the text's demonstration")
