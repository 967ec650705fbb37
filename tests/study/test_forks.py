"""Forks, schedules, terms on some blocks, cadences and readings do in training what their table says."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import numpy as np
import pytest
import torch
from networks import RULE, SETTING, SHAPE, make_stack, make_stream, same_bits, same_state, stream_of, train

from rankcollapse.engine import Fork, Run, State, Trajectory, fresh_state
from rankcollapse.model import token_losses, views
from rankcollapse.passes import TorchPass
from rankcollapse.schedule import at, burst, constant, ramp_down
from rankcollapse.terms import block_terms
from rankcollapse.text import batch_at


def since(trajectory: Trajectory, step: int) -> list[tuple[float, ...]]:
    """What was measured from a step on."""
    columns = (trajectory.step, trajectory.skip, trajectory.rank, trajectory.residual, trajectory.loss)
    return [row for row in zip(*columns, strict=True) if row[0] >= step]


VARIED = {"skip": ramp_down(2, 9, 0.1), "learning_rate": ((0, 1e-3), (16, 9e-3)), "weight_decay": burst(8, 2, 0.1, 20.0), "measure_every": 1}


@pytest.mark.parametrize("block", [1, 4])
def test_a_fork_goes_on_as_its_parent_would(table, block):
    """From a middle step, from a fork's own, and from the end: where the schedules agree, a chain of forks is one long run to the last bit."""
    long, parent = Run("long", 0, 16, **VARIED), Run("parent", 0, 12, **VARIED)
    first = Run("first", 0, 5, **VARIED, origin=Fork("parent", 7))
    second = Run("second", 0, 7, **VARIED, origin=Fork("first", 9))
    last = Run("last", 0, 4, **VARIED, origin=Fork("parent", 12))
    start = Run("start", 0, 16, **VARIED, origin=Fork("parent", 0))
    results = table(second, last, long, first, parent, start, Run("else", 1, 16, **VARIED), block=block)
    for name, own in (("first", "parent"), ("second", "long"), ("last", "long"), ("start", "long")):
        trajectory, state = results[name]
        assert same_state(state, results[own][1]), name
        assert since(trajectory, 0) == since(results[own][0], trajectory.step[0]), name
    assert {name: (trajectory.step[0], trajectory.trained) for name, (trajectory, _) in results.items()} == {
        "second": (9, 7), "last": (12, 4), "long": (0, 16), "first": (7, 5), "parent": (0, 12), "start": (0, 16), "else": (0, 16)
    }  # fmt: skip
    assert not same_state(results["else"][1], results["long"][1]) and list(results)[0] == "second"


def test_a_fork_may_go_its_own_way(table):
    """Another schedule from the fork's step on is another network, while the parent stays what it is without forks."""
    parent = Run("parent", 0, 12, measure_every=1)
    results = table(parent, Run("switched", 0, 5, constant(0.1), measure_every=1, origin=Fork("parent", 7)))
    alone = table(parent)["parent"]
    assert same_state(results["parent"][1], alone[1]) and results["parent"][0] == alone[0]
    switched = results["switched"][0]
    assert switched.step == [7, 8, 9, 10, 11, 12] and switched.loss[0] != alone[0].loss[7]
    assert (results["switched"][1].weights - alone[1].weights).norm() > 1e-3


