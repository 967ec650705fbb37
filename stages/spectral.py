"""Stage `spectral`: every arm of the study of attention's spectra on the networks of its set."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.experiments_spectral import run_spectral
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.records_spectral import SpectralChoice
from rankcollapse.stage import DATA, MANIFEST, load_manifest, open_gate, run_stage

PARTS = ("model", "depths", "optimiser", "batch", "stack", "probe", "rules", "spectral")
CHOICE = Path("results/spectral/development.json")


def body() -> None:
    """Train all arms."""
    params = load_params()
    run = open_gate("spectral", params, "spectral", [DATA, MANIFEST, CHOICE], PARTS)
    choice, unigram = read_model(SpectralChoice, CHOICE), float(load_manifest().unigram_probe_loss.value)
    run.finish(run_spectral(run.provenance, params.chosen, choice, run.seeds, unigram, str(DATA)), "results/spectral/runs.json")
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body))
