"""Stage `spectral_development`: learning rates without a cap, and caps at the rate that is chosen, on networks of their own."""

from __future__ import annotations

import sys

from rankcollapse.experiments_spectral import develop_spectral
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.stage import DATA, MANIFEST, load_manifest, open_gate, run_stage

PARTS = ("model", "depths", "optimiser", "batch", "stack", "probe", "rules", "spectral")


def body() -> None:
    """Train the development networks."""
    params = load_params()
    run = open_gate("spectral_development", params, "attention", [DATA, MANIFEST], PARTS)
    unigram = float(load_manifest().unigram_probe_loss.value)
    run.finish(develop_spectral(run.provenance, params.chosen, run.seeds, unigram, str(DATA)), "results/spectral/development.json")
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body))
