"""The record of untrained attention: what stands in it follows from the networks, is the same twice, and is a number only above rounding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import numpy as np
import pytest
from made_pure import SETTINGS, collapsed, pure_record
from made_readings import EVENT

from audit.quantities import summary_fault, walk_quantities
from audit.records import Quantity, parse_model, read_yaml, record_bytes
from rankcollapse import pure, untrained
from rankcollapse.params import load_params
from rankcollapse.pure_readings import contraction_of, read_pure
from rankcollapse.pure_values import MASKS, ZERO, measured, value_courses
from rankcollapse.records_pure import TREES, Pure, gather_pure
from rankcollapse.untrained import DEEP, VARIANTS, Course, Variant


@pytest.fixture(scope="module")
def record():
    """At the smoke scale's size."""
    return pure_record()


def test_the_record_is_complete_and_reads_back(record):
    """Every variant, mask and length; every summary follows from its values; the same bytes again; keys name their tree."""
    kinds = {(variant, mask, tokens) for variant in VARIANTS for mask in MASKS.values() for tokens in SETTINGS.tokens}
    assert {(row.variant, row.causal, row.tokens) for row in record.courses} == kinds
    assert [len(row.residual) for row in record.deep] == [SETTINGS.deep + 1] * 4
    text = record_bytes(record)
    assert parse_model(Pure, json.loads(text), "pure.json") == record
    assert record_bytes(read_pure(record.provenance, SETTINGS, collapsed(EVENT))) == text
    schema = json.loads((Path(__file__).parents[2] / "schemas/pure.json").read_text())
    assert jsonschema_rs.is_valid(schema, json.loads(text)) and not jsonschema_rs.is_valid(schema, json.loads(text) | {"more": 1})
    faults = [(key, fault) for key, own in walk_quantities(json.loads(text)) if (fault := summary_fault(parse_model(Quantity, own, key)))]
    assert faults == [] and {key.split(".")[1] for key in gather_pure(record)} == set(TREES)


def test_ranks_below_rounding_are_no_numbers(record):
    """Attention alone, without a mask, ends at floor, and there it has neither stable nor effective rank; above it has both."""
    for row in (row for row in record.courses if row.variant == "attention" and not row.causal):
        assert row.residual[-1] < pure.FLOOR and row.stable[-1] is row.effective[-1] is None
        assert row.stable[0] is not None and row.stable[0] <= row.effective[0] <= min(row.tokens, SETTINGS.width)
        assert [value is None for value in row.stable] == [value is None for value in row.effective]
    found = gather_pure(record)
    assert found["pure.collapse.attention.full.at_floor"].value == 6 and found["pure.collapse.attention.full.kept"].values == ()
    assert found["pure.collapse.attention.causal.at_floor"].value == 0 and len(found["pure.collapse.attention.causal.kept"].values) == 6


def test_what_it_comes_to(record):
    """Cubes without a mask and only shrinks with one; skips keep tokens apart, an MLP alone does not; the identity is exact to rounding."""
    found = {key.removeprefix("pure."): own.value for key, own in gather_pure(record).items()}
    assert found["slope.last"] == pytest.approx(3, abs=0.3) and found["causal.random_slope"] == pytest.approx(1, abs=0.2)
    assert found["collapse.gelu.full.last"] < 1e-13 < 0.01 < found["collapse.skip.full.last"] and found["paths.error"] < 1e-13
    assert found["skip.rank_before"] == 8 and found["skip.rank_after"] == 1 and found["hull.causal.excess"] == 0 > found["hull.full.excess"]
    assert found["mlp.gelu.same"] < 1e-15 < found["mlp.gelu.gain"] and found["demonstration.numbers"] == 3
    assert found["paths.one_head_over_half"] == 1 and found["paths.heads_over_half"] == pytest.approx(4 / 3)


def test_paths_by_length_are_shares(record):
    """Weights add up to one, and the weaker the skip the longer the paths that carry the output."""
    assert all(sum(row.weight) == pytest.approx(1) for row in record.lengths)
    means = [sum(length * weight for length, weight in enumerate(row.weight)) for row in record.lengths]
    assert means == sorted(means) and [row.skip for row in record.lengths] == sorted((row.skip for row in record.lengths), reverse=True)


