"""Each kind of relation on named readings: what makes it hold, what makes it fail, what leaves it open."""

from __future__ import annotations

import numpy as np
import pytest

from audit.records import Quantity, Refusal
from rankcollapse.evidence import ALONE, BOTH, DEEP, Finding, Readings
from rankcollapse.orders import Median, Ranked, Trend, Unranked, fisher_interval, order_statistics
from rankcollapse.relations import Comparison, Contrast, Events, Every, Not, Registered, Separated, Series, Value, walk


def quantity(values=None, value=0.0, tolerance=0.0) -> Quantity:
    """A reading: of events, or a single number."""
    return Quantity(value=value, digits=2, tolerance=tolerance, values=None if values is None else tuple(values))


def judge(relation, verdicts=None, **readings) -> Finding:
    """A relation over readings; `a=(shallow, deep)` is by role, a list or a Quantity has none."""
    found = {}
    for key, given in readings.items():
        if isinstance(given, tuple):
            found |= {f"{key}.shallow": quantity(given[0]), f"{key}.deep": quantity(given[1])}
        else:
            found[key] = given if isinstance(given, Quantity) else quantity(given)
    return relation.judge(Readings(found, verdicts or {}, np.random.default_rng(0)))


FLAGS = Comparison("a")
EVENTS = {
    "all do": ("all", 0, ([1, 1, 1], [1, 1, 1]), True),
    "all, but two events of a role are too few": ("all", 0, ([1, 1, 1], [1, 1]), None),
    "all, and none there": ("all", 0, ([], []), None),
    "all, one does not, however few there are": ("all", 0, ([1, 1, 1], [0]), False),
    "all but one": ("all", 1, ([1, 1, 1], [1, 0, 1]), True),
    "all but one, two do not, of either role": ("all", 1, ([1, 0, 1], [1, 0, 1]), False),
    "none does": ("none", 0, ([0, 0, 0], [0, 0, 0]), True),
    "none, too few": ("none", 0, ([0, 0], [0, 0, 0]), None),
    "none, one does": ("none", 0, ([0, 0, 0], [0, 0, 1]), False),
    "most": ("most", 0, ([1, 1, 1], [1, 1, 1]), True),
    "most, five of six could be half": ("most", 0, ([1, 1, 1], [1, 1, 0]), None),
    "most, none of six": ("most", 0, ([0, 0, 0], [0, 0, 0]), False),
    "under half": ("under half", 0, ([0] * 9, [1, 1, 1, 1, 0, 0, 0, 0, 0]), True),
    "under half, one of eight could be half": ("under half", 0, ([0] * 4, [0, 0, 0, 1]), None),
    "under half, all": ("under half", 0, ([1, 1, 1], [1, 1, 1]), False),
    "mixed": ("mixed", 0, ([0, 0], [0, 1]), True),
    "mixed, one outcome of enough": ("mixed", 0, ([0, 0, 0], [0, 0, 0]), False),
    "mixed, one outcome of too few": ("mixed", 0, ([1], [1, 1, 1]), None),
}


@pytest.mark.parametrize("name", EVENTS)
def test_events(name):
    """Quantifiers: a counterexample refutes at any n, nothing holds of all below three a role, shares are open at one half."""
    quantifier, spared, flags, expected = EVENTS[name]
    assert judge(Events(quantifier, FLAGS, spared=spared), a=flags).truth is expected


def test_evidence_of_a_count():
    """By role: how many of how many, which, and the exact interval; the reading itself beside."""
    found = judge(Events("none", FLAGS), a=([0, 0, 0], [0, 1, 0, 0])).evidence
    assert [(item.key, item.role, item.satisfied.value, item.events.value) for item in found] == [("a", "shallow", 0, 3), ("a", "deep", 1, 4)]
    assert (found[0].low.value, found[0].high.value) == pytest.approx((0, 0.71), abs=0.006)
    assert found[1].satisfied.values == (0, 1, 0, 0) and found[1].observed.values == (0, 1, 0, 0)


