"""The engine's further optimisers: equal to their definitions, and no business of the runs beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from corpora import refusal
from kernels import BACKENDS, needs_kernel
from networks import RULE, SETTING, SHAPE, make_stack, make_stream, same_bits, stream_of, train
from test_independence import differing, far_apart, trained

from rankcollapse.adamw2 import AdamW2
from rankcollapse.checkpoint import resume_stack, save_stack
from rankcollapse.engine import Run, State, fresh_state, train_stack
from rankcollapse.engine.matrices import list_matrices
from rankcollapse.engine.optimisers import Controls, sigma
from rankcollapse.engine.sigma import Normalised, make_effective, sigma_memory
from rankcollapse.model import token_losses, views
from rankcollapse.schedule import constant
from rankcollapse.text import batch_at

CALM = replace(SETTING, optimiser=RULE.model_copy(update={"epsilon": 1e-5}))
"""With an epsilon above rounding errors, or Adam makes whole steps of them."""
TABLE = (
    Run("adamw2", 0, 12, optimiser="adamw2", measure_every=4, readings=("gradient_norm",)),
    Run("sigma", 1, 12, optimiser="sigma", measure_every=3),
    Run("clip", 2, 12, query_key="clip", logit_limit=0.05, readings=("gradient_norm",)),
    Run("adamw", 3, 12, readings=("gradient_norm", "cosine")),
    Run("tight", 4, 9, constant(0.5), "hinge", 0.2, optimiser="adamw2", tau=1e-3),
    Run("sigma with a term", 5, 10, constant(0.3), "penalty", 0.1, optimiser="sigma", query_key="l2"),
    Run("both", 6, 11, optimiser="adamw2", query_key="clip", logit_limit=0.02),
    Run("exempt", 7, 8, constant(0.2), "hinge", 0.2, exempt=True, optimiser="sigma"),
)
RIVALS = {"adamw2": "adamw", "sigma": "adamw", "tight": "adamw", "sigma with a term": "adamw", "both": "adamw", "exempt": "adamw"}


def split(name: str, weight: torch.Tensor) -> list[torch.Tensor]:
    """A weight's matrices: queries, keys and values are three."""
    return list(weight.chunk(3, -1)) if name.endswith("qkv") else [weight]


def loss_of(named: dict[str, torch.Tensor], step: int) -> torch.Tensor:
    """Task loss of one network's named weights on the batch of a step."""
    inputs, targets = (torch.from_numpy(part)[None] for part in batch_at(make_stream(), step, SETTING.batch, SHAPE.context))
    stacked = {name: weight[None] for name, weight in named.items()}
    return token_losses(stacked, stream_of(stacked, inputs, torch.ones(1, dtype=named["tokens"].dtype), SHAPE)[-1], targets).sum()


def clipped_gradients(named: dict[str, torch.Tensor], step: int) -> list[torch.Tensor]:
    """Gradients on these weights, clipped together."""
    grads = torch.autograd.grad(loss_of(named, step), list(named.values()), allow_unused=True, materialize_grads=True)
    return [grad * min(1.0, RULE.clip / torch.cat([x.flatten() for x in grads]).norm().item()) for grad in grads]


@pytest.mark.parametrize("tau", [1e-3, 0.02, float("inf")])
@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_the_entry_is_the_optimiser(backend, tau):
    """Five steps of the engine are those of `AdamW2` on the network's matrices, each of queries, keys and values its own."""
    rule = CALM.optimiser
    start = views(fresh_state(0, SETTING).weights[None], SHAPE)
    parts = {name: [part[0].clone().requires_grad_() for part in split(name, weight)] for name, weight in start.items()}
    groups = [{"params": own, "weight_decay": rule.weight_decay if own[0].dim() > 1 else 0.0} for own in parts.values()]
    optimiser = AdamW2(groups, rule.learning_rate, (rule.beta1, rule.beta2), rule.epsilon, tau=tau)
    for step in range(5):
        joined = {name: torch.cat(own, -1) for name, own in parts.items()}
        grads = clipped_gradients(joined, step)
        optimiser.zero_grad()
        torch.autograd.backward(list(joined.values()), grads)
        optimiser.step()
    expected = torch.cat([torch.cat(own, -1).detach().flatten() for own in parts.values()])
    [(trajectory, state)] = train([Run("run", 0, 5, optimiser="adamw2", tau=tau)], CALM)
    moved = (expected - fresh_state(0, SETTING).weights).norm()
    assert (state.weights - expected).norm() < 1e-4 * moved and trajectory.trained == 5
    [(_, plain)] = train([Run("run", 0, 5)], CALM)
    assert ((state.weights - plain.weights).norm() < 1e-4 * moved) == (tau == float("inf"))


