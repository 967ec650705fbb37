"""The look of every figure: one colour, one dash and one marker per treatment everywhere, sizes for a 10 pt article, files without dates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("pdf")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter, StrMethodFormatter

WIDTH = 6.2
"""Inches: the line of an A4 article with margins of 2.6 cm."""
INK, GREY = "#222222", "#888888"
STYLE = {
    "font.family": "serif", "font.serif": ["STIXGeneral"], "mathtext.fontset": "stix",
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7, "legend.frameon": False,
    "legend.handlelength": 3.2, "legend.columnspacing": 1.4,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "lines.linewidth": 1.0, "lines.markersize": 3.5, "lines.markeredgewidth": 0.8, "lines.scale_dashes": False,
    "pdf.fonttype": 42, "svg.hashsalt": "rankcollapse", "svg.fonttype": "none", "figure.constrained_layout.use": True,
}  # fmt: skip


class Look(NamedTuple):
    """How one thing is drawn, in whatever figure."""

    label: str
    colour: str
    dash: Any
    """A name of matplotlib, or where the pattern begins and lengths on and off in points."""
    marker: str

    def line(self, **more: Any) -> dict[str, Any]:
        """Keywords of a line."""
        return {"color": self.colour, "linestyle": self.dash, "label": self.label} | more

    def dots(self, filled: bool | None = True, **more: Any) -> dict[str, Any]:
        """Keywords of points without a line; half filled, for None, where both or neither of two sets is meant."""
        half = {"fillstyle": "left", "markerfacecoloralt": "white"} if filled is None else {}
        face = "white" if filled is False else self.colour
        return {"color": self.colour, "linestyle": "none", "marker": self.marker, "markerfacecolor": face, "label": self.label} | half | more


TIMES = r"$\times$"
ADDED = {
    "untreated": Look("untreated", "#8C8C8C", "-", "o"),
    "epsilon": Look(r"smaller Adam $\epsilon$", "#B5B5B5", (0, (2, 1, 1, 1)), ">"),
    "penalty_1x": Look(f"penalty 1{TIMES}", "#E69F00", ":", "v"),
    "penalty_4x": Look(f"penalty 4{TIMES}", "#A65E00", (0, (1, 3)), "^"),
    "penalty_1x_unclipped": Look(f"penalty 1{TIMES}, unclipped", "#F2C572", (0, (1, 1, 1, 4)), "<"),
    "hinge_1x": Look(f"hinge 1{TIMES}", "#56B4E9", "--", "s"),
    "hinge_4x": Look(f"hinge 4{TIMES}", "#0072B2", (0, (6, 3)), "D"),
    "hinge_1x_unclipped": Look(f"hinge 1{TIMES}, unclipped", "#A5D8F5", (0, (4, 1, 4, 4)), "x"),
    "hinge_4x_unclipped": Look(f"hinge 4{TIMES}, unclipped", "#3D7FA8", (0, (8, 2, 2, 2)), "+"),
    "hinge_10x_unclipped": Look(f"hinge 10{TIMES}, unclipped", "#08306B", (0, (10, 2)), "1"),
    "cosine_1x": Look(f"cosine 1{TIMES}", "#7B5EA7", "-.", "P"),
    "ramp": Look("reversed ramp", "#009E73", (0, (9, 1)), "*"),
}
SWITCHED = {
    "switch_weak": Look("weak switch", "#8A9A00", (0, (2, 2)), "<"),
    "switch_03": Look("switch to 0.3", "#CC79A7", (0, (5, 1)), "o"),
    "switch_06": Look("switch to 0.6", "#F28E4B", (0, (5, 1, 1, 1)), "s"),
    "switch_1": Look("switch to 1", "#D55E00", (0, (5, 1, 1, 1, 1, 1)), "D"),
}
AGED = {
    "delay_1": Look("first delay, then switched", "#A6517F", (0, (3, 2)), "v"),
    "delay_2": Look("second delay, then switched", "#7F2F5C", (0, (3, 2, 1, 2)), "^"),
    "delay_3": Look("third delay, then switched", "#4A1033", (0, (3, 2, 1, 2, 1, 2)), ">"),
    "aged_decay_0": Look("no decay at the floor", "#86B3B3", (0, (1, 2)), "p"),
    "decay_0": Look("last delay without decay", "#1B6B6B", (0, (7, 2, 1, 2)), "X"),
    "reset": Look("last delay, optimiser reset", "#2E2E8B", (0, (7, 1, 3, 1)), "d"),
}
AGED_OTHERWISE = ("decay_0", "reset")
"""Switches after the longest delay of networks that did not simply stay at the floor."""
ARMS = ADDED | SWITCHED | AGED
"""Every treatment there is, in the order of legends."""
ATTENTION = {
    "adamw": Look("AdamW", "#8C8C8C", "-", "o"),
    "warm_up": Look("AdamW with warm-up", INK, (0, (5, 2)), "o"),
    "low_rate": Look("AdamW at a lower rate", "#7B5EA7", (0, (2, 2)), "o"),
    "adamw2": Look(r"AdamW$^2$", "#009E73", (0, (9, 1)), "o"),
    "sigma": Look(r"$\sigma$Reparam", "#E69F00", ":", "o"),
    "qk_norm": Look("query-key norm", "#0072B2", "--", "o"),
    "qk_clip": Look("QK-clip", "#CC79A7", "-.", "o"),
}
"""Arms of the study of attention's spectra; those of AdamW2 differ by their cap alone."""
HEALTHY = Look("healthy", INK, "-", "o")
CONTROL = Look("healthy control", INK, (0, (1, 1.5)), "o")
DRIVEN = Look("driver", "#882255", "-", "s")
COLLAPSED = Look("collapsed", "#882255", "-", "s")
RECOVER = Look("recovery threshold", INK, ":", "")
COLLAPSE = Look("collapse threshold", INK, (0, (6, 2, 1, 2)), "")
CHANCE = Look("chance", GREY, (0, (6, 2)), "")
BURSTS = (Look("burst $m_1$", "#CC6677", (0, (5, 1)), "o"), Look("burst $m_2$", "#332288", (0, (2, 1)), "D"))
TERMS = {"penalty": "penalty_1x", "hinge": "hinge_1x", "cosine": "cosine_1x"}
"""A term is drawn as its matched treatment is."""
ROLE_MARKERS, ENDED = {"shallow": "o", "deep": "s"}, {"shallow": "^", "deep": "D"}
"""By depth, where a branch begins and where it ends."""
SKIPS = ("#440154", "#3B528B", "#21918C", "#5EC962", "#B5A900", "#7A7A7A")
SKIP_DASHES = ((0, (8, 1)), (0, (4, 1)), (0, (4, 1, 1, 1)), (0, (2, 1)), (0, (1, 1)), (0, (1, 3)))
"""Skip scales, from large to small."""
UNTRAINED = {
    "attention": Look("attention alone", "#882255", "-", "o"),
    "gelu": Look("and MLP (GELU)", "#E69F00", (0, (6, 2)), "s"),
    "swiglu": Look("and MLP (SwiGLU)", "#A65E00", (0, (2, 1.5)), "D"),
    "skip": Look("and skip", "#56B4E9", (0, (5, 1, 1, 1)), "^"),
    "block": Look("skip and MLP", "#0072B2", (0, (1, 1.2)), "v"),
    "pre": Look("whole block, pre-norm", "#009E73", (0, (8, 1)), "P"),
    "post": Look("whole block, post-norm", "#332288", (0, (4, 1, 1, 1, 1, 1)), "X"),
}
"""Untrained networks, by what stands beside attention."""


