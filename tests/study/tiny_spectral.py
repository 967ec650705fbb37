"""The study of attention's spectra on networks of a millisecond: its scale, and rows made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audit.records import Provenance
from rankcollapse.arm_records import Series
from rankcollapse.groups import Restart
from rankcollapse.params import Scale, Spectral, load_params
from rankcollapse.records_spectral import SpectralRow

SMOKE = load_params(Path(__file__).parents[2] / "params.yaml").scales.smoke
PLAN = Spectral(steps=40, warm=10, rates=(4e-3, 1.6e-2), taus=(0.03, 0.3), at=10, measure=5, closely=20, later=10, few=2)
UNIGRAM = 5.5


def part(name: str, **values: object) -> object:
    """A group of the smoke scale with other values."""
    return getattr(SMOKE, name).model_copy(update=values)


SCALE: Scale = SMOKE.model_copy(update={
    "model": part("model", width=8, heads=2, context=8, init_std=0.3), "data": part("data", vocabulary=257), "depths": part("depths", shallow=2),
    "batch": 2, "checkpoint_seconds": 1e9, "spectral": PLAN,
})  # fmt: skip
RESTART = Restart(**PLAN.model_dump() | {
    "learn": 40, "gentle": 2e-3, "hold": 20, "rates": (2e-2, 8e-2), "logit_limit": 0.5, "depth": 1, "init_std": 0.2, "batch": 3,
})  # fmt: skip
"""The same for networks that learn for 40 steps first and go on at a higher rate: the warning falls on step 50 of 80."""
RESTARTED: Scale = SCALE.model_copy(update={"restart": RESTART}).study_of("restart")


def provenance(stage: str) -> Provenance:
    """A provenance that names no input."""
    return Provenance(stage=stage, seals={}, parameters="0" * 64, seeds=(1, 2), data={})


def made(
    arm: str, seed: int, loss: Sequence[float], *, steps: Sequence[int] = (0, 5, 10, 15, 20, 30, 40), diverged: int | None = None, rate: float = 4e-3,
    malignant: float | None = None, benign: float | None = None, **readings: float,
) -> SpectralRow:  # fmt: skip
    """A run with these losses; a reading is 0 but at step 10, where it is what is given. A rank or residual is so throughout."""
    kept, number = tuple(steps[: len(loss)]), len(loss)
    same = {name: (readings.pop(name, 1.0),) * number for name in ("rank", "residual")}
    series = Series(
        step=kept, skip=(1.0,) * number, loss=tuple(loss), at_floor=(False,) * number, **same,
        extra={name: tuple(value if step == 10 else 0.0 for step in kept) for name, value in readings.items()},
    )  # fmt: skip
    return SpectralRow(
        name=f"{arm}/{seed}", seed=seed, arm=arm, term="none", added_target=0.0, first_added=0.0, term_weight=0.0, clip_share=0.0, diverged_at=diverged,
        trajectory=series, start=0, exempt=False, learning_rate=rate, optimiser="adamw", query_key="none", malignant=malignant, benign=benign,
    )  # fmt: skip
