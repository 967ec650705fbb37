"""The JSON Schemas of the study's records, committed so that the audit can check records without importing the study."""

from __future__ import annotations

import json
from pathlib import Path

from audit.records import Record, write_bytes
from rankcollapse import (
    arm_records,
    burst_records,
    claims,
    powers,
    records,
    records_pure,
    records_readings,
    records_results,
    records_spectral,
    records_tests,
    settings,
)  # fmt: skip
from rankcollapse.manifest import DataManifest

HOMES = (records, arm_records, records_pure, records_readings, records_results, records_tests, records_spectral, burst_records, claims, settings, powers)


def list_kinds() -> tuple[type[Record], ...]:
    """Every kind of record that a module of records defines, in the order of the modules."""
    own = (kind for home in HOMES for kind in vars(home).values() if isinstance(kind, type) and issubclass(kind, Record) and kind.__module__ == home.__name__)
    return (DataManifest, *own)


def schema_texts() -> dict[str, str]:
    """File name -> JSON Schema of every kind of record."""
    return {f"{kind.model_fields['kind'].default}.json": json.dumps(kind.model_json_schema(), sort_keys=True, indent=1) + "\n" for kind in list_kinds()}


if __name__ == "__main__":  # PYTHONPATH=.:src python -m rankcollapse.schemas
    for name, text in schema_texts().items():
        write_bytes(Path("schemas") / name, text.encode())
