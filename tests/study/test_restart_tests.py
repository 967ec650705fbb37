"""The judge of the study of restarts: networks are thrown back at once, only the end says which have fallen, and what is read when."""

from __future__ import annotations

import pytest
from made_restarts import BACK, GONE, LOST, STEPS, heads, thrown
from made_spectra import DULL, LIVED, even, judge_rows
from tiny_spectral import RESTARTED, SCALE, UNIGRAM, made

from rankcollapse.records_spectral import SpectralResults, Warned
from rankcollapse.spectral_tests import FORETOLD, TRAJECTORY, closed_of, judge_run, tell_apart, when_fallen

FATES = {
    "comes back": (BACK, None, (None, False), None),
    "stays above its least": (GONE, None, (50, False), 80),
    "back on the plateau": (LOST, None, (50, True), 80),
    "comes back to a quarter of a nat": ((*BACK[:6], 4.7, 4.7, 4.7), None, (None, False), None),
    "diverges before the warning": (BACK[:4], 47, (47, False), 80),
    "diverges after it": (BACK[:6], 57, (50, True), 80),
}


@pytest.mark.parametrize("name", FATES)
def test_who_has_fallen(name):
    """At the end: a crash that has come by the warning counts as one of step 80, and one that is undone is none."""
    loss, diverged, expected, fallen = FATES[name]
    found = judge_run(made("adamw", 0, loss, steps=STEPS, diverged=diverged), RESTARTED, UNIGRAM)
    assert (found.step, found.unlearnt) == expected and when_fallen(found, RESTARTED) == fallen


def test_without_a_learnt_stretch_the_crash_itself_counts():
    """The first study as it was: a step of a crash is that step, and the end is that of what has not learnt."""
    def fallen(loss: tuple[float, ...], diverged: int | None = None) -> int | None:
        return when_fallen(judge_run(made("adamw", 0, loss, diverged=diverged), SCALE, UNIGRAM), SCALE)

    assert (fallen(LIVED), fallen(DULL), fallen(DULL[:3], 12), fallen((5.5, 5.0, 4.0, 6.0, 6.0, 6.0, 6.0))) == (None, 40, 12, 20)


def counts(found: Warned) -> tuple[float, ...]:
    """The step, networks that fell, that did not, and that were left out."""
    return tuple(each.value for each in (found.at, found.crashing, found.lasting, found.excluded))


def score(found: Warned, name: str = "sec_mean") -> tuple[float, float]:
    """Area and p of a reading."""
    return found.readings[name].auc.value, found.readings[name].p.value


def judged() -> SpectralResults:
    """Two that fall and two that come back: concentration tells them at the warning, and the wrong way round before."""
    return judge_rows([
        thrown(0, GONE, before=1.0, warned=4.0, entropy=0.25), thrown(1, LOST, before=2.0, warned=3.0, entropy=0.5),
        thrown(2, BACK, before=3.0, warned=2.0, entropy=0.375), thrown(3, BACK, before=4.0, warned=1.0, entropy=0.75),
    ], RESTARTED)  # fmt: skip


def test_every_network_is_foretold():
    """All four were thrown back by the warning and none is left out; each warning is read at its own step, the loss too."""
    found = judged()
    assert [found.crashes[f"adamw/{seed}"].step for seed in range(4)] == [50, 50, None, None]
    assert found.survival["adamw"].survived.values == (0, 0, 1, 1)
    assert (counts(found.before), counts(found.warned)) == ((40, 2, 2, 0), (50, 2, 2, 0))
    assert (score(found.before), score(found.warned)) == ((0.0, 1.0), (1.0, pytest.approx(1 / 6)))
    assert set(found.before.readings) == set(found.warned.readings) == {*TRAJECTORY, *FORETOLD}
    later = judge_rows([thrown(seed, (*loss[:4], 5.5 - seed, *loss[5:])) for seed, loss in enumerate((GONE, GONE, BACK))], RESTARTED)
    assert (score(later.before, "loss"), score(later.warned, "loss")) == ((0.5, 1.0), (1.0, pytest.approx(1 / 3)))


def test_what_had_no_reading_is_left_out():
    """What broke before a warning is in none from then on; what broke after it is foretold, and both have fallen."""
    rows = [thrown(0, GONE, warned=3.0), thrown(1, BACK, warned=1.0), thrown(2, BACK[:4], diverged=47), thrown(3, BACK[:6], diverged=57, warned=2.0)]
    found = judge_rows([*rows, thrown(4, BACK[:2], diverged=30)], RESTARTED)
    assert (counts(found.before), counts(found.warned)) == ((40, 3, 1, 1), (50, 2, 1, 2))
    assert score(found.warned) == (1.0, pytest.approx(1 / 3)) and found.survival["adamw"].survived.values == (0, 1, 0, 0, 0)


def test_closed_attention_at_the_end():
    """Lower entropy tells the fallen, in three pairs of four; the mean is over blocks and heads, and what diverged has no last state."""
    found = judged().closed
    assert (found.sign, found.auc.value, found.p.value) == ("lower", 0.75, pytest.approx(2 / 6))
    assert closed_of(thrown(0, BACK, entropy=0.5)) == 0.5 == heads(0.5).entropy[0][0] + 0.125 and closed_of(thrown(0, BACK[:4], diverged=47)) is None


@pytest.mark.parametrize(("sign", "expected"), [("higher", (0.75, 2 / 6)), ("lower", (0.25, 5 / 6))])
def test_telling_apart(sign, expected):
    """4 and 2 fell, 3 and 1 did not: three pairs of four are in order, or one the other way; what was not read is in no pair."""
    values, fell = {"a": 4.0, "b": 2.0, "c": 3.0, "d": 1.0, "e": None}, dict(zip("abcde", (True, True, False, False, True), strict=True))
    found = tell_apart(sign, values, fell)
    assert (found.sign, found.auc.value, found.p.value) == (sign, expected[0], pytest.approx(expected[1]))


def test_the_first_study_keeps_its_record():
    """Without a learnt stretch neither key stands in it; with one both do, and nothing else is new."""
    first, second = (record.model_dump(mode="json", exclude_none=True) for record in (judge_rows([made("adamw", 0, DULL, **even({}))]), judged()))
    assert set(second) - set(first) == {"before", "closed"} and set(first) <= set(second)
