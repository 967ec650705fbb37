"""The honest rival of the engine: one network at a time, as anyone would write it in PyTorch.

`nn.Module`, SDPA, `torch.optim.AdamW(fused=True)`, `clip_grad_norm_`, the stable rank of a probe batch every ten steps.
Architecture, shapes, data and threads are the engine's.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    """Causal attention with RMS-normalised queries and keys."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x_BTD: torch.Tensor) -> torch.Tensor:
        batch, length, width = x_BTD.shape
        q, k, v = self.qkv(x_BTD).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = (F.rms_norm(x, x.shape[-1:], eps=1e-6) for x in (q, k))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Pre-LN block whose skip connections are scaled."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.ln_attention = nn.LayerNorm(width, eps=1e-6, bias=False)
        self.attention = Attention(width, heads)
        self.ln_mlp = nn.LayerNorm(width, eps=1e-6, bias=False)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width, bias=False), nn.GELU(), nn.Linear(4 * width, width, bias=False))

    def forward(self, x_BTD: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        x_BTD = skip * x_BTD + self.attention(self.ln_attention(x_BTD))
        return skip * x_BTD + self.mlp(self.ln_mlp(x_BTD))


class Decoder(nn.Module):
    """Decoder with tied embeddings and learned positions."""

    def __init__(self, depth: int, width: int, heads: int, context: int, vocabulary: int):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.ln_final = nn.LayerNorm(width, eps=1e-6, bias=False)
        for weight in self.parameters():
            if weight.ndim > 1:
                nn.init.normal_(weight, 0.0, 0.02)

    def last(self, tokens_BT: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        """The residual stream after the last block (B, T, D)."""
        x = self.tokens(tokens_BT) + self.positions.weight[: tokens_BT.shape[1]]
        for block in self.blocks:
            x = block(x, skip)
        return x

    def forward(self, tokens_BT: torch.Tensor, targets_BT: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        logits = F.linear(self.ln_final(self.last(tokens_BT, skip)), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets_BT.flatten())


def make_optimiser(network: nn.Module) -> torch.optim.AdamW:
    """AdamW in its fastest implementation; gains do not decay."""
    groups = [{"params": [w for w in network.parameters() if (w.ndim > 1) == decays], "weight_decay": 0.1 * decays} for decays in (True, False)]
    return torch.optim.AdamW(groups, lr=2e-3, betas=(0.9, 0.95), eps=1e-8, fused=True)


def train_step(network: nn.Module, optimiser: torch.optim.Optimizer, batch_BT: torch.Tensor, skip: torch.Tensor) -> None:
    """One step on a batch (B, T+1)."""
    optimiser.zero_grad(set_to_none=True)
    network(batch_BT[:, :-1], batch_BT[:, 1:], skip).backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()


@torch.no_grad()
def stable_rank(network: Decoder, probe_BT: torch.Tensor, skip: torch.Tensor) -> float:
    """Mean stable rank of the centred last block's token matrices."""
    x = network.last(probe_BT[:, :-1], skip).double()
    x = x - x.mean(-2, keepdim=True)
    sigma = torch.linalg.svdvals(x)
    return (sigma.square().sum(-1) / sigma[:, 0].square()).mean().item()
