"""Rows of the spectra's records: every number where it belongs, and a round trip through the written bytes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from made_records import branch, plain
from networks import SHAPE, flatten, perturb, stack_weights
from one_set import SCALE, provenance
from pydantic import ValidationError
from test_measure import TOKENS, skips

from audit.records import parse_model, record_bytes
from rankcollapse import spectral, spectral_rows
from rankcollapse.crashes import Crash, Watched, score_warning
from rankcollapse.drawn_maps import Drawing
from rankcollapse.records_spectral import DrawnMaps, SpectralResults, SpectralRow, SpectralRuns

LIVED, FELL, DULL = Crash(None, None, False), Crash(40, 1.25, False), Crash(None, None, True)
HEADS = spectral.read_heads(flatten(perturb(stack_weights([0, 1]))), TOKENS, skips(1.0, 0.5), ["none", "rms"], SHAPE)


def test_a_table_is_one_networks():
    """Blocks of heads of the network asked for, modes by the thresholds of the readings."""
    table = spectral_rows.head_table(HEADS, 1)
    assert table.sec == tuple(map(tuple, HEADS.spectra.sec[:, 1].tolist())) and table.map_rank[1][0] == HEADS.maps.rank[1, 1, 0].item()
    assert table.directions == tuple(map(tuple, HEADS.spectra.directions[:, 1].tolist())) and table.logit[0][1] == HEADS.maps.logit[0, 1, 1].item()
    assert len(table.mode) == SHAPE.depth and {len(block) for block in table.mode} == {SHAPE.heads}


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


def test_survival():
    """Two of four live, 0.07 to 0.93; a run that never learnt has not survived; the loss is that of the survivors."""
    row = spectral_rows.survival_row("plain", 3e-3, [LIVED, FELL, DULL, LIVED], [2.0, 4.0, 5.3, 3.0], SCALE, plain(1.1))
    assert (row.runs.value, row.survived.values, row.crashed.value, row.never_learned.value) == (4, (1, 0, 0, 1), 1, 1)
    assert (row.low.value, row.high.value) == pytest.approx((0.0676, 0.9324), abs=1e-4) and row.rate.value == 3e-3
    assert row.final_loss.value == 2.5 and row.final_loss.values == (2.0, 3.0) and row.cost.value == 1.1
    none = spectral_rows.survival_row("plain", 1.0, [FELL, FELL, FELL], [4.0, None, 4.0], SCALE)
    assert none.final_loss is None and none.survived.value == 0 and none.high.value == pytest.approx(0.7076, abs=1e-4)


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


def warned():
    """Four and four, perfectly separated."""
    return score_warning([Watched(str(i), "a", float(i), 50 if i > 3 else None, 90) for i in range(8)], 10, 10, 80)


def test_a_warning():
    """1/70 with its counts; absent where there is nothing to compare."""
    row = spectral_rows.warning_row("sec_max", "higher", 10, 10, 80, warned())
    assert row.auc.value == 1 and row.p.value == pytest.approx(1 / 70) and (row.crashing.value, row.lasting.value, row.pairs.value) == (4, 4, 16)
    empty = spectral_rows.warning_row("sec_max", "higher", 10, 10, 80, replace(warned(), auc=None, p=1.0))
    assert empty.auc is None and empty.p.value == 1


def test_records_survive_being_written():
    """Written and read again they are the same; an unknown key is refused."""
    table = spectral_rows.head_table(HEADS, 0)
    row = SpectralRow(**dict(branch("plain", 1)), learning_rate=2e-3, optimiser="adamw", query_key="none", first=table)
    warning = spectral_rows.warning_row("sec_max", "higher", 10, 10, 80, warned())
    survival = spectral_rows.survival_row("plain", 2e-3, [LIVED], [2.0], SCALE)
    records = (
        SpectralRuns(provenance=provenance("spectral"), depth=2, top=1, random_sec=plain(0.4), random_draws=100, runs=(row, row.model_copy(update={"last": table}))),
        DrawnMaps(provenance=provenance("drawn"), sparse=0.1, low_rank=0.1, curves=(curve(),)),
        SpectralResults(
            provenance=provenance("tests"), crashes={"a": spectral_rows.crash_row(FELL), "b": spectral_rows.crash_row(LIVED)}, survival=(survival,),
            modes={"plain": spectral_rows.mode_count([table])}, warnings=(warning,),
        ),
    )  # fmt: skip
    for record in records:
        assert parse_model(type(record), json.loads(record_bytes(record)), "record") == record
    assert records[2].crashes["a"].step == 40 and records[2].crashes["b"].rise is None
