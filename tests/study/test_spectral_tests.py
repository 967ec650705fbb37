"""The judge of the study of attention's spectra on made-up records: who survived, what forewarned, what development chose."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path

import jsonschema_rs
import pytest
from made_spectra import CRASHED, DIPPED, DULL, LATE, LIVED, broken, ending, even, judge_rows, plain_arm
from tiny_spectral import PLAN, SCALE, UNIGRAM, made

from audit.records import parse_model, record_bytes
from rankcollapse.records_spectral import SpectralResults, SurvivalRow
from rankcollapse.settings import set_value
from rankcollapse.spectral_tests import FORETOLD, TRAJECTORY, choose_cap, choose_rate, count_below, judge_run, survival_of

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/spectral_results.json").read_text())
NONE = (0.5, 1.0)
"""Area and p of a reading that orders nothing."""


def score(found: SpectralResults, name: str) -> tuple[float, float]:
    """Area and p of a reading."""
    row = found.warned.readings[name]
    return row.auc.value, row.p.value


def counts(found: SpectralResults) -> tuple[float, float, float]:
    """Networks that fell, that did not, and that were left out."""
    warned = found.warned
    return warned.crashing.value, warned.lasting.value, warned.excluded.value


FATES = {
    "learns": (LIVED, None, (None, False)),
    "stays on the plateau": (DULL, None, (None, True)),
    "dips and goes back": (DIPPED, None, (None, True)),
    "crashes": (CRASHED, None, (40, False)),
    "diverges before the warning": (DULL[:2], 7, (7, True)),
    "diverges after it": (LIVED[:5], 27, (27, False)),
    "at the edge": ((5.6, 5.5, 5.5, 5.4, 5.4, 5.4, 5.4), None, (None, False)),
    "a stray loss below the plateau": ((5.6, 5.5, 5.5, 5.5, 5.5, 5.5, 3.0), None, (None, True)),
}


@pytest.mark.parametrize("name", FATES)
def test_how_a_run_went(name):
    """By the median of its last three losses: learnt a tenth of a nat below the unigram loss of 5.5, crashed half a nat above its least."""
    loss, diverged, expected = FATES[name]
    found = judge_run(made("adamw", 0, loss, diverged=diverged), SCALE, UNIGRAM)
    assert (found.step, found.unlearnt) == expected


@pytest.mark.parametrize(("fell", "of"), [(2, 6), (1, 4), (3, 8), (16, 32)])
def test_perfect_separation(fell, of):
    """Every pair in order: an area of 1, with one chance in as many as there are ways to choose those that fall."""
    values = [2.0 + seed if seed < fell else 1.0 - seed / 100 for seed in range(of)]
    found = judge_rows(plain_arm([seed < fell for seed in range(of)], {"sec_mean": values, "sec_max": [-value for value in values]}))
    assert counts(found) == (fell, of - fell, 0) and found.warned.at.value == PLAN.at == 10
    assert score(found, "sec_mean") == (1.0, pytest.approx(1 / comb(of, fell))) and score(found, "sec_max") == (0.0, 1.0)


def test_what_forewarns_is_fixed_in_advance():
    """High concentration, logits and gradients, and low entropy, rank and residual: one order of the networks, an area of 1 or of 0 by the sign."""
    fell, values = [True, True, False, False], [4.0, 3.0, 2.0, 1.0]
    names = (*FORETOLD, "rank", "residual")
    found = judge_rows(plain_arm(fell, {name: values for name in names}))
    higher = {name for name in names if score(found, name)[0] == 1.0}
    assert higher == {"sec_max", "sec_mean", "sigma_max", "logit_max", "gradient_norm"}
    assert {name for name in names if found.warned.readings[name].sign == "higher"} == higher
    assert all(score(found, name) == (0.0, 1.0) and found.warned.readings[name].sign == "lower" for name in set(names) - higher)
    assert set(found.warned.readings) == {*TRAJECTORY, *FORETOLD}


@pytest.mark.parametrize("fell", [True, False])
def test_everything_or_nothing_falls(fell):
    """Nothing to compare: every reading is named, at one half and 1."""
    found = judge_rows(plain_arm([fell] * 5, {"sec_mean": [1.0, 2.0, 3.0, 4.0, 5.0]}))
    assert counts(found) == ((5, 0, 0) if fell else (0, 5, 0)) and found.survival["adamw"].survived.value == (0 if fell else 5)
    assert {score(found, name) for name in (*TRAJECTORY, *FORETOLD)} == {NONE} and (found.malignant.auc.value, found.malignant.p.value) == NONE


def test_ties_count_half():
    """2 and 1 against 1 and 0: three and a half pairs of four, as two of the six choices have."""
    found = judge_rows(plain_arm([True, True, False, False], {"sec_mean": [2.0, 1.0, 1.0, 0.0]}))
    assert score(found, "sec_mean") == (0.875, pytest.approx(2 / 6)) and score(found, "sigma_max") == NONE == score(found, "loss")


def test_a_run_that_broke_before_the_warning():
    """It is left out of the warning and has fallen; one that breaks after the warning is foretold."""
    rows = plain_arm([True, True, False, False], {"sec_mean": [4.0, 3.0, 2.0, 1.0]})
    rows += [broken("adamw", 4, **even({})), broken("adamw", 5, LATE, **even({"sec_mean": 5.0}))]
    found = judge_rows(rows)
    assert counts(found) == (3, 2, 1) and score(found, "sec_mean") == (1.0, pytest.approx(1 / 10))
    arm = found.survival["adamw"]
    assert (arm.runs.value, arm.survived.values, arm.crashed.values) == (6, (0, 0, 1, 1, 0, 0), (0, 0, 0, 0, 1, 1))
    assert found.crashes["adamw/4"].step == 7 and found.crashes["adamw/5"].step == LATE


def test_a_run_whose_loss_had_risen_by_the_warning():
    """A crash that has come cannot be foretold: at step 20 it is left out, and counts as fallen."""
    late = SCALE.model_copy(update={"spectral": PLAN.model_copy(update={"at": 20})})
    risen = made("adamw", 9, [5.5, 5.0, 4.0, 6.0, 6.0, 6.0, 6.0], **even({}))
    assert judge_run(risen, late, UNIGRAM).step == 20
    found = judge_rows([*plain_arm([True, False], {}), risen], late)
    assert counts(found) == (1, 1, 1) and found.survival["adamw"].survived.values == (0, 1, 0)
    assert score(found, "loss") == (1.0, 0.5)  # 5.5 against 4.0 at step 20


def test_all_broke_before_the_warning():
    """Nothing was read: every reading is still named, at one half and 1, and no last loss is given."""
    found = judge_rows([broken("adamw", seed, **even({})) for seed in range(3)])
    assert counts(found) == (0, 0, 3) and {score(found, name) for name in (*TRAJECTORY, *FORETOLD)} == {NONE}
    assert found.survival["adamw"].final_loss is None and found.survival["adamw"].survived.value == 0
    assert {name: share.value for name, share in found.maps.items()} == dict.fromkeys(found.maps, 0)


def test_a_network_that_goes_back_to_the_plateau_has_fallen():
    """It is foretold as one that stayed there is."""
    found = judge_rows([made("adamw", 0, DIPPED, **even({"sec_mean": 2.0})), made("adamw", 1, LIVED, **even({})), made("adamw", 2, CRASHED, **even({}))])
    assert counts(found) == (2, 1, 0) and score(found, "sec_mean") == (0.75, pytest.approx(2 / 3))
    arm = found.survival["adamw"]
    assert (arm.survived.values, arm.unlearnt.values, arm.crashed.values) == ((0, 1, 0), (1, 0, 0), (0, 0, 1))
    assert found.crashes["adamw/2"].rise == pytest.approx(5.3 - 4.5) and found.crashes["adamw/0"].rise is None


def test_survival_of_an_arm():
    """Two of four: an interval of 0.07 to 0.93; the loss is the median of those that did not diverge, fallen or not."""
    found = survival_of([made("x", 0, LIVED), made("x", 1, DULL), broken("x", 2), made("x", 3, [*LIVED[:-1], 2.0])], SCALE, UNIGRAM, 0.03)
    assert (found.rate.value, found.tau.value, found.runs.value, found.survived.values) == (4e-3, 0.03, 4, (1, 0, 0, 1))
    assert (found.low.value, found.high.value) == pytest.approx((0.0676, 0.9324), abs=1e-4)
    assert found.final_loss.values == (3.0, 5.5, 2.0) and found.final_loss.value == 3.0
    assert survival_of([broken("x", 0)], SCALE, UNIGRAM).high.value == pytest.approx(0.975)


def survival(survived: int, of: int = 4, loss: float | None = 3.0) -> SurvivalRow:
    """So many of an arm's networks survive; all that did not diverge end at this loss."""
    rows = [made("x", seed, LIVED if seed < survived else DULL) for seed in range(of)]
    found = survival_of(rows, SCALE, UNIGRAM)
    return found.model_copy(update={"final_loss": None if loss is None else set_value(loss)})


