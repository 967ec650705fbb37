"""The claims table: complete, each row able to lose and to win, and the record that judging it gives."""

from __future__ import annotations

import json

import numpy as np
import pytest

from audit.quantities import summary_fault, walk_quantities
from audit.records import Provenance, Quantity, Refusal, parse_model, record_bytes
from rankcollapse.claim_table import CLAIMS, Claim, both, every
from rankcollapse.claims import Claims, judge_claim, judge_claims, needed_readings, needed_verdicts
from rankcollapse.evidence import Readings
from rankcollapse.orders import Median, Ranked, Trend, Unranked
from rankcollapse.relations import Comparison, Not, Registered, Series, walk

PROVENANCE = Provenance(stage="claims", seals={}, parameters="0" * 64, seeds=(), data={})
VERDICTS = ("met", "missed", "undecided", "not evaluated here")
JUDGED = [claim for claim in CLAIMS if claim.relation]


def test_every_claim_stands_once():
    """C001 to C134, in order."""
    assert [claim.id for claim in CLAIMS] == [f"C{number:03d}" for number in range(1, 135)]


def test_wording_is_short_and_names_its_figure():
    """A row states a figure or says in few words what happens; each has a section and none repeats another."""
    assert all(claim.section and len(claim.paper) <= 90 for claim in CLAIMS)
    assert len({claim.paper for claim in CLAIMS}) == len(CLAIMS)


def test_testability():
    """Not testable has no relation and says what is missing; testable has one; in between a row may be printed as context."""
    for claim in CLAIMS:
        assert (claim.relation is None) == bool(claim.missing), claim.id
        assert claim.testable != "Y" or claim.relation is not None, claim.id
        assert claim.testable != "N" or claim.relation is None, claim.id
        assert claim.relation is not None or claim.testable == "N" or claim.beside, f"{claim.id}: context that prints nothing"
    assert {kind: sum(claim.testable == kind for claim in CLAIMS) for kind in "YPN"} == {"Y": 78, "P": 51, "N": 5}


@pytest.mark.parametrize("row", [dict(testable="Y"), dict(testable="N", relation=every("a")), dict(testable="Y", relation=every("a"), missing="b")])
def test_rows_without_a_rule_or_a_reason_are_refused(row):
    """Neither relation nor reason, both, or a relation of something that is not testable."""
    with pytest.raises(ValueError, match="C000: a relation, or what is missing"):
        Claim(id="C000", section="4", paper="a claim", **row)


ORDERS = (Trend, Ranked, Unranked, Series, Median)
SHAPES = ("constant", "rising", "falling", "disordered", "two")


def levels(claim: Claim) -> dict[str, tuple[float, ...]]:
    """By key without its role: values on both sides of the number it is compared with, or of anything it could be compared with."""
    found: dict[str, tuple[float, ...]] = {}
    for part in walk(claim.relation):
        comparison = getattr(part, "comparison", None)
        if isinstance(comparison, Comparison) and not isinstance(comparison.than, str):
            bounds = comparison.than if isinstance(comparison.than, tuple) else (float(comparison.than),)
            found[comparison.key] = (*(bounds[0] - step for step in (1.0, 0.0)), sum(bounds) / len(bounds), bounds[-1] + 1.0)
    return found


def draw(claim: Claim, generator: np.random.Generator) -> Readings:
    """Readings of one made-up world: each key constant or, where order matters, rising, falling or disordered; one, a few or many events."""
    pools, alike = levels(claim), generator.random() < 0.7
    orders = any(isinstance(part, ORDERS) or getattr(part, "quantifier", "") == "mixed" for part in walk(claim.relation))
    events = int(generator.choice([1, 6, 8, 40] if orders else [1, 8], p=[0.3, 0.3, 0.35, 0.05] if orders else [0.3, 0.7]))
    courses = {"rising": np.arange(events), "falling": -np.arange(events), "disordered": generator.permutation(events), "two": np.arange(events) % 2}
    quantities, chosen = {}, {}
    for key in needed_readings([claim]):
        stem = key.removesuffix(".shallow").removesuffix(".deep")
        course = courses.get(str(generator.choice(SHAPES)), np.zeros(events)) if orders else np.zeros(events)
        drawn = tuple(map(float, generator.choice(pools.get(key, pools.get(stem, (1e-3, 1.0, 1e3, 1e6)))) + course))
        values = chosen.setdefault(stem, drawn) if alike else drawn
        quantities[key] = Quantity(value=values[0], digits=2, tolerance=float(generator.choice([0.0, 0.0, 1.0])), values=values)
    return Readings(quantities, {name: str(generator.choice(VERDICTS)) for name in needed_verdicts([claim])}, generator)


