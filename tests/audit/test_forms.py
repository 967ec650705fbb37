"""The judge, form by form: named cases that are met, missed, undecided or refused; each form can be met and missed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import predictions
from audit.finding import Refusal
from audit.predictions import Comparator, Metric, Null, Population, Prediction, Undecided
from audit.verdict import Judgement, correlate, judge_prediction

pytestmark = pytest.mark.usefixtures("subnormal_numbers")
PLACE = "results/a/a.json"
FROZEN = "results/calibrate/calibration.json"


def quantity(value: float, values: list[float] | None = None, **more: object) -> dict[str, object]:
    return {"value": value, "unit": "1", "digits": 1, "tolerance": 0} | ({"values": values} if values is not None else {}) | more


RECORD = {
    "a": quantity(3, [1, 3, 5, 7]),
    "b": quantity(2, [0, 2, 6, 6]),
    "c": quantity(1, [0, 1, 4, 8]),
    "up": quantity(2.5, [10, 20, 30, 40]),
    "down": quantity(2.5, [4, 3, 2, 1]),
    "tied": quantity(1, [1, 1, 2, 2]),
    "flat": quantity(1, [5, 5, 5, 5]),
    "low": quantity(1, [1, 1, 0, 0]),
    "odd": quantity(1, [2, 0, 1, 1]),
    "short": quantity(1, [1, 2, 3]),
    "bare": quantity(4),
    "empty": quantity(0, []),
    "settled": quantity(4),
    "broken": quantity(1),
    "text": quantity("3"),  # type: ignore[arg-type]
    "wide": quantity(3, [1, 3, 5], tolerance=0.5),
    "median": quantity(3, [1, 3, 5], summary="median"),
}
LINES = {FROZEN: {"line": quantity(3.5)}}


def prediction(comparator: dict[str, object], key: str = "a", **more: object) -> Prediction:
    """A prediction about a quantity of RECORD."""
    metric = Metric(file=PLACE, stage="a", key=key, **{name: more.pop(name) for name in ("tolerance", "summary") if name in more})
    text = Comparator.model_validate(comparator, strict=False)
    return Prediction(id="P1", claim="It is so.", metric=metric, comparator=text, null="It is not.", **more)


def judged(comparator: dict[str, object], key: str = "a", most: int | None = None, record: dict[str, object] = RECORD, **more: object) -> Judgement:
    return judge_prediction(prediction(comparator, key, **more), record, LINES.__getitem__, most)


LINE = {"file": FROZEN, "key": "line"}
CASES: dict[str, tuple[str, dict[str, object], str]] = {
    "frozen threshold, below": ("a", {"op": "<", "frozen": LINE}, "met"),
    "frozen threshold, above": ("a", {"op": ">", "frozen": LINE}, "missed"),
    "frozen threshold, per unit": ("a", {"op": "<", "frozen": LINE, "units": 2}, "met"),
    "frozen threshold, a unit too many": ("a", {"op": "<", "frozen": LINE, "units": 3}, "missed"),
    "interval, at its upper end": ("a", {"op": "in", "low": 1, "high": 3}, "met"),
    "interval, outside": ("a", {"op": "in", "low": 4, "high": 9}, "missed"),
    "equivalence with a number, at the edge": ("a", {"op": "in", "value": 2, "band": 1}, "met"),
    "equivalence with a number, beyond": ("a", {"op": "in", "value": 2, "band": 0.9}, "missed"),
    "equivalence with a rival": ("a", {"op": "in", "than": "b", "band": 1}, "met"),
    "equivalence with two rivals": ("a", {"op": "in", "than": ["b", "c"], "band": 1}, "missed"),
    "equivalence per unit": ("a", {"op": "in", "than": "b", "band": 1, "units": 4}, "met"),
    "equivalence per unit, one out": ("a", {"op": "in", "than": "c", "band": 1, "units": 4}, "missed"),
    "every rival": ("a", {"op": ">", "than": ["b", "c"]}, "met"),
    "one rival better": ("b", {"op": ">", "than": ["a", "c"]}, "missed"),
    "tie with a rival, strict": ("a", {"op": ">", "than": ["a"]}, "missed"),
    "tie with a rival, weak": ("a", {"op": ">=", "than": ["a"]}, "met"),
    "every rival, unit by unit": ("a", {"op": ">", "than": ["b", "c"], "units": 2}, "met"),
    "every rival, unit by unit, too many": ("a", {"op": ">", "than": ["b", "c"], "units": 3}, "missed"),
    "rivals, ties count for weak": ("b", {"op": ">=", "than": "c", "units": 3}, "met"),
    "rivals, ties do not count for strict": ("b", {"op": ">", "than": "c", "units": 3}, "missed"),
    "order": ("a", {"op": ">", "order": ["b", "c"]}, "met"),
    "order, the later two swapped": ("a", {"op": ">", "order": ["c", "b"]}, "missed"),
    "order, the first swapped": ("b", {"op": ">", "order": ["a", "c"]}, "missed"),
    "order, rising": ("c", {"op": "<", "order": ["b", "a"]}, "met"),
    "order with a tie, strict": ("flat", {"op": "<", "order": ["tied", "a"]}, "missed"),
    "order with a tie, weak": ("flat", {"op": "<=", "order": ["tied", "a"]}, "met"),
    "order per unit": ("a", {"op": ">", "order": ["b", "c"], "units": 1}, "met"),
    "order per unit, too many": ("a", {"op": ">", "order": ["b", "c"], "units": 2}, "missed"),
    "rank correlation of one": ("a", {"op": ">=", "rank_correlation": "up", "value": 1}, "met"),
    "rank correlation of minus one": ("a", {"op": ">=", "rank_correlation": "down", "value": 0}, "missed"),
    "rank correlation below": ("a", {"op": "<=", "rank_correlation": "down", "value": -1}, "met"),
    "rank correlation with ties": ("a", {"op": ">=", "rank_correlation": "tied", "value": 0.89}, "met"),
    "rank correlation with ties, more asked": ("a", {"op": ">=", "rank_correlation": "tied", "value": 0.9}, "missed"),
    "rank correlation with a constant is none": ("a", {"op": "<=", "rank_correlation": "flat", "value": 1}, "missed"),
    "classes as labelled": ("a", {"op": "<", "frozen": LINE, "labels": "low", "units": 4}, "met"),
    "classes the wrong way round": ("a", {"op": ">", "frozen": LINE, "labels": "low", "units": 1}, "missed"),
    "classes, one wrong": ("a", {"op": "<", "value": 3, "labels": "low", "units": 3}, "met"),
    "classes, one wrong, none allowed": ("a", {"op": "<", "value": 3, "labels": "low", "units": 4}, "missed"),
    "both": ("a", {"all": [{"op": ">", "value": 1}, {"op": "<", "value": 4}]}, "met"),
    "one of both": ("a", {"all": [{"op": ">", "value": 1}, {"op": "<", "value": 3}]}, "missed"),
    "both, of two metrics": ("a", {"all": [{"op": ">", "value": 1}, {"key": "b", "op": "<", "than": "a"}]}, "met"),
    "one of both, of two metrics": ("a", {"all": [{"op": ">", "value": 1}, {"key": "b", "op": ">", "than": "a"}]}, "missed"),
    "both, one per unit": ("a", {"all": [{"op": ">", "value": 1, "units": 3}, {"op": ">", "order": ["b", "c"]}]}, "met"),
    "no units at all": ("empty", {"op": ">=", "value": 0, "units": 1}, "missed"),
    "a difference has a direction": ("b", {"op": ">", "value": 0}, "met"),
}


@pytest.mark.parametrize("name", CASES)
def test_forms(name: str) -> None:
    """Each form on its edge and beside it."""
    key, comparator, wanted = CASES[name]
    assert judged(comparator, key).verdict == wanted


def test_each_form_is_met_and_missed() -> None:
    """No form in the table above can only win."""
    for word in ("frozen", "band", "than", "order", "rank_correlation", "labels", "all", "low", "units"):
        verdicts = {wanted for _, comparator, wanted in CASES.values() if word in comparator or word in str(comparator.get("all", ""))}
        assert verdicts == {"met", "missed"}, word


TOLERANCE: dict[str, tuple[dict[str, object], float, str]] = {
    "far from the threshold": ({"op": ">", "value": 2}, 0.9, "met"),
    "reaching the threshold": ({"op": ">", "value": 2}, 1, "undecided"),
    "missed, and far": ({"op": ">", "value": 5}, 1.9, "missed"),
    "missed, and near": ({"op": ">=", "value": 5}, 2, "undecided"),
    "equality is always near": ({"op": "==", "value": 3}, 0.1, "undecided"),
    "no equality far off": ({"op": "==", "value": 4}, 0.1, "missed"),
    "well inside an interval": ({"op": "in", "low": 2, "high": 4}, 0.9, "met"),
    "inside at an end": ({"op": "in", "low": 2, "high": 4}, 1.1, "undecided"),
    "across a narrow interval": ({"op": "in", "low": 3.5, "high": 3.6}, 1, "undecided"),
    "far from an interval": ({"op": "in", "low": 5, "high": 6}, 1, "missed"),
    "a rival near": ({"op": ">", "than": "b"}, 1, "undecided"),
    "one rival near, one lost": ({"op": ">", "than": ["b", "bare"]}, 0.5, "missed"),
    "units that hold anyway": ({"op": ">=", "value": 3, "units": 2}, 0.5, "met"),
    "units that need an open one": ({"op": ">=", "value": 3, "units": 3}, 0.5, "undecided"),
    "units out of reach": ({"op": ">=", "value": 3, "units": 4}, 0.5, "missed"),
    "classes with one open": ({"op": "<", "value": 3, "labels": "low", "units": 4}, 0.5, "undecided"),
    "order, open at its start": ({"op": ">", "order": ["b", "c"]}, 1, "undecided"),
    "order, lost later on": ({"op": ">", "order": ["c", "b"]}, 2, "missed"),
    "one part open": ({"all": [{"op": ">", "value": 1}, {"op": "<", "value": 3.5}]}, 1, "undecided"),
    "one part open, one lost": ({"all": [{"op": ">", "value": 9}, {"op": "<", "value": 3.5}]}, 1, "missed"),
    "another quantity's part has none": ({"all": [{"op": ">", "value": 1}, {"key": "b", "op": ">", "value": 1.5}]}, 1, "met"),
}


@pytest.mark.parametrize("name", TOLERANCE)
def test_verdicts_that_flip_within_the_sealed_tolerance(name: str) -> None:
    """What another value within the tolerance would change is undecided; the same without a tolerance never is."""
    comparator, tolerance, wanted = TOLERANCE[name]
    record = {**RECORD, "a": quantity(3, [1, 2.9, 5, 7])} if "units" in comparator else RECORD
    assert judged(comparator, record=record, tolerance=tolerance).verdict == wanted
    assert judged(comparator, record=record).verdict in ("met", "missed")


REFUSED: dict[str, tuple[dict[str, object], dict[str, object], str]] = {
    "units of unequal number": ({"op": ">", "than": ["b", "short"], "units": 1}, {}, "found the metric: 4, b: 4, short: 3"),
    "no values per unit": ({"op": ">", "than": "bare", "units": 1}, {}, "bare: no values"),
    "a metric without values": ({"op": ">", "value": 1, "units": 1}, {"key": "bare"}, "the metric: no values"),
    "unequal for a correlation": ({"op": ">", "rank_correlation": "short", "value": 0}, {}, "short: 3"),
    "unequal labels": ({"op": "<", "value": 3, "labels": "short", "units": 1}, {}, "short: 3"),
    "no labels": ({"op": "<", "value": 3, "labels": "odd", "units": 1}, {}, "odd holds what is no label; expected 0 or 1 for each unit"),
    "text": ({"op": ">", "value": 1}, {"key": "text"}, "results/a/a.json:text: value.float is not valid"),
    "text as a rival": ({"op": ">", "than": "text"}, {}, "results/a/a.json:text: value.float is not valid"),
    "unknown arm": ({"op": ">", "order": ["b", "cc"]}, {}, "no quantity at key 'cc'"),
    "unknown part": ({"all": [{"op": ">", "value": 1}, {"key": "aa", "op": ">", "value": 1}]}, {}, "no quantity at key 'aa'"),
    "unknown frozen key": ({"op": ">", "frozen": {"file": FROZEN, "key": "lines"}}, {}, f"{FROZEN}: no quantity at key 'lines'"),
    "tolerance widened": ({"op": ">", "value": 1}, {"key": "wide", "tolerance": 0.1}, "declares a larger tolerance than was sealed; expected at most 0.1, as sealed; found 0.5"),
    "another summary": ({"op": ">", "value": 1}, {"key": "median", "summary": "mean"}, "is another summary than was sealed; expected mean; found median"),
    "no summary": ({"op": ">", "value": 1}, {"summary": "mean"}, "is another summary than was sealed; expected mean; found None"),
    "more units than the population": ({"op": ">", "value": 1, "units": 1}, {"most": 3}, "has more units than its population; expected at most 3 values, one a unit; found 4"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_judged_is_refused_by_name(name: str) -> None:
    """A quantity that is no number, has other units, or is not what was sealed: one line, no verdict."""
    comparator, more, words = REFUSED[name]
    with pytest.raises(Refusal) as refusal:
        judged(comparator, **more)  # type: ignore[arg-type]
    assert words in str(refusal.value) and "\n" not in str(refusal.value)


def test_not_a_number_is_no_value() -> None:
    """NaN and infinity have no verdict: as a value, per unit, or as a rival's."""
    for spoilt in (quantity(float("nan")), quantity(1, [1, float("inf"), 1, 1])):
        for comparator in ({"op": "<", "value": 1}, {"op": "<", "than": "b"}, {"op": "<", "rank_correlation": "b", "value": 1}):
            with pytest.raises(Refusal, match="results/a/a.json:a: .*finite number"):
                judged(comparator, record={**RECORD, "a": spoilt})


