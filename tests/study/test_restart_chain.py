"""The study of restarts in seconds, from development to the judgement: what was learnt first stands in every row, the same in every arm."""

from __future__ import annotations

import os

import pytest
from networks import write_data
from test_spectral_chain import Chain, arms_of, assert_read_back, mean
from tiny_spectral import RESTART, RESTARTED, provenance

from rankcollapse.experiments_spectral import develop_spectral, run_spectral
from rankcollapse.records_spectral import SpectralRow
from rankcollapse.spectral_arms import list_arms
from rankcollapse.spectral_tests import judge_spectral

DEVELOPED, SEEDS, UNIGRAM = (7, 8, 11), (9, 10, 12), 5.6
STEPS = (0, 20, 40, 45, 50, 55, 60, 70, 80)


@pytest.fixture(scope="module")
def chain(tmp_path_factory, one_thread):
    """Development, runs and judgement, one after the other."""
    folder = tmp_path_factory.mktemp("restart")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(os, "sched_getaffinity", lambda _: {0})
        data = str(write_data(folder / "data"))
        choice = develop_spectral(provenance("restart_development"), RESTARTED, DEVELOPED, UNIGRAM, data)
        runs = run_spectral(provenance("restart"), RESTARTED, choice, SEEDS, UNIGRAM, data)
        return Chain(choice, runs, judge_spectral(provenance("restart_tests"), RESTARTED, choice, runs), runs)


@pytest.mark.parametrize("name", ["choice", "runs", "results"])
def test_a_record_is_read_back(chain, name):
    """By the schema of its kind."""
    assert_read_back(getattr(chain, name))


def test_development_tries_caps_on_as_many_networks_as_arms_get(chain):
    """Rates on all three, caps on the first two."""
    arms = arms_of(chain.choice.runs)
    assert [row.seed for row in arms["adamw"]] == [*DEVELOPED, *DEVELOPED] and chain.choice.depth == 1 == chain.runs.depth
    assert {arm: [row.seed for row in rows] for arm, rows in arms.items() if arm != "adamw"} == {"adamw2_1": [7, 8], "adamw2_2": [7, 8]}
    assert {row.runs.value for row in chain.choice.rates} == {3} and {row.runs.value for row in chain.choice.caps} == {2}


def learnt(row: SpectralRow) -> dict[str, tuple]:
    """What was measured up to the step at which the rate goes up."""
    run = row.trajectory
    return {name: getattr(run, name)[:3] for name in ("step", "skip", "loss", "rank", "residual")}


def test_every_row_begins_with_what_was_learnt(chain):
    """From step 0 on, 40 steps of learning and 40 of its arm, whether in two stretches or three."""
    for row in (*chain.choice.runs, *chain.runs.runs):
        assert row.trajectory.step == STEPS and row.start == 0, row.name
        assert {len(values) for values in row.trajectory.extra.values()} <= {len(STEPS)}
    assert list(arms_of(chain.runs.runs)) == list(list_arms(RESTART))


def test_what_was_learnt_is_the_same_in_every_arm(chain):
    """Seed by seed, bit for bit, but where queries and keys are normalised; after it every arm goes its own way."""
    for rows in (chain.choice.runs, chain.runs.runs):
        for seed in {row.seed for row in rows}:
            own = [row for row in rows if row.seed == seed]
            normalised, others = ([row for row in own if (row.arm == "qk_norm") is flag] for flag in (True, False))
            assert all(learnt(row) == learnt(others[0]) for row in others)
            assert all(learnt(row)["loss"] != learnt(others[0])["loss"] for row in normalised)
            assert len({row.trajectory.loss[3:] for row in own}) == len(own), f"two arms of seed {seed} trained alike"
    assert len({learnt(row)["loss"] for row in (*chain.choice.runs, *chain.runs.runs)}) == 6 + 2


def test_the_judgement_reads_as_the_rate_goes_up_and_later(chain):
    """All networks at both steps, and closed attention; the tables of heads are those at the warning and at the end."""
    results = chain.results
    for found, step in ((results.before, 40), (results.warned, 50)):
        assert found.at.value == step and found.crashing.value + found.lasting.value + found.excluded.value == len(SEEDS)
    assert results.closed.sign == "lower"
    for row in arms_of(chain.runs.runs)["adamw"]:
        for table, place in ((row.warned, STEPS.index(50)), (row.last, -1)):
            assert row.trajectory.extra["entropy_mean"][place] == pytest.approx(mean(table.entropy), rel=1e-4)
        assert min(row.trajectory.extra["gradient_norm"][1:]) > 0
