"""What is read from the attention of a network head by head: the spectrum of its query-key product, and its maps on a probe batch.

Shapes: M models, L blocks, H heads, D width, K head size. The product of a head is diag(g) W_q W_k^T diag(g), g the gain of the layer norm
before it, times what queries times keys are multiplied with (1 / sqrt(K); with a learned scale that scale over K). It is never formed: its
singular values are those of R_q R_k^T (K, K), R the triangular factors of diag(g) W_q and diag(g) W_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import torch

from rankcollapse.kernel import share_out
from rankcollapse.maps import Modes, compute_entropy, compute_map_rank, judge_modes
from rankcollapse.model import QUERY_KEY, Shape, attention_scores, block_step, block_weights, embed, views

TOP_SHARE = 10 / 64
"""Of a head's directions: the source's "fewer than 10 directions" of heads of 64."""
ENERGY = 0.9
"""Share of the energy that `directions` counts the directions of."""

Read = TypeVar("Read", bound=tuple)


class Spectra(NamedTuple):
    """Per block, model and head (L, M, H), from the weights alone."""

    sec: torch.Tensor
    """Spectral energy concentration SEC(K, s), s = `count_top(K)`."""
    directions: torch.Tensor
    """Directions that hold `ENERGY` of the energy."""
    sigma: torch.Tensor
    """Largest singular value of the product."""


class Maps(NamedTuple):
    """Per block, model and head (L, M, H), from a forward pass on a probe batch; means over its sequences, but for the logit."""

    entropy: torch.Tensor
    """Normalised by rows."""
    rank: torch.Tensor
    """Relative stable rank."""
    benign: torch.Tensor
    """Share of the single maps that are sparse and not low-rank."""
    malignant: torch.Tensor
    """Share of the single maps that are sparse and low-rank."""
    logit: torch.Tensor
    """The largest logit of a key that a query sees, its scale included."""


class Heads(NamedTuple):
    """All that is read head by head."""

    spectra: Spectra
    maps: Maps

    @property
    def modes(self) -> Modes:
        """The mode of each head by the means of its maps."""
        return judge_modes(self.maps.entropy, self.maps.rank)


def count_top(head_size: int) -> int:
    """The s of SEC that goes with a head size: 10 of 64, at least 1."""
    return max(1, round(TOP_SHARE * head_size))


def compute_sec(sigma: torch.Tensor, top: int) -> torch.Tensor:
    """SEC(., top): share of the squared singular values (..., K) that the largest hold; 1 for a product of zero (KAT: 4, 2, 1)."""
    energy = scale_energy(sigma)
    whole = energy.sum(-1)
    return torch.where(whole > 0, energy[..., :top].sum(-1) / whole, torch.where(whole.isnan(), torch.nan, 1.0))


def count_directions(sigma: torch.Tensor, share: float = ENERGY) -> torch.Tensor:
    """The fewest directions that hold so large a share of the squared singular values (..., K); 1 for a product of zero."""
    energy = scale_energy(sigma)
    held = energy.cumsum(-1) / energy.sum(-1, keepdim=True).clamp_min(torch.finfo(energy.dtype).tiny)
    return ((held < share - 1e-12) & (energy.sum(-1, keepdim=True) > 0)).sum(-1) + 1


def scale_energy(sigma: torch.Tensor) -> torch.Tensor:
    """Squared singular values (..., K), largest first, over the largest, so that none overflows; float64."""
    values = sigma.double().sort(-1, descending=True).values
    return (values / values[..., :1].clamp_min(torch.finfo(values.dtype).tiny)).square()


def multiply_spectra(left_ADK: torch.Tensor, right_ADK: torch.Tensor) -> torch.Tensor:
    """Singular values (A, K) of left right^T, largest first, in float64; NaN where a factor is not finite."""
    left, right = left_ADK.double(), right_ADK.double()
    finite = (left.isfinite() & right.isfinite()).all(-1).all(-1)[..., None]
    factors = (torch.linalg.qr(torch.where(finite[..., None], each, 0.0), mode="r").R for each in (left, right))
    first, second = factors
    return torch.where(finite, torch.linalg.svdvals(first @ second.transpose(-1, -2)), torch.nan)


def draw_sec(width: int, head_size: int, generator: torch.Generator, top: int | None = None, draws: int = 100) -> float:
    """Mean SEC over so many products of two Gaussian matrices (width, head size): what a head has that has learnt nothing."""
    pairs = torch.randn(2, draws, width, head_size, generator=generator, dtype=torch.float64)
    return compute_sec(multiply_spectra(*pairs), count_top(head_size) if top is None else top).mean().item()


def head_factors(named: dict[str, torch.Tensor], index: int, shape: Shape) -> tuple[torch.Tensor, torch.Tensor]:
    """Query and key weights (M, H, D, K) of a block in float64, the gain of its layer norm folded in."""
    weight = named[f"block{index}.ln_attention"].double().unsqueeze(-1) * named[f"block{index}.qkv"].double()
    q, k, _ = weight.view(-1, shape.width, 3, shape.heads, shape.head_size).permute(2, 0, 3, 1, 4).unbind(0)
    return q, k


def head_scale(named: dict[str, torch.Tensor], index: int, kind: str, shape: Shape) -> torch.Tensor:
    """What queries times keys are multiplied with (M, H)."""
    rule, learned = QUERY_KEY[kind], named[f"block{index}.qk_scale"].double()
    return (learned if rule.learned else torch.ones_like(learned)) * rule.scale(shape.head_size)


def read_spectrum(flat_P: torch.Tensor, kind: str, shape: Shape) -> Spectra:
    """The spectra of one network, (L, H). Where queries and keys are normalised they are those of the weights, which then bound nothing."""
    named, blocks = views(flat_P[None], shape), range(shape.depth)
    factors = [torch.stack(parts) for parts in zip(*(head_factors(named, index, shape) for index in blocks))]
    sigma = multiply_spectra(*(part.squeeze(1) for part in factors))
    scale = torch.cat([head_scale(named, index, kind, shape) for index in blocks])
    return Spectra(compute_sec(sigma, count_top(shape.head_size)), count_directions(sigma), sigma[..., 0] * scale.abs())


def read_map(flat_P: torch.Tensor, tokens_BT: torch.Tensor, skip: torch.Tensor, kind: str, shape: Shape) -> Maps:
    """The maps of one network, (L, H), on a probe batch (B, T+1), from a forward pass in the weights' precision.

    Single precision is enough while tokens differ: entropies, ranks and logits then agree with double precision to 1e-5.
    """
    named, batch, skip_M = views(flat_P[None], shape), tokens_BT[None, :, :-1], skip.view(1)
    x, found = embed(named, batch, shape), []
    for index in range(shape.depth):
        weights = block_weights(named, index)
        scores = attention_scores(x, weights, [kind], shape, len(tokens_BT))
        found.append(summarise_maps(scores.softmax(-1)[0], scores[0].amax((0, 2, 3))))
        x = block_step(x, weights, skip_M, [kind], shape, len(tokens_BT))
    return Maps(*map(torch.stack, zip(*found)))


def summarise_maps(maps_BHTT: torch.Tensor, logit_H: torch.Tensor) -> Maps:
    """One block's maps, over its sequences (H,)."""
    entropy, rank = compute_entropy(maps_BHTT), compute_map_rank(maps_BHTT)
    modes = judge_modes(entropy, rank)
    return Maps(*(each.double().mean(0) for each in (entropy, rank, *modes)), logit_H.double())


