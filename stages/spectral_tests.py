"""Stage `spectral_tests`: survival, warnings and modes, every quantity that their registration names."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.params import load_params
from rankcollapse.records_spectral import SpectralChoice, SpectralRuns
from rankcollapse.spectral_tests import judge_spectral
from rankcollapse.stage import open_gate, run_stage

CHOICE, RUNS = Path("results/spectral/development.json"), Path("results/spectral/runs.json")


def body() -> None:
    """Judge the runs."""
    params = load_params()
    run = open_gate("spectral_tests", params, "spectral", [CHOICE, RUNS], ("spectral", "rules"))
    run.finish(judge_spectral(run.provenance, params.chosen, read_model(SpectralChoice, CHOICE), read_model(SpectralRuns, RUNS)), "results/spectral/tests.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
