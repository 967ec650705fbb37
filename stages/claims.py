"""Stage `claims`: claim by claim, whether the source paper's finding holds here; and statement by statement, what the further texts say."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from audit.records import read_json, read_model
from rankcollapse.arm_records import Checks, Intact
from rankcollapse.burst_claims import claim_quantities as burst_quantities
from rankcollapse.burst_records import BurstTests
from rankcollapse.claim_readings import Sources, gather_claims
from rankcollapse.claims import judge_claims, needed_verdicts
from rankcollapse.params import ROLES, load_params
from rankcollapse.path_tests import claim_quantities
from rankcollapse.records_pure import Pure
from rankcollapse.records_readings import Synthetic
from rankcollapse.records_results import Summary
from rankcollapse.records_spectral import DrawnMaps, SpectralResults, SpectralRuns
from rankcollapse.records_tests import MainThresholds, PathTests
from rankcollapse.spectral_claims import claim_quantities as spectral_quantities
from rankcollapse.stage import CALIBRATION, load_calibration, load_roles, open_gate, run_stage

MAIN, REPLICATION = Path("results/summary/main.json"), Path("results/summary/replication.json")
TESTS, BURSTS, THRESHOLDS = Path("results/tests/path.json"), Path("results/bursts/tests.json"), Path("results/thresholds/main.json")
SYNTHETIC, PURE = Path("results/synthetic/curve.json"), Path("results/pure/pure.json")
ATTENTION, DRAWN, RUNS = (Path(f"results/spectral/{name}.json") for name in ("tests", "drawn", "runs"))
RESTART = Path("results/restart/tests.json")
CELLS = [Path(f"results/{stage}/{role}.json") for stage in ("checks", "intact") for role in ROLES]
SEED = 0
"""Of the permutations where there are too many orders to go through."""


def body() -> None:
    """Judge the claims."""
    params, registrations = load_params(), dict.fromkeys(name.partition(".")[0] for name in needed_verdicts())
    judged = {name: Path(f"results/evaluate/{name}.json") for name in registrations}
    records = [CALIBRATION, *CELLS, MAIN, REPLICATION, TESTS, BURSTS, THRESHOLDS, SYNTHETIC, PURE, ATTENTION, DRAWN, RUNS, RESTART]
    run = open_gate("claims", params, None, [*records, *judged.values()], ("branches", "rules"))
    path = claim_quantities(read_model(PathTests, TESTS), read_model(MainThresholds, THRESHOLDS), params.chosen.branches.switch_steps)
    sources = Sources(
        load_calibration(), load_roles(Checks, "checks"), load_roles(Intact, "intact"), read_model(Summary, MAIN), read_model(Summary, REPLICATION),
        path, burst_quantities(read_model(BurstTests, BURSTS)), read_model(Synthetic, SYNTHETIC), read_model(Pure, PURE),
        spectral_quantities(
            read_model(SpectralResults, ATTENTION), read_model(DrawnMaps, DRAWN), read_model(SpectralRuns, RUNS), read_model(SpectralResults, RESTART),
            params.chosen,
        ),
    )  # fmt: skip
    verdicts = {f"{name}.{row['id']}": row["verdict"] for name, place in judged.items() for row in read_json(place)["predictions"]}
    run.finish(judge_claims(run.provenance, gather_claims(sources), verdicts, np.random.default_rng(SEED)), "results/claims.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
