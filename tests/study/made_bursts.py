"""Made-up bursts: eight networks under two multipliers and two development networks, whose readings and outcomes are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from audit.records import Provenance, Quantity
from rankcollapse.arm_records import ArmRow, Continuations, Development, Excursion, Excursions, Series
from rankcollapse.burst_records import BurstControl, BurstNetwork, BurstReadings, BurstRecords, BurstTests, DevelopmentRecords
from rankcollapse.burst_tests import evaluate_bursts, forecast_bursts
from rankcollapse.groups import Bursts
from rankcollapse.params import load_params
from rankcollapse.quantities import count, exact
from rankcollapse.records import Profile, RoleCalibration
from rankcollapse.records_readings import BlockRow, EntropyRow, EventReadings, Readings, StateRow
from rankcollapse.registered import Fitted, Thresholds

M1, M2, SEEDS, AFTER = 20.0, 40.0, tuple(range(8)), 300
SMOKE = load_params(Path(__file__).parents[2] / "params.yaml").scales.smoke
SCALE = SMOKE.model_copy(update={
    "rules": SMOKE.rules.model_copy(update={"recover_window": 5, "recover_hold": 3}),
    "study": SMOKE.study.model_copy(update={"bursts": Bursts(start=300, updates=50, multipliers=(M1,), after=AFTER)}),
})  # fmt: skip
NUMBER = Quantity(value=1.0, digits=2, tolerance=0.0)
CALIBRATION = RoleCalibration(
    depth=exact(2), edge=NUMBER, healthy_rank=NUMBER, healthy_residual=NUMBER, healthy_q=1.0, collapse_threshold=exact(1.4, digits=2),
    recover_threshold=exact(2.0, digits=2), early_dip_ends=NUMBER, grid=(), runs=(),
)  # fmt: skip


def provenance(stage: str) -> Provenance:
    """A provenance that names no input."""
    return Provenance(stage=stage, seals={}, parameters="0" * 64, seeds=SEEDS, data={})


def state(opening: float, norm: float = 1.0, loss: float = 4.0) -> StateRow:
    """A network of two blocks at a skip scale of 1."""
    row = (opening, opening)
    blocks = BlockRow(rank=(2.0, 2.0), q=(1.0, 1.0), residual=(0.5, 0.5), at_floor=(False, False))
    entropy = EntropyRow(rows=(0.8, 0.8), sums=(0.8, 0.8))
    return StateRow(skip=1.0, loss=loss, gradient_norm=norm, task=Profile(qkv=row, qk=row, v=row), opening=opening, blocks=blocks, entropy=entropy)


def run(arm: str, seed: int, start: int, step: Sequence[int], rank: Sequence[float], loss: float = 4.0, diverged: int | None = None) -> ArmRow:
    """A run measured at these steps after its start."""
    series = Series(
        step=tuple(start + one for one in step), skip=(1.0,) * len(step), rank=tuple(rank), residual=(0.5,) * len(step),
        loss=(loss,) * len(step), at_floor=(False,) * len(step), extra={},
    )  # fmt: skip
    return ArmRow(
        name=f"{arm}/{seed}", seed=seed, arm=arm, term="none", added_target=0.0, first_added=0.0, term_weight=0.0, clip_share=0.0,
        diverged_at=diverged, trajectory=series, start=start, exempt=False,
    )  # fmt: skip


@dataclass(frozen=True)
class Network:
    """One network: the predictor at the end of its burst, and the step after it from which its rank is 2.5 (None: 1.5 to the end)."""

    opening: float
    back: int | None
    gap: float = 0.5
    """Loss gap at the end of the burst."""
    norm: float = 2.0
    end_gap: float = 0.3
    low: int = 10
    """Updates after which the burst's rank lies below the collapse threshold."""
    diverged: str = ""
    """`burst` or `after`."""


def burst_of(multiplier: float, seed: int, network: Network) -> ArmRow:
    """The run of its burst, measured every ten updates."""
    steps = (0, 10, 20, 30, 40, 50)
    broken = 310 if network.diverged == "burst" else None
    kept = steps[: 1 if broken else None]
    return run(f"burst_{multiplier:g}", seed, 300, kept, [3.0 if step < network.low else 1.2 for step in kept], diverged=broken)


def after_of(multiplier: float, seed: int, network: Network) -> ArmRow:
    """What followed it, measured every ten steps."""
    steps = range(0, AFTER + 1, 10)
    ranks = [2.5 if network.back is not None and step >= network.back else 1.2 if step == 0 else 1.5 for step in steps]
    broken = 350 + AFTER if network.diverged == "after" else None
    return run(f"after_{multiplier:g}", seed, 350, steps, ranks, 4.0 + network.end_gap, broken)


Table = Mapping[float, Sequence[Network]]


