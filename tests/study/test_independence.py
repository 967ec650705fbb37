"""Runs that do not know of each other: order, blocks and strange neighbours change no bit, and a run that diverges is frozen alone."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import BACKENDS, needs_kernel
from networks import SETTING, make_stack, same_bits, same_state, train
from test_engine import STACK_TOLERANCE

from rankcollapse import kernel
from rankcollapse.engine import Run, Stack, State, Trajectory, fresh_state, train_stack
from rankcollapse.engine.optimisers import OPTIMISERS
from rankcollapse.events import Settled
from rankcollapse.schedule import burst, constant, ramp_down

NEVER, SOON = Settled(-1.0, 0, 2, 2), Settled(1e9, 0, 4, 2)
LATE = replace(fresh_state(6, SETTING, query_key="l2"), step=5)
TABLE = (
    Run("plain", 0, 12, measure_every=4),
    Run("hinge", 1, 10, ramp_down(2, 5, 0.1), "hinge", 0.2, measure_every=3, query_key="l2"),
    Run("penalty", 2, 9, constant(0.3), "penalty", 0.1, ((0, 4), (6, 1)), query_key="none", blocks=(1,)),
    Run("exempt", 3, 12, constant(0.2), "hinge", 0.4, exempt=True, learning_rate=burst(4, 3, 2e-3, 10.0)),
    Run("settles", 4, 12, constant(0.0), measure_every=2, stop=SOON, weight_decay=((0, 0.0), (12, 2.0))),
    Run("goes on", 5, 11, measure_every=2, stop=NEVER, gain=2.0, readings=("effective_rank", "cosine")),
    Run("late", 6, 7, constant(0.5), "penalty", 0.2, origin=LATE, query_key="l2", learning_rate=((5, 1e-2), (12, 0.0))),
    Run("silent", 7, 5, constant(0.01), query_key="none"),
)
Results = dict[str, tuple[Trajectory, State]]


def examples(number: int) -> settings:
    """So many examples, the same ones each time."""
    return settings(max_examples=number, deadline=None, derandomize=True, database=None)


def trained(runs) -> Results:
    """Trajectories and final states of a table, by name."""
    return {run.name: result for run, result in zip(runs, train(list(runs)), strict=True)}


@cache
def by_kernel() -> Results:
    """The table in its own order, in one stack."""
    return trained(TABLE)


def differing(results: Results, expected: Results) -> list[str]:
    """Runs whose trajectory or final state is not the expected one to the last bit."""
    return [name for name, (trajectory, state) in results.items() if trajectory != expected[name][0] or not same_state(state, expected[name][1])]


def far_apart(results: Results, expected: Results) -> list[str]:
    """Runs whose trajectory or final weights differ by more than single precision allows."""
    far = []
    for name, (trajectory, state) in results.items():
        other, own = expected[name]
        close = (state.weights - own.weights).norm() <= STACK_TOLERANCE * own.weights.norm() and state.step == own.step
        if not close or trajectory.step != other.step or trajectory.rank != pytest.approx(other.rank, rel=1e-3):
            far.append(name)
    return far


@needs_kernel
def test_the_table_is_a_mixed_one():
    """Every run of it moves, ends where it should, and shows what is special about it: else the tests here would compare nothing."""
    results = by_kernel()
    ends = {name: (state.step, trajectory.trained, trajectory.diverged_at) for name, (trajectory, state) in results.items()}
    assert ends == {
        "plain": (12, 12, None), "hinge": (10, 10, None), "penalty": (9, 9, None), "exempt": (12, 12, None), "settles": (6, 6, None),
        "goes on": (11, 11, None), "late": (12, 7, None), "silent": (5, 5, None),
    }  # fmt: skip
    assert {name for name, (trajectory, _) in results.items() if trajectory.term_weight > 0} == {"hinge", "penalty", "exempt", "late"}
    for run in TABLE:
        start = run.origin or fresh_state(run.seed, SETTING, run.gain, run.query_key)
        assert (results[run.name][1].weights - start.weights).norm() > 1e-2 * start.weights.norm(), run.name
    plainer = {
        "hinge": {"term": "none"}, "penalty": {"blocks": None}, "exempt": {"exempt": False}, "settles": {"weight_decay": None},
        "goes on": {"gain": 1.0}, "late": {"learning_rate": None}, "silent": {"query_key": "rms"},
    }  # fmt: skip
    changed = [replace(run, **plainer[run.name]) for run in TABLE if run.name in plainer]
    assert differing(trained(changed), results) == list(plainer)


@needs_kernel
@given(order=st.permutations(range(len(TABLE))))
@examples(12)
def test_order_changes_no_bit(order):
    """A table in another order gives every run the same bytes."""
    assert differing(trained([TABLE[i] for i in order]), by_kernel()) == []


@needs_kernel
@given(order=st.permutations(range(len(TABLE))), edges=st.sets(st.integers(1, len(TABLE) - 1)))
@examples(12)
def test_blocks_change_no_bit(order, edges):
    """Cut into any blocks, down to a stack for each run, the table gives every run the same bytes."""
    places = [0, *sorted(edges), len(TABLE)]
    for low, high in zip(places, places[1:]):
        assert differing(trained([TABLE[i] for i in order[low:high]]), by_kernel()) == []


@needs_kernel
@pytest.mark.parametrize("run", TABLE, ids=lambda run: run.name)
def test_alone_changes_no_bit(run):
    """In a stack of one a run has the bytes that it has in the whole table."""
    assert differing(trained([run]), by_kernel()) == []


def spoiled(value: float, place: int, moment: bool = False) -> State:
    """A fresh network with one strange weight, or one strange second moment."""
    state = fresh_state(9, SETTING)
    (state.moment2 if moment else state.weights)[place] = value
    return state


GAIN = SETTING.shape.size - 1
STRANGE = {
    "NaN weight": {"origin": spoiled(float("nan"), 3)},
    "infinite weight": {"origin": spoiled(float("-inf"), SETTING.shape.matrices - 1)},
    "NaN gain": {"origin": spoiled(float("nan"), GAIN), "term": "hinge", "added": 0.1},
    "1e38 weight": {"origin": spoiled(1e38, 3), "term": "penalty", "added": 0.1, "exempt": True},
    "NaN moment": {"origin": spoiled(float("nan"), 3, moment=True), "query_key": "l2"},
    "rate 1e6": {"learning_rate": constant(1e6), "term": "hinge", "added": 0.1},
    "rate 1e300": {"learning_rate": constant(1e300), "query_key": "none"},
    "decay 1e300": {"weight_decay": constant(1e300)},
    "skip 1e30": {"skip": constant(1e30), "term": "penalty", "added": 1e9},
}


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.parametrize("kind", STRANGE)
def test_a_strange_neighbour_changes_no_bit(backend, kind):
    """First, last or in the middle, a run whose numbers go wild leaves the others their bytes, or by PyTorch alone their weights up to rounding."""
    strange = Run("strange", 9, 12, **STRANGE[kind])
    if backend == "kernel":
        for place in (0, 3, len(TABLE)):
            results = trained([*TABLE[:place], strange, *TABLE[place:]])
            del results["strange"]
            assert differing(results, by_kernel()) == []
        return
    expected, results = trained(TABLE), trained([*TABLE[:3], strange, *TABLE[3:]])
    del results["strange"]
    assert far_apart(results, expected) == []


@needs_kernel
@given(kinds=st.lists(st.tuples(st.sampled_from(sorted(STRANGE)), st.integers(0, len(TABLE))), min_size=2, max_size=4))
@examples(8)
def test_several_strange_neighbours(kinds):
    """So do several at once, wherever they stand."""
    runs = list(TABLE)
    for number, (kind, place) in enumerate(kinds):
        runs.insert(place, Run(f"strange/{number}", 9, 12, **STRANGE[kind]))
    results = trained(runs)
    assert differing({name: results[name] for name in by_kernel()}, by_kernel()) == []


@pytest.mark.parametrize("order", [(7, 6, 5, 4, 3, 2, 1, 0), (3, 0, 7, 2, 5, 1, 6, 4)])
def test_pytorch_alone_within_the_tolerance(monkeypatch, order):
    """Without the kernel order and blocks move the weights by rounding only, and the kernel's are the same ones."""
    expected = by_kernel() if kernel.load_libraries() else None
    monkeypatch.setattr(kernel, "load_libraries", lambda: {})
    whole = trained(TABLE)
    assert expected is None or far_apart(whole, expected) == []
    assert far_apart(trained([TABLE[i] for i in order]), whole) == []
    for part in (order[:3], order[3:4], order[4:]):
        assert far_apart(trained([TABLE[i] for i in part]), whole) == []
    assert far_apart({"plain": whole["silent"]}, whole) == ["plain"]


