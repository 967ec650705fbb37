"""The statements of the further texts: complete, each able to win and to lose, and counted apart from the source paper's claims."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_pure import pure_record
from made_spectral import drawn_maps, spectral_results, spectral_runs
from one_set import SCALE
from test_claims import draw, judged, reachable, world

from audit.records import Quantity, Refusal
from rankcollapse.claim_table import CLAIMS
from rankcollapse.claim_table_texts import NOTE, TUTORIAL
from rankcollapse.claims import judge_claim, judge_claims, needed_readings, needed_verdicts
from rankcollapse.evidence import Readings
from rankcollapse.records_pure import gather_pure
from rankcollapse.spectral_claims import claim_quantities

JUDGED = [claim for claim in TUTORIAL if claim.relation]
PURE = gather_pure(pure_record())


def test_every_statement_stands_once():
    """Ids in order, short wording, no text twice, and none that the source paper's table has."""
    assert [claim.id for claim in TUTORIAL] == [f"T{number:02d}" for number in range(1, len(TUTORIAL) + 1)]
    assert all(claim.section and len(claim.paper) <= 90 for claim in TUTORIAL) and len({claim.paper for claim in TUTORIAL}) == len(TUTORIAL)
    assert not {claim.id for claim in CLAIMS} & {claim.id for claim in (*TUTORIAL, *NOTE)}
    assert {claim.id for claim in TUTORIAL if not claim.relation} == {claim.id for claim in TUTORIAL if claim.testable == "N"}


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_no_relation_is_bound_to_hold_or_to_fail(claim):
    """Among made-up worlds each statement holds in one, fails in another and is undecided in a third."""
    assert reachable(claim) == {"holds", "does not hold", "undecided"} and draw(claim, np.random.default_rng(0))


def test_every_reading_is_in_the_record():
    """Nothing that a statement is judged from, or is shown beside it, is missing; none needs a verdict."""
    assert set(needed_readings(TUTORIAL)) <= set(PURE) and needed_verdicts(TUTORIAL) == []


VERDICTS = {
    "T01": "holds", "T02": "holds", "T03": "holds", "T05": "does not hold", "T07": "holds", "T08": "holds", "T09": "does not hold", "T10": "holds",
    "T11": "does not hold", "T13": "holds", "T14": "holds", "T15": "does not hold", "T16": "holds", "T17": "holds", "T20": "does not hold",
    "T25": "does not hold", "T26": "does not hold", "T30": "not testable", "T32": "holds", "T34": "holds", "T35": "does not hold", "T36": "holds",
}  # fmt: skip


def test_known_verdicts():
    """What theory decides comes out so at the smallest size too."""
    readings = Readings(PURE, {}, np.random.default_rng(0))
    assert {claim.id: judge_claim(claim, readings).verdict for claim in TUTORIAL if claim.id in VERDICTS} == VERDICTS


@pytest.mark.parametrize(
    ("name", "key", "values"),
    [
        ("T09", "pure.slope.fit", 2.0),
        ("T20", "pure.skip.rank_after", 99),
        ("T35", "pure.demonstration.four_at_floor", 0),
        ("T15", "pure.collapse.attention.causal.eighth", 1e-9),
    ],
)
def test_the_opposite_could_have_been_found(name, key, values):
    """A statement that does not hold holds with the reading that it foretells."""
    claim = next(claim for claim in TUTORIAL if claim.id == name)
    changed = PURE | {key: Quantity(value=values, digits=2, tolerance=0.0)}
    assert judge_claim(claim, Readings(changed, {}, np.random.default_rng(0))).verdict == "holds"


def test_counts_apart():
    """The source paper's counts are of its own rows; each text's add up to its own."""
    claims = judged(**PURE)
    own = claims.tutorial
    assert claims.of.value == len(claims.rows) == 134 and own.of.value == len(own.rows) == len(TUTORIAL)
    assert own.holds.value + own.does_not_hold.value + own.undecided.value + own.not_testable.value == own.of.value
    assert own.not_testable.value == 3 and claims.note.of.value == len(claims.note.rows) == len(NOTE)


