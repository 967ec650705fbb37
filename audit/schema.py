"""The JSON Schemas of the audit's own files, published for editors and for the check of records."""

from __future__ import annotations

import json

from audit.amendment import Amendment, AmendmentSeal
from audit.context import Context
from audit.judged import Verdicts
from audit.load import write_bytes
from audit.records import RunLog
from audit.registration import Outcome, Registration, Seal

MODELS = {
    "verdicts": Verdicts,
    "run": RunLog,
    "registration": Registration,
    "seal": Seal,
    "outcome": Outcome,
    "amendment": Amendment,
    "amendment-seal": AmendmentSeal,
}


def main() -> None:
    """Write one schema a kind into the project's schemas folder."""
    context = Context.open()
    for kind, model in MODELS.items():
        path = f"{context.config.paths.schemas}/{kind}.json"
        write_bytes(context.root / path, (json.dumps(model.model_json_schema(), sort_keys=True, indent=1) + "\n").encode())
        print(path)
