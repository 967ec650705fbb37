"""The study of attention's spectra as the readings that claims are judged from; free of torch."""

from __future__ import annotations

from audit.records import Quantity
from rankcollapse.params import Scale
from rankcollapse.quantities import trained
from rankcollapse.records_spectral import DrawnMaps, SpectralResults, SpectralRuns

ENDS = {"sec_end": "sec_mean", "entropy_end": "entropy_mean"}
"""Of the plain arm's last measurements."""


def end_quantities(results: SpectralResults, runs: SpectralRuns, scale: Scale) -> dict[str, Quantity]:
    """Medians of what the plain arm ended with, of the runs that survived and of those that fell; 0 without values where there are none."""
    plain, found = [row for row in runs.runs if row.arm == "adamw" and row.diverged_at is None], {}
    lived = dict(zip([row.name for row in runs.runs if row.arm == "adamw"], results.survival["adamw"].survived.values or (), strict=True))
    for name, reading in ENDS.items():
        for fate, flag in (("survived", 1), ("fell", 0)):
            values = [row.trajectory.extra[reading][-1] for row in plain if lived[row.name] == flag]
            found[f"attention.{name}.{fate}"] = trained(values, scale, digits=3) if values else Quantity(value=0, digits=3, tolerance=0.0, values=())
    return found


def restart_quantities(results: SpectralResults) -> dict[str, Quantity]:
    """By key: what the networks that had learnt and were thrown back came to; an AUC to the digit that tells it from its bound."""
    readings = {f"restart.warned.readings.{name}.auc": row.auc.model_copy(update={"digits": 3}) for name, row in results.warned.readings.items()}
    return readings | {f"restart.maps.{name}": own for name, own in results.maps.items()} | {
        "restart.fell": results.warned.crashing, "restart.malignant.auc": results.malignant.auc,
        "restart.malignant.p": results.malignant.p.model_copy(update={"style": "scientific", "digits": 1}),
        "restart.capped.survived": results.capped.survived, "restart.capped_below_warm_up": results.capped_below_warm_up,
    }  # fmt: skip


def claim_quantities(results: SpectralResults, drawn: DrawnMaps, runs: SpectralRuns, restart: SpectralResults, scale: Scale) -> dict[str, Quantity]:
    """By key: results under the names of their record, drawn maps at the largest strength by the name of their curve, norms by name.

    An AUC without a pair is one half, and so is one of runs that no reading tells apart: what survived says which.
    """
    readings = {f"attention.warned.readings.{name}.auc": row.auc for name, row in results.warned.readings.items()}
    maps = {f"attention.maps.{name}": own for name, own in results.maps.items()}
    shares = {f"drawn.{curve.name}.share": curve.points[-1].malignant_share for curve in drawn.curves}
    norms = {f"drawn.norms.{row.name}": row.short for row in drawn.norms}
    return readings | maps | shares | norms | restart_quantities(restart) | end_quantities(results, runs, scale) | {
        "attention.random_sec": results.random_sec,
        "attention.survival.adamw.survived": results.survival["adamw"].survived, "attention.capped.survived": results.capped.survived,
        "attention.capped_below_warm_up": results.capped_below_warm_up, "attention.capped_below_lower": results.capped_below_lower,
    }  # fmt: skip
