"""The force of an added term: its gradient at the weights over the task's, as rho, at one state or along a line of states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from rankcollapse.measure import LEAST_TERM, per_sequence, run_probe, term_push
from rankcollapse.model import Shape
from rankcollapse.terms import centre


class Sizes(NamedTuple):
    """Of each model (M,): norm of the task gradient on all weights, and of each term its value and its gradient's norm, at weight 1."""

    task: torch.Tensor
    value: dict[str, torch.Tensor]
    push: dict[str, torch.Tensor]

    def weight(self, kind: str, added: float) -> torch.Tensor:
        """The weight (M,) at which a term adds so many nats."""
        return added / self.value[kind].clamp_min(LEAST_TERM)

    def rho(self, kind: str, weight_M: torch.Tensor) -> torch.Tensor:
        """Norm of the added gradient over that of the task gradient (M,), unclipped, at a weight."""
        return weight_M * self.push[kind] / self.task


class Line(NamedTuple):
    """rho of one term at shares of the way from a state: towards a target, and as far along a random direction."""

    target: list[float]
    random: list[float]


def read_sizes(
    flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape, kinds: Sequence[str], healthy: float
) -> Sizes:
    """Sizes of task and added gradients in float64, each term averaged over all blocks, from exact top directions."""
    skip = skip_M.double()
    passed, one = run_probe(flat_MP.double(), tokens_BT, skip, shape), torch.ones_like(skip)
    start = top_directions(per_sequence(passed.stream.flatten(0, 1), len(tokens_BT)))
    task, value, push = passed.backward(one, again=True).norm(dim=1), {}, {}
    for kind in kinds:
        values_LM, push_LMND = term_push(passed, kind, healthy, len(tokens_BT), start.clone())
        value[kind] = values_LM.mean(0)
        push[kind] = passed.backward(0 * one, push_LMND / shape.depth, again=True).norm(dim=1)
    return Sizes(task, value, push)


def top_directions(x_ETD: torch.Tensor) -> torch.Tensor:
    """Right singular vectors (E, D) of the largest singular values of centred token matrices, exact where power steps are not."""
    centred = centre(x_ETD).double()
    return torch.linalg.svd(centred, full_matrices=False).Vh[:, 0]


def read_forces(
    flat_MP: torch.Tensor,
    tokens_BT: torch.Tensor,
    skip_M: torch.Tensor,
    shape: Shape,
    treatments: dict[str, tuple[str, float]],
    healthy: float,
    added: float,
) -> dict[str, torch.Tensor]:
    """rho (M,) of treatments (a term, and how many times the matched added loss) at switch-on.

    At one state rho is proportional to the times: only along a branch is the ratio of two strengths a measurement, see `read_force`.
    """
    sizes = read_sizes(flat_MP, tokens_BT, skip_M, shape, sorted({kind for kind, _ in treatments.values()}), healthy)
    return {name: sizes.rho(kind, sizes.weight(kind, times * added)) for name, (kind, times) in treatments.items()}


def read_force(
    flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, shape: Shape, kind: str, healthy: float, weight_M: torch.Tensor
) -> torch.Tensor:
    """rho (M,) at the weight that a branch trains with, in any of its states (source paper, table 2)."""
    return read_sizes(flat_MP, tokens_BT, skip_M, shape, [kind], healthy).rho(kind, weight_M)


def random_direction(like_P: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A direction (P,) of length 1, uniform on the sphere."""
    direction = torch.randn(like_P.shape, generator=generator, dtype=torch.float64)
    return direction / direction.norm()


def read_lines(
    from_P: torch.Tensor,
    to_P: torch.Tensor,
    tokens_BT: torch.Tensor,
    skip: float,
    shape: Shape,
    kinds: Sequence[str],
    healthy: float,
    added: float,
    shares: Sequence[float],
    generator: torch.Generator,
) -> dict[str, Line]:
    """rho of each term along the straight line to `to` and along a random direction of the same length (source paper, figure 6).

    The skip scale and each term's weight stay those of the first state, where the term adds `added` nats.
    """
    start, way = from_P.double(), to_P.double() - from_P.double()
    aside = way.norm() * random_direction(start, generator)

    def sizes(share: float, direction_P: torch.Tensor) -> Sizes:
        return read_sizes((start + share * direction_P)[None], tokens_BT, torch.tensor([skip]), shape, kinds, healthy)

    weights = {kind: sizes(0.0, way).weight(kind, added) for kind in kinds}
    lines = [[sizes(share, direction) for share in shares] for direction in (way, aside)]
    return {kind: Line(*([at.rho(kind, weights[kind]).item() for at in line] for line in lines)) for kind in kinds}
