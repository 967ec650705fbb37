"""The study of attention's spectra as the readings that claims are judged from; free of torch."""

from __future__ import annotations

from audit.records import Quantity
from rankcollapse.records_spectral import DrawnMaps, SpectralResults


def claim_quantities(results: SpectralResults, drawn: DrawnMaps) -> dict[str, Quantity]:
    """By key: results under the names of their record, drawn maps at the largest strength by the name of their curve, norms by name.

    An AUC without a pair is one half, and so is one of runs that no reading tells apart: what survived says which.
    """
    readings = {f"attention.warned.readings.{name}.auc": row.auc for name, row in results.warned.readings.items()}
    maps = {f"attention.maps.{name}": own for name, own in results.maps.items()}
    shares = {f"drawn.{curve.name}.share": curve.points[-1].malignant_share for curve in drawn.curves}
    norms = {f"drawn.norms.{row.name}": row.short for row in drawn.norms}
    return readings | maps | shares | norms | {
        "attention.malignant.auc": results.malignant.auc, "attention.malignant.p": results.malignant.p, "attention.random_sec": results.random_sec,
        "attention.survival.adamw.survived": results.survival["adamw"].survived, "attention.capped.survived": results.capped.survived,
        "attention.capped_below_warm_up": results.capped_below_warm_up, "attention.capped_below_lower": results.capped_below_lower,
    }  # fmt: skip
