"""Attrition: what was registered, what has a value, what was left out by which rule, and whether that decides the verdict."""

from __future__ import annotations

from typing import Any

import pytest

from audit.attrition import Attrition, trace_attrition
from audit.registration import Prediction
from audit.verdict import judge_prediction

SETS = {"main": 3, "other": 5}
GAUGE = {"key": "settled", "op": "<", "value": 2}


def counted(values: list[int], summary: str = "count") -> dict[str, Any]:
    kept = sum(1 for value in values if value)
    value = kept / len(values) if summary == "share" else kept
    return {"value": value, "unit": "1", "digits": 2, "tolerance": 0.0, "summary": summary, "values": values}


def measured(values: list[float], summary: str = "median") -> dict[str, Any]:
    value = sum(values) / len(values) if summary == "mean" else sorted(values)[len(values) // 2]
    return {"value": value, "unit": "1", "digits": 2, "tolerance": 0.0, "summary": summary, "values": values}


def trace(
    metric: dict[str, Any], comparator: dict[str, Any], settled: list[int] | None = None, depths: int = 0, sets: dict[str, int] = SETS, **more: Any
) -> Attrition:
    """The attrition of one prediction on three seeds, judged as the tool judges it."""
    shown = {"id": "P", "claim": "c", "null": "n", "metric": {"file": "r.json", "stage": "s", "key": "metric"}, "comparator": comparator}
    population = {"set": "main", "depths": tuple(range(depths))}
    prediction = Prediction.model_validate({**shown, **({"undecided": GAUGE} if settled else {}), **({"population": population} if depths else {})})
    record = {"metric": metric, **({"settled": counted(settled)} if settled else {}), **more}
    return trace_attrition(prediction, sets, record, judge_prediction(prediction, record).verdict)


ALL, FEWER = [1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]
CASES: dict[str, tuple[Attrition, tuple[int | None, str, str | None]]] = {
    "nothing left out": (trace(counted([1] * 6), {"op": ">=", "value": 5}, ALL, 2), (0, "met", "met")),
    "a missed one stays missed": (trace(counted([1] * 4), {"op": ">=", "value": 5}, FEWER, 2), (2, "missed", "missed")),
    "at least: those left out cannot take away": (trace(counted([1] * 4), {"op": ">=", "value": 4}, FEWER, 2), (2, "met", "met")),
    "none: those left out might have": (trace(counted([0] * 4), {"op": "==", "value": 0}, FEWER, 2), (2, "met", "missed")),
    "at most: room for all": (trace(counted([0] * 4), {"op": "<=", "value": 2}, FEWER, 2), (2, "met", "met")),
    "at most: no room": (trace(counted([0] * 4), {"op": "<=", "value": 1}, FEWER, 2), (2, "met", "missed")),
    "share of those left": (trace(counted([1] * 4, "share"), {"op": ">=", "value": 0.9}, FEWER, 2), (2, "met", "missed")),
    "interval": (trace(counted([1] * 4), {"op": "in", "low": 4, "high": 6}, FEWER, 2), (2, "met", "met")),
    "interval without room": (trace(counted([1] * 4), {"op": "in", "low": 4, "high": 5}, FEWER, 2), (2, "met", "missed")),
    "more than another arm": (trace(counted([1] * 4), {"op": ">", "than": "rival"}, FEWER, 2, rival=counted([0] * 4)), (2, "met", "met")),
    "than an arm that might have more": (
        trace(counted([1, 1, 1, 0]), {"op": ">", "than": "rival"}, FEWER, 2, rival=counted([1, 1, 0, 0])), (2, "met", "missed"),
    ),
    "units that suffice": (trace(measured([0.1] * 4), {"op": "<", "value": 1, "units": 4}, FEWER, 2), (2, "met", "met")),
    "undecided that would be missed": (trace(counted([1]), {"op": ">=", "value": 5}, [1, 0, 0, 0, 0, 0], 2), (5, "undecided", "missed")),
    "undecided whatever those left out did": (trace(counted([1]), {"op": "<=", "value": 6}, [1, 0, 0, 0, 0, 0], 2), (5, "undecided", "undecided")),
    "undecided units": (trace(measured([0.1]), {"op": "<", "value": 1, "units": 4}, [1, 0, 0, 0, 0, 0], 2), (5, "undecided", "missed")),
    "a median cannot be counted": (trace(measured([0.1] * 4), {"op": "<", "value": 1}, FEWER, 2), (2, "met", None)),
    "four branches of each": (trace(counted([0] * 16), {"op": "==", "value": 0}, FEWER, 2), (8, "met", "missed")),
    "branches that cannot be told apart": (trace(counted([0] * 15), {"op": "==", "value": 0}, FEWER, 2), (None, "met", None)),
    "by the gauge alone": (trace(counted([0] * 4), {"op": "==", "value": 0}, FEWER), (2, "met", "missed")),
    "no gauge, fewer than registered": (trace(counted([0] * 5), {"op": "==", "value": 0}, None, 2), (1, "met", "missed")),
    "nothing says how many": (trace(counted([0] * 5), {"op": "==", "value": 0}), (None, "met", None)),
    "a seed without a unit": (trace(counted([0] * 2), {"op": "==", "value": 0}, sets={"main": 3}), (1, "met", "missed")),
}  # fmt: skip


@pytest.mark.parametrize(("found", "wanted"), CASES.values(), ids=CASES)
def test_excluded_units_are_counted_against(found: Attrition, wanted: tuple[int | None, str, str | None]) -> None:
    """How many were left out, the verdict, and the verdict with each of them against the prediction."""
    assert (found.excluded, found.verdict, found.against) == wanted
    assert found.flips is (wanted[2] is not None and wanted[1] != wanted[2])


def test_registered_units_are_seeds_at_each_depth() -> None:
    """Where the population is stated, its set and depths give the number; else only the seeds are known."""
    stated, unstated = trace(counted([1] * 6), {"op": ">=", "value": 5}, ALL, 2), trace(counted([1] * 6), {"op": ">=", "value": 5}, ALL)
    assert (stated.seeds, stated.registered, stated.run, stated.rule) == (3, 6, 6, "settled < 2")
    assert (unstated.seeds, unstated.registered, unstated.run) == (8, None, 6)


def test_a_mean_over_strata_says_nothing_of_units() -> None:
    """Five strata of six networks are not five networks with one left out; where units are compared one by one, values are units."""
    strata = trace(measured([-0.5] * 5, "mean"), {"op": "<=", "value": -0.43}, ALL, 2)
    assert (strata.registered, strata.run, strata.excluded, strata.verdict, strata.against) == (6, None, None, "met", None)
    units = trace(measured([-0.5] * 5, "mean"), {"op": "<=", "value": -0.43, "units": 5}, ALL, 2)
    assert (units.run, units.excluded, units.against) == (5, 1, "met")
    assert trace(measured([-0.5] * 5), {"op": "<=", "value": -0.43}, ALL, 2).run == 5
