"""Stage `summary`: what one seed set came to, from its records."""

from __future__ import annotations

import sys

from rankcollapse.params import load_params
from rankcollapse.stage import CALIBRATION, load_calibration, load_set, open_gate, run_stage, set_paths
from rankcollapse.summary import summarise_set

PARTS = ("rules", "branches", "study", "depths")


def body(name: str) -> None:
    """Summarise one set."""
    params = load_params()
    run = open_gate(f"summary@{name}", params, name, [CALIBRATION, *set_paths(name)], PARTS)
    run.finish(summarise_set(run.provenance, params.chosen, load_calibration(), load_set(name)), f"results/summary/{name}.json")


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET",)))
