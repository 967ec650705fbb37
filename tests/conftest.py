"""What a worker that has trained before must not hand on to tests that draw numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def subnormal_numbers() -> Iterator[None]:
    """Numbers below the normal ones are kept while these tests draw them, and flushed again after, if they were."""
    torch = sys.modules.get("torch")
    flushed = torch is not None and (torch.tensor(1e-310, dtype=torch.float64) / 2).item() == 0
    if flushed:
        torch.set_flush_denormal(False)
    yield
    if flushed:
        torch.set_flush_denormal(True)
