"""The JSON Schemas of the study's records, committed so that the audit can check records without importing the study."""

from __future__ import annotations

import json
from pathlib import Path

from audit.records import Record, write_bytes
from rankcollapse import records
from rankcollapse.manifest import DataManifest

KINDS: tuple[type[Record], ...] = (DataManifest, records.Calibration, records.Collapse, records.Branch, records.Path, records.Main)


def schema_texts() -> dict[str, str]:
    """File name -> JSON Schema of every kind of record."""
    return {f"{kind.model_fields['kind'].default}.json": json.dumps(kind.model_json_schema(), sort_keys=True, indent=1) + "\n" for kind in KINDS}


if __name__ == "__main__":  # PYTHONPATH=.:src python -m rankcollapse.schemas
    for name, text in schema_texts().items():
        write_bytes(Path("schemas") / name, text.encode())
