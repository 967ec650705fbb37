"""The language of tables: forks, schedules, terms on some blocks, cadences and readings do what they say, and what makes no sense is one line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
import torch
from corpora import refusal
from interruptible import TABLE_SETTING, train_runs
from networks import RULE, SETTING, SHAPE, make_stack, make_stream, same_bits, same_state, stream_of, train, write_data

from rankcollapse import fanout, plan
from rankcollapse.engine import Fork, Run, State, Trajectory, check_table, fresh_state
from rankcollapse.events import Settled
from rankcollapse.model import Shape, token_losses, views
from rankcollapse.params import load_params
from rankcollapse.passes import TorchPass
from rankcollapse.schedule import Schedule, at, burst, constant, find_fault, ramp_down, ramp_up
from rankcollapse.terms import block_terms
from rankcollapse.text import batch_at

ROOT = Path(__file__).parents[2]
Results = dict[str, tuple[Trajectory, State]]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A prepared data folder."""
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture
def table(data, tmp_path, monkeypatch):
    """Train a table in this process, with checkpoints of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})

    def trained(*runs: Run, block: int = 4) -> Results:
        results = train_runs(data, runs, block=block, seconds=1e9)
        fanout.clear_checkpoints("table")
        return {run.name: result for run, result in zip(runs, results, strict=True)}

    return trained


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


HELPERS: dict[str, tuple[Schedule, dict[int, float]]] = {
    "constant": (constant(0.3), {0: 0.3, 10**8: 0.3}),
    "ramp down": (ramp_down(300, 100, 0.01), {0: 1.0, 300: 1.0, 350: 0.505, 400: 0.01, 10**6: 0.01}),
    "ramp up": (ramp_up(300, 100, 0.01), {0: 0.01, 300: 0.01, 350: 0.505, 400: 1.0, 10**6: 1.0}),
    "burst": (burst(5, 3, 2.0, 10.0), {0: 2.0, 4: 2.0, 5: 20.0, 6: 20.0, 7: 20.0, 8: 2.0, 10**6: 2.0}),
    "burst of one step": (burst(5, 1, 2.0, 0.0), {0: 2.0, 4: 2.0, 5: 0.0, 6: 2.0, 10**6: 2.0}),
    "burst at the second step": (burst(1, 2, 2.0, 3.0), {0: 2.0, 1: 6.0, 2: 6.0, 3: 2.0}),
}


@pytest.mark.parametrize("kind", HELPERS)
def test_helpers_cover_a_run(kind):
    """Their values are those they name, and they fit every run however late it starts or long it lasts."""
    schedule, values = HELPERS[kind]
    assert {step: at(schedule, step) for step in values} == pytest.approx(values)
    for name in ("skip", "learning_rate", "weight_decay"):
        for origin in (None, replace(fresh_state(0, SETTING), step=10**6)):
            assert getattr(Run("a", 0, 10**6, **{name: schedule}, origin=origin), name) == schedule
    assert find_fault(schedule, 0, 10**8) == ""


STATE = replace(fresh_state(0, SETTING), step=3)
BAD_RUNS = {
    "term": ({"term": "hing"}, "unknown term 'hing'; expected none, penalty, hinge"),
    "optimiser": ({"optimiser": "sgd"}, "unknown optimiser 'sgd'; expected adamw"),
    "query-key treatment": ({"query_key": "cosine"}, "unknown query_key 'cosine'; expected rms, l2, none"),
    "reading": ({"readings": ("cosine", "rank")}, "unknown reading 'rank'; expected cosine, effective_rank"),
    "short": ({"learning_rate": ((0, 1.0), (7, 1.0))}, "learning_rate does not fit the run; expected steps 0 to 8; found covers steps 0 to 7"),
    "late": ({"skip": ((1, 1.0), (9, 1.0))}, "skip does not fit the run; expected steps 0 to 8; found covers steps 1 to 9"),
    "short for its start": (
        {"weight_decay": ((0, 1.0), (10, 1.0)), "origin": STATE},
        "weight_decay does not fit the run; expected steps 3 to 11; found covers steps 0 to 10",
    ),
    "disorder": ({"skip": ((0, 1.0), (5, 1.0), (4, 0.0), (9, 0.0))}, "skip does not fit the run; expected steps 0 to 8; found knots do not ascend"),
    "no knot": ({"learning_rate": ()}, "learning_rate does not fit the run; expected steps 0 to 8; found no knots"),
    "NaN": ({"weight_decay": constant(float("nan"))}, "weight_decay does not fit the run; expected steps 0 to 8; found a value is not finite"),
    "infinite": ({"skip": constant(float("inf"))}, "skip does not fit the run; expected steps 0 to 8; found a value is not finite"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_RUNS)
def test_a_run_that_makes_no_sense(kind):
    """One line names the run, the fault and what there is instead."""
    changes, line = BAD_RUNS[kind]
    assert refusal(Run, "odd/0", 0, 8, **changes) == f"run odd/0: {line}"


PARENT = Run("parent", 0, 8)
CHILD = Run("child", 0, 8, origin=Fork("parent", 4))
BAD_TABLES = {
    "twins": ((PARENT, CHILD, replace(PARENT, seed=2)), "table: a table needs runs of different names; found parent"),
    "nothing": ((), "table: a table needs runs of different names; found no run"),
    "no origin": (
        (PARENT, replace(CHILD, origin=Fork("paren", 4))), "run child: origin does not exist; expected a run of the same table; found paren"
    ),
    "too late": ((PARENT, replace(CHILD, origin=Fork("parent", 9))), "run child: origin parent is never at that step; expected 0 to 8; found 9"),
    "too early": (
        (PARENT, CHILD, Run("grandchild", 0, 2, origin=Fork("child", 3))),
        "run grandchild: origin child is never at that step; expected 4 to 12; found 3",
    ),
    "may stop": (
        (replace(PARENT, stop=Settled(1.0, 0, 2, 2)), CHILD), "run child: origin parent may stop before that step; expected a run without a stop rule"
    ),
    "itself": ((replace(CHILD, origin=Fork("child", 4)),), "run child: origins go in a circle; found child"),
    "each other": (
        (replace(CHILD, origin=Fork("other", 4)), Run("other", 0, 8, origin=Fork("child", 4))),
        "run child: origins go in a circle; found child, other",
    ),
    "a circle further up": (
        (replace(CHILD, origin=Fork("b", 4)), Run("b", 0, 8, origin=Fork("c", 4)), Run("c", 0, 8, origin=Fork("b", 4))),
        "run child: origins go in a circle; found b, c, child",
    ),
    "no such block": ((replace(PARENT, blocks=(0, 2, -1)),), "run parent: no such block; expected 0 to 1; found 2, -1"),
    "no block": ((replace(PARENT, blocks=()),), "run parent: no such block; expected 0 to 1; found none"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_TABLES)
def test_a_table_that_makes_no_sense(kind):
    """One line names the run and what is wrong with it, before anything is trained."""
    runs, line = BAD_TABLES[kind]
    assert refusal(check_table, "table", runs, SHAPE) == line


def test_forks_at_both_ends_are_allowed():
    """A run may fork from its parent's first step and from its last, and from a run that comes later in the table."""
    check_table("table", (CHILD, Run("first", 0, 2, origin=Fork("parent", 0)), Run("last", 0, 2, origin=Fork("parent", 8)), PARENT), SHAPE)


