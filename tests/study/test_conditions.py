"""Relations with an answer less: a counterexample is met or not, never refuted; what can be judged only under a condition is open without it."""

from __future__ import annotations

import numpy as np
import pytest

from audit.records import Quantity
from rankcollapse.conditions import Found, Where
from rankcollapse.evidence import Readings
from rankcollapse.relations import Comparison, Events, Value, walk

MIXED = Events("mixed", Comparison("fate"), (None,))
WHERE = Where((MIXED, Value(Comparison("auc", ">=", 0.7))))


def judge(relation, **readings):
    """A verdict on readings by key: values per event, or one number."""
    made = {
        key: Quantity(value=own[0] if own else 0.0, digits=2, tolerance=0.0, values=own) if isinstance(own, tuple) else Quantity(value=own, digits=2, tolerance=0.0)
        for key, own in readings.items()
    }
    return relation.judge(Readings(made, {}, np.random.default_rng(0)))


@pytest.mark.parametrize(("values", "truth"), [((0.0, 0.0, 0.2), True), ((0.0,) * 20, None), ((), None)])
def test_one_is_enough_and_none_is_nothing(values, truth):
    """However many were looked at."""
    found = judge(Found(Comparison("share", ">", 0)), share=values)
    assert found.truth is truth and found.evidence[0].satisfied.value == sum(value > 0 for value in values)


@pytest.mark.parametrize(
    ("fates", "auc", "truth"),
    [((0.0, 1.0, 1.0), 0.9, True), ((0.0, 1.0, 1.0), 0.6, False), ((1.0,) * 6, 0.5, None), ((0.0,) * 6, 0.9, None), ((1.0,), 0.5, None)],
)
def test_judged_only_where_the_condition_holds(fates, auc, truth):
    """Both fates occur, or nothing is said."""
    assert judge(WHERE, fate=fates, auc=auc).truth is truth


def test_keys_parts_and_words():
    """All readings are asked for, all parts are walked, and a reader sees the condition first."""
    assert WHERE.keys() == ["fate", "auc"] and MIXED in walk(WHERE)
    assert WHERE.text() == "where fate == 1 in some events: auc >= 0.7"
    assert Found(Comparison("share", ">", 0)).text() == "share > 0 in one event at least"
