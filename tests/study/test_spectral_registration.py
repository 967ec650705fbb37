"""The registration of attention's spectra is judged on made-up records: each prediction can be met, missed and, where it says so, undecided."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_spectra import World

from audit.lint import lint
from audit.load import read_yaml
from audit.registration import parse_registration
from audit.verdict import judge, reading_of
from rankcollapse.chances import chance_of_count
from rankcollapse.crashes import pair_null

ROOT = Path(__file__).parents[2]
REGISTRATION = parse_registration((ROOT / "prereg/spectral-1.yaml").read_bytes(), "spectral-1")
NAMES = ("W1", "W2", "W3", "S1", "S2", "S3", "S4")
NETWORKS, FEW = 32, 8
"""Of the plain arm, and of every other."""


def verdicts(world: World) -> dict[str, str]:
    """What the judge says of one world."""
    record = world.judge().model_dump(mode="json", exclude_none=True)
    return {found.prediction.id: found.verdict for found in judge(REGISTRATION, {"results/spectral/tests.json": record}.__getitem__)}


def test_it_is_read_and_holds_for_the_laptop():
    """Its predictions in order, the primary among them; 32 networks from its own seal, eight of which get every arm; parameters that are met."""
    params = read_yaml(ROOT / "params.yaml")
    assert tuple(prediction.id for prediction in REGISTRATION.predictions) == NAMES and REGISTRATION.primary == "W1"
    assert REGISTRATION.seeds.sets == {"spectral": NETWORKS} and REGISTRATION.unmet(params) is None
    assert params["scales"]["laptop"]["spectral"]["few"] == FEW and params["scales"]["laptop"]["spectral"]["at"] == 40
    assert all((ROOT / path).exists() for path in REGISTRATION.freezes.code)


def test_what_it_names_stands_in_every_record():
    """Every key that it reads, in a world where nothing fell and in one where everything did."""
    keys = {rule.key for one in REGISTRATION.predictions for rule in one.undecided or ()} | {one.metric.key for one in REGISTRATION.predictions}
    assert len(keys) > 7
    for fell in (True, False):
        record = World(fell=(fell,) * NETWORKS, capped=(None,) * FEW).judge().model_dump(mode="json", exclude_none=True)
        for key in keys:
            place = record
            for name in key.split("."):
                place = place[name]
            assert place["value"] is not None


def chance_of_warning(fell: int) -> float:
    """The chance that so many networks, fallen at random, give an area of 0.7 within a p of 0.05, readings all different."""
    null = pair_null(range(NETWORKS), fell)
    reached = (null.at_least(value) for value in null.values if value >= 0.7 * fell * (NETWORKS - fell))
    return max((chance for chance in reached if chance <= 0.05), default=0.0)


def test_chances_are_those_computed():
    """Seven of eight by a coin; the first of seven; no more than 0.05 of a warning however many fell, and all but that where the p decides."""
    declared = {one.id: one.null.chance for one in REGISTRATION.predictions}
    assert {declared[name] for name in ("S1", "S2", "S3", "S4")} == {round(chance_of_count(FEW, 7), 4)} and declared["W2"] == round(1 / 7, 4)
    chances = [chance_of_warning(fell) for fell in range(6, NETWORKS - 5)]
    assert 0.045 < max(chances) <= declared["W1"] == declared["W3"] == 0.05


def test_what_the_linter_says_is_known():
    """The contest of seven has its chance, and the counts of one arm's eight networks name no population."""
    assert [warning.split()[0] for warning in lint(REGISTRATION)] == ["W2", "S1", "S2", "S3", "S4"]


HALF, FIVE, ALL_BUT_FIVE = ((True,) * number + (False,) * (NETWORKS - number) for number in (16, 5, 27))
"""How many of the plain arm fall, the first ones always."""
FOREWARNS, BACKWARDS = ([*[one] * 16, *[other] * 16] for one, other in ((2.0, 1.0), (1.0, 2.0)))
SPREAD = [float(value) for value in range(NETWORKS, 0, -1)]
"""Every network another reading, the first ones the highest."""


def warned(fell=HALF, **readings) -> World:
    """A world with these readings."""
    return World(fell=fell, readings=readings)


def some(number: int, good: float, bad: float | None) -> tuple[float | None, ...]:
    """So many of eight networks at one loss, the others at another."""
    return (good,) * number + (bad,) * (FEW - number)


