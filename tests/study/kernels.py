"""Networks of odd shapes and kinds on which the kernel and PyTorch are held against each other."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from networks import draw_tokens, flatten, perturb, stack_weights

from rankcollapse import kernel
from rankcollapse.model import Shape

KINDS = ("rms", "l2", "none", "rms")
SKIPS = (1.0, 0.3, 0.0, 0.01)
FLOAT, DOUBLE = torch.float32, torch.float64
needs_kernel = pytest.mark.skipif(not kernel.load_libraries(), reason="no compiler, or the kernel is switched off")
BACKENDS = [pytest.param("kernel", marks=needs_kernel), "torch"]
"""Parameters of the fixture `backend`."""


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