def reachable(claim: Claim, worlds: int = 3000) -> set[str]:
    """The verdicts that made-up worlds give a claim, until all three were seen."""
    generator, found = np.random.default_rng(0), set()
    for _ in range(worlds):
        found.add(judge_claim(claim, draw(claim, generator)).verdict)
        if len(found) == 3:
            break
    return found


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_no_relation_is_bound_to_hold_or_to_fail(claim):
    """Among made-up worlds each claim holds in one, fails in another and is undecided in a third."""
    assert reachable(claim) == {"holds", "does not hold", "undecided"}


def test_relations_that_cannot_lose_are_found():
    """A reading compared with itself, or a claim and its opposite at once, is seen not to reach every verdict."""
    itself = Claim("C000", "4", "Y", "a claim", every("a", ">=", "a"))
    never = Claim("C000", "4", "Y", "a claim", both(every("a"), Not(every("a"))))
    assert reachable(itself, 300) == {"holds", "undecided"} and "holds" not in reachable(never, 300)


def flags(met: int, of: int) -> tuple[float, ...]:
    """So many of so many events."""
    return (1.0,) * met + (0.0,) * (of - met)


PAPER = {
    "C003": {"main.untreated.recovered_rank.shallow": flags(0, 3)},
    "C004": {"main.untreated.recovered_rank.deep": flags(0, 5)},
    "C008": {"main.penalty_1x.recovered_rank.shallow": flags(0, 3), "main.penalty_1x.recovered_rank.deep": flags(0, 5)},
    "C024": {"path.collapsed.orders.shallow": (5.9,) * 7 + (2.0,), "path.collapsed.orders.deep": (8.4,) * 10},
    "C037": {"path.switch_1.rank_above_before.shallow": flags(4, 8), "path.switch_1.rank_above_before.deep": flags(0, 10)},
    "C044": {"main.switch_03.recovered_rank.shallow": flags(3, 3), "main.switch_03.recovered_rank.deep": flags(4, 5)},
    "C047": {"main.switch_weak.recovered_rank.shallow": flags(2, 3), "main.switch_weak.recovered_rank.deep": flags(0, 5)},
    "C048": {"repl.switch_weak.recovered_rank.shallow": flags(3, 5), "repl.switch_weak.recovered_rank.deep": flags(2, 5)},
    "C051": {"delay.share_recovered.deep": flags(0, 10), "delay.undelayed_recovered.deep": flags(8, 10)},
    "C052": {"main.delay_0.recovered_rank.deep": flags(4, 5)},
    "C057": {"test1.P4.loss_gap.correct": 8, "test1.P1.correct": 8, "test1.P4.loss_gap.rho": -0.68, "test1.P2.rho": -0.67},
    "C066": {"burst.T1.m2.correct.deep": flags(3, 8)},
    "C083": {"treat.matched_within_tenth.shallow": flags(12, 15), "treat.matched_within_tenth.deep": flags(19, 25)},
    "C109": {"path.switch_03.rule_met.shallow": flags(1, 8), "path.switch_03.rule_met.deep": flags(0, 10),
             "path.switch_1.rule_met.shallow": flags(7, 8), "path.switch_1.rule_met.deep": flags(8, 10)},
    "C118": {"test1.P4.depth.correct": 6, "test1.P1.correct": 8},
}  # fmt: skip


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_own_counts_hold(name):
    """Known answers: with the counts that the paper reports, at its n, its claim holds."""
    claim = next(claim for claim in CLAIMS if claim.id == name)
    readings = {key: given if isinstance(given, tuple) else (float(given),) for key, given in PAPER[name].items()}
    quantities = world() | {key: Quantity(value=given[0], digits=2, tolerance=0.0, values=given) for key, given in readings.items()}
    assert judge_claim(claim, Readings(quantities, {}, np.random.default_rng(0))).verdict == "holds"