def test_any_of_several_conditions_leaves_it_undecided() -> None:
    """One condition that holds is enough, first or last; none leaves the verdict to the metric."""
    no, yes = Undecided(key="settled", op="<", value=4), Undecided(key="bare", op=">", value=3)
    met = {"op": ">", "value": 1}
    assert [judged(met, undecided=rules).verdict for rules in (None, no, (no, no))] == ["met"] * 3
    assert [judged(met, undecided=rules).verdict for rules in (yes, (no, yes), (yes, no))] == ["undecided"] * 3


def test_units_and_correlation_are_reported() -> None:
    """Which units compare, and which correlation was found, stands beside the verdict."""
    assert judged({"op": "<", "value": 3, "labels": "low", "units": 1}).units == (True, False, True, True)
    assert judged({"op": ">", "rank_correlation": "down", "value": 0}).correlation == -1
    assert judged({"op": ">", "rank_correlation": "flat", "value": 0}).correlation is None
    assert judged({"op": ">=", "value": 3, "units": 1}, tolerance=2.5).units == (False, True, True, True)


VALUES = st.lists(st.tuples(*[st.integers(-3, 3) | st.floats(-3, 3)] * 3), min_size=1, max_size=7)


def columns(rows: list[tuple[float, float, float]]) -> dict[str, object]:
    return {name: quantity(column[0], list(column)) for name, column in zip("abc", zip(*rows, strict=True), strict=True)}


