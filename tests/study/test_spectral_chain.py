"""The study of attention's spectra in seconds, from development to the judgement: what each record holds, and that no network depends on another."""

from __future__ import annotations

import json
import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import jsonschema_rs
import pytest
from networks import write_data
from tiny_spectral import SCALE as TINY
from tiny_spectral import provenance

from audit.records import Record, parse_model, record_bytes
from rankcollapse.experiments_spectral import develop_spectral, run_spectral
from rankcollapse.records_spectral import DrawnMaps, SpectralChoice, SpectralResults, SpectralRow, SpectralRuns
from rankcollapse.spectral_arms import list_arms
from rankcollapse.spectral_tests import FORETOLD, TRAJECTORY, choose_cap, choose_rate, judge_spectral, last_loss, survival_of

STAGE = spec_from_file_location("stage_of_drawn_maps", Path(__file__).parents[2] / "stages" / "drawn_maps.py")
drawn_maps = module_from_spec(STAGE)  # as a file: the package `stages`, once imported, is a foreign one to the gates of other tests' projects
STAGE.loader.exec_module(drawn_maps)


SCHEMAS = Path(__file__).parents[2] / "schemas"
PLAN = TINY.spectral.model_copy(update={"logit_limit": 1.0})
SCALE = TINY.model_copy(update={"spectral": PLAN})
"""Logits of so young networks are small: the limit is one that they reach."""
DEVELOPED, SEEDS, PERMUTED = (7, 8), (9, 10, 12), (12, 10, 9)
UNIGRAM = 5.6
"""Nats; a little above what a network that knows nothing starts from."""


class Chain(NamedTuple):
    """Every record of one course, and the runs once more with their seeds in another order."""

    choice: SpectralChoice
    runs: SpectralRuns
    results: SpectralResults
    permuted: SpectralRuns


@pytest.fixture(scope="module")
def chain(tmp_path_factory, one_thread):
    """Development, runs and judgement, one after the other."""
    folder = tmp_path_factory.mktemp("spectral")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(os, "sched_getaffinity", lambda _: {0})
        data = str(write_data(folder / "data"))
        choice = develop_spectral(provenance("spectral_development"), SCALE, DEVELOPED, UNIGRAM, data)
        runs, permuted = (run_spectral(provenance(f"spectral {seeds}"), SCALE, choice, seeds, UNIGRAM, data) for seeds in (SEEDS, PERMUTED))
        return Chain(choice, runs, judge_spectral(provenance("spectral_tests"), SCALE, choice, runs), permuted)


def assert_read_back(record: Record) -> None:
    """It is the same after it was written, and passes its committed schema, which refuses an unknown key."""
    written, schema = json.loads(record_bytes(record)), json.loads((SCHEMAS / f"{record.kind}.json").read_text())
    assert parse_model(type(record), written, "record") == record
    assert jsonschema_rs.is_valid(schema, written) and not jsonschema_rs.is_valid(schema, written | {"more": 1})


@pytest.mark.parametrize("name", ["choice", "runs", "results"])
def test_a_record_is_read_back(chain, name):
    """By the schema of its kind."""
    assert_read_back(getattr(chain, name))


def arms_of(rows: tuple[SpectralRow, ...]) -> dict[str, list[SpectralRow]]:
    """Rows by arm, in their order."""
    return {arm: [row for row in rows if row.arm == arm] for arm in dict.fromkeys(row.arm for row in rows)}