def test_a_stack_larger_than_memory(monkeypatch, table):
    """It is refused before a step; one that just fits, or a machine that does not say, is not."""
    needed = plan.stack_bytes(TABLE_SETTING, 2) + plan.BACKGROUND
    runs = (PARENT, replace(PARENT, name="other"))
    for free in (needed, None):
        monkeypatch.setattr(plan, "free_memory", lambda _, free=free: free)
        plan.check_memory("table", TABLE_SETTING, 2)
    monkeypatch.setattr(plan, "free_memory", lambda _: needed - 1)
    assert re.fullmatch(
        r"table: one stack of 2 runs does not fit into memory; expected \d+\.\d GiB; found \d+\.\d GiB free; cure: lower the scale's stack or batch",
        refusal(table, *runs),
    )
    assert [state.step for _, state in table(*runs, block=1).values()] == [8, 8] and not list(Path(".checkpoints").iterdir())


def run_engine(*words: str) -> subprocess.CompletedProcess:
    """`python -m rankcollapse.engine` in the repository."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))}
    return subprocess.run([sys.executable, "-m", "rankcollapse.engine", *words], capture_output=True, text=True, cwd=ROOT, env=environment)


WORDS = {
    "nothing": ((), "usage: wrong number of arguments; expected --plan SCALE; found none"),
    "another option": (("--cost", "smoke"), "usage: "),
    "another scale": (("--plan", "huge"), "--plan: no such scale; expected smoke, laptop, paper; found huge\n"),
}


@pytest.mark.parametrize("kind", WORDS)
def test_the_engine_called_wrongly(kind):
    """Exit code 2 and one line on what is expected, nothing else."""
    words, line = WORDS[kind]
    done = run_engine(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and done.stderr.startswith(line)


def number(word: str) -> float:
    """A number of the plan's page."""
    return float(word.replace(",", ""))


