"""Stage `figures`: the figures of the manuscript, from records alone."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_model
from rankcollapse.arm_records import Continuations, Development, Excursions
from rankcollapse.burst_records import BurstReadings
from rankcollapse.curves import Bursts
from rankcollapse.figures import draw_all
from rankcollapse.figures_attention import Attention
from rankcollapse.params import ROLES, load_params
from rankcollapse.records_pure import Pure
from rankcollapse.records_readings import Synthetic
from rankcollapse.records_results import Drawn
from rankcollapse.records_spectral import DrawnMaps, SpectralResults, SpectralRuns
from rankcollapse.records_tests import MainThresholds
from rankcollapse.stage import CALIBRATION, load_calibration, load_set, open_gate, run_stage, set_paths

FOLDER = Path("results/figures")
BURSTS = Path("results/bursts")
KINDS = {"excursions": Excursions, "continuations": Continuations, "development": Development, "readings": BurstReadings, "development_readings": BurstReadings}
ATTENTION = {"spectral/runs": SpectralRuns, "spectral/tests": SpectralResults, "spectral/drawn": DrawnMaps, "restart/runs": SpectralRuns, "restart/tests": SpectralResults}
SYNTHETIC, THRESHOLDS, PURE = (Path(f"results/{name}.json") for name in ("synthetic/curve", "thresholds/main", "pure/pure"))


def body() -> None:
    """Draw all figures."""
    params, files, spectra = load_params(), [BURSTS / f"{name}.json" for name in KINDS], [Path(f"results/{name}.json") for name in ATTENTION]
    sources = [CALIBRATION, *set_paths("main"), *set_paths("replication"), SYNTHETIC, THRESHOLDS, PURE, *files, *spectra]
    run = open_gate("figures", params, None, sources, ("rules",))
    excursions, after, development, read, developed = (read_model(kind, place) for kind, place in zip(KINDS.values(), files, strict=True))
    openings = {(network.multiplier, network.seed): network.state.opening for network in read.networks}
    gaps = {(network.multiplier, network.seed): network.loss_gap for record in (read, developed) for network in record.networks}
    opening = read_model(MainThresholds, THRESHOLDS).opening
    limits = {role: 10**limit for role in ROLES if (limit := opening.of(role)) is not None}
    draw_all(
        FOLDER, load_calibration(), load_set("main"), load_set("replication"), read_model(Synthetic, SYNTHETIC),
        Bursts(excursions, after, development, openings, gaps), rules=params.chosen.rules, thresholds=limits,
        pure=read_model(Pure, PURE), attention=Attention(*(read_model(kind, place) for kind, place in zip(ATTENTION.values(), spectra, strict=True))),
    )  # fmt: skip
    run.finish(Drawn(provenance=run.provenance, files=tuple(sorted(file.name for file in FOLDER.iterdir()))), FOLDER.with_suffix(".json"), outputs=[FOLDER])


if __name__ == "__main__":
    sys.exit(run_stage(body))
