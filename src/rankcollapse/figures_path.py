"""The figure of the path: gradient norms by block, of collapsed and healthy networks and after switches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from rankcollapse import looks
from rankcollapse.curves import Cell, lift_zeros
from rankcollapse.looks import ARMS, WIDTH, Look, add_legend, draw_keys, draw_medians
from rankcollapse.params import Role
from rankcollapse.path_rules import over_healthy
from rankcollapse.records_readings import EventReadings

Profiles = list[tuple[bool, tuple[float, ...]]]
"""Whether of the main set, and a value a block (L,); one an event."""
Lines = list[tuple[Look, Profiles]]
"""What each line stands for, and what it is the median of."""


def draw_path(cells: Sequence[Cell]) -> Any:
    """Gradient norm per block of collapsed and healthy networks above, and after switches, over the healthy network's, below (figure 2 of the
    source paper)."""
    roles = list(dict.fromkeys(cell.role for cell in cells))
    figure, axes = plt.subplots(2, len(roles), figsize=(WIDTH, 5.4), squeeze=False, sharey="row", sharex="col", height_ratios=(1, 1.25))
    for column, role in zip(axes.T, roles, strict=True):
        own = [cell for cell in cells if cell.role == role]
        draw_profiles(column[0], collapsed_lines(events_of(own)))
        draw_profiles(column[1], switched_lines(events_of(own), own, role))
        column[1].axhline(1, linewidth=0.8, **looks.CONTROL.line(label="healthy network"))
        column[0].set_title(f"{own[0].depth} blocks")
        for axis, label in zip(column, (r"gradient norm $\|\nabla\|$ per block", "$\\|\\nabla_{Q,K}\\|$ per block,\nover the healthy network's"), strict=True):
            axis.set(yscale="log", ylabel=label, xlabel="block")
            axis.xaxis.get_major_locator().set_params(integer=True)
            axis.label_outer()
    draw_keys(axes[0, 0], cells)
    figure.align_ylabels(axes[:, 0])
    add_legend(figure, 2)
    return figure


def events_of(cells: Sequence[Cell]) -> list[tuple[bool, EventReadings]]:
    """What was read of every collapse, and whether it is of the main set."""
    return [(cell.first, event) for cell in cells for event in cell.readings()]


def collapsed_lines(events: Sequence[tuple[bool, EventReadings]]) -> Lines:
    """Task gradient on the attention input weights and on queries and keys alone, and the hinge, collapsed and healthy."""
    hinge = ARMS["hinge_1x"]
    return [
        (looks.HEALTHY._replace(label="healthy: query, key, value"), [(first, event.healthy.task.qkv) for first, event in events]),
        (looks.COLLAPSED._replace(label="collapsed: query, key, value"), [(first, event.collapsed.task.qkv) for first, event in events]),
        (looks.COLLAPSED._replace(label="collapsed: query, key", dash=":", marker="v"), [(first, event.collapsed.task.qk) for first, event in events]),
        (hinge._replace(label="collapsed: hinge of the block on query, key, value", marker="D"), [(first, event.hinge.qkv) for first, event in events]),
    ]  # fmt: skip


def switched_lines(events: Sequence[tuple[bool, EventReadings]], cells: Sequence[Cell], role: Role) -> Lines:
    """Queries and keys, over the healthy network's of the same seed: right after each switch that was read, and after the last updates replayed."""
    healthy = {(first, event.seed): event.healthy.task.qk for first, event in events}
    replays = [(cell.first, row) for cell in cells if role in cell.records.switched for row in cell.records.switched[role].replays]
    last, lines = max((row.updates for _, row in replays), default=0), Lines()
    for place, arm in enumerate(("switch_weak", "switch_03", "switch_1")):
        read = [(first, event.seed, event.switches[place]) for first, event in events if place < len(event.switches)]
        skips = {state.skip for _, _, state in read}
        at_once = [(first, over_healthy(state.task.qk, healthy[first, seed])) for first, seed, state in read]
        again = [(first, over_healthy(row.task.qk, healthy[first, row.seed])) for first, row in replays if row.updates == last and row.skip in skips]
        look = ARMS[arm]
        lines.append((look._replace(label=f"{look.label}, before any update", dash="-"), at_once))
        lines.append((look._replace(label=f"{look.label}, after {last} updates", marker=LATER[arm]), again))
    return lines


LATER = {"switch_weak": "<", "switch_03": "P", "switch_1": "*"}
"""Markers after updates."""


def draw_profiles(axis: Any, lines: Lines) -> None:
    """Median over events as a line, of each set as markers, range as a band; what is numerically zero lies below all that is not."""
    for look, profiles in lines:
        if profiles:
            values = lift_zeros(np.array([profile for _, profile in profiles]))
            draw_medians(axis, np.arange(1, values.shape[1] + 1), values, [first for first, _ in profiles], look)