def test_forks_of_a_run_that_diverged(table):
    """Before it diverged they live; after, they are marked with its step and untrained, and so are their own forks from any step."""
    jump = ((0, 2e-3), (3, 2e-3), (4, 1e30), (99, 1e30))
    results = table(
        Run("bad", 3, 12, learning_rate=jump), Run("before", 3, 6, origin=Fork("bad", 4)), Run("at", 3, 6, origin=Fork("bad", 5)),
        Run("after", 3, 6, term="hinge", added=0.1, origin=Fork("bad", 8)), Run("from its start", 3, 2, origin=Fork("after", 8)),
        Run("from its end", 3, 2, origin=Fork("after", 14)), Run("and from that", 3, 2, origin=Fork("from its start", 9)), Run("good", 1, 12),
    )  # fmt: skip
    marks = {name: (trajectory.diverged_at, trajectory.trained, state.step) for name, (trajectory, state) in results.items()}
    assert marks == {
        "bad": (5, 5, 5), "before": (None, 6, 10), "at": (5, 0, 5), "after": (5, 0, 8), "from its start": (5, 0, 8), "from its end": (5, 0, 14),
        "and from that": (5, 0, 9), "good": (None, 12, 12),
    }  # fmt: skip
    assert not any(results[name][0].step for name in ("at", "after", "from its start", "from its end", "and from that"))
    for name in ("after", "from its start", "from its end"):
        assert same_bits(results[name][1].weights, results["bad"][1].weights)


def by_torch(state: State, numbers: list[tuple[float, float]]) -> torch.Tensor:
    """The network trained with torch.optim.AdamW and clipping, at each step's learning rate and decay."""
    named = {name: weight[0].clone().requires_grad_() for name, weight in views(state.weights[None], SHAPE).items()}
    optimiser = torch.optim.AdamW([{"params": [weight]} for weight in named.values()], betas=(RULE.beta1, RULE.beta2), eps=RULE.epsilon)
    for step, (rate, decay) in enumerate(numbers, state.step):
        for group in optimiser.param_groups:
            group["lr"], group["weight_decay"] = rate, decay if group["params"][0].dim() > 1 else 0.0
        inputs, targets = (torch.from_numpy(part)[None] for part in batch_at(make_stream(), step, SETTING.batch, SHAPE.context))
        stacked = {name: weight[None] for name, weight in named.items()}
        optimiser.zero_grad()
        token_losses(stacked, stream_of(stacked, inputs, torch.ones(1))[-1], targets).sum().backward()
        torch.nn.utils.clip_grad_norm_(named.values(), RULE.clip)
        optimiser.step()
    return torch.cat([weight.detach().flatten() for weight in named.values()])


PHASES = {
    "rate": ({"learning_rate": ((0, 1e-3), (3, 1e-3), (4, 1e-2), (10, 1e-2))}, [(1e-3, 0.1)] * 4 + [(1e-2, 0.1)] * 4),
    "decay": ({"weight_decay": ((0, 0.0), (3, 0.0), (4, 30.0), (10, 30.0))}, [(2e-3, 0.0)] * 4 + [(2e-3, 30.0)] * 4),
    "decay off": ({"weight_decay": constant(0.0)}, [(2e-3, 0.0)] * 8),
    "ramp": ({"learning_rate": ((0, 0.0), (8, 8e-3))}, [(step * 1e-3, 0.1) for step in range(8)]),
    "burst": ({"learning_rate": burst(3, 2, 2e-3, 5.0)}, [(2e-3, 0.1)] * 3 + [(1e-2, 0.1)] * 2 + [(2e-3, 0.1)] * 3),
}


@pytest.mark.parametrize("kind", PHASES)
def test_rate_and_decay_schedules_are_phases_of_adamw(kind):
    """Step by step the run's own learning rate and decay are those of torch.optim.AdamW; the neighbour keeps the optimiser's."""
    changes, numbers = PHASES[kind]
    start = fresh_state(0, SETTING)
    results = train([Run("beside", 1, 8), Run("own", 0, 8, **changes)])
    expected, usual = by_torch(start, numbers), by_torch(start, [(RULE.learning_rate, RULE.weight_decay)] * 8)
    moved = (expected - start.weights).norm()
    assert (results[1][1].weights - expected).norm() < 5e-4 * moved < 0.05 * (expected - usual).norm()
    assert same_state(results[0][1], train([Run("beside", 1, 8), Run("own", 0, 8)])[0][1])


