"""Records of a study that never ran: plausible courses by formula, for what is drawn or told from records and not for what is measured."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from courses import FLOOR, HEALTHY, RAMP, SAVED, WARM, down, fallen, flat, healthy_rank, learned, own, plain, rise, row, series

from rankcollapse.arm_records import ArmRow, Continuations, Development, Drivers, Excursion, Excursions, SetRecords, Switches, Treatments
from rankcollapse.params import ROLES
from rankcollapse.quantities import count, exact
from rankcollapse.records import Calibration, Event, FloorRow, Profile, RoleCalibration, RunRow, Trajectory
from rankcollapse.records_readings import (
    AgedRow,
    BlockRow,
    BranchEnd,
    CurvePoint,
    EntropyRow,
    EventReadings,
    ForceRow,
    LawRow,
    LineRow,
    NoiseRow,
    OrderRow,
    Readings,
    ReplayRow,
    StateRow,
    Synthetic,
)

LOSSES = (
    "penalty_1x",
    "penalty_4x",
    "hinge_1x",
    "hinge_4x",
    "cosine_1x",
    "penalty_1x_unclipped",
    "hinge_1x_unclipped",
    "hinge_4x_unclipped",
    "hinge_10x_unclipped",
)
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)


class Invented(NamedTuple):
    """Everything that figures are drawn from."""

    calibration: Calibration
    main: SetRecords
    replication: SetRecords
    synthetic: Synthetic
    excursions: Excursions
    continuations: Continuations
    development: Development
    openings: dict[tuple[float, int], float]


def profile(depth: int, last: float, decades: float) -> Profile:
    """Norms that rise towards the output by so many decades."""
    qkv = last * 10 ** np.linspace(-decades, 0, depth)
    return Profile(qkv=tuple(map(float, qkv)), qk=tuple(map(float, qkv * 1e-2)), v=tuple(map(float, qkv)))


def state(depth: int, skip: float, task: Profile, rank: float) -> StateRow:
    """A network at a skip scale."""
    blocks = BlockRow(rank=(rank,) * depth, q=(1.0,) * depth, residual=(0.5,) * depth, at_floor=(False,) * depth)
    entropy = EntropyRow(rows=(0.9,) * depth, sums=(0.9,) * depth)
    return StateRow(skip=skip, loss=5.0, gradient_norm=1.0, task=task, opening=float(np.median(task.qk)), blocks=blocks, entropy=entropy)


def read_event(seed: int, depth: int, weak: float, rng: np.random.Generator) -> EventReadings:
    """What was read of one collapse."""
    near = float(10 ** (0.4 * rng.standard_normal()))
    low, high = profile(depth, 5e-3 * near, depth / 2), profile(depth, 7e-2, 0.2)
    rho = {"penalty": 0.003 * near, "hinge": 0.08 * near, "cosine": 0.05 * near}
    order = OrderRow(spearman=(0.5,), pearson=(0.5,), pearson_log=(0.5,), frequency=(0.1,), at_floor=False)
    curves = {"penalty": lambda share: 1 + 40 * share, "hinge": lambda share: 1 - share / 0.9, "cosine": lambda share: 1 + 3 * share}
    return EventReadings(
        seed=seed,
        collapsed=state(depth, FLOOR, low, 1.0),
        healthy=state(depth, 1.0, high, HEALTHY),
        healthy_at_floor=state(depth, FLOOR, low, 1.5),
        switches=tuple(state(depth, skip, profile(depth, 0.1 * near * skip, 3 - 3 * skip), 1.3) for skip in (weak, 0.3, 1.0)),
        hinge=profile(depth, 6e-4, -2.5),
        forces=tuple(ForceRow(arm=arm, rho=rho[arm.split("_")[0]] * int(arm.split("_")[1][:-1])) for arm in LOSSES[:5]),
        lines=tuple(
            LineRow(
                term=term,
                share=SHARES,
                healthy=tuple(rho[term] * curves[term](share) for share in SHARES),
                random=tuple(rho[term] * (1 + share) for share in SHARES),
            )
            for term in rho
        ),
        order=order,
        order_healthy=order,
        noise=NoiseRow(cosine=(1.0,), single=(1.0,), double=(1.0,), epsilon=1e-7),
        law=LawRow(residual=(0.1,), ratio=(0.1,)),
    )


def invent_set(role: str, depth: int, seeds: tuple[int, ...], few: int, rng: np.random.Generator) -> tuple[Drivers, Treatments, Readings, Switches]:
    """One depth of a seed set: the first collapses get every arm, others those that all get."""
    slow, weak, delays = depth / 6, 0.05, (50, 150, 300)
    events = tuple(
        Event(
            seed=seed,
            detected=590 + 3 * (seed % 4),
            saved=SAVED,
            skip_at_collapse=float(down(np.array(590.0 + 3 * (seed % 4)))),
            rank=1.02,
            residual=1e-4,
            at_floor=False,
            loss=5.4,
            loss_gap=0.9,
        )
        for seed in seeds
    )
    drivers = tuple(
        row(f"driver/{seed}", range(WARM, SAVED + 1, 5), down, fallen(seed), lambda at: learned(at) + (at > 580) * (at - 580) / 90, rng)
        for seed in seeds
    )
    controls = tuple(row(f"control/{seed}", range(0, SAVED + 1, 5), flat(1.0), healthy_rank, learned, rng) for seed in seeds)
    lost, treated, switched, aged, replays = flat(5.4), [], [], [], []
    for place, seed in enumerate(seeds):
        up = lambda at: np.clip(FLOOR + (1 - FLOOR) * (at - SAVED) / RAMP, 0, 1)
        treated.append(row(f"untreated/{seed}", range(SAVED, SAVED + 301, 10), flat(FLOOR), flat(1.05), lost, rng))
        treated.append(row(f"ramp/{seed}", range(SAVED, SAVED + 341, 10), up, rise(SAVED, 140 * slow + 15 * place), lost, rng))
        treated += [row(f"aged_decay_0/{seed}", range(SAVED, SAVED + 301, 10), flat(FLOOR), flat(1.1), lost, rng)] if place < few else []
        arms = LOSSES if place < few else LOSSES[:4]
        treated += [
            row(f"{arm}/{seed}", range(SAVED, SAVED + 121, 10), flat(FLOOR), flat(1.08 + 0.03 * i), lost, rng, arm.split("_")[0])
            for i, arm in enumerate(arms)
        ]
        times = {
            "switch_weak": (weak, 0, 160 * slow if place % 2 else np.inf),
            "switch_03": (0.3, 0, 40 * slow + 8 * place),
            "switch_06": (0.6, 0, 30 * slow),
            "switch_1": (1.0, 0, 25 * slow),
        }
        times |= {f"delay_{n}": (0.3, delay, (60 + delay / 2 + 12 * place) * slow) for n, delay in enumerate(delays, 1)}
        times |= {"decay_0": (0.3, 300, 90.0), "reset": (0.3, 300, 150.0)} if place < few else {}
        for arm, (skip, delay, after) in times.items():
            begin = SAVED + delay
            switched.append(row(f"{arm}/{seed}", range(begin, begin + 251, 2), flat(float(np.float32(skip))), rise(begin, after), lost, rng))
        aged += [
            AgedRow(
                seed=seed,
                delay=delay,
                state=state(depth, 0.3, profile(depth, 0.03 / (1 + delay / 50) * (1 + place / 3), 3), 1.2),
                rho_hinge=0.05,
                swaps={},
                restoring=(),
            )
            for delay in delays
        ]
        replays += [
            ReplayRow(seed=seed, skip=skip, updates=n, rank=1.5, residual=0.1, at_floor=False, loss=5.0, task=profile(depth, 0.08, 1.5 - skip))
            for skip in (0.3, 1.0)
            for n in (4, 20)
        ]
    ends = tuple(
        BranchEnd(seed=seed, arm=arm, state=state(depth, FLOOR, profile(depth, 5e-3, 3), 1.1), rho=0.02 * (i + 1))
        for seed in seeds
        for i, arm in enumerate(LOSSES[:4])
    )
    read = tuple(read_event(seed, depth, weak, rng) for seed in seeds)
    shared = {"role": role, "depth": depth}
    return (
        Drivers(provenance=own("collapse"), floor=FLOOR, events=events, dips=(), unsettled=(), drivers=drivers, controls=controls, **shared),
        Treatments(provenance=own("branch"), floor=FLOOR, delays=delays, branches=tuple(treated), controls=(), **shared),
        Readings(provenance=own("path"), floor=FLOOR, weak_scale=weak, unigram_loss=5.3, events=read, ends=ends, aged=tuple(aged), **shared),
        Switches(provenance=own("switch"), weak_scale=weak, delays=delays, branches=tuple(switched), replays=tuple(replays), **shared),
    )


def invent_records(depths: dict[str, int], seeds: tuple[int, ...], few: int, rng: np.random.Generator) -> SetRecords:
    """Both depths of a seed set."""
    parts = {role: invent_set(role, depths[role], seeds, few, rng) for role in ROLES}
    return SetRecords(*({role: parts[role][place] for role in ROLES} for place in range(4)))


def invent_calibration(depths: dict[str, int], rng: np.random.Generator) -> Calibration:
    """Calibration over a grid of floors of which the lower ones collapse."""

    def one(depth: int) -> RoleCalibration:
        floors, steps = (0.04, 0.02, 0.01, 0.005), range(WARM, WARM + RAMP + 121, 5)
        runs = [("control", 1.0, healthy_rank)] + [("driver", floor, fallen(1) if floor <= 0.01 else healthy_rank) for floor in floors]
        rows = tuple(
            RunRow(
                name=f"{arm}/{seed}",
                seed=seed,
                arm=arm,
                term="none",
                added_target=0.0,
                first_added=0.0,
                term_weight=0.0,
                clip_share=0.1,
                trajectory=Trajectory(**series(steps, lambda at, floor=floor: down(at, floor), rank, learned, rng)),
            )
            for arm, floor, rank in runs
            for seed in (101, 102)
        )
        grid = tuple(
            FloorRow(floor=exact(floor, digits=3), settled=count([floor <= 0.01] * 2), stayed=count([floor <= 0.01] * 2), effective=count([floor <= 0.01] * 2)) for floor in floors
        )
        return RoleCalibration(
            depth=exact(depth),
            edge=exact(0.01, digits=3),
            healthy_rank=plain(HEALTHY),
            healthy_residual=plain(0.8),
            healthy_q=1.4,
            collapse_threshold=plain(1.35),
            recover_threshold=plain(1.5),
            early_dip_ends=plain(80),
            grid=grid,
            runs=rows,
        )

    return Calibration(provenance=own("calibrate"), floor=exact(FLOOR, digits=3), **{role: one(depths[role]) for role in ROLES})


def invent_bursts(depth: int, seeds: tuple[int, ...], rng: np.random.Generator) -> tuple[dict, tuple[ArmRow, ...], tuple[ArmRow, ...]]:
    """Bursts of two multipliers, what followed them, and controls; the second leaves networks that do not come back."""
    start, end = 300, 350
    fall = lambda at: np.where(at < start, HEALTHY, 1.02 + (HEALTHY - 1) * np.exp(-np.clip(at - start, 0, None) / 3))
    warm = tuple(row(f"warm/{seed}", range(0, start + 1, 5), flat(1.0), healthy_rank, learned, rng) for seed in seeds)
    raised = tuple(row(f"burst_{m:g}/{seed}", range(start, end + 1, 2), flat(1.0), fall, flat(6.0), rng) for m in (24.0, 48.0) for seed in seeds)
    controls = tuple(row(f"control/{seed}", range(start, end + 1, 2), flat(1.0), flat(HEALTHY), learned, rng) for seed in seeds)
    after = tuple(
        row(f"after_{m:g}/{seed}", range(end, end + 301, 10), flat(1.0), rise(end, 90 + 20 * i if m == 24 else 500, 2.6, 30), flat(5.0), rng)
        for m in (24.0, 48.0)
        for i, seed in enumerate(seeds)
    )
    beside = tuple(row(f"control/{seed}", range(end, end + 301, 10), flat(1.0), flat(HEALTHY), learned, rng) for seed in seeds)
    gaps = {m: tuple(float(level + 0.05 * i) for i in range(len(seeds))) for m, level in ((24.0, 1.0), (48.0, 1.8))}
    judged = tuple(
        Excursion(multiplier=m, below=count([True] * len(seeds)), diverged=count([False] * len(seeds)), rank=(1.02,) * len(seeds), loss_gap=gaps[m])
        for m in gaps
    )
    return {"role": "deep", "depth": depth, "seeds": seeds, "excursions": judged, "warm": warm, "bursts": raised, "controls": controls}, after, beside


def invent(seeds: int = 4, depths: tuple[int, int] = (6, 12), few: int = 3) -> Invented:
    """The whole study at the laptop's sizes, or smaller."""
    rng, by_role = np.random.default_rng(1), dict(zip(ROLES, depths, strict=True))
    sets = [invent_records(by_role, tuple(range(first, first + seeds)), few, rng) for first in (11, 21)]
    burst, after, beside = invent_bursts(depths[1], tuple(range(31, 31 + 2 * seeds)), rng)
    tried, later, control = invent_bursts(depths[1], (41, 42), rng)
    del tried["warm"]
    points = tuple(
        CurvePoint(
            delta=d,
            q=d,
            sigma=1.0,
            penalty=5e-4 * d,
            hinge=0.022,
            cosine=0.02 * d**0.5 / (0.05 + d),
            penalty_closed=5e-4 * d,
            hinge_closed=0.022,
            cosine_closed=0.02 * d**0.5 / (0.05 + d),
        )
        for d in (float(10**-x) for x in np.linspace(0, 4, 9))
    )
    shared = {"role": "deep", "depth": depths[1]}
    return Invented(
        invent_calibration(by_role, rng),
        *sets,
        Synthetic(provenance=own("synthetic"), tokens=256, width=128, points=points),
        Excursions(provenance=own("burst"), **burst),
        Continuations(provenance=own("continue"), multipliers=(24.0, 48.0), branches=after, controls=beside, **shared),
        Development(
            provenance=own("development"),
            m1=exact(24.0, digits=1),
            m2=exact(48.0, digits=1),
            all_below=True,
            branches=later,
            **tried | {"controls": control},
        ),
        {
            (m, seed): float(level * 10 ** (0.2 * rng.standard_normal()))
            for m, level in ((24.0, 4e-4), (48.0, 8e-5))
            for seed in (*burst["seeds"], 41, 42)
        },
    )
