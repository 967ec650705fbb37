"""The compiled passes: equal to PyTorch within the declared tolerance, each network for itself, and never needed."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F
from networks import RULE, SETTING, draw_tokens, flatten, make_stack, make_stream, perturb, same_bits, stack_weights

from rankcollapse import kernel, model
from rankcollapse.engine import Run, Setting, Stack
from rankcollapse.engine.optimisers import Controls, adamw, compute_norms
from rankcollapse.model import Shape, TiedLoss, initialise, normalise, views
from rankcollapse.passes import KernelPass, TorchPass, run_forward, run_last
from rankcollapse.terms import block_terms, centre, compute_q
from rankcollapse.text import batch_at

ROOT = Path(__file__).parents[2]
KINDS = ("rms", "l2", "none", "rms")
SKIPS = (1.0, 0.3, 0.0, 0.01)
FLOAT, DOUBLE = torch.float32, torch.float64
needs_kernel = pytest.mark.skipif(not kernel.load_libraries(), reason="no compiler, or the kernel is switched off")


class Case(NamedTuple):
    """A shape, and how many sequences of how many tokens go through it."""

    shape: Shape
    batch: int
    tokens: int


CASES = {
    "laptop": Case(Shape(3, 32, 4, 64, 512), 2, 64),
    "width 12, heads 3": Case(Shape(2, 12, 3, 7, 29), 3, 7),
    "width 40, heads 2": Case(Shape(2, 40, 2, 19, 101), 2, 19),
    "one head": Case(Shape(2, 8, 1, 5, 13), 2, 5),
    "heads of one": Case(Shape(2, 6, 6, 9, 13), 2, 9),
    "context 2": Case(Shape(2, 8, 2, 2, 13), 2, 2),
    "one sequence": Case(Shape(2, 8, 2, 6, 13), 1, 6),
    "one block": Case(Shape(1, 16, 2, 17, 31), 2, 17),
    "fewer tokens than the context": Case(Shape(2, 8, 2, 12, 13), 2, 7),
    "vocabulary 257": Case(Shape(2, 16, 4, 9, 257), 2, 9),
    "vocabulary 300": Case(Shape(2, 16, 4, 33, 300), 2, 33),
}
ADDED = {"the loss": (1.0, False), "loss and stream": (1.0, True), "the stream": (0.0, True), "half the loss": (0.5, True)}


def relative(one: torch.Tensor, other: torch.Tensor) -> float:
    """Largest difference of two networks' tensors (M, ...), norm over norm; the reference in float64."""
    difference, whole = ((x.double().flatten(1).norm(dim=1)) for x in (one.double() - other.double(), other))
    return (difference / whole).max().item()


def make_case(case: Case, dtype: torch.dtype = DOUBLE) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Perturbed weights (4, P) that float32 holds exactly, tokens and skip scales, one network for each of KINDS."""
    flat = flatten(perturb(stack_weights([0, 1, 2, 3], case.shape)))
    return flat.to(dtype), draw_tokens(4, case.batch, case.tokens + 1, vocabulary=case.shape.vocabulary), torch.tensor(SKIPS, dtype=dtype)


def push_of(case: Case) -> torch.Tensor:
    """A gradient (L, M, N, D) on the stream, about as large as the loss's own."""
    dims = (case.shape.depth, len(KINDS), case.batch * case.tokens, case.shape.width)
    return 0.1 * torch.randn(dims, generator=torch.Generator().manual_seed(5)) / (case.batch * case.tokens)


class Passed(NamedTuple):
    """What a pass gives: each block's stream (L entries), the losses, and the gradient."""

    stream: torch.Tensor
    loss: torch.Tensor
    gradient: torch.Tensor


def go(
    which: str, case: Case, dtype: torch.dtype, share: float = 1.0, pushed: bool = False, kinds=KINDS, weights: torch.Tensor | None = None
) -> Passed:
    """One pass forward and back by the kernel or by PyTorch."""
    flat, tokens, skip = make_case(case, dtype)
    flat = flat if weights is None else weights.to(dtype)
    arguments = (flat, tokens, skip, kinds, case.shape)
    passed = KernelPass(*arguments) if which == "kernel" else TorchPass(*arguments, "float32")
    gradient = passed.backward(torch.full_like(skip, share), push_of(case).to(dtype) if pushed else None)
    return Passed(passed.stream, passed.loss, gradient)