def test_a_schedule_is_on_the_runs_own_clock():
    """A run that starts at step 5 sees its schedules' values of step 5 on."""
    origin = replace(fresh_state(0, SETTING), step=5)
    [(trajectory, _)] = train([Run("late", 0, 4, ((0, 9.0), (4, 9.0), (5, 1.0), (9, 0.2)), measure_every=1, origin=origin)])
    assert trajectory.skip == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2]) and trajectory.step == [5, 6, 7, 8, 9]
    rates = make_stack([Run("late", 0, 4, learning_rate=((5, 1e-3), (9, 5e-3)), weight_decay=((0, 0.0), (10, 1.0)), origin=origin)]).planned()
    assert rates.tolist() == [[1.0, 1e-3, 0.5]]


def test_gain_scales_initial_matrices_only():
    """Twice the gain is twice every initial matrix, embeddings too; gains stay one, and a learned scale what it is."""
    for kind in ("rms", "l2"):
        plain, loud = (views(make_stack([Run("a", 0, 3, gain=gain, query_key=kind)]).flat, SHAPE) for gain in (1.0, 2.0))
        for name, weight in plain.items():
            own = name.rpartition(".")[2].startswith(("ln", "qk_scale"))
            assert torch.allclose(loud[name], weight if own else 2 * weight, rtol=1e-6, atol=0) and weight.abs().max() > 0, name


def both_gradients(run: Run) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Gradients in float64, by PyTorch, of the task and of a run's weighted term at its first step; and the term's weight."""
    stack = make_stack([run])
    flat, skip, blocks = stack.flat.double(), torch.tensor([at(run.skip, 0)], dtype=torch.float64), run.blocks or range(SHAPE.depth)

    def passed(tokens: torch.Tensor, sequences: int):
        one = TorchPass(flat, tokens, skip, [run.query_key], SHAPE, "float32")
        stream = one.stream.requires_grad_()
        values = block_terms([run.term], stream, sequences, torch.tensor([SETTING.healthy_q], dtype=torch.float64))
        term = sum(values[block, 0] for block in blocks) / len(blocks)
        return one, term, torch.autograd.grad(term, stream)[0]

    weight = run.added / passed(stack.probe[None], len(stack.probe))[1].item()
    one, _, push = passed(stack.batches(), SETTING.batch)
    return one.backward(torch.ones(1), again=True)[0], weight * one.backward(torch.zeros(1), push)[0], weight


@pytest.mark.parametrize("exempt", [True, False])
@pytest.mark.parametrize("blocks", [None, (0,), (1,), (0, 1)])
def test_the_first_update_is_what_the_run_says(blocks, exempt):
    """Exempt: task gradient clipped alone plus the term's unclipped; else both clipped together; on the blocks named, others get none."""
    run = Run("a", 0, 1, constant(0.2), "hinge", 0.7, exempt=exempt, blocks=blocks)
    setting = replace(SETTING, optimiser=RULE.model_copy(update={"clip": 0.05}))
    task, term, weight = both_gradients(run)
    (trajectory, state), _ = train([run, Run("b", 1, 1)], setting)
    assert trajectory.term_weight == pytest.approx(weight, rel=1e-4) and trajectory.clipped == 1
    clipped = lambda grad: grad * 0.05 / grad.norm()
    assert task.norm() > 0.1 and term.norm() > 0.1
    expected, other = clipped(task) + term, clipped(task + term)
    if not exempt:
        expected, other = other, expected
    given = state.moment1.double() / (1 - RULE.beta1)
    assert (given - expected).norm() < 1e-4 * expected.norm() < 1e-2 * (given - other).norm()


