"""From records to quantities: each summary follows from its values, and other trajectories give other verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, median

import pytest
from corpora import refusal
from tiny_study import SCALE, SEEDS, Records, provenance

from audit.records import Quantity, record_bytes
from rankcollapse.analysis import analyse, ratios
from rankcollapse.quantities import count, exact, trained
from rankcollapse.records import Main
from rankcollapse.tables import ARMS, LOSS_ARMS

UNIGRAM = 4.0
SUMMARIES = {"median": median, "mean": fmean, "min": min, "max": max, "sum": sum, "count": lambda values: sum(value != 0 for value in values)}


def run_analysis(records: Records) -> Main:
    """The main record of a study's records."""
    return analyse(provenance("analyse"), SCALE, records.calibration, records.collapsed, records.branched, records.paths, UNIGRAM)


@pytest.fixture(scope="module")
def main(study):
    """The main record of the tiny study."""
    return run_analysis(study.records)


def change_arm(records: Records, arm: str, edit, roles: tuple[str, ...] = ("shallow", "deep")) -> Records:
    """The records with every trajectory of one arm changed."""
    branched = dict(records.branched)
    for role in roles:
        rows = [row.model_copy(update={"trajectory": row.trajectory.model_copy(update=edit(row.trajectory))}) if row.arm == arm else row for row in branched[role].branches]
        branched[role] = branched[role].model_copy(update={"branches": tuple(rows)})
    return records._replace(branched=branched)


def constant_run(rank: float, residual: float = 1.0, at_floor: bool = False):
    """An edit that sets a trajectory to constant values."""
    return lambda run: {"rank": (rank,) * len(run.step), "residual": (residual,) * len(run.step), "at_floor": (at_floor,) * len(run.step)}


def walk(value: object, place: str = "") -> Iterator[tuple[str, Quantity]]:
    """Every quantity of a record with its place."""
    if isinstance(value, Quantity):
        yield place, value
    elif hasattr(type(value), "model_fields"):
        for name in type(value).model_fields:
            yield from walk(getattr(value, name), f"{place}.{name}")


def test_every_summary_follows_from_its_values(main):
    """Value and tolerance of every quantity are recomputed from its per-unit values."""
    seen = 0
    for place, quantity in walk(main):
        if quantity.summary is None:
            assert place.startswith(".settings") and quantity.values is None
            continue
        assert quantity.value == SUMMARIES[quantity.summary](quantity.values), place
        expected = 0 if quantity.summary == "count" else 0.5 * (max(quantity.values) - min(quantity.values))
        assert quantity.tolerance == expected, place
        seen += 1
    assert seen > 200


def test_both_is_shallow_then_deep(main):
    """Every per-event value of the pooled result stands in one of the roles' results, in their order."""
    shallow, deep, both = (dict(walk(getattr(main, name))) for name in ("shallow", "deep", "both"))
    for place in sorted(set(shallow) & set(deep) & set(both)):
        if place.startswith(".loss_arms"):
            assert sorted(both[place].values) == sorted(shallow[place].values + deep[place].values)
        else:
            assert both[place].values == shallow[place].values + deep[place].values, place
    assert main.both.depth == "2 and 3" and main.both.events.driven.value == 4


def test_the_gap_is_to_the_control_at_the_same_step(study, main):
    """Final loss of a branch minus the healthy control's loss at that step."""
    records = study.records
    for index, event in enumerate(records.collapsed["deep"].events):
        healthy = [run for run in (*records.collapsed["deep"].controls, *records.branched["deep"].controls) if run.seed == event.seed]
        losses = {step: loss for run in healthy for step, loss in zip(run.trajectory.step, run.trajectory.loss, strict=True)}
        for arm in ARMS:
            run = next(run.trajectory for run in records.branched["deep"].branches if run.name == f"{arm}/{event.seed}")
            assert getattr(main.deep.arms, arm).loss_gap.values[index] == run.loss[-1] - losses[run.step[-1]]


