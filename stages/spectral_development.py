"""Stages `spectral_development`, `restart_development`: learning rates without a cap, and caps at the rate that is chosen, on networks of their own."""

from __future__ import annotations

import sys

from rankcollapse.experiments_spectral import develop_spectral
from rankcollapse.fanout import tidy_checkpoints
from rankcollapse.params import STUDIES, load_params
from rankcollapse.stage import DATA, MANIFEST, check_study, load_manifest, open_gate, run_stage, study_parts, study_path


def body(study: str) -> None:
    """Train the development networks."""
    params = load_params()
    run = open_gate(f"{check_study(study)}_development", params, STUDIES[study], [DATA, MANIFEST], study_parts(study))
    unigram = float(load_manifest().unigram_probe_loss.value)
    run.finish(develop_spectral(run.provenance, params.chosen.study_of(study), run.seeds, unigram, str(DATA)), study_path(study, "development"))
    tidy_checkpoints(run.stage)


if __name__ == "__main__":
    sys.exit(run_stage(body, ("STUDY",)))