@needs_kernel
@pytest.mark.parametrize("name", CASES)
def test_streams_and_losses_equal_pytorchs(name):
    """After every block and for every treatment of queries and keys: in double precision both agree, in single both are as near the truth."""
    case = CASES[name]
    exact = go("torch", case, DOUBLE)
    for which, dtype in (("kernel", DOUBLE), ("kernel", FLOAT), ("torch", FLOAT)):
        passed = go(which, case, dtype)
        for block in range(case.shape.depth):
            assert relative(passed.stream[block], exact.stream[block]) < kernel.TOLERANCE[dtype], (which, dtype, block)
        assert passed.stream.dtype == dtype and passed.loss.double().tolist() == pytest.approx(exact.loss.tolist(), rel=kernel.TOLERANCE[dtype])


@needs_kernel
@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("name", CASES)
def test_gradients_equal_pytorchs(name, added):
    """Of the loss, of what is added on the stream, and of both at a share; normalised heads of one number are as far off in PyTorch's float32."""
    case, (share, pushed) = CASES[name], ADDED[added]
    exact = go("torch", case, DOUBLE, share, pushed).gradient
    rough = relative(go("torch", case, FLOAT, share, pushed).gradient, exact)
    assert rough < 10 * kernel.TOLERANCE[FLOAT] if case.shape.head_size == 1 else rough < kernel.TOLERANCE[FLOAT]
    for dtype, tolerance in ((DOUBLE, kernel.TOLERANCE[DOUBLE]), (FLOAT, max(kernel.TOLERANCE[FLOAT], 2 * rough))):
        gradient = go("kernel", case, dtype, share, pushed).gradient
        assert relative(gradient, exact) < tolerance, dtype
        assert gradient.dtype == dtype and not gradient.requires_grad


@needs_kernel
@pytest.mark.parametrize("name", CASES)
def test_every_weight_has_its_own_gradient(name):
    """Name by name, the small gradients of gains and positions too, which a norm over all weights would hide (float64)."""
    case = CASES[name]
    one, other = (views(go(which, case, DOUBLE, 1.0, True).gradient, case.shape) for which in ("kernel", "torch"))
    for weight in one:
        whole = other[weight].flatten(1).norm(dim=1)
        assert ((one[weight] - other[weight]).flatten(1).norm(dim=1) <= 1e-10 * whole + 1e-15).all(), weight
    learned = [(one[f"block{block}.qk_scale"] != 0).any(1).tolist() for block in range(case.shape.depth)]
    assert learned == [[False, True, False, False]] * case.shape.depth


@needs_kernel
@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
def test_reading_equals_the_forward_pass(dtype):
    """The pass that keeps nothing gives the last block's stream to the last bit, and the loss of the pass that does."""
    for case in CASES.values():
        arguments = (*make_case(case, dtype), KINDS, case.shape)
        last, loss = run_last(*arguments)
        passed = run_forward(*arguments)
        assert isinstance(passed, KernelPass) and same_bits(last, passed.stream[-1].contiguous())
        passed.backward(torch.ones(4))
        assert same_bits(loss, passed.loss)


@needs_kernel
def test_going_back_twice_gives_the_same_bits():
    """A pass may be gone back through again; what lay in its buffers before does not matter."""
    case = CASES["width 12, heads 3"]
    flat, tokens, skip = make_case(case, FLOAT)
    first = go("kernel", case, FLOAT, 1.0, True).gradient
    for buffer in KernelPass.spare:
        buffer.fill_(float("nan"))
    passed = run_forward(flat, tokens, skip, KINDS, case.shape)
    for _ in range(2):
        assert same_bits(passed.backward(torch.ones(4), push_of(case), again=True), first)


BROKEN = {
    "NaN in an embedding": ("tokens", float("nan")),
    "infinite position": ("positions", float("inf")),
    "NaN in queries and keys": ("block0.qkv", float("nan")),
    "infinite MLP": ("block1.mlp_in", float("inf")),
    "infinite gain": ("ln_final", float("-inf")),
    "NaN query-key scale": ("block0.qk_scale", float("nan")),
}


