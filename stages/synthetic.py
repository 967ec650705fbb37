"""Stage `synthetic`: the force of each term on a matrix that nears rank one; no network."""

from __future__ import annotations

import sys

from rankcollapse.params import load_params
from rankcollapse.readings import read_synthetic
from rankcollapse.stage import open_gate, run_stage

DELTAS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 0.0001)
SEED = 0


def body() -> None:
    """Compute the curve."""
    run = open_gate("synthetic", load_params(), None, [], (), deltas=list(DELTAS), seed=SEED)
    run.finish(read_synthetic(run.provenance, DELTAS, SEED), "results/synthetic/curve.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
