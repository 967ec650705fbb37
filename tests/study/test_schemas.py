"""The committed JSON Schemas are those of the records."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankcollapse.schemas import schema_texts

SCHEMAS = Path(__file__).parents[2] / "schemas"


@pytest.mark.parametrize("name", ["branch", "calibration", "collapse", "data", "main", "path"])
def test_committed_schema_is_the_records(name):
    """Changing a record without `python -m rankcollapse.schemas` is found here."""
    assert (SCHEMAS / f"{name}.json").read_text() == schema_texts()[f"{name}.json"]


def test_every_kind_has_its_schema():
    """No record of the study is written without a committed schema."""
    assert sorted(schema_texts()) == ["branch.json", "calibration.json", "collapse.json", "data.json", "main.json", "path.json"]
