"""Stage `power`: what the registered predictions that rank could see, from the registrations alone."""

from __future__ import annotations

import sys
from pathlib import Path

from audit.records import read_yaml
from rankcollapse.params import load_params
from rankcollapse.powers import describe_powers
from rankcollapse.rankings import POWER, find_rankings
from rankcollapse.stage import open_gate, run_stage


def body() -> None:
    """Compute the powers; no record of a run is read, and no amendment."""
    params, paths = load_params(), sorted(path for path in Path("prereg").glob("*.yaml") if "." not in path.stem)
    delays = params.chosen.study.delays
    run = open_gate("power", params, None, paths, (), delays=list(delays))
    rankings = find_rankings({path.stem: read_yaml(path) for path in paths}, len(delays))
    run.finish(describe_powers(run.provenance, rankings), POWER)


if __name__ == "__main__":
    sys.exit(run_stage(body))
