"""What is read of untrained attention as quantities by name, one function a question; a value per draw, the summary the one that a claim rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import log
from typing import Literal

import numpy as np

from audit.records import Quantity
from rankcollapse.apart import fit_slope, follow_apart, local_slopes
from rankcollapse.demonstration import LAYERS, SEED, Shown, draw_script, run_transformer
from rankcollapse.paths import count_paths, enumerate_paths, mean_length, run_scaled, sum_paths
from rankcollapse.pure import (
    attend,
    attention_maps,
    centre,
    compute_ranks,
    draw_heads,
    erase,
    hull_excess,
    hull_ratio,
    mean_cosine,
    relative_residual,
    sharp_heads,
    uniform_map,
)
from rankcollapse.quantities import SUMMARIES, count, exact
from rankcollapse.records_pure import CausalRow, PathRow, SlopeRow
from rankcollapse.untrained import VARIANTS, Course, attention_share, draw_layers, draw_mlp, draw_tokens, run_stack

Found = dict[str, Quantity]
Summary = Literal["median", "mean", "min", "max"]
MASKS = {"full": False, "causal": True}
ROUNDING = 1e-10
"""What rounding may make of a value that is zero, or that lies at a floor."""
ZERO = 1e-6
"""Relative residual that counts as virtually no distinction between tokens."""
UNIFORM_TOKENS, UNIFORM_WIDTH, UNIFORM_LAYERS, UNIFORM_LATE = 256, 8, 12, 40
"""Of the running mean, as KAT-6 has it."""
SKIPS = {1.0: "one", 0.5: "half", 0.2: "fifth", 0.1: "tenth", 0.05: "twentieth", 0.02: "fiftieth"}
PATH_HEADS, PATH_DEPTH, PATH_TOKENS, PATH_WIDTH, WALKED = 2, 12, 16, 32, 6
"""Of the networks that are unrolled; `WALKED` layers where every path is walked alone."""


def measured(
    values: Iterable[float], summary: Summary = "median", digits: int = 2, style: Literal["fixed", "scientific"] = "fixed", slack: float = ROUNDING
) -> Quantity:
    """Values of draws, agreeing within a thousandth and a slack that is rounding's; 0 where there are none."""
    found = tuple(map(float, values))
    value = SUMMARIES[summary](found) if found else 0.0
    own = summary if found else None
    return Quantity(value=value, digits=digits, style=style, tolerance=1e-3 * abs(value) + slack, summary=own, values=found)


def small(values: Iterable[float], summary: Summary = "median") -> Quantity:
    """The same, printed as a power of ten."""
    return measured(values, summary, 1, "scientific")


def value_courses(courses: Sequence[Course]) -> Found:
    """One kind of network under one mask, over its draws and lengths: residuals after six and eight layers and at the end, and ranks there."""
    ends = [course for course in courses if course.effective[-1] is not None]
    reached = [next((layer for layer, value in enumerate(course.residual) if value < ZERO), len(course.residual)) for course in courses]
    return {
        "sixth": small((course.residual[6] for course in courses), "max"),
        "eighth": small((course.residual[8] for course in courses), "max"),
        "eighth_composite": small((course.composite[8] for course in courses), "max"),
        "last": small((course.residual[-1] for course in courses), "min"),
        "at_floor": count([course.effective[-1] is None for course in courses]),
        "kept": measured(((course.effective[-1] or 0) / (course.effective[0] or 1) for course in ends), "min"),
        "stable": measured((course.stable[-1] or 0 for course in ends), "median"),
        "zero_from": measured(reached, "max", 0),
    }


def value_growth(courses: Sequence[Course]) -> Found:
    """Causal attention alone: by how much a layer shrinks the residual at the end, and the slope of successive residuals."""
    logs = [[log(value) for value in course.residual] for course in courses]
    return {
        "random_ratio": measured(course.residual[-1] / course.residual[-2] for course in courses),
        "random_slope": measured((fit_slope(each) for each in logs), "max"),
    }


