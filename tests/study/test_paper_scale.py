"""The paper's own scale on a CPU: its parameters load and are planned, and one network takes its first steps over GPT-2's vocabulary."""

from __future__ import annotations

from dataclasses import replace
from math import log
from pathlib import Path

import pyarrow as arrow
import pytest
from corpora import SENTENCES, silent, write_shard

from rankcollapse.costs import plan_study
from rankcollapse.engine import Run
from rankcollapse.experiments import Bench
from rankcollapse.params import load_params
from rankcollapse.plan import setting_of
from rankcollapse.text import load_stream, load_vocabulary, prepare_stream

PARAMS = load_params(Path(__file__).parents[2] / "params.yaml").model_copy(update={"scale": "paper"})
SCALE = PARAMS.chosen.model_copy(update={"batch": 2})
"""Two sequences a step instead of sixteen, so that a step takes less than a second; everything else is the paper's."""
STEPS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A stream over GPT-2's vocabulary, from a local shard, cut as the scale says."""
    out, shares = tmp_path_factory.mktemp("paper"), SCALE.data
    documents = [" ".join(SENTENCES[number % 40 :] + SENTENCES[: number % 40]) * 2 for number in range(100)]
    shard = write_shard(out / "a.parquet", arrow.array(documents))
    spans = {name: getattr(shares, name) for name in ("train", "probe", "unseen")}
    prepare_stream(out, source=shares.source, vocabulary=shares.vocabulary, documents=shares.documents, shards=(shard,), say=silent, **spans)
    return out


def test_it_is_planned():
    """The page names the paper's sizes; its networks have about 9 and 11 million weights."""
    page = plan_study(PARAMS)
    assert "scale paper: width 128, context 256, batch 16, vocabulary 50257" in page and "A100" in page
    sizes = [setting_of(PARAMS.chosen, depth, 1.0).shape.size for depth in (SCALE.depths.shallow, SCALE.depths.deep)]
    assert [round(size / 1e6, 2) for size in sizes] == [8.83, 11.19]


def test_its_vocabulary_is_gpt2s(folder):
    """50257 tokens, read back from the prepared folder, and documents that it cuts into words."""
    vocabulary = load_vocabulary(folder)
    assert (vocabulary.size, vocabulary.end_of_text) == (50257, 50256) and vocabulary.encode(["Hello world"]) == [[15496, 995]]
    assert load_stream(folder, "train").max() == 50256


def test_its_first_steps(folder, tmp_path, monkeypatch):
    """One network through the stages' own table: it starts at ln 50257 nats, learns, is measured, and rests with moments on every weight."""
    monkeypatch.chdir(tmp_path)
    setting = replace(setting_of(SCALE, SCALE.depths.shallow, 1.0), device="cpu")
    bench = Bench("paper", SCALE, setting, str(folder), {}, tmp_path / "store")
    ((trajectory, state),) = bench.train("first steps", [Run("first", 1, STEPS, measure_every=STEPS)])
    assert trajectory.step == [0, STEPS] and trajectory.diverged_at is None and state.step == STEPS
    assert trajectory.loss[0] == pytest.approx(log(50257), abs=0.1) and trajectory.loss[1] < trajectory.loss[0] - 0.05
    assert state.weights.shape == (setting.shape.size,) and state.weights.isfinite().all()
    table = state.moment2[: 50257 * 128].view(50257, 128)
    assert (table > 0).all()  # the tied output layer reaches the row of every token, seen or not
    assert min(trajectory.rank) > 1 and min(trajectory.residual) > 0.1 and trajectory.at_floor == [False, False]
