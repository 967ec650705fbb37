"""The compiled passes: equal to PyTorch within the declared tolerance, each network for itself, on any number of threads."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
import torch
from kernels import CASES, DOUBLE, FLOAT, KINDS, Case, make_case, needs_kernel, push_of, relative
from networks import draw_tokens, flatten, perturb, same_bits, stack_weights

from rankcollapse import kernel
from rankcollapse.engine.optimisers import compute_norms
from rankcollapse.model import Shape, initialise, normalise, views
from rankcollapse.passes import KernelPass, TorchPass, run_forward, run_last

ADDED = {"the loss": (1.0, False), "loss and stream": (1.0, True), "the stream": (0.0, True), "half the loss": (0.5, True)}


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