def network_steps(scale, calibration: int, main: int) -> dict[str, int]:
    """Network-steps of a stage at one depth, counted from the parameters."""
    d, b = scale.driver, scale.branches
    treated = b.untreated_steps + b.ramp_steps + b.after_ramp + 2 * b.switch_steps + 4 * b.loss_steps
    return {
        "calibrate": calibration * (d.warm + (1 + len(d.floors)) * (d.ramp + d.hold)),
        "collapse": main * (d.warm + 2 * (d.ramp + d.hold)),
        "branch": main * (treated + max(b.untreated_steps, b.loss_steps, b.switch_steps, b.ramp_steps + b.after_ramp)),
    }


@pytest.mark.parametrize("name", ["smoke", "laptop", "paper"])
def test_the_plan_of_a_scale(name):
    """Network-steps are those of the tables and of the parameters, and operations, memory and hours follow from them."""
    params = load_params(ROOT / "params.yaml").model_copy(update={"scale": name})
    page = plan.plan_study(params).splitlines()
    scale, seeds = params.chosen, {kind: plan.seeds_of(params, kind) for kind in ("calibration", "main")}
    rows = [line.split() for line in page if line.startswith(("calibrate", "collapse", "branch"))]
    tables = plan.list_tables(scale, seeds)
    assert [row[:2] for row in rows] == [[stage, role] for stage, role, _ in tables] and len(rows) == 6
    expected = network_steps(scale, seeds["calibration"], seeds["main"])
    for (stage, role, depth, count, stacks, steps, work, memory), (_, _, runs) in zip(rows, tables, strict=True):
        setting = plan.setting_of(scale, getattr(scale.depths, role), 1.0)
        assert (int(depth), int(count), int(stacks)) == (setting.shape.depth, len(runs), -(-len(runs) // scale.stack))
        assert number(steps) == sum(run.steps for run in runs) == expected[stage]
        assert number(work) == pytest.approx(number(steps) * plan.count_flops(setting.shape, scale.batch) / 1e15, abs=0.006)
        assert number(memory) == pytest.approx(plan.stack_bytes(setting, min(scale.stack, len(runs))) / 2**30, abs=0.006)
        check_table(stage, [*runs, Run("driver", 0, scale.driver.warm + scale.driver.ramp + scale.driver.hold)], setting.shape)
    total = next(line.split() for line in page if line.startswith("total"))
    assert number(total[1]) == sum(number(row[5]) for row in rows) == 2 * sum(expected.values())
    assert number(total[2]) == pytest.approx(sum(number(row[6]) for row in rows), abs=0.04)
    for device in plan.PROCESSORS:
        arithmetic, memory, estimate, fitting = map(number, next(line for line in page if line.startswith(device.name))[14:].split())
        assert arithmetic == pytest.approx(number(total[2]) * 1e15 / device.flops / 3600, abs=0.011)
        assert estimate == pytest.approx(max(arithmetic / device.share, memory / 0.6), rel=0.02, abs=0.03) and fitting >= 1


def test_the_plan_as_a_program():
    """The page on stdout is the one that is made here, with exit code 0 and nothing on stderr."""
    done = run_engine("--plan", "smoke")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == plan.plan_study(load_params(ROOT / "params.yaml").model_copy(update={"scale": "smoke"})) + "\n"


def test_operations_of_one_step_by_hand():
    """A laptop step: 12 blocks of 12 D^2 weights and a causal map, and the logits, 2 operations each, three times for forward and back."""
    shape = Shape(12, 32, 4, 64, 512)
    assert plan.count_flops(shape, 8) == 3 * (12 * (12_582_912 + 2_097_152) + 16_777_216) == 578_813_952
    tokens = 8 * 64
    assert (2 * tokens * 12 * 32 * 32, 2 * 8 * 64 * 64 * 32, 2 * tokens * 512 * 32) == (12_582_912, 2_097_152, 16_777_216)
    assert plan.count_flops(replace(shape, depth=6), 8) == 3 * (6 * 14_680_064 + 16_777_216)
    assert plan.count_flops(shape, 16) == 2 * plan.count_flops(shape, 8)