@needs_kernel
@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
@pytest.mark.parametrize("name", ["width 12, heads 3", "heads of one", "fewer tokens than the context", "vocabulary 257"])
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_network_stays_its_own(kind, name, dtype):
    """NaN or infinity in one network comes back as not finite, and changes no bit of the networks before and after it."""
    case, (weight, value) = CASES[name], BROKEN[kind]
    flat = make_case(case, dtype)[0]
    whole = go("kernel", case, dtype, 1.0, True, weights=flat)
    for place in (1,) if weight.endswith("qk_scale") else (0, 1, 2):
        broken, others = flat.clone(), [index for index in range(4) if index != place]
        views(broken, case.shape)[weight][place] = value
        other = go("kernel", case, dtype, 1.0, True, weights=broken)
        for index in others:
            assert same_bits(whole.gradient[index], other.gradient[index]) and whole.loss[index] == other.loss[index]
            assert same_bits(whole.stream[:, index].contiguous(), other.stream[:, index].contiguous())
        assert compute_norms(other.gradient).isfinite().tolist() == other.loss.isfinite().tolist() == [index != place for index in range(4)]


@needs_kernel
@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
def test_huge_scores_do_not_overflow(dtype):
    """Scores of thousands, without normalisation or by a large learned scale, give PyTorch's attention and a finite gradient."""
    case = CASES["width 40, heads 2"]
    flat = make_case(case)[0]
    named = views(flat, case.shape)
    for block in range(case.shape.depth):
        named[f"block{block}.qkv"][:] *= 100
        named[f"block{block}.qk_scale"][:] = torch.tensor([55.0, 5e4])
    kinds = ("none", "l2", "none", "l2")
    passed, exact = go("kernel", case, dtype, 1.0, kinds=kinds, weights=flat), go("torch", case, DOUBLE, 1.0, kinds=kinds, weights=flat)
    assert passed.stream.isfinite().all() and passed.gradient.isfinite().all()
    assert passed.loss.tolist() == pytest.approx(exact.loss.tolist(), rel={FLOAT: 0.05, DOUBLE: 1e-9}[dtype])
    if dtype == DOUBLE:
        assert relative(passed.gradient, exact.gradient) < 1e-7


@needs_kernel
@pytest.mark.parametrize("scale", [1.0, 20.0, 59.0, 61.0])
def test_learned_scales_beside_the_bound(scale):
    """Where the learned scale just lets scores go without their maximum taken off, and just not, both precisions are as good as elsewhere."""
    case = CASES["width 40, heads 2"]
    flat = make_case(case)[0]
    for block in range(case.shape.depth):
        views(flat, case.shape)[f"block{block}.qk_scale"][:] = scale
    exact = go("torch", case, DOUBLE, 1.0, kinds=("l2",) * 4, weights=flat)
    rough = relative(go("torch", case, FLOAT, 1.0, kinds=("l2",) * 4, weights=flat).gradient, exact.gradient)
    for dtype in (FLOAT, DOUBLE):
        passed = go("kernel", case, dtype, 1.0, kinds=("l2",) * 4, weights=flat)
        assert relative(passed.gradient, exact.gradient) < max(kernel.TOLERANCE[dtype], 3 * rough if dtype == FLOAT else 1e-11)


@needs_kernel
@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
@pytest.mark.parametrize("level", [300.0, -100.0, -160.0, -300.0, -2000.0])
def test_logits_far_from_zero(level, dtype):
    """Equal logits, however far from zero, give the loss ln V: what pads a row of the vocabulary does not count."""
    shape = CASES["one head"].shape
    flat = initialise(shape, 0, 0.3)[None].to(dtype)
    named = views(flat, shape)
    named["tokens"][:], named["ln_final"][:] = 1.0, level
    named["positions"][:] = torch.arange(8.0) ** 3
    last, _ = run_last(flat, draw_tokens(1, 2, 6), torch.ones(1), ["rms"], shape)
    named["tokens"][:] = (last[0, 0] - last[0, 0].mean()).sign() / 8  # along the last rows, so that every logit is `level` times about one
    last, loss = run_last(flat, draw_tokens(1, 2, 6), torch.ones(1), ["rms"], shape)
    logits = (normalise(last[0]) * named["ln_final"]) @ named["tokens"][0].T
    assert (logits / level > 0.5).all()
    assert loss.item() == pytest.approx(math.log(shape.vocabulary), rel=1e-5)


