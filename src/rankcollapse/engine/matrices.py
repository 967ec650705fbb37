"""The matrices of a network within its flat weights: which count as one, where they lie, and all of a kind as one strided view."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import NamedTuple

import torch

from rankcollapse.model import Shape


class Group(NamedTuple):
    """Matrices of one size, evenly spread over the weights (P,): as blocks, and as parts of a block's fused matrix."""

    at: int
    """Where the first begins."""
    count: tuple[int, int]
    step: tuple[int, int]
    rows: int
    columns: int
    stride: int
    """From one row to the next."""

    def view(self, flat_MP: torch.Tensor, start: int = 0) -> torch.Tensor:
        """The matrices (M, *count, rows, columns) as a view into the weights from number `start` on."""
        dims, steps = (len(flat_MP), *self.count, self.rows, self.columns), (flat_MP.stride(0), *self.step, self.stride, 1)
        return flat_MP.as_strided(dims, steps, flat_MP.storage_offset() + self.at - start)

    def places(self) -> list[int]:
        """Where each matrix begins."""
        return [self.at + i * self.step[0] + j * self.step[1] for i in range(self.count[0]) for j in range(self.count[1])]


def first_projection(shape: Shape) -> int:
    """Where the blocks' matrices begin, after the tables."""
    return (shape.vocabulary + shape.context) * shape.width


def list_projections(shape: Shape) -> list[Group]:
    """The blocks' matrices; queries, keys and values are three, though they lie side by side."""
    width, depth, at = shape.width, shape.depth, first_projection(shape)
    square, block = width**2, 12 * width**2
    return [
        Group(at, (depth, 3), (block, width), width, width, 3 * width),
        Group(at + 3 * square, (depth, 1), (block, 0), width, width, width),
        Group(at + 4 * square, (depth, 1), (block, 0), width, 4 * width, 4 * width),
        Group(at + 8 * square, (depth, 1), (block, 0), 4 * width, width, width),
    ]


def list_matrices(shape: Shape) -> list[Group]:
    """Every matrix: the tables of tokens and positions, and the blocks'."""
    width, tokens = shape.width, shape.vocabulary * shape.width
    tables = [Group(0, (1, 1), (0, 0), shape.vocabulary, width, width), Group(tokens, (1, 1), (0, 0), shape.context, width, width)]
    return tables + list_projections(shape)


class Room(NamedTuple):
    """How vectors of matrices, one number or one vector each, lie in a row of memory."""

    groups: tuple[Group, ...]

    @property
    def count(self) -> int:
        """Matrices of one network."""
        return sum(prod(group.count) for group in self.groups)

    def size(self, side: str) -> int:
        """Numbers of one network's vectors of a side: `rows`, `columns`."""
        return sum(prod(group.count) * getattr(group, side) for group in self.groups)

    def vectors(self, row_MV: torch.Tensor, side: str) -> list[torch.Tensor]:
        """For each group its vectors (M, *count, rows or columns), as views."""
        parts = row_MV.split([prod(group.count) * getattr(group, side) for group in self.groups], 1)
        return [part.unflatten(1, (*group.count, getattr(group, side))) for part, group in zip(parts, self.groups, strict=True)]

    def numbers(self, row_MK: torch.Tensor) -> list[torch.Tensor]:
        """For each group its numbers (M, *count), as views."""
        parts = row_MK.split([prod(group.count) for group in self.groups], 1)
        return [part.unflatten(1, group.count) for part, group in zip(parts, self.groups, strict=True)]


@cache
def tabulate_places(room: Room, left: int, right: int) -> torch.Tensor:
    """`Place` of the kernel for each matrix (K, 6), with left and right vectors in memory from these numbers on."""
    rows = []
    for group in room.groups:
        for at in group.places():
            rows.append((at, group.rows, group.columns, group.stride, right, left))
            left, right = left + group.rows, right + group.columns
    return torch.tensor(rows, dtype=torch.int64)


@cache
def all_matrices(shape: Shape) -> Room:
    """The room of every matrix."""
    return Room(tuple(list_matrices(shape)))


@cache
def projections(shape: Shape) -> Room:
    """The room of the blocks' matrices."""
    return Room(tuple(list_projections(shape)))