def value_slopes(rows: Sequence[SlopeRow], sizes: Sequence[Sequence[float]]) -> Found:
    """Slope of successive log residuals in many digits, the theorem's bound over what it bounds, and the last slope at larger sizes."""
    margins = [[(bound - own) / log(10) for bound, own in zip(row.log_bound, row.log_residual[1:], strict=True)] for row in rows]
    return {
        "fit": measured((fit_slope(row.log_residual) for row in rows), "median"),
        "last": measured((local_slopes(row.log_residual)[-1] for row in rows), "median"),
        "least_margin": measured(map(min, margins), "min", 1),
        "most_margin": measured(map(max, margins), "max", 1),
        "last_decades": measured((row.log_residual[-1] / log(10) for row in rows), "max", 0),
        "sizes": measured((local_slopes(each)[-1] for each in sizes), "median"),
    }


def follow_sizes(draws: int, tokens: Sequence[int], width: int, depth: int) -> list[list[float]]:
    """Natural log of the residual by layer, with mean and differences held apart, for every length and draw."""
    def follow(seed: int, length: int) -> list[float]:
        layers = (heads for heads, _ in draw_layers(seed, width, depth))
        return [each.log_scale for each in follow_apart(draw_tokens(seed, length, width), layers)]

    return [follow(seed, length) for length in tokens for seed in range(draws)]


def value_maps(draws: int, tokens: int, width: int, layers: int = 5) -> Found:
    """How far maps of attention alone are from row sums of one and, after some layers, from the uniform map (times the keys seen)."""
    sums, apart = [], []
    for seed in range(draws):
        drawn = [heads for heads, _ in draw_layers(seed, width, layers + 1)]
        x = draw_tokens(seed, tokens, width)
        for heads in drawn[:-1]:
            sums.append(float(np.abs(attention_maps(x, heads).sum(-1) - 1).max()))
            x = attend(x, heads)
        apart.append(float(np.abs(attention_maps(x, drawn[-1])[0] * tokens - 1).max()))
    return {"row_error": small(sums, "max"), "map_error": small(apart, "max")}


def value_hull(draws: int, tokens: Sequence[int], width: int, causal: bool, layers: int = 8) -> Found:
    """The hull of the tokens after a layer against that of their values before: reach and width along many directions, and tokens at its corners.

    Layers whose tokens differ by next to nothing are left out: their hull is rounding.
    """
    excess, ratios, corners = [], [], []
    for seed in range(draws):
        for length in tokens:
            generator, x = np.random.default_rng([seed, 3, length]), draw_tokens(seed, length, width)
            for heads, _ in draw_layers(seed, width, layers):
                if relative_residual(x) < ZERO:
                    break
                outer, x = x @ heads.value[0], attend(x, heads, causal)
                directions = np.concatenate([generator.standard_normal((100, width)), centre(outer)])
                excess.append(hull_excess(x, outer, directions))
                ratios.append(hull_ratio(x, outer, directions))
                corners.append(bool((x[0] == outer[0]).all()))
    return {"excess": small(excess, "max"), "width": measured(ratios, "max"), "corners": count(corners)}


def trace_paths(draws: int, skip: float) -> PathRow:
    """Weight and residual by path length at one skip scale."""
    found = []
    for seed in range(draws):
        generator = np.random.default_rng([seed, 4])
        x = generator.standard_normal((PATH_TOKENS, PATH_WIDTH))
        layers = [draw_heads(generator, PATH_WIDTH, PATH_HEADS) for _ in range(PATH_DEPTH)]
        found.append(sum_paths(x, layers, run_scaled(x, layers, skip).maps, skip))
    sizes = np.linalg.norm(found, axis=(2, 3))
    residuals = np.array([[relative_residual(each) for each in sums] for sums in found])
    weights = sizes / sizes.sum(1, keepdims=True)
    return PathRow(skip=skip, weight=tuple(weights.mean(0).tolist()), residual=tuple(residuals.mean(0).tolist()))


