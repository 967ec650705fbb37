"""The stacked pre-LN decoder: M networks of one shape, trained and read along a leading model axis.

Shapes: M models, B sequences, T tokens, D width, H heads, V vocabulary, L blocks. Tied embeddings, learned positions,
RMS-normalised queries and keys, no biases. Each block computes x <- a x + Attn(LN x), x <- a x + MLP(LN x), where the
skip scale a belongs to the run (source paper, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt

import torch
import torch.nn.functional as F

EPSILON_NORM = 1e-6
BLOCK = ("ln_attention", "qkv", "attention_out", "ln_mlp", "mlp_in", "mlp_out")


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
        return {
            "tokens": (self.vocabulary, width),
            "positions": (self.context, width),
            **{f"block{index}.{name}": shape for index in blocks for name, shape in matrices.items()},
            **{f"block{index}.{name}": (width,) for index in blocks for name in ("ln_attention", "ln_mlp")},
            "ln_final": (width,),
        }

    @property
    def matrices(self) -> int:
        """Weights of one network that lie in matrices; these decay, gains do not."""
        return sum(prod(shape) for shape in self.parameters().values() if len(shape) > 1)

    @property
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


def initialise(shape: Shape, seed: int, std: float) -> torch.Tensor:
    """Initial weights (P,) of one network: N(0, std^2), projections into the residual stream divided by sqrt(2 L), gains one."""
    generator = torch.Generator().manual_seed(seed)
    flat = torch.empty(1, shape.size)
    for name, weight in views(flat, shape).items():
        kind = name.rpartition(".")[2]
        if kind.startswith("ln"):
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


def heads(x_MND: torch.Tensor, shape: Shape, sequences: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys (both RMS-normalised per head) and values from (M, B*T, 3D), each (M*B, H, T, D/H)."""
    models, rows = x_MND.shape[:2]
    size = shape.width // shape.heads
    q, k, v = x_MND.view(models * sequences, rows // sequences, 3, shape.heads, size).permute(2, 0, 3, 1, 4).unbind(0)
    return F.rms_norm(q, (size,), eps=EPSILON_NORM), F.rms_norm(k, (size,), eps=EPSILON_NORM), v


def block_step(x_MND: torch.Tensor, weights: dict[str, torch.Tensor], skip_M: torch.Tensor, shape: Shape, sequences: int) -> torch.Tensor:
    """One block: attention and MLP, each beside a skip connection scaled by `skip_M`."""
    skip = skip_M.view(-1, 1, 1)
    q, k, v = heads(project(normalise(x_MND), weights["qkv"], weights["ln_attention"]), shape, sequences)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x_MND.shape)
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


def residual_stream(named: dict[str, torch.Tensor], tokens_MBT: torch.Tensor, skip_M: torch.Tensor, shape: Shape) -> list[torch.Tensor]:
    """The residual stream after each block, before the final norm: L tensors (M, B*T, D)."""
    x = embed(named, tokens_MBT, shape)
    stream = []
    for index in range(shape.depth):
        x = block_step(x, block_weights(named, index), skip_M, shape, tokens_MBT.shape[1])
        stream.append(x)
    return stream


def token_losses(named: dict[str, torch.Tensor], last_MND: torch.Tensor, targets_MBT: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy (M,) in nats per token, from the last block's residual stream."""
    models = last_MND.shape[0]
    logits = project(normalise(last_MND), (named["ln_final"].unsqueeze(1) * named["tokens"]).transpose(1, 2))
    losses = F.cross_entropy(logits.flatten(0, 1), targets_MBT.reshape(-1), reduction="none")
    return losses.view(models, -1).mean(1)


def attention_maps(x_MND: torch.Tensor, weights: dict[str, torch.Tensor], shape: Shape, sequences: int) -> torch.Tensor:
    """The causal attention maps (M, B, H, T, T) of a block, given its input."""
    q, k, _ = heads(project(normalise(x_MND), weights["qkv"], weights["ln_attention"]), shape, sequences)
    scores = q @ k.transpose(-1, -2) / sqrt(shape.width // shape.heads)
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    return scores.masked_fill(~mask, float("-inf")).softmax(-1).view(x_MND.shape[0], sequences, *scores.shape[1:])
