"""The claims' readings from made-up records: every key and no other, both seed sets in their order, ratios, and gaps that are named."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pytest
from made_bursts import CALIBRATION as ROLE_CALIBRATION
from made_bursts import judge_world, provenance
from made_pure import pure_record
from made_spectral import drawn_maps, spectral_results, spectral_runs
from one_set import SCALE

from audit.quantities import summary_fault
from audit.records import Quantity, Refusal
from rankcollapse.arm_records import Checks, HingeChecks, Intact, IntactArm
from rankcollapse.burst_claims import claim_quantities
from rankcollapse.claim_readings import Sources, gather_claims
from rankcollapse.claims import judge_claims, needed_readings, needed_verdicts
from rankcollapse.evidence import count, number
from rankcollapse.params import ROLES
from rankcollapse.quantities import exact
from rankcollapse.records import Calibration, FloorRow
from rankcollapse.records_readings import Synthetic
from rankcollapse.records_results import Summary, plant
from rankcollapse.spectral_claims import claim_quantities as spectral_quantities
from rankcollapse.synthetic import read_curve

ELSEWHERE = ("calib.", "intact.", "synth.", "force.audit.", "burst.", "test1.")
SHARED = ("path.", "recovered.", "controls.")
FLAGS = ("recovered_rank", "rank_above_before", "settled")


def keys_of(name: str) -> dict[str, list[str]]:
    """Which keys a seed set's summary must hold for the claims, by tree."""
    found: dict[str, list[str]] = {"shallow": [], "deep": [], "both": []}
    for key in needed_readings():
        other = key.startswith("repl.")
        if key.startswith(ELSEWHERE) or (not key.startswith(SHARED) and other != (name == "replication") and "_over_main" not in key):
            continue
        stem, _, role = key.removeprefix("repl.").removeprefix("main.").replace("_over_main", "").rpartition(".")
        tree, leaf = (role, stem) if role in ROLES else ("both", f"{stem}.{role}")
        found[tree] += [leaf] if leaf not in found[tree] else []
    return found


def quantity(key: str, values: tuple[float, ...]) -> Quantity:
    """A flag or a median, as summaries have them."""
    if key.endswith(FLAGS):
        return count([value > 2 for value in values])
    return Quantity(value=float(np.median(values)), digits=2, tolerance=0.5, summary="median", values=values)


VALUES = {"main": (1.0, 2.0, 3.0), "replication": (4.0, 5.0, 6.0, 8.0)}


def summary_of(name: str, without: tuple[str, ...] = (), **changed: Mapping[str, Quantity]) -> Summary:
    """A seed set whose every reading has the same values; `without` are keys that it lacks."""
    trees = {
        tree: plant({key: changed.get(tree, {}).get(key, quantity(key, VALUES[name])) for key in keys if key not in without})
        for tree, keys in keys_of(name).items()
    }
    return Summary(provenance=provenance("summary"), **trees)


def calibration_of() -> Calibration:
    """Three floors: none, one and both of two seeds settle as it falls; the middle one is chosen."""
    grid = tuple(
        FloorRow(floor=exact(floor, digits=3), settled=count(flags), stayed=count(flags), effective=count(flags))
        for floor, flags in ((0.04, [False, False]), (0.02, [True, False]), (0.01, [True, True]))
    )
    roles = {role: ROLE_CALIBRATION.model_copy(update={"grid": grid, "edge": exact(edge, digits=3)}) for role, edge in (("shallow", 0.01), ("deep", 0.02))}
    return Calibration(provenance=provenance("calibrate"), floor=exact(0.02, digits=3), **roles)


def checks_of(role: str) -> Checks:
    """Two calibration collapses; one recovers under ten times the hinge."""
    hinge = HingeChecks(every=count([False, False]), last=count([False, False]), tenfold=count([False, True]))
    return Checks(
        provenance=provenance("checks"), role=role, depth=2, floor=0.02, settled=(101, 102), unsettled=(), stayed=count([True, True]), hinge=hinge,
        weak_grid=(), weak_scale=exact(0.1, digits=3), weak_in_band=True, drivers=(), branches=(),
    )  # fmt: skip


def intact_of(role: str) -> Intact:
    """Two networks under the weight-decay ramp and three gains; one is detected at the largest."""
    arms = tuple(
        IntactArm(arm=arm, detected=count([arm == "gain_16", False]), settled=count([False, False])) for arm in ("decay", "gain_4", "gain_8", "gain_16")
    )
    return Intact(provenance=provenance("intact"), role=role, depth=2, healthy_rank=4.0, threshold=1.8, arms=arms, warm=(), runs=())