def path_error(seed: int, skip: float) -> float:
    """Sum over all paths, each walked alone, against the network's output: largest difference over the largest entry."""
    generator = np.random.default_rng([seed, 5])
    x = generator.standard_normal((PATH_TOKENS, PATH_WIDTH))
    layers = [draw_heads(generator, PATH_WIDTH, PATH_HEADS) for _ in range(WALKED)]
    output, maps = run_scaled(x, layers, skip, causal=True)
    return float(np.abs(enumerate_paths(x, layers, maps, skip).sum(0) - output).max() / np.abs(output).max())


def value_paths(draws: int, rows: Sequence[PathRow]) -> Found:
    """Counts, the identity, and by skip scale the mean length, the weights at either end, and the residual of the shortest and longest paths."""
    found = {
        "number": exact((1 + PATH_HEADS) ** PATH_DEPTH), "walked": exact((1 + PATH_HEADS) ** WALKED),
        "depth": exact(PATH_DEPTH), "heads": exact(PATH_HEADS),
        "one_head_over_half": measured([2 * mean_length(count_paths(PATH_DEPTH, 1)) / PATH_DEPTH]),
        "heads_over_half": measured([2 * mean_length(count_paths(PATH_DEPTH, PATH_HEADS)) / PATH_DEPTH]),
        "error": small((path_error(seed, skip) for seed in range(draws) for skip in SKIPS), "max"),
    }  # fmt: skip
    for row in rows:
        name = SKIPS[row.skip]
        found |= {
            f"{name}.skip": exact(row.skip, digits=2), f"{name}.mean": measured([mean_length(row.weight)], digits=1),
            f"{name}.over_half": measured([2 * mean_length(row.weight) / PATH_DEPTH]),
            f"{name}.longest": measured([row.weight[-1]], digits=3), f"{name}.shortest": small([row.weight[0]]),
            f"{name}.residual_shortest": measured([row.residual[0]], digits=3), f"{name}.residual_longest": small([row.residual[-1]]),
        }  # fmt: skip
    return found


