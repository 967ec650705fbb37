"""From trajectories and gradient paths to the quantities of the manuscript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from audit.records import Provenance, Quantity, Refusal
from rankcollapse import events as rules
from rankcollapse.measure import REFINE_BELOW
from rankcollapse.params import Role, Scale
from rankcollapse.quantities import count, exact, trained
from rankcollapse.records import (
    Arm,
    Arms,
    Branch,
    Calibration,
    Collapse,
    CollapsedState,
    Event,
    EventPath,
    Events,
    Force,
    Hysteresis,
    Main,
    Path,
    PathSummary,
    Result,
    RoleCalibration,
    RunRow,
    Settings,
)
from rankcollapse.tables import ARMS, LOSS_ARMS, SWITCHES

LEAST_GRADIENT = 1e-30
LEAST_SKIP = 1e-3


@dataclass(frozen=True)
class Recovery:
    """What a branch came to: step and skip scale at recovery by rank (None where none), and whether it was effective."""

    steps: int | None
    skip: float | None
    effective: bool


@dataclass(frozen=True)
class Case:
    """Everything about one event."""

    event: Event
    calibration: RoleCalibration
    path: EventPath
    branches: dict[str, RunRow]
    control_loss: dict[int, float]
    scale: Scale

    def recovery(self, arm: str) -> Recovery:
        """Judge one branch by the rank rule and by the effective rule."""
        run, rule = self.branches[arm].trajectory, self.scale.rules
        rank = (rules.collapsed_rank(run.rank, run.at_floor), float(self.calibration.recover_threshold.value))
        residual = (run.residual, rule.effective * float(self.calibration.healthy_residual.value))
        by_rank = rules.find_recovery([rank], rule.recover_window, rule.recover_hold)
        effective = rules.find_recovery([rank, residual], rule.recover_window, rule.recover_hold)
        if by_rank is None:
            return Recovery(None, None, False)
        return Recovery(run.step[by_rank] - self.event.saved, run.skip[by_rank], effective is not None)

    def final_gap(self, arm: str) -> float:
        """Loss above the healthy control at the branch's last step, nats."""
        run = self.branches[arm].trajectory
        if not run.step or run.step[-1] not in self.control_loss:
            raise Refusal(
                self.branches[arm].name,
                "its control was not measured at its last step",
                observed=str(run.step[-1:]),
                cure="measure both at common steps (rules.measure_*)",
            )
        return run.loss[-1] - self.control_loss[run.step[-1]]


def gather(role_calibration: RoleCalibration, collapsed: Collapse, branched: Branch, paths: Path, scale: Scale) -> list[Case]:
    """One case per event of a role."""
    cases = []
    for event in collapsed.events:
        own = [run for run in (*collapsed.controls, *branched.controls) if run.seed == event.seed]
        losses = {step: loss for run in own for step, loss in zip(run.trajectory.step, run.trajectory.loss, strict=True)}
        branches = {run.arm: run for run in branched.branches if run.seed == event.seed}
        path = next(row for row in paths.events if row.seed == event.seed)
        cases.append(Case(event, role_calibration, path, branches, losses, scale))
    return cases


def analyse(
    provenance: Provenance,
    scale: Scale,
    calibration: Calibration,
    collapsed: dict[Role, Collapse],
    branched: dict[Role, Branch],
    paths: dict[Role, Path],
    unigram: float,
) -> Main:
    """The study's results by role, and over both roles together."""
    empty = [role for role, record in collapsed.items() if not record.events]
    if empty:
        raise Refusal(f"analyse {empty[0]}", "no collapse settled, so there is nothing to analyse", cure="hold longer (driver.hold), or other seeds")
    groups = {role: gather(getattr(calibration, role), collapsed[role], branched[role], paths[role], scale) for role in collapsed}
    results = {role: summarise(str(collapsed[role].depth), [collapsed[role]], cases, unigram, scale) for role, cases in groups.items()}
    everything = [case for cases in groups.values() for case in cases]
    depths = " and ".join(str(record.depth) for record in collapsed.values())
    return Main(
        provenance=provenance,
        settings=describe_settings(scale),
        **results,
        both=summarise(depths, list(collapsed.values()), everything, unigram, scale),
    )


def describe_settings(scale: Scale) -> Settings:
    """What was set: switches, the matched added loss, shares of the healthy values."""
    rule = scale.rules
    return Settings(
        weak_switch=exact(SWITCHES["switch_03"], digits=1),
        full_switch=exact(int(SWITCHES["switch_1"])),
        added_loss=exact(scale.branches.added_loss, digits=1, unit="nats"),
        refine_below=Quantity(value=REFINE_BELOW, digits=0, style="scientific", tolerance=0.0),
        collapse_share=exact(rule.collapse, digits=2),
        recover_share=exact(rule.recover, digits=2),
        effective_share=exact(rule.effective, digits=2),
    )


def summarise(depth: str, records: Sequence[Collapse], cases: list[Case], unigram: float, scale: Scale) -> Result:
    """All quantities of one group of events."""
    arms = {arm: summarise_arm(arm, cases, scale) for arm in ARMS}
    loss_branches = [case.recovery(arm) for arm in LOSS_ARMS for case in cases]
    return Result(
        depth=depth,
        events=count_events(records),
        state=summarise_state(cases, unigram, scale),
        arms=Arms(**arms),
        path=summarise_path(cases, scale),
        force=summarise_force(cases, scale),
        hysteresis=summarise_hysteresis(cases, scale),
        loss_arms_effective=count([recovery.effective for recovery in loss_branches]),
        loss_arms_rank=count([recovery.steps is not None for recovery in loss_branches]),
    )