def test_a_missing_reading_is_named():
    """A record that lacks what a statement needs stops the judging."""
    short = {key: own for key, own in (world() | PURE).items() if key != "pure.slope.fit"}
    with pytest.raises(Refusal, match=re.escape("no reading 'pure.slope.fit'")):
        judge_claims(pure_record().provenance, short, {name: "met" for name in needed_verdicts()}, np.random.default_rng(0))


SPECTRAL = claim_quantities(spectral_results(), drawn_maps(), spectral_runs(), spectral_results(), SCALE)
MET = {name: "met" for name in needed_verdicts(NOTE)}


def judge_note(name, verdicts=MET, **changes):
    """A row of the note on made-up records, with other readings for some."""
    changed = {key: Quantity(value=own, digits=2, tolerance=0.0, values=(own,)) for key, own in changes.items()}
    return judge_claim(next(claim for claim in NOTE if claim.id == name), Readings(SPECTRAL | changed, verdicts, np.random.default_rng(0)))


def test_the_notes_rows():
    """Ids in order, short wording; everything they read is handed over, and what is not testable says what is missing."""
    assert [claim.id for claim in NOTE] == [f"N{number}" for number in range(1, len(NOTE) + 1)] and all(len(claim.paper) <= 90 for claim in NOTE)
    assert set(needed_readings(NOTE)) <= set(SPECTRAL) and sorted(needed_verdicts(NOTE)) == [
        "spectral-1.S1", "spectral-1.S2", "spectral-2.R1", "spectral-2.S1", "spectral-2.S4",
    ]  # fmt: skip
    assert {claim.section for claim in NOTE if claim.missing} == {"C3", "C5", "predictor"}


@pytest.mark.parametrize("claim", [claim for claim in NOTE if claim.relation], ids=lambda claim: claim.id)
def test_the_notes_relations_are_not_bound(claim):
    """Each can come out every way, but for the counterexample, which is met or open."""
    assert reachable(claim) == {"holds", "undecided"} | ({"does not hold"} if claim.id != "N1" else set())


def test_the_note_on_made_up_records():
    """Survivors have benign maps and the fallen malignant ones, too few for a p; the theorem holds; two iterations fall short by more than a twentieth."""
    found = {claim.id: judge_note(claim.id).verdict for claim in NOTE}
    assert found["N1"] == found["N4"] == found["N6"] == found["N7"] == "holds" and found["N8"] == "does not hold"
    assert found["N3"] == found["N5"] == found["N9"] == "not testable" and found["N2"] == "does not hold"
    assert judge_note("N2", **{"restart.malignant.p": 0.04}).verdict == "holds"
    assert judge_note("N2", **{"restart.malignant.p": 0.04, "restart.fell": 0}).verdict == "undecided"
    assert found["N10"] == "holds" and judge_note("N10", **{"attention.sec_end.survived": 0.9}).verdict == "does not hold"
    assert judge_note("N1", **{"attention.maps.benign_survived": 0.0}).verdict == "undecided"
    for name, verdicts in {"N4": ("spectral-2.R1",), "N7": ("spectral-1.S1", "spectral-1.S2", "spectral-2.S1", "spectral-2.S4")}.items():
        assert {judge_note(name, MET | {verdict: "missed"}).verdict for verdict in verdicts} == {"does not hold"}


def test_without_both_fates_modes_say_nothing():
    """Where every network learns, the share of malignant maps tells nothing apart."""
    same = ("learns",) * 6
    lived = claim_quantities(spectral_results(same), drawn_maps(), spectral_runs(same), spectral_results(same), SCALE)
    row = judge_claim(NOTE[1], Readings(lived, MET, np.random.default_rng(0)))
    assert row.verdict == "undecided" and lived["restart.malignant.auc"].value == 0.5 and lived["restart.fell"].value == 0
