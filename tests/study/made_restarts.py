"""Made-up outcomes of the study of restarts: networks that had learnt, were thrown back, and come back or do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from made_spectra import World, even, judge_rows
from tiny_spectral import RESTART, RESTARTED, made

from rankcollapse.records_spectral import HeadTable, SpectralResults, SpectralRow

STEPS = (0, 20, 40, 45, 50, 55, 60, 70, 80)
"""The learnt stretch is measured every 20 steps; the rate goes up at step 40."""
BACK = (5.6, 4.6, 4.5, 5.4, 5.5, 5.5, 5.2, 4.6, 4.4)
"""Probe losses of a network that is thrown back by a nat, and has come back by the end."""
GONE = (5.6, 4.6, 4.5, 5.4, 5.5, 5.5, 5.3, 5.3, 5.3)
"""Of one that stays above its least by more than a quarter of a nat, though below the plateau."""
LOST = (5.6, 4.6, 4.5, 5.4, 5.5, 5.5, 5.5, 5.5, 5.5)
"""Of one that has lost everything."""
EARLY = RESTARTED.model_copy(update={"spectral": RESTART.model_copy(update={"learn": 5, "at": 5, "steps": 35})})
"""The rate goes up at step 5, and the warning falls on the step at which the other study's made-up readings stand."""


def heads(entropy: float) -> HeadTable:
    """One block of two heads with this mean entropy."""
    same = ((0.5, 0.5),)
    return HeadTable(
        sec=same, directions=((1, 1),), sigma=same, entropy=((entropy - 0.125, entropy + 0.125),), map_rank=same, benign=same, malignant=same,
        logit=same, mode=(("neither", "neither"),),
    )  # fmt: skip


def thrown(seed: int, loss: Sequence[float], *, entropy: float | None = None, diverged: int | None = None, **sec: float) -> SpectralRow:
    """A network of the plain arm; concentration as the rate goes up and at the warning, and the entropy at its end."""
    row = made("adamw", seed, loss, steps=STEPS, diverged=diverged, **even({}))
    return with_reading(row, "sec_mean", {40: sec.get("before", 1.0), 50: sec.get("warned", 1.0)}).model_copy(
        update={"last": None if entropy is None else heads(entropy)}
    )


def with_reading(row: SpectralRow, name: str, values: Mapping[int, float]) -> SpectralRow:
    """The row with a reading that has these values at these steps, and what it had at the others."""
    run = row.trajectory
    read = tuple(values.get(step, value) for step, value in zip(run.step, run.extra[name], strict=True))
    return row.model_copy(update={"trajectory": run.model_copy(update={"extra": run.extra | {name: read}})})


@dataclass(frozen=True)
class Restarts(World):
    """A world of networks that had learnt: also what was read as the rate went up, and how closed attention was at the end."""

    early: Sequence[float] = (1.0,) * 32
    """Mean concentration at step 5, network by network."""
    entropy: Sequence[float] = (0.5,) * 32
    """Of the last states."""

    def judge(self) -> SpectralResults:
        """The record of this world."""
        rows = [
            with_reading(row, "sec_mean", {5: self.early[row.seed]}).model_copy(update={"last": heads(self.entropy[row.seed])}) if row.arm == "adamw" else row
            for row in self.rows()
        ]
        return judge_rows(rows, EARLY)
