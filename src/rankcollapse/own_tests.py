"""What is asked beyond the source paper, from the replication's records: what ages, what order is left, rank without function; and the outcome.

Targets and factors are those that were registered; they are named here because the counts depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from audit.records import Quantity, Refusal
from rankcollapse.arm_records import ArmRow, SetRecords
from rankcollapse.evidence import count, number, whole
from rankcollapse.params import ROLES, Role, Scale
from rankcollapse.path_rows import delay_of, delayed_arms, find_aged, find_event, read_arm
from rankcollapse.path_rules import blocks_with_signal
from rankcollapse.quantities import trained
from rankcollapse.ramp_summary import value_markers
from rankcollapse.records import Calibration
from rankcollapse.records_readings import EventReadings
from rankcollapse.records_tests import Ageing, ArmOutcome, EpsilonTest, FunctionTest, Interpretation, Law, Markers, PositionOrder
from rankcollapse.recoveries import find_time
from rankcollapse.registered import total
from rankcollapse.seed_cells import cell_of
from rankcollapse.statistics import censor, order_within_rows

FACTOR = 3.0
"""Within this factor of the saved collapse's an opening is restored; below it, it has fallen."""
UNIFORM, ORDERED, UNORDERED = 0.9, 0.9, 0.3
"""Attention entropy above which attention is nearly uniform; correlations with position of a ramp, and of a network without one."""
BESIDE = 0.1
"""Nats within which a loss counts as the unigram loss."""
LEFT = 0.05
"""Nats below the unigram loss from which a network has left the plateau."""
PUSHED, AGED, EPSILON = "hinge_4x", ("reset", "decay_0"), "epsilon"
"""The arm in which rank comes back without function; arms that age otherwise than the longest delay; the one with a smaller epsilon."""
NAMED = ("embeddings_mlp", "query_key")
"""Groups of weights that predictions are about."""
FAILING = {"penalty": ("penalty_1x", "penalty_4x"), "hinge": ("hinge_1x", "hinge_4x")}
ROWS = {
    (False, False): "both_fail_untreated_stays", (True, False): "penalty_alone_repairs",
    (False, True): "hinge_alone_repairs", (True, True): "both_repair",
}  # fmt: skip
"""Penalty repairs, hinge repairs: the row, where no untreated copy recovers; else `untreated_recovers`, from which nothing follows."""


def summarise(values: Sequence[float], scale: Scale, digits: int, style: str = "fixed", unit: str = "1") -> Quantity:
    """Values by event with their median; a count of nothing where there are none."""
    return trained(values, scale, digits=digits, style=style, unit=unit) if values else count([])  # type: ignore[arg-type]


def list_events(records: SetRecords) -> list[tuple[Role, EventReadings]]:
    """The events of both depths, shallow ones first."""
    return [(role, find_event(records.readings[role], event.seed)) for role in ROLES for event in records.drivers[role].events]


def list_runs(records: SetRecords, role: Role) -> list[ArmRow]:
    """Every branch of one depth."""
    return [*records.treated[role].branches, *records.switched[role].branches]


def judge_arms(scale: Scale, calibration: Calibration, records: SetRecords) -> dict[str, ArmOutcome]:
    """Recoveries of every arm over the events of both depths that got it, by both rules."""
    runs = [(role, run) for role in ROLES for run in list_runs(records, role)]
    return {arm: judge_arm(scale, calibration, [(role, run) for role, run in runs if run.arm == arm]) for arm in sorted({run.arm for _, run in runs})}


def judge_arm(scale: Scale, calibration: Calibration, runs: Sequence[tuple[Role, ArmRow]]) -> ArmOutcome:
    """Recoveries of one arm."""
    found = [[find_time(run, getattr(calibration, role), scale, effective=rule) is not None for role, run in runs] for rule in (False, True)]
    return ArmOutcome(recovered_rank=count(found[0]), recovered_effective=count(found[1]), events=whole(len(runs)))