@needs_kernel
def test_gelu_to_the_last_digits():
    """From -30 to 30 the kernel's x Phi(x) is that of the error function to 1e-12, and so is its slope (float64)."""
    shape = Shape(1, 8, 1, 64, 13)
    flat = flatten(perturb(stack_weights([0], shape, dtype=DOUBLE)))
    named = views(flat, shape)
    for name in ("attention_out", "mlp_out"):
        named[f"block0.{name}"].zero_()
    named["block0.mlp_out"][0, :8] = torch.eye(8, dtype=DOUBLE)
    named["block0.mlp_in"][0] *= torch.linspace(0.05, 30, 64, dtype=DOUBLE).view(2, 32).flatten()[:32] * 4
    named["block0.mlp_in"][0, :, :8] *= torch.tensor([0.1, 0.3, 1, 2, 3, 4, 8, 16], dtype=DOUBLE)
    tokens = draw_tokens(1, 2, 65)
    start = named["tokens"][0][tokens[0, :, :-1]].add(named["positions"][0]).view(1, 128, 8)
    hat = normalise(start) * named["block0.ln_mlp"].unsqueeze(1)
    hidden = (hat @ named["block0.mlp_in"][0])[0, :, :8]
    assert hidden.min() < -20 and hidden.max() > 20 and ((hidden.abs() < 6).sum() > 100) and (hidden.abs() < 0.1).any()
    phi = torch.tensor([[0.5 * math.erfc(-x / math.sqrt(2)) for x in row] for row in hidden.tolist()], dtype=DOUBLE)
    passed = KernelPass(flat, tokens, torch.ones(1), ["rms"], shape)
    assert (passed.stream[0, 0] - start[0] - hidden * phi).abs().max() < 1e-12
    gradient = views(passed.backward(torch.zeros(1), torch.ones(1, 1, 128, 8, dtype=DOUBLE)), shape)["block0.mlp_in"][0, :, :8]
    slope = phi + hidden * (-hidden.square() / 2).exp() / math.sqrt(2 * math.pi)
    expected = hat[0].T @ slope
    assert (gradient - expected).abs().max() < 1e-12 * expected.abs().max().clamp_min(10)


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


@pytest.fixture
def threads():
    """Leave the kernel on as many threads as before."""
    before = kernel.Threads.count
    yield kernel.Threads.use
    kernel.Threads.use(before)


@needs_kernel
def test_threads_change_no_bit(threads, monkeypatch):
    """One, two, three and nine threads give the same stream, loss and gradient, and share the models out among them."""
    case = CASES["width 12, heads 3"]
    plain, calls, results = kernel.call, [], []
    monkeypatch.setattr(kernel, "call", lambda name, *rest: calls.append(name) or plain(name, *rest))
    for count in (1, 2, 3, 9):
        threads(count)
        calls.clear()
        results.append(go("kernel", case, FLOAT, 1.0, True))
        last, loss = run_last(*make_case(case, FLOAT), KINDS, case.shape)
        assert calls.count("forward") == 2 * min(count, 4) and calls.count("backward") == min(count, 4)
        assert same_bits(last, results[0].stream[-1].contiguous()) and same_bits(loss, results[0].loss)
    for other in results[1:]:
        assert all(same_bits(one, two) for one, two in zip(results[0], other, strict=True))


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


def test_bf16_is_close_to_float32():
    """The trunk in bfloat16 has float32 streams and a gradient that lies within 2 % of float32's, and is not the same."""
    case = CASES["laptop"]
    _, tokens, skip = make_case(case, FLOAT)
    flat = torch.stack([initialise(case.shape, seed, 0.02, kind) for seed, kind in enumerate(KINDS)])
    reduced, whole = (TorchPass(flat, tokens, torch.ones(4), KINDS, case.shape, precision) for precision in ("bf16", "float32"))
    assert reduced.stream.dtype == FLOAT and isinstance(run_forward(flat, tokens, skip, KINDS, case.shape, "bf16"), TorchPass)
    assert 1e-4 < relative(reduced.stream[-1], whole.stream[-1]) < 0.02
    one, other = (passed.backward(torch.ones(4), push_of(case)) for passed in (reduced, whole))
    assert one.dtype == FLOAT and 1e-4 < relative(one, other) < 0.02


PAPER = Shape(24, 128, 4, 256, 50257)


