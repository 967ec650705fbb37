"""Records to figures: vector PDF without dates, one colour and one dash per treatment everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("pdf")
import matplotlib.pyplot as plt
import numpy as np

from rankcollapse.events import collapsed_rank, trailing_medians
from rankcollapse.params import Role
from rankcollapse.records import Branch, Calibration, Collapse, EventPath, Trajectory
from rankcollapse.records import Path as PathRecord

INK, GREY = "#222222", "#888888"
ARM_STYLE: dict[str, tuple[str, str, Any]] = {
    "untreated": ("untreated", GREY, "-"),
    "penalty_1x": (r"penalty 1$\times$", "#E69F00", ":"),
    "penalty_4x": (r"penalty 4$\times$", "#B36B00", "-."),
    "hinge_1x": (r"hinge 1$\times$", "#56B4E9", ":"),
    "hinge_4x": (r"hinge 4$\times$", "#0072B2", "-."),
    "ramp": ("reversed ramp", "#009E73", "-"),
    "switch_03": ("switch to 0.3", "#CC79A7", "--"),
    "switch_1": ("switch to 1", "#D55E00", "--"),
}
STYLE = {
    "font.family": "serif", "font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6,
    "legend.frameon": False, "legend.fontsize": 7, "lines.linewidth": 1.0, "pdf.fonttype": 42, "svg.hashsalt": "rankcollapse", "svg.fonttype": "none", "figure.constrained_layout.use": True,
}  # fmt: skip
LOWEST = 1e-17


def draw_all(
    out: Path, calibration: Calibration, collapsed: dict[Role, Collapse], branched: dict[Role, Branch], paths: dict[Role, PathRecord], window: int
) -> None:
    """Draw the figures of the manuscript into a folder; ranks are shown as the trailing medians that recovery is judged by."""
    out.mkdir(parents=True, exist_ok=True)
    roles: Sequence[Role] = list(collapsed)
    threshold = {role: float(getattr(calibration, role).recover_threshold.value) for role in roles}
    titles = {role: f"{collapsed[role].depth} blocks" for role in roles}
    save(
        out / "treatments.pdf",
        titles,
        2.5,
        lambda axis, role: draw_treatments(axis, collapsed[role], branched[role], threshold[role], window),
        below=4,
    )
    draw_paths(out / "path.pdf", titles, paths)
    save(out / "hysteresis.pdf", titles, 2.3, lambda axis, role: draw_hysteresis(axis, collapsed[role], branched[role], threshold[role]), below=2)


def save(path: Path, titles: dict[Role, str], height: float, draw: Callable[[Any, Role], None], below: int) -> None:
    """One panel per role, one legend below, one file."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(titles), figsize=(6.3, height), sharey=True, squeeze=False)
        for axis, (role, title) in zip(axes[0], titles.items(), strict=True):
            draw(axis, role)
            axis.set_title(title, fontsize=8)
        finish(path, figure, axes[0][0], below)


