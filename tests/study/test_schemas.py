"""The committed JSON Schemas are those of the records."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

import jsonschema_rs
import pytest

import rankcollapse
from audit.records import Record, record_bytes
from rankcollapse.schemas import list_kinds, schema_texts

SCHEMAS = Path(__file__).parents[2] / "schemas"
NAMES = {kind.model_fields["kind"].default: kind for kind in list_kinds()}


@pytest.mark.parametrize("name", NAMES)
def test_committed_schema_is_the_records(name):
    """Changing a record without `python -m rankcollapse.schemas` is found here."""
    assert (SCHEMAS / f"{name}.json").read_text() == schema_texts()[f"{name}.json"]


def list_records(kind: type[Record] = Record) -> set[type[Record]]:
    """Every record that a module of the study defines."""
    for module in pkgutil.walk_packages(rankcollapse.__path__, "rankcollapse."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    below = {each for child in kind.__subclasses__() for each in {child, *list_records(child)}}
    return {each for each in below if each.__module__.startswith("rankcollapse.")}


def test_every_kind_has_its_schema():
    """No record of the study is written without a committed schema, and no two have one name."""
    assert list_records() == set(list_kinds()) and len(NAMES) == len(list_kinds()) == len(schema_texts())


@pytest.mark.parametrize("name", ["calibration", "checks", "drivers", "treatments", "switches", "readings"])
def test_a_record_is_valid_by_its_schema(study, name):
    """What is written passes the committed schema; with an unknown key it does not."""
    records = {"treatments": "treated", "switches": "switched"}.get(name, name)
    found = getattr(study.records, records)
    written = json.loads(record_bytes(found if name == "calibration" else found["deep"]))
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    assert jsonschema_rs.is_valid(schema, written) and not jsonschema_rs.is_valid(schema, written | {"more": 1})