def test_development_chooses_by_its_own_runs(chain):
    """Every rate without a cap, every cap at the rate chosen, on every seed; the choice follows from the rows that it keeps."""
    choice, rows = chain.choice, chain.choice.runs
    assert [(row.arm, row.learning_rate, row.seed) for row in rows[:4]] == [("adamw", rate, seed) for rate in PLAN.rates for seed in DEVELOPED]
    assert [(row.arm, row.seed, row.optimiser) for row in rows[4:]] == [(f"adamw2_{place}", seed, "adamw2") for place in (1, 2) for seed in DEVELOPED]
    assert {row.learning_rate for row in rows[4:]} == {choice.rate.value} and choice.depth == SCALE.depths.shallow
    judged = [survival_of(rows[place : place + 2], SCALE, UNIGRAM) for place in range(0, 8, 2)]
    assert [row.survived for row in (*choice.rates, *choice.caps)] == [row.survived for row in judged]
    assert choice.rate.value == PLAN.rates[choose_rate(judged[:2]) - 1] and choice.cap.value == choose_cap(judged[2:])
    assert choice.tau.value == PLAN.taus[choice.cap.value - 1] and [row.tau.value for row in choice.caps] == list(PLAN.taus)


def test_every_arm_ran_on_its_networks(chain):
    """The plain arm on all, the others on the first two, at the rate chosen; no stretch of its own stands in the record."""
    arms = arms_of(chain.runs.runs)
    assert list(arms) == list(list_arms(PLAN)) and {arm: [row.seed for row in rows] for arm, rows in arms.items()} == {
        arm: list(SEEDS if arm == "adamw" else SEEDS[:2]) for arm in arms
    }
    rates = {arm: {row.learning_rate for row in rows} for arm, rows in arms.items()}
    chosen = chain.choice.rate.value
    assert rates.pop("low_rate") == {chosen * PLAN.lower} and set.union(*rates.values()) == {chosen}
    assert {tuple(row.trajectory.step) for row in chain.runs.runs} == {(0, 5, 10, 15, 20, 30, 40)}
    assert {arm: {row.start for row in rows} for arm, rows in arms.items()} == {arm: {0} for arm in arms}
    assert len({row.trajectory.loss for row in chain.runs.runs}) == len(chain.runs.runs), "two arms trained alike"
    assert all(row.last and peak(row.last.logit) < 1.5 for row in arms["qk_clip"]), "the limit is that of the training batches"


def test_heads_were_read_where_they_should_be(chain):
    """Every last state, and the plain arm's at the warning, where its tables and its trajectory say the same."""
    for row in chain.runs.runs:
        assert row.last is not None and (row.warned is not None) == (row.arm == "adamw") == bool(row.trajectory.extra), row.name
        assert row.benign == pytest.approx(mean(row.last.benign)) and row.malignant == pytest.approx(mean(row.last.malignant))
        if row.arm != "adamw":
            continue
        for table, step in ((row.warned, PLAN.at), (row.last, PLAN.steps)):
            found = {name: values[row.trajectory.step.index(step)] for name, values in row.trajectory.extra.items()}
            assert set(found) == set(FORETOLD)
            assert (found["sec_mean"], found["entropy_mean"]) == pytest.approx((mean(table.sec), mean(table.entropy)), rel=1e-4)
            assert (found["sec_max"], found["sigma_max"]) == pytest.approx((peak(table.sec), peak(table.sigma)), rel=1e-4)
            assert found["logit_max"] == pytest.approx(peak(table.logit), rel=1e-4)


def mean(table) -> float:
    """Over all blocks and heads."""
    values = [value for block in table for value in block]
    return sum(values) / len(values)


def peak(table) -> float:
    """The largest of all blocks and heads."""
    return max(value for block in table for value in block)


def test_a_network_depends_on_its_seed_alone(chain):
    """In whatever order seeds are given: the same row, bit for bit, heads included; another seed, another row."""
    one, other = ({row.name: row for row in runs.runs} for runs in (chain.runs, chain.permuted))
    shared = set(one) & set(other)
    assert {f"adamw/{seed}" for seed in SEEDS} <= shared and len(shared) == 3 + 7 and set(one) != set(other)
    assert all(one[name] == other[name] for name in shared)
    assert len({one[f"adamw/{seed}"].trajectory.loss for seed in SEEDS}) == 3