VERDICTS = {
    "healthy again": (constant_run(9.0), 4, 4),
    "rank without a residual": (constant_run(9.0, residual=1e-9), 4, 0),
    "rank at floor": (constant_run(9.0, at_floor=True), 0, 0),
    "still collapsed": (constant_run(1.01), 0, 0),
    "residual without a rank": (constant_run(1.01, residual=1.0), 0, 0),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts_follow_the_trajectory(study, name):
    """Recovered by rank, and effectively, of four events; the loss arms' totals follow."""
    edit, by_rank, effective = VERDICTS[name]
    records = study.records
    for arm in LOSS_ARMS:
        records = change_arm(records, arm, edit)
    main = run_analysis(records)
    assert (main.both.arms.hinge_4x.recovered_rank.value, main.both.arms.hinge_4x.recovered_effective.value) == (by_rank, effective)
    assert (main.both.loss_arms_rank.value, main.both.loss_arms_effective.value) == (4 * by_rank, 4 * effective)
    steps = main.both.arms.hinge_4x.steps_to_recovery
    assert steps is None if by_rank == 0 else steps.values == (5,) * 4


def test_recovery_is_dated_from_the_saved_step(study):
    """A switch branch that comes back at its seventh measurement recovered six steps after the event, whenever that was saved."""
    late = lambda run: {"rank": tuple(1.01 if i < 6 else 9.0 for i in range(len(run.step))), "residual": (1.0,) * len(run.step)}  # noqa: E731
    assert run_analysis(change_arm(study.records, "switch_03", late)).both.arms.switch_03.steps_to_recovery.values == (6, 6, 6, 6)


def test_hysteresis_compares_the_scales(study, main):
    """Scale at recovery on the reversed ramp over that at collapse, each event; 0 where the ramp recovers nothing."""
    stuck = run_analysis(change_arm(study.records, "ramp", constant_run(1.01)))
    assert set(stuck.both.hysteresis.ratio.values) == {0.0} and stuck.both.hysteresis.skip_at_recovery.value == 0
    back = run_analysis(change_arm(study.records, "ramp", lambda run: {"rank": (1.0, 1.0, 9.0, 9.0, 9.0), "residual": (1.0,) * 5}))
    assert set(back.both.hysteresis.skip_at_recovery.values) == {1.0}
    collapse = [max(event.skip_at_collapse, 1e-3) for role in ("shallow", "deep") for event in study.records.collapsed[role].events]
    assert back.both.hysteresis.ratio.values == pytest.approx([1 / skip for skip in collapse])


@pytest.mark.parametrize(("one", "other"), [("untreated", "switch_1"), ("hinge_1x", "hinge_4x"), ("ramp", "switch_03")])
def test_permuted_arms_change_the_results(study, main, one, other):
    """Swapping two treatments' labels swaps their results and leaves the others: a record that ignores labels is caught."""
    swap = {one: other, other: one}
    branched = {
        role: record.model_copy(update={"branches": tuple(run.model_copy(update={"arm": swap.get(run.arm, run.arm)}) for run in record.branches)})
        for role, record in study.records.branched.items()
    }
    swapped = run_analysis(study.records._replace(branched=branched))
    assert record_bytes(swapped) != record_bytes(main)
    for arm in ARMS:
        before, after = (getattr(result.both.arms, name) for result, name in ((main, arm), (swapped, swap.get(arm, arm))))
        assert before == after, arm


def test_permuted_events_do_not_change_counts(study, main):
    """The order in which branches lie in their record does not matter: seeds match them to events."""
    branched = {role: record.model_copy(update={"branches": record.branches[::-1]}) for role, record in study.records.branched.items()}
    assert record_bytes(run_analysis(study.records._replace(branched=branched))) == record_bytes(main)


def test_paths_are_summarised_per_event(study, main):
    """Largest collapsed-to-healthy ratio over blocks, smallest rise after a switch, median openness: recomputed by hand."""
    rows = study.records.paths["deep"].events
    over = [max(a / b for a, b in zip(row.collapsed.qk, row.healthy.qk, strict=True)) for row in rows]
    rise = [min(a / b for a, b in zip(row.switch_1.qk, row.collapsed.qk, strict=True)) for row in rows]
    opened = [sorted(a / b for a, b in zip(row.switch_1.qk, row.healthy.qk, strict=True))[1] for row in rows]
    path = main.deep.path
    assert (path.qk_over_healthy.values, path.rise_1.values, path.open_1.values) == (tuple(over), tuple(rise), tuple(opened))
    above = [row.rank_at_1 >= study.records.calibration.deep.recover_threshold.value for row in rows]
    assert path.above_at_1.values == tuple(map(int, above))
    assert main.deep.force.hinge_over_penalty.values == pytest.approx([row.rho_hinge / row.rho_penalty for row in rows])


def test_the_state_stands_beside_its_control(study, main):
    """Loss gap, entropy and distance from the unigram loss are those of events and paths."""
    events, rows = study.records.collapsed["shallow"].events, study.records.paths["shallow"].events
    state = main.shallow.state
    assert state.loss_gap.values == tuple(event.loss_gap for event in events) and state.loss_gap_min.value == min(state.loss_gap.values)
    assert state.entropy_healthy_max.value == max(row.entropy_healthy for row in rows)
    assert state.loss_from_unigram.values == tuple(abs(row.unseen_loss - UNIGRAM) for row in rows)


def test_a_ratio_against_zero_is_finite():
    """Denominators count as at least the least value; a zero over a zero is zero."""
    assert ratios([1.0, 0.0, 3.0], [2.0, 0.0, 0.0], 1e-3) == [0.5, 0.0, 3000.0]


def test_quantities():
    """A trained value's tolerance is the declared share of the range between units; set values and counts have none."""
    assert trained([1.0, 4.0, 2.0], SCALE, digits=1).model_dump() == exact(2.0, digits=1).model_dump() | {"tolerance": 1.5, "summary": "median", "values": (1.0, 4.0, 2.0)}
    assert (count([True, False, True]).value, count([True, False, True]).values, count([]).value) == (2, (1, 0, 1), 0)
    assert exact(3).style == "integer" and exact(0.5, digits=1).style == "fixed"


def without_events(records: Records) -> Records:
    """A study in which nothing settled at the deep role."""
    empty = records.collapsed["deep"].model_copy(update={"events": (), "unsettled": SEEDS})
    none = {"branched": records.branched["deep"].model_copy(update={"branches": (), "controls": ()}), "paths": records.paths["deep"].model_copy(update={"events": ()})}
    return records._replace(collapsed=records.collapsed | {"deep": empty}, branched=records.branched | {"deep": none["branched"]}, paths=records.paths | {"deep": none["paths"]})


def test_a_role_without_events_is_refused(study):
    """Where no collapse settled there is nothing to analyse, said in one line with the role."""
    line = refusal(run_analysis, without_events(study.records))
    assert line == "analyse deep: no collapse settled, so there is nothing to analyse; cure: hold longer (driver.hold), or other seeds"


def test_a_branch_without_its_control_is_refused(study):
    """A branch that ended early, at a step where the control was not measured, is one line with the branch's name."""
    cut = lambda run: {name: value[:-4] for name, value in run}  # noqa: E731
    line = refusal(run_analysis, change_arm(study.records, "switch_1", cut))
    assert line == "switch_1/0: its control was not measured at its last step; found (26,); cure: measure both at common steps (rules.measure_*)"
