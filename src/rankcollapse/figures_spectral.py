"""Figures of spectral energy: which arms survive, what warns of a crash, and how often a sampled attention map is sparse and of low rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt

from rankcollapse import looks
from rankcollapse.looks import INK, WIDTH, Look, add_legend
from rankcollapse.statistics import exact_interval

CRASHED, SURVIVED = Look("crashed", "#882255", "-", "s"), Look("survived", INK, (0, (1, 1.5)), "o")
SAMPLES = (Look("low", "#882255", "-", "s"), Look("full", INK, (0, (5, 2)), "o"), Look("third", "#3D7FA8", (0, (1, 1.5)), "^"))
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
    """How well a measure tells runs that will crash from runs that will not: area under the curve and its interval."""

    label: str
    auc: float
    low: float
    high: float


@dataclass(frozen=True)
class Course:
    """Spectral energy concentration of one run, the largest over heads, by step."""

    steps: Sequence[int]
    values: Sequence[float]
    crashed_at: int | None = None
    """Step of the crash; None for a run that survived."""


@dataclass(frozen=True)
class Sample:
    """How many of the sampled maps were sparse and of low rank, by top singular value."""

    label: str
    sigma: Sequence[float]
    """Top singular values, positive."""
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
            name = SURVIVED.label if alive else CRASHED.label
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
        low, high = exact_interval(count, of)
        draw_bar(axis, count / of, low, high, y, look)


def draw_bar(axis: Any, value: float, low: float, high: float, y: float, look: Look) -> None:
    """A value with its interval lying at a height."""
    axis.plot([low, high], [y, y], color=look.colour, linewidth=0.9, marker="|", markersize=4)
    axis.plot(value, y, **look.dots(label="_", marker="o"))


def draw_warning(predictors: Sequence[Predictor], courses: Sequence[Course], *, concentration: str = "SEC", read_at: int | None = None) -> Any:
    """The area under the curve of every predictor beside the concentration of runs that crash and of runs that do not; where the predictors were
    read is marked."""
    figure, (areas, runs) = plt.subplots(1, 2, figsize=(WIDTH, 2.7), width_ratios=(1, 1.25))
    for place, predictor in enumerate(predictors):
        draw_bar(areas, predictor.auc, predictor.low, predictor.high, place, Look(predictor.label, INK, "-", "o"))
    areas.axvline(0.5, linewidth=0.7, **looks.RECOVER.line(label="chance"))
    areas.set(xlim=(-0.03, 1.03), ylim=(len(predictors) - 0.5, -0.5), xlabel="area under the curve, 95 % interval")
    areas.set_yticks(range(len(predictors)), [predictor.label for predictor in predictors])
    for course in sorted(courses, key=lambda course: course.crashed_at is not None):
        draw_course(runs, course)
    if read_at is not None:
        runs.axvline(read_at, linewidth=0.7, **looks.COLLAPSE.line(label="predictors read"))
    runs.set(xlabel="training step", ylabel=f"{concentration}, largest over heads")
    add_legend(figure, 3)
    return figure


def draw_course(axis: Any, course: Course) -> None:
    """A run as a line, dotted where it survived; a cross at the last measurement up to its crash."""
    look = SURVIVED if course.crashed_at is None else CRASHED
    axis.plot(course.steps, course.values, linewidth=0.8, **look.line())
    before = [place for place, step in enumerate(course.steps) if course.crashed_at is not None and step <= course.crashed_at]
    if before:
        last = before[-1]
        axis.plot(course.steps[last], course.values[last], color=INK, linestyle="none", marker="x", zorder=3, label="last measured before the crash")


def draw_sampling(samples: Sequence[Sample]) -> Any:
    """Share of sampled maps that are sparse and of low rank against the top singular value, a line a sample, with exact 95 % intervals; ValueError
    for more samples than there are looks, or counts that do not go with the values."""
    if len(samples) > len(SAMPLES):
        raise ValueError(f"{len(samples)} samples, {len(SAMPLES)} looks")
    figure, axis = plt.subplots(figsize=(WIDTH * 0.62, 2.6))
    for sample, look in zip(samples, SAMPLES, strict=False):
        rows = [(sigma, found / of, *exact_interval(found, of)) for sigma, found, of in zip(sample.sigma, sample.found, sample.of, strict=True) if of]
        for sigma, _, low, high in rows:
            axis.plot([sigma, sigma], [low, high], color=look.colour, linewidth=0.7, marker="_", markersize=3)
        own = look._replace(label=sample.label).line(marker=look.marker, markerfacecolor="white")
        axis.plot([row[0] for row in rows], [row[1] for row in rows], **own)
    axis.set(xscale="log", ylim=(-0.03, 1.03), xlabel="top singular value", ylabel="share of maps\nsparse and of low rank")
    add_legend(figure, 2)
    return figure
