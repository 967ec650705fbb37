"""From readings of attention, crashes and scores to the rows of their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from audit.records import Quantity
from rankcollapse.crashes import Crash, Sign, Warned
from rankcollapse.drawn_maps import Drawing
from rankcollapse.maps import MODES
from rankcollapse.params import Scale
from rankcollapse.quantities import count, exact, trained
from rankcollapse.records_spectral import CrashRow, CurvePoint, DrawnCurve, HeadTable, ModeCount, SurvivalRow, WarningRow
from rankcollapse.settings import set_value
from rankcollapse.spectral import Heads
from rankcollapse.statistics import exact_interval


def table_of(values_LMH: torch.Tensor, model: int) -> tuple[tuple, ...]:
    """One model's values as blocks of heads."""
    return tuple(map(tuple, values_LMH[:, model].tolist()))


def head_table(heads: Heads, model: int) -> HeadTable:
    """One model's heads; ValidationError where a value is not finite."""
    (sec, directions, sigma), (entropy, rank, benign, malignant, logit) = heads
    numbers = [table_of(each, model) for each in (sec, directions, sigma, entropy, rank, benign, malignant, logit)]
    depth, _, width = sec.shape
    modes = tuple(tuple(heads.modes.name(block, model, head) for head in range(width)) for block in range(depth))
    names = ("sec", "directions", "sigma", "entropy", "map_rank", "benign", "malignant", "logit")
    return HeadTable(**dict(zip(names, numbers, strict=True)), mode=modes)


def mode_count(tables: Sequence[HeadTable]) -> ModeCount:
    """Heads of each mode over several networks."""
    found = [mode for table in tables for block in table.mode for mode in block]
    return ModeCount(**{mode: exact(found.count(mode)) for mode in MODES})


def crash_row(crash: Crash) -> CrashRow:
    """A crash as it is kept."""
    return CrashRow(step=crash.step, rise=crash.rise, never_learned=crash.never_learned)


def drawn_curve(name: str, drawing: Drawing, strengths: Sequence[float], counts: Sequence[Mapping[str, int]]) -> DrawnCurve:
    """A curve of drawn maps, from the counts at each strength."""
    draws = sum(counts[0].values())
    points = tuple(
        CurvePoint(
            strength=strength,
            modes=ModeCount(**{mode: exact(found[mode]) for mode in MODES}),
            malignant_share=exact(found["malignant"] / draws, digits=2),
        )
        for strength, found in zip(strengths, counts, strict=True)
    )
    return DrawnCurve(
        name=name, tokens=drawing.tokens, width=drawing.width, head_size=drawing.head_size, token_rank=drawing.token_rank,
        product_rank=drawing.product_rank, causal=drawing.causal, draws=draws, points=points,
    )  # fmt: skip


def survival_row(
    arm: str, rate: float, crashes: Sequence[Crash], losses: Sequence[float | None], scale: Scale, cost: Quantity | None = None
) -> SurvivalRow:
    """An arm at one learning rate, from how its runs went and the losses they ended with (None where a run diverged)."""
    lived = [not crash.crashed and not crash.never_learned for crash in crashes]
    low, high = exact_interval(sum(lived), len(lived))
    final = [loss for alive, loss in zip(lived, losses, strict=True) if alive and loss is not None]
    return SurvivalRow(
        arm=arm, rate=set_value(rate), runs=exact(len(lived)), survived=count(lived), low=exact(low, digits=2), high=exact(high, digits=2),
        crashed=count([crash.crashed for crash in crashes]), never_learned=count([crash.never_learned for crash in crashes]),
        final_loss=trained(final, scale, digits=2, unit="nats") if final else None, cost=cost,
    )  # fmt: skip


def warning_row(predictor: str, sign: Sign, at: int, lead: int, horizon: int, warned: Warned) -> WarningRow:
    """A score as it is kept."""
    numbers = {name: exact(getattr(warned, name)) for name in ("crashing", "lasting", "pairs", "excluded", "idle")}
    return WarningRow(
        predictor=predictor, sign=sign, at=at, lead=lead, horizon=horizon, auc=None if warned.auc is None else exact(warned.auc, digits=2),
        p=exact(warned.p, digits=4), by_stratum=warned.by_stratum, **numbers,
    )  # fmt: skip
