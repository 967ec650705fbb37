"""The rows of the readings: from the tiny study's saved states, and the replay against what the branches logged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from corpora import refusal
from tiny_study import SCALE, provenance

from audit.records import record_bytes
from rankcollapse import kernel, readings
from rankcollapse.checkpoint import load_states
from rankcollapse.engine import State
from rankcollapse.experiments import joined
from rankcollapse.measure import gradient_path
from rankcollapse.positions import read_order
from rankcollapse.ramps import subtract_control
from rankcollapse.records_readings import Aftermath, Readings, Synthetic
from rankcollapse.replay import relative_error, replay_switches
from rankcollapse.tables import LOSS_ARMS, SWITCHES
from rankcollapse.text import load_stream, probe_batch

ROLE = "deep"
TREATMENTS = LOSS_ARMS | {"cosine_1x": ("cosine", 1)}


@pytest.fixture(scope="module")
def reader(study):
    """A reader of the tiny study's deep networks."""
    return readings.open_reader(SCALE, study.records.calibration.deep, study.data, study.records.collapsed[ROLE].floor, TREATMENTS)


@pytest.fixture(scope="module")
def saved(study):
    """The states that the collapse stage saved."""
    return load_states(study.states / ROLE / "states.safetensors")[0]


@pytest.fixture(scope="module")
def event(study):
    """The first settled collapse."""
    return study.records.collapsed[ROLE].events[0]


def logged(study, arm: str, seed: int):
    """The trajectory of a branch."""
    return next(run.trajectory for run in study.records.branched[ROLE].branches if run.arm == arm and run.seed == seed)


def test_an_event_is_read_whole(study, reader, saved, event):
    """Every row is there and agrees with the path stage where both read the same; a record of it is the same bytes twice and parses back."""
    low, high = saved[f"event-{event.seed}"], saved[f"control-{event.seed}"]

    def read():
        return reader.read_event(event.seed, low, high, (0.3, 1.0), (), torch.Generator().manual_seed(0))

    found, path = read(), next(row for row in study.records.paths[ROLE].events if row.seed == event.seed)
    for row, other in ((found.collapsed.task, path.collapsed), (found.healthy.task, path.healthy), (found.switches[0].task, path.switch_03), (found.hinge, path.hinge)):
        for part in ("qkv", "qk", "v"):
            assert getattr(row, part) == pytest.approx(getattr(other, part), rel=1e-9)
    assert np.mean(found.collapsed.entropy.rows) == pytest.approx(path.entropy, abs=1e-6)
    assert [found.switches[0].blocks.rank[-1], found.switches[1].blocks.rank[-1]] == pytest.approx([path.rank_at_03, path.rank_at_1], rel=1e-4)
    assert {row.arm: row.rho for row in found.forces}.keys() == TREATMENTS.keys()
    assert found.healthy_at_floor.loss != found.healthy.loss and found.healthy_at_floor.skip == reader.floor
    order = read_order(high.weights, reader.tokens, 1.0, reader.setting.shape, reader.frequency)
    assert found.order_healthy.spearman == tuple(order.spearman) != found.order.spearman
    assert len(found.lines) == 3 and all(line.healthy[0] == line.random[0] for line in found.lines)
    record = Readings(provenance=provenance("readings"), role=ROLE, depth=3, floor=reader.floor, events=(found,))
    assert Readings.model_validate_json(record_bytes(record)) == record
    assert record_bytes(record) == record_bytes(record.model_copy(update={"events": (read(),)}))


def test_a_cell_is_read_whole(study, reader, saved):
    """Every event, with replays of every switch that agree with the branches; the same bytes twice; no event, an empty record."""
    collapsed, branched = study.records.collapsed[ROLE], study.records.branched[ROLE]
    given = (collapsed, branched, study.states / ROLE, SWITCHES, (2, 5))
    record = readings.measure_readings(provenance("readings"), ROLE, reader, *given)
    assert [row.seed for row in record.events] == [event.seed for event in collapsed.events] and len(record.events) > 1
    for row in record.events:
        assert [(replay.skip, replay.updates) for replay in row.replays] == [(skip, number) for skip in SWITCHES.values() for number in (2, 5)]
        assert all(replay.error is not None and replay.error < 1e-4 for replay in row.replays)
        assert [state.skip for state in row.switches] == list(SWITCHES.values())
        low, high = (saved[f"{name}-{row.seed}"].weights for name in ("event", "control"))
        assert row.lines == reader.read_lines(low, high, torch.Generator().manual_seed(row.seed))
    assert record_bytes(record) == record_bytes(readings.measure_readings(provenance("readings"), ROLE, reader, *given))
    nothing = collapsed.model_copy(update={"events": ()})
    assert readings.measure_readings(provenance("readings"), ROLE, reader, nothing, *given[1:]).events == ()


def test_the_reader_has_the_studys_probes(study, reader):
    """The same probe batches as the stages, and counts of the whole training span."""
    assert torch.equal(reader.tokens, torch.from_numpy(joined(*probe_batch(study.data, 6, SCALE.model.context))))
    assert torch.equal(reader.few, torch.from_numpy(joined(*probe_batch(study.data, 4, SCALE.model.context))))
    assert reader.frequency.sum() == len(load_stream(study.data, "train")) and len(reader.frequency) == SCALE.data.vocabulary


