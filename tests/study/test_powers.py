"""Which registered predictions rank, and their power against known values, exact enumeration, and what the registrations say of it."""

from __future__ import annotations

from math import asin, pi
from pathlib import Path

import numpy as np
import pytest

from audit.records import Provenance, Refusal, read_yaml
from rankcollapse.chances import chance_of_mean_correlation, chance_of_page
from rankcollapse.powers import (
    critical_area,
    describe_powers,
    mann_whitney_null,
    power_of,
    power_of_area,
    power_of_branches,
    power_of_contest,
    power_of_order,
)
from rankcollapse.rankings import POWER, RIVAL, Ranking, find_rankings
from rankcollapse.statistics import Stratum, rank_within_strata

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "prereg").glob("*.yaml") if "." not in path.stem)
SEALED = ("ageing-1", "burst-1", "delay-1", "design", "epsilon-1", "function-1", "order-1", "path-1", "pilot", "replication-1", "spectral-1", "spectral-2")
RANKED = {
    "ageing-1.A3": Ranking("ageing-1", "A3", "order", 8, 4, level=0.05),
    "burst-1.T3": Ranking("burst-1", "T3", "correlation", 1, 8, bound=1e-6, level=0.05),
    "burst-1.T3r": Ranking("burst-1", "T3r", "correlation", 1, 8, rivals=(0.4, 0.4)),
    "delay-1.D1": Ranking("delay-1", "D1", "order", 4, 4, level=0.05),
    "path-1.P2": Ranking("path-1", "P2", "correlation", 6, 4, branches=3, bound=0.43, level=0.05),
    "path-1.P3": Ranking("path-1", "P3", "correlation", 6, 4, branches=3, rivals=(0.0,)),
    "path-1.P4": Ranking("path-1", "P4", "correlation", 6, 4, branches=3, rivals=(0.4, 0.4, 0.4)),
    "spectral-1.W1": Ranking("spectral-1", "W1", "warning", 1, 32, bound=0.7, level=0.05, frozen=True),
    "spectral-1.W2": Ranking("spectral-1", "W2", "warning", 1, 32, rivals=(0.4,) * 6, frozen=True),
    "spectral-1.W3": Ranking("spectral-1", "W3", "warning", 1, 32, bound=0.7, level=0.05, frozen=True),
    "spectral-2.R1": Ranking("spectral-2", "R1", "warning", 1, 32, bound=0.7, level=0.05, frozen=True),
    "spectral-2.R2": Ranking("spectral-2", "R2", "warning", 1, 32, rivals=(0.4,) * 6, frozen=True),
    "spectral-2.R3": Ranking("spectral-2", "R3", "warning", 1, 32, bound=0.7, level=0.05, frozen=True),
    "spectral-2.R4": Ranking("spectral-2", "R4", "warning", 1, 32, bound=0.7, level=0.05, frozen=True),
    "spectral-2.R5": Ranking("spectral-2", "R5", "warning", 1, 32, bound=0.9, level=0.05, frozen=True),
}


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def registration(key: str, comparator: dict, population: dict | None = None, **more) -> dict:
    """One made-up registration of one prediction about eight seeds."""
    prediction = {"id": "S1", "metric": {"key": key}, "comparator": comparator, "population": population or {"set": "spectral"}}
    return {"seeds": {"from": "seal", "sets": {"spectral": 8}}, "predictions": [prediction], **more}


def find(key: str, comparator: dict, population: dict | None = None, **more) -> tuple[Ranking, ...]:
    return find_rankings({"spectral-1": registration(key, comparator, population, **more)}, 3)


def test_the_registrations_say_which_predictions_rank():
    """Ten of the sealed ones, with their units; counts, shares, thresholds and classifications rank nothing."""
    found = find_rankings({name: read_yaml(ROOT / f"prereg/{name}.yaml") for name in SEALED}, 3)
    assert {f"{each.registration}.{each.prediction}": each for each in found} == RANKED


def test_a_warning_is_read_from_its_form():
    """An area under the curve with a p, one against rivals, and a rank correlation over all units; the seal that holds the powers is told."""
    both = {"all": [{"op": ">=", "value": 0.8}, {"key": "warning.p", "op": "<=", "value": 0.05}]}
    depths = {"set": "spectral", "depths": ["low", "high"]}
    assert find("warning.sec_max.auc", both, depths) == (Ranking("spectral-1", "S1", "warning", 2, 8, bound=0.8, level=0.05),)
    assert find("sec.auc", {"op": ">", "than": ["loss.auc", "entropy.auc"]}) == (Ranking("spectral-1", "S1", "warning", 1, 8, rivals=(RIVAL, RIVAL)),)
    whole = {"op": "<=", "value": -0.5, "rank_correlation": "b"}
    assert find("a", whole, depths, freezes={"outputs": [POWER]}) == (Ranking("spectral-1", "S1", "correlation", 1, 16, bound=0.5, frozen=True),)
    assert find("crashed", {"op": ">=", "value": 4}) == ()


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (lambda: find("a.rho", {"op": "<=", "value": -0.5}, {"set": "other"}), "prereg/spectral-1.yaml: S1 ranks, and its population is not known; expected population.set, one of spectral"),
        (lambda: find("heights.L", {"all": [{"op": ">", "than": "e"}, {"key": "heights.p", "op": "<=", "value": 0.05}]}), "heights.L: is Page's L over columns that are not known"),
        (lambda: find("delay.L", {"op": ">", "than": "e"}), "S1 names Page's L without a p"),
        (lambda: find_rankings({"a": {"seeds": {"same_as": "b"}, "predictions": [{}]}}, 3), "prereg/a.yaml: shares the seeds of a registration that is not there"),
    ],
)  # fmt: skip
def test_what_does_not_follow_is_refused(wrong, line):
    """No population, no columns, no p, no owner of the seeds: one line, no guess."""
    with pytest.raises(Refusal) as refused:
        wrong()
    assert line in str(refused.value)