@settings(deadline=None)
@given(VALUES)
def test_swapping_labels_flips_a_strict_comparison(rows: list[tuple[float, float, float]]) -> None:
    """a > b and b > a are never both met, and exactly one of a > b and b >= a is."""
    record = columns(rows)
    one, other, weak = (judged({"op": op, "than": than}, key, record=record).verdict for key, op, than in (("a", ">", "b"), ("b", ">", "a"), ("b", ">=", "a")))
    assert (one, other) != ("met", "met") and {one, weak} == {"met", "missed"}


@settings(deadline=None)
@given(VALUES, st.permutations("abc"))
def test_one_order_of_arms_at_most_is_met(rows: list[tuple[float, float, float]], arms: list[str]) -> None:
    """Of a strict order and any other order of the same arms one is missed; without ties one of the six is met."""
    record = columns(rows)
    first, *rest = arms
    met = judged({"op": "<", "order": rest}, first, record=record).verdict == "met"
    values = [record[name]["value"] for name in arms]  # type: ignore[index]
    assert met == (sorted(values) == values and len(set(values)) == 3)
    assert not (met and judged({"op": "<", "order": [first, rest[1]]}, rest[0], record=record).verdict == "met")


@settings(deadline=None)
@given(VALUES)
def test_reversing_one_side_turns_the_correlation_round(rows: list[tuple[float, float, float]]) -> None:
    """The correlation is symmetric, changes its sign with one side, lies in [-1, 1], and hangs on order alone."""
    one, other = [row[0] for row in rows], [row[1] for row in rows]
    found = correlate(one, other)
    turned = correlate(one, [-value for value in other])
    assert found == correlate(other, one) and turned == (None if found is None else -found)
    assert found is None or -1 <= found <= 1
    assert found == correlate([sorted(one).index(value) for value in one], other)