def jump(step: int, rate: float):
    """The usual learning rate before a step, and another from it on."""
    return ((0, 2e-3), (step - 1, 2e-3), (step, rate), (100, rate))


def states_of(run: Run) -> list[State]:
    """A run's state at every one of its steps while its weights are finite, trained in a stack of its own."""
    steps = range(run.start, run.end + 1)
    stack = Stack([run], SETTING, make_stack([run]).train, make_stack([run]).probe, {run.name: steps})
    train_stack(stack)
    return [stack.kept[0, step] for step in steps if (0, step) in stack.kept]


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.parametrize(("step", "start", "every"), [(5, 0, 10), (5, 0, 1), (1, 0, 100), (9, 3, 100)])
def test_a_run_that_diverges_is_frozen_where_it_does(backend, step, start, every):
    """After a step at rate 1e30 the next gradient is not finite: there it is marked and frozen, with finite weights, and the rest go on."""
    origin = replace(fresh_state(3, SETTING), step=start)
    bad = Run("bad", 3, 12, learning_rate=jump(step, 1e30), measure_every=every, origin=origin)
    rest = [Run("a", 0, 12, measure_every=5), Run("b", 1, 12, constant(0.2), "hinge", 0.1), Run("c", 2, 15)]
    results, whole = trained([rest[0], bad, *rest[1:]]), trained(rest)
    trajectory, state = results.pop("bad")
    assert trajectory.diverged_at == state.step == step + 1 and trajectory.trained == step + 1 - start
    assert state.weights.isfinite().all() and state.moment1.isfinite().all() and state.weights.abs().max() > 1e28
    assert trajectory.step == [at for at in range(start, step + 1) if (at - start) % every == 0]
    assert len(trajectory.loss) == len(trajectory.step) and all(torch.tensor(trajectory.loss).isfinite())
    calm = states_of(replace(bad, learning_rate=jump(step, 2e-3)))[step - start]
    before = states_of(bad)
    assert before[step - start].step == step and (before[step - start].weights - calm.weights).norm() < 1e-4 * calm.weights.norm()
    assert far_apart(results, whole) == [] and (backend == "torch" or differing(results, whole) == [])
    assert all(trajectory.diverged_at is None for trajectory, _ in results.values())


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_several_diverge_each_at_its_own_step(backend):
    """Runs with jumps at different steps are marked at theirs, those at the end too, and none takes another along."""
    runs = [Run(f"bad/{step}", step, 12, learning_rate=jump(step, 1e30), measure_every=7) for step in (2, 6, 10, 11, 12)]
    results = trained([*runs, Run("good", 1, 12)])
    ends = {name: (trajectory.diverged_at, trajectory.trained, state.step) for name, (trajectory, state) in results.items()}
    assert ends == {
        "bad/2": (3, 3, 3), "bad/6": (7, 7, 7), "bad/10": (11, 11, 11), "bad/11": (12, 12, 12), "bad/12": (None, 12, 12), "good": (None, 12, 12)
    }  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_a_broken_run_waits_for_its_measurement(backend, monkeypatch):
    """Where nothing is read between measurements, as on a GPU, a broken run is set back to where it broke, and forks find no later state."""
    bad = Run("bad", 3, 12, learning_rate=jump(4, 1e30), measure_every=8)
    expected = trained([bad, Run("good", 1, 12)])
    take_in, reading = Stack.take_in, []
    monkeypatch.setattr(Stack, "take_in", lambda stack: take_in(stack) if reading else None)
    for name in ("measure", "keep_states", "retire"):
        plain = getattr(Stack, name)

        def read(stack, plain=plain):
            reading.append(1)
            plain(stack)
            reading.pop()

        monkeypatch.setattr(Stack, name, read)
    clocks, step = [], Stack.step
    monkeypatch.setattr(Stack, "step", lambda stack: (step(stack), clocks.append(stack.clock[0]))[0])
    runs = [bad, Run("good", 1, 12)]
    stack = Stack(runs, SETTING, make_stack(runs).train, make_stack(runs).probe)
    results = dict(zip(("bad", "good"), train_stack(stack), strict=True))
    assert differing(results, expected) == [] and results["bad"][0].diverged_at == 5 and 8 in clocks
    stack = Stack(runs, SETTING, stack.train, stack.probe, {"bad": (4, 5, 6, 7), "good": (6, 12)})
    train_stack(stack)
    assert sorted(stack.kept) == [(0, 4), (0, 5), (1, 6), (1, 12)]


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_an_unclipped_term_that_is_not_finite(backend, monkeypatch):
    """Where only the exempt term's gradient is not finite, its run is marked with the weights that it had, and takes no step."""
    gradients = Stack.gradients

    def spoil(stack, *rest):
        grad, unclipped = gradients(stack, *rest)
        if stack.alive == [0, 1, 2] and stack.clock[1] == 2:
            unclipped[1, 5] = float("inf")
        return grad, unclipped

    runs = [Run(f"run/{seed}", seed, 4, constant(0.2), "hinge", 0.1, exempt=True) for seed in range(3)]
    plain, before = trained(runs), trained([replace(run, steps=2) for run in runs])
    monkeypatch.setattr(Stack, "gradients", spoil)
    results = trained(runs)
    trajectory, state = results.pop("run/1")
    assert (trajectory.diverged_at, trajectory.trained) == (2, 2) and same_state(state, before["run/1"][1])
    assert far_apart(results, plain) == [] and (backend == "torch" or differing(results, plain) == [])


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_each_run_has_its_own_optimiser(backend, monkeypatch):
    """Runs of several optimisers in one stack, in any order: those of AdamW by another name have its bytes, those of none stay where they are."""
    monkeypatch.setitem(OPTIMISERS, "twin", OPTIMISERS["adamw"])
    monkeypatch.setitem(OPTIMISERS, "still", lambda *_: None)
    runs = [Run(f"run/{seed}", seed, 4 + seed) for seed in range(6)]
    names = ("twin", "adamw", "still", "adamw", "twin", "still")
    mixed, plain = trained([replace(run, optimiser=name) for run, name in zip(runs, names, strict=True)]), trained(runs)
    for run, name in zip(runs, names, strict=True):
        state = mixed[run.name][1]
        if name == "still":
            assert same_bits(state.weights, fresh_state(run.seed, SETTING).weights) and not state.moment1.any()
        elif backend == "kernel":
            assert differing({run.name: mixed[run.name]}, plain) == []
        else:
            assert far_apart({run.name: mixed[run.name]}, plain) == []
            assert (state.moment2 - plain[run.name][1].moment2).norm() < 1e-3 * state.moment2.norm()


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_an_origin_that_is_not_finite_trains_nothing(backend):
    """A run that begins with a NaN is marked at its first step with the weights that it was given."""
    origin = replace(spoiled(float("nan"), 3), step=4)
    trajectory, state = trained([Run("bad", 9, 6, origin=origin), Run("good", 1, 6)])["bad"]
    assert (trajectory.diverged_at, trajectory.trained, state.step, trajectory.step) == (4, 0, 4, [])
    assert same_bits(state.weights, origin.weights) and asdict(trajectory)["extra"] == {}
