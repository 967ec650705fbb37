"""The stacked pre-LN decoder: M networks of one shape, trained and read along a leading model axis.

Shapes: M models, B sequences, T tokens, D width, H heads, V vocabulary, L blocks. Tied embeddings, learned positions,
RMS-normalised queries and keys, no biases. Each block computes x <- a x + Attn(LN x), x <- a x + MLP(LN x), where the
skip scale a belongs to the run (source paper, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import log2, prod, sqrt
from typing import NamedTuple

import torch
import torch.nn.functional as F

EPSILON_NORM = 1e-6
LOGITS = 2**26
"""Most logits that exist at a time."""
BLOCK = ("ln_attention", "qkv", "qk_scale", "attention_out", "ln_mlp", "mlp_in", "mlp_out")


class QueryKey(NamedTuple):
    """What happens to queries and keys before their product: RMS normalisation or none, and the product's scale."""

    normalised: bool
    learned: bool
    """Whether the scale is a weight, one a head; then `scale` multiplies it."""
    scale: Callable[[int], float]
    """From the size of a head."""

    def numbers(self, size: int) -> tuple[float, float, float]:
        """All three, for heads of this size."""
        return float(self.normalised), float(self.learned), self.scale(size)


QUERY_KEY = {
    "rms": QueryKey(True, False, lambda size: size**-0.5),
    "l2": QueryKey(True, True, lambda size: 1 / size),  # a unit vector is an RMS-normalised one over the root of its size
    "none": QueryKey(False, False, lambda size: size**-0.5),
    "clip": QueryKey(False, False, lambda size: size**-0.5),  # as none; the engine scales weights down after a step
}