def meta_stack(**changes) -> Stack:
    """Two networks of the paper's shape without values: an operation that needs one cannot be done."""
    runs = [Run("hinge", 0, 9, term="hinge", added=0.1, **changes), Run("plain", 0, 9, readings=("cosine",))]
    setting = Setting(PAPER, RULE, batch=2, init_std=0.02, healthy_q=2.0, device="meta")
    stack = Stack(runs, setting, make_stream(8000), draw_tokens(2, PAPER.context + 1))
    for trajectory in stack.trajectories:
        trajectory.trained = 1
    return stack


META = {"one term": {}, "unclipped": {"exempt": True}, "some blocks": {"blocks": (0, 23)}, "learned scale": {"query_key": "l2"}}


@pytest.mark.parametrize("kind", META)
def test_a_step_waits_for_no_value(kind):
    """At the paper's shape the whole step, after the first, goes through on a device that has shapes and no values: nothing waits for a GPU."""
    stack = meta_stack(**META[kind])
    stack.step()
    stack.step()
    assert stack.flat.shape == (2, PAPER.size) and stack.flat.device.type == stack.broken.device.type == "meta" and not stack.flat.requires_grad
    assert stack.clock == [2, 2] and stack.clipped.shape == (2,)
    with pytest.raises(NotImplementedError):
        stack.take_in()


def test_the_passes_of_a_step_without_values():
    """Forward, terms, backward and AdamW of two networks of the paper's shape, for every treatment of queries and keys and every term."""
    flat = torch.empty(2, PAPER.size, device="meta")
    tokens, skip = torch.empty(2, 2, 257, dtype=torch.int64, device="meta"), torch.empty(2, device="meta")
    for kinds, terms in ((("rms", "rms"), ("penalty", "hinge")), (("l2", "none"), ("hinge", "none"))):
        passed = run_forward(flat, tokens, skip, kinds, PAPER)
        stream = passed.stream.requires_grad_()
        start = torch.empty(PAPER.depth * 2 * 2, PAPER.width, device="meta")
        values = block_terms(terms, stream, 2, skip, start)
        push = torch.autograd.grad(values.sum(), stream)[0]
        grad = passed.backward(skip, push)
        assert values.shape == (24, 2) and push.shape == (24, 2, 512, 128) and grad.shape == flat.shape and not grad.requires_grad
        numbers = Controls(*(torch.empty(2, dtype=DOUBLE, device="meta") for _ in range(4)))
        adamw(flat, grad, torch.empty_like(flat), torch.empty_like(flat), numbers, PAPER.matrices, RULE)
    last, loss = run_last(flat, tokens, skip, ("rms", "rms"), PAPER)
    assert last.shape == (2, 512, 128) and loss.shape == (2,)


def test_pytorch_alone_remembers_no_step(monkeypatch):
    """Weights and moments carry no history of the steps that made them, which would grow without end."""
    monkeypatch.setattr(kernel, "load_libraries", lambda: {})
    stack = make_stack([Run("a", 0, 9), Run("b", 1, 9, term="hinge", added=0.1, exempt=True)], replace(SETTING, healthy_q=3.0))
    stack.solve_weights()
    stack.step()
    assert not any(getattr(stack, name).requires_grad for name in ("flat", "moment1", "moment2", "directions"))


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """The kernel as at first use, with a cache of its own; and afterwards as it was."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(kernel.SWITCH, raising=False)
    plain = kernel.load_libraries
    plain.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    plain.cache_clear()


FAILING = {
    "no compiler": ({"PATH": ""}, "engine: no C++ compiler, so PyTorch alone, several times slower; cure: apt-get install g++"),
    "a compiler that fails": ({"CXX": "/bin/false"}, "engine: the kernel does not compile here, so PyTorch alone, several times slower: Command "),
    "no such compiler": ({"CXX": "/no/such/compiler"}, "engine: the kernel does not compile here, so PyTorch alone, several times slower: [Errno 2]"),
}


@pytest.mark.parametrize("kind", FAILING)
def test_without_a_compiler_pytorch_computes(fresh, capfd, kind):
    """One line says so, once, and the passes are PyTorch's."""
    changes, line = FAILING[kind]
    fresh.delenv("CXX", raising=False)
    for name, value in changes.items():
        fresh.setenv(name, value)
    case = CASES["one head"]
    for _ in range(2):
        assert isinstance(run_forward(*make_case(case, FLOAT), KINDS, case.shape), TorchPass)
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith(line) and kernel.describe() == "torch"


