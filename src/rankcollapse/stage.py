"""What every stage script shares: errors as one line and an exit code, parameters by role, earlier records by path."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from audit import gate
from audit.records import Refusal, read_model
from rankcollapse.manifest import DataManifest
from rankcollapse.params import ROLES, STORE, Params, Scale
from rankcollapse.records import Calibration

DATA = Path("data")
MANIFEST = Path("results/data/data.json")
CALIBRATION = Path("results/calibrate/calibration.json")
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


def cell(stage: str, params: Params, name: str, role: str, inputs: list[Path], parts: tuple[str, ...]) -> gate.Run:
    """Open one cell (seed set, role) of a stage at the gate; `parts` are the parameter groups it is made from."""
    label = f"{stage}@{name}-{role}"
    return gate.start(
        stage=label, parameters=pick(params.chosen, parts) | {"depth": getattr(params.chosen.depths, check_role(role))},
        inputs=inputs, seed_set=name, set_value=plain(params.seed_set(name)), checkpoints=STORE / label,
    )  # fmt: skip


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