def test_every_matrix_is_listed_once():
    """The groups cover each weight that decays exactly once, and nothing else."""
    seen = torch.zeros(2, SHAPE.size)
    for group in list_matrices(SHAPE):
        group.view(seen).add_(1)
    assert (seen[:, : SHAPE.matrices] == 1).all() and (seen[:, SHAPE.matrices :] == 0).all()
    named = views(torch.arange(SHAPE.size, dtype=torch.float32)[None], SHAPE)
    queries_keys_values = list_matrices(SHAPE)[2].view(torch.arange(SHAPE.size, dtype=torch.float32)[None])
    for block in range(SHAPE.depth):
        for part, expected in enumerate(named[f"block{block}.qkv"][0].chunk(3, 1)):
            assert torch.equal(queries_keys_values[0, block, part], expected)


def reparametrise(state: State):
    """Leaves of one network in double precision, each projection as raw weight, gamma and right vector; and a function to its weights."""
    leaves: dict[str, list[dict[str, torch.Tensor]]] = {}
    for name, weight in views(state.weights[None].double(), SHAPE).items():
        projection = name.startswith("block") and weight.dim() > 2
        leaves[name] = [{"raw": part[0].clone().requires_grad_()} for part in (split(name, weight) if projection else [weight])]
        for part in leaves[name] if projection else []:
            _, values, right = torch.linalg.svd(part["raw"].detach())
            part |= {"gamma": values[0].clone().requires_grad_(), "v": right[0].clone()}

    def effective(part: dict[str, torch.Tensor]) -> torch.Tensor:
        if "v" not in part:
            return part["raw"]
        with torch.no_grad():
            u = torch.nn.functional.normalize(part["raw"] @ part["v"], dim=0)
            part["v"] = torch.nn.functional.normalize(part["raw"].T @ u, dim=0)
        return part["gamma"] / (u @ part["raw"] @ part["v"]) * part["raw"]

    return leaves, lambda: {name: torch.cat([effective(part) for part in parts], -1) for name, parts in leaves.items()}


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.parametrize("steps", [1, 2, 6])
def test_sigma_is_autograd_through_the_parametrisation(backend, steps):
    """Raw weights and gammas under torch.optim.AdamW, with gradients through gamma / sigma(W) W by autograd, give the engine's effective weights."""
    rule, start = CALM.optimiser, fresh_state(0, SETTING)
    leaves, effective = reparametrise(start)
    parts = [part for own in leaves.values() for part in own]
    groups = [{"params": [part["raw"]], "weight_decay": rule.weight_decay if part["raw"].dim() > 1 else 0.0} for part in parts]
    groups.append({"params": [part["gamma"] for part in parts if "gamma" in part], "weight_decay": 0.0})
    optimiser = torch.optim.AdamW(groups, rule.learning_rate, (rule.beta1, rule.beta2), rule.epsilon)
    for step in range(steps):
        named = effective()
        grads = clipped_gradients(named, step)
        optimiser.zero_grad()
        torch.autograd.backward(list(named.values()), grads)
        optimiser.step()
    expected = torch.cat([weight.detach().flatten() for weight in effective().values()])
    [(_, state)], [(_, plain)] = (train([Run("run", 0, steps, optimiser=name)], CALM) for name in ("sigma", "adamw"))
    moved = (expected - start.weights).norm()
    assert (state.weights - expected).norm() < 2e-4 * moved
    assert (plain.weights - expected).norm() > 1e-2 * moved


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_sigma_one_of_an_effective_weight_is_gamma(backend):
    """It is at the start, when nothing has changed the function, and within the lag of one power step a step thereafter; tables are left alone."""
    stack = make_stack([Run("sigma", 1, 12, optimiser="sigma"), Run("adamw", 1, 12)])
    before = stack.flat.clone()
    for step in range(12):
        held = Normalised.read(stack.memory[:1], SHAPE)
        norms = torch.cat([torch.linalg.svdvals(group.view(stack.flat[:1]))[..., 0].flatten() for group in list_matrices(SHAPE)[2:]])
        ratio = norms / held.gamma[0]
        assert (ratio > 1 - 1e-5).all() and (ratio < (1 + 1e-5 if step == 0 else 1.02)).all(), step
        stack.step()
    assert not torch.equal(stack.flat[0], before[0]) and (held.gamma[0] / norms[0] - 1).abs().max() > 0
    assert Normalised.sizes(SHAPE)[0] == SHAPE.depth * 12 * SHAPE.width**2


