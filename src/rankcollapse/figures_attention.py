"""From the records of attention's spectra to their figures: who survived, what forewarned, and drawn maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankcollapse import looks
from rankcollapse.figures_spectral import ArmSurvival, Course, Predictor, Sample, draw_sampling, draw_survival, draw_warning
from rankcollapse.looks import Look
from rankcollapse.records_spectral import DrawnCurve, DrawnMaps, SpectralResults, SpectralRow, SpectralRuns, SurvivalRow
from rankcollapse.spectral_tests import CAPPED, PLAIN, last_loss

READINGS = {
    "sec_mean": "mean SEC", "sec_max": "largest SEC", "sigma_max": "largest singular value", "logit_max": "largest logit",
    "entropy_mean": "mean entropy", "entropy_min": "least entropy", "map_rank_min": "least rank of a map",
    "gradient_norm": "gradient norm", "loss": "loss", "rank": "rank", "residual": "residual",
}  # fmt: skip
"""What may forewarn, in the order of the figure: spectra, maps, and what needs no attention."""
FORETELLER = "sec_mean"
ORDER = list(looks.ATTENTION)
MASKS = {"without a mask": "", "causal": "_causal"}
"""Panels of drawn maps, by what their curves' names end in."""
DRAWN = ("low_1", "low_8", "full_1", "full_8")
"""Curves that are drawn: tokens of low and of full rank, products of rank one and of all that a head can have."""


class Attention(NamedTuple):
    """The records that the figures are drawn from."""

    runs: SpectralRuns
    results: SpectralResults
    drawn: DrawnMaps
    restart_runs: SpectralRuns
    restart: SpectralResults


def draw_attention(folder: Path, records: Attention) -> None:
    """Draw the figures into a folder that exists."""
    looks.write(folder / "survival.pdf", draw_survival(list_survivals(records.runs, records.results)))
    predictors, courses = list_predictors(records.results), list_courses(records.runs, records.results)
    warning = draw_warning(predictors, courses, concentration="SEC, mean over heads", read_at=int(records.results.warned.at.value))
    looks.write(folder / "warning.pdf", warning)
    looks.write(folder / "sampling.pdf", draw_sampling(list_samples(records.drawn)))
    predictors, courses = list_predictors(records.restart), list_courses(records.restart_runs, records.restart, "entropy_mean", crosses=False)
    restart = draw_warning(predictors, courses, concentration="mean attention entropy", read_at=int(records.restart.warned.at.value))
    looks.write(folder / "restart.pdf", restart)


def rows_of(runs: SpectralRuns, arm: str) -> list[SpectralRow]:
    """An arm's runs, in their order."""
    return [row for row in runs.runs if row.arm == arm]


def list_survivals(runs: SpectralRuns, results: SpectralResults) -> list[ArmSurvival]:
    """Every arm network by network."""
    arms = sorted(results.survival, key=lambda arm: (ORDER.index(arm.partition("_")[0] if arm.startswith(CAPPED) else arm), arm))
    return [
        ArmSurvival(look_of(arm, own), tuple(map(bool, own.survived.values or ())), tuple(map(last_loss, rows_of(runs, arm))))
        for arm in arms
        for own in (results.survival[arm],)
    ]


def look_of(arm: str, own: SurvivalRow) -> Look:
    """The look of an arm; caps of AdamW2 are told by their tau."""
    if own.tau is None:
        return looks.ATTENTION[arm]
    look = looks.ATTENTION[CAPPED]
    return look._replace(label=rf"{look.label}, $\tau={own.tau.value:g}$")


def list_predictors(results: SpectralResults) -> list[Predictor]:
    """Every reading of the warning that was scored."""
    scored = results.warned.readings
    return [Predictor(label, float(scored[name].auc.value)) for name, label in READINGS.items() if name in scored]


def list_courses(runs: SpectralRuns, results: SpectralResults, reading: str = FORETELLER, crosses: bool = True) -> list[Course]:
    """A reading of every network of the plain arm, with a cross at its crash or without."""
    lived = results.survival[PLAIN].survived.values or ()
    return [
        Course(row.trajectory.step, row.trajectory.extra[reading], not alive, results.crashes[row.name].step if crosses else None)
        for row, alive in zip(rows_of(runs, PLAIN), lived, strict=True)
    ]


def list_samples(drawn: DrawnMaps) -> Mapping[str, Sequence[Sample]]:
    """Curves of tokens of low and of full rank under products of low and of full rank, without a mask and with one."""
    curves = {curve.name: curve for curve in drawn.curves}
    return {title: [sample_of(curves[f"{name}{end}"]) for name in DRAWN] for title, end in MASKS.items()}


def sample_of(curve: DrawnCurve) -> Sample:
    """A curve of drawn maps as it is drawn."""
    strengths, found = zip(*((point.strength, int(point.modes.malignant.value)) for point in curve.points), strict=True)
    tokens = "full rank" if curve.token_rank == curve.width else f"rank {curve.token_rank}"
    return Sample(f"tokens of {tokens}, product of rank {curve.product_rank}", strengths, found, (curve.draws,) * len(found))