def test_the_judgement_is_that_of_the_runs(chain):
    """Every run, every arm and every reading is in it, and the order of seeds changes no count or score."""
    results, arms = chain.results, arms_of(chain.runs.runs)
    assert set(results.crashes) == {row.name for row in chain.runs.runs} and list(results.survival) == list(arms)
    assert set(results.warned.readings) == {*TRAJECTORY, *FORETOLD} and results.random_sec == chain.runs.random_sec
    assert results.capped == results.survival[f"adamw2_{chain.choice.cap.value}"]
    ours, theirs = ({row.seed: last_loss(row) for row in arms[arm]} for arm in (f"adamw2_{chain.choice.cap.value}", "warm_up"))
    assert results.capped_below_warm_up.values == tuple(int(ours[seed] < theirs[seed]) for seed in SEEDS[:2])
    plain = [row for row in chain.permuted.runs if row.arm == "adamw"]
    others = [row for row in chain.runs.runs if row.arm != "adamw"]
    again = judge_spectral(results.provenance, SCALE, chain.choice, chain.runs.model_copy(update={"runs": (*plain, *others)}))
    assert again.warned == results.warned and again.malignant == results.malignant and again.capped_below_plain == results.capped_below_plain
    assert {name: share.value for name, share in again.maps.items()} == pytest.approx({name: share.value for name, share in results.maps.items()})


@pytest.fixture
def drawn(monkeypatch):
    """The record of the stage `drawn_maps`, on few draws at two strengths."""
    kept: list[tuple[DrawnMaps, str]] = []
    run = SimpleNamespace(provenance=provenance("drawn_maps"), finish=lambda record, path: kept.append((record, path)))
    asked: dict[str, object] = {}
    monkeypatch.setattr(drawn_maps, "load_params", lambda: None)
    monkeypatch.setattr(drawn_maps, "open_gate", lambda *_, **more: asked.update(more) or run)
    for name, value in {"STRENGTHS": (0.0, 1e6), "DRAWS": 6}.items():
        monkeypatch.setattr(drawn_maps, name, value)
    for _ in range(2):
        drawn_maps.body()
    assert asked == {"strengths": [0.0, 1e6], "draws": 6, "seed": drawn_maps.SEED} and {path for _, path in kept} == {"results/spectral/drawn.json"}
    assert kept[0] == kept[1]
    return kept[0][0]


def test_drawn_maps(drawn):
    """Tokens of both ranks, products of four, both masks, all from one seed; even maps without strength, two columns at most at a huge one."""
    assert_read_back(drawn)
    curves = {(curve.token_rank, curve.product_rank, curve.causal): curve for curve in drawn.curves}
    assert set(curves) == {(rank, product, causal) for rank in (2, 32) for product in (1, 2, 4, 8) for causal in (False, True)}
    assert len({curve.name for curve in drawn.curves}) == 16 == len(drawn.curves) and curves[2, 4, True].name == "low_4_causal"
    for curve in drawn.curves:
        weak, strong = curve.points
        assert (weak.strength, strong.strength, curve.draws, curve.tokens, curve.width, curve.head_size) == (0.0, 1e6, 6, 64, 32, 8)
        assert (weak.modes.neither.value, weak.malignant_share.value) == (6, 0) and strong.modes.benign.value + strong.modes.malignant.value == 6
        assert strong.malignant_share.value == strong.modes.malignant.value / 6
    assert all(curves[rank, 1, False].points[1].malignant_share.value == 1 for rank in (2, 32))
    assert curves[32, 8, False].points[1].malignant_share.value < 1


def test_drawn_norms(drawn):
    """Of each shape, a share that more power iterations on the same matrices make smaller."""
    for shape, (rows, columns) in drawn_maps.SHAPES.items():
        found = [row for row in drawn.norms if row.name.rpartition("_")[0] == shape]
        assert [(row.name, row.rows, row.columns) for row in found] == [(f"{shape}_{steps}", rows, columns) for steps in drawn_maps.ITERATIONS]
        short = [row.short.value for row in found]
        assert 1 > short[0] and short == sorted(short, reverse=True) and len(set(short)) == len(short) and short[-1] > 0