def synthetic_of() -> Synthetic:
    """The real curve at four distances from rank one."""
    return Synthetic(provenance=provenance("synthetic"), tokens=256, width=128, points=read_curve((1.0, 0.1, 0.01, 0.001), 0))


@pytest.fixture(scope="module")
def sources():
    """Records of a whole study."""
    path = {key: quantity(key, VALUES["replication"]) for key in needed_readings() if key.startswith("test1.")}
    return Sources(
        calibration_of(), {role: checks_of(role) for role in ROLES}, {role: intact_of(role) for role in ROLES},
        summary_of("main"), summary_of("replication"), path, claim_quantities(judge_world()), synthetic_of(), pure_record(),
        spectral_quantities(spectral_results(), drawn_maps(), spectral_runs(), spectral_results(), SCALE),
    )  # fmt: skip


def test_every_key_and_no_other(sources):
    """In the order in which the claims need them; every summary follows from its values; all claims are judged on them."""
    found = gather_claims(sources)
    assert list(found) == needed_readings() and len([key for key in found if not key.startswith(("pure.", "attention.", "drawn.", "restart."))]) == 306
    assert {key for key, own in found.items() if summary_fault(own)} == set()
    record = judge_claims(provenance("claims"), found, dict.fromkeys(needed_verdicts(), "met"), np.random.default_rng(0))
    assert len(record.rows) == 134 and record.holds.value + record.does_not_hold.value + record.undecided.value + record.not_testable.value == 134


def test_both_seed_sets_together(sources):
    """Main's events first; the summary is computed again over all; flags are counted; what is over both roles is joined too."""
    found = gather_claims(sources)
    assert found["path.collapsed.orders.deep"].values == (1, 2, 3, 4, 5, 6, 8) and found["path.collapsed.orders.deep"].value == 4
    assert found["path.switch_1.rank_above_before.shallow"].values == (0, 0, 1, 1, 1, 1, 1) and found["path.switch_1.rank_above_before.shallow"].value == 5
    assert found["path.replay.error"].value == 4 and len(found["controls.last_dip_over_ramp_start.deep"].values) == 7
    assert found["recovered.loss_gap_end.shallow"].values == (1, 2, 3, 4, 5, 6, 8)


def test_one_seed_set_alone(sources):
    """`main.` and no prefix are main's, `repl.` is the replication's; roles stand in their trees, pairs of depths in both."""
    found = gather_claims(sources)
    assert found["main.delay_0.T_rec.shallow"].values == found["force.hinge_4x.rho.deep"].values == found["hyst.by_seed.skip_deep"].values == (1, 2, 3)
    assert found["repl.delay_0.T_rec.shallow"].values == found["repl.hyst.by_seed.skip_shallow"].values == (4, 5, 6, 8)


def test_forces_over_main(sources):
    """Each event of the replication over main's median."""
    main = summary_of("main", shallow={"force.penalty_1x.rho": quantity("rho", (0.002, 0.004, 0.1))})
    found = gather_claims(sources._replace(main=main))
    assert found["repl.force.penalty_1x.rho_over_main.shallow"].values == pytest.approx((1000, 1250, 1500, 2000))
    assert found["repl.force.penalty_1x.rho_over_main.deep"].values == (2, 2.5, 3, 4)
    assert (found["force.audit.penalty"].value, found["force.audit.hinge"].value) == (0.002, 1)


def test_calibration(sources):
    """By falling floor, whatever their order; from the chosen floor down; thresholds and edges as frozen; all checks of the hinge together."""
    turned = {role: getattr(sources.calibration, role).model_copy(update={"grid": getattr(sources.calibration, role).grid[::-1]}) for role in ROLES}
    for calibration in (sources.calibration, sources.calibration.model_copy(update=turned)):
        found = gather_claims(sources._replace(calibration=calibration))
        assert found["calib.crossed_by_falling_floor.deep"].values == (0, 1, 2)
        assert found["calib.collapsed_from_floor_down.deep"].values == (1, 0, 1, 1)
    assert found["calib.edge.deep"].value == 0.02 and found["calib.edge.shallow"].value == 0.01 and found["calib.threshold.deep"].value == 2.0
    assert found["calib.untreated.stayed.shallow"].values == (1, 1) and found["calib.hinge_checks.recovered_rank.deep"].values == (0, 0, 0, 0, 0, 1)


