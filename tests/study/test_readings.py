"""The rows of the readings: from a tiny set's saved states, and replays against what the branches logged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_records import series
from one_set import SCALE, WEAK, provenance, run_in

from audit.records import record_bytes
from rankcollapse import kernel, readings
from rankcollapse.blocks import read_blocks
from rankcollapse.checkpoint import load_states
from rankcollapse.engine import State
from rankcollapse.experiments import joined
from rankcollapse.measure import gradient_path
from rankcollapse.positions import read_order
from rankcollapse.records_readings import Readings, Synthetic
from rankcollapse.text import load_stream, probe_batch
from rankcollapse.treatments import ADDED, READ

ROLE = "deep"
SKIPS = [WEAK, *READ.values()]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A tiny set from calibration to switches."""
    return run_in(tmp_path_factory.mktemp("set"))


@pytest.fixture(scope="module")
def reader(real):
    """A reader of its deep networks."""
    return real.readers[ROLE]


@pytest.fixture(scope="module")
def saved(real):
    """The states that collapsed, and their controls."""
    return load_states(real.states / ROLE / "drivers" / "states.safetensors")[0]


@pytest.fixture(scope="module")
def left(real):
    """The states that branches left."""
    return load_states(real.states / ROLE / "ends" / "states.safetensors")[0]


@pytest.fixture(scope="module")
def record(real):
    """The readings of its deep networks."""
    return real.records.readings[ROLE]


@pytest.fixture(scope="module")
def event(real):
    """The first settled collapse."""
    return real.records.drivers[ROLE].events[0]


def measure(real, reader, **changes):
    """The readings once more, of other drivers or branches where given."""
    drivers, treated = (changes.get(name, getattr(real.records, name)[ROLE]) for name in ("drivers", "treated"))
    return readings.measure_readings(provenance("path"), ROLE, reader, drivers, treated, WEAK, real.states / ROLE / "drivers", real.states / ROLE / "ends")


def test_an_event_is_read_whole(reader, saved, record, event):
    """Every row is there and is what its own reading says of the same weights."""
    low, high = saved[f"event-{event.seed}"], saved[f"control-{event.seed}"]
    found, shape = record.events[0], reader.setting.shape
    for row, state, skip in ((found.collapsed, low, reader.floor), (found.healthy, high, 1.0), (found.switches[1], low, 0.3), (found.switches[2], low, 1.0)):
        path = gradient_path(state.weights[None].double(), reader.tokens, torch.tensor([skip], dtype=torch.float64), shape)
        blocks = read_blocks(state.weights[None].double(), reader.few, torch.tensor([skip], dtype=torch.float64), shape)
        assert row.skip == skip and row.task.qk == pytest.approx(path["qk"][:, 0].tolist(), rel=1e-9)
        assert row.blocks.rank == pytest.approx(blocks.rank[:, 0].tolist(), rel=1e-9) and len(row.entropy.rows) == 3
    assert {row.arm for row in found.forces} == {arm for arm, added in ADDED.items() if not added.exempt}
    assert found.healthy_at_floor.loss != found.healthy.loss and found.healthy_at_floor.skip == reader.floor
    order = read_order(high.weights, reader.tokens, 1.0, shape, reader.frequency)
    assert found.order_healthy.spearman == tuple(order.spearman) != found.order.spearman
    assert len(found.lines) == 3 and all(line.healthy[0] == line.random[0] for line in found.lines)


def test_a_cell_is_read_whole(real, reader, saved, record):
    """Every event with the weak switch first; the same bytes twice; it parses back; no event, an empty record."""
    events = real.records.drivers[ROLE].events
    assert [row.seed for row in record.events] == [event.seed for event in events] and len(record.events) == 2
    for row in record.events:
        assert [state.skip for state in row.switches] == SKIPS
        low, high = (saved[f"{name}-{row.seed}"].weights for name in ("event", "control"))
        assert row.lines == reader.read_lines(low, high, torch.Generator().manual_seed(row.seed))
    assert Readings.model_validate_json(record_bytes(record)) == record
    assert record_bytes(measure(real, reader)) == record_bytes(record)
    nothing = real.records.drivers[ROLE].model_copy(update={"events": ()})
    empty = measure(real, reader, drivers=nothing)
    assert empty.events == () and empty.aged == () and empty.unigram_loss == record.unigram_loss


def test_ends_and_delays_are_read(real, reader, record, left, event):
    """Every branch that stays at the floor and is clipped, in its last state; each delay of each collapse, the longest with its swaps."""
    arms = {row.arm for row in record.ends if row.seed == event.seed}
    assert arms == {"untreated", "aged_decay_0", *(arm for arm, added in ADDED.items() if not added.exempt)}
    hinge = next(row for row in record.ends if row.arm == "hinge_1x" and row.seed == event.seed)
    assert hinge.state == reader.read_state(left[f"hinge_1x-{event.seed}"].weights, reader.floor) and hinge.rho > 0
    assert all((row.rho is None) == (row.arm in ("untreated", "aged_decay_0")) for row in record.ends)
    assert [(row.seed, row.delay) for row in record.aged] == [(seed, delay) for seed in (0, 3) for delay in SCALE.study.delays]
    assert [bool(row.swaps) for row in record.aged] == [False, False, True] * 2


