"""Settings as quantities: what is printed is what `params.yaml` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.records import Provenance
from rankcollapse.params import load_params
from rankcollapse.records_results import gather
from rankcollapse.settings import GROUPS, describe_settings, list_numbers, set_value

WRITTEN = {120: (0, "integer"), 1.0: (0, "integer"), 0.002: (3, "fixed"), 0.95: (2, "fixed"), 0.1: (1, "fixed"), 1e-8: (0, "scientific"), 2.5e-4: (1, "scientific")}


@pytest.mark.parametrize("number", WRITTEN)
def test_a_setting_has_the_digits_it_is_written_with(number):
    """Neither rounded nor padded, and exact."""
    quantity = set_value(number)
    assert (quantity.digits, quantity.style) == WRITTEN[number] and quantity.value == number and quantity.tolerance == 0


def test_lists_are_named_by_place_and_texts_left_out():
    """A flag is no number, and neither is a text."""
    found = dict(list_numbers({"a": {"b": [5, 7]}, "kind": "local", "on": True, "none": None}, ""))
    assert found == {"a.b.first": 5, "a.b.second": 7}


def test_the_settings_of_a_scale():
    """Every number of a group stands in the record under its own name, with the value of the parameter file."""
    scale = load_params(Path(__file__).parents[2] / "params.yaml").chosen
    made = describe_settings(Provenance(stage="settings", seals={}, parameters="0" * 64, seeds=(), data={}), scale)
    assert made.driver["warm"].value == scale.driver.warm and made.study["delays"]["third"].value == scale.study.delays[2]
    assert made.driver["floors"]["first"].value == scale.driver.floors[0] and made.few_events.value == scale.arms_of("main").few_events
    for group in GROUPS:
        held = dict(list_numbers(scale.model_dump(mode="json")[group], ""))
        assert {key: quantity.value for key, quantity in gather(getattr(made, group)).items()} == held
