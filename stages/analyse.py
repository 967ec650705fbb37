"""Stage `analyse`: from trajectories and gradient paths to the quantities and figures of the manuscript."""

from __future__ import annotations

import sys
from pathlib import Path

from audit import gate
from audit.records import read_model
from rankcollapse.analysis import analyse
from rankcollapse.figures import draw_all
from rankcollapse.params import ROLES, load_params
from rankcollapse.records import Branch, Collapse
from rankcollapse.records import Path as PathRecord
from rankcollapse.stage import CALIBRATION, MANIFEST, load_calibration, load_manifest, pick, plain, run_stage

KINDS = {"collapse": Collapse, "branch": Branch, "path": PathRecord}
FIGURES = Path("results/figures")


def body(name: str) -> None:
    """Analyse one seed set and draw its figures."""
    params = load_params()
    sources = {(kind, role): Path(f"results/{kind}/{name}-{role}.json") for kind in KINDS for role in ROLES}
    run = gate.start(
        stage="analyse", parameters=pick(params.chosen, ("rules", "depths")), inputs=[MANIFEST, CALIBRATION, *sources.values()],
        seed_set=name, set_value=plain(params.seed_set(name)),
    )  # fmt: skip
    collapsed, branched, paths = ({role: read_model(model, sources[kind, role]) for role in ROLES} for kind, model in KINDS.items())
    calibration = load_calibration()
    unigram = float(load_manifest().unigram_entropy.value)
    main = analyse(run.provenance, params.chosen, calibration, collapsed, branched, paths, unigram)
    draw_all(FIGURES, calibration, collapsed, branched, paths, params.chosen.rules.recover_window)
    run.finish(main, f"results/analyse/{name}.json", outputs=[FIGURES])


if __name__ == "__main__":
    sys.exit(run_stage(body, ("SET",)))
