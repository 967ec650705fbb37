"""A registration says one thing to every reader, or is refused with the key at fault."""

from __future__ import annotations

import pytest
from project import PILOT

from audit.finding import Refusal
from audit.registration import look_up, parse_registration, parse_seal

PLACE = "prereg/pilot.yaml"


def test_plain_registration_is_read() -> None:
    """The honest text gives predictions in order, with targets a reader can read."""
    registration = parse_registration(PILOT.encode(), PLACE)
    assert [prediction.comparator.text() for prediction in registration.predictions] == [">= 2", "> arms.untreated"]
    assert registration.judged_stages() == {"train", "analyse"}


def test_bare_null_key_is_read() -> None:
    """`null:` without quotes, as a person writes it, is the null hypothesis and no empty key."""
    registration = parse_registration(PILOT.replace('"null"', "null").encode(), PLACE)
    assert registration.predictions[0].null.text == "No run recovers."


BAD = {
    "unknown key": ("title: A pilot of the tool", "titel: A pilot", "unknown key 'titel' (and 1 more); expected title; found titel; cure: write title"),
    "extra key": ("primary: P1", "primary: P1\npublisher: me", "unknown key 'publisher'"),
    "numeric text": ("value: 2}", "value: '1e-3'}", "expected a valid"),
    "not a number": ("value: 2}", "value: .nan}", "is not valid (and 1 more); expected a finite number; found nan; cure: correct the value"),
    "infinity": ("value: 2}", "value: .inf}", "is not valid (and 1 more); expected a finite number; found inf; cure: correct the value"),
    "two targets": ("value: 2}", "value: 2, than: arms.untreated}", "op `in` with low and high, or band and either value or than; any other op with either value, frozen, than or order"),
    "no target": ('{op: ">=", value: 2}', '{op: ">="}', "any other op with either value, frozen, than or order"),
    "empty interval": ('{op: ">=", value: 2}', '{op: in, low: 3, high: 2}', "low not above high"),
    "unknown operator": ('op: ">=", value: 2', 'op: "!=", value: 2', "predictions.0.comparator.op is not valid"),
    "zero units": ("value: 2}", "value: 2, units: 0}", "greater than or equal to 1"),
    "undecided by the metric": ("key: settled", "key: arms.treated", "by a count or validity quantity, never by the metric itself"),
    "ids equal but for case": ("id: P2", "id: p1", "prediction ids that differ by more than case"),
    "unknown primary": ("primary: P1", "primary: P9", "ids of its own predictions (unknown: P9)"),
    "unknown reading": ("when: {P1: met", "when: {P7: met", "ids of its own predictions (unknown: P7)"),
    "no null": ('    "null": No run recovers.\n', "", "key 'predictions.0.null' is missing"),
    "no seeds": ("sets: {main: 3}", "sets: {main: 0}", "greater than or equal to 1"),
    "path out": ("code: [judge.py]", "code: [../judge.py]", "paths relative to the project"),
    "id with capitals": ("id: pilot", "id: Pilot", "pattern"),
    "id of another file": ("id: pilot", "id: other", "id and file name differ; expected pilot; found other"),
    "duplicate key": ("primary: P1", "primary: P1\nprimary: P2", "duplicate key"),
    "anchor": ("scale: laptop", "scale: &a laptop", "anchors and aliases are not allowed"),
    "tag": ("scale: laptop", "scale: !!str laptop", "tags are not allowed"),
    "second document": ("readings:", "---\nreadings:", "holds a second document"),
    "byte-order mark": ("id: pilot", "\ufeffid: pilot", "starts with a byte-order mark"),
    "tab": ("  - id: P1", "\t- id: P1", "not readable as YAML"),
    "look-alike": ("id: pilot", "id: pil\u043et", "pattern"),
    "not a mapping": (PILOT, "- 1\n", "valid"),
    "empty": (PILOT, "", "valid"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_registration_is_one_line(name: str) -> None:
    """Each malformed text is refused with its place and the words that say what is wrong."""
    old, new, words = BAD[name]
    assert old in PILOT
    with pytest.raises(Refusal) as refusal:
        parse_registration(PILOT.replace(old, new, 1).encode(), PLACE)
    line = str(refusal.value)
    assert line.startswith(PLACE) and words in line and "\n" not in line


def test_latin_1_is_refused() -> None:
    """Bytes that are no UTF-8 are named as such."""
    with pytest.raises(Refusal, match="not UTF-8"):
        parse_registration(PILOT.replace("pilot of", "pil\u00f4t of").encode("latin-1"), PLACE)


def test_conditions_are_met_by_value_and_type() -> None:
    """`holds_for` distinguishes True from 1 and a list from an id."""
    registration = parse_registration(PILOT.encode(), PLACE)
    assert registration.unmet({"scale": "laptop", "seed_sets": {"main": "pilot"}}) is None
    assert registration.unmet({"scale": "laptop", "seed_sets": {"main": [1]}}) == "seed_sets.main is [1], registered for 'pilot'"
    assert registration.unmet({}) == "scale is None, registered for 'laptop'"
    assert look_up({"a": {"b": 1}}, "a.b.c") is None


def test_seal_that_does_not_agree_with_itself_is_refused() -> None:
    """A seal whose content is not the digest of its own lines is no seal."""
    text = '{"kind": "seal", "version": 1, "id": "x", "registration": "a", "files": {"a": "%s"}, "origins": {}, "parameters": {}, "content": "%s", "ledger": {}, "warnings": []}'
    with pytest.raises(Refusal, match="recomputed from its files"):
        parse_seal((text % ("0" * 64, "1" * 64)).encode(), "prereg/x.seal.json")