def value_skip(draws: int, tokens: Sequence[int], width: int, depth: int) -> Found:
    """Two choices of weights, and the cone: a layer with a skip that makes all tokens one; attention alone that keeps them apart; mean cosines.

    The first needs fewer tokens than the width, and more of them see past themselves at a small width.
    """
    drawn = [draw_tokens(seed, min(tokens[0], width // 2), width) for seed in range(draws)]
    erased = [x + attend(x, erase(x)) for x in drawn]
    kept = []
    for x in drawn:
        for _ in range(depth):
            x = attend(x, sharp_heads(width, np.eye(width)))
        kept.append(relative_residual(x))
    runs = [(draw_tokens(seed, length, width), seed) for length in tokens for seed in range(draws)]
    stacks = {name: [last_of(run_stack(x, seed, VARIANTS["skip"], depth, causal)) for x, seed in runs] for name, causal in MASKS.items()}
    return {
        "rank_before": measured((np.linalg.matrix_rank(x) for x in drawn), "min", 0),
        "rank_after": measured((np.linalg.matrix_rank(x) for x in erased), "max", 0),
        "residual_after": small(map(relative_residual, erased), "max"),
        "sharp_residual": measured(kept, "min"),
        "cosine_largest": measured((mean_cosine(x) for ends in stacks.values() for x in ends), "max"),
    } | {f"cosine_{name}": measured(map(mean_cosine, ends), "median") for name, ends in stacks.items()}


def last_of(stack: Iterable[np.ndarray]) -> np.ndarray:
    """The last matrix."""
    *_, last = stack
    return last


def value_mlp(draws: int, tokens: int, width: int, spread: float = 1e-6) -> Found:
    """An MLP on tokens along a line, on one and the same token, and on tokens close together; and attention's share of a block's weights."""
    found: Found = {}
    for kind in ("gelu", "swiglu"):
        line, same, close = [], [], []
        for seed in range(draws):
            generator = np.random.default_rng([seed, 6])
            mlp, direction = draw_mlp(generator, width, kind), generator.standard_normal(width)
            places, noise = generator.standard_normal((tokens, 1)), generator.standard_normal((tokens, width))
            line.append(compute_ranks(mlp.apply(places * direction))[0])
            same.append(relative_residual(mlp.apply(np.tile(direction, (tokens, 1)))))
            near = direction + spread * noise
            close.append(relative_residual(mlp.apply(near)) / relative_residual(near))
        found |= {
            f"{kind}.line_rank": measured(line, "min"), f"{kind}.same": small(same, "max"), f"{kind}.gain": measured(close, "max"),
            f"{kind}.share": measured([attention_share(kind, width)], digits=3),
        }  # fmt: skip
    return found


def value_demonstration(shown: Shown, layers: int) -> Found:
    """What the script prints about the layers that the text speaks of, what of it is above rounding, and its transformer carried on to more layers.

    From the fourth layer on the printed rank is rounding's, and agrees with another machine's no better than that.
    """
    x, drawn = draw_script(SEED, layers)
    later = compute_ranks(last_of(run_transformer(x, list(drawn))))[1]
    wide = partial(measured, digits=4)
    return {
        "first": wide([shown.pure[0]]), "rank_three": wide([shown.pure[3]]),
        "rank_four": wide([shown.pure[4]], slack=0.2), "rank_five": wide([shown.pure[5]], slack=0.2),
        "four_at_floor": count([shown.at_floor[4]]),
        "residual_three": small([shown.residual[3]]), "residual_four": small([shown.residual[4]]),
        "apart_three": wide([shown.apart[3]]), "apart_four": wide([shown.apart[4]]), "apart_five": wide([shown.apart[5]]),
        "seed": exact(SEED), "numbers": exact(shown.at_floor.index(True) - 1), "layers": exact(LAYERS), "block_last": wide([shown.block[-1]]),
        "block_kept": measured([shown.block[-1] / shown.block[0]]), "later": exact(layers), "later_kept": measured([later / shown.block[0]]),
    }  # fmt: skip


def average(x_TD: np.ndarray, layers: int, causal: bool = True) -> list[np.ndarray]:
    """Tokens under uniform attention, the input first; no weights."""
    uniform, found = uniform_map(len(x_TD), causal), [x_TD]
    for _ in range(layers):
        found.append(uniform @ found[-1])
    return found


def follow_average() -> list[CausalRow]:
    """The running mean by layer."""
    x = np.random.default_rng(0).standard_normal((UNIFORM_TOKENS, UNIFORM_WIDTH))
    stack = enumerate(average(x, UNIFORM_LATE))
    return [CausalRow(layer=layer, stable=compute_ranks(each)[0], residual=relative_residual(each)) for layer, each in stack]


def value_average(rows: Sequence[CausalRow]) -> Found:
    """The running mean's spectrum, its ramp, its contraction and rank; and uniform attention without a mask (KAT-5, KAT-6)."""
    x, uniform = np.random.default_rng(0).standard_normal((UNIFORM_TOKENS, UNIFORM_WIDTH)), uniform_map(UNIFORM_TOKENS, True)
    ramp, late = np.arange(UNIFORM_TOKENS, dtype=float), average(x, UNIFORM_LAYERS)[-1]
    top = np.linalg.svd(centre(late))[0][:, 0]
    eigenvalues = np.sort(np.linalg.eigvals(uniform_map(8, True)).real)[::-1]
    return {
        "layers": exact(UNIFORM_LAYERS), "late": exact(UNIFORM_LATE),
        "eigenvalue_error": small([np.abs(eigenvalues - 1 / np.arange(1, 9)).max()], "max"),
        "ramp_error": small([np.abs(uniform @ ramp - ramp / 2).max() / ramp.max()], "max"),
        "ratio": measured([rows[UNIFORM_LAYERS].residual / rows[UNIFORM_LAYERS - 1].residual]),
        "late_ratio": measured([rows[UNIFORM_LATE].residual / rows[UNIFORM_LATE - 1].residual], digits=3),
        "rank": measured([rows[UNIFORM_LAYERS].stable], digits=4), "residual": measured([rows[UNIFORM_LAYERS].residual], digits=3),
        "pearson": measured([abs(np.corrcoef(top, ramp)[0, 1])]),
        "unmasked": small([relative_residual(average(x, 1, causal=False)[-1])], "max"),
    }  # fmt: skip