def interpret(outcome: Mapping[str, ArmOutcome]) -> Interpretation:
    """The row of the table of outcomes, by the rank rule; an arm that repairs one event repairs."""

    def repairs(arms: Sequence[str]) -> bool:
        return any(arm in outcome and outcome[arm].recovered_rank.value > 0 for arm in arms)

    row = "untreated_recovers" if repairs(["untreated"]) else ROWS[repairs(FAILING["penalty"]), repairs(FAILING["hinge"])]
    return Interpretation(row=row, both_fail_untreated_stays=whole(int(row == "both_fail_untreated_stays")))


def read_ageing(scale: Scale, calibration: Calibration, records: SetRecords) -> Ageing:
    """How the opening falls with time at the floor, which groups of weights bring it back, and the arms that age otherwise."""
    events, arms = list_events(records), delayed_arms(scale)
    openings = [[read_arm(records.readings[role], event.seed, arm, scale)["opening"] for arm in arms] for role, event in events]
    falling = [[-opening for opening in row] for row in openings]
    page = order_within_rows(falling)
    swaps = [find_aged(records.readings[role], event.seed, scale.study.delays[-1]).swaps for role, event in events]
    fallen = [swap for swap in swaps if has_fallen(swap)]
    groups = [name for name in (swaps[0] if swaps else NAMED) if name not in ("none", "all")]
    restored = {group: [is_restored(swap, group) for swap in fallen] for group in groups}
    times = pair_times(scale, calibration, records)
    longest = times[arms[-1]]
    return Ageing(
        falls_L=total([order_within_rows([row]).L for row in falling], 1), falls_expected=number(page.expected, 1),
        falls_p=number(page.p, 4), networks=whole(len(events)),
        opening={f"delay_{delay_of(arm)}": summarise([row[place] for row in openings], scale, 1, "scientific") for place, arm in enumerate(arms)},
        fallen=count([has_fallen(swap) for swap in swaps]),
        restored={group: count(flags) for group, flags in restored.items()},
        unrestored={group: count([not flag for flag in flags]) for group, flags in restored.items()},
        times={arm: summarise(values, scale, 0, unit="steps") for arm, values in times.items()},
        sooner={arm: count([one < other for one, other in zip(times[arm], longest, strict=True)]) for arm in AGED},
    )  # fmt: skip


def has_fallen(swap: Mapping[str, float]) -> bool:
    """Whether the opening of an aged network lies below the saved collapse's by more than the factor."""
    return swap["none"] < swap["all"] / FACTOR


def is_restored(swap: Mapping[str, float], group: str) -> bool:
    """Whether one group's return brings the opening to within the factor of the saved collapse's."""
    return swap["all"] / FACTOR <= swap[group] <= swap["all"] * FACTOR


def pair_times(scale: Scale, calibration: Calibration, records: SetRecords) -> dict[str, list[float]]:
    """Steps to recovery after the longest delay as it is and of the arms that age otherwise, of the events that have all of them."""
    arms, found = (delayed_arms(scale)[-1], *AGED), []
    for role, event in list_events(records):
        own = {run.arm: run for run in records.switched[role].branches if run.seed == event.seed}
        if own.keys() >= set(arms):
            found.append([find_time(own[arm], getattr(calibration, role), scale) for arm in arms])
    return {arm: censor([row[place] for row in found], scale.branches.switch_steps) for place, arm in enumerate(arms)}


