"""What the linter warns of, that it warns of nothing else, and that the warnings are sealed and printed."""

from __future__ import annotations

import json

import pytest
from project import PILOT, Project
from ruamel.yaml import YAML

from audit.evaluate import main as evaluate
from audit.lint import lint
from audit.records import Quantity
from audit.registration import Registration, parse_registration
from audit.verify import verify

PLACE = "prereg/pilot.yaml"
FINE = {"population": {"set": "main", "depths": [6, 12]}, "null": {"text": "No.", "chance": 0.01, "mde": 0.5}}


def registered(comparator: dict[str, object], summary: str | None = None, **more: object) -> Registration:
    """A registration of three seeds with one prediction, whose primary has a reading."""
    import io

    metric = {"file": "results/analyse/main.json", "stage": "analyse", "key": "a"} | ({"summary": summary} if summary else {})
    prediction = {"id": "P1", "claim": "So.", "metric": metric, "comparator": comparator, **FINE, **more}
    value = {
        "id": "pilot", "title": "A test", "seeds": {"from": "seal", "sets": {"main": 3}}, "stages": ["train"], "primary": "P1",
        "predictions": [{name: item for name, item in prediction.items() if item is not None}],
        "readings": [{"when": {"P1": "met"}, "text": "So."}],
    }  # fmt: skip
    stream = io.StringIO()
    YAML().dump(value, stream)
    return parse_registration(stream.getvalue().encode(), PLACE)


def null(**more: object) -> dict[str, object]:
    return {"text": "No.", **more}


