"""The registration of the bursts is judged on made-up records: each prediction can be met, missed and undecided, at the chances it declares."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_bursts import DEVELOPMENT, LARGE, M1, M2, SMALL, WORLD, Network, change, judge_world, threshold

from audit.lint import lint
from audit.load import read_yaml
from audit.registration import parse_registration
from audit.verdict import judge, reading_of
from rankcollapse.chances import burst_chances

ROOT = Path(__file__).parents[2]
REGISTRATION = parse_registration((ROOT / "prereg/burst-1.yaml").read_bytes(), "burst-1")
NAMES = ("T0", "T1", "T1b", "T2", "T3", "T3r", "T4")


def verdicts(table=WORLD, frozen=None, development=DEVELOPMENT) -> dict[str, str]:
    """What the judge says of one world."""
    record = judge_world(table, frozen, development).model_dump(mode="json", exclude_none=True)
    return {found.prediction.id: found.verdict for found in judge(REGISTRATION, {"results/bursts/tests.json": record}.__getitem__)}


def test_it_is_read_and_holds_for_the_laptop():
    """Its predictions in order, the primary among them; eight networks from its own seal; parameters that the file in use meets."""
    assert tuple(prediction.id for prediction in REGISTRATION.predictions) == NAMES and REGISTRATION.primary == "T0"
    assert REGISTRATION.seeds.sets == {"bursts": 8} and REGISTRATION.unmet(read_yaml(ROOT / "params.yaml")) is None
    assert all((ROOT / path).exists() for path in REGISTRATION.freezes.code)


def test_chances_are_those_computed():
    """Each declared chance is the computed one, rounded up; what the linter says of them is what is known."""
    for prediction in REGISTRATION.predictions:
        computed = burst_chances(8)[prediction.id].value
        assert computed - 1e-4 < prediction.null.chance < computed + 1e-4, prediction.id
    assert [warning.split()[0] for warning in lint(REGISTRATION)] == ["T2", "T3r", "T4"]


SEPARATE = [replace(one, gap=0.1 * (1 + seed * 5 % 8), norm=0.9 - seed * 3 % 8 / 10) for seed, one in enumerate(SMALL)]
BETTER = [*[Network(1e-3, 20, gap=2.0)] * 7, Network(1e-6, None, gap=2.0)]
CLOSED = [replace(one, opening=one.opening * 1e-5) for one in SMALL]
FLAT = [replace(one, end_gap=0.04) for one in SMALL]
WRONG = [replace(one, back=180 - (one.back or 0)) for one in SMALL]
WIDE = [replace(one, opening=1e-3) for one in LARGE]
ALIKE = {M1: DEVELOPMENT[M1], M2: DEVELOPMENT[M1]}
CASES = {
    "T0": ({}, {"table": {M1: CLOSED, M2: LARGE}}, {"table": {M1: [replace(one, low=51) for one in SMALL], M2: LARGE}}),
    "T1": ({}, {"table": {M1: SMALL, M2: WIDE}}, {"frozen": threshold(None)}),
    "T1b": ({}, {"table": {M1: SMALL, M2: WIDE}}, {"development": ALIKE}),
    "T2": ({"table": {M1: BETTER, M2: LARGE}}, {}, {"development": ALIKE}),
    "T3": ({}, {"table": {M1: WRONG, M2: LARGE}}, {"table": {M1: change(SMALL, 0, diverged="burst"), M2: LARGE}}),
    "T3r": ({"table": {M1: SEPARATE, M2: LARGE}}, {}, {"table": {M1: [replace(one, back=20) for one in SMALL], M2: LARGE}}),
    "T4": ({}, {"table": {M1: FLAT, M2: LARGE}}, {"table": {M1: LARGE, M2: LARGE}}),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_prediction_can_be_met_missed_and_undecided(name):
    """One made-up world each."""
    assert [verdicts(**world)[name] for world in CASES[name]] == ["met", "missed", "undecided"]


def test_readings_fixed_in_advance():
    """The paper-like world has one, and so has each outcome of the primary."""
    assert "one threshold on the path" in reading_of(REGISTRATION, verdicts())
    assert "closes the path as well" in reading_of(REGISTRATION, verdicts({M1: CLOSED, M2: LARGE}))
    assert "does not carry over" in reading_of(REGISTRATION, verdicts({M1: SMALL, M2: WIDE}))
    assert "none could be frozen" in reading_of(REGISTRATION, verdicts(frozen=threshold(None)))
