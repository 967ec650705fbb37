"""What saved collapses, replayed switches and the ends of branches say of one seed set at one depth; free of torch."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from audit.records import Refusal
from rankcollapse.path_rules import LEAST
from rankcollapse.reading_values import list_errors, make_columns, value_end, value_event
from rankcollapse.records import Event
from rankcollapse.records_readings import BranchEnd
from rankcollapse.seed_cells import Cell, Values, share_of

FORCES = {"force.hinge_4x_over_1x": ("hinge_4x", "hinge_1x"), "force.penalty_4x_over_1x": ("penalty_4x", "penalty_1x")}
"""Ratios of forces at the ends of two arms of the same collapse: at switch-on they are four by construction."""


def value_collapses(cell: Cell) -> Values:
    """The collapses as they were saved. A rank at floor is 1.

    The share of the unigram gap is read on the gradient probe, from the control's last state beside the drivers; it is 0 where that
    control does no better than a model that knows how often each token occurs.
    """
    events, read, unigram = cell.events, cell.readings.events, cell.readings.unigram_loss
    return {
        "collapse.skip": tuple(event.skip_at_collapse for event in events),
        "collapse.rank": tuple(1.0 if event.at_floor else event.rank for event in events),
        "collapse.residual": tuple(event.residual for event in events),
        "collapse.at_floor": tuple(int(event.at_floor) for event in events),
        "collapse.loss": tuple(event.loss for event in events),
        "collapse.gap": tuple(event.loss_gap for event in events),
        "collapse.gap_at_detection": tuple(gap_at_detection(event, cell) for event in events),
        "collapse.gap_over_unigram_gap": tuple(share_of(row.collapsed.loss - row.healthy.loss, unigram - row.healthy.loss) for row in read),
        "collapse.loss_minus_unigram": tuple(row.collapsed.loss - unigram for row in read),
    }


def gap_at_detection(event: Event, cell: Cell) -> float:
    """Loss of a driver above its healthy control's where its collapse was first seen, nats."""
    run = cell.driver(event.seed).trajectory
    return run.loss[run.step.index(event.detected)] - cell.control(event.seed).near(event.detected)


def value_paths(cell: Cell) -> Values:
    """Paths, forces, states and orders by event, and how far replayed switches are from logged ones; Refusal where a replay is missing."""
    replays = {seed: [row for row in cell.switched.replays if row.seed == seed] for seed in cell.seeds}
    kinds = {seed: [(row.skip, row.updates) for row in rows] for seed, rows in replays.items()}
    first = kinds[cell.seeds[0]]
    for seed, own in kinds.items():
        if own != first:
            raise Refusal(f"summary {cell.role}: seed {seed}", "its replays are not those of the first collapse", cure="run the stage switch again")
    values: Values = make_columns([value_event(row, replays[row.seed], cell.threshold) for row in cell.readings.events])
    errors = list_errors(cell.switched.replays)
    return values | ({"path.replay.error": errors} if errors else {})


def value_ends(cell: Cell) -> Values:
    """Ranks by block, entropy and force at the ends of the branches that stay at the floor, and forces of one arm over another's."""
    ends, healthy = arrange_ends(cell), float(cell.calibration.healthy_rank.value)
    values: Values = {}
    for arm, rows in ends.items():
        values |= {f"{arm}.{name}": own for name, own in make_columns([value_end(row, healthy) for row in rows.values()]).items()}
        values[f"{arm}.loss_minus_unigram_end"] = tuple(row.state.loss - cell.readings.unigram_loss for row in rows.values())
        if forces := tuple(row.rho for row in rows.values() if row.rho is not None):
            values[f"force.{arm}.rho_end"] = forces
    for name, (strong, weak) in FORCES.items():
        pairs = [(row, ends[weak][seed]) for seed, row in ends.get(strong, {}).items() if seed in ends.get(weak, {})]
        if pairs:
            values[name] = tuple((one.rho or 0.0) / max(other.rho or 0.0, LEAST) for one, other in pairs)
    return values | value_ageing(cell, list(ends.get("untreated", {}).values()))


def arrange_ends(cell: Cell) -> dict[str, dict[int, BranchEnd]]:
    """Ends by arm and by seed, in the order of the events."""
    found: dict[str, dict[int, BranchEnd]] = {}
    for row in sorted(cell.readings.ends, key=lambda row: cell.seeds.index(row.seed)):
        found.setdefault(row.arm, {})[row.seed] = row
    return found


def value_ageing(cell: Cell, ends: Sequence[BranchEnd]) -> Values:
    """Attention entropy of the untreated copies when saved, and how far it went from there."""
    starts = {row.seed: fmean(row.collapsed.entropy.rows) for row in cell.readings.events}
    pairs = [(starts[row.seed], fmean(row.state.entropy.rows)) for row in ends]
    changes = {"untreated.entropy_start": tuple(start for start, _ in pairs), "untreated.entropy_change": tuple(end - start for start, end in pairs)}
    return changes if ends else {}


def value_readings(cell: Cell) -> Values:
    """Every number of the readings of one role."""
    return value_collapses(cell) | value_paths(cell) | value_ends(cell)
