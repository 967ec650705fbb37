"""What came of the networks of a burst: collapse within it, recovery after it, and rows for the registered tests; free of torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.records import Refusal
from rankcollapse import events
from rankcollapse.arm_records import ArmRow
from rankcollapse.burst_records import BurstNetwork, BurstReadings, BurstRecords, DevelopmentRecords
from rankcollapse.params import Role, Rules, Scale
from rankcollapse.records import RoleCalibration
from rankcollapse.registered import Row


@dataclass(frozen=True)
class Followed:
    """One network from the start of its burst to the end of the budget."""

    seed: int
    burst: ArmRow
    network: BurstNetwork | None
    """At the end of the burst; None where it diverged in it."""
    branch: ArmRow | None
    """After the burst; None likewise."""
    control: ArmRow | None
    time: float | None
    """Steps from the end of the burst to recovery by rank; None where it did not recover or diverged."""

    @property
    def finite(self) -> bool:
        """Whether it diverged neither in the burst nor after it."""
        return self.branch is not None and self.branch.diverged_at is None


def read_ranks(run: ArmRow) -> list[float]:
    """Ranks as the rules read them: at floor counts as collapsed."""
    return events.collapsed_rank(run.trajectory.rank, run.trajectory.at_floor)


def find_time(branch: ArmRow | None, threshold: float, rules: Rules) -> float | None:
    """Steps from a branch's start to the end of the window with which it recovers by rank; None where it does not, diverged or is not there."""
    if branch is None or branch.diverged_at is not None:
        return None
    place = events.find_return(branch.trajectory, rules, threshold)
    return None if place is None else float(branch.trajectory.step[place] - branch.start)


def count_updates(burst: ArmRow, threshold: float, updates: int) -> int:
    """Updates of a burst to its first measurement below the threshold; one more than there were where there is none."""
    place = events.find_collapse(burst.trajectory.step, read_ranks(burst), threshold, burst.start)
    return updates + 1 if place is None else burst.trajectory.step[place] - burst.start


def measure_rise(branch: ArmRow | None) -> float:
    """Rank at a branch's end minus rank at its start; 0 where it diverged or is not there."""
    if branch is None or branch.diverged_at is not None:
        return 0.0
    series = read_ranks(branch)
    return series[-1] - series[0]


def measure_gap(branch: ArmRow | None, control: ArmRow | None) -> float | None:
    """Probe loss of a branch at its end above its paired control's, nats; None where either diverged or is not there."""
    if branch is None or control is None or branch.diverged_at is not None or control.diverged_at is not None:
        return None
    return branch.trajectory.loss[-1] - control.trajectory.loss[-1]


def pick_run(runs: Sequence[ArmRow], arm: str, seed: int) -> ArmRow | None:
    """The run of an arm and seed, if there is one."""
    return next((run for run in runs if run.arm == arm and run.seed == seed), None)


def follow_networks(bursts: BurstRecords, multiplier: float, threshold: float, rules: Rules) -> list[Followed]:
    """All networks of one multiplier in the order of the seeds; Refusal where one was read and not continued, or the other way round."""
    found = []
    for seed in bursts.excursions.seeds:
        burst = pick_run(bursts.excursions.bursts, f"burst_{multiplier:g}", seed)
        branch = pick_run(bursts.after.branches, f"after_{multiplier:g}", seed)
        network = pick_network(bursts.readings, multiplier, seed)
        if burst is None or (burst.diverged_at is None) != (network is not None) or (network is None) != (branch is None):
            sound = "no burst" if burst is None else "a burst that diverged" if burst.diverged_at is not None else "a burst"
            read, went_on = "read" if network else "not read", "continued" if branch else "not continued"
            raise Refusal(
                f"bursts: seed {seed}, {multiplier:g} times the rate", "records that are not of the same networks",
                expected="every sound network read and continued", observed=f"{sound}, {read}, {went_on}", cure="rerun the later stages",
            )  # fmt: skip
        control = pick_run(bursts.after.controls, "control", seed)
        found.append(Followed(seed, burst, network, branch, control, find_time(branch, threshold, rules)))
    return found


def pick_network(readings: BurstReadings, multiplier: float, seed: int) -> BurstNetwork | None:
    """The network of a multiplier and seed, if it was read."""
    return next((row for row in readings.networks if row.multiplier == multiplier and row.seed == seed), None)


def make_row(network: BurstNetwork, role: Role, time: float | None) -> Row:
    """A network for the registered tests; `time` in steps, None where it did not recover or is not known."""
    return Row(
        network.seed, role,
        {
            "opening": network.state.opening, "loss_gap": network.loss_gap, "grad_norm": network.state.gradient_norm,
            "multiplier": network.multiplier,
        },
        time,
    )  # fmt: skip


def develop_rows(records: DevelopmentRecords, calibration: RoleCalibration, scale: Scale) -> list[Row]:
    """The development networks of both multipliers with what came of them; one that diverged in its burst has no row."""
    threshold, branches = float(calibration.recover_threshold.value), records.development.branches
    rows = []
    for network in records.readings.networks:
        branch = pick_run(branches, f"after_{network.multiplier:g}", network.seed)
        if branch is None:
            place = f"development: seed {network.seed}, {network.multiplier:g} times the rate"
            raise Refusal(place, "was read and not continued", cure="rerun the stage of the development networks")
        rows.append(make_row(network, records.readings.role, find_time(branch, threshold, scale.rules)))
    return rows