@pytest.mark.parametrize(("blocks", "pushed"), [((0,), {"block0"}), ((1,), {"block0", "block1"}), (None, {"block0", "block1"})])
def test_a_terms_blocks_push_no_later_weight(blocks, pushed):
    """The term of block l has a gradient on the blocks up to l and none after, nor on the last gain."""
    run = Run("a", 0, 3, constant(0.2), "hinge", 0.2, exempt=True, blocks=blocks)
    stack = make_stack([run, Run("b", 1, 3), Run("c", 2, 3, term="penalty", added=0.1)])
    stack.solve_weights()
    grad, term = stack.gradients(stack.inputs())
    named = views(term, SHAPE)
    assert {name.partition(".")[0] for name, weight in named.items() if name.startswith("block") and weight[0].any()} == pushed
    assert not named["ln_final"][0].any() and named["positions"][0].any() and not term[1:].any()
    assert views(grad, SHAPE)["ln_final"].any(1).all()


def test_only_a_learned_scale_moves():
    """Training moves l2's scale of every head from log2(T^2 - T), and leaves rms's and none's at one."""
    kinds = ("rms", "l2", "none")
    for (_, state), kind in zip(train([Run(kind, 0, 6, query_key=kind) for kind in kinds]), kinds, strict=True):
        scales = torch.cat([weight.flatten() for name, weight in views(state.weights[None], SHAPE).items() if name.endswith("qk_scale")])
        moved = scales - (log2(30) if kind == "l2" else 1.0)
        assert (moved.abs() > 1e-6).all() and moved.abs().max() > 1e-3 if kind == "l2" else not moved.any()


CADENCES = {
    "an interval": (5, 0, 12, [0, 5, 10, 12]),
    "from the start on": (5, 3, 12, [3, 8, 13, 15]),
    "two intervals": (((0, 5), (20, 1)), 0, 24, [0, 5, 10, 15, 20, 21, 22, 23, 24]),
    "on the run's clock": (((0, 5), (20, 1)), 18, 4, [20, 21, 22]),
    "three, the last coarse": (((0, 1), (2, 3), (8, 10)), 0, 20, [0, 1, 2, 5, 8, 18, 20]),
}


@pytest.mark.parametrize("kind", CADENCES)
def test_measured_at_its_cadence(kind):
    """Every so many steps, from the step on that says so, and at the end."""
    every, start, steps, expected = CADENCES[kind]
    [(trajectory, _)] = train([Run("a", 0, steps, measure_every=every, origin=replace(fresh_state(0, SETTING), step=start))])
    assert trajectory.step == expected and len(trajectory.rank) == len(expected)


def test_readings_are_those_of_the_last_block():
    """Effective rank by the singular values and cosine by every pair of tokens, means over the probe's sequences, for the run that asks."""
    asked = Run("a", 0, 4, constant(0.4), measure_every=2, readings=("cosine", "effective_rank"))
    less = [replace(asked, name=name, readings=readings) for name, readings in (("b", ("effective_rank",)), ("c", ()))]
    (trajectory, _), (one, _), (none, _) = train([asked, *less])
    assert list(trajectory.extra) == ["cosine", "effective_rank"] and one.extra == {"effective_rank": trajectory.extra["effective_rank"]}
    assert none.extra == {} and [len(values) for values in trajectory.extra.values()] == [3, 3]
    stack = make_stack([asked])
    last = stream_of(views(stack.flat.double(), SHAPE), stack.probe[None, :, :-1], torch.tensor([0.4]).double())[-1].view(4, SHAPE.context, -1)
    effective, cosine = [], []
    for x in (last - last.mean(1, keepdim=True)).numpy():
        p = np.linalg.svd(x, compute_uv=False)
        p = p[p > 1e-12] / p.sum()
        effective.append(np.exp(-(p * np.log(p)).sum()))
        pairs = [(x[i] @ x[j] / np.linalg.norm(x[i]) / np.linalg.norm(x[j])) ** 2 for i in range(len(x)) for j in range(len(x)) if i != j]
        cosine.append(np.mean(pairs))
    assert trajectory.extra["effective_rank"][0] == pytest.approx(np.mean(effective), rel=1e-5)
    assert trajectory.extra["cosine"][0] == pytest.approx(np.mean(cosine), rel=1e-5)
    assert trajectory.extra["cosine"][0] != trajectory.extra["cosine"][2]
