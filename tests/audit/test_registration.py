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
    "alias": ("scale: laptop, seed_sets.main: pilot", "scale: &a laptop, seed_sets.main: *a", "anchors and aliases are not allowed"),
    "merge key": ("title: A pilot of the tool", "<<: {title: A pilot}", "merge keys are not allowed"),
    "look-alike in a prediction's id": ("id: P1", "id: \u04201", "pattern"),
    "look-alike in a key": ("key: arms.treated", "key: \u0430rms.treated", "expected printable ASCII characters (not U+0430 CYRILLIC SMALL LETTER A)"),
    "look-alike in a rival": ("than: arms.untreated", "than: arms.untre\u0430ted", "expected printable ASCII characters (not U+0430"),
    "look-alike in a file": ("results/analyse/main.json", "results/an\u0430lyse/main.json", "expected printable ASCII characters (not U+0430"),
    "look-alike in a stage": ("stage: analyse", "stage: an\u0430lyse", "expected printable ASCII characters (not U+0430"),
    "look-alike for a key of the language": ("claim: Most", "cl\u0430im: Most", "unknown key 'predictions.0.cl\u0430im'"),
    "look-alike in a seed set": ("sets: {main: 3}", "sets: {m\u0430in: 3}", "pattern"),
    "invisible letter in a key": ("key: settled", "key: settled\u200b", "expected printable ASCII characters (not U+200B ZERO WIDTH SPACE)"),
    "empty key": ("key: settled", "key: ''", "expected printable ASCII characters (not nothing)"),
    "too long": ("title: A pilot of the tool", "title: A pilot " + "x" * 2**20, "is too long for a registration; expected at most 256 KiB"),
    "number of no end in units": ("value: 2}", "value: 2, units: .inf}", "is not valid"),
    "infinity as an end": ('{op: ">=", value: 2}', "{op: in, low: 3, high: .inf}", "expected a finite number; found inf"),
    "not a number as a tolerance": ("key: arms.treated}", "key: arms.treated, tolerance: .nan}", "expected a finite number; found nan"),
    "negative tolerance": ("key: arms.treated}", "key: arms.treated, tolerance: -1}", "greater than or equal to 0"),
    "negative band": ('{op: ">=", value: 2}', "{op: in, value: 2, band: -1}", "greater than or equal to 0"),
    "no such summary": ("key: arms.treated}", "key: arms.treated, summary: best}", "summary is not valid"),
    "disjunction": ('{op: ">=", value: 2}', "{any: [{op: '>', value: 2}, {op: '<', value: 1}]}", "unknown key 'predictions.0.comparator.any'"),
    "best of several metrics": ("key: arms.treated}", "key: [arms.treated, arms.untreated]}", "expected a valid string"),
    "conjunction of one": ('{op: ">=", value: 2}', "{all: [{op: '>', value: 2}]}", "at least 2 items"),
    "conjunction and more": ('{op: ">=", value: 2}', "{op: '>', value: 1, all: [{op: '>', value: 2}, {op: '<', value: 9}]}", "nothing beside all"),
    "conjunction in a conjunction": ('{op: ">=", value: 2}', "{all: [{op: '>', value: 2}, {all: []}]}", "unknown key 'predictions.0.comparator.all.1.all'"),
    "order by equality": ('{op: ">=", value: 2}', '{op: "==", order: [arms.untreated]}', "any other op with either value, frozen, than or order"),
    "arm twice": ('{op: ">=", value: 2}', '{op: ">", order: [arms.untreated, arms.untreated]}', "each rival or arm named once"),
    "no rival": ('{op: ">", than: arms.untreated}', '{op: ">", than: []}', "each rival or arm named once"),
    "correlation with units": ('{op: ">=", value: 2}', '{op: ">", value: 0, rank_correlation: settled2, units: 3}', "no units beside rank_correlation"),
    "correlation without a value": ('{op: ">=", value: 2}', '{op: ">", rank_correlation: arms.untreated}', "any other op with either value"),
    "correlation with a tolerance": (
        'key: arms.treated}\n    comparator: {op: ">=", value: 2}', 'key: arms.treated, tolerance: 1}\n    comparator: {op: ">", value: 0, rank_correlation: b}',
        "no tolerance beside rank_correlation",
    ),
    "labels without a count": ('{op: ">=", value: 2}', '{op: ">", value: 2, labels: arms.untreated}', "units beside labels"),
    "threshold that nothing freezes": ('{op: ">=", value: 2}', '{op: ">", frozen: {file: results/a/a.json, key: line}}', "files that freezes.outputs names (not: 'results/a/a.json')"),
    "undecided by a rival": ('{op: ">=", value: 2}', '{op: ">", than: settled}', "never by the metric itself or what it is compared with"),
    "undecided by a part's metric": ('{op: ">=", value: 2}', '{all: [{op: ">", value: 1}, {key: settled, op: ">", value: 1}]}', "never by the metric itself or what"),
    "undecided by one of two": ('undecided: {key: settled, op: "<", value: 2}', 'undecided: [{key: settled, op: "<", value: 2}, {key: arms.treated, op: "<", value: 2}]', "never by the metric"),
    "chance above one": ('"null": No run recovers.', '"null": {text: No, chance: 1.5}', "less than or equal to 1"),
    "chance of a unit without units": ('"null": No run recovers.', '"null": {text: No, unit_chance: 0.5}', "unit_chance where units are counted, and not beside chance"),
    "no effect at all": ('"null": No run recovers.', '"null": {text: No, mde: 0}', "greater than 0"),
    "depth twice": ('"null": No run', 'population: {set: main, depths: [6, 6]}\n    "null": No run', "each depth once"),
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


FORMS = {
    "frozen": ("{op: '<', frozen: {file: results/calibrate/calibration.json, key: line}}", "< results/calibrate/calibration.json:line"),
    "band": ("{op: in, value: 1, band: 0.1}", "in 1 +- 0.1"),
    "equivalence": ("{op: in, than: a, band: 0.1, units: 3}", "in a +- 0.1 in at least 3 units"),
    "rivals": ("{op: '<', than: [a, b]}", "< each of a, b"),
    "order": ("{op: '>', order: [a, b]}", "> a > b"),
    "correlation": ("{op: '>=', value: 0.8, rank_correlation: a}", "rank correlation with a >= 0.8"),
    "classes": ("{op: '<', value: 2, labels: a, units: 3}", "< 2 exactly where a is 1, in at least 3 units"),
    "all": ("{all: [{op: '>', value: 1}, {key: a, op: in, low: 1, high: 2}]}", "> 1 and a in [1, 2]"),
}


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_read(name: str) -> None:
    """Each form of the language, and how a reader sees it."""
    text, shown = FORMS[name]
    registration = parse_registration(PILOT.replace('{op: ">=", value: 2}', text, 1).encode(), PLACE)
    assert registration.predictions[0].comparator.text() == shown


def test_several_conditions_and_a_full_null_are_read() -> None:
    """What may stand once may stand several times, and a null may say more than words."""
    text = PILOT.replace('undecided: {key: settled, op: "<", value: 2}', 'undecided: [{key: settled, op: "<", value: 2}, {key: broken, op: ">", value: 0}]')
    text = text.replace('"null": No run recovers.', "null: {text: No run recovers., chance: 0.01, mde: 1}")
    prediction = parse_registration(text.encode(), PLACE).predictions[0]
    assert [rule.key for rule in prediction.undecided or ()] == ["settled", "broken"]
    assert prediction.keys() == ("arms.treated", "settled", "broken") and prediction.null.chance == 0.01


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
