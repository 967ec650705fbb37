"""What every stage script shares: errors as one line and an exit code, parameters by role, earlier records by path."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audit import gate
from audit.records import Refusal, read_model
from rankcollapse.arm_records import Checks, Drivers, Intact, SetRecords, Switches, Treatments
from rankcollapse.manifest import DataManifest
from rankcollapse.params import ROLES, STORE, STUDIES, Params, Role, Scale
from rankcollapse.records import Calibration
from rankcollapse.records_readings import Readings

DATA = Path("data")
MANIFEST = Path("results/data/data.json")
CALIBRATION = Path("results/calibrate/calibration.json")
KINDS = {"collapse": Drivers, "branch": Treatments, "path": Readings, "switch": Switches}
"""Stage of a seed set -> the record it writes for each role, in the order of the pipeline."""
INTERRUPTED = 130


def run_stage(body: Callable[..., None], usage: tuple[str, ...] = (), argv: list[str] | None = None) -> int:
    """Call a stage's body with its arguments; bad input becomes one line and its exit code."""
    words = sys.argv[1:] if argv is None else argv
    try:
        if len(words) != len(usage):
            raise Refusal("usage", "wrong number of arguments", expected=" ".join(usage) or "none", observed=" ".join(words) or "none")
        body(*words)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return refusal.code
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from the checkpoint", file=sys.stderr)
        return INTERRUPTED
    return 0


def check_role(role: str) -> str:
    """The role, if there is one of that name."""
    if role not in ROLES:
        raise Refusal("role", "no such role", expected=" or ".join(ROLES), observed=role)
    return role


def check_study(study: str) -> str:
    """The study of attention's spectra, if there is one of that name."""
    if study not in STUDIES:
        raise Refusal("study", "no such study", expected=" or ".join(STUDIES), observed=study)
    return study


def study_parts(study: str) -> tuple[str, ...]:
    """The parameter groups that networks of a study of attention's spectra are made from."""
    return ("model", "depths", "optimiser", "batch", "stack", "probe", "rules", check_study(study))


def study_path(study: str, name: str) -> Path:
    """Where one of its records lies."""
    return Path(f"results/{check_study(study)}/{name}.json")


def cell(stage: str, params: Params, name: str, role: str, inputs: list[Path], parts: tuple[str, ...]) -> gate.Run:
    """Open one cell (seed set, role) of a stage at the gate; `parts` are the parameter groups it is made from."""
    label, more = f"{stage}@{name}-{check_role(role)}", {"depth": getattr(params.chosen.depths, role)}
    if "arms" in parts:
        more["arms"] = params.chosen.arms_of(name).model_dump(mode="json")
    return open_gate(label, params, name, inputs, tuple(part for part in parts if part != "arms"), **more)


def open_gate(label: str, params: Params, name: str | None, inputs: list[Path], parts: tuple[str, ...], **more: object) -> gate.Run:
    """Open a stage at the gate, with the seeds of a set where it has one."""
    drawn = {"seed_set": name, "set_value": plain(params.seed_set(name))} if name else {}
    return gate.start(stage=label, parameters=pick(params.chosen, parts) | more, inputs=inputs, checkpoints=STORE / label, **drawn)


def record_path(stage: str, name: str, role: str) -> Path:
    """Where a cell's record lies."""
    return Path(f"results/{stage}/{name}-{role}.json")


def set_paths(name: str) -> list[Path]:
    """Every record of a seed set."""
    return [record_path(stage, name, role) for stage in KINDS for role in ROLES]


def load_cell(stage: str, name: str, role: str) -> Any:
    """The record of one cell."""
    return read_model(KINDS[stage], record_path(stage, name, role))


def load_set(name: str) -> SetRecords:
    """Every record of a seed set, by role."""
    return SetRecords(*({role: load_cell(stage, name, role) for role in ROLES} for stage in KINDS))


def load_roles(kind: type[Checks] | type[Intact], stage: str) -> dict[Role, Any]:
    """The records of a stage that has one for each role."""
    return {role: read_model(kind, Path(f"results/{stage}/{role}.json")) for role in ROLES}


def pick(scale: Scale, parts: tuple[str, ...]) -> dict[str, object]:
    """Named parameter groups as plain values."""
    whole = scale.model_dump(mode="json")
    return {part: whole[part] for part in parts}


def plain(seeds: tuple[int, ...] | str) -> list[int] | str:
    """A seed set as params.yaml writes it."""
    return seeds if isinstance(seeds, str) else list(seeds)


def load_manifest() -> DataManifest:
    """The data stage's record."""
    return read_model(DataManifest, MANIFEST)


def load_calibration() -> Calibration:
    """The calibrate stage's record."""
    return read_model(Calibration, CALIBRATION)
