"""Stage `pure`: attention without training: what it does to its tokens, alone and with what stands beside it; no network is trained."""

from __future__ import annotations

import os
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy loads: more threads round otherwise

from audit.records import read_model
from rankcollapse.params import ROLES, load_params
from rankcollapse.pure_readings import read_pure
from rankcollapse.records_readings import Readings
from rankcollapse.stage import open_gate, record_path, run_stage


def body() -> None:
    """Read everything."""
    params, collapsed = load_params(), {role: record_path("path", "main", role) for role in ROLES}
    run = open_gate("pure", params, None, list(collapsed.values()), ("pure",))
    readings = {role: read_model(Readings, place) for role, place in collapsed.items()}
    run.finish(read_pure(run.provenance, params.chosen.pure, readings), "results/pure/pure.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