def finish(path: Path, figure: Any, axis: Any, columns: int) -> None:
    """Add the legend of one axis below the figure and write it."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    write(path, figure)


def write(path: Path, figure: Any) -> None:
    """Write a figure as PDF for the manuscript and as SVG for a web page, both without dates, and close it."""
    figure.savefig(path, metadata={"CreationDate": None, "Producer": None, "Creator": None})
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
    plt.close(figure)


def smooth_rank(run: Trajectory, window: int) -> tuple[list[int], list[float]]:
    """Steps and trailing medians of the rank, from the first full window on."""
    medians = trailing_medians(collapsed_rank(run.rank, run.at_floor), window)
    kept = [(step, value) for step, value in zip(run.step, medians, strict=True) if value is not None]
    return [step for step, _ in kept], [value for _, value in kept]


def draw_treatments(axis: Any, collapsed: Collapse, branched: Branch, threshold: float, window: int) -> None:
    """Rank after each treatment is switched on (figure 1 of the source paper)."""
    saved = {event.seed: event.saved for event in collapsed.events}
    for arm, (label, colour, dash) in ARM_STYLE.items():
        for index, run in enumerate(run for run in branched.branches if run.arm == arm):
            steps, rank = smooth_rank(run.trajectory, window)
            axis.plot([step - saved[run.seed] for step in steps], rank, color=colour, linestyle=dash, label=label if index == 0 else None)
    axis.axhline(threshold, color=INK, linestyle=":", linewidth=0.7)
    axis.set(xlabel="steps after the treatment is switched on", ylabel="stable rank, last block")
    axis.label_outer()


def draw_hysteresis(axis: Any, collapsed: Collapse, branched: Branch, threshold: float) -> None:
    """Rank against the skip scale on the way down and back up (figure 3 of the source paper)."""
    ramps = [run.trajectory for run in branched.branches if run.arm == "ramp"]
    drivers = [run.trajectory for run in collapsed.drivers]
    for label, colour, dash, runs in (("ramped down (drivers)", INK, "-", drivers), ("ramped back up", "#009E73", "--", ramps)):
        for index, run in enumerate(runs):
            axis.plot(
                run.skip, collapsed_rank(run.rank, run.at_floor), color=colour, linestyle=dash, label=label if index == 0 else None, linewidth=0.8
            )
    axis.axhline(threshold, color=INK, linestyle=":", linewidth=0.7)
    axis.set(xscale="log", xlabel=r"skip scale $\alpha$", ylabel="stable rank, last block")
    axis.label_outer()


def draw_paths(out: Path, titles: dict[Role, str], paths: dict[Role, PathRecord]) -> None:
    """Gradient norm per block: collapsed and healthy above, after a switch below (figure 2 of the source paper)."""
    upper = [
        ("healthy: query, key, value", INK, "-", lambda event: event.healthy.qkv),
        ("collapsed: query, key, value", "#D55E00", "-", lambda event: event.collapsed.qkv),
        ("collapsed: query, key", "#D55E00", ":", lambda event: event.collapsed.qk),
        ("collapsed: hinge of the block", "#0072B2", "-.", lambda event: event.hinge.qkv),
    ]
    lower = [
        ("healthy: query, key", INK, "-", lambda event: event.healthy.qk),
        ("switch to 1: query, key", "#D55E00", "--", lambda event: event.switch_1.qk),
        ("switch to 0.3: query, key", "#CC79A7", "--", lambda event: event.switch_03.qk),
        ("collapsed: query, key", "#D55E00", ":", lambda event: event.collapsed.qk),
    ]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(2, len(titles), figsize=(6.3, 4.4), sharey="row", sharex="col", squeeze=False)
        for row, lines in enumerate((upper, lower)):
            for axis, (role, title) in zip(axes[row], titles.items(), strict=True):
                draw_profiles(axis, paths[role].events, lines)
                axis.set_title(title if row == 0 else "", fontsize=8)
                axis.set(yscale="log", ylabel="gradient norm", xlabel="block" if row else "")
                axis.label_outer()
        handles = dict(zip(*reversed(axes[0][0].get_legend_handles_labels()), strict=True))
        handles |= dict(zip(*reversed(axes[1][0].get_legend_handles_labels()), strict=True))
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=2)
        write(out, figure)


def draw_profiles(axis: Any, events: Sequence[EventPath], lines: list[tuple[str, str, str, Callable[[EventPath], Sequence[float]]]]) -> None:
    """Median over events as a line, range as a band; values that are numerically zero lie on the lower edge."""
    for label, colour, dash, read in lines:
        values = np.maximum(np.array([read(event) for event in events]), LOWEST)
        if not values.size:
            continue
        blocks = np.arange(1, values.shape[1] + 1)
        axis.plot(blocks, np.median(values, axis=0), color=colour, linestyle=dash, label=label)
        axis.fill_between(blocks, values.min(0), values.max(0), color=colour, alpha=0.15, linewidth=0)
