"""The record of untrained attention, put together; what collapsed networks are compared with is read from their own records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp, log
from statistics import median

import numpy as np

from audit.records import Provenance
from rankcollapse.apart import follow_exact, log_bounds
from rankcollapse.demonstration import Shown, run_script
from rankcollapse.groups import Pure as Settings
from rankcollapse.params import Role
from rankcollapse.pure import draw_heads
from rankcollapse.pure_values import (
    MASKS,
    SKIPS,
    Found,
    follow_average,
    follow_sizes,
    measured,
    small,
    trace_paths,
    value_average,
    value_courses,
    value_demonstration,
    value_growth,
    value_hull,
    value_maps,
    value_mlp,
    value_paths,
    value_skip,
    value_slopes,
)
from rankcollapse.quantities import exact
from rankcollapse.records_pure import CourseRow, Pure, ShownRow, SlopeRow
from rankcollapse.records_readings import EventReadings, Readings
from rankcollapse.records_results import plant
from rankcollapse.untrained import DEEP, VARIANTS, Course, follow_stack

EXACT_WIDTH = 8
"""Tokens and width of the networks that are followed in many digits."""
Kind = tuple[str, str, int]
"""Variant, mask, and sequence length."""


def read_pure(provenance: Provenance, settings: Settings, collapsed: Mapping[Role, Readings]) -> Pure:
    """Everything: courses, slopes, paths, hulls, counterexamples, the text's demonstration, and the running mean beside collapsed networks."""
    courses, deep = follow_all(settings), follow_deep(settings)
    slopes = tuple(read_slope(seed, settings) for seed in range(settings.draws))
    lengths, shown, running = [trace_paths(settings.draws, skip) for skip in SKIPS], run_script(), follow_average()
    draws, tokens, width, middle = settings.draws, settings.tokens, settings.width, middle_length(settings)
    trees: dict[str, Found] = {
        "settings": describe(settings),
        "collapse": value_all(courses) | prefix({"deep": value_all(deep)}),
        "slope": value_slopes(slopes, follow_sizes(draws, tokens, width, settings.exact)),
        "hull": value_maps(draws, middle, width) | prefix({name: value_hull(draws, tokens, width, causal) for name, causal in MASKS.items()}),
        "paths": value_paths(draws, lengths),
        "skip": value_skip(draws, tokens, width, settings.depth),
        "mlp": value_mlp(draws, middle, width),
        "demonstration": value_demonstration(shown, settings.deep),
        "causal": value_average(running) | value_growth(of_kind(courses, "attention", "causal")),
        "networks": prefix({role: value_networks(readings.events) for role, readings in collapsed.items()}),
    }
    return Pure(
        provenance=provenance, courses=list_courses(courses), deep=list_courses(deep), slopes=slopes, lengths=tuple(lengths),
        shown=tuple(list_shown(shown)), running=tuple(running), **{name: plant(found) for name, found in trees.items()},
    )  # fmt: skip


def describe(settings: Settings) -> Found:
    """What was set, as the text cites it."""
    lengths = dict(zip(("first", "second", "third"), map(exact, settings.tokens), strict=False))
    plain = {name: exact(getattr(settings, name)) for name in ("draws", "width", "depth", "deep", "exact", "digits")}
    return plain | {f"tokens.{name}": own for name, own in lengths.items()} | {"exact_width": exact(EXACT_WIDTH)}


def follow_all(settings: Settings) -> dict[Kind, list[Course]]:
    """Every variant under both masks at every length, a course a draw."""
    kinds = [(variant, mask, tokens) for variant in VARIANTS for mask in MASKS for tokens in settings.tokens]
    return {kind: follow_kind(kind, settings, settings.depth) for kind in kinds}


def follow_deep(settings: Settings) -> dict[Kind, list[Course]]:
    """The normalised networks at the large depth, at the middle length."""
    kinds = [(variant, mask, middle_length(settings)) for variant in DEEP for mask in MASKS]
    return {kind: follow_kind(kind, settings, settings.deep) for kind in kinds}


def follow_kind(kind: Kind, settings: Settings, depth: int) -> list[Course]:
    """The draws of one kind of network."""
    variant, mask, tokens = kind
    return [follow_stack(seed, tokens, settings.width, VARIANTS[variant], depth, MASKS[mask]) for seed in range(settings.draws)]


def value_all(courses: Mapping[Kind, Sequence[Course]]) -> Found:
    """Readings by variant and mask, over all lengths and draws."""
    names = dict.fromkeys(kind[:2] for kind in courses)
    return prefix({f"{variant}.{mask}": value_courses(of_kind(courses, variant, mask)) for variant, mask in names})


def of_kind(courses: Mapping[Kind, Sequence[Course]], variant: str, mask: str) -> list[Course]:
    """The courses of one variant under one mask."""
    return [each for kind, own in courses.items() if kind[:2] == (variant, mask) for each in own]


def middle_length(settings: Settings) -> int:
    """The sequence length of what is read at one length alone."""
    return settings.tokens[len(settings.tokens) // 2]


def prefix(found: Mapping[str, Found]) -> Found:
    """Quantities by name, behind the name of their group."""
    return {f"{group}.{name}": own for group, inner in found.items() for name, own in inner.items()}


def list_courses(courses: Mapping[Kind, Sequence[Course]]) -> tuple[CourseRow, ...]:
    """Medians over draws, layer by layer, to six figures."""
    found = {kind: dict(zip(Course._fields, map(middle_of, zip(*own, strict=True)), strict=True)) for kind, own in courses.items()}
    return tuple(CourseRow(variant=kind[0], causal=MASKS[kind[1]], tokens=kind[2], **series) for kind, series in found.items())


def middle_of(series: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    """Median over series place by place; None where one of them has none."""
    return tuple(None if None in values else float(f"{median(values):.6g}") for values in zip(*series, strict=True))


def read_slope(seed: int, settings: Settings) -> SlopeRow:
    """A small network of attention alone in many digits."""
    generator = np.random.default_rng([seed, 7])
    x = generator.standard_normal((EXACT_WIDTH, EXACT_WIDTH))
    layers = [draw_heads(generator, EXACT_WIDTH) for _ in range(settings.exact)]
    logs = follow_exact(x, layers, settings.digits)
    return SlopeRow(seed=seed, log_residual=tuple(logs), log_bound=tuple(log_bounds(logs, layers)))


def list_shown(shown: Shown) -> Iterator[ShownRow]:
    """The demonstration layer by layer."""
    for layer, values in enumerate(zip(*shown, strict=True)):
        yield ShownRow(layer=layer, **dict(zip(Shown._fields, values, strict=True)))


def value_networks(events: Sequence[EventReadings]) -> Found:
    """Trained collapses: by how much a block shrinks the residual (geometric mean), their last rank, and u1 against position."""
    return {
        "contraction": measured(map(contraction_of, events), "median"),
        "rank": measured((event.collapsed.blocks.rank[-1] for event in events), "median"),
        "residual": small((event.collapsed.blocks.residual[-1] for event in events), "median"),
        "spearman": measured((median(event.order.spearman) for event in events), "median"),
        "pearson": measured((median(event.order.pearson) for event in events), "median"),
    }


def contraction_of(event: EventReadings) -> float:
    """Geometric mean over blocks of a residual over that of the block before, where neither is rounding."""
    blocks = event.collapsed.blocks
    known = [None if floor else log(value) for value, floor in zip(blocks.residual, blocks.at_floor, strict=True)]
    steps = [later - earlier for earlier, later in pairwise(known) if earlier is not None and later is not None]
    return exp(sum(steps) / len(steps)) if steps else 1.0
