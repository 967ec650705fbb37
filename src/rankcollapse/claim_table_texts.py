"""The statements of two further texts as rows, judged by the relations of the source paper's claims and counted apart from them.

`TUTORIAL` is a text on pure attention, and every reading of it (`pure.`) is of untrained networks: a summary stands for all draws and lengths,
the least or the largest of them where one alone would refute, so that one counterexample does. `NOTE` is a note on spectral energy.
"""

from __future__ import annotations

from rankcollapse.claim_table import Claim, both, value
from rankcollapse.conditions import Found, Where
from rankcollapse.relations import Comparison, Events, Not, Registered, Value

ALONE, CAUSAL = "pure.collapse.attention.full", "pure.collapse.attention.causal"
TRAINED = "networks trained with it and without"
NONE = 1e-6
"""Relative residual that stands for virtually no distinction, and for next to nothing elsewhere."""

GEOMETRY = (
    Claim("T01", "opening", "Y", "attention alone takes all tokens to one and the same point (random weights)", value(f"{ALONE}.eighth", "<=", NONE)),
    Claim("T02", "geometry", "Y", "attention maps are row-stochastic: rows sum to one", value("pure.hull.row_error", "<=", NONE)),
    Claim("T03", "geometry", "Y", "conv(X') lies in conv(X W_V), without and with a causal mask",
          both(value("pure.hull.full.excess", "<=", NONE), value("pure.hull.causal.excess", "<=", NONE))),
    Claim("T04", "geometry", "P", "a token lies strictly within the hull (softmax without a mask)", value("pure.hull.full.excess", "<", 0)),
    Claim("T05", "geometry", "Y", "a convex combination always lies strictly within the hull", value("pure.hull.causal.excess", "<", -NONE)),
    Claim("T06", "geometry", "Y", "the hull shrinks at every layer, against conv(X W_V)",
          both(value("pure.hull.full.width", "<", 1), value("pure.hull.causal.width", "<", 1))),
)  # fmt: skip
THEOREM = (
    Claim("T07", "theorem", "Y", "fixed averaging converges exponentially (running mean: one half a layer)",
          value("pure.causal.late_ratio", "in", (0.45, 0.55))),
    Claim("T08", "theorem", "Y", "pure attention collapses faster than exponentially", value("pure.slope.last", ">", 1.5)),
    Claim("T09", "theorem", "Y", "at the rate gamma^(2^l): a layer squares the residual",
          value("pure.slope.fit", "in", (1.8, 2.2)), ("pure.slope.last",)),
    Claim("T10", "theorem", "Y", "residual below c alpha^(2^l) as an upper bound, by the theorem's own",
          both(value("pure.slope.last", ">=", 2), value("pure.slope.least_margin", ">=", 0)), ("pure.slope.most_margin",)),
    Claim("T11", "theorem", "Y", "bounded spectral norms are enough for the decay", value("pure.skip.sharp_residual", "<=", NONE)),
    Claim("T12", "theorem", "Y", "the attention map goes to the uniform one (random weights)", value("pure.hull.map_error", "<=", NONE)),
    Claim("T13", "theorem", "Y", "a uniform map takes the residual to zero in one layer", value("pure.causal.unmasked", "<=", NONE)),
    Claim("T14", "theorem", "Y", "by layer 6 to 8 virtually no distinction, whatever the length (random weights)",
          both(value(f"{ALONE}.sixth", "<=", NONE), value(f"{ALONE}.eighth", "<=", NONE)), (f"{ALONE}.zero_from",)),
    Claim("T15", "theorem", "P", "the same in causal networks, as the models are that it names", value(f"{CAUSAL}.eighth", "<=", NONE),
          ("pure.causal.random_ratio",)),
)  # fmt: skip
SKIP = (
    Claim("T16", "skip", "Y", "a network with skips is a sum over paths", value("pure.paths.error", "<=", 1e-9), ("pure.paths.walked",)),
    Claim("T17", "skip", "Y", "path lengths are binomial and centred at L/2 (counts, one head)",
          value("pure.paths.one_head_over_half", "in", (0.95, 1.05)), ("pure.paths.heads", "pure.paths.heads_over_half")),
    Claim("T18", "skip", "Y", "so is the effective depth, by what the paths carry at skip scale one",
          value("pure.paths.one.over_half", "in", (0.8, 1.2)), ("pure.paths.fiftieth.skip", "pure.paths.fiftieth.over_half")),
    Claim("T19", "skip", "Y", "short paths deliver tokens apart, long ones do not",
          Value(Comparison("pure.paths.one.residual_shortest", ">=", "pure.paths.one.residual_longest", 10))),
    Claim("T20", "skip", "Y", "the skip is a hard lower bound on matrix rank", value("pure.skip.rank_after", ">=", "pure.skip.rank_before"),
          ("pure.skip.residual_after",)),
    Claim("T21", "skip", "Y", "skips halt the collapse: with random weights the residual stays",
          both(value("pure.collapse.skip.full.last", ">=", 0.1), value("pure.collapse.skip.causal.last", ">=", 0.1)), ("pure.settings.depth",)),
    Claim("T22", "skip", "Y", "they prevent a collapse to rank one (a tenth of the rank stays)",
          both(value("pure.collapse.skip.full.kept", ">=", 0.1), value("pure.collapse.skip.causal.kept", ">=", 0.1))),
    Claim("T23", "skip", "Y", "attention with skips alone can still end in a narrow cone", value("pure.skip.cosine_largest", ">=", 0.9)),
)  # fmt: skip
MLP = (
    Claim("T24", "MLP", "Y", "an MLP takes tokens along a line off it",
          both(*(value(f"pure.mlp.{kind}.line_rank", ">", 1.01) for kind in ("gelu", "swiglu")))),
    Claim("T25", "MLP", "Y", "an MLP separates tokens that have become the same",
          Not(both(*(value(f"pure.mlp.{kind}.same", "<=", NONE) for kind in ("gelu", "swiglu"))))),
    Claim("T26", "MLP", "Y", "alternating with an MLP (GELU) prevents the collapse (no mask)", value("pure.collapse.gelu.full.last", ">", NONE)),
    Claim("T27", "MLP", "Y", "alternating with an MLP (SwiGLU) prevents it (no mask)", value("pure.collapse.swiglu.full.last", ">", NONE)),
)  # fmt: skip
ARCHITECTURE = (
    Claim("T28", "design", "Y", "pre-norm keeps the rank over hundreds of layers",
          both(value("pure.collapse.deep.pre.full.kept", ">=", 0.5), value("pure.collapse.deep.pre.causal.kept", ">=", 0.5)),
          ("pure.settings.deep",)),
    Claim("T29", "design", "Y", "normalising around the sum, which it sets against this, does not",
          both(value("pure.collapse.deep.post.full.last", "<=", NONE), value("pure.collapse.deep.post.causal.last", "<=", NONE)),
          ("pure.collapse.deep.post.full.zero_from", "pure.collapse.deep.post.causal.zero_from")),
    Claim("T30", "design", "N", "Gemma 2 and Qwen 2.5 normalise queries and keys",
          missing="a fact about published models, which no run can show: their code or reports"),
    Claim("T31", "design", "N", "query-key normalisation prevents sudden drops of entropy", missing="such networks read while they train; of those trained here only last states were read"),
    Claim("T32", "design", "Y", "attention has one third of the weights, the MLP two thirds",
          both(*(value(f"pure.mlp.{kind}.share", "in", (0.32, 0.345)) for kind in ("gelu", "swiglu")))),
    Claim("T33", "design", "N", "this share balances routing and transformation", missing="networks trained at other shares"),
)  # fmt: skip
DEMONSTRATION = (
    Claim("T34", "script", "Y", "by layer 4 it prints a rank near one", value("pure.demonstration.rank_four", "<=", 1.5)),
    Claim("T35", "script", "Y", "that rank is one of tokens, not of rounding", value("pure.demonstration.four_at_floor", "==", 0),
          ("pure.demonstration.residual_four", "pure.demonstration.apart_four", "pure.demonstration.numbers")),
    Claim("T36", "script", "Y", "the transformer's rank is stable over its layers", value("pure.demonstration.block_kept", ">=", 0.8)),
    Claim("T37", "script", "Y", "it is stable at arbitrary depth (to the depth tried)", value("pure.demonstration.later_kept", ">=", 0.8), ("pure.demonstration.later",)),
)  # fmt: skip
TUTORIAL = (*GEOMETRY, *THEOREM, *SKIP, *MLP, *ARCHITECTURE, *DEMONSTRATION)
"""All of the text on pure attention, in the order of their ids."""
READ, SURVIVED = "attention.warned.readings", "attention.survival.adamw.survived"
NOTE = (
    Claim("N1", "C1", "Y", "sparse maps that are not low-rank are benign: one network with such maps that learns",
          Found(Comparison("attention.maps.benign_survived", ">", 0)), ("attention.maps.benign_fell",)),
    Claim("N2", "C2", "P", "malignant collapse goes with the crash: its share of the maps tells the runs",
          Where((value("restart.fell", ">", 0), value("restart.malignant.auc", ">=", 0.7), value("restart.malignant.p", "<=", 0.05))),
          ("restart.maps.malignant_fell", "restart.maps.malignant_survived")),
    Claim("N3", "C3", "N", "the concentration of the query-key product is the cause",
          missing="an intervention: the spectrum held, or concentrated, with all else as it was"),
    Claim("N4", "predictor", "P", "SEC tells, beforehand, the runs that crash (of networks that had learnt)",
          Registered("spectral-2.R1", "met"),
          ("restart.warned.readings.sec_mean.auc", "restart.warned.readings.entropy_mean.auc", f"{READ}.sec_mean.auc")),
    Claim("N5", "predictor", "N", "crashed runs hold their energy in fewer than 10 directions", beside=("attention.random_sec",),
          missing="heads with many more directions: in a small one a product that has learnt nothing has no more"),
    Claim("N6", "theorem 1", "Y", "tokens and product of low rank, large singular values: maps sparse and low-rank",
          both(value("drawn.low_1.share", ">=", 0.95), value("drawn.low_1_causal.share", ">=", 0.95)),
          ("drawn.low_8.share", "drawn.full_1.share", "drawn.full_8.share")),
    Claim("N7", "C4", "P", "capped, AdamW needs no warm-up, with as good a loss (one rate a study, an untuned warm-up)",
          both(Registered("spectral-1.S1", "met"), Registered("spectral-1.S2", "met"), Registered("spectral-2.S1", "met"), Registered("spectral-2.S4", "met")),
          ("attention.capped_below_warm_up", "restart.capped.survived", "restart.capped_below_warm_up")),
    Claim("N8", "remedy", "P", "two power iterations are enough for the norms (to a twentieth, from a cold start)",
          both(value("drawn.norms.narrow_2", "<=", 0.05), value("drawn.norms.wide_2", "<=", 0.05)), ("drawn.norms.narrow_3", "drawn.norms.wide_3")),
    Claim("N9", "C5", "N", "rank collapse of the activations is the wrong place to look", beside=(f"{READ}.rank.auc", f"{READ}.residual.auc"),
          missing="two interventions: one that moves the activations' rank and not the spectrum, one the other way"),
    Claim("N10", "predictor", "Y", "in successful runs the energy stays distributed, unlike in those that fell",
          Where((Events("mixed", Comparison(SURVIVED), (None,)), value("attention.sec_end.survived", "<", "attention.sec_end.fell"))),
          ("attention.sec_end.survived", "attention.random_sec", "attention.entropy_end.survived", "attention.entropy_end.fell")),
)  # fmt: skip
"""Those of the note on spectral energy; behind N6 and N8 stand drawn maps and matrices, the rest are trained networks."""