@settings(deadline=None)
@given(VALUES)
def test_correlation_is_that_of_scipy(rows: list[tuple[float, float, float]]) -> None:
    """An implementation of others gives the same number, ties included."""
    from scipy.stats import spearmanr

    one, other = [row[0] for row in rows], [row[1] for row in rows]
    found = correlate(one, other)
    assert found is None or found == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)
    assert (found is None) == (len(set(one)) == 1 or len(set(other)) == 1)


@settings(deadline=None)
@given(VALUES, st.floats(-3, 3), st.floats(0, 2), st.sampled_from([">=", ">", "<=", "<", "=="]), st.integers(1, 7))
def test_tolerance_only_ever_opens_a_verdict(rows: list[tuple[float, float, float]], value: float, tolerance: float, op: str, units: int) -> None:
    """With a tolerance a verdict stays or becomes undecided, never its opposite; a decided one holds for any value within."""
    record = columns(rows)
    for comparator in ({"op": op, "value": value}, {"op": op, "value": value, "units": units}, {"op": op, "than": ["b", "c"]}):
        plain, tolerant = (judged(comparator, record=record, **more).verdict for more in ({}, {"tolerance": tolerance}))
        assert tolerant in (plain, "undecided")
        if tolerant != "undecided":
            for shift in (-tolerance, -tolerance / 2, tolerance):
                moved = columns([(row[0] + shift, *row[1:]) for row in rows])
                assert judged(comparator, record=moved).verdict == tolerant