COMPARISONS = {
    "a bound belongs to >=": (Comparison("a", ">=", 2), 2, None, True),
    "and not to >": (Comparison("a", ">", 2), 2, None, False),
    "below": (Comparison("a", "<", 2), 1.9, None, True),
    "an interval holds its ends": (Comparison("a", "in", (1, 2)), 2, None, True),
    "outside": (Comparison("a", "in", (1, 2)), 2.1, None, False),
    "another reading": (Comparison("a", "<", "b"), 1, 2, True),
    "a fifth of another reading": (Comparison("a", "<", "b", factor=0.2), 1, 4.9, False),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name):
    """Bounds, intervals, other readings and multiples of them, for three events alike."""
    comparison, a, b, expected = COMPARISONS[name]
    readings = {"a": [a] * 3} | ({"b": [b] * 3} if b is not None else {})
    assert judge(Events("all", comparison, ALONE), **readings).truth is expected


def test_readings_that_do_not_fit_are_refused():
    """A missing key, a number where events are needed and two lists of different events are errors, never verdicts."""
    with pytest.raises(Refusal, match="no reading 'a.shallow'"):
        judge(Events("all", FLAGS), a=[1])
    with pytest.raises(Refusal, match="a has no values per event"):
        judge(Events("all", FLAGS, ALONE), a=quantity(value=1.0))
    below = Comparison("a", "<", "b")
    for relation in (Events("all", below, ALONE), Contrast(below, ALONE), Trend(("a", "b"), "rises", ALONE)):
        with pytest.raises(Refusal, match="a, b are of different events"):
            judge(relation, a=[1, 1, 1], b=[1, 1])


SEPARATED = [
    (([1, 2, 3], [1, 1, 1]), True), (([1, 2, 5], [1, 1, 1]), False), (([1, 2], [1, 1, 1]), None), (([], []), None), (([5], [1, 1, 1]), False),
]  # fmt: skip


@pytest.mark.parametrize(("low", "expected"), SEPARATED)
def test_separated(low, expected):
    """No value of the one reaches the least of the other, role by role; touching is overlapping."""
    assert judge(Separated("low", "high"), low=low, high=([5, 6, 7], [2, 3, 4])).truth is expected


CONTRASTS = {
    "six of six that differ": ([0] * 6 + [1], [1] * 6 + [1], True),
    "four of four could be chance": ([0] * 4, [1] * 4, None),
    "the other way round": ([1] * 6, [0] * 6, False),
    "no event differs": ([1, 0, 1], [1, 0, 1], False),
    "no event": ([], [], None),
}


@pytest.mark.parametrize("name", CONTRASTS)
def test_contrast(name):
    """Events that do not differ say nothing; the share of the others is open at one half."""
    fewer, more, expected = CONTRASTS[name]
    assert judge(Contrast(Comparison("a", "<", "b"), ALONE), a=fewer, b=more).truth is expected


VALUES = [
    (Comparison("a", ">", 2), quantity(value=2.5), True), (Comparison("a", ">", 2), quantity(value=2.0), False),
    (Comparison("a", ">", 2), quantity(value=2.5, tolerance=0.6), None), (Comparison("a", "<", "b"), quantity(value=2.5), True),
    (Comparison("a", "<", "b"), quantity(value=3.5), False), (Comparison("a", "in", (2, 3)), quantity(value=2.9, tolerance=0.2), None),
]  # fmt: skip


@pytest.mark.parametrize(("comparison", "a", "expected"), VALUES)
def test_values(comparison, a, expected):
    """One number; open where its declared tolerance reaches across the bound."""
    assert judge(Value(comparison), a=a, b=quantity(value=3.0)).truth is expected