@pytest.mark.parametrize(("survived", "place"), [([4, 2, 0], 2), ([4, 3, 1, 0], 2), ([4, 4, 4], 1), ([0, 0], 1), ([4, 1], 2), ([3, 1], 1), ([0, 4], 1)])
def test_the_rate_under_which_half_survive(survived, place):
    """Nearest to one half of all; of equals the lowest."""
    assert choose_rate([survival(number) for number in survived]) == place


def test_shares_are_compared_not_counts():
    """Three of six is nearer to one half than three of four."""
    assert choose_rate([survival(3), survival(3, 6)]) == 2


CAPS = {
    "most survive": ([(1, 1.0), (3, 4.0), (2, 1.0)], 2),
    "of equals the lowest loss": ([(3, 3.0), (3, 2.5), (1, 1.0)], 2),
    "of equal losses the smallest cap": ([(3, 2.5), (3, 2.5)], 1),
    "none that diverged throughout": ([(0, None), (0, 5.5)], 2),
    "all diverged": ([(0, None), (0, None)], 1),
}


@pytest.mark.parametrize("name", CAPS)
def test_the_cap_that_is_chosen(name):
    """Survival first, then the loss, then the place."""
    caps, place = CAPS[name]
    assert choose_cap([survival(number, loss=loss) for number, loss in caps]) == place