def count_events(records: Sequence[Collapse]) -> Events:
    """Networks driven, settled and not settled."""
    settled = [run.seed not in record.unsettled for record in records for run in record.drivers]
    return Events(driven=count([True] * len(settled)), settled=count(settled), unsettled=count([not flag for flag in settled]))


def summarise_state(cases: list[Case], unigram: float, scale: Scale) -> CollapsedState:
    """The collapsed networks as they were saved, beside their controls."""
    gap = [case.event.loss_gap for case in cases]
    entropy, healthy = [case.path.entropy for case in cases], [case.path.entropy_healthy for case in cases]
    return CollapsedState(
        skip=trained([case.event.skip_at_collapse for case in cases], scale, digits=3),
        rank=trained([case.event.rank for case in cases], scale, digits=2),
        residual=trained([case.event.residual for case in cases], scale, digits=1, style="scientific"),
        at_floor=count([case.event.at_floor for case in cases]),
        loss=trained([case.event.loss for case in cases], scale, digits=2, unit="nats"),
        loss_gap=trained(gap, scale, digits=2, unit="nats"),
        loss_gap_min=trained(gap, scale, "min", digits=2, unit="nats"),
        loss_from_unigram=trained([abs(case.path.unseen_loss - unigram) for case in cases], scale, digits=2, unit="nats"),
        entropy=trained(entropy, scale, digits=2),
        entropy_min=trained(entropy, scale, "min", digits=2),
        entropy_healthy=trained(healthy, scale, digits=2),
        entropy_healthy_max=trained(healthy, scale, "max", digits=2),
    )


def summarise_arm(arm: str, cases: list[Case], scale: Scale) -> Arm:
    """One treatment over all events."""
    runs = [case.branches[arm] for case in cases]
    gaps = [case.final_gap(arm) for case in cases]
    recoveries = [case.recovery(arm) for case in cases]
    steps = [recovery.steps for recovery in recoveries if recovery.steps is not None]
    has_term = runs[0].term != "none"
    return Arm(
        branches=count([True] * len(runs)),
        recovered_rank=count([recovery.steps is not None for recovery in recoveries]),
        recovered_effective=count([recovery.effective for recovery in recoveries]),
        steps_to_recovery=trained(steps, scale, unit="steps", digits=0) if steps else None,
        final_rank=trained([run.trajectory.rank[-1] for run in runs], scale, digits=2),
        final_residual=trained([run.trajectory.residual[-1] for run in runs], scale, digits=1, style="scientific"),
        loss_gap=trained(gaps, scale, digits=2, unit="nats"),
        first_added=trained([run.first_added for run in runs], scale, digits=3, unit="nats") if has_term else None,
        clip_share=trained([run.clip_share for run in runs], scale, digits=2),
    )


def ratios(top: Sequence[float], bottom: Sequence[float], least: float = LEAST_GRADIENT) -> list[float]:
    """Elementwise ratios; a denominator counts as at least `least`, since a ratio against zero says nothing."""
    return [a / max(b, least) for a, b in zip(top, bottom, strict=True)]


def summarise_path(cases: list[Case], scale: Scale) -> PathSummary:
    """Where the gradients arrived."""
    paths = [case.path for case in cases]

    def numbers(values: Sequence[float], summary: str = "median") -> Quantity:
        return trained(values, scale, summary, digits=1, style="scientific")  # type: ignore[arg-type]

    def above(values: Sequence[float]) -> Quantity:
        thresholds = [case.calibration.recover_threshold.value for case in cases]
        return count([value >= threshold for value, threshold in zip(values, thresholds, strict=True)])

    return PathSummary(
        qk_over_healthy=numbers([max(ratios(path.collapsed.qk, path.healthy.qk)) for path in paths]),
        qk_healthy_min=numbers([min(path.healthy.qk) for path in paths], "min"),
        qkv_first=numbers([path.collapsed.qkv[0] for path in paths]),
        qkv_last=numbers([path.collapsed.qkv[-1] for path in paths]),
        v_share=trained([median(ratios(path.collapsed.v, path.collapsed.qkv)) for path in paths], scale, digits=3),
        hinge_first=trained([path.hinge.qkv[0] for path in paths], scale, digits=2),
        hinge_last=trained([path.hinge.qkv[-1] for path in paths], scale, digits=2),
        rise_03=numbers([min(ratios(path.switch_03.qk, path.collapsed.qk)) for path in paths]),
        rise_1=numbers([min(ratios(path.switch_1.qk, path.collapsed.qk)) for path in paths]),
        open_1=trained([median(ratios(path.switch_1.qk, path.healthy.qk)) for path in paths], scale, digits=2),
        above_at_03=above([path.rank_at_03 for path in paths]),
        above_at_1=above([path.rank_at_1 for path in paths]),
    )


def summarise_force(cases: list[Case], scale: Scale) -> Force:
    """rho at switch-on."""
    penalty, hinge = [case.path.rho_penalty for case in cases], [case.path.rho_hinge for case in cases]
    return Force(
        penalty=trained(penalty, scale, digits=1, style="scientific"),
        hinge=trained(hinge, scale, digits=2),
        hinge_over_penalty=trained(ratios(hinge, penalty), scale, digits=0),
    )


def summarise_hysteresis(cases: list[Case], scale: Scale) -> Hysteresis:
    """Skip scale at recovery on the reversed ramp over the scale at collapse; 0 for an event that did not recover."""
    recovered = [case.recovery("ramp").skip or 0.0 for case in cases]
    ratio = ratios(recovered, [case.event.skip_at_collapse for case in cases], LEAST_SKIP)
    return Hysteresis(
        skip_at_recovery=trained(recovered, scale, digits=2),
        ratio=trained(ratio, scale, digits=0),
        ratio_min=trained(ratio, scale, "min", digits=0),
    )