def test_readings_of_a_course():
    """Layers six and eight, the last one, the first below the bound, and ranks kept, over two made-up courses; the worst of them is the value."""
    high, low = [1.0, *(10.0**-layer for layer in range(1, 11))], [0.5] * 11
    courses = [Course(high, high, [4.0] * 10 + [None], [6.0] * 10 + [None]), Course(low, low, [4.0] * 10 + [2.0], [6.0] * 10 + [3.0])]
    found = value_courses(courses)
    assert (found["sixth"].value, found["eighth"].value, found["last"].value) == (0.5, 0.5, 1e-10)
    assert found["zero_from"].values == (7, 11) and high[7] < ZERO < high[5] and found["at_floor"].values == (1, 0)
    assert found["kept"].values == (0.5,) and found["stable"].values == (2.0,)


def test_networks_are_compared_above_rounding_only():
    """Geometric mean over blocks of residual over residual, without steps to a block at floor; no collapse, no value."""
    assert contraction_of(EVENT) == pytest.approx((0.01 / 0.5) ** 0.5)
    blocks = EVENT.collapsed.blocks.model_copy(update={"at_floor": (False, False, True)})
    floored = EVENT.model_copy(update={"collapsed": EVENT.collapsed.model_copy(update={"blocks": blocks})})
    assert contraction_of(floored) == pytest.approx(0.2)
    assert measured([]).values == () and measured([]).value == 0


def test_no_collapse_leaves_readings_without_values():
    """A main study in which nothing collapsed does not stop the stage."""
    few = SETTINGS.model_copy(update={"draws": 1, "tokens": (8,)})
    found = gather_pure(read_pure(pure_record().provenance, few, collapsed()))
    assert found["pure.networks.deep.contraction"].values == () and len(found["pure.collapse.attention.full.last"].values) == 1


def test_variants_differ_only_in_what_stands_beside_attention():
    """The same attention weights whatever the MLP; post-norm leaves unit tokens; a skip adds what attention gives; an MLP acts token by token."""
    for (one, none), (other, mlp) in zip(untrained.draw_layers(3, 8, 2), untrained.draw_layers(3, 8, 2, "gelu"), strict=True):
        assert all((a == b).all() for a, b in zip(one, other, strict=True)) and none is None and mlp is not None
    x, (heads, mlp) = untrained.draw_tokens(0, 5, 8), next(untrained.draw_layers(0, 8, 1, "swiglu"))
    alone = untrained.run_layer(x, heads, None, Variant(), False)
    assert untrained.run_layer(x, heads, None, Variant(skip=True), False) == pytest.approx(x + alone)
    assert (untrained.run_layer(x, heads, mlp, Variant(norm="post", skip=True), False) ** 2).mean(1) == pytest.approx(np.ones(5))
    assert mlp.apply(x)[[2]] == pytest.approx(mlp.apply(x[[2]])) and set(DEEP) <= set(VARIANTS)


def test_activations_and_shares():
    """GELU and swish at known points, SwiGLU as the text writes it, one third of a block's weights to attention either way."""
    assert untrained.gelu(np.array([0.0, 1.0, -1.0])) == pytest.approx([0, 0.841192, -0.158808], abs=1e-6)
    assert untrained.swish(np.array([0.0, 1.0, -800.0])) == pytest.approx([0, 0.7310586, 0])
    mlp, x = untrained.draw_mlp(np.random.default_rng(0), 6, "swiglu"), untrained.draw_tokens(0, 3, 6)
    assert mlp.up.shape == mlp.gate.shape == (6, 16) and mlp.apply(x) == pytest.approx((untrained.swish(x @ mlp.up) * (x @ mlp.gate)) @ mlp.down)
    assert untrained.attention_share("gelu", 48) == untrained.attention_share("swiglu", 48) == pytest.approx(1 / 3)


def test_the_smoke_scale_is_this_size():
    """What these tests look at is what `params.yaml` has; the other scales share the defaults."""
    params = load_params()
    assert params.scales.smoke.pure == SETTINGS and params.scales.laptop.pure == params.scales.paper.pure == type(SETTINGS)()
    assert "pure" not in read_yaml(Path("params.yaml"))["scales"]["laptop"]


def test_the_stage_computes_on_one_thread():
    """Whatever the environment says, and before numpy is loaded, so that cores do not change the last digits."""
    shown = "os.environ['OMP_NUM_THREADS'], os.environ['OPENBLAS_NUM_THREADS']"
    code = f"import os, sys, stages; print('numpy' in sys.modules); import stages.pure; print({shown})"
    root, environment = Path(__file__).parents[2], os.environ | {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4"}
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["False", "1", "1"], done.stderr
