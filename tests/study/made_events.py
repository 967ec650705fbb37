"""Records of a seed set made by hand: events whose readings and recovery times are given, so that every test's result is known."""

from __future__ import annotations

from pathlib import Path

from audit.records import Provenance, Quantity
from rankcollapse.arm_records import ArmRow, Drivers, Series, SetRecords, Switches, Treatments
from rankcollapse.params import ROLES, Branches, Driver, Rules, load_params
from rankcollapse.records import Calibration, Event, RoleCalibration
from rankcollapse.records_readings import (
    AgedRow,
    BlockRow,
    BranchEnd,
    EntropyRow,
    EventReadings,
    ForceRow,
    LawRow,
    NoiseRow,
    OrderRow,
    Readings,
    StateRow,
)

LAPTOP = load_params(Path(__file__).parents[2] / "params.yaml").scales.laptop
SCALE = LAPTOP.model_copy(
    update={
        "driver": Driver(warm=10, ramp=10, hold=10, floors=(0.01,)),
        "rules": Rules(
            collapse=0.45, recover=0.5, effective=0.1, settle_after=5, settle_window=3, recover_window=5, recover_hold=3,
            measure_driver=5, measure_switch=2, measure_loss=10, tolerance=0.5,
        ),
        "branches": Branches(added_loss=0.1, loss_steps=120, switch_steps=100, ramp_steps=50, after_ramp=10, untreated_steps=100),
        "study": LAPTOP.study.model_copy(update={"delays": (50, 150, 300)}),
    }
)  # fmt: skip
START, WEAK_SKIP = 700, 0.08
PROVENANCE = Provenance(stage="made", seals={}, parameters="0" * 64, seeds=(1,), data={})


def quantity(value: float) -> Quantity:
    """A number."""
    return Quantity(value=value, digits=2, tolerance=0.0)


ROLE = RoleCalibration.model_construct(recover_threshold=quantity(2.0), healthy_residual=quantity(0.8), healthy_rank=quantity(4.0))
CALIBRATION = Calibration.model_construct(shallow=ROLE, deep=ROLE)


def make_run(seed: int, arm: str, time: int | None, *, every: int = 2, residual: float = 0.5, floor: bool = False, extra=None) -> ArmRow:
    """A branch that recovers after `time` steps by the rank rule: three of five measurements up to there lie above the threshold."""
    steps = tuple(range(START, START + 101, every))
    first = len(steps) if time is None else time // every - 2
    series = Series(
        step=steps, skip=(0.3,) * len(steps), rank=tuple(3.0 if place >= first else 1.2 for place in range(len(steps))),
        residual=(residual,) * len(steps), loss=(5.0,) * len(steps), at_floor=(floor,) * len(steps), extra=extra or {},
    )  # fmt: skip
    return ArmRow(
        name=f"{arm}/{seed}", seed=seed, arm=arm, term="none", added_target=0.0, first_added=0.0, term_weight=0.0, clip_share=0.0,
        start=START, exempt=False, trajectory=series,
    )  # fmt: skip


def make_driven(seed: int, gap: int, cosine: int, loss: int) -> tuple[ArmRow, ArmRow]:
    """A driver whose markers cross half-way at these steps, and its control, whose loss is 4; measured at every second step of the ramp."""
    run = make_run(seed, "driver", None)
    steps = tuple(range(10, 22, 2))

    def jump(at: int) -> tuple[float, ...]:
        return tuple(0.0 if step < at else 1.0 for step in steps)

    def shown(loss: tuple[float, ...], extra: dict) -> ArmRow:
        series = run.trajectory.model_copy(update={"step": steps, "loss": loss, "extra": extra})
        return run.model_copy(update={"trajectory": series})

    return shown(tuple(4 + value for value in jump(loss)), {"gap": jump(gap), "cosine": jump(cosine)}), shown((4.0,) * 6, {})


def make_state(opening: float, *, skip: float = 0.3, loss: float = 5.0, norm: float = 1.0, residual: float = 1e-6, entropy: float = 0.95) -> StateRow:
    """A state with what the tests read of it."""
    blocks = BlockRow(rank=(1.0,), q=(0.0,), residual=(residual,), at_floor=(False,))
    return StateRow.model_construct(
        skip=skip, loss=loss, gradient_norm=norm, opening=opening, blocks=blocks, entropy=EntropyRow(rows=(entropy, entropy), sums=(entropy, entropy))
    )


def make_order(position: float, frequency: float = 0.1) -> OrderRow:
    """Correlations that are the same in three sequences but one, of either sign."""
    return OrderRow(spearman=(position, -position, 0.0), pearson=(position,), pearson_log=(position,), frequency=(frequency,) * 3, at_floor=False)


def make_event(seed: int, weak: StateRow, opened: StateRow, *, rho: float = 0.1, order: float = 0.95, slope: float | None = 2.0, entropy=0.95):
    """Everything the tests read of one saved collapse; the healthy loss is 4."""
    return EventReadings.model_construct(
        seed=seed, collapsed=make_state(1e-9, entropy=entropy), healthy=make_state(1e-2, loss=4.0),
        switches=(weak.model_copy(update={"skip": WEAK_SKIP}), opened), forces=(ForceRow(arm="hinge_1x", rho=rho),),
        order=make_order(order), order_healthy=make_order(0.1), law=LawRow(residual=(), ratio=(), slope=slope),
        noise=NoiseRow(cosine=(0.99, 0.95, 0.91, 0.9), single=(), double=(), epsilon=1e-6),
    )  # fmt: skip


def make_aged(seed: int, delay: int, opening: float, swaps: dict[str, float] | None = None, rho: float = 0.1) -> AgedRow:
    """A network after some steps at the floor."""
    return AgedRow.model_construct(seed=seed, delay=delay, state=make_state(opening), rho_hinge=rho, swaps=swaps or {}, restoring=())


def make_set(
    events: dict, aged: dict, switched: dict, treated: dict | None = None, ends: dict | None = None, crossings: dict | None = None
) -> SetRecords:
    """The records of a set from what each role has; a driver's markers cross at 12, 14 and 18 unless told."""
    saved = {
        role: tuple(
            Event(seed=event.seed, detected=20, saved=30, skip_at_collapse=0.01, rank=1.0, residual=1e-6, at_floor=False, loss=5.0, loss_gap=1.0)
            for event in events[role]
        )
        for role in ROLES
    }
    pairs = {role: [make_driven(event.seed, *(crossings or {}).get((role, event.seed), (12, 14, 18))) for event in events[role]] for role in ROLES}
    return SetRecords(
        drivers={
            role: Drivers.model_construct(
                role=role, events=saved[role], drivers=tuple(one for one, _ in pairs[role]), controls=tuple(other for _, other in pairs[role])
            )
            for role in ROLES
        },
        treated={role: Treatments.model_construct(role=role, branches=tuple((treated or {}).get(role, ()))) for role in ROLES},
        readings={
            role: Readings.model_construct(
                role=role, weak_scale=WEAK_SKIP, unigram_loss=5.0, events=tuple(events[role]), aged=tuple(aged[role]),
                ends=tuple(
                    BranchEnd.model_construct(seed=seed, arm=arm, state=make_state(1.0, loss=loss)) for arm, seed, loss in (ends or {}).get(role, ())
                ),
            )
            for role in ROLES
        },
        switched={role: Switches.model_construct(role=role, branches=tuple(switched[role])) for role in ROLES},
    )  # fmt: skip