def test_a_state_starts_with_fresh_memory():
    """A run that goes on from a network at rest keeps its weights to the bit, whatever trained it, and its memory is that of a first step."""
    [(_, state)] = train([Run("parent", 1, 6, optimiser="sigma")])
    stack = make_stack([Run(name, 1, 3, optimiser=name, origin=state) for name in ("sigma", "adamw2")])
    assert same_bits(stack.flat[0], state.weights) and same_bits(stack.flat[1], state.weights)
    assert same_bits(stack.memory[0], sigma_memory(state.weights[None], SHAPE)[0]) and not stack.norm.any()
    fresh = make_stack([Run("first", 2, 3, optimiser="adamw2")])
    size = fresh.memory.shape[1]
    assert same_bits(stack.memory[1, :size], fresh.memory[0]) and not stack.memory[1, size:].any() and fresh.memory.any()


def step_once(memory: torch.Tensor, flat: torch.Tensor, grad: torch.Tensor, rate: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Effective weights and memory after one step of sigma."""
    flat, memory, zero = flat.clone(), memory.clone(), torch.zeros_like(flat)
    numbers = Controls(*torch.tensor([[rate], [0.0], [1.0], [1.0]], dtype=torch.float64))
    sigma(flat, grad.clone(), zero, zero.clone(), memory, numbers, SHAPE, RULE)
    return flat, memory


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_sigma_does_not_see_the_size_of_raw_weights(backend):
    """With raw weights four times as large the effective ones and gamma's gradient are the same bytes, and the raw gradient is a quarter."""
    flat = fresh_state(3, SETTING).weights[None]
    grad = torch.randn(flat.shape, generator=torch.Generator().manual_seed(0))
    memory = sigma_memory(flat, SHAPE)
    larger = memory.clone()
    held = Normalised.read(larger, SHAPE)
    held.raw.mul_(4)
    held.sigma.mul_(4)
    moving = torch.ones(1, dtype=torch.bool)
    other = flat.clone()
    make_effective(flat, memory, moving, SHAPE)
    make_effective(other, larger, moving, SHAPE)
    assert torch.equal(flat, other)
    (_, one), (_, other) = (step_once(each, flat, grad, 1e-3) for each in (memory, larger))
    first, second = Normalised.read(one, SHAPE), Normalised.read(other, SHAPE)
    assert torch.equal(first.gamma, second.gamma) and torch.equal(first.first, second.first) and not torch.equal(first.gamma, held.gamma)


@needs_kernel
def test_the_table_is_a_mixed_one():
    """Every entry of it changes its run: else the tests of independence would compare nothing."""
    results = trained(TABLE)
    changed = trained([replace(run, optimiser=RIVALS.get(run.name, run.optimiser), logit_limit=1e9) for run in TABLE])
    assert differing(changed, results) == [run.name for run in TABLE if run.name != "adamw"]
    for name, (trajectory, _) in results.items():
        assert trajectory.diverged_at is None and trajectory.trained == next(run.steps for run in TABLE if run.name == name)


@needs_kernel
@pytest.mark.parametrize("order", [(7, 6, 5, 4, 3, 2, 1, 0), (3, 0, 7, 2, 5, 1, 6, 4)])
def test_order_and_blocks_change_no_bit(order):
    """In another order, in other blocks and alone, every run has the same bytes."""
    whole = trained(TABLE)
    for part in (order, order[:3], order[3:5], order[5:], *([place] for place in range(len(TABLE)))):
        assert differing(trained([TABLE[place] for place in part]), whole) == []


def test_threads_change_no_bit(threads):
    """Over three threads every run has the bytes that it has on one."""
    whole = trained(TABLE)
    threads(3)
    assert differing(trained(TABLE), whole) == []


def test_pytorch_alone_within_the_tolerance(monkeypatch):
    """Without the kernel, with an epsilon above rounding, the table's weights are the kernel's up to rounding, alone or together."""
    calm = lambda runs: {run.name: result for run, result in zip(runs, train(list(runs), CALM), strict=True)}
    whole = calm(TABLE)
    monkeypatch.setattr("rankcollapse.kernel.load_libraries", lambda: {})
    assert far_apart(calm(TABLE), whole) == [] and far_apart(calm(TABLE[2:5]), whole) == []


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.parametrize("optimiser", ["adamw2", "sigma"])
def test_a_strange_neighbour_is_frozen_alone(backend, optimiser):
    """A run that begins with a NaN keeps its weights and is marked; those beside it are as without it."""
    origin = fresh_state(9, SETTING)
    origin.weights[SHAPE.matrices - 1] = float("nan")
    bad = Run("bad", 9, 12, optimiser=optimiser, origin=origin)
    results, whole = trained([TABLE[0], bad, *TABLE[1:4]]), trained(TABLE[:4])
    trajectory, state = results.pop("bad")
    assert trajectory.diverged_at == 0 and same_bits(state.weights, origin.weights) and state.step == 0
    assert far_apart(results, whole) == [] and (backend == "torch" or differing(results, whole) == [])


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_a_wild_rate_meets_the_cap(backend):
    """One step at rate 1e30 takes AdamW's matrices to 1e28 and those of AdamW2 no further than tau; gains have no cap; no weight is infinite."""
    wild = ((0, 2e-3), (3, 2e-3), (4, 1e30), (20, 1e30))
    ends = {name: trained([Run(f"{name}/{steps}", 1, steps, optimiser=name, learning_rate=wild) for steps in (4, 5)]) for name in ("adamw", "adamw2", "sigma")}
    for name, results in ends.items():
        before, after = (state.weights for _, state in results.values())
        assert after.isfinite().all() and after[SHAPE.matrices :].abs().max() > 1e28
        grown = after[: SHAPE.matrices].norm() / before[: SHAPE.matrices].norm()
        assert grown < 1.05 if name == "adamw2" else grown > 1e28, name


@pytest.mark.parametrize("at", [1, 5, 9])
def test_resumed_is_uninterrupted(tmp_path, at):
    """A stack saved in the middle, between a step and its measurement, goes on to the same bytes, memory and gradient norms included."""
    whole = make_stack(list(TABLE))
    expected = dict(zip((run.name for run in TABLE), train_stack(whole), strict=True))
    stack, second = make_stack(list(TABLE)), make_stack(list(TABLE))
    stack.solve_weights()
    for _ in range(at):
        stack.measure()
        stack.keep_states()
        stack.retire()
        stack.step()
    save_stack(tmp_path / "stack", stack, "digest")
    assert resume_stack(tmp_path / "stack", second, "digest") == ""
    assert same_bits(second.memory, stack.memory) and same_bits(second.norm, stack.norm) and second.memory.any()
    assert differing(dict(zip(expected, train_stack(second), strict=True)), expected) == []


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_the_gradient_norm_is_that_of_the_last_step(backend):
    """0 before the first step, and then the norm of the last step's gradient before clipping, whatever stands beside."""
    [(trajectory, _), (none, _)] = train([Run("run", 0, 3, measure_every=1, readings=("gradient_norm",)), Run("beside", 1, 3)])
    expected = [0.0]
    for step in range(3):
        [(_, state)] = train([Run("run", 0, step)]) if step else [(None, fresh_state(0, SETTING))]
        named = {name: weight[0].clone().requires_grad_() for name, weight in views(state.weights[None], SHAPE).items()}
        grads = torch.autograd.grad(loss_of(named, step), list(named.values()), allow_unused=True, materialize_grads=True)
        expected.append(torch.cat([grad.flatten() for grad in grads]).norm().item())
    assert trajectory.extra["gradient_norm"] == pytest.approx(expected, rel=1e-5) and max(expected) > RULE.clip and none.extra == {}


BAD = {
    "tau": ({"tau": 0.0}, "tau does not make sense; expected above 0; found 0.0"),
    "logit_limit": ({"logit_limit": float("nan")}, "logit_limit does not make sense; expected above 0; found nan"),
    "both": ({"optimiser": "sigma", "query_key": "clip"}, "query_key clip would undo what optimiser sigma holds; cure: take one of them"),
}


@pytest.mark.parametrize("kind", BAD)
def test_runs_that_make_no_sense(kind):
    """One line names the run and the fault."""
    changes, line = BAD[kind]
    assert refusal(Run, "odd", 0, 5, **changes) == f"run odd: {line}"
