"""AdamW2 as an optimiser of PyTorch's: power iterations, the cap and what follows from it, and AdamW where nothing is capped."""

from __future__ import annotations

import math

import pytest
import torch
from networks import RULE, SETTING, SHAPE, make_stream, stream_of

from rankcollapse.adamw2 import AdamW2, cap_rate, find_direction, power_iterations, start_vector
from rankcollapse.engine import fresh_state
from rankcollapse.model import token_losses, views
from rankcollapse.text import batch_at

DOUBLE = torch.float64
UNDER = 0.4
"""Most that two power iterations may underestimate the update's norm by, here; it happens at the second step, where the update turns most."""


def draw(*dims: int, seed: int = 0, dtype: torch.dtype = DOUBLE) -> torch.Tensor:
    """A Gaussian tensor."""
    return torch.randn(dims, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0.5, [0.921954, 0.994214, 0.999634, 0.999977, 0.999999]), (0.9, [0.956542, 0.966471, 0.975130, 0.982154, 0.987524])],
)
def test_power_iterations_by_hand(ratio, expected):
    """On diag(1, r) from (1, 1) / sqrt 2 the first five estimates are the known ones, in one go and one at a time."""
    matrix, step_by_step = torch.diag(torch.tensor([1.0, ratio], dtype=DOUBLE)), torch.full((2,), 0.5**0.5, dtype=DOUBLE)
    for steps, value in enumerate(expected, 1):
        at_once = power_iterations(matrix, torch.full((2,), 0.5**0.5, dtype=DOUBLE), steps)
        assert at_once.item() == pytest.approx(value, abs=5e-7)
        assert power_iterations(matrix, step_by_step, 1).item() == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize("dims", [(1, 7), (7, 1), (12, 12), (8, 40), (40, 8), (2, 3, 9, 5)])
def test_estimates_never_exceed_the_norm(dims):
    """From any vector the estimates rise to the largest singular value and stay below it, and both vectors become the singular ones."""
    matrices, top = draw(*dims), torch.linalg.svdvals(draw(*dims))[..., 0]
    vectors, left, before = draw(*dims[:-2], dims[-1], seed=1), torch.zeros(dims[:-1], dtype=DOUBLE), torch.zeros_like(top)
    for _ in range(400):
        sigma = power_iterations(matrices, vectors, 1, left)
        assert (sigma <= top * (1 + 1e-12)).all() and (sigma >= before * (1 - 1e-12)).all()
        before = sigma
    assert (sigma / top - 1).abs().max() < 1e-6
    reached = torch.einsum("...r,...rc,...c->...", left, matrices, vectors)
    assert (reached / top - 1).abs().max() < 1e-6


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf])
def test_a_matrix_without_a_direction_leaves_the_vector(value):
    """Zeros, NaN and infinity have no singular vector: the start stays for a later step, and zeros have norm 0."""
    vector = start_vector(5)
    sigma = power_iterations(torch.full((4, 5), value), vector, 2)
    assert torch.equal(vector, start_vector(5)) and (sigma.item() == 0 if value == 0 else not sigma.isfinite())


def test_sizes_that_square_out_of_range():
    """Norms of matrices as small as 1e-30 and as large as 1e30 in single precision are those of the matrix, scaled."""
    plain = power_iterations(draw(6, 9, dtype=torch.float32), start_vector(9), 2)
    for scale in (1e-30, 1e30):
        assert power_iterations(scale * draw(6, 9, dtype=torch.float32), start_vector(9), 2).item() == pytest.approx(scale * plain.item(), rel=1e-5)


def prepared(weight: torch.Tensor, update: torch.Tensor, vector: torch.Tensor, **settings) -> tuple[torch.nn.Parameter, AdamW2]:
    """An optimiser whose next step has exactly this direction: moments at rest, corrections of one."""
    parameter = torch.nn.Parameter(weight.clone())
    optimiser = AdamW2([parameter], betas=(0.5, 0.5), eps=0.0, **settings)
    parameter.grad = torch.zeros_like(weight)
    moments = {"exp_avg": 2 * update, "exp_avg_sq": torch.full_like(weight, 2.0)}
    optimiser.state[parameter] = {"step": torch.tensor(2000.0), **moments, "vector": vector.clone(), "vector_update": vector.clone()}
    return parameter, optimiser


