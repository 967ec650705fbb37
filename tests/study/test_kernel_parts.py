"""What a step computes beside its passes, AdamW, norms, Q and the tied loss: as PyTorch's own, with the kernel and without."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from kernels import DOUBLE, FLOAT, needs_kernel, relative
from networks import RULE, same_bits

from rankcollapse import kernel, model
from rankcollapse.engine.optimisers import Controls, adamw, compute_norms
from rankcollapse.model import TiedLoss
from rankcollapse.terms import centre, compute_q


def torch_adamw(start: dict[str, torch.Tensor], grads: list[torch.Tensor], rate: float, decay: float, count: int, matrices: int) -> torch.Tensor:
    """The weights of one network after AdamW steps by torch.optim.AdamW, from given moments and steps."""
    parts = [start["flat"][:matrices].clone().requires_grad_(), start["flat"][matrices:].clone().requires_grad_()]
    groups = [{"params": [parts[0]], "weight_decay": decay}, {"params": [parts[1]], "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=rate, betas=(RULE.beta1, RULE.beta2), eps=RULE.epsilon)
    for part, place in zip(parts, (slice(matrices), slice(matrices, None)), strict=True):
        moments = {"exp_avg": start["first"][place].clone(), "exp_avg_sq": start["second"][place].clone()}
        optimiser.state[part] = {"step": torch.tensor(float(count)), **moments}
    for grad in grads:
        parts[0].grad, parts[1].grad = grad[:matrices].clone(), grad[matrices:].clone()
        optimiser.step()
    return torch.cat([part.detach() for part in parts])


@pytest.mark.parametrize("with_kernel", [pytest.param(True, marks=needs_kernel), False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(FLOAT, 2e-6), (DOUBLE, 1e-13)])
def test_adamw_equals_torchs(monkeypatch, with_kernel, dtype, tolerance):
    """Five steps, every model at its own rate, decay, count and factor, are torch.optim.AdamW's; one whose factor is 0 or NaN keeps its bits."""
    if not with_kernel:
        monkeypatch.setattr(kernel, "load_libraries", lambda: {})
    generator, matrices, size = torch.Generator().manual_seed(0), 53, 67
    draw = lambda *dims: torch.randn(dims, generator=generator, dtype=DOUBLE).to(dtype)
    rates, decays, counts, factors = [1e-3, 0.1, 1e-5, 1e-2, 1e-2], [0.1, 0.0, 3.0, 0.1, 0.1], [0, 7, 400, 3, 3], [1.0, 0.25, 1e-3, 0.0, float("nan")]
    flat, first, second = draw(5, size), 0.1 * draw(5, size), 0.01 * draw(5, size).square()
    first[0], second[0] = 0, 0
    grads = [draw(5, size) for _ in range(5)]
    for grad in grads:
        grad[3:] = float("nan")
    before = [part.clone() for part in (flat, first, second)]
    for step, grad in enumerate(grads):
        count = torch.tensor(counts, dtype=DOUBLE) + 1 + step
        numbers = Controls(torch.tensor(rates, dtype=DOUBLE), torch.tensor(decays, dtype=DOUBLE), torch.tensor(factors, dtype=DOUBLE), count)
        adamw(flat, grad, first, second, numbers, matrices, RULE)
    for index in range(3):
        start = {name: part[index].double() for name, part in zip(("flat", "first", "second"), before, strict=True)}
        own = [grad[index].double() * factors[index] for grad in grads]
        expected = torch_adamw(start, own, rates[index], decays[index], counts[index], matrices)
        moved = (expected - start["flat"]).norm().item()
        assert (flat[index].double() - expected).norm().item() < tolerance * max(moved, start["flat"].norm().item()), index
        assert moved > 1e-5 * start["flat"].norm().item()
    for part, old in zip((flat, first, second), before, strict=True):
        assert same_bits(part[3:], old[3:])


@pytest.mark.parametrize("with_kernel", [pytest.param(True, marks=needs_kernel), False])
@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
def test_norms(monkeypatch, with_kernel, dtype):
    """Of every model's gradient by itself, at sizes on both sides of a stretch of the sum; what is not finite stays so and its own."""
    if not with_kernel:
        monkeypatch.setattr(kernel, "load_libraries", lambda: {})
    for size in (1, 7, 4095, 4096, 4097, 9001):
        grad = torch.randn(4, size, generator=torch.Generator().manual_seed(size), dtype=DOUBLE).to(dtype)
        exact = grad.double().square().sum(1).sqrt()
        assert compute_norms(grad).tolist() == pytest.approx(exact.tolist(), rel={FLOAT: 1e-6, DOUBLE: 1e-14}[dtype])
        grad[1, -1], grad[2, 0] = float("nan"), float("inf")
        assert compute_norms(grad).isfinite().tolist() == [True, False, False, True]


MATRICES = {"square": (5, 8, 8), "tall": (4, 40, 12), "wide": (3, 7, 40), "odd": (5, 9, 5), "two tokens": (4, 2, 13), "laptop": (3, 64, 32)}


def token_matrices(name: str, dtype: torch.dtype) -> torch.Tensor:
    """Token matrices (E, T, D) with one direction larger than the others, a mean, and sizes from 1e-3 to 1e3."""
    count, rows, width = MATRICES[name]
    draw = lambda *dims, seed: torch.randn(dims, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)
    x = draw(count, rows, 1, seed=1) @ draw(count, 1, width, seed=2) + 0.3 * draw(count, rows, width, seed=3) + draw(count, 1, width, seed=4)
    return (x * torch.logspace(-3, 3, count, dtype=DOUBLE).view(-1, 1, 1)).float().to(dtype)


