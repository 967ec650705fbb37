"""From rows of readings to named numbers, one an event: what claims and summaries are made of; free of torch."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log10
from statistics import fmean, median

from rankcollapse import path_rules
from rankcollapse.records_readings import BlockRow, BranchEnd, CurvePoint, EventReadings, ReplayRow, StateRow

SWITCHED = ("switch_weak", "switch_03", "switch_1")
"""The switches of an event's readings, in their order: by place, since the weak scale may equal another."""
SMALL_DELTA = 0.1
"""Distances from rank one up to this are those at which the hinge's force should not vary."""


def value_event(event: EventReadings, replays: Sequence[ReplayRow], recover: float) -> dict[str, float]:
    """Every number of one saved collapse and of its replayed switches; `recover` is the rank that counts as recovered."""
    values = value_path(event) | value_force(event) | value_state(event)
    named = dict(zip(SWITCHED, event.switches, strict=True))
    for name, state in named.items():
        values |= {f"path.{name}.{key}": value for key, value in value_switch(state, event, recover).items()}
    names = {state.skip: name for name, state in named.items() if name != SWITCHED[0]}
    for replay in replays:
        above = replay.rank >= recover and not replay.at_floor
        values[f"path.{names[replay.skip]}.rank_above_after_{replay.updates}"] = float(above)
    return values | name_looks(values, {replay.updates for replay in replays})


def name_looks(values: Mapping[str, float], updates: Collection[int]) -> dict[str, float]:
    """The first and the last look at each replayed switch under names that no scale's numbers of updates change."""
    if not updates:
        return {}
    ends = {f"_after_{number}": f"_after_{name}" for name, number in (("first", min(updates)), ("last", max(updates)))}
    return {key.replace(old, new): value for old, new in ends.items() for key, value in values.items() if key.endswith(f"rank_above{old}")}


def value_path(event: EventReadings) -> dict[str, float]:
    """Profiles of the collapsed and the healthy network, and of the hinge."""
    collapsed, healthy = event.collapsed.task, event.healthy.task
    return {
        "path.collapsed.qkv_first": collapsed.qkv[0],
        "path.collapsed.qkv_last": collapsed.qkv[-1],
        "path.collapsed.orders": log10(max(path_rules.last_over_first(collapsed.qkv), path_rules.LEAST)),
        "path.collapsed.v_share": median(path_rules.value_shares(collapsed)),
        "path.collapsed.qk": event.collapsed.opening,
        "path.collapsed.qk_over_healthy_max": max(path_rules.over_healthy(collapsed.qk, healthy.qk)),
        "path.collapsed.hinge_first": event.hinge.qkv[0],
        "path.collapsed.hinge_last": event.hinge.qkv[-1],
        "path.healthy.qkv_first": healthy.qkv[0],
        "path.healthy.qkv_median": median(healthy.qkv),
        "path.healthy.qk": event.healthy.opening,
        "path.healthy.rule_met": float(path_rules.is_open(healthy.qk)),
        "path.healthy.rule_met_qkv": float(path_rules.is_open(healthy.qkv)),
    }


def value_switch(state: StateRow, event: EventReadings, recover: float) -> dict[str, float]:
    """A switch before any update: what it opens, and whether the rank is back by itself."""
    before, healthy = event.collapsed.task.qk, event.healthy.task.qk
    return {
        "qk": state.opening,
        "qk_rise_min": min(path_rules.over_healthy(state.task.qk, before)),
        "qk_over_healthy": median(path_rules.over_healthy(state.task.qk, healthy)),
        "rule_met": float(path_rules.is_open(state.task.qk)),
        "rule_met_qkv": float(path_rules.is_open(state.task.qkv)),
        "open_in_every_block": float(path_rules.is_open_relative(state.task.qk, healthy)),
        "rank_above_before": float(last_rank(state.blocks) >= recover),
        "grad_norm": state.gradient_norm,
        "residual": state.blocks.residual[-1],
        "loss": state.loss,
    }


def last_rank(blocks: BlockRow) -> float:
    """Rank of the last block; 1, the value of a collapse, where it is at floor."""
    return 1.0 if blocks.at_floor[-1] else blocks.rank[-1]


def value_force(event: EventReadings) -> dict[str, float]:
    """rho of every arm and at both ends of the line to the healthy network.

    At switch-on an arm at four times the added loss has four times the force by construction: that ratio is no measurement.
    """
    values = {f"force.{row.arm}.rho": row.rho for row in event.forces}
    for line in event.lines:
        values |= {f"force.line.{line.term}_start": line.healthy[0], f"force.line.{line.term}_end": line.healthy[-1]}
    if {"force.hinge_1x.rho", "force.penalty_1x.rho"} <= values.keys():
        values["force.hinge_over_penalty"] = values["force.hinge_1x.rho"] / max(values["force.penalty_1x.rho"], path_rules.LEAST)
    return values


def value_state(event: EventReadings) -> dict[str, float]:
    """Entropies (mean over blocks), the healthy weights at the floor, and the order of what is left of the tokens."""
    floor, collapsed = event.healthy_at_floor, event.collapsed
    return {
        "entropy.collapsed": fmean(collapsed.entropy.rows),
        "entropy.healthy": fmean(event.healthy.entropy.rows),
        "state.healthy_at_floor.loss": floor.loss,
        "state.healthy_at_floor.grad_norm": floor.gradient_norm,
        "state.collapsed.grad_norm": collapsed.gradient_norm,
        "state.healthy_at_floor.loss_minus_collapsed": floor.loss - collapsed.loss,
        "state.healthy_at_floor.grad_norm_over_collapsed": floor.gradient_norm / max(collapsed.gradient_norm, path_rules.LEAST),
        "order.collapsed": median(event.order.spearman),
        "order.healthy": median(event.order_healthy.spearman),
        "order.frequency": median(event.order.frequency),
    }


def value_end(end: BranchEnd, healthy_rank: float) -> dict[str, float]:
    """Rank by block and entropy at the end of a branch; the middle block is number L // 2, counted from 0."""
    rank = [1.0 if floor else value for value, floor in zip(end.state.blocks.rank, end.state.blocks.at_floor, strict=True)]
    return {
        "rank_end_first": rank[0],
        "rank_end_middle": rank[len(rank) // 2],
        "rank_end_last": rank[-1],
        "rank_end_first_over_healthy": rank[0] / healthy_rank,
        "rank_end_last_over_healthy": rank[-1] / healthy_rank,
        "entropy_end": fmean(end.state.entropy.rows),
    }


def value_synthetic(points: Sequence[CurvePoint]) -> dict[str, float]:
    """How far the curve is from its closed forms, and how much the hinge's force varies near rank one."""
    near = [point.hinge for point in points if point.delta <= SMALL_DELTA]
    errors = {kind: max(abs(getattr(point, kind) / getattr(point, f"{kind}_closed") - 1) for point in points) for kind in ("penalty", "hinge", "cosine")}
    return {f"synth.{kind}.error": error for kind, error in errors.items()} | {"synth.hinge.spread_below_tenth": max(near) / min(near) - 1}


def list_errors(replays: Sequence[ReplayRow]) -> tuple[float, ...]:
    """Relative differences of replayed from logged ranks, of all replays that have one."""
    return tuple(replay.error for replay in replays if replay.error is not None)


def make_columns(rows: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, ...]]:
    """Rows of the same keys as one tuple a key, in the order of the rows; ValueError where a row lacks a key that another has."""
    if len({frozenset(row) for row in rows}) > 1:
        raise ValueError("rows of different keys")
    return {key: tuple(row[key] for row in rows) for key in (rows[0] if rows else ())}
