"""Rows of the spectra's records: every number where it belongs, and a round trip through the written bytes."""

from __future__ import annotations

import json

import pytest
import torch
from made_records import plain
from networks import SHAPE, flatten, perturb, stack_weights
from pydantic import ValidationError
from test_measure import TOKENS, skips
from tiny_spectral import made, provenance

from audit.records import Refusal, parse_model, record_bytes
from rankcollapse import spectral, spectral_rows
from rankcollapse.drawn_maps import Drawing
from rankcollapse.records_spectral import DrawnMaps, SpectralRuns

HEADS = spectral.read_heads(flatten(perturb(stack_weights([0, 1]))), TOKENS, skips(1.0, 0.5), ["none", "rms"], SHAPE)


def test_a_table_is_one_networks():
    """Blocks of heads of the network asked for, each reading under its own name."""
    (sec, directions, sigma), (entropy, rank, benign, malignant, logit) = HEADS
    table = spectral_rows.head_table(HEADS, 1)
    named = {"sec": sec, "directions": directions, "sigma": sigma, "entropy": entropy, "map_rank": rank, "benign": benign, "malignant": malignant, "logit": logit}
    for name, values in named.items():
        assert getattr(table, name) == tuple(map(tuple, values[:, 1].tolist())), name
    assert len({getattr(table, name) for name in ("sec", "sigma", "entropy", "map_rank", "logit")}) == 5
    assert len(table.mode) == SHAPE.depth and {len(block) for block in table.mode} == {SHAPE.heads}


def test_a_mode_is_that_of_the_means():
    """Sparse and low-rank is malignant, sparse alone benign, anything else neither; each head by its own entropy and rank."""
    entropy, rank = HEADS.maps.entropy.clone(), HEADS.maps.rank.clone()
    entropy[:, 0], rank[:, 0] = 0.5, 0.5
    (entropy[0, 0, 0], rank[0, 0, 0]), (entropy[1, 0, 1], rank[1, 0, 1]) = (0.01, 0.01), (0.01, 0.5)
    table = spectral_rows.head_table(HEADS._replace(maps=HEADS.maps._replace(entropy=entropy, rank=rank)), 0)
    found = {(block, head): mode for block, row in enumerate(table.mode) for head, mode in enumerate(row) if mode != "neither"}
    assert found == {(0, 0): "malignant", (1, 1): "benign"}


def test_modes_are_counted_over_networks():
    """Of the heads of all tables."""
    table = spectral_rows.head_table(HEADS, 0).model_copy(update={"mode": (("benign", "neither"), ("malignant", "neither"))})
    other = table.model_copy(update={"mode": (("benign", "benign"), ("neither", "neither"))})
    found = spectral_rows.mode_count([table, other])
    assert (found.benign.value, found.malignant.value, found.neither.value) == (3, 1, 4)


def test_what_is_not_finite_is_not_kept():
    """A network that broke has no table."""
    broken = HEADS._replace(spectra=HEADS.spectra._replace(sigma=HEADS.spectra.sigma * torch.nan))
    with pytest.raises(ValidationError):
        spectral_rows.head_table(broken, 0)


def curve():
    """Ten maps at two strengths."""
    drawing = Drawing(tokens=64, width=32, head_size=8, token_rank=32, product_rank=1)
    counts = [{"benign": 0, "malignant": 0, "neither": 10}, {"benign": 1, "malignant": 7, "neither": 2}]
    return spectral_rows.drawn_curve("full", drawing, [0.0, 8.0], counts)


def test_a_curve():
    """Counts and shares by strength."""
    found = curve()
    assert found.draws == 10 and [point.malignant_share.value for point in found.points] == [0.0, 0.7]
    assert found.points[1].modes.benign.value == 1 and (found.tokens, found.product_rank, found.causal) == (64, 1, False)


def runs() -> SpectralRuns:
    """One run that was read at both ends and one that broke."""
    heads = spectral_rows.head_table(HEADS, 0)
    read = made("adamw", 1, [5.5] * 7, benign=0.25, malignant=0.5, sec_max=0.75).model_copy(update={"warned": heads, "last": heads})
    broken = made("adamw", 2, [5.5], diverged=3)
    return SpectralRuns(provenance=provenance("spectral"), depth=2, top=1, random_sec=plain(0.4), unigram=5.5, extra={"adamw2": plain(0.1)}, runs=(read, broken))


def drawn() -> DrawnMaps:
    """One curve, and the shortfalls of one shape."""
    return DrawnMaps(
        provenance=provenance("drawn"), sparse=0.1, low_rank=0.1, curves=(curve(),), norms=spectral_rows.norm_rows("wide", 4, 6, [1, 3], [0.25, 0.125])
    )


def test_a_shortfall():
    """Each under the name of its shape and iterations."""
    found = drawn().norms
    assert [(row.name, row.iterations, row.short.value) for row in found] == [("wide_1", 1, 0.25), ("wide_3", 3, 0.125)]
    assert {(row.rows, row.columns) for row in found} == {(4, 6)}


@pytest.mark.parametrize("record", [runs(), drawn()], ids=lambda one: one.kind)
def test_records_survive_being_written(record):
    """Written and read again they are the same, what was not read is absent; an unknown key is refused."""
    written = json.loads(record_bytes(record))
    assert parse_model(type(record), written, "record") == record
    if record.kind == "spectral_runs":
        assert set(written["runs"][0]) - set(written["runs"][1]) == {"benign", "malignant", "warned", "last"}
    with pytest.raises(Refusal):
        parse_model(type(record), written | {"more": 1}, "record")
