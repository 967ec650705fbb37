"""Records made by hand for what is computed from them: three blocks, healthy rank 4, recovered from 2 on, collapsed below 1.5."""

from __future__ import annotations

from collections.abc import Sequence

from made_readings import COLLAPSED, EVENT, HEALTHY, state
from one_set import SCALE, provenance

from audit.records import Quantity
from rankcollapse.arm_records import ArmRow, Drivers, Series, SetRecords, Switches, Treatments
from rankcollapse.records import Calibration, Event, RoleCalibration
from rankcollapse.records_readings import BranchEnd, EventReadings, Readings, ReplayRow
from rankcollapse.seed_cells import Cell

FLOOR, WEAK, UNIGRAM = 0.1, 0.2, 5.25
SAVED = 20
"""Step at which every collapse was saved, with a loss gap of 2 nats; the controls beside the drivers end at 25."""


def plain(value: float) -> Quantity:
    """A number."""
    return Quantity(value=value, digits=3, tolerance=0.0)


OWN = RoleCalibration(
    depth=plain(3), edge=plain(FLOOR), healthy_rank=plain(4.0), healthy_residual=plain(0.5), healthy_q=3**0.5,
    collapse_threshold=plain(1.5), recover_threshold=plain(2.0), early_dip_ends=plain(3), grid=(), runs=(),
)  # fmt: skip
CALIBRATION = Calibration(provenance=provenance("calibrate"), floor=plain(FLOOR), shallow=OWN, deep=OWN)


def series(steps: Sequence[int], ranks: Sequence[float], **more) -> Series:
    """A trajectory; what is not given stays as it is in a healthy network, a loss of 3 included."""
    number = len(steps)
    plain = {"skip": (1.0,) * number, "residual": (0.5,) * number, "loss": (3.0,) * number, "at_floor": (False,) * number, "extra": {}}
    return Series(step=tuple(steps), rank=tuple(map(float, ranks)), **plain | {name: tuple(own) if name != "extra" else own for name, own in more.items()})


def branch(arm: str, seed: int, ranks: Sequence[float] = (1.0,) * 5, start: int = SAVED, every: int = 2, row: dict | None = None, **more) -> ArmRow:
    """A branch measured every second step from its start; its loss stays at 5 where none is given."""
    steps = tuple(range(start, start + every * len(ranks), every))
    kept = {"term": "none", "added_target": 0.0, "first_added": 0.0, "term_weight": 0.0, "clip_share": 0.25, "exempt": False} | (row or {})
    return ArmRow(name=f"{arm}/{seed}", seed=seed, arm=arm, start=start, trajectory=series(steps, ranks, **{"loss": (5.0,) * len(ranks)} | more), **kept)


def event(seed: int, skip: float = 0.12, at_floor: bool = False) -> Event:
    """A collapse detected at step 15."""
    return Event(seed=seed, detected=15, saved=SAVED, skip_at_collapse=skip, rank=1.25, residual=0.01, at_floor=at_floor, loss=5.0, loss_gap=2.0)


def driver(seed: int) -> ArmRow:
    """Down from 1 at step 5 to 0.1 at step 15; gap, cosine and loss are half-way at steps 12, 13 and 14."""
    steps, skips = (5, 8, 11, 12, 13, 14, 15, 20), (1.0, 0.7, 0.5, 0.35, 0.28, 0.19, 0.12, 0.1)
    extra = {"gap": (8.0, 8.0, 8.0, 2.0, 2.0, 1.0, 0.0, 0.0), "cosine": (0.0, 0.0, 0.0, 0.0, 0.9, 1.0, 1.0, 1.0)}
    own = series(steps, (4, 4, 3.8, 3.6, 3.4, 3, 1.2, 1), skip=skips, loss=(3.0, 3, 3, 3, 3, 4.5, 5, 5), extra=extra)
    return branch("driver", seed).model_copy(update={"trajectory": own, "start": 5})


def control(seed: int, ranks: Sequence[float] = (4, 1.2, 1.8, 3, 3, 3, 3, 3, 3, 3, 4)) -> ArmRow:
    """Beside a driver, from the first step on; by default below collapse at step 2, and above recovery from step 8 on."""
    return branch("control", seed).model_copy(update={"trajectory": series((0, 2, 5, 8, 11, 12, 13, 14, 15, 20, 25), ranks), "start": 0})


def beside(seed: int, steps: Sequence[int] = (25, 28, 30, 34), losses: Sequence[float] = (3.0, 3.0, 2.5, 2.5)) -> ArmRow:
    """The control beyond the drivers, as branches need it."""
    return branch("control", seed).model_copy(update={"trajectory": series(steps, (4.0,) * len(steps), loss=losses), "start": steps[0]})


def reading(seed: int) -> EventReadings:
    """Collapsed loss 5, healthy 3, entropy 0.97 and 0.6, as in the tests of reading values."""
    return EVENT.model_copy(update={"seed": seed})


def end(arm: str, seed: int, rho: float | None = None, entropy: float = 0.9) -> BranchEnd:
    """A branch in its last state: ranks 4, 2 and 1.5."""
    return BranchEnd(seed=seed, arm=arm, state=state(FLOOR, COLLAPSED, rank=1.5, entropy=entropy), rho=rho)


def replay(seed: int, skip: float, updates: int, rank: float, error: float | None = 0.01) -> ReplayRow:
    """A replayed switch."""
    return ReplayRow(seed=seed, skip=skip, updates=updates, rank=rank, residual=0.5, at_floor=False, loss=4.0, task=HEALTHY, error=error)


def make_cell(
    role: str = "deep", seeds: Sequence[int] = (1, 2), branches: Sequence[ArmRow] = (), switches: Sequence[ArmRow] = (), *,
    skip: float = 0.12, ends: Sequence[BranchEnd] = (), replays: Sequence[ReplayRow] = (), **more,
) -> Cell:  # fmt: skip
    """One role; `more` replaces what drivers, controls or the controls beyond them are."""
    shared = {"role": role, "depth": 3}
    drivers = Drivers(
        provenance=provenance("collapse"), floor=FLOOR, events=tuple(event(seed, skip) for seed in seeds), dips=(), unsettled=more.get("unsettled", ()),
        drivers=more.get("drivers", tuple(driver(seed) for seed in (*seeds, *more.get("unsettled", ())))),
        controls=more.get("controls", tuple(control(seed) for seed in seeds)), **shared,
    )  # fmt: skip
    treated = Treatments(
        provenance=provenance("branch"), floor=FLOOR, delays=SCALE.study.delays, branches=tuple(branches),
        controls=more.get("beyond", tuple(beside(seed) for seed in seeds)), **shared,
    )  # fmt: skip
    readings = Readings(
        provenance=provenance("path"), floor=FLOOR, weak_scale=WEAK, unigram_loss=UNIGRAM, events=tuple(reading(seed) for seed in more.get("read", seeds)),
        ends=tuple(ends), aged=(), **shared,
    )  # fmt: skip
    switched = Switches(
        provenance=provenance("switch"), weak_scale=WEAK, delays=SCALE.study.delays, branches=tuple(switches), replays=tuple(replays), **shared
    )  # fmt: skip
    return Cell(role, SCALE, OWN, drivers, treated, readings, switched)


def records_of(*cells: Cell) -> SetRecords:
    """The records of both roles as a seed set has them."""
    parts = ("drivers", "treated", "readings", "switched")
    return SetRecords(*({cell.role: getattr(cell, part) for cell in cells} for part in parts))
