"""Which weights hold the opening: one group of an aged network's weights replaced by an earlier state's, without training."""

from __future__ import annotations

from math import prod

import torch

from rankcollapse.blocks import read_predictor
from rankcollapse.model import Shape

GROUPS: dict[str, tuple[str, ...]] = {
    "embeddings": ("tokens", "positions"),
    "value_output": ("v", "attention_out"),
    "mlp": ("mlp_in", "mlp_out"),
    "norm_gains": ("ln_attention", "ln_mlp", "ln_final"),
    "query_key": ("qk", "qk_scale"),
}
"""Every weight of a network lies in exactly one group; `qk` and `v` are columns of `qkv`."""
JOINT: dict[str, tuple[str, ...]] = {"embeddings_mlp": ("embeddings", "mlp")}
"""Groups that are also swapped together."""


def mask_group(shape: Shape, group: str) -> torch.Tensor:
    """Which of the flat weights (P,) belong to a group."""
    wanted, masks = GROUPS[group], []
    for name, dims in shape.parameters().items():
        kind = name.rpartition(".")[2]
        mask = torch.full((prod(dims[:-1]), dims[-1]), kind in wanted)
        if kind == "qkv":
            mask[:, : 2 * shape.width], mask[:, 2 * shape.width :] = "qk" in wanted, "v" in wanted
        masks.append(mask.flatten())
    return torch.cat(masks)


def swap_group(weights_P: torch.Tensor, donor_P: torch.Tensor, shape: Shape, group: str) -> torch.Tensor:
    """The weights (P,) with one group taken from the donor."""
    return torch.where(mask_group(shape, group), donor_P, weights_P)


def read_swaps(weights_P: torch.Tensor, donor_P: torch.Tensor, tokens_BT: torch.Tensor, skip: float, shape: Shape) -> dict[str, float]:
    """The predictor of the weights (`none`), of the donor (`all`), and of the weights with each group from the donor, and some together."""
    whole = {"none": weights_P, "all": donor_P}
    networks = whole | {group: swap_group(weights_P, donor_P, shape, group) for group in GROUPS}
    for name, groups in JOINT.items():
        networks[name] = weights_P
        for group in groups:
            networks[name] = swap_group(networks[name], donor_P, shape, group)
    at = torch.tensor([skip], dtype=torch.float64)
    return {name: read_predictor(flat[None], tokens_BT, at, shape).item() for name, flat in networks.items()}


def restoring_groups(predictors: dict[str, float], factor: float = 3.0) -> tuple[str, ...]:
    """Groups whose swap alone brings the predictor to within a factor of the donor's; empty where it was there already."""

    def near(name: str) -> bool:
        return predictors["all"] / factor <= predictors[name] <= predictors["all"] * factor

    return () if near("none") else tuple(group for group in GROUPS if near(group))