@pytest.mark.parametrize("arm", SWITCHES)
def test_a_replay_is_the_branch_again(study, reader, saved, event, arm):
    """From weights, moments and data position the replay has the branch's rank wherever that was measured, with the kernel to the bit."""
    limit = 0 if kernel.load_libraries() else 1e-4
    origins = {f"event-{row.seed}": saved[f"event-{row.seed}"] for row in study.records.collapsed[ROLE].events}
    branches = {name: logged(study, arm, int(name.removeprefix("event-"))) for name in origins}
    found = reader.replay(origins, SWITCHES[arm], (4, 7), branches)
    for name, rows in found.items():
        assert [row.updates for row in rows] == [4, 7] and all(row.error is not None and row.error <= limit for row in rows)
        assert rows[0].rank != rows[1].rank and rows[0].task.qk != rows[1].task.qk and len(rows[0].task.qk) == 3
        branch = branches[name]
        for row in rows:
            place = branch.step.index(origins[name].step + row.updates)
            assert row.logged == branch.rank[place] and row.at_floor == branch.at_floor[place]
            expected = (branch.rank[place], branch.residual[place], branch.loss[place])
            assert (row.rank, row.residual, row.loss) == pytest.approx(expected, rel=max(limit, 1e-12))


SPOILED = {
    "moments": lambda state: replace(state, moment1=torch.zeros_like(state.moment1)),
    "data position": lambda state: replace(state, step=state.step + 1),
    "weights": lambda state: replace(state, weights=state.weights * 1.001),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_a_replay_from_another_state_is_not(study, reader, saved, event, kind):
    """Without the moments, at another place in the data, or from other weights the rank is another one."""
    state = saved[f"event-{event.seed}"]
    branch = logged(study, "switch_03", event.seed)
    rank = branch.rank[branch.step.index(state.step + 7)]
    found = replay_switches({"event": SPOILED[kind](state)}, 0.3, (7,), reader.setting, reader.train, reader.few, reader.tokens)
    assert relative_error(found["event"][0].reading.rank[0], rank) > 1e-5


def test_a_replay_leaves_the_branchs_rank_out_where_it_was_not_measured(study, reader, saved, event):
    """No logged rank, no agreement; and a network that diverges is refused in one line."""
    state = saved[f"event-{event.seed}"]
    rows = reader.replay({"event": state}, 0.3, (3,), {})["event"]
    replayed = replay_switches({"event": state}, 0.3, (3,), reader.setting, reader.train, reader.few, reader.tokens)["event"][0].state
    path = gradient_path(replayed.weights[None].double(), reader.tokens, torch.tensor([0.3]).double(), reader.setting.shape)
    assert rows[0].task.qk == tuple(path["qk"][:, 0].tolist())
    assert reader.read_replayed(replayed, 0.3, 3, None) == rows[0] and replayed.step == state.step + 3
    assert rows[0].logged is None and rows[0].error is None
    broken = replace(state, weights=torch.full_like(state.weights, torch.nan))
    line = refusal(replay_switches, {"bad": broken}, 0.3, (2,), reader.setting, reader.train, reader.few, reader.tokens)
    assert line == "replay at 0.3: a network diverged; found bad"


def test_the_end_of_a_branch(reader, saved, event):
    """Rank by block, entropy and loss in its last state; with a term also its force at the weight it trained with."""
    state = saved[f"event-{event.seed}"]
    plain, treated = reader.read_end(event.seed, "untreated", state, reader.floor), reader.read_end(event.seed, "hinge_1x", state, reader.floor, "hinge", 0.5)
    assert plain.rho is None and treated.rho > 0 and treated.state == plain.state and len(plain.state.blocks.rank) == 3
    assert reader.read_end(event.seed, "hinge_4x", state, reader.floor, "hinge", 1.0).rho == pytest.approx(2 * treated.rho)


def test_an_aged_network(reader, saved, event):
    """Steps since it was saved, the predictor with each group swapped, and a record of it that parses back."""
    state, other = saved[f"event-{event.seed}"], saved[f"control-{event.seed}"]
    aged = State(other.weights, other.moment1, other.moment2, state.step + 30)
    row = reader.read_aged(event.seed, state, aged, 0.3)
    assert row.delay == 30 and row.swaps["none"] == pytest.approx(row.state.opening, rel=1e-9) and row.swaps["all"] != row.swaps["none"]
    end = reader.read_end(event.seed, "untreated", state, reader.floor)
    record = Aftermath(provenance=provenance("aftermath"), role=ROLE, depth=3, ends=(end,), aged=(row,))
    assert Aftermath.model_validate_json(record_bytes(record)) == record


def test_a_ramp_row(study, event):
    """Markers of the driver, the driver at held scales, and recovery on the reversed ramp, from the stages' own trajectories."""
    collapsed = study.records.collapsed[ROLE]
    driver, control = (next(run.trajectory for run in runs if run.seed == event.seed) for runs in (collapsed.drivers, collapsed.controls))
    series = {"gap": driver.rank, "cosine": driver.residual, "loss_gap": subtract_control(driver, control)}
    ramp = logged(study, "ramp", event.seed)
    found = (ramp, float(study.records.calibration.deep.recover_threshold.value), 2, 1)
    row = readings.read_ramp(event.seed, driver, series, SCALE.driver.warm, event.detected, (0.3, 0.6, -1.0), found)
    assert [passed.scale for passed in row.down] == [0.3, 0.6] and all(passed.skip <= passed.scale for passed in row.down)
    assert row.crossings["gap"] is not None and SCALE.driver.warm < row.crossings["gap"] <= event.detected
    assert row.collapse == event.skip_at_collapse and (row.recovery is None or row.recovery in ramp.skip)


def test_the_synthetic_record():
    """One point a distance, in order."""
    record = readings.read_synthetic(provenance("synthetic"), (1.0, 1e-4), 0)
    assert [point.delta for point in record.points] == [1.0, 1e-4] and record.points[0].hinge > record.points[1].hinge > 100 * record.points[1].penalty
    assert Synthetic.model_validate_json(record_bytes(record)) == record