def each_model(read: Callable[[int], Read], models: int, device: torch.device) -> Read:
    """A reading of every model, each on its own so that none depends on its neighbours, (L, H) to (L, M, H); on a CPU in the kernel's threads."""
    found: list[Read | None] = [None] * models

    @torch.no_grad()
    def work(part: slice) -> int:
        for index in range(part.start, part.stop):
            found[index] = read(index)
        return 1

    share_out(models, work) if device.type == "cpu" else work(slice(0, models))
    kept = [each for each in found if each is not None]
    return type(kept[0])(*(torch.stack(parts, 1) for parts in zip(*kept)))


def read_spectra(flat_MP: torch.Tensor, kinds: Sequence[str], shape: Shape) -> Spectra:
    """The spectra of every model."""
    return each_model(lambda index: read_spectrum(flat_MP[index], kinds[index], shape), len(flat_MP), flat_MP.device)


def read_maps(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape) -> Maps:
    """The maps of every model on a probe batch (B, T+1)."""
    if flat_MP.device.type == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = False
    return each_model(lambda index: read_map(flat_MP[index], tokens_BT, skip_M[index], kinds[index], shape), len(flat_MP), flat_MP.device)


def read_heads(flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape) -> Heads:
    """Spectra and maps of every block, model and head (L, M, H)."""
    return Heads(read_spectra(flat_MP, kinds, shape), read_maps(flat_MP, tokens_BT, skip_M, kinds, shape))


def average(values_LMH: torch.Tensor) -> torch.Tensor:
    """Mean over blocks and heads (M,); each model's sum on its own, so that its last bit does not depend on its neighbours."""
    return torch.stack([values.flatten().mean() for values in values_LMH.unbind(1)])


FROM_SPECTRA: dict[str, Callable[[Spectra], torch.Tensor]] = {
    "sec_max": lambda found: found.sec.amax((0, 2)),
    "sec_mean": lambda found: average(found.sec),
    "sigma_max": lambda found: found.sigma.amax((0, 2)),
}
FROM_MAPS: dict[str, Callable[[Maps], torch.Tensor]] = {
    "entropy_mean": lambda found: average(found.entropy),
    "entropy_min": lambda found: found.entropy.amin((0, 2)),
    "logit_max": lambda found: found.logit.amax((0, 2)),
    "map_rank_min": lambda found: found.rank.amin((0, 2)),
}
"""From heads to one number a network (M,)."""


def read_network(
    names: Sequence[str], flat_MP: torch.Tensor, tokens_BT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape
) -> dict[str, torch.Tensor]:
    """Readings (M,) of these names; factors and maps are computed once for all of them, and only if one needs them."""
    values: dict[str, torch.Tensor] = {}
    if wanted := [name for name in names if name in FROM_SPECTRA]:
        spectra = read_spectra(flat_MP, kinds, shape)
        values |= {name: FROM_SPECTRA[name](spectra) for name in wanted}
    if wanted := [name for name in names if name in FROM_MAPS]:
        maps = read_maps(flat_MP, tokens_BT, skip_M, kinds, shape)
        values |= {name: FROM_MAPS[name](maps) for name in wanted}
    return values
