"""Attention maps: known answers of entropy, stable rank and mode, and the entropy bound against its extremal row."""

from __future__ import annotations

from math import exp, log, sqrt

import pytest
import torch

from rankcollapse import maps
from rankcollapse.engine import prepare_threads

T = 64


def causal(weights_TT: torch.Tensor) -> torch.Tensor:
    """A causal map whose rows are proportional to the lower triangle."""
    lower = weights_TT.double().tril()
    return lower / lower.sum(-1, keepdim=True)


def one_column(column: int = 0) -> torch.Tensor:
    """All rows on one column."""
    return torch.eye(T, dtype=torch.float64)[[column] * T]


UNIFORM = causal(torch.ones(T, T))
KNOWN = {
    "identity": (torch.eye(T, dtype=torch.float64), True, 0.0, 1.0, "benign"),
    "identity, both ways": (torch.eye(T, dtype=torch.float64), False, 0.0, 1.0, "benign"),
    "previous token": (torch.eye(T, dtype=torch.float64)[[0, *range(T - 1)]], True, 0.0, 1 / 2, "benign"),
    "one column": (one_column(), True, 0.0, 1 / T, "malignant"),
    "one column, both ways": (one_column(5), False, 0.0, 1 / T, "malignant"),
    "uniform": (UNIFORM, True, 1.0, None, "neither"),
    "uniform, both ways": (torch.full((T, T), 1 / T, dtype=torch.float64), False, 1.0, 1 / T, "neither"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_maps(name):
    """The identity is benign (entropy 0, stable rank T), one column malignant (0, 1), an even map neither (entropy 1)."""
    found, masked, entropy, rank, mode = KNOWN[name]
    assert torch.allclose(found.sum(-1), torch.ones(T, dtype=torch.float64))
    assert maps.compute_entropy(found, masked).item() == pytest.approx(entropy, abs=1e-12)
    sigma = torch.linalg.svdvals(found)
    expected = (sigma.square().sum() / sigma[0].square() / T).item() if rank is None else rank
    assert maps.compute_map_rank(found).item() == pytest.approx(expected, rel=1e-10)
    assert maps.compute_map_rank(found.float()).item() == pytest.approx(expected, rel=3e-6)
    assert maps.judge_modes(maps.compute_entropy(found, masked), maps.compute_map_rank(found)).name() == mode


def test_rank_of_two_even_rows():
    """Rows (1, 0) and (1/2, 1/2): |A|^2 = 3/2, sigma_1^2 = (3 + sqrt 5) / 4, so the stable rank is 6 / (3 + sqrt 5) of 2."""
    assert maps.compute_map_rank(causal(torch.ones(2, 2))).item() == pytest.approx(3 / (3 + sqrt(5)), rel=1e-12)


def test_one_hot_rank_is_one_over_the_most_popular_key():
    """One-hot rows: one over the number of rows that share the key most of them choose; the threshold lies at ten rows."""
    chosen = torch.zeros(T, T, dtype=torch.float64)
    for rows, mode in ((9, "benign"), (10, "malignant"), (40, "malignant")):
        chosen.copy_(torch.eye(T))
        chosen[-rows:] = torch.eye(T, dtype=torch.float64)[T - rows]
        assert maps.compute_map_rank(chosen).item() == pytest.approx(1 / rows, rel=1e-12)
        assert maps.judge_modes(maps.compute_entropy(chosen), maps.compute_map_rank(chosen) - 1e-12).name() == mode


def test_random_one_hot_maps_are_not_low_rank():
    """Rows that choose a visible key at random have a relative stable rank of about 0.2: the threshold does not catch them."""
    generator = torch.Generator().manual_seed(0)
    keys = (torch.rand(200, T, generator=generator) * torch.arange(1, T + 1)).long()
    ranks = maps.compute_map_rank(torch.nn.functional.one_hot(keys, T).double())
    assert 0.15 < ranks.mean() < 0.25 and (ranks > maps.LOW_RANK).double().mean() > 0.95


def test_thresholds_are_arguments_and_modes_are_counted():
    """Other thresholds judge otherwise; counts add up; what is not finite is neither and does not hide its neighbours."""
    three = torch.stack([torch.eye(T, dtype=torch.float64), one_column(), UNIFORM, torch.full((T, T), torch.nan, dtype=torch.float64)])
    entropy, rank = maps.compute_entropy(three), maps.compute_map_rank(three)
    assert rank[3].isnan() and rank[:3].isfinite().all()
    assert maps.judge_modes(entropy, rank).count() == {"benign": 1, "malignant": 1, "neither": 2}
    assert maps.judge_modes(entropy, rank, sparse=1.0).count() == {"benign": 1, "malignant": 2, "neither": 1}
    assert maps.judge_modes(entropy, rank, low_rank=1.0).count() == {"benign": 0, "malignant": 2, "neither": 2}


def closed_map(seed: int, strength: float) -> torch.Tensor:
    """A causal map in single precision from logits of rank two and great strength: its rows see hardly more than one key."""
    generator = torch.Generator().manual_seed(seed)
    queries, keys = (torch.randn(T, 2, generator=generator) for _ in range(2))
    return (strength * queries @ keys.T).masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf).softmax(-1)


@pytest.fixture
def double_alone(monkeypatch):
    """Eigenvalues as if single precision gave up on every matrix; the precisions in which they were asked for, in turn."""
    asked, found = [], torch.linalg.eigvalsh

    def give_up(matrices: torch.Tensor) -> torch.Tensor:
        asked.append(matrices.dtype)
        if matrices.dtype == torch.float32:
            raise torch.linalg.LinAlgError("failed to converge")
        return found(matrices)

    monkeypatch.setattr(torch.linalg, "eigvalsh", give_up)
    return asked


def test_double_precision_where_single_gives_up(double_alone):
    """[[2, 1], [1, 2]] and 3 I have 3 as their largest eigenvalue, diag(1, 5) 5, in the precision of what was given; the rank of a map follows."""
    matrices = torch.tensor([[[2.0, 1.0], [1.0, 2.0]], [[3.0, 0.0], [0.0, 3.0]], [[1.0, 0.0], [0.0, 5.0]]])
    found = maps.find_top(matrices)
    assert found.tolist() == pytest.approx([3, 3, 5], rel=1e-7) and found.dtype == torch.float32 and double_alone == [torch.float32, torch.float64]
    assert maps.compute_map_rank(one_column().float()).item() == pytest.approx(1 / T, rel=3e-6)


def test_a_matrix_that_double_gives_up_on_is_an_error(monkeypatch):
    """It is not tried a third time."""
    def give_up(matrices: torch.Tensor) -> torch.Tensor:
        raise torch.linalg.LinAlgError("failed to converge")

    monkeypatch.setattr(torch.linalg, "eigvalsh", give_up)
    with pytest.raises(torch.linalg.LinAlgError):
        maps.find_top(torch.eye(2))


def test_where_single_does_not_give_up_its_value_is_kept():
    """Bit for bit that of the single precision, with no detour."""
    weights = torch.rand(5, T, T, generator=torch.Generator().manual_seed(0))
    gram = weights.transpose(1, 2) @ weights
    assert torch.equal(maps.find_top(gram), torch.linalg.eigvalsh(gram)[..., -1])


@pytest.fixture
def subnormal():
    """Numbers below 1e-38 as they are; the study's processes take them for 0."""
    torch.set_flush_denormal(False)
    yield
    prepare_threads()


@pytest.mark.parametrize(("seed", "strength"), [(1, 100.0), (2, 100.0), (69, 100.0), (94, 500.0), (104, 500.0)])
def test_closed_maps_have_a_rank(seed, strength, subnormal):
    """Those on whose Gram matrix, with subnormal entries, one LAPACK's single precision gave up, beside others that it took."""
    found = torch.stack([closed_map(other, strength) for other in (seed, seed + 200)])
    sigma = torch.linalg.svdvals(found.double())
    expected = sigma.square().sum(-1) / sigma[:, 0].square() / T
    assert maps.compute_map_rank(found).tolist() == pytest.approx(expected.tolist(), rel=3e-6)


def extremal(tokens: int, sigma: float) -> float:
    """Entropy of the softmax of one logit at sigma sqrt((T-1)/T) and the rest at -sigma / sqrt(T (T-1)): norm sigma, sum 0."""
    logits = torch.full((tokens,), -sigma / sqrt(tokens * (tokens - 1)), dtype=torch.float64)
    logits[0] = sigma * sqrt((tokens - 1) / tokens)
    assert logits.norm().item() == pytest.approx(sigma)
    return torch.special.entr(logits.softmax(0)).sum().item()


@pytest.mark.parametrize(("tokens", "sigma", "expected"), [(4, 2.0, 0.7909450706), (256, 10.0, 0.1237581), (7, 0.0, log(7))])
def test_entropy_bound(tokens, sigma, expected):
    """KAT-9: the bound's values, which its extremal row reaches."""
    assert maps.bound_entropy(tokens, sigma) == pytest.approx(expected, abs=5e-8 if tokens == 256 else 1e-10)
    assert extremal(tokens, sigma) == pytest.approx(maps.bound_entropy(tokens, sigma), abs=1e-12)


def test_no_row_lies_below_the_bound():
    """Random logits of norm 2 over 4 keys never have less entropy, and come within a thousandth of the bound."""
    logits = torch.randn(200_000, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    entropy = torch.special.entr((2 * logits / logits.norm(dim=1, keepdim=True)).softmax(-1)).sum(-1)
    bound = maps.bound_entropy(4, 2.0)
    assert bound <= entropy.min() < bound + 1e-3
    assert maps.bound_entropy(4, 2.0) < log(4) and exp(maps.bound_entropy(64, 60.0)) == pytest.approx(1, abs=1e-9)
