"""The registration of restarts is judged on made-up records: each prediction can be met, missed and, where it says so, undecided."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from made_restarts import EARLY, Restarts
from test_spectral_registration import ALL_BUT_FIVE, BACKWARDS, FEW, FIVE, FOREWARNS, NETWORKS, RIVALS, SPREAD, chance_of_warning, some

from audit.lint import lint
from audit.load import read_yaml
from audit.registration import parse_registration
from audit.verdict import judge, reading_of
from rankcollapse.chances import chance_of_count

ROOT = Path(__file__).parents[2]
REGISTRATION = parse_registration((ROOT / "prereg/spectral-2.yaml").read_bytes(), "spectral-2")
BY_NAME = {one.id: one for one in REGISTRATION.predictions}
WARNINGS, COUNTS = ("R1", "R2", "R3", "R4", "R5"), ("S1", "S2", "S3", "S4", "S5")


def record_of(world: Restarts) -> dict:
    """The record of one world, as it is written."""
    return world.judge().model_dump(mode="json", exclude_none=True)


def verdicts(world: Restarts) -> dict[str, str]:
    """What the judge says of it."""
    return {found.prediction.id: found.verdict for found in judge(REGISTRATION, {"results/restart/tests.json": record_of(world)}.__getitem__)}


def test_it_is_read_and_holds_for_the_laptop():
    """Its predictions in order, the primary among them; 32 networks, eight of which get every arm; twice eight that chose the rate."""
    params = read_yaml(ROOT / "params.yaml")
    assert tuple(BY_NAME) == (*WARNINGS, *COUNTS) and REGISTRATION.primary == "R1"
    assert REGISTRATION.seeds.sets == {"restart": NETWORKS} and REGISTRATION.unmet(params) is None
    plan = params["scales"]["laptop"]["restart"]
    assert (plan["learn"], plan["at"], plan["steps"], plan["depth"], plan["few"]) == (300, 20, 250, 2, FEW)
    assert len(params["seed_sets"]["restart_attention"]) == 16 and all((ROOT / path).exists() for path in REGISTRATION.freezes.code)


def test_what_it_names_stands_in_every_record():
    """Every key that it reads, rivals included, in a world where nothing fell and in one where everything did."""
    keys = {rule.key for one in BY_NAME.values() for rule in one.undecided or ()} | {one.metric.key for one in BY_NAME.values()}
    keys |= {key for one in BY_NAME.values() for part in one.comparator.parts() for key in (*part.rivals(), *filter(None, [getattr(part, "key", None)]))}
    assert {"before.crashing", "before.readings.sec_mean.p", "warned.readings.residual.auc", "closed.p", "capped.survived"} <= keys
    for fell in (True, False):
        record = record_of(Restarts(fell=(fell,) * NETWORKS, capped=(None,) * FEW))
        for key in keys:
            place = record
            for name in key.split("."):
                place = place[name]
            assert place["value"] is not None


def test_chances_are_those_computed():
    """Seven of eight by a coin; the first of seven; no more than 0.05 of a warning however many fell, and all but that where the p decides."""
    declared = {name: one.null.chance for name, one in BY_NAME.items()}
    assert {declared[name] for name in COUNTS} == {round(chance_of_count(FEW, 7), 4)} == {0.0352} and declared["R2"] == round(1 / 7, 4)
    chances = [chance_of_warning(fell) for fell in range(6, NETWORKS - 5)]
    assert 0.045 < max(chances) <= 0.05 == declared["R1"] == declared["R3"] == declared["R4"] == declared["R5"]


def test_what_the_linter_says_is_known():
    """The contest of seven has its chance, and the counts of one arm's eight networks name no population."""
    assert [warning.split()[0] for warning in lint(REGISTRATION)] == ["R2", *COUNTS]


def warned(fell=(True,) * 16 + (False,) * 16, **readings) -> Restarts:
    """A world with these readings at the warning."""
    return Restarts(fell=fell, readings=readings)