def test_intact_and_synthetic(sources):
    """The weight-decay ramp under the claims' name; the curve in the order of its distances, whatever that of its points."""
    found = gather_claims(sources)
    assert found["intact.wd_ramp.detected.deep"].values == (0, 0) and found["intact.gain_16.detected.shallow"].values == (1, 0)
    points = {point.delta: point.cosine for point in sources.synthetic.points}
    assert found["synth.cosine"].values == tuple(points[delta] for delta in (0.001, 0.01, 0.1, 1.0))
    assert found["synth.penalty.error"].value < 1e-5 and 0 < found["synth.hinge.spread_below_tenth"].value < 0.01


MISSING = {
    "main.delay_1.T_rec.shallow": dict(main=("delay_1.T_rec",)),
    "repl.untreated.recovered_rank.shallow": dict(replication=("untreated.recovered_rank",)),
    "path.collapsed.orders.shallow": dict(replication=("path.collapsed.orders",)),
    "main.interpretation.both_fail_untreated_stays": dict(main=("interpretation.both_fail_untreated_stays",)),
    "main.delay_3.recovered_rank.shallow": dict(main=("delay_3.T_recovered", "delay_3.recovered_rank")),
}


@pytest.mark.parametrize("key", MISSING)
def test_a_missing_reading_is_named(sources, key):
    """A summary that lacks a key, in one of two sets or with what would say that there is nothing, stops the gathering there."""
    changed = {name: summary_of(name, without) for name, without in MISSING[key].items()}
    with pytest.raises(Refusal, match=f"no reading '{re.escape(key)}'"):
        gather_claims(sources._replace(**changed))


@pytest.mark.parametrize("part", ["path", "bursts"])
def test_what_the_tests_hand_over_may_not_be_short(sources, part):
    """A reading of a registered test that was not handed over is named."""
    first, *_ = getattr(sources, part)
    short = {key: own for key, own in getattr(sources, part).items() if key != first}
    with pytest.raises(Refusal, match="no reading"):
        gather_claims(sources._replace(**{part: short}))


def test_nothing_recovered(sources):
    """Readings of what recovered have no values where nothing did: of one set the other's alone, of both none, and claims on them are open."""
    gone = ("recovered.loss_gap_end", "recovered.gap_end_over_gap_saved", "delay_2.T_recovered")
    found = gather_claims(sources._replace(main=summary_of("main", gone)))
    assert found["recovered.loss_gap_end.deep"].values == (4, 5, 6, 8) and found["main.delay_2.T_recovered.shallow"].values == ()
    found = gather_claims(sources._replace(main=summary_of("main", gone), replication=summary_of("replication", gone)))
    assert found["recovered.loss_gap_end.deep"].values == () and {key for key, own in found.items() if summary_fault(own)} == set()
    record = judge_claims(provenance("claims"), found, dict.fromkeys(needed_verdicts(), "met"), np.random.default_rng(0))
    assert {row.verdict for row in record.rows if row.id in ("C053", "C054")} == {"undecided"}


def test_no_seed_at_both_depths(sources):
    """Pairs of depths have no values where the recoveries are there and no pair is."""
    pairs = ("hyst.by_seed.skip_shallow", "hyst.by_seed.skip_deep")
    alone = summary_of("main", pairs).model_copy(update={"both": plant({key: quantity(key, (1.0,)) for key in ("hyst.skip_at_recovery", *OTHERS)})})
    assert gather_claims(sources._replace(main=alone))["hyst.by_seed.skip_deep"].values == ()


OTHERS = tuple(key for key in keys_of("main")["both"] if not key.startswith("hyst.by_seed"))


def test_one_reading_has_one_summary(sources):
    """A count in one set and a median in the other are not joined."""
    other = summary_of("replication", deep={"path.collapsed.orders": count([True])})
    with pytest.raises(Refusal, match="path.collapsed.orders.deep is summarised in two ways"):
        gather_claims(sources._replace(replication=other))


def test_values_are_needed(sources):
    """A reading without values per event cannot be joined."""
    with pytest.raises(Refusal, match="has no values per event"):
        gather_claims(sources._replace(main=summary_of("main", deep={"path.collapsed.orders": number(1.0)})))