def test_the_cap_by_hand():
    """W = diag(2, 1), U = diag(8, 0), alpha = tau = 0.01: alpha becomes 0.0025, and sigma_1 moves by 0.02, no more."""
    weight, update = torch.diag(torch.tensor([2.0, 1.0], dtype=DOUBLE)), torch.diag(torch.tensor([8.0, 0.0], dtype=DOUBLE))
    assert cap_rate(*torch.tensor([0.01, 2.0, 8.0], dtype=DOUBLE), 0.01).item() == pytest.approx(0.0025, rel=1e-14)
    parameter, optimiser = prepared(weight, update, torch.tensor([1.0, 0.0], dtype=DOUBLE), lr=0.01, weight_decay=0.0, tau=0.01)
    optimiser.step()
    assert optimiser.state[parameter]["rate"].item() == pytest.approx(0.0025, rel=1e-14)
    assert torch.allclose(parameter, torch.diag(torch.tensor([1.98, 1.0], dtype=DOUBLE)), rtol=1e-14)
    assert abs(torch.linalg.svdvals(parameter.detach())[0].item() - 2) <= 0.02 + 1e-15


def test_the_capped_rate_decays_too():
    """Decay multiplies by 1 - alpha lambda with the capped alpha, the registered choice; the scheduled one would give another number."""
    weight, update = torch.diag(torch.tensor([2.0, 1.0], dtype=DOUBLE)), torch.diag(torch.tensor([8.0, 0.0], dtype=DOUBLE))
    parameter, optimiser = prepared(weight, update, torch.tensor([1.0, 0.0], dtype=DOUBLE), lr=0.01, weight_decay=0.4, tau=0.01)
    optimiser.step()
    assert parameter[1, 1].item() == pytest.approx(1 - 0.0025 * 0.4, rel=1e-14) and parameter[0, 0].item() == pytest.approx(2 * 0.999 - 0.02)


@pytest.mark.parametrize(("weight", "update", "rate"), [(1.0, 2.0, 0.005), (300.0, 2.0, 0.01), (0.0, 2.0, 0.0), (1.0, 0.0, 0.01), (0.0, 0.0, 0.01)])
def test_caps_at_the_edges(weight, update, rate):
    """A large weight or no update leaves the rate; a matrix of zeros stays where it is, since the cap is relative."""
    assert cap_rate(*torch.tensor([0.01, weight, update], dtype=DOUBLE), 0.01).item() == pytest.approx(rate)


def train_network(optimiser_of, steps: int):
    """Train a tiny network; yields after each step its named weights before and after, and the optimiser."""
    named = {name: weight[0].clone().requires_grad_() for name, weight in views(fresh_state(0, SETTING).weights[None], SHAPE).items()}
    optimiser = optimiser_of(list(named.values()))
    for step in range(steps):
        inputs, targets = (torch.from_numpy(part)[None] for part in batch_at(make_stream(), step, SETTING.batch, SHAPE.context))
        stacked = {name: weight[None] for name, weight in named.items()}
        optimiser.zero_grad()
        token_losses(stacked, stream_of(stacked, inputs, torch.tensor([1.0]), SHAPE)[-1], targets).sum().backward()
        before = {name: weight.detach().clone() for name, weight in named.items()}
        optimiser.step()
        yield named, before, optimiser


def top(matrix: torch.Tensor) -> float:
    """The true spectral norm."""
    return torch.linalg.svdvals(matrix.detach().double())[0].item()


def test_weyls_bound_in_training():
    """In thirty real steps no true norm grows by more than 1 + tau - alpha lambda, but for what the update's norm was underestimated by."""
    tau, decay, capped = 0.01, 0.1, 0
    make = lambda weights: AdamW2(weights, lr=0.02, betas=(0.9, 0.95), eps=1e-8, weight_decay=decay, tau=tau)
    for step, (named, before, optimiser) in enumerate(train_network(make, 30)):
        slack = 1 / (1 - UNDER)
        for name, weight in named.items():
            if weight.dim() < 2:
                continue
            state = optimiser.state[weight]
            rate, count = state["rate"].item(), state["step"].item()
            update = find_direction(state["exp_avg"], state["exp_avg_sq"], 1 - 0.9**count, 1 - 0.95**count, 1e-8)
            assert rate * top(update) <= tau * slack * top(before[name]), (step, name)
            assert top(weight) <= (1 + tau * slack - rate * decay) * top(before[name]) * (1 + 1e-6), (step, name)
            capped += rate < 0.02
    assert capped > 100


