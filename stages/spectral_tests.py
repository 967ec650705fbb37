"""Stages `spectral_tests`, `restart_tests`: survival, warnings and modes, every quantity that the study's registration names."""

from __future__ import annotations

import sys

from audit.records import read_model
from rankcollapse.params import load_params
from rankcollapse.records_spectral import SpectralChoice, SpectralRuns
from rankcollapse.spectral_tests import judge_spectral
from rankcollapse.stage import open_gate, run_stage, study_path


def body(study: str) -> None:
    """Judge the runs."""
    params, chosen, runs = load_params(), study_path(study, "development"), study_path(study, "runs")
    run = open_gate(f"{study}_tests", params, study, [chosen, runs], (study, "rules"))
    record = judge_spectral(run.provenance, params.chosen.study_of(study), read_model(SpectralChoice, chosen), read_model(SpectralRuns, runs))
    run.finish(record, study_path(study, "tests"))


if __name__ == "__main__":
    sys.exit(run_stage(body, ("STUDY",)))
