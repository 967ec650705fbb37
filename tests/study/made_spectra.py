"""Made-up outcomes of the study of attention's spectra: networks that live or fall with given readings, and the arms beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tiny_spectral import SCALE, UNIGRAM, made, provenance

from rankcollapse.params import Scale
from rankcollapse.quantities import exact
from rankcollapse.records_spectral import SpectralChoice, SpectralResults, SpectralRow, SpectralRuns
from rankcollapse.settings import set_value
from rankcollapse.spectral_tests import FORETOLD, judge_spectral

LIVED = (5.6, 5.55, 5.5, 5.0, 4.0, 3.5, 3.0)
"""Probe losses of a network that learns; at the warning those of all networks are the same."""
DULL = (5.6, 5.55, 5.5, 5.5, 5.5, 5.5, 5.5)
"""Of one that stays on the plateau."""
DIPPED = (5.6, 5.55, 5.5, 5.2, 5.3, 5.5, 5.5)
"""Of one that leaves it and comes back to it, by less than a crash."""
CRASHED = (5.6, 5.55, 5.5, 4.5, 4.0, 5.3, 5.3)
"""Of one that learns, loses more than half a nat for good, and still ends below the plateau."""
EARLY, LATE = 7, 17
"""Steps of a divergence before the warning at step 10, and after it."""
SECOND = SpectralChoice(
    provenance=provenance("spectral_development"), depth=2, rates=(), caps=(), rate=set_value(4e-3), cap=exact(2), tau=set_value(0.3), runs=(),
)  # fmt: skip
"""The second cap was chosen."""


def broken(arm: str, seed: int, at: int = EARLY, **values: float) -> SpectralRow:
    """A run that diverged, with what had been measured by then."""
    return made(arm, seed, DULL[: 2 if at == EARLY else 4], diverged=at, **values)


def ending(arm: str, losses: Sequence[float | None]) -> list[SpectralRow]:
    """Runs that learn and end at these losses, seed by seed; None for one that diverged."""
    return [broken(arm, seed) if loss is None else made(arm, seed, [*LIVED[:-1], loss]) for seed, loss in enumerate(losses)]


def even(readings: Mapping[str, float]) -> dict[str, float]:
    """Readings at the warning; those that are not given are 1, and tell no network from another."""
    return {name: 1.0 for name in FORETOLD} | dict(readings)


def plain_arm(fell: Sequence[bool], readings: Mapping[str, Sequence[float]]) -> list[SpectralRow]:
    """The arm that is foretold: who falls by staying on the plateau, and each one's readings, loss included, at the warning."""
    own = [even({name: values[seed] for name, values in readings.items()}) for seed in range(len(fell))]
    losses = [list(DULL if flag else LIVED) for flag in fell]
    for loss, values in zip(losses, own, strict=True):
        loss[2] = values.pop("loss", loss[2])
    return [made("adamw", seed, loss, **values) for seed, (loss, values) in enumerate(zip(losses, own, strict=True))]


def judge_rows(rows: Sequence[SpectralRow], scale: Scale = SCALE) -> SpectralResults:
    """The judgement of some rows; an arm that the judge compares and that is not among them has one run on seed 0 that lives."""
    present = {row.arm for row in rows}
    missing = [made(arm, 0, LIVED, **even({})) for arm in ("adamw", "warm_up", "low_rate", "adamw2_1", "adamw2_2", "sigma") if arm not in present]
    record = SpectralRuns(
        provenance=provenance("spectral"), depth=2, top=1, random_sec=exact(0.4, digits=2), unigram=UNIGRAM, extra={}, runs=(*rows, *missing)
    )
    return judge_spectral(provenance("spectral_tests"), scale, SECOND, record)


@dataclass(frozen=True)
class World:
    """What the registration is judged on: as many networks as it names, and eight of each arm that it compares."""

    fell: Sequence[bool] = (True,) * 16 + (False,) * 16
    readings: Mapping[str, Sequence[float]] = field(default_factory=dict)
    capped: Sequence[float | None] = (3.0,) * 8
    """Losses at the end under the chosen cap; above 5.4 nats nothing is learnt."""
    warm_up: Sequence[float | None] = (4.0,) * 8
    lower: Sequence[float | None] = (4.0,) * 8
    sigma: Sequence[float | None] = (3.0,) * 8

    def rows(self) -> list[SpectralRow]:
        """Its runs; where the end lies on the plateau so do the steps before it."""
        arms = {"adamw2_2": self.capped, "warm_up": self.warm_up, "low_rate": self.lower, "sigma": self.sigma}
        rows = [row for arm, losses in arms.items() for row in ending(arm, losses)]
        kept = [made(row.arm, row.seed, DULL) if row.trajectory.loss[-1] > UNIGRAM - 0.1 and row.diverged_at is None else row for row in rows]
        return [*plain_arm(self.fell, self.readings), *kept]

    def judge(self) -> SpectralResults:
        """The record of this world."""
        return judge_rows(self.rows())

    def but(self, **values: object) -> World:
        """The world with something else changed."""
        return replace(self, **values)
