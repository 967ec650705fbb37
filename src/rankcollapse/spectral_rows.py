"""From readings of attention, crashes and scores to the rows of their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from audit.records import Quantity
from rankcollapse.drawn_maps import Drawing
from rankcollapse.maps import MODES
from rankcollapse.quantities import exact
from rankcollapse.records_spectral import CurvePoint, DrawnCurve, HeadTable, ModeCount, NormRow
from rankcollapse.spectral import Heads


def table_of(values_LMH: torch.Tensor, model: int) -> tuple[tuple, ...]:
    """One model's values as blocks of heads."""
    return tuple(map(tuple, values_LMH[:, model].tolist()))


def head_table(heads: Heads, model: int) -> HeadTable:
    """One model's heads; ValidationError where a value is not finite."""
    (sec, directions, sigma), (entropy, rank, benign, malignant, logit) = heads
    numbers = [table_of(each, model) for each in (sec, directions, sigma, entropy, rank, benign, malignant, logit)]
    depth, _, width = sec.shape
    modes = tuple(tuple(heads.modes.name(block, model, head) for head in range(width)) for block in range(depth))
    names = ("sec", "directions", "sigma", "entropy", "map_rank", "benign", "malignant", "logit")
    return HeadTable(**dict(zip(names, numbers, strict=True)), mode=modes)


def mode_count(tables: Sequence[HeadTable]) -> ModeCount:
    """Heads of each mode over several networks."""
    found = [mode for table in tables for block in table.mode for mode in block]
    return ModeCount(**{mode: exact(found.count(mode)) for mode in MODES})


def drawn_curve(name: str, drawing: Drawing, strengths: Sequence[float], counts: Sequence[Mapping[str, int]]) -> DrawnCurve:
    """A curve of drawn maps, from the counts at each strength."""
    draws = sum(counts[0].values())
    points = tuple(
        CurvePoint(
            strength=strength,
            modes=ModeCount(**{mode: exact(found[mode]) for mode in MODES}),
            malignant_share=exact(found["malignant"] / draws, digits=2),
        )
        for strength, found in zip(strengths, counts, strict=True)
    )
    return DrawnCurve(
        name=name, tokens=drawing.tokens, width=drawing.width, head_size=drawing.head_size, token_rank=drawing.token_rank,
        product_rank=drawing.product_rank, causal=drawing.causal, draws=draws, points=points,
    )  # fmt: skip


def norm_rows(name: str, rows: int, columns: int, iterations: Sequence[int], short: Sequence[float]) -> tuple[NormRow, ...]:
    """Shortfalls of one shape, each named by the shape's name and its iterations."""
    return tuple(
        NormRow(name=f"{name}_{steps}", rows=rows, columns=columns, iterations=steps, short=Quantity(value=own, digits=3, tolerance=1e-6))
        for steps, own in zip(iterations, short, strict=True)
    )
