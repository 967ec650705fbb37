"""Stage `data`: corpus, vocabulary and the fixed token stream, with their manifest."""

from __future__ import annotations

import sys
from pathlib import Path

from audit import gate
from audit.finding import Refusal
from rankcollapse.params import load_params
from rankcollapse.records import DataManifest
from rankcollapse.text import prepare_stream


def main() -> int:
    """Prepare the folder `data` and write `results/data/data.json`."""
    try:
        parameters = load_params().chosen.data
        run = gate.start(stage="data", parameters=parameters.model_dump(mode="json"), inputs=[], seed_set=None, set_value=None)
        content = prepare_stream(Path("data"), **parameters.model_dump())
        run.finish(DataManifest(provenance=run.provenance, **content), "results/data/data.json", outputs=["data"])
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return refusal.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
