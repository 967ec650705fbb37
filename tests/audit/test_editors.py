"""The JSON Schema for editors says what the parser says, and describes every field."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import PILOT
from pydantic import ValidationError

from audit.forms import TARGETS
from audit.load import parse_yaml
from audit.predictions import Comparator
from audit.registration import Registration

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas/registration.json").read_text())
SAMPLES: dict[str, Any] = {
    "value": 2, "frozen": {"file": "results/a.json", "key": "k"}, "low": 1, "high": 2, "than": ["b", "c"], "band": 0.1, "order": ["b", "c"],
    "rank_correlation": "b", "labels": "b",
}  # fmt: skip
VALIDATOR = jsonschema_rs.validator_for({**SCHEMA["$defs"]["Comparator"], "$defs": SCHEMA["$defs"]})


def parses(value: object) -> bool:
    try:
        Comparator.model_validate_json(json.dumps(value))
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("op", [None, ">=", "==", "in"])
def test_editors_and_parser_allow_the_same_forms(op: str | None) -> None:
    """Every combination of targets, with and without units: the schema takes what the parser takes, and refuses the rest."""
    allowed = 0
    for size in range(len(TARGETS) + 1):
        for names, units in itertools.product(itertools.combinations(TARGETS, size), (None, 2)):
            value = {name: SAMPLES[name] for name in names} | ({"op": op} if op else {}) | ({"units": units} if units else {})
            assert VALIDATOR.is_valid(value) == parses(value), value
            allowed += parses(value)
    assert allowed == {None: 0, ">=": 11, "==": 7, "in": 6}[op]


PARTS = st.fixed_dictionaries({"op": st.sampled_from([">", "in", "<="])}, optional={name: st.just(SAMPLES[name]) for name in TARGETS} | {"key": st.just("k")})


@settings(deadline=None)
@given(st.fixed_dictionaries({"all": st.lists(PARTS, max_size=3)}, optional={"op": st.just(">"), "value": st.just(1)}))
def test_editors_and_parser_allow_the_same_conjunctions(value: dict[str, object]) -> None:
    """Two parts or more, each of one form, and nothing beside them."""
    assert VALIDATOR.is_valid(value) == parses(value)


@pytest.mark.parametrize("beside", [{}, *({name: sample} for name, sample in SAMPLES.items()), {"units": 2}, {"op": ">"}], ids=lambda beside: str(*beside))
def test_nothing_stands_beside_a_conjunction(beside: dict[str, object]) -> None:
    """Two sound parts are a comparator alone, and none with any target, operator or count beside them."""
    value = {"all": [{"op": ">", "value": 1}, {"op": "<", "value": 2, "key": "k"}], **beside}
    assert VALIDATOR.is_valid(value) == parses(value) == (not beside)


@pytest.mark.parametrize("path", [ROOT / "prereg/pilot.yaml", None], ids=["of this repository", "of the tests"])
def test_registrations_fit_the_schema(path: Path | None) -> None:
    """A registration that is read is one that an editor accepts, short forms included."""
    validator = jsonschema_rs.validator_for(SCHEMA)
    data = path.read_bytes() if path else PILOT.encode()
    value = json.loads(json.dumps(parse_yaml(data, "here")))  # a bare key `null` becomes text, as it does in editors
    assert validator.is_valid(value) and not validator.is_valid({**value, "titel": "x"})


def test_every_field_is_described() -> None:
    """An editor can explain each key of a registration, in its own words."""
    models = {"Registration": SCHEMA, **SCHEMA["$defs"]}
    silent = [f"{model}.{field}" for model, schema in models.items() for field, shown in schema.get("properties", {}).items() if not shown.get("description")]
    assert silent == [] and len(models) > 8


def test_committed_schema_is_current() -> None:
    """Changing the language without `audit schema` is found here."""
    assert Registration.model_json_schema() == SCHEMA