def test_source_that_does_not_compile(fresh, capfd, tmp_path):
    """The compiler's first line is passed on, nothing is left in the cache, and PyTorch computes."""
    if not (compiler := os.environ.get("CXX") or kernel.shutil.which("g++") or kernel.shutil.which("c++")):
        pytest.skip("no compiler")
    broken = tmp_path / "kernel.cpp"
    broken.write_text("this is not C++\n")
    fresh.setattr(kernel, "SOURCE", broken)
    fresh.setenv("CXX", compiler)
    assert kernel.load_libraries() == {}
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1 and "kernel.cpp" in said[0] and not list(kernel.cache_folder().iterdir())


def test_the_switch_needs_no_compiler(fresh, capfd):
    """Switched off, nothing is compiled and nothing is said."""
    fresh.setenv(kernel.SWITCH, "off")
    fresh.setenv("CXX", "/bin/false")
    assert kernel.describe() == "torch" and capfd.readouterr().err == ""


def test_an_unusable_cache_gives_way(fresh, tmp_path):
    """Where the user's cache cannot be a folder, the system's temporary folder holds one."""
    (tmp_path / "cache").write_text("a file")
    fresh.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    folder = kernel.cache_folder()
    assert folder.parent == tmp_path / "elsewhere" and folder.is_dir()


SLOW = """#!/bin/sh
if [ "$1" = --version ]; then echo "slow 1.0"; exit; fi
for word; do out="$word"; done
head -c 1000 "{library}" > "$out"
sleep 0.5
cat "{library}" > "$out"
echo compiled >> "{log}"
"""


def make_compiler(folder: Path, library: Path) -> Path:
    """A compiler that takes its time and gives a library that there is."""
    path = folder / "slow"
    path.write_text(SLOW.format(library=library, log=folder / "log"))
    path.chmod(0o755)
    return path


@needs_kernel
def test_the_cache_knows_what_it_holds(fresh, tmp_path):
    """Source, flags, precision or compiler changed give another name; the same ones are compiled once."""
    compiler = make_compiler(tmp_path, kernel.SOURCE)
    compiled = [kernel.compile_library(str(compiler), dtype) for dtype in (FLOAT, FLOAT, DOUBLE)]
    assert compiled[0] == compiled[1] != compiled[2] and (tmp_path / "log").read_text().splitlines() == ["compiled"] * 2
    source = tmp_path / "kernel.cpp"
    source.write_bytes(kernel.SOURCE.read_bytes() + b"\n")
    for name, value in (("SOURCE", source), ("FLAGS", [*kernel.FLAGS, "-g"]), ("processor_flags", lambda: ["flags: another processor"])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, name, value)
            compiled.append(kernel.compile_library(str(compiler), FLOAT))
    compiler.write_text(compiler.read_text().replace("slow 1.0", "slow 1.1"))
    compiled.append(kernel.compile_library(str(compiler), FLOAT))
    assert len(set(compiled)) == 6 and {path.name for path in kernel.cache_folder().iterdir()} == {path.name for path in compiled}


COMPILE = "import sys, ctypes, torch; from rankcollapse import kernel; ctypes.CDLL(str(kernel.compile_library(sys.argv[1], torch.float32))).norms"


@needs_kernel
def test_two_processes_may_compile_at_once(fresh, tmp_path):
    """Both end with a whole library, and one file is left."""
    library = Path(kernel.load_libraries()[FLOAT]._name)
    fresh.setenv("XDG_CACHE_HOME", str(tmp_path / "both"))
    fresh.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'src'}")
    compiler = make_compiler(tmp_path, library)
    both = [subprocess.Popen([sys.executable, "-c", COMPILE, str(compiler)], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in both]
    assert ends == [("", 0)] * 2 and [path.read_bytes() for path in kernel.cache_folder().iterdir()] == [library.read_bytes()]


def test_the_batch_of_a_step_is_the_streams():
    """The tokens a stack trains on are those of `batch_at`, whatever its kinds."""
    stack = make_stack([Run("a", 0, 3, query_key="l2"), Run("b", 1, 3)])
    inputs, targets = batch_at(make_stream(), 0, SETTING.batch, SETTING.shape.context)
    for row in range(2):
        assert (stack.batches()[row, :, :-1].numpy() == inputs).all() and (stack.batches()[row, :, 1:].numpy() == targets).all()
