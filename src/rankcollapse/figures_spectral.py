"""Figures of spectral energy: which arms survive, what warns of a fall, and how often a sampled attention map is sparse and of low rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt

from rankcollapse import looks
from rankcollapse.looks import INK, WIDTH, Look, add_legend
from rankcollapse.statistics import exact_interval

FELL, SURVIVED = Look("fell", "#882255", "-", "s"), Look("survived", INK, (0, (1, 1.5)), "o")
SAMPLES = (
    Look("first", "#882255", "-", "s"), Look("second", "#CC6677", (0, (6, 2)), "D"),
    Look("third", "#3D7FA8", (0, (3, 1.5, 1, 1.5)), "^"), Look("fourth", INK, (0, (1, 1.5)), "o"),
)  # fmt: skip
"""Samples in their order; what each is says its own label."""


@dataclass(frozen=True)
class ArmSurvival:
    """What became of the networks of one arm, network by network."""

    look: Look
    """The colour and the name that the arm has in every figure; its place tells it from the others."""
    survived: Sequence[bool]
    losses: Sequence[float | None]
    """At the end, nats per token; None where there is no finite one."""


@dataclass(frozen=True)
class Predictor:
    """How well a measure tells runs that will have fallen from runs that will not: area under the curve."""

    label: str
    auc: float


@dataclass(frozen=True)
class Course:
    """A reading of one run by step."""

    steps: Sequence[int]
    values: Sequence[float]
    fell: bool = False
    """Whether it crashed, or has not learnt at its end."""
    crashed_at: int | None = None
    """Step of the crash; None for a run that survived, or that did not learn."""


@dataclass(frozen=True)
class Sample:
    """How many of the sampled maps were sparse and of low rank, by top singular value."""

    label: str
    sigma: Sequence[float]
    """Top singular values over the root of the head size, positive."""
    found: Sequence[int]
    of: Sequence[int]


def draw_survival(arms: Sequence[ArmSurvival]) -> Any:
    """Per arm, the share of networks that survived with its exact 95 % interval (Clopper-Pearson), and every network's final loss; ValueError for
    an arm without a loss for each network."""
    figure, (shares, losses) = plt.subplots(1, 2, figsize=(WIDTH, 1.1 + 0.27 * len(arms)), sharey=True)
    edge = find_edge([loss for arm in arms for loss in arm.losses if loss is not None])
    for place, arm in enumerate(arms):
        draw_interval(shares, sum(arm.survived), len(arm.survived), place, arm.look)
        for y, alive, loss in zip(place + looks.spread(len(arm.survived), 0.5), arm.survived, arm.losses, strict=True):
            name = SURVIVED.label if alive else FELL.label
            losses.plot(edge if loss is None else loss, y, **arm.look.dots(alive, label="_", marker="o" if alive else "s", markersize=3))
            losses.plot([], [], **Look(name, INK, "", "o" if alive else "s").dots(alive, markersize=3))
            if loss is None:
                losses.plot(edge, y, color=INK, linestyle="none", marker="x", markersize=5.5, markeredgewidth=0.6, label="no finite loss")
    shares.set(xlim=(-0.03, 1.03), ylim=(len(arms) - 0.5, -0.5), xlabel="share of networks that survived, 95 % interval")
    shares.set_yticks(range(len(arms)), [arm.look.label for arm in arms])
    losses.set(xlabel="final loss, nats per token")
    losses.tick_params(labelleft=False)
    add_legend(figure, 3)
    return figure


def find_edge(losses: Sequence[float]) -> float:
    """Where runs without a finite loss stand: to the right of all that have one."""
    return max(losses) + 0.15 * ((max(losses) - min(losses)) or 1.0) if losses else 1.0


def draw_interval(axis: Any, count: int, of: int, y: float, look: Look) -> None:
    """A share as a point at a height, its exact interval as a bar; nothing of nothing."""
    if of:
        axis.plot(exact_interval(count, of), [y, y], color=look.colour, linewidth=0.9, marker="|", markersize=4)
        axis.plot(count / of, y, **look.dots(label="_", marker="o"))


def draw_warning(predictors: Sequence[Predictor], courses: Sequence[Course], *, concentration: str = "SEC", read_at: int | None = None) -> Any:
    """The area under the curve of every predictor beside the concentration of runs that fall and of runs that do not; where the predictors were
    read is marked."""
    figure, (areas, runs) = plt.subplots(1, 2, figsize=(WIDTH, max(2.7, 1.0 + 0.17 * len(predictors))), width_ratios=(1, 1.4))
    for place, predictor in enumerate(predictors):
        areas.plot(predictor.auc, place, **Look("_", INK, "", "o").dots())
    areas.axvline(0.5, linewidth=0.7, **looks.CHANCE.line())
    areas.set(xlim=(-0.03, 1.03), ylim=(len(predictors) - 0.5, -0.5), xlabel="area under the curve")
    areas.set_yticks(range(len(predictors)), [predictor.label for predictor in predictors])
    for course in sorted(courses, key=lambda course: course.fell):
        draw_course(runs, course)
    if read_at is not None:
        runs.axvline(read_at, linewidth=0.7, **looks.COLLAPSE.line(label="readings taken"))
    runs.set(xlabel="training step", ylabel=concentration)
    add_legend(figure, 5)
    return figure


def draw_course(axis: Any, course: Course) -> None:
    """A run as a line, dotted where it survived; a cross at the last measurement up to a crash."""
    axis.plot(course.steps, course.values, linewidth=0.8, **(FELL if course.fell else SURVIVED).line())
    before = [place for place, step in enumerate(course.steps) if course.crashed_at is not None and step <= course.crashed_at]
    if before:
        last = before[-1]
        axis.plot(course.steps[last], course.values[last], color=INK, linestyle="none", marker="x", zorder=3, label="last measured before a crash")


def draw_sampling(panels: Mapping[str, Sequence[Sample]]) -> Any:
    """Share of sampled maps that are sparse and of low rank against the top singular value, a panel by title and in it a line a sample, with exact
    95 % intervals; ValueError for more samples than there are looks, or counts that do not go with the values."""
    figure, axes = plt.subplots(1, len(panels), figsize=(WIDTH, 2.5), sharey=True, squeeze=False)
    for axis, (title, samples) in zip(axes[0], panels.items(), strict=True):
        if len(samples) > len(SAMPLES):
            raise ValueError(f"{len(samples)} samples, {len(SAMPLES)} looks")
        for sample, look in zip(samples, SAMPLES, strict=False):
            draw_sample(axis, sample, look)
        axis.set(xscale="log", ylim=(-0.03, 1.03), xlabel=r"top singular value over $\sqrt{d_q}$")
        axis.set_title(title)
    axes[0][0].set_ylabel("share of maps\nsparse and of low rank")
    add_legend(figure, 2)
    return figure


def draw_sample(axis: Any, sample: Sample, look: Look) -> None:
    """One line with its intervals, without the values at which nothing was sampled."""
    rows = [(sigma, found / of, *exact_interval(found, of)) for sigma, found, of in zip(sample.sigma, sample.found, sample.of, strict=True) if of]
    for sigma, _, low, high in rows:
        axis.plot([sigma, sigma], [low, high], color=look.colour, linewidth=0.7, marker="_", markersize=3)
    own = look._replace(label=sample.label).line(marker=look.marker, markerfacecolor="white")
    axis.plot([row[0] for row in rows], [row[1] for row in rows], **own)