@settings(deadline=None)
@given(VALUES, st.floats(-3, 3))
def test_turning_the_labels_round_counts_the_other_units(rows: list[tuple[float, float, float]], value: float) -> None:
    """A unit that is classified as labelled is not with the labels exchanged."""
    record = columns(rows)
    flags = [row[1] > 0 for row in rows]
    found = []
    for labels in (flags, [not flag for flag in flags]):
        record["label"] = quantity(0, [int(flag) for flag in labels])
        found.append(judged({"op": "<", "value": value, "labels": "label", "units": 1}, record=record).units)
    assert [one != other for one, other in zip(*found, strict=True)] == [True] * len(rows)  # type: ignore[arg-type]


def test_population_and_null_are_read() -> None:
    """A null may be words alone; a population counts seeds times depths."""
    assert prediction({"op": ">", "value": 1}).null == Null(text="It is not.")
    assert Population(set="main", depths=(6, 12)).units({"main": 3}) == 6
    assert Population(set="main").units({"main": 3}) == 3
    assert Population(set="main", depths=()).units({"main": 3}) == 0
    assert Population(set="other").units({"main": 3}) is None


def test_the_page_shows_the_forms() -> None:
    """prereg/README.md has the table of the module, word for word."""
    table = (predictions.__doc__ or "").partition("\n\n")[2].strip()
    assert table.startswith("| a prediction about |")
    assert table in (Path(__file__).resolve().parents[2] / "prereg/README.md").read_text()
