"""Stage `drawn_maps`: theorem 1 of the note on spectral energy, sampled, and its power iterations; no network."""

from __future__ import annotations

import sys

import torch

from rankcollapse.drawn_maps import Drawing, draw_curve, measure_shortfall
from rankcollapse.maps import LOW_RANK, SPARSE
from rankcollapse.params import load_params
from rankcollapse.records_spectral import DrawnMaps
from rankcollapse.spectral_rows import drawn_curve, norm_rows
from rankcollapse.stage import open_gate, run_stage

TOKENS, WIDTH, HEAD = 64, 32, 8
STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
DRAWS, SEED = 100, 0
RANKS = {"low": 2, "full": WIDTH}
"""Of the tokens, by name."""
PRODUCTS = (1, 2, 4, 8)
"""Ranks of the query-key product."""
SHAPES, ITERATIONS = {"narrow": (WIDTH, 3 * WIDTH), "wide": (128, 128)}, (1, 2, 3, 10)
"""Of the matrices whose norms are estimated, and the power iterations."""


def body() -> None:
    """Draw the curves."""
    run = open_gate("drawn_maps", load_params(), None, [], (), strengths=list(STRENGTHS), draws=DRAWS, seed=SEED)
    generator = torch.Generator().manual_seed(SEED)
    curves = []
    for name, rank in RANKS.items():
        for product in PRODUCTS:
            for causal in (False, True):
                drawing = Drawing(TOKENS, WIDTH, HEAD, rank, product, causal)
                label = f"{name}_{product}{'_causal' if causal else ''}"
                curves.append(drawn_curve(label, drawing, STRENGTHS, draw_curve(drawing, STRENGTHS, DRAWS, generator)))
    norms = [
        row for name, shape in SHAPES.items() for row in norm_rows(name, *shape, ITERATIONS, measure_shortfall(*shape, ITERATIONS, 2 * DRAWS, generator))
    ]
    record = DrawnMaps(provenance=run.provenance, sparse=SPARSE, low_rank=LOW_RANK, curves=tuple(curves), norms=tuple(norms))
    run.finish(record, "results/spectral/drawn.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