WARNED: dict[str, tuple[dict[str, object], str | None, dict[str, object], str]] = {
    "no population": ({"op": ">", "value": 1}, None, {"population": None}, "names no population, the units it is about: give population.set"),
    "a set that is not there": ({"op": ">", "value": 1}, None, {"population": {"set": "other"}}, "has an empty population: no seed set other is registered"),
    "no depth": ({"op": ">", "value": 1}, None, {"population": {"set": "main", "depths": []}}, "has an empty population: no depth is named"),
    "high chance, by units": (
        {"op": ">", "than": "b", "units": 5}, None, {"null": "No."},
        "has a chance of being met under the null of 7/64 = 0.109 > 0.05 (at least 5 of 6 independent units at 1/2 each (first of 2 exchangeable ones without ties))",
    ),
    "high chance, declared": ({"op": ">", "value": 1}, None, {"null": null(chance=0.19)}, "has a chance of being met under the null of 19/100 = 0.19 > 0.05 (declared)"),
    "high chance, of an order": ({"op": ">", "order": ["b", "c"]}, None, {"null": "No."}, "has a chance of being met under the null of 1/6 = 0.167 > 0.05"),
    "high chance, of a correlation": (
        {"op": ">=", "value": 0.6, "rank_correlation": "b"}, None, {"null": "No."}, "has a chance of being met under the null of 29/240 = 0.121 > 0.05 (of 720 equally likely orders",
    ),
    "certain under the null": ({"op": ">", "value": 1}, None, {"null": null(chance=1)}, "cannot fail under the null: its chance of being met is 1 (declared)"),
    "unknown chance": ({"op": ">", "value": 1}, None, {"null": "No."}, "has no known chance of being met under the null: declare null.chance or null.unit_chance"),
    "a count is never negative": ({"op": ">=", "value": 0}, "count", {}, "cannot fail: every count of its units is >= 0"),
    "a count of six is at most six": ({"op": "<=", "value": 6}, "count", {}, "cannot fail: every count of its units is <= 6"),
    "a count of six is not seven": ({"op": ">=", "value": 7}, "count", {}, "cannot be met: no count of its units is >= 7"),
    "a count is no half": ({"op": "in", "low": 1.2, "high": 1.8}, "count", {}, "cannot be met: no count of its units is in [1.2, 1.8]"),
    "a share is at most one": ({"op": "<=", "value": 1}, "share", {}, "cannot fail: every share of its units is <= 1"),
    "a share is in its range": ({"op": "in", "low": 0, "high": 1}, "share", {"null": null(chance=0.01, mde=1)}, "cannot fail: every share of its units is in [0, 1]"),
    "a share is not above one": ({"op": ">", "value": 1}, "share", {}, "cannot be met: no share of its units is > 1"),
    "who knows what it is": ({"op": ">=", "value": 0}, None, {}, "cannot fail where the metric cannot be negative: >= 0 (say what it is: metric.summary)"),
    "a correlation is at least -1": ({"op": ">=", "value": -1, "rank_correlation": "b"}, None, {}, "cannot fail: no rank correlation lies outside [-1, 1]"),
    "a correlation is at most 1": ({"op": ">", "value": 1, "rank_correlation": "b"}, None, {}, "cannot be met: no rank correlation lies outside [-1, 1]"),
    "more units than there are": ({"op": ">", "value": 1, "units": 7}, None, {}, "cannot be met: 7 units are asked for and the population has 6"),
    "with itself": ({"op": ">=", "than": "a"}, None, {}, "compares its metric with itself: >= a"),
    "equality without an effect": ({"op": "==", "value": 0}, None, {"null": null(chance=0.01)}, "predicts == 0 and its null has no minimum detectable effect: give null.mde"),
    "interval without an effect": ({"op": "in", "low": 1, "high": 2}, None, {"null": null(chance=0.01)}, "predicts in [1, 2] and its null has no minimum detectable effect"),
    "equivalence without an effect": ({"op": "in", "than": "b", "band": 0.1}, None, {"null": null(chance=0.01)}, "predicts in b +- 0.1 and its null has no minimum"),
    "band as wide as the effect": ({"op": "in", "than": "b", "band": 0.5}, None, {}, "allows 0.5 around its target, no less than the smallest effect that would be noticed, 0.5"),
    "interval wider than the effect": ({"op": "in", "low": 1, "high": 3}, None, {}, "allows 1.0 around its target, no less than the smallest effect"),
    "always undecided": (
        {"op": ">", "value": 1}, None, {"undecided": {"key": "settled", "op": ">=", "value": 0}},
        "cannot lose where settled cannot be negative: it is undecided when settled >= 0",
    ),
    "a part that cannot fail": ({"all": [{"op": ">=", "value": 0}, {"op": "<", "value": 3}]}, "count", {}, "cannot fail: every count of its units is >= 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", WARNED)
def test_weak_predictions_are_warned_of(name: str) -> None:
    """The warning names the prediction, and is the only one there is."""
    comparator, summary, more, words = WARNED[name]
    warnings = lint(registered(comparator, summary, **more))
    assert len(warnings) == 1 and warnings[0].startswith(f"P1 {words}"), warnings


GOOD: dict[str, tuple[dict[str, object], str | None, dict[str, object]]] = {
    "threshold": ({"op": ">", "value": 1}, None, {}),
    "all six against a rival": ({"op": ">", "than": "b", "units": 6}, None, {"null": "No."}),
    "a difference above zero": ({"op": ">", "value": 0}, None, {}),
    "a count that can fail": ({"op": ">=", "value": 1}, "count", {}),
    "a count of six may be above five": ({"op": "<=", "value": 5}, "count", {}),
    "a share may be one": ({"op": "<", "value": 1}, "share", {}),
    "a count of none": ({"op": "==", "value": 0}, "count", {}),
    "a median of zero or more": ({"op": ">=", "value": 0}, "median", {}),
    "an interval narrower than the effect": ({"op": "in", "low": 1, "high": 1.9}, None, {}),
    "a high correlation": ({"op": ">=", "value": 0.9, "rank_correlation": "b"}, None, {"null": "No."}),
    "as many units as there are": ({"op": ">", "value": 1, "units": 6}, None, {}),
    "undecided below a count": ({"op": ">", "value": 1}, None, {"undecided": [{"key": "settled", "op": "<", "value": 5}]}),
    "classes": ({"op": ">", "value": 1, "labels": "b", "units": 6}, None, {"null": null(unit_chance=0.5)}),
    "several": ({"all": [{"op": ">", "value": 1}, {"key": "c", "op": "<", "than": "d"}]}, None, {}),
}


@pytest.mark.parametrize("name", GOOD)
def test_predictions_that_can_lose_are_not(name: str) -> None:
    """The honest twins: nothing to warn of."""
    comparator, summary, more = GOOD[name]
    assert lint(registered(comparator, summary, **more)) == ()


def test_bounds_come_from_the_committed_record_too() -> None:
    """What a metric is is known from the registration, or else from the record that HEAD holds."""
    counted = Quantity(value=2, digits=0, tolerance=0, summary="count", values=(1, 1, 0))
    typed = Quantity(value=2, digits=0, tolerance=0)
    assert lint(registered({"op": ">", "value": 1}), lambda _: typed) == ("P1 names a metric without values per unit: nobody can compute it again",)
    assert lint(registered({"op": ">=", "value": 0}), lambda _: counted) == ("P1 cannot fail: every count of its units is >= 0",)


def test_repeated_predictions_and_a_primary_without_reading() -> None:
    """The same question twice, and a primary whose outcome means nothing yet."""
    registration = registered({"op": ">", "value": 1})
    (first,) = registration.predictions
    twice = registration.model_copy(update={"predictions": (first, first.model_copy(update={"id": "P2"})), "readings": ()})
    assert lint(twice) == ("P2 repeats P1: same metric, same target", "no reading is fixed in advance for the primary prediction P1")


def test_warnings_are_sealed_and_stand_beside_the_verdicts(drafted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The seal stores what was warned of, the verdicts repeat it, with population and chance; verify computes them again."""
    text = PILOT.replace('    "null": Both arms', '    population: {set: main, depths: [deep]}\n    "null": Both arms').replace("than: arms.untreated", "than: arms.untreated, units: 2")
    drafted.write("prereg/pilot.yaml", text)
    drafted.commit("A chance")
    drafted.sealed()
    wanted = [
        "P1 names no population, the units it is about: give population.set",
        "P1 has no known chance of being met under the null: declare null.chance or null.unit_chance",
        "P2 has a chance of being met under the null of 1/2 = 0.5 > 0.05 (at least 2 of 3 independent units at 1/2 each (first of 2 exchangeable ones without ties))",
    ]
    assert json.loads(drafted.read("prereg/pilot.seal.json"))["warnings"] == wanted
    drafted.ran()
    record = json.loads(drafted.read("results/evaluate/pilot.json"))
    assert record["warnings"] == wanted
    one, two = record["predictions"]
    assert {"population", "chance", "chance_text"} & one.keys() == set()
    assert (two["population"], two["chance"]["value"]) == ("3 seeds of main at deep", 0.5)
    assert two["chance_text"].startswith("1/2 = 0.5: at least 2 of 3 independent units")
    report = verify(drafted.context())
    assert report.code == 0, [finding.line() for finding in report.findings]
    capsys.readouterr()
    with drafted.inside():
        evaluate("pilot", None, None)
    assert [line for line in capsys.readouterr().out.splitlines() if "sealed with the warning" in line] == [f"sealed with the warning: {text}" for text in wanted]