def world(values=(1.0, 1.0, 1.0)) -> dict[str, Quantity]:
    """Every reading that the claims need, all the same."""
    return {key: Quantity(value=1.0, digits=2, tolerance=0.0, values=values) for key in needed_readings()}


def judged(**changes) -> Claims:
    """The record of a made-up study."""
    verdicts = {name: "met" for name in needed_verdicts()}
    return judge_claims(PROVENANCE, world() | changes, verdicts, np.random.default_rng(0))


def test_record():
    """Counts add up to all rows and are recomputed from their flags; the record reads back as it was written, and has a schema."""
    claims = judged()
    counts = [claims.holds, claims.does_not_hold, claims.undecided, claims.not_testable]
    assert sum(count.value for count in counts) == claims.of.value == 134 and claims.not_testable.value == 13
    assert all(sum(flags) == 1 for flags in zip(*(count.values for count in counts), strict=True))
    text = record_bytes(claims)
    assert parse_model(Claims, json.loads(text), "claims.json") == claims and Claims.model_json_schema()["title"] == "Claims"
    faults = [(key, fault) for key, quantity in walk_quantities(json.loads(text)) if (fault := summary_fault(parse_model(Quantity, quantity, key)))]
    assert faults == []


def row(claims: Claims, name: str):
    """One row of a record."""
    return next(row for row in claims.rows if row.id == name)


def test_one_counterexample_changes_the_verdict():
    """No untreated network recovers, then one of three does; the row shows the count, its interval and the other recovery beside it."""
    zeros = Quantity(value=0, digits=0, style="integer", tolerance=0.0, summary="count", values=(0, 0, 0))
    one = zeros.model_copy(update={"value": 1, "values": (0, 1, 0)})
    key = "main.untreated.recovered_rank.deep"
    kept, lost, few = (row(judged(**{key: reading}), "C004") for reading in (zeros, one, zeros.model_copy(update={"values": (0, 0)})))
    assert (kept.verdict, lost.verdict, few.verdict) == ("holds", "does not hold", "undecided")
    assert lost.evidence[0].satisfied == lost.evidence[0].satisfied.model_copy(update={"value": 1, "values": (0, 1, 0)})
    assert kept.evidence[0].high.value == pytest.approx(0.71, abs=0.006) and kept.evidence[0].observed == zeros
    assert [item.key for item in kept.beside] == ["main.untreated.recovered_effective.shallow", "main.untreated.recovered_effective.deep"]


def test_not_testable_says_what_is_missing():
    """No relation, no verdict by rule: the reason names what is missing, and context is printed all the same."""
    claims = judged()
    assert row(claims, "C134").reason == "the paper's scale and hardware" and row(claims, "C134").relation is None
    assert row(claims, "C115").verdict == "not testable" and row(claims, "C115").beside[0].key == "test1.main.rho"


def test_a_missing_reading_is_an_error():
    """A study that did not measure something gets no claims page, instead of one with a gap."""
    quantities = world()
    del quantities["hyst.ratio.deep"]
    with pytest.raises(Refusal, match="no reading 'hyst.ratio.deep'"):
        judge_claims(PROVENANCE, quantities, {name: "met" for name in needed_verdicts()}, np.random.default_rng(0))
    with pytest.raises(Refusal, match="no verdict on path-1.P2"):
        judge_claims(PROVENANCE, world(), {}, np.random.default_rng(0))


def test_the_papers_misses_hold_where_ours_are_missed():
    """What the paper reports as missed holds here if it is missed here too."""
    missed = [part.prediction for claim in JUDGED for part in walk(claim.relation) if isinstance(part, Registered) and part.outcome == "missed"]
    assert missed == ["path-1.P1", "burst-1.T2"] and row(judged(), "C056").verdict == "does not hold"