def order_positions(scale: Scale, records: SetRecords) -> PositionOrder:
    """The order of u1 in the saved collapses whose attention is nearly uniform, beside control and rival."""
    events = [event for _, event in list_events(records)]
    uniform = [fmean(event.collapsed.entropy.rows) > UNIFORM for event in events]
    seen = [event for event, flag in zip(events, uniform, strict=True) if flag]
    read = {name: [median(map(abs, getattr(event.order, name))) for event in seen] for name in ("spearman", "pearson", "pearson_log", "frequency")}
    healthy = [median(map(abs, event.order_healthy.spearman)) for event in seen]
    return PositionOrder(
        events=count(uniform), position=summarise(read["spearman"], scale, 2), healthy=summarise(healthy, scale, 2),
        **{name: summarise(read[name], scale, 2) for name in ("pearson", "pearson_log", "frequency")},
        short=count([value < ORDERED for value in read["spearman"]]),
        healthy_ordered=count([value >= UNORDERED for value in healthy]),
        beaten=count([rival >= value for rival, value in zip(read["frequency"], read["spearman"], strict=True)]),
        at_floor=count([event.order.at_floor for event in seen]),
    )  # fmt: skip


def read_losses(records: SetRecords, role: Role, arm: str) -> dict[int, float]:
    """Last loss of each branch of an arm above a model that knows token frequencies only, nats on the gradient probe; Refusal without one."""
    readings = records.readings[role]
    over = {end.seed: end.state.loss - readings.unigram_loss for end in readings.ends if end.arm == arm}
    missing = next((run.seed for run in records.treated[role].branches if run.arm == arm and run.seed not in over), None)
    if missing is not None:
        raise Refusal(f"readings, {role}, seed {missing}", f"no last state of {arm}", cure="run the stages branch and path again")
    return over


def judge_function(scale: Scale, calibration: Calibration, records: SetRecords, role: Role) -> FunctionTest:
    """Rank and function of one depth's events that were pushed, from their trajectories and their last states."""
    own, over = getattr(calibration, role), read_losses(records, role, PUSHED)
    runs = [run for run in records.treated[role].branches if run.arm == PUSHED]
    rank, effective = ([find_time(run, own, scale, effective=rule) is not None for run in runs] for rule in (False, True))
    away = [abs(over[run.seed]) > BESIDE for run in runs]
    return FunctionTest(
        events=whole(len(runs)), recovered_rank=count(rank), recovered_effective=count(effective), away=count(away),
        rank_alone=count([one and not other and not far for one, other, far in zip(rank, effective, away, strict=True)]),
        loss_over_unigram=summarise([over[run.seed] for run in runs], scale, 2, unit="nats"),
    )  # fmt: skip


def judge_epsilon(scale: Scale, calibration: Calibration, records: SetRecords) -> EpsilonTest:
    """The copies with a smaller epsilon and their twins."""
    recovered, own, twins, signal = [], [], [], []
    for role in ROLES:
        over, beside = read_losses(records, role, EPSILON), read_losses(records, role, "untreated")
        for run in (run for run in records.treated[role].branches if run.arm == EPSILON):
            recovered.append(find_time(run, getattr(calibration, role), scale, effective=True) is not None)
            own.append(over[run.seed])
            twins.append(beside[run.seed])
            cosines = find_event(records.readings[role], run.seed).noise.cosine
            signal.append(len(blocks_with_signal(cosines)) / len(cosines))
    return EpsilonTest(
        events=whole(len(own)), recovered_effective=count(recovered), left=count([loss < -LEFT for loss in own]),
        left_untreated=count([loss < -LEFT for loss in twins]), lower=count([one < other for one, other in zip(own, twins, strict=True)]),
        signal=summarise(signal, scale, 2),
    )  # fmt: skip


def count_markers(scale: Scale, calibration: Calibration, records: SetRecords) -> Markers:
    """In which order the markers crossed half-way on each event's way down, as the summary has it."""
    found = [value_markers(cell_of(role, scale, calibration, records)) for role in ROLES if records.drivers[role].events]
    names = ("ordered", "loss_not_later")
    return Markers(**{name: count([bool(flag) for values in found for flag in values[f"markers.{name}"]]) for name in names})


def read_law(scale: Scale, records: SetRecords) -> Law:
    """Slopes of the slope-two law by event."""
    slopes = [event.law.slope for _, event in list_events(records)]
    return Law(slope=summarise([slope for slope in slopes if slope is not None], scale, 2), events=count([slope is not None for slope in slopes]))