def test_twins_are_compared_by_seed():
    """Lower in two of four; what diverged is never below, and everything is below what diverged, but for what diverged too; a tie is not below."""
    ours, theirs = ending("a", [3.0, None, 3.0, 3.0, None]), ending("b", [4.0, 4.0, 3.0, None, None])
    assert count_below(ours, theirs).values == (1, 0, 0, 1, 0) and count_below(ours, theirs[::-1]).values == (1, 0, 0, 1, 0)
    assert count_below(theirs, ours).values == (0, 1, 0, 0, 0)


def test_the_chosen_cap_is_compared_with_every_twin():
    """Each comparison with the arm of its name; the plain arm has more networks than the cap, and only twins are compared."""
    rows = ending("adamw2_2", [3.0, 3.0]) + ending("adamw2_1", [1.0, None]) + ending("warm_up", [4.0, 2.0]) + ending("low_rate", [4.0, 4.0])
    found = judge_rows([*plain_arm([False, True, False], {}), *rows])
    assert (found.capped_below_warm_up.values, found.capped_below_plain.values, found.capped_below_lower.values) == ((1, 0), (0, 1), (1, 1))
    assert found.capped == found.survival["adamw2_2"] and found.capped.tau.value == 0.3 and found.survival["adamw2_1"].tau.value == 0.03
    assert found.survival["adamw"].tau is None and found.survival["adamw2_1"].survived.value == 1


def test_malignant_maps_at_the_end():
    """Shares by fate, a state that was not read left out, and how well they tell the fallen, whose maps are said to be malignant."""
    rows = [
        made("adamw", seed, loss, malignant=malignant, benign=benign, **even({}))
        for seed, (loss, malignant, benign) in enumerate([(DULL, 0.5, 0.25), (DULL, 0.25, 0.125), (LIVED, 0.125, 0.75), (LIVED, 0.0, 0.25)])
    ]
    found = judge_rows([*rows, broken("adamw", 4, **even({}))])
    assert {name: share.value for name, share in found.maps.items()} == {
        "malignant_fell": 0.375, "malignant_survived": 0.0625, "benign_fell": 0.1875, "benign_survived": 0.5,
    }  # fmt: skip
    assert (found.malignant.sign, found.malignant.auc.value, found.malignant.p.value) == ("higher", 1.0, pytest.approx(1 / 6))
    assert found.maps["malignant_fell"].values == (0.5, 0.25)


def test_the_record_is_read_back():
    """It passes the committed schema and is the same after it was written."""
    found = judge_rows([*plain_arm([True, False, True], {"sec_mean": [3.0, 2.0, 1.0]}), broken("warm_up", 0), made("sigma", 0, CRASHED)])
    written = json.loads(record_bytes(found))
    assert parse_model(SpectralResults, written, "record") == found
    assert jsonschema_rs.is_valid(SCHEMA, written) and not jsonschema_rs.is_valid(SCHEMA, written | {"more": 1})
