"""Stage `data`: corpus, vocabulary and the fixed token stream, with their manifest."""

from __future__ import annotations

import sys

from audit import gate
from rankcollapse.manifest import DataManifest
from rankcollapse.params import load_params
from rankcollapse.stage import DATA, MANIFEST, run_stage
from rankcollapse.text import prepare_stream


def body() -> None:
    """Prepare the folder `data` and write its manifest."""
    parameters = load_params().chosen.data
    run = gate.start(stage="data", parameters=parameters.model_dump(mode="json"))
    content = prepare_stream(DATA, **parameters.model_dump())
    run.finish(DataManifest(provenance=run.provenance, **content), MANIFEST, outputs=[DATA])


if __name__ == "__main__":
    sys.exit(run_stage(body))