CASES = {
    "R1": (warned(sec_mean=FOREWARNS), warned(sec_mean=BACKWARDS), warned(FIVE, sec_mean=SPREAD)),
    "R2": (warned(sec_mean=FOREWARNS), warned(sec_mean=FOREWARNS, entropy_mean=BACKWARDS), warned(ALL_BUT_FIVE, sec_mean=SPREAD)),
    "R3": (warned(entropy_mean=BACKWARDS), warned(entropy_mean=FOREWARNS), warned(ALL_BUT_FIVE, entropy_mean=SPREAD[::-1])),
    "R4": (Restarts(early=FOREWARNS), Restarts(early=BACKWARDS), Restarts(fell=FIVE, early=SPREAD)),
    "R5": (Restarts(entropy=BACKWARDS), Restarts(entropy=FOREWARNS), Restarts(fell=ALL_BUT_FIVE, entropy=SPREAD[::-1])),
    "S1": (Restarts(capped=some(7, 3.0, 5.5)), Restarts(capped=some(6, 3.0, 5.5), warm_up=some(7, 4.0, None), lower=some(6, 4.0, None))),
    "S2": (Restarts(warm_up=some(7, 4.0, None)), Restarts(warm_up=some(6, 4.0, None))),
    "S3": (Restarts(sigma=some(7, 3.0, None)), Restarts(sigma=some(6, 3.0, None))),
    "S4": (Restarts(warm_up=some(7, 4.0, 2.0)), Restarts(warm_up=some(6, 4.0, 2.0))),
    "S5": (Restarts(lower=some(7, 4.0, 2.0)), Restarts(lower=some(6, 4.0, 3.0))),
}


@pytest.mark.parametrize("name", CASES)
def test_every_prediction_can_be_met_missed_and_undecided(name):
    """One made-up world each; counts of an arm's networks cannot be undecided."""
    assert [verdicts(world)[name] for world in CASES[name]] == ["met", "missed", "undecided"][: len(CASES[name])]
    assert bool(BY_NAME[name].undecided) == (len(CASES[name]) == 3) == (name in WARNINGS)


@pytest.mark.parametrize("name", COUNTS)
def test_one_arm_moves_its_own_prediction_alone(name):
    """Of the five counts, all met in the world as it is, the missed world misses one."""
    base, given = verdicts(Restarts()), verdicts(CASES[name][1])
    assert {each: base[each] for each in COUNTS} == dict.fromkeys(COUNTS, "met")
    assert {each: given[each] for each in COUNTS} == {each: "missed" if each == name else "met" for each in COUNTS}


EDGES = {
    "R1, seven of sixteen stand out, 0.72": (warned(sec_mean=[2.0] * 7 + [1.0] * 25), "met"),
    "R1, six of sixteen, 0.69": (warned(sec_mean=[2.0] * 6 + [1.0] * 26), "missed"),
    "R1, six fall": (warned((True,) * 6 + (False,) * 26, sec_mean=SPREAD), "met"),
    "R1, six last": (warned((True,) * 26 + (False,) * 6, sec_mean=SPREAD), "met"),
    "R1, five last": (warned(ALL_BUT_FIVE, sec_mean=SPREAD), "undecided"),
    "R5, thirteen of sixteen are closed, 0.91": (Restarts(entropy=[0.25] * 13 + [0.5] * 19), "met"),
    "R5, twelve of sixteen, 0.88": (Restarts(entropy=[0.25] * 12 + [0.5] * 20), "missed"),
}


@pytest.mark.parametrize("name", EDGES)
def test_where_a_warning_begins(name):
    """The bounds of area, and the least numbers that can be judged."""
    world, expected = EDGES[name]
    assert verdicts(world)[name[:2]] == expected


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_can_win(name):
    """One that orders as well is not beaten, and it is one rival that does it."""
    assert verdicts(warned(sec_mean=FOREWARNS, **{name: RIVALS[name]}))["R2"] == "missed"
    assert verdicts(warned(sec_mean=FOREWARNS, **{name: RIVALS[name][::-1]}))["R2"] == "met"
    assert {key.split(".")[2] for part in BY_NAME["R2"].comparator.parts() for key in part.rivals()} == set(RIVALS)


def test_what_is_read_as_the_rate_goes_up_is_not_what_warns_later():
    """Each warning at its own step, and neither moves the other's predictions."""
    early, late = Restarts(early=FOREWARNS), warned(sec_mean=FOREWARNS)
    assert (EARLY.spectral.learn, early.judge().before.at.value, early.judge().warned.at.value) == (5, 5, 10)
    assert [(verdicts(world)["R1"], verdicts(world)["R4"]) for world in (early, late)] == [("missed", "met"), ("met", "missed")]


def test_readings_fixed_in_advance():
    """Every outcome of the first three has one, and each is what the first of them that fits says."""
    outcomes = ("met", "missed", "undecided")
    said = {case: reading_of(REGISTRATION, dict(zip(("R1", "R2", "R3"), case, strict=True))) or "" for case in product(outcomes, repeat=3)}
    assert all(said.values()) and set(said.values()) == {reading.text for reading in REGISTRATION.readings}
    for (first, second, third), text in said.items():
        expected = {
            "met": "no simpler reading does as well" if second == "met" else "a simpler reading does as well or better",
            "missed": "the entropy itself does" if third == "met" else "Neither concentration", "undecided": "Too few networks fell",
        }[first]  # fmt: skip
        assert expected in text