def q_and_slope(x: torch.Tensor, start: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Q of token matrices, and its gradient times its matrix's size."""
    leaf = x.clone().requires_grad_()
    q = compute_q(leaf, start_ED=start)
    slope = torch.autograd.grad((q * torch.arange(1, len(q) + 1, dtype=x.dtype)).sum(), leaf)[0]
    return q.detach(), slope * x.flatten(1).norm(dim=1).view(-1, 1, 1)


@needs_kernel
@pytest.mark.parametrize("name", MATRICES)
def test_deflation_equals_pytorchs(monkeypatch, name):
    """Q and its gradient, also with fewer tokens than widths and widths that fill no vector; two tokens have Q = 0 up to rounding."""
    exact, single = token_matrices(name, DOUBLE), token_matrices(name, FLOAT)
    given = [q_and_slope(exact), q_and_slope(single)]
    monkeypatch.setattr(kernel, "load_libraries", lambda: {})
    q, slope = q_and_slope(exact)
    for (other, gradient), tolerance in zip(given, (1e-10, 2e-5), strict=True):
        assert other.tolist() == pytest.approx(q.tolist(), rel=tolerance, abs=tolerance / 20)
        assert q.max() < 1e-6 or relative(gradient, slope) < 10 * tolerance


@pytest.mark.parametrize("with_kernel", [pytest.param(True, marks=needs_kernel), False])
@pytest.mark.parametrize("name", MATRICES)
def test_a_warm_start_converges(monkeypatch, name, with_kernel):
    """From the direction of the time before, Q comes to the singular values' and the direction to the top one; zero starts afresh."""
    if not with_kernel:
        monkeypatch.setattr(kernel, "load_libraries", lambda: {})
    x = token_matrices(name, DOUBLE)
    _, sigma, right = torch.linalg.svd(centre(x), full_matrices=False)
    exact = sigma[:, 1:].square().sum(1).sqrt() / sigma[:, 0]
    start = torch.zeros_like(x[:, 0])
    first = compute_q(x, start_ED=start)
    assert same_bits(first, compute_q(x)) and (start.norm(dim=1) - 1).abs().max() < 1e-12
    for _ in range(30):
        q = compute_q(x, start_ED=start)
    assert ((start * right[:, 0]).sum(1).abs() - 1).abs().max() < 1e-10
    assert (q - exact).abs().max() < 1e-7 and (first >= exact - 1e-7).all()


@needs_kernel
@pytest.mark.parametrize("name", MATRICES)
def test_threads_change_no_bit_of_a_step(threads, name):
    """Nor of norms, AdamW, Q, its direction or its gradient, where models or matrices do not divide evenly."""
    results, generator = [], torch.Generator().manual_seed(0)
    grad, weights = torch.randn(5, 67, generator=generator), torch.randn(5, 67, generator=generator)
    x = token_matrices(name, FLOAT)
    for count in (1, 2, 3):
        threads(count)
        start, flat, first, second = torch.zeros_like(x[:, 0]), weights.clone(), 0.1 * grad, grad.square()
        numbers = Controls(*(torch.arange(1, 6, dtype=DOUBLE) * by for by in (1e-3, 0.1, 0.2, 1.0)))
        adamw(flat, grad, first, second, numbers, 53, RULE)
        results.append([*q_and_slope(x, start), start, compute_norms(grad), flat, first, second])
    for other in results[1:]:
        assert all(same_bits(one, two) for one, two in zip(results[0], other, strict=True))
    assert not same_bits(results[0][4], weights) and (results[0][3] > 0).all() and results[0][0].shape == x.shape[:1]


def tied(models: int = 2, rows: int = 11, width: int = 6, vocabulary: int = 29) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows, a table and targets for the tied loss, in float64."""
    generator = torch.Generator().manual_seed(3)
    sizes = ((models, rows, width), (models, vocabulary, width))
    x, table = (torch.randn(*dims, generator=generator, dtype=DOUBLE).requires_grad_() for dims in sizes)
    return x, table, torch.randint(vocabulary, (models, rows), generator=generator)


@pytest.mark.parametrize("limit", [2**26, 1, 2 * 29 * 4, 2 * 29 * 11])
def test_tied_loss_equals_cross_entropy(monkeypatch, limit):
    """With all rows at once, one at a time or four, loss and gradients are those of F.cross_entropy, and no more logits exist than may."""
    monkeypatch.setattr(model, "LOGITS", limit)
    x, table, targets = tied()
    share = torch.tensor([0.3, 2.0], dtype=DOUBLE)
    expected = torch.stack([F.cross_entropy(x[i] @ table[i].T, targets[i]) for i in range(2)])
    slopes = torch.autograd.grad(expected, [x, table], share)
    largest, plain = [], torch.bmm
    monkeypatch.setattr(torch, "bmm", lambda one, other: largest.append(one.shape[0] * one.shape[1] * other.shape[2]) or plain(one, other))
    losses = TiedLoss.apply(x, table, targets)
    assert max(largest) <= max(limit, 2 * 29) and len(largest) == 2 * math.ceil(11 / max(limit // 58, 1))
    assert torch.allclose(losses, expected, rtol=1e-12, atol=0)
    for one, other in zip(torch.autograd.grad(losses, [x, table], share), slopes, strict=True):
        assert relative(one, other) < 1e-12


def test_uniform_logits_give_the_logarithm():
    """A table of equal rows gives ln V whatever the rows and targets, and nothing flows back to them."""
    x, table, targets = tied()
    loss = TiedLoss.apply(x, torch.ones_like(table), targets)
    assert loss.tolist() == pytest.approx([math.log(29)] * 2, rel=1e-14)
    assert torch.autograd.grad(loss.sum(), x)[0].abs().max() < 1e-15
