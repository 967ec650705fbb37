"""What an attention map shows: its normalised entropy, its stable rank, and which of two kinds of sparseness it has.

Shapes: A maps, T tokens; a map's rows are queries, its columns keys, and every row adds up to one.
"""

from __future__ import annotations

from math import exp, log1p, sqrt
from typing import Literal, NamedTuple

import torch

SPARSE = 0.1
"""Normalised entropy up to which a map counts as sparse: at 64 tokens a third of a nat a row, 1.4 keys; healthy heads lie well above."""
LOW_RANK = 0.1
"""Relative stable rank up to which it counts as low-rank. A one-hot map has one over the rows that its most popular key takes: 1 if each
row has a key of its own, about 0.2 where the rows of 64 tokens choose at random, 0.1 where one key takes ten rows, 1 / T where it takes all."""

MODES = ("benign", "malignant", "neither")
Mode = Literal["benign", "malignant", "neither"]


class Modes(NamedTuple):
    """Whether maps are sparse and not low-rank (benign), or sparse and low-rank (malignant); most are neither."""

    benign: torch.Tensor
    malignant: torch.Tensor

    def count(self) -> dict[Mode, int]:
        """How many are of each mode."""
        benign, malignant = int(self.benign.sum()), int(self.malignant.sum())
        return {"benign": benign, "malignant": malignant, "neither": self.benign.numel() - benign - malignant}

    def name(self, *place: int) -> Mode:
        """The mode at one place."""
        return "benign" if self.benign[place] else "malignant" if self.malignant[place] else "neither"


def normalise_entropy(maps_ATT: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both normalised entropies (A,) of causal maps: mean over rows of entropy over the log of the keys a row sees, and sum over sum.

    The first row sees one key and is left out (KAT-10).
    """
    entropy = torch.special.entr(maps_ATT).sum(-1)[..., 1:]
    most = torch.arange(2, maps_ATT.shape[-1] + 1, device=entropy.device, dtype=entropy.dtype).log()
    return (entropy / most).mean(-1), entropy.sum(-1) / most.sum()


def compute_entropy(maps_ATT: torch.Tensor, causal: bool = True) -> torch.Tensor:
    """Normalised entropy (A,) per row: 1 where every row spreads evenly over the keys it sees, 0 where each sees one alone."""
    if causal:
        return normalise_entropy(maps_ATT)[0]
    keys = torch.tensor(float(maps_ATT.shape[-1]), device=maps_ATT.device, dtype=maps_ATT.dtype)
    return torch.special.entr(maps_ATT).sum(-1).mean(-1) / keys.log()


def compute_map_rank(maps_ATT: torch.Tensor) -> torch.Tensor:
    """Relative stable rank |A|_F^2 / sigma_1^2 / T (A,), uncentred: 1 for the identity, 1 / T where all rows are alike.

    From the Gram matrix, in the maps' precision (float32: 2e-6 relative); NaN for a map that is not finite.
    """
    gram = maps_ATT.transpose(-1, -2) @ maps_ATT
    finite = gram.sum((-2, -1)).isfinite()
    top = find_top(torch.where(finite[..., None, None], gram, 1.0))
    return torch.where(finite, gram.diagonal(dim1=-2, dim2=-1).sum(-1) / top / maps_ATT.shape[-1], torch.nan)


def find_top(gram_ATT: torch.Tensor) -> torch.Tensor:
    """The largest eigenvalue (A,) of symmetric matrices; in double precision where single gives up, as it does on some closed maps."""
    try:
        return torch.linalg.eigvalsh(gram_ATT)[..., -1]
    except torch.linalg.LinAlgError:
        return torch.linalg.eigvalsh(gram_ATT.double())[..., -1].to(gram_ATT.dtype)


def judge_modes(entropy: torch.Tensor, rank: torch.Tensor, sparse: float = SPARSE, low_rank: float = LOW_RANK) -> Modes:
    """The mode of each map (or head, from its means) by its normalised entropy and relative stable rank; NaN is neither."""
    sparse_ones = entropy <= sparse
    return Modes(sparse_ones & (rank > low_rank), sparse_ones & (rank <= low_rank))


def bound_entropy(tokens: int, sigma: float) -> float:
    """The least entropy in nats of a softmax over `tokens` logits of norm sigma (Zhai et al. 2023, theorem 3.1; KAT-9).

    In the theorem sigma is |W_K W_Q^T|_2 |X X^T|_2, which bounds the norm of a row of logits.
    """
    others = tokens - 1
    beta = exp(-sigma * sqrt(tokens / others))
    return log1p(others * beta) + sigma * sqrt(tokens * others) * beta / (1 + others * beta)