@dataclass(frozen=True)
class Shape:
    """The shape that all networks of a stack share."""

    depth: int
    width: int
    heads: int
    context: int
    vocabulary: int

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every weight of one network, in the order in which they lie in memory: matrices, then gains."""
        width, blocks = self.width, range(self.depth)
        matrices = {"qkv": (width, 3 * width), "attention_out": (width, width), "mlp_in": (width, 4 * width), "mlp_out": (4 * width, width)}
        gains = {"ln_attention": (width,), "ln_mlp": (width,), "qk_scale": (self.heads,)}
        return {
            "tokens": (self.vocabulary, width),
            "positions": (self.context, width),
            **{f"block{index}.{name}": shape for index in blocks for name, shape in matrices.items()},
            **{f"block{index}.{name}": shape for index in blocks for name, shape in gains.items()},
            "ln_final": (width,),
        }

    @property
    def head_size(self) -> int:
        """Width of one head."""
        return self.width // self.heads

    @cached_property
    def matrices(self) -> int:
        """Weights of one network that lie in matrices; these decay, gains do not."""
        return sum(prod(shape) for shape in self.parameters().values() if len(shape) > 1)

    @cached_property
    def size(self) -> int:
        """Weights of one network."""
        return sum(prod(shape) for shape in self.parameters().values())


def views(flat_MP: torch.Tensor, shape: Shape) -> dict[str, torch.Tensor]:
    """The weights of a stack as named views (M, ...) into one flat tensor (M, P)."""
    named, start = {}, 0
    for name, dims in shape.parameters().items():
        named[name] = flat_MP[:, start : start + prod(dims)].view(-1, *dims)
        start += prod(dims)
    return named


def initialise(shape: Shape, seed: int, std: float, query_key: str = "rms") -> torch.Tensor:
    """Initial weights (P,) of one network: N(0, std^2), projections into the residual stream divided by sqrt(2 L), gains one.

    A learned query-key scale starts at log2(T^2 - T) (Henry et al. 2020).
    """
    generator = torch.Generator().manual_seed(seed)
    flat = torch.empty(1, shape.size)
    for name, weight in views(flat, shape).items():
        kind = name.rpartition(".")[2]
        if kind == "qk_scale" and QUERY_KEY[query_key].learned:
            weight.fill_(log2(shape.context**2 - shape.context))
        elif kind.startswith(("ln", "qk_scale")):
            weight.fill_(1.0)
        else:
            scale = std / sqrt(2 * shape.depth) if kind in ("attention_out", "mlp_out") else std
            weight.normal_(0.0, scale, generator=generator)
    return flat[0]


def normalise(x: torch.Tensor) -> torch.Tensor:
    """Layer normalisation over the last axis, without gain."""
    return F.layer_norm(x, x.shape[-1:], eps=EPSILON_NORM)


def project(x_MND: torch.Tensor, weight_MDE: torch.Tensor, gain_MD: torch.Tensor | None = None) -> torch.Tensor:
    """Per-model matrix product; a gain on the input is folded into the weight, which is smaller than the activations."""
    return torch.bmm(x_MND, weight_MDE if gain_MD is None else gain_MD.unsqueeze(-1) * weight_MDE)


def heads(
    x_MND: torch.Tensor, scale_MH: torch.Tensor, kinds: Sequence[str], shape: Shape, sequences: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values from (M, B*T, 3D), each (M*B, H, T, D/H), ready for a product without a scale."""
    models, rows = x_MND.shape[:2]
    size = shape.head_size
    q, k, v = x_MND.view(models * sequences, rows // sequences, 3, shape.heads, size).permute(2, 0, 3, 1, 4).unbind(0)
    q, k = (treat(x, kinds, size) for x in (q, k))
    if all(not QUERY_KEY[kind].learned for kind in kinds):
        return q * size**-0.5, k, v
    learned, constant = treatment(tuple(kinds), size, q.dtype, q.device)[1:]
    factor = torch.where(learned, scale_MH, 1.0) * constant
    return q * factor.repeat_interleave(sequences, 0)[..., None, None], k, v


@cache
def treatment(kinds: tuple[str, ...], size: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """For each model (M, 1): whether queries and keys are normalised, whether the scale is learned, and its constant."""
    numbers = torch.tensor([QUERY_KEY[kind].numbers(size) for kind in kinds], dtype=dtype).to(device)
    return numbers[:, :1] > 0, numbers[:, 1:2] > 0, numbers[:, 2:]


def treat(x: torch.Tensor, kinds: Sequence[str], size: int) -> torch.Tensor:
    """RMS-normalised rows for the models whose kind says so; (M*B, H, T, D/H)."""
    chosen = [QUERY_KEY[kind].normalised for kind in kinds]
    if not any(chosen):
        return x
    unit = F.rms_norm(x, (size,), eps=EPSILON_NORM)
    if all(chosen):
        return unit
    normalised = treatment(tuple(kinds), size, x.dtype, x.device)[0]
    return torch.where(normalised.repeat_interleave(len(x) // len(kinds), 0)[..., None, None], unit, x)


def block_step(
    x_MND: torch.Tensor, weights: dict[str, torch.Tensor], skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape, sequences: int
) -> torch.Tensor:
    """One block: attention and MLP, each beside a skip connection scaled by `skip_M`."""
    skip = skip_M.view(-1, 1, 1)
    q, k, v = heads(project(normalise(x_MND), weights["qkv"], weights["ln_attention"]), weights["qk_scale"], kinds, shape, sequences)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0).transpose(1, 2).reshape(x_MND.shape)
    x_MND = torch.addcmul(project(mixed, weights["attention_out"]), x_MND, skip)
    hidden = F.gelu(project(normalise(x_MND), weights["mlp_in"], weights["ln_mlp"]))
    return torch.addcmul(project(hidden, weights["mlp_out"]), x_MND, skip)


def block_weights(named: dict[str, torch.Tensor], index: int) -> dict[str, torch.Tensor]:
    """The weights of one block, by their short names."""
    return {name: named[f"block{index}.{name}"] for name in BLOCK}


def embed(named: dict[str, torch.Tensor], tokens_MBT: torch.Tensor, shape: Shape) -> torch.Tensor:
    """Token plus position embeddings (M, B*T, D)."""
    models, sequences, length = tokens_MBT.shape
    offset = torch.arange(models, device=tokens_MBT.device).view(-1, 1, 1) * shape.vocabulary
    x = F.embedding(tokens_MBT + offset, named["tokens"].reshape(-1, shape.width)) + named["positions"][:, None, :length]
    return x.reshape(models, sequences * length, shape.width)


def residual_stream(
    named: dict[str, torch.Tensor], tokens_MBT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape
) -> list[torch.Tensor]:
    """The residual stream after each block, before the final norm: L tensors (M, B*T, D)."""
    x = embed(named, tokens_MBT, shape)
    stream = []
    for index in range(shape.depth):
        x = block_step(x, block_weights(named, index), skip_M, kinds, shape, tokens_MBT.shape[1])
        stream.append(x)
    return stream


def token_losses(named: dict[str, torch.Tensor], last_MND: torch.Tensor, targets_MBT: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy (M,) in nats per token, from the last block's residual stream."""
    return TiedLoss.apply(normalise(last_MND) * named["ln_final"].unsqueeze(1), named["tokens"], targets_MBT.flatten(1))


class TiedLoss(torch.autograd.Function):
    """Mean cross-entropy (M,) of x E^T against targets, a few rows at a time: all logits never exist at once.

    x (M, N, D), E (M, V, D), targets (M, N). Gradients are computed on the way forward, where the logits are at hand.
    """

    @staticmethod
    def forward(ctx, x_MND: torch.Tensor, table_MVD: torch.Tensor, targets_MN: torch.Tensor) -> torch.Tensor:
        models, rows, _ = x_MND.shape
        losses, dx, dtable = x_MND.new_zeros(models), torch.empty_like(x_MND), torch.zeros_like(table_MVD)
        chunk = max(LOGITS // (models * table_MVD.shape[1]), 1)
        for start in range(0, rows, chunk):
            part, target = x_MND[:, start : start + chunk], targets_MN[:, start : start + chunk, None]
            logits = torch.bmm(part, table_MVD.transpose(1, 2)).float() if x_MND.dtype == torch.bfloat16 else torch.bmm(part, table_MVD.transpose(1, 2))
            log_p = logits.log_softmax(-1)
            losses -= log_p.gather(-1, target).sum((1, 2)) / rows
            if any(ctx.needs_input_grad):
                d = log_p.exp_().scatter_add_(-1, target, torch.full_like(target, -1, dtype=log_p.dtype)).div_(rows).to(x_MND.dtype)
                dx[:, start : start + chunk] = torch.bmm(d, table_MVD)
                dtable.baddbmm_(d.transpose(1, 2), part)
        ctx.save_for_backward(dx, dtable)
        return losses

    @staticmethod
    def backward(ctx, dloss_M: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        dx, dtable = ctx.saved_tensors
        return dx * dloss_M.view(-1, 1, 1), dtable * dloss_M.view(-1, 1, 1), None


def attention_scores(x_MND: torch.Tensor, weights: dict[str, torch.Tensor], kinds: Sequence[str], shape: Shape, sequences: int) -> torch.Tensor:
    """The logits (M, B, H, T, T) of a block's attention, given its input; minus infinity where a key lies ahead of its query."""
    q, k, _ = heads(project(normalise(x_MND), weights["qkv"], weights["ln_attention"]), weights["qk_scale"], kinds, shape, sequences)
    scores = q @ k.transpose(-1, -2)
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    return scores.masked_fill(~mask, float("-inf")).view(x_MND.shape[0], sequences, *scores.shape[1:])


def attention_maps(x_MND: torch.Tensor, weights: dict[str, torch.Tensor], kinds: Sequence[str], shape: Shape, sequences: int) -> torch.Tensor:
    """The causal attention maps (M, B, H, T, T) of a block, given its input."""
    return attention_scores(x_MND, weights, kinds, shape, sequences).softmax(-1)
