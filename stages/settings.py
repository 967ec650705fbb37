"""Stage `settings`: the parameters in use as quantities that the manuscript can cite."""

from __future__ import annotations

import sys

from rankcollapse.params import load_params
from rankcollapse.settings import GROUPS, describe_settings
from rankcollapse.stage import open_gate, run_stage


def body() -> None:
    """Write down what is set."""
    params = load_params()
    run = open_gate("settings", params, None, [], ("batch", *GROUPS), few_events=params.chosen.arms_of("main").few_events)
    run.finish(describe_settings(run.provenance, params.chosen), "results/settings/settings.json")


if __name__ == "__main__":
    sys.exit(run_stage(body))
