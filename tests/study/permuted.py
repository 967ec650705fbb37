"""Outcomes with exchanged labels: worlds in which each registered prediction must lose."""

from __future__ import annotations

from collections.abc import Callable

from rankcollapse.records import Branch, Path


def exchange(one: str, other: str) -> Callable[[Branch], Branch]:
    """Branches with the labels of two treatments exchanged."""
    labels = {one: other, other: one}

    def exchanged(record: Branch) -> Branch:
        rows = tuple(run.model_copy(update={"arm": labels.get(run.arm, run.arm)}) for run in record.branches)
        return record.model_copy(update={"branches": rows})

    return exchanged


def recover_at_once(record: Branch) -> Branch:
    """Branches in which the reversed ramp did what the driver had undone: the rank is back at the floor's scale."""
    rows = []
    for run in record.branches:
        if run.arm == "ramp":
            path = run.trajectory
            lowest = tuple(min(path.skip) for _ in path.skip)
            run = run.model_copy(update={"trajectory": path.model_copy(update={"skip": lowest})})
        rows.append(run)
    return record.model_copy(update={"branches": tuple(rows)})


def match_control(record: Branch) -> Branch:
    """Branches whose loss came down to the healthy controls'."""
    losses = {run.seed: dict(zip(run.trajectory.step, run.trajectory.loss, strict=True)) for run in record.controls}
    rows = []
    for run in record.branches:
        path, control = run.trajectory, losses[run.seed]
        loss = tuple(control.get(step, value) for step, value in zip(path.step, path.loss, strict=True))
        rows.append(run.model_copy(update={"trajectory": path.model_copy(update={"loss": loss})}))
    return record.model_copy(update={"branches": tuple(rows)})


def exchange_networks(record: Path) -> Path:
    """Paths with the collapsed and the healthy network, and the penalty and the hinge, exchanged."""
    rows = tuple(
        event.model_copy(update={
            "collapsed": event.healthy, "healthy": event.collapsed, "switch_1": event.collapsed,
            "rho_hinge": event.rho_penalty, "rho_penalty": event.rho_hinge,
        })
        for event in record.events
    )  # fmt: skip
    return record.model_copy(update={"events": rows})


def same(record: Branch | Path) -> Branch | Path:
    """The outcome as it was."""
    return record


WORLDS: dict[str, tuple[Callable, Callable]] = {
    "P1": (same, exchange_networks),
    "P2": (exchange("untreated", "switch_1"), same),
    "P3": (exchange("hinge_4x", "switch_1"), same),
    "P4": (exchange("switch_03", "untreated"), same),
    "P5": (recover_at_once, same),
    "P6": (same, exchange_networks),
    "P7": (same, exchange_networks),
    "P8": (match_control, same),
}
"""Prediction -> what is done to branches and to paths in a world where it must be missed."""
