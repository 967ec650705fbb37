"""Stages `spectral`, `restart`: every arm of a study of attention's spectra on the networks of its set."""

from __future__ import annotations

import sys

from audit.records import read_model
from rankcollapse.experiments_spectral import run_spectral
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import load_params
from rankcollapse.records_spectral import SpectralChoice
from rankcollapse.stage import DATA, MANIFEST, load_manifest, open_gate, run_stage, study_parts, study_path


def body(study: str) -> None:
    """Train all arms."""
    params, chosen = load_params(), study_path(study, "development")
    run = open_gate(study, params, study, [DATA, MANIFEST, chosen], study_parts(study))
    choice, unigram = read_model(SpectralChoice, chosen), float(load_manifest().unigram_probe_loss.value)
    run.finish(run_spectral(run.provenance, params.chosen.study_of(study), choice, run.seeds, unigram, str(DATA)), study_path(study, "runs"))
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("STUDY",)))