def spread(count: int, width: float = 0.36) -> np.ndarray:
    """Where neighbours stand beside a place (count,): symmetric about 0."""
    return np.linspace(-width / 2, width / 2, count) if count > 1 else np.zeros(count)


def gather_entries(axes: Sequence[Any]) -> dict[str, Any]:
    """Legend handles of all axes by label, each label once, in the order of its first appearance."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return found


def add_legend(figure: Any, columns: int, order: Sequence[str] = ()) -> None:
    """One legend below all panels, where it covers no data; labels in the given order come first."""
    found = gather_entries(figure.axes)
    labels = [label for label in order if label in found] + [label for label in found if label not in order]
    figure.legend([found[label] for label in labels], labels, loc="outside lower center", ncols=columns)


class Time(NamedTuple):
    """Steps from a run's start to its recovery, or the steps it was watched for where that never came."""

    steps: int
    censored: bool


def draw_time(axis: Any, x: float, time: Time, look: Look, filled: bool, budget: int) -> None:
    """A recovery time; where the rank did not come back, the same point above the budget and crossed out."""
    axis.plot(x, budget * ABOVE if time.censored else time.steps, zorder=3, **look.dots(filled))
    if time.censored:
        axis.plot(x, budget * ABOVE, color=INK, zorder=4, linestyle="none", marker="x", markersize=6.5, markeredgewidth=0.6, label="not recovered")


ABOVE = 1.3
"""Times the budget, where runs stand that did not recover."""


def draw_budget(axis: Any, rows: Sequence[Any]) -> int:
    """A logarithmic axis of steps and the budget of the longest of the runs, above which stands what did not recover; returns the budget."""
    budget = max((row.trajectory.step[-1] - row.start for row in rows), default=1)
    if rows:
        axis.axhline(budget, color=INK, linewidth=0.6, linestyle=(0, (8, 3)), label="end of the budget")
    axis.set(yscale="log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    return budget


def spread_ticks(axis: Any) -> None:
    """Ticks of a logarithmic horizontal axis, a decade apart, closer where the points lie within two decades."""
    low, high = axis.get_xlim()
    between = (1, 2, 5) if high < 10 * low else (1, 3) if high < 100 * low else (1,)
    axis.xaxis.set_major_locator(LogLocator(subs=between))
    axis.xaxis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(9, 9)))
    axis.xaxis.set_minor_formatter(NullFormatter())


def draw_medians(axis: Any, x: Sequence[float], values: np.ndarray, first: Sequence[bool], look: Look, **more: Any) -> None:
    """Median over events (events, points) as a line, their range as a band, and the medians of the main set and of the others as filled and open
    markers."""
    axis.fill_between(x, values.min(0), values.max(0), color=look.colour, alpha=0.1, linewidth=0)
    axis.plot(x, np.median(values, axis=0), **look.line(label="_"))
    axis.plot([], [], **look.dots(None) | look.line(**more))
    for filled in sorted(set(first), reverse=True):
        own = values[np.array(first) == filled]
        axis.plot(x, np.median(own, axis=0), **look.dots(filled, label="_", markersize=2.8, markeredgewidth=0.6, zorder=3))


def draw_keys(axis: Any, cells: Sequence[Any]) -> None:
    """What filled and open points are, for the legend: points of no place."""
    for filled, name in {cell.first: cell.name for cell in cells}.items():
        axis.plot([], [], **Look(f"{'filled' if filled else 'open'}: {name}", INK, "", "o").dots(filled))


def write(path: Path, figure: Any) -> None:
    """Write a figure as PDF for the manuscript and as SVG for a web page, both without dates, and close it."""
    figure.savefig(path, metadata={"CreationDate": None, "Producer": None, "Creator": None})
    figure.set_layout_engine("none")  # as it is laid out now: the second file is quicker, and the same
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
    plt.close(figure)
