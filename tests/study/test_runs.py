"""The language of tables: schedules fit the runs they are made for, and what makes no sense is one line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from corpora import refusal
from networks import SETTING, SHAPE

from rankcollapse.engine import Fork, Run, check_table, fresh_state
from rankcollapse.events import Settled
from rankcollapse.schedule import Schedule, at, burst, constant, find_fault, ramp_down, ramp_up

HELPERS: dict[str, tuple[Schedule, dict[int, float]]] = {
    "constant": (constant(0.3), {0: 0.3, 10**8: 0.3}),
    "ramp down": (ramp_down(300, 100, 0.01), {0: 1.0, 300: 1.0, 350: 0.505, 400: 0.01, 10**6: 0.01}),
    "ramp up": (ramp_up(300, 100, 0.01), {0: 0.01, 300: 0.01, 350: 0.505, 400: 1.0, 10**6: 1.0}),
    "burst": (burst(5, 3, 2.0, 10.0), {0: 2.0, 4: 2.0, 5: 20.0, 6: 20.0, 7: 20.0, 8: 2.0, 10**6: 2.0}),
    "burst of one step": (burst(5, 1, 2.0, 0.0), {0: 2.0, 4: 2.0, 5: 0.0, 6: 2.0, 10**6: 2.0}),
    "burst at the second step": (burst(1, 2, 2.0, 3.0), {0: 2.0, 1: 6.0, 2: 6.0, 3: 2.0}),
}


@pytest.mark.parametrize("kind", HELPERS)
def test_helpers_cover_a_run(kind):
    """Their values are those they name, and they fit every run however late it starts or long it lasts."""
    schedule, values = HELPERS[kind]
    assert {step: at(schedule, step) for step in values} == pytest.approx(values)
    for name in ("skip", "learning_rate", "weight_decay"):
        for origin in (None, replace(fresh_state(0, SETTING), step=10**6)):
            assert getattr(Run("a", 0, 10**6, **{name: schedule}, origin=origin), name) == schedule
    assert find_fault(schedule, 0, 10**8) == ""


STATE = replace(fresh_state(0, SETTING), step=3)
BAD_RUNS = {
    "term": ({"term": "hing"}, "unknown term 'hing'; expected none, penalty, hinge, cosine"),
    "optimiser": ({"optimiser": "sgd"}, "unknown optimiser 'sgd'; expected adamw, adamw2, sigma"),
    "query-key treatment": ({"query_key": "cosine"}, "unknown query_key 'cosine'; expected rms, l2, none, clip"),
    "reading": (
        {"readings": ("cosine", "rank")},
        "unknown reading 'rank'; expected cosine, effective_rank, gap, uncentred_rank, "
        "sec_max, sec_mean, sigma_max, entropy_mean, entropy_min, logit_max, map_rank_min, gradient_norm",
    ),
    "short": ({"learning_rate": ((0, 1.0), (7, 1.0))}, "learning_rate does not fit the run; expected steps 0 to 8; found covers steps 0 to 7"),
    "late": ({"skip": ((1, 1.0), (9, 1.0))}, "skip does not fit the run; expected steps 0 to 8; found covers steps 1 to 9"),
    "short for its start": (
        {"weight_decay": ((0, 1.0), (10, 1.0)), "origin": STATE},
        "weight_decay does not fit the run; expected steps 3 to 11; found covers steps 0 to 10",
    ),
    "disorder": ({"skip": ((0, 1.0), (5, 1.0), (4, 0.0), (9, 0.0))}, "skip does not fit the run; expected steps 0 to 8; found knots do not ascend"),
    "no knot": ({"learning_rate": ()}, "learning_rate does not fit the run; expected steps 0 to 8; found no knots"),
    "NaN": ({"weight_decay": constant(float("nan"))}, "weight_decay does not fit the run; expected steps 0 to 8; found a value is not finite"),
    "infinite": ({"skip": constant(float("inf"))}, "skip does not fit the run; expected steps 0 to 8; found a value is not finite"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_RUNS)
def test_a_run_that_makes_no_sense(kind):
    """One line names the run, the fault and what there is instead."""
    changes, line = BAD_RUNS[kind]
    assert refusal(Run, "odd/0", 0, 8, **changes) == f"run odd/0: {line}"


PARENT = Run("parent", 0, 8)
CHILD = Run("child", 0, 8, origin=Fork("parent", 4))
BAD_TABLES = {
    "twins": ((PARENT, CHILD, replace(PARENT, seed=2)), "table: a table needs runs of different names; found parent"),
    "nothing": ((), "table: a table needs runs of different names; found no run"),
    "no origin": (
        (PARENT, replace(CHILD, origin=Fork("paren", 4))), "run child: origin does not exist; expected a run of the same table; found paren"
    ),
    "too late": ((PARENT, replace(CHILD, origin=Fork("parent", 9))), "run child: origin parent is never at that step; expected 0 to 8; found 9"),
    "too early": (
        (PARENT, CHILD, Run("grandchild", 0, 2, origin=Fork("child", 3))),
        "run grandchild: origin child is never at that step; expected 4 to 12; found 3",
    ),
    "may stop": (
        (replace(PARENT, stop=Settled(1.0, 0, 2, 2)), CHILD), "run child: origin parent may stop before that step; expected a run without a stop rule"
    ),
    "itself": ((replace(CHILD, origin=Fork("child", 4)),), "run child: origins go in a circle; found child"),
    "each other": (
        (replace(CHILD, origin=Fork("other", 4)), Run("other", 0, 8, origin=Fork("child", 4))),
        "run child: origins go in a circle; found child, other",
    ),
    "a circle further up": (
        (replace(CHILD, origin=Fork("b", 4)), Run("b", 0, 8, origin=Fork("c", 4)), Run("c", 0, 8, origin=Fork("b", 4))),
        "run child: origins go in a circle; found b, c, child",
    ),
    "no such block": ((replace(PARENT, blocks=(0, 2, -1)),), "run parent: no such block; expected 0 to 1; found 2, -1"),
    "no block": ((replace(PARENT, blocks=()),), "run parent: no such block; expected 0 to 1; found none"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_TABLES)
def test_a_table_that_makes_no_sense(kind):
    """One line names the run and what is wrong with it, before anything is trained."""
    runs, line = BAD_TABLES[kind]
    assert refusal(check_table, "table", runs, SHAPE) == line


def test_forks_at_both_ends_are_allowed():
    """A run may fork from its parent's first step and from its last, and from a run that comes later in the table."""
    check_table("table", (CHILD, Run("first", 0, 2, origin=Fork("parent", 0)), Run("last", 0, 2, origin=Fork("parent", 8)), PARENT), SHAPE)