SERIES = [
    ("never falls", [0, 0, 2, 6], True), ("never falls", [0, 3, 2, 6], False), ("never falls", [1, 1, 1], False), ("never falls", [0, 1], None),
    ("turns inside", [1, 3, 2], True), ("turns inside", [3, 1, 2], True), ("turns inside", [1, 2, 3], False), ("turns inside", [1, 1, 1], False),
    ("turns inside", [], None),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "values", "expected"), SERIES)
def test_series(shape, values, expected):
    """The course of a curve; a flat one neither rises nor turns."""
    assert judge(Series("a", shape), a=values).truth is expected


@pytest.mark.parametrize(
    ("verdict", "expected"), [("missed", True), ("met", False), ("undecided", None), ("not evaluated here", None)]
)
def test_registered(verdict, expected):
    """Holds where our verdict is the paper's; a prediction that was never judged is refused."""
    assert judge(Registered("path-1.P1", "missed"), {"path-1.P1": verdict}).truth is expected
    with pytest.raises(Refusal, match="no verdict on path-1.P1"):
        judge(Registered("path-1.P1", "missed"), {"path-1.P2": verdict})


YES, NO, OPEN = Value(Comparison("yes")), Value(Comparison("no")), Value(Comparison("open"))
TRUTHS = {"yes": quantity(value=1.0), "no": quantity(value=0.0), "open": quantity(value=1.0, tolerance=1.0)}


@pytest.mark.parametrize(("parts", "expected"), [((YES, YES), True), ((YES, OPEN), None), ((OPEN, NO), False), ((YES, NO), False)])
def test_conjunction(parts, expected):
    """One part that fails decides, one that is open leaves open; the opposite of open is open."""
    assert judge(Every(parts), **TRUTHS).truth is expected
    assert judge(Not(Every(parts)), **TRUTHS).truth is {True: False, False: True, None: None}[expected]
    assert len(judge(Every(parts), **TRUTHS).evidence) == 2 and len(walk(Not(Every(parts)))) == 4


MEDIANS = {
    "inside": ([0.2, 0.3, 0.4], [0.2, 0.3, 0.4], True),
    "outside": ([0.6, 0.7, 0.8], [0.6, 0.9, 0.8], False),
    "across a bound": ([0.2, 0.3, 0.4], [0.6, 0.3, 0.4], None),
    "around both bounds": ([0.01, 0.01, 0.9], [0.9, 0.9, 0.02], None),
    "five events have no interval": ([0.2, 0.3, 0.4], [0.2, 0.3], None),
}


@pytest.mark.parametrize("name", MEDIANS)
def test_median(name):
    """The exact interval of the median against an interval, over the events of both roles."""
    shallow, deep, expected = MEDIANS[name]
    assert judge(Median(Comparison("a", "in", (0.1, 0.5))), a=(shallow, deep)).truth is expected


def test_interval_of_a_median():
    """Order statistics whose binomial coverage is at least 95 %: the ends for 6 to 8, the second ones for 9 to 11, none below 6."""
    assert order_statistics(range(5)) is None and order_statistics([]) is None
    assert [order_statistics(range(n)) for n in (6, 8, 9, 11, 12)] == [(0, 5), (0, 7), (1, 7), (1, 9), (2, 9)]


TRENDS = {
    "rises in every event": ([10, 10, 20], [20, 30, 40], [80, 90, 50], "rises", True),
    "two events could be chance": ([10, 10], [20, 30], [80, 25], "rises", None),
    "falls": ([80, 90, 50], [20, 30, 40], [10, 10, 20], "rises", False),
    "falls as stated": ([80, 90, 50], [20, 30, 40], [10, 10, 20], "falls", True),
    "all censored": ([251] * 4, [251] * 4, [251] * 4, "rises", False),
    "no event": ([], [], [], "rises", None),
}


@pytest.mark.parametrize("name", TRENDS)
def test_trend(name):
    """Page's test within events, with its p; no order at all does not hold, however few the events."""
    a, b, c, direction, expected = TRENDS[name]
    found = judge(Trend(("a", "b", "c"), direction, ALONE), a=a, b=b, c=c)
    assert found.truth is expected and found.evidence[0].p is not None and found.evidence[0].events.value == len(a)


