"""Records of attention's spectra made by hand: six plain networks and two of every other arm, judged as the stage judges them."""

from __future__ import annotations

from made_records import UNIGRAM, branch, plain
from one_set import SCALE, provenance

from audit.records import Quantity
from rankcollapse.drawn_maps import Drawing
from rankcollapse.records_spectral import DrawnMaps, SpectralChoice, SpectralResults, SpectralRow, SpectralRuns
from rankcollapse.spectral_rows import drawn_curve, norm_rows
from rankcollapse.spectral_tests import judge_spectral, survival_of

READINGS = ("sec_max", "sec_mean", "sigma_max", "entropy_min", "entropy_mean", "logit_max", "map_rank_min", "gradient_norm")
LOSSES = {"learns": (5.5, 5.3, 5.0, 4.8, 4.6, 4.4, 4.2, 4.1, 4.0), "dull": (5.5,) + (5.3,) * 8, "crashes": (5.5, 5.0, 4.5, 4.5, 4.5, 5.6, 5.6, 5.6, 5.6)}
PLAIN = ("learns", "dull", "learns", "crashes", "learns", "diverges")
"""How the plain networks go, seed by seed."""
OTHERS = {"warm_up": "learns", "low_rate": "learns", "adamw2_1": "learns", "adamw2_2": "dull", "sigma": "learns", "qk_norm": "dull", "qk_clip": "learns"}


def spectral_row(arm: str, seed: int, fate: str) -> SpectralRow:
    """One run: what learns has the lower concentration from the first step on, and a tenth of its maps benign."""
    level, diverges = 0.3 if fate == "learns" else 0.6, fate == "diverges"
    loss = LOSSES["dull" if diverges else fate]
    extra = {name: tuple(level + 0.01 * step for step in range(9)) for name in READINGS} if arm == "adamw" else {}
    row = dict(branch(arm, seed, (1.5,) * 9, start=0, every=1, loss=loss, extra=extra)) | {"diverged_at": 8 if diverges else None}
    shares = {} if diverges else {"benign": 0.1 if fate == "learns" else 0.0, "malignant": 0.0 if fate == "learns" else 0.2}
    return SpectralRow(**row, learning_rate=0.02, optimiser="adamw", query_key="none", **shares)


def spectral_runs(fates: tuple[str, ...] = PLAIN) -> SpectralRuns:
    """Runs of every arm."""
    rows = [spectral_row("adamw", seed, fate) for seed, fate in enumerate(fates)]
    rows += [spectral_row(arm, seed, fate) for arm, fate in OTHERS.items() for seed in range(2)]
    random = Quantity(value=0.31, digits=2, tolerance=0.0)
    return SpectralRuns(provenance=provenance("spectral"), depth=2, top=1, random_sec=random, unigram=UNIGRAM, extra={}, runs=tuple(rows))


def spectral_results(fates: tuple[str, ...] = PLAIN) -> SpectralResults:
    """The judgement on them; the first cap is chosen."""
    rows = [spectral_row("adamw", seed, fate) for seed, fate in enumerate(fates)]
    survival = survival_of(rows, SCALE, UNIGRAM)
    choice = SpectralChoice(
        provenance=provenance("attention"), depth=2, rates=(survival,), caps=(survival,), rate=plain(0.02), cap=plain(1), tau=plain(0.03), runs=(),
    )  # fmt: skip
    return judge_spectral(provenance("tests"), SCALE, choice, spectral_runs(fates))


def drawn_maps() -> DrawnMaps:
    """Ten maps at two strengths: tokens or product of low rank make them sparse and low-rank, neither does not."""
    curves = []
    for name, rank in {"low": 2, "full": 32}.items():
        for product in (1, 8):
            for end in ("", "_causal"):
                drawing = Drawing(tokens=64, width=32, head_size=8, token_rank=rank, product_rank=product, causal=bool(end))
                found = 1 if (name, product) == ("full", 8) else 10
                counts = [{"benign": 0, "malignant": count, "neither": 10 - count} for count in (0, found)]
                curves.append(drawn_curve(f"{name}_{product}{end}", drawing, [1.0, 100.0], counts))
    norms = [row for name, rows in {"narrow": 32, "wide": 128}.items() for row in norm_rows(name, rows, 2 * rows, (2, 3), (0.15, 0.1))]
    return DrawnMaps(provenance=provenance("drawn"), sparse=0.1, low_rank=0.1, curves=tuple(curves), norms=tuple(norms))
