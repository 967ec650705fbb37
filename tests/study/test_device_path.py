"""What a GPU runs, as far as a CPU can tell: the trunk in bfloat16, a step that waits for no value, and a step captured as one graph."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from kernels import CASES, DOUBLE, FLOAT, KINDS, make_case, push_of, relative
from networks import RULE, SETTING, draw_tokens, make_stack, make_stream, same_bits

from rankcollapse import kernel
from rankcollapse.engine import Run, Setting, Stack
from rankcollapse.engine.capture import Captured, Inputs
from rankcollapse.engine.optimisers import Controls, adamw
from rankcollapse.engine.stack import ROWS
from rankcollapse.model import Shape, initialise
from rankcollapse.passes import TorchPass, run_forward, run_last
from rankcollapse.schedule import burst, ramp_down
from rankcollapse.terms import block_terms
from rankcollapse.text import batch_at


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


def test_the_batch_of_a_step_is_the_streams():
    """The tokens a stack trains on are those of `batch_at`, whatever its kinds."""
    stack = make_stack([Run("a", 0, 3, query_key="l2"), Run("b", 1, 3)])
    inputs, targets = batch_at(make_stream(), 0, SETTING.batch, SETTING.shape.context)
    for row in range(2):
        assert (stack.batches()[row, :, :-1].numpy() == inputs).all() and (stack.batches()[row, :, 1:].numpy() == targets).all()


def record_on_cpu(patch: pytest.MonkeyPatch, stack: Stack) -> list[Inputs]:
    """Let a CUDA graph be the inputs that a stack was captured on: nothing is computed then, and at every replay anew from what they hold."""
    recorded: list[Inputs] = []

    @contextmanager
    def graph(_: object):
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(stack, "compute", recorded.append)
            yield

    for name in ("Stream", "current_stream"):
        patch.setattr(torch.cuda, name, lambda: SimpleNamespace(wait_stream=lambda _: None))
    patch.setattr(torch.cuda, "stream", nullcontext)
    patch.setattr(torch.cuda, "CUDAGraph", lambda: SimpleNamespace(replay=lambda: stack.compute(*recorded)))
    patch.setattr(torch.cuda, "graph", graph)
    return recorded


def test_a_captured_step_is_the_step(monkeypatch):
    """Six steps replayed on inputs that stay where they are leave the same bytes, in the same tensors, as six computed ones."""
    setting = replace(SETTING, healthy_q=3.0, optimiser=RULE.model_copy(update={"clip": 0.05}))
    varied = {"skip": ramp_down(1, 4, 0.1), "learning_rate": ((0, 1e-3), (6, 9e-3)), "weight_decay": burst(2, 2, 0.1, 20.0)}
    computed, replayed = (make_stack([Run("plain", 0, 6), Run("hinge", 1, 6, term="hinge", added=0.2, **varied)], setting) for _ in range(2))
    recorded, names = record_on_cpu(monkeypatch, replayed), (*ROWS, "clipped", "broken", "added")
    replayed.run = Captured(replayed, names)
    places = {name: getattr(replayed, name) for name in names}
    for stack in (computed, replayed):
        stack.solve_weights()
        for _ in range(6):
            stack.step()
    for name, place in places.items():
        assert getattr(replayed, name) is place and same_bits(place, getattr(computed, name)), name
    assert len(recorded) == 1 and replayed.trajectories == computed.trajectories and replayed.clock == computed.clock == [6, 6]
    assert computed.clipped.tolist() == [6, 6] and computed.added[1] > 0 and computed.directions[1].any()
