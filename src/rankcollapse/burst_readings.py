"""Reading networks at the end of their bursts, from their saved states; nothing here trains."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from audit.records import Provenance, Refusal
from rankcollapse.arm_records import Development, Excursions
from rankcollapse.burst_records import BurstControl, BurstNetwork, BurstReadings
from rankcollapse.checkpoint import STATES, load_states
from rankcollapse.engine import State, prepare_threads
from rankcollapse.params import Scale
from rankcollapse.path_rules import over_healthy
from rankcollapse.readings import open_reader
from rankcollapse.records import RoleCalibration
from rankcollapse.records_readings import StateRow


def chosen_multipliers(bursts: Excursions | Development) -> tuple[float, float]:
    """m1 and m2; development tries more."""
    if isinstance(bursts, Development):
        return float(bursts.m1.value), float(bursts.m2.value)
    m1, m2 = (each.multiplier for each in bursts.excursions)
    return m1, m2


def read_bursts(
    provenance: Provenance, scale: Scale, calibration: RoleCalibration, bursts: Excursions | Development, folder: Path, states: Path
) -> BurstReadings:
    """Every network at the end of both bursts and its paired control, at a skip scale of 1; `states` is where the bursts were saved."""
    prepare_threads()
    saved, multipliers = load_states(states / STATES)[0], chosen_multipliers(bursts)
    reader = open_reader(scale, calibration, 1.0, folder)
    controls = {seed: reader.read_state(find_state(saved, f"control-{seed}", states).weights, 1.0) for seed in bursts.seeds}
    rows = []
    for name, multiplier in zip(("m1", "m2"), multipliers, strict=True):
        print(f"bursts {bursts.role}: {multiplier:g} times the rate", flush=True)
        for seed in sound_seeds(bursts, multiplier):
            state = reader.read_state(find_state(saved, f"{name}-{seed}", states).weights, 1.0)
            rows.append(compare_network(seed, multiplier, state, controls[seed]))
    return BurstReadings(
        provenance=provenance, role=bursts.role, depth=bursts.depth, seeds=bursts.seeds, multipliers=multipliers, networks=tuple(rows),
        controls=tuple(BurstControl(seed=seed, state=state) for seed, state in controls.items()),
    )  # fmt: skip


def sound_seeds(bursts: Excursions | Development, multiplier: float) -> list[int]:
    """Seeds whose networks did not diverge in the burst of this multiplier."""
    rows = {run.seed: run for run in bursts.bursts if run.arm == f"burst_{multiplier:g}"}
    return [seed for seed in bursts.seeds if rows[seed].diverged_at is None]


def find_state(saved: dict[str, State], name: str, folder: Path) -> State:
    """A saved state; Refusal where it is not there although its network did not diverge."""
    if name not in saved:
        raise Refusal(folder / STATES, f"no state {name}", expected=name, observed=", ".join(sorted(saved)), cure="rerun the stage of the bursts")
    return saved[name]


def compare_network(seed: int, multiplier: float, state: StateRow, control: StateRow) -> BurstNetwork:
    """A network beside its paired control."""
    return BurstNetwork(
        seed=seed, multiplier=multiplier, state=state, loss_gap=state.loss - control.loss,
        qk_over_healthy=median(over_healthy(state.task.qk, control.task.qk)),
    )  # fmt: skip