REGISTERED = [(0.8, (0.0,), 0.99, 0.90), (0.8, (0.4,) * 3, 0.80, 0.52), (0.8, (0.8,) * 3, 0.22, 0.17)]


@pytest.mark.parametrize(("true_r", "rivals", "independent", "together"), REGISTERED)
def test_the_power_against_rivals_is_the_registered_one(true_r, rivals, independent, together):
    """What the registration of the path says of P3 and P4, in six strata and in the two that are left where the delays say one thing."""
    assert power_of_contest(6, 4, true_r, rivals, generator()) == pytest.approx(independent, abs=0.015)
    assert power_of_contest(2, 4, true_r, rivals, generator()) == pytest.approx(together, abs=0.015)


def test_a_rival_as_good_as_the_predictor_is_beaten_half_the_time():
    """Of exchangeable measures one in k + 1 is first, but for ties."""
    for rivals in (1, 2, 3):
        assert power_of_contest(6, 40, 0.7, (0.7,) * rivals, generator(), draws=8000) == pytest.approx(1 / (rivals + 1), abs=0.02)
    assert power_of_contest(6, 4, 0.9, (0.0,), generator(), bound=0.9) < power_of_contest(6, 4, 0.9, (0.0,), generator())


def test_the_primary_of_the_path():
    """0.48 together at 0.8, as registered; 0.93 independent is the bound's alone, and the p that moves networks costs 0.02 of it."""
    assert power_of_branches(2, 3, 4, 0.8, 0.43, 0.05, generator(), together=True) == pytest.approx(0.48, abs=0.015)
    assert power_of_branches(2, 3, 4, 0.8, 0.43, 1.0, generator()) == pytest.approx(0.93, abs=0.015)
    assert power_of_branches(2, 3, 4, 0.7, 0.43, 1.0, generator()) == pytest.approx(0.81, abs=0.015)
    assert power_of_branches(2, 3, 4, 0.0, -1.0, 0.05, generator()) == pytest.approx(0.05, abs=0.01)
    assert power_of_branches(2, 3, 4, 0.0, 0.43, 1.0, generator()) == pytest.approx(chance_of_mean_correlation((4,) * 6, -0.43), abs=0.006)


def test_the_p_that_moves_networks_is_the_registered_statistic(monkeypatch):
    """Every draw decides as the study's own test does on the same readings, whose networks move together."""
    drawn = np.random.default_rng(3).standard_normal((2, 40, 2, 3, 4))
    outcome, readings = drawn[0], drawn[1] + drawn[0]

    class Given:
        left = [outcome, readings - outcome]

        def standard_normal(self, shape):
            return self.left.pop(0).reshape(shape)

    monkeypatch.setattr("rankcollapse.powers.predict", lambda found, _, source: found + source.standard_normal(found.shape))
    share = power_of_branches(2, 3, 4, 0.7, 0.43, 0.05, Given(), draws=40)
    met = 0
    for x, y in zip(readings, outcome, strict=True):
        strata = [Stratum(f"{depth} {delay}", (0, 1, 2, 3), tuple(x[depth, delay]), tuple(-y[depth, delay]), str(depth)) for depth in (0, 1) for delay in (0, 1, 2)]
        found = rank_within_strata(strata)
        met += found.rho <= -0.43 and found.p_negative <= 0.05
    assert 0 < met < 40 and share == met / 40


def correlation_of_step(step: float, columns: int = 4) -> float:
    """The correlation of place and value where each column adds so many standard deviations."""
    slope = step * np.arange(columns).std()
    return float(slope / np.sqrt(1 + slope**2))


@pytest.mark.parametrize(("rows", "step", "power"), [(4, 1.0, 0.96), (4, 0.5, 0.50), (8, 0.5, 0.85)])
def test_the_power_of_an_order_is_the_registered_one(rows, step, power):
    """What the registrations of the delay and of ageing say: steps as large as the scatter, and half as large."""
    assert power_of_order(rows, 4, correlation_of_step(step), 0.05, generator()) == pytest.approx(power, abs=0.015)