def test_without_the_cap_norms_grow_faster():
    """The bound is a bound: AdamW at the same rate breaks it."""
    make = lambda weights: torch.optim.AdamW(weights, lr=0.1, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    broken = [top(named[name]) > 1.02 * top(before[name]) for named, before, _ in train_network(make, 5) for name in named if named[name].dim() > 1]
    assert sum(broken) > 10


def test_an_infinite_tau_is_adamw():
    """Without a cap ten steps are those of torch.optim.AdamW."""
    settings = {"lr": 2e-3, "betas": (RULE.beta1, RULE.beta2), "eps": 1e-5, "weight_decay": 0.1}
    [(own, _, _)] = [*train_network(lambda weights: AdamW2(weights, tau=math.inf, **settings), 10)][-1:]
    [(other, _, _)] = [*train_network(lambda weights: torch.optim.AdamW(weights, **settings), 10)][-1:]
    for name, weight in own.items():
        if weight.grad is not None:
            moved = (other[name] - views(fresh_state(0, SETTING).weights[None], SHAPE)[name][0]).norm()
            assert (weight - other[name]).norm() < 1e-4 * moved, name


def test_dimensions_beyond_two_and_below():
    """A convolution's kernel is capped as (out, all others), a vector is not capped, and a parameter without a gradient stays."""
    weight, gradient = draw(4, 3, 2, 2), draw(4, 3, 2, 2, seed=1)
    spread, flat, vector, idle = (torch.nn.Parameter(x.clone()) for x in (weight, weight.flatten(1), draw(5), draw(2, 2)))
    spread.grad, flat.grad, vector.grad = gradient.clone(), gradient.flatten(1).clone(), draw(5, seed=2)
    optimiser = AdamW2([spread, flat, vector, idle], lr=0.5, tau=0.01)
    optimiser.step()
    assert torch.equal(spread.flatten(1), flat) and optimiser.state[spread]["rate"] < 0.05
    assert optimiser.state[vector]["rate"] == 0.5 and "vector" not in optimiser.state[vector]
    assert torch.equal(idle, draw(2, 2)) and not optimiser.state[idle]


def test_state_survives_the_disk(tmp_path):
    """Saved after three steps and loaded into a new optimiser, two more end in the same bytes; a fresh one would not."""
    gradients = [draw(6, 9, seed=seed, dtype=torch.float32) for seed in range(5)]

    def run(weight: torch.nn.Parameter, optimiser: AdamW2, part) -> torch.nn.Parameter:
        for gradient in part:
            weight.grad = gradient.clone()
            optimiser.step()
        return weight

    first, settings = torch.nn.Parameter(draw(6, 9, dtype=torch.float32)), {"lr": 0.1, "tau": 0.02}
    optimiser = AdamW2([first], **settings)
    run(first, optimiser, gradients[:3])
    torch.save([first.detach().clone(), optimiser.state_dict()], tmp_path / "state.pt")
    weight, state = torch.load(tmp_path / "state.pt")
    second, third = torch.nn.Parameter(weight.clone()), torch.nn.Parameter(weight.clone())
    resumed = AdamW2([second], lr=1.0, tau=1.0)
    resumed.load_state_dict(state)
    whole = run(first, optimiser, gradients[3:])
    assert torch.equal(run(second, resumed, gradients[3:]), whole)
    assert not torch.equal(run(third, AdamW2([third], **settings), gradients[3:]), whole)


def test_a_closure_is_called_with_gradients():
    """The step returns the closure's loss, for which gradients are on."""
    weight = torch.nn.Parameter(torch.ones(2, 2))
    optimiser = AdamW2([weight], tau=0.1)

    def closure() -> float:
        loss = weight.square().sum()
        loss.backward()
        return loss.item()

    assert optimiser.step(closure) == 4 and not torch.equal(weight, torch.ones(2, 2))


BAD = {
    "lr": ({"lr": -1.0}, "Invalid learning rate: -1.0"),
    "eps": ({"eps": -1e-8}, "Invalid epsilon value: -1e-08"),
    "beta1": ({"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
    "beta2": ({"betas": (0.9, -0.1)}, "Invalid beta parameter at index 1: -0.1"),
    "weight_decay": ({"weight_decay": -0.1}, "Invalid weight_decay value: -0.1"),
    "tau": ({"tau": 0.0}, "Invalid tau value: 0.0"),
    "tau NaN": ({"tau": math.nan}, "Invalid tau value: nan"),
    "iterations": ({"iterations": 4}, "Invalid number of iterations: 4, expected 1 to 3"),
}


@pytest.mark.parametrize("kind", BAD)
def test_settings_out_of_range(kind):
    """Each is refused in the words of torch.optim.AdamW."""
    changes, message = BAD[kind]
    with pytest.raises(ValueError) as error:
        AdamW2([torch.nn.Parameter(torch.ones(2))], **{"tau": 0.1} | changes)
    assert str(error.value) == message


def test_sparse_and_complex_gradients_are_refused():
    """Power iterations are for dense real matrices."""
    table, number = torch.nn.Embedding(4, 3, sparse=True), torch.nn.Parameter(torch.ones(2, 2, dtype=torch.complex64))
    table(torch.tensor([1, 2])).sum().backward()
    with pytest.raises(RuntimeError, match="AdamW2 does not support sparse gradients"):
        AdamW2(table.parameters(), tau=0.1).step()
    number.grad = torch.ones_like(number)
    with pytest.raises(RuntimeError, match="AdamW2 does not support complex gradients"):
        AdamW2([number], tau=0.1).step()