def test_a_branch_that_diverged_has_no_end(real, reader, record, event):
    """Its last state is not read, since what is not finite is no reading; the others are."""
    treated = real.records.treated[ROLE]
    broken = [row.model_copy(update={"diverged_at": 9}) if row.name == f"hinge_1x/{event.seed}" else row for row in treated.branches]
    ends = measure(real, reader, treated=treated.model_copy(update={"branches": tuple(broken)})).ends
    assert ends == tuple(row for row in record.ends if (row.arm, row.seed) != ("hinge_1x", event.seed)) and len(ends) == len(record.ends) - 1


def test_the_reader_has_the_studys_probes(real, reader):
    """The same probe batches as the stages, and counts of the whole training span."""
    assert torch.equal(reader.tokens, torch.from_numpy(joined(*probe_batch(real.data, 6, SCALE.model.context))))
    assert torch.equal(reader.few, torch.from_numpy(joined(*probe_batch(real.data, 4, SCALE.model.context))))
    assert reader.frequency.sum() == len(load_stream(real.data, "train")) and len(reader.frequency) == SCALE.data.vocabulary


def test_the_unigram_loss(reader):
    """Of three tokens that occur 1, 3 and no times: shares 2/7, 4/7 and 1/7 with one added, on a probe of the first two and the last."""
    small = replace(reader, frequency=np.array([1, 3, 0]), tokens=torch.tensor([[0, 0, 1, 2]]))
    assert small.unigram_loss() == pytest.approx(-np.log([2 / 7, 4 / 7, 1 / 7]).mean())


@pytest.mark.parametrize("arm", READ)
def test_a_replay_is_the_branch_again(real, arm):
    """From weights, moments and data position the replay has the branch's rank wherever that was measured, with the kernel to the bit."""
    limit, record = 0 if kernel.load_libraries() else 1e-4, real.records.switched[ROLE]
    branches = {row.seed: row.trajectory for row in record.branches if row.arm == arm}
    rows = [row for row in record.replays if row.skip == READ[arm]]
    assert [(row.seed, row.updates) for row in rows] == [(seed, updates) for seed in (0, 3) for updates in (4, 20)]
    logged = [row for row in rows if row.seed in branches and row.updates <= SCALE.branches.switch_steps]
    assert logged and all((row in logged) == (row.error is not None) == (row.logged is not None) for row in rows)
    for row in logged:
        branch = branches[row.seed]
        place = branch.step.index(branch.step[0] + row.updates)
        assert row.error <= limit and row.logged == branch.rank[place] and row.at_floor == branch.at_floor[place]
        assert (row.rank, row.residual, row.loss) == pytest.approx((branch.rank[place], branch.residual[place], branch.loss[place]), rel=max(limit, 1e-12))


def test_a_replay_beside_a_log_and_without_one(reader, saved, event):
    """The rank logged at the same step and the relative difference to it; neither where nothing was measured there."""
    state = saved[f"event-{event.seed}"]
    plain = reader.read_replayed(event.seed, state, 0.3, 4, None)
    assert plain.logged is None and plain.error is None and (plain.seed, plain.skip, plain.updates) == (event.seed, 0.3, 4)
    path = gradient_path(state.weights[None].double(), reader.tokens, torch.tensor([0.3]).double(), reader.setting.shape)
    assert plain.task.qk == tuple(path["qk"][:, 0].tolist())
    beside = reader.read_replayed(event.seed, state, 0.3, 4, series((state.step,), (2 * plain.rank,)))
    assert beside.logged == 2 * plain.rank and beside.error == pytest.approx(0.5)
    assert reader.read_replayed(event.seed, state, 0.3, 4, series((state.step + 1,), (2.0,))) == plain


def test_the_end_of_a_branch(real, reader, left, event):
    """Its term's force is proportional to the weight it trained with; without a term there is none."""
    run = next(row for row in real.records.treated[ROLE].branches if row.arm == "hinge_1x" and row.seed == event.seed)
    state = left[f"hinge_1x-{event.seed}"]
    one, two = reader.read_end(run, state), reader.read_end(run.model_copy(update={"term_weight": 2 * run.term_weight}), state)
    assert two.rho == pytest.approx(2 * one.rho) and one.state == two.state and (one.arm, one.seed) == ("hinge_1x", event.seed)
    assert reader.read_end(run.model_copy(update={"term": "none"}), state).rho is None


def test_an_aged_network(reader, saved, event):
    """Steps since it was saved; after the longest delay the predictor with each group swapped, `none` being as it is."""
    state, other = saved[f"event-{event.seed}"], saved[f"control-{event.seed}"]
    short, longest = (reader.read_aged(event.seed, state, State(other.weights, other.moment1, other.moment2, state.step + delay)) for delay in (3, 7))
    assert (short.delay, longest.delay) == (3, 7) and short.swaps == {} and short.restoring == () and short.state == longest.state
    assert longest.swaps["none"] == pytest.approx(longest.state.opening, rel=1e-9) and longest.swaps["all"] != longest.swaps["none"]
    assert longest.state.skip == SCALE.study.delayed_skip


def test_the_synthetic_record():
    """One point a distance, in order."""
    record = readings.read_synthetic(provenance("synthetic"), (1.0, 1e-4), 0)
    assert [point.delta for point in record.points] == [1.0, 1e-4] and record.points[0].hinge > record.points[1].hinge > 100 * record.points[1].penalty
    assert Synthetic.model_validate_json(record_bytes(record)) == record