def test_trend_over_the_first_events():
    """Where one arm has the first events only, those are compared, with what the others have of them; the later ones decide nothing."""
    early, late = [10, 10, 10, 10, 90, 90], [20, 30, 40, 50]
    found = judge(Trend(("a", "b"), "rises", ALONE, first=True), a=early, b=late)
    assert found.truth is None and found.evidence[0].events.value == 4 and found.evidence[0].observed.values == tuple(early)
    assert judge(Trend(("a", "b"), "rises", ALONE, first=True), a=[10] * 9, b=[20] * 8).truth is True
    assert "first events" in Trend(("a", "b"), "rises", first=True).text()


RISING = [float(place) for place in range(8)]
SHUFFLED = [3.0, 7.0, 0.0, 5.0, 2.0, 6.0, 1.0, 4.0]
RANKED = {
    "ranked": (RISING, RISING, "positive", True),
    "ranked the other way": (RISING, RISING, "negative", False),
    "a little, which could be chance": (RISING, [1.0, 0.0, 4.0, 7.0, 6.0, 2.0, 3.0, 5.0], "positive", None),
    "seven events are too few": (RISING[:7], RISING[:7], "positive", None),
    "nothing to rank": (RISING, [251.0] * 8, "positive", None),
    "constant": ([1.0] * 8, RISING, "positive", False),
}


@pytest.mark.parametrize("name", RANKED)
def test_ranked(name):
    """An exact permutation p in the stated direction; too few events are open by count alone."""
    x, y, sign, expected = RANKED[name]
    assert judge(Ranked("x", "y", sign, DEEP), x=([], x), y=([], y)).truth is expected


def test_ranked_keeps_roles_apart():
    """Two roles of four, each ranked against the pooled order: the mean within roles decides."""
    x = ([1.0, 2.0, 3.0, 4.0], [11.0, 12.0, 13.0, 14.0])
    y = ([50.0, 60.0, 70.0, 80.0], [1.0, 2.0, 3.0, 4.0])
    assert judge(Ranked("x", "y", "positive"), x=x, y=y).truth is True and judge(Ranked("x", "y", "negative"), x=x, y=y).truth is False


def test_unranked():
    """Eight events without a correlation show nothing; forty do; a clear one of eight refutes; seven are too few."""
    relation = Unranked("x", "y", roles=DEEP)
    assert judge(relation, x=([], RISING), y=([], SHUFFLED)).truth is None
    assert judge(relation, x=([], RISING), y=([], RISING[::-1])).truth is False
    assert judge(relation, x=([], RISING[:7]), y=([], RISING[:7])).truth is None
    forty = [float(place) for place in range(40)]
    assert judge(relation, x=([], forty), y=([], [forty[place * 17 % 40] for place in range(40)])).truth is True


def test_interval_of_a_correlation():
    """Half-width 0.4 needs about 25 events; nothing is known below five; symmetric at 0."""
    assert [round(fisher_interval(0.0, n)[1], 2) for n in (8, 25, 28)] == [0.70, 0.40, 0.37]
    assert fisher_interval(0.3, 4) == (-1, 1) and fisher_interval(0.0, 25)[0] == -fisher_interval(0.0, 25)[1]


def test_a_key_belongs_to_its_role():
    """Which readings a relation needs, roles included; the roles it reads stand in its text."""
    relation = Events("all", Comparison("a", "<", "b", 0.5), DEEP)
    assert relation.keys() == ["a.deep", "b.deep"] and relation.text() == "a < 0.5 x b in every event (deep)"
    assert Trend(("a", "b"), "rises").keys() == ["a.shallow", "a.deep", "b.shallow", "b.deep"] and BOTH == ("shallow", "deep")