def readings_of(table: Table) -> BurstReadings:
    """What is read of them; every control's predictor is 1e-2 and its loss 4."""
    rows = [
        BurstNetwork(seed=seed, multiplier=times, state=state(one.opening, one.norm, 4.0 + one.gap), loss_gap=one.gap, qk_over_healthy=one.opening / 1e-2)
        for times, networks in table.items() for seed, one in enumerate(networks) if one.diverged != "burst"
    ]  # fmt: skip
    seeds = tuple(range(len(next(iter(table.values())))))
    controls = tuple(BurstControl(seed=seed, state=state(1e-2)) for seed in seeds)
    return BurstReadings(
        provenance=provenance("burst_readings"), role="deep", depth=2, seeds=seeds, multipliers=tuple(table), networks=tuple(rows), controls=controls
    )


def excursion_of(times: float, networks: Sequence[Network]) -> Excursion:
    """The end of the bursts of one multiplier."""
    sound = [one.diverged != "burst" for one in networks]
    return Excursion(
        multiplier=times, below=count([fine and one.low <= 50 for fine, one in zip(sound, networks, strict=True)]),
        diverged=count([not fine for fine in sound]), rank=(1.2,) * len(sound), loss_gap=(0.5,) * len(sound),
    )  # fmt: skip


def runs_of(table: Table) -> dict[str, tuple[ArmRow, ...]]:
    """Bursts, what followed them, and the controls."""
    placed = [(times, seed, one) for times, networks in table.items() for seed, one in enumerate(networks)]
    return {
        "bursts": tuple(burst_of(*one) for one in placed),
        "branches": tuple(after_of(*one) for one in placed if one[2].diverged != "burst"),
        "controls": tuple(run("control", seed, 350, range(0, AFTER + 1, 10), [3.0] * 31) for seed in range(len(next(iter(table.values()))))),
    }


SMALL = [Network(1e-3 * 2**-seed, 20 + 20 * seed, gap=0.1 * (1 + seed), norm=0.9 - seed / 10) for seed in SEEDS]
LARGE = [Network(1e-6 * 2**-seed, None, gap=2.0 + seed) for seed in SEEDS]
WORLD: Table = {M1: SMALL, M2: LARGE}
DEVELOPMENT: Table = {M1: [Network(1e-4, 20), Network(2e-4, 20)], M2: [Network(1e-6, None, gap=3.0), Network(2e-6, None, gap=3.0)]}


def development_of(table: Table = DEVELOPMENT) -> DevelopmentRecords:
    """The development networks."""
    record = Development(
        provenance=provenance("development"), role="deep", depth=2, seeds=(0, 1), excursions=tuple(excursion_of(*item) for item in table.items()),
        m1=exact(M1, digits=1), m2=exact(M2, digits=1), all_below=True, **runs_of(table),
    )  # fmt: skip
    return DevelopmentRecords(record, readings_of(table))


def threshold(value: float | None, errors: int = 0) -> Thresholds:
    """Thresholds with one at the deep depth, on the scale of scores."""
    if value is None:
        return Thresholds()
    return Thresholds(deep=Fitted(value=exact(value, digits=2), errors=exact(errors), chance=NUMBER, events=exact(8)))


def main_readings(*openings: float) -> Readings:
    """The main study's saved collapses: of each, the predictor alone is made up."""
    events = tuple(EventReadings.model_construct(seed=seed, collapsed=state(opening)) for seed, opening in enumerate(openings))
    return Readings.model_construct(role="deep", events=events)


def records_of(table: Table = WORLD, frozen: Thresholds | None = None, development: Table = DEVELOPMENT) -> BurstRecords:
    """Everything that is known when the test is judged."""
    runs, readings = runs_of(table), readings_of(table)
    excursions = Excursions(
        provenance=provenance("burst"), role="deep", depth=2, seeds=readings.seeds, excursions=tuple(excursion_of(*item) for item in table.items()),
        warm=(), bursts=runs["bursts"], controls=(),
    )  # fmt: skip
    after = Continuations(
        provenance=provenance("continue"), role="deep", depth=2, multipliers=tuple(table), branches=runs["branches"], controls=runs["controls"]
    )
    chosen = threshold(-5.5) if frozen is None else frozen
    forecast = forecast_bursts(provenance("burst_forecast"), SCALE, CALIBRATION, readings, development_of(development), chosen)
    return BurstRecords(excursions, readings, forecast, after)


def change(networks: Sequence[Network], seed: int, **values) -> list[Network]:
    """The networks with one of them changed."""
    return [replace(one, **values) if place == seed else one for place, one in enumerate(networks)]


def judge_world(table: Table = WORLD, frozen: Thresholds | None = None, development: Table = DEVELOPMENT) -> BurstTests:
    """The test of one world; the main study's collapses have a median predictor of 1e-8."""
    chosen = threshold(-5.5) if frozen is None else frozen
    given = (records_of(table, chosen, development), development_of(development), chosen, main_readings(1e-9, 1e-8, 1e-7))
    return evaluate_bursts(provenance("burst_tests"), SCALE, CALIBRATION, *given, np.random.default_rng(0))
