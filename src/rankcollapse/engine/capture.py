"""A step as one CUDA graph, and the inputs that change from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch


class Inputs(NamedTuple):
    """What changes from step to step, one entry a live run."""

    tokens: torch.Tensor
    skip: torch.Tensor
    rate: torch.Tensor
    decay: torch.Tensor
    clock: torch.Tensor
    weight: torch.Tensor
    """Of the added term."""


class Captured:
    """A stack's step as one CUDA graph: launched as a whole, where a step of small networks is mostly launching. Captured at the first call.

    `names` are the tensors of the stack that a step changes in place.
    """

    def __init__(self, stack: Any, names: Sequence[str]):
        self.stack, self.names, self.held, self.graph = stack, names, None, None

    def __call__(self, inputs: Inputs) -> None:
        if self.graph is None:
            self.capture(inputs)
        for held, new in zip(self.held, inputs, strict=True):
            held.copy_(new)
        self.graph.replay()

    def capture(self, inputs: Inputs) -> None:
        """Record the step on inputs that stay where they are; the steps that warm up are taken back."""
        stack, names = self.stack, self.names
        self.held = Inputs(*(each.clone() for each in inputs))
        before = [getattr(stack, name).clone() for name in names]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                stack.compute(self.held)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            stack.compute(self.held)
        for name, value in zip(names, before, strict=True):
            getattr(stack, name).copy_(value)