CASES = {
    "W1": (warned(sec_mean=FOREWARNS), warned(sec_mean=BACKWARDS), warned(FIVE, sec_mean=SPREAD)),
    "W2": (warned(sec_mean=FOREWARNS), warned(sec_mean=FOREWARNS, gradient_norm=FOREWARNS), warned(ALL_BUT_FIVE, sec_mean=SPREAD)),
    "W3": (warned(residual=BACKWARDS), warned(residual=FOREWARNS), warned(ALL_BUT_FIVE, residual=SPREAD[::-1])),
    "S1": (World(capped=some(7, 3.0, 5.5)), World(capped=some(6, 3.0, 5.5), warm_up=some(6, 4.0, None), lower=some(6, 4.0, None))),
    "S2": (World(warm_up=some(7, 4.0, 2.0)), World(warm_up=some(6, 4.0, 3.0))),
    "S3": (World(lower=some(7, 4.0, 2.0)), World(lower=some(6, 4.0, 3.0))),
    "S4": (World(sigma=some(7, 3.0, None)), World(sigma=some(6, 3.0, None))),
}


@pytest.mark.parametrize("name", NAMES)
def test_every_prediction_can_be_met_missed_and_undecided(name):
    """One made-up world each; counts of an arm's networks, which are always as many, cannot be undecided."""
    assert [verdicts(world)[name] for world in CASES[name]] == ["met", "missed", "undecided"][: len(CASES[name])]
    ruled = {one.id for one in REGISTRATION.predictions if one.undecided}
    assert (name in ruled) == (len(CASES[name]) == 3) == (name[0] == "W")


@pytest.mark.parametrize("name", [name for name in NAMES if name[0] == "S"])
def test_one_arm_moves_its_own_prediction_alone(name):
    """Of the four counts, met in the world as it is, the missed world misses one."""
    given = {each: verdict for each, verdict in verdicts(CASES[name][1]).items() if each[0] == "S"}
    assert given == {each: "missed" if each == name else "met" for each in given} and set(verdicts(World()).values()) == {"missed", "met"}


SIX, RANKS = (True,) * 6 + (False,) * 26, (32.0, 31.0, 30.0, 20.0, 10.0, 8.0)
EDGES = {
    "seven of sixteen stand out, 0.72": (warned(sec_mean=[2.0] * 7 + [1.0] * 25), "met"),
    "six of sixteen, 0.69 and beyond all chance": (warned(sec_mean=[2.0] * 6 + [1.0] * 26), "missed"),
    "110 of 156 pairs, 0.71, once in fifteen by chance": (warned(SIX, sec_mean=[*RANKS, *sorted(set(SPREAD) - set(RANKS))]), "missed"),
    "six fall": (warned(SIX, sec_mean=SPREAD), "met"),
    "six last": (warned((True,) * 26 + (False,) * 6, sec_mean=SPREAD), "met"),
    "five fall": (warned(FIVE, sec_mean=SPREAD), "undecided"),
    "five last": (warned(ALL_BUT_FIVE, sec_mean=SPREAD), "undecided"),
}


@pytest.mark.parametrize("name", EDGES)
def test_where_a_warning_begins(name):
    """Both bounds of the primary prediction, and the least numbers that it can be judged on."""
    world, expected = EDGES[name]
    assert verdicts(world)["W1"] == expected


def test_the_p_decides_where_few_fall():
    """Six ranks that sum to 131 are 110 pairs above those of any six: an area beyond the bound, a p that is not."""
    row = warned(SIX, sec_mean=[*RANKS, *sorted(set(SPREAD) - set(RANKS))]).judge().warned.readings["sec_mean"]
    assert row.auc.value == 110 / 156 >= 0.7 and row.p.value == pytest.approx(0.0654, abs=1e-4)


RIVALS = {
    "entropy_mean": BACKWARDS, "entropy_min": BACKWARDS, "gradient_norm": FOREWARNS, "rank": BACKWARDS, "residual": BACKWARDS,
    "loss": [*[5.5] * 16, *[5.45] * 16],
}  # fmt: skip


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_can_win(name):
    """One that orders as well is not beaten, and it is one rival that does it."""
    assert verdicts(warned(sec_mean=FOREWARNS, **{name: RIVALS[name]}))["W2"] == "missed"
    assert verdicts(warned(sec_mean=FOREWARNS, **{name: RIVALS[name][::-1]}))["W2"] == "met"
    (contest,) = (one for one in REGISTRATION.predictions if one.id == "W2")
    assert {key.split(".")[2] for part in contest.comparator.parts() for key in part.rivals()} == set(RIVALS)


def test_readings_fixed_in_advance():
    """The world of the text has one, and so has each outcome of the primary."""
    def read(world: World) -> str:
        return reading_of(REGISTRATION, verdicts(world)) or ""

    assert "no simpler reading does as well" in read(warned(sec_mean=FOREWARNS))
    assert "a simpler reading does as well or better" in read(warned(sec_mean=FOREWARNS, residual=BACKWARDS))
    assert "the wrong place to look" in read(warned(residual=BACKWARDS))
    assert "Neither concentration" in read(warned())
    assert "Too few networks fell" in read(warned(FIVE, sec_mean=SPREAD))