def test_an_order_without_an_effect_has_its_chance():
    """Four seeds and four delays: the exact chance; one row of three reaches no 5 % whatever is true."""
    assert power_of_order(4, 4, 0.0, 0.05, generator()) == pytest.approx(chance_of_page(4, 4), abs=0.005)
    assert power_of_order(1, 3, 0.9, 0.05, generator()) == 0


def test_areas_by_chance():
    """Four of either: 1/70 for a perfect one, all 70 there, symmetric; three and two counted by hand; 3 + 3 at most 1/20."""
    null = mann_whitney_null(4, 4)
    assert null.counts.sum() == 70 and null.at_least(16) == pytest.approx(1 / 70) and (null.counts == null.counts[::-1]).all()
    assert list(mann_whitney_null(2, 3).counts) == [1, 1, 2, 2, 2, 1, 1]
    assert critical_area(1, 3, 3, 0.05) == 1.0 and critical_area(1, 2, 2, 0.05) is None
    assert critical_area(2, 2, 2, 0.05) == 1.0  # 1/36


def test_power_of_an_area():
    """Without an effect the chance; perfect with a perfect predictor; 0 where no area is within the level; less with a rival beside."""
    exact = mann_whitney_null(4, 4).at_least(14) / 1
    assert power_of_area(1, 8, 0.0, generator(), bound=14 / 16) == pytest.approx(exact, abs=0.005)
    assert power_of_area(1, 8, 1.0, generator(), bound=1.0, level=0.05) == 1.0 and power_of_area(1, 4, 0.9, generator(), level=0.05) == 0.0
    alone, beside = (power_of_area(2, 8, 0.7, generator(), level=0.05, rivals=rivals) for rivals in ((), (0.4,)))
    assert 0 < beside < alone < 1


def test_a_correlation_as_an_area():
    """In a large sample the area of a median split is 1/2 + 2 asin(r / sqrt 2) / pi, so that 0.7 means 0.83."""
    area = 0.5 + 2 * asin(0.7 / 2**0.5) / pi
    assert area == pytest.approx(0.83, abs=0.001)
    assert power_of_area(1, 4000, 0.7, generator(), bound=area - 0.02, draws=50) > 0.95 > 0.05 > power_of_area(1, 4000, 0.7, generator(), bound=area + 0.02, draws=50)


def test_the_registered_powers():
    """T3 at 0.57 and 0.91 as known; every other as its own function gives it; the column of the paper stays within its bounds."""
    assert power_of(RANKED["burst-1.T3"], 0.7, generator()) == pytest.approx(0.57, abs=0.015)
    assert power_of(RANKED["burst-1.T3"], 0.9, generator()) == pytest.approx(0.91, abs=0.015)
    assert power_of(RANKED["path-1.P4"], 0.8, generator(), together=True) == pytest.approx(0.52, abs=0.015)
    assert power_of(Ranking("a", "b", "correlation", 6, 4, bound=0.43), 0.7, generator()) == pytest.approx(0.81, abs=0.015)
    assert power_of(Ranking("a", "b", "correlation", 1, 3, level=0.05), 0.9, generator()) == 0


@pytest.mark.parametrize(
    "large",
    [Ranking("a", "b", "correlation", 1, 17, level=0.05), Ranking("a", "b", "correlation", 9, 4, branches=3, level=0.05)],
    ids=["17 units", "13,824 orders"],
)
def test_what_cannot_be_counted_is_refused(large):
    """One line instead of a wrong number or a full memory; one unit ranks nothing, and 16 are counted."""
    with pytest.raises(Refusal, match=r"a\.b: has too many orders for an exact p; expected at most 16 units a stratum, and 2000 orders"):
        power_of(large, 0.7, generator())
    assert power_of(Ranking("a", "b", "correlation", 2, 1, bound=0.5), 0.9, generator()) == 0


def test_the_record_holds_what_was_asked_and_no_more():
    """A frozen record is told from one that came after the seal; another registration beside moves no number."""
    provenance = Provenance(stage="power", seals={}, parameters="0" * 64, seeds=(), data={})
    warned = Ranking("spectral-1", "S1", "warning", 1, 8, level=0.05, frozen=True)
    alone, more = (describe_powers(provenance, rankings) for rankings in ([RANKED["delay-1.D1"]], [warned, RANKED["delay-1.D1"]]))
    assert alone.registrations["delay-1"] == more.registrations["delay-1"]
    assert alone.registrations["delay-1"]["D1"].computed == "after the seal" and more.registrations["spectral-1"]["S1"].computed == "before the seal"
    assert alone.registrations["delay-1"]["D1"].together_07 is None and alone.low.value == 0.7


def test_the_stage_depends_on_every_registration():
    """Another registration makes the powers stale."""
    deps = read_yaml(ROOT / "dvc.yaml")["stages"]["power"]["deps"]
    assert {f"prereg/{name}.yaml" for name in NAMES} == {dep for dep in deps if dep.startswith("prereg/")}
