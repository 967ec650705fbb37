"""Networks read at the end of their bursts: beside what training logged there, and on to the judged record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from made_bursts import CALIBRATION, SMOKE, main_readings, provenance, threshold
from networks import write_data

from audit.records import Refusal, record_bytes
from rankcollapse.arm_records import Continuations, Development, Excursions
from rankcollapse.burst_claims import claim_quantities
from rankcollapse.burst_readings import read_bursts
from rankcollapse.burst_records import BurstReadings, BurstRecords, DevelopmentRecords
from rankcollapse.burst_tests import evaluate_bursts, forecast_bursts
from rankcollapse.checkpoint import STATES, load_states, save_states
from rankcollapse.engine import prepare_threads
from rankcollapse.experiments_bursts import burst_set, continue_set, develop
from rankcollapse.groups import Bursts
from rankcollapse.params import Depths, Model, Probe

SCALE = SMOKE.model_copy(update={
    "data": SMOKE.data.model_copy(update={"vocabulary": 257}),
    "model": Model(width=8, heads=2, context=8, init_std=0.3),
    "depths": Depths(shallow=2, deep=2), "batch": 2, "stack": 4, "checkpoint_seconds": 1e9,
    "probe": Probe(rank_sequences=4, gradient_sequences=4),
    "study": SMOKE.study.model_copy(update={"bursts": Bursts(start=5, updates=4, multipliers=(20.0, 40.0), after=6, measure_after=3)}),
})  # fmt: skip


class Chain(NamedTuple):
    """What each step of the second registered test left."""

    data: Path
    states: Path
    development: Development
    bursts: Excursions
    read: DevelopmentRecords
    readings: BurstReadings
    after: Continuations


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """Development, bursts, readings and continuations of networks that train for milliseconds."""
    folder = tmp_path_factory.mktemp("bursts")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(os, "sched_getaffinity", lambda _: {0})
        prepare_threads()
        data, states = write_data(folder / "data"), folder / "states"
        common = (SCALE, CALIBRATION)
        development = develop(provenance("development"), *common, (9, 10), str(data), states / "development")
        bursts = burst_set(provenance("burst"), *common, development, (11, 12, 13), str(data), states / "bursts")
        known = read_bursts(provenance("development_readings"), *common, development, data, states / "development")
        readings = read_bursts(provenance("burst_readings"), *common, bursts, data, states / "bursts")
        after = continue_set(provenance("continue"), *common, bursts, str(data), states / "bursts")
        return Chain(data, states, development, bursts, DevelopmentRecords(development, known), readings, after)


def test_readings_are_those_of_the_saved_networks(chain):
    """On one probe, gap and rank are what training logged at the end of the burst, to single precision; each network stands once."""
    readings, bursts = chain.readings, chain.bursts
    assert [(row.multiplier, row.seed) for row in readings.networks] == [(times, seed) for times in readings.multipliers for seed in (11, 12, 13)]
    rows = iter(readings.networks)
    for excursion in bursts.excursions:
        for gap, rank in zip(excursion.loss_gap, excursion.rank, strict=True):
            row = next(rows)
            assert row.loss_gap == pytest.approx(gap, abs=1e-4) and row.state.blocks.rank[-1] == pytest.approx(rank, rel=1e-3)
            assert row.state.skip == 1.0 and row.state.gradient_norm > 0
    control = readings.controls[0].state.task.qk
    assert readings.networks[0].qk_over_healthy == pytest.approx(np.median(np.divide(readings.networks[0].state.task.qk, control)))


def test_development_is_read_at_the_chosen_multipliers(chain):
    """Of the grid that development tries, m1 and m2 alone."""
    known = chain.read.readings
    assert known.multipliers == (float(chain.development.m1.value), float(chain.development.m2.value)) and known.seeds == (9, 10)
    assert len(known.networks) == 4 and len(known.controls) == 2


def test_reading_is_repeatable(chain):
    """The same bytes twice."""
    again = read_bursts(provenance("burst_readings"), SCALE, CALIBRATION, chain.bursts, chain.data, chain.states / "bursts")
    assert record_bytes(again) == record_bytes(chain.readings)


def test_the_whole_chain_is_judged(chain):
    """From real records to the judged one and the claims' readings: every network is counted, and times end with the budget."""
    forecast = forecast_bursts(provenance("burst_forecast"), SCALE, CALIBRATION, chain.readings, chain.read, threshold(-5.0))
    records = BurstRecords(chain.bursts, chain.readings, forecast, chain.after)
    given = (records, chain.read, threshold(-5.0), main_readings(1e-8), np.random.default_rng(0))
    found = evaluate_bursts(provenance("burst_tests"), SCALE, CALIBRATION, *given)
    assert found.networks.value == 3 == len(found.m2.T_rec.values) and max(found.m1.T_rec.values) <= 7
    assert found.m1.qk.values == tuple(row.state.opening for row in chain.readings.networks[:3])
    assert claim_quantities(found)["burst.m1.qk.deep"] == found.m1.qk


def test_a_network_that_diverged_is_left_out(chain):
    """Marked as diverged in its burst, a network has no row; its control is read all the same."""
    times = chain.readings.multipliers
    marked = tuple(run.model_copy(update={"diverged_at": 7}) if run.name == f"burst_{times[1]:g}/12" else run for run in chain.bursts.bursts)
    found = read_bursts(provenance("r"), SCALE, CALIBRATION, chain.bursts.model_copy(update={"bursts": marked}), chain.data, chain.states / "bursts")
    assert (times[1], 12) not in [(row.multiplier, row.seed) for row in found.networks] and len(found.controls) == 3


def test_a_lost_state_is_refused(chain, tmp_path):
    """A sound network without a saved state is a gap, not a network that diverged."""
    saved, _ = load_states(chain.states / "bursts" / STATES)
    save_states(tmp_path / STATES, {name: state for name, state in saved.items() if name != "m2-12"})
    with pytest.raises(Refusal, match="no state m2-12"):
        read_bursts(provenance("r"), SCALE, CALIBRATION, chain.bursts, chain.data, tmp_path)
