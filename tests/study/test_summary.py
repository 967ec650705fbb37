"""The summary of a seed set: records made by hand for what joins two depths, and one tiny real set for every key that claims read."""

from __future__ import annotations

import pytest
from corpora import refusal
from made_records import CALIBRATION, branch, end, event, make_cell, records_of, replay
from one_set import SCALE, provenance, run_in
from test_ramp_summary import ramp

from audit.records import Quantity, record_bytes
from rankcollapse import quantity_forms, reading_summary
from rankcollapse.arm_records import Dip
from rankcollapse.claim_table import CLAIMS
from rankcollapse.claims import needed_readings
from rankcollapse.evidence import Readings as Found
from rankcollapse.records_results import Summary, gather
from rankcollapse.recoveries import FAILING
from rankcollapse.summary import summarise_set, value_events

BACK, GONE = (1, 1, 3, 3, 3), (1.0,) * 5
ELSEWHERE = ("test1.", "burst.", "calib.", "intact.", "synth.", "force.audit.", "repl.force.")
"""Keys of other records, and what compares two sets."""


def summarise(*cells) -> Summary:
    """The summary of both roles."""
    return summarise_set(provenance("summary"), SCALE, CALIBRATION, records_of(*cells))


def failing(seed: int, **back):
    """Arms that stay at the floor, three steps of a loss arm each; `back` names those that recover."""
    return [branch(arm, seed, BACK if arm in back else GONE, row={"term": "none" if arm == "untreated" else arm.split("_")[0], "added_target": 0.1})
            for arm in FAILING]  # fmt: skip


def test_both_is_shallow_then_deep():
    """Values one after the other, summarised anew; a key of one role alone stays as it is."""
    found = summarise(
        make_cell("shallow", branches=[ramp(1), ramp(2, GONE)], switches=[branch("switch_06", 1, BACK)]), make_cell("deep", (2, 3), [ramp(2), ramp(3)])
    )
    both = gather(found.both)
    assert both["ramp.recovered_rank"].values == (1, 0, 1, 1) and both["ramp.recovered_rank"].value == 3
    assert both["ramp.T_rec"].values == (4, 10, 4, 4) and both["ramp.T_rec"].value == 4 and both["ramp.T_rec"].unit == "steps"
    assert both["switch_06.T_rec"] == gather(found.shallow)["switch_06.T_rec"] and "switch_06.T_rec" not in gather(found.deep)
    assert both["recovered.loss_gap_end"].values == (2.0,) * 4 and both["ramp.T_recovered"].values == (4, 4, 4)


def test_depths_are_paired_by_seed():
    """Seed 2 alone collapsed at both depths: never back in the shallow network, at 0.7 in the deep one."""
    shallow = make_cell("shallow", (1, 2), [ramp(1), ramp(2, GONE)])
    both = gather(summarise(shallow, make_cell("deep", (2, 3), [ramp(2), ramp(3)])).both)
    assert (both["hyst.by_seed.skip_shallow"].values, both["hyst.by_seed.skip_deep"].values) == ((1.1,), (0.7,))
    assert "hyst.by_seed.skip_deep" not in gather(summarise(shallow, make_cell("deep", (3, 4), [ramp(3), ramp(4)])).both)


INTERPRETED = {"none comes back": ({}, 1), "a hinge does": ({"hinge_4x": True}, 0), "an untreated copy does": ({"untreated": True}, 0)}


@pytest.mark.parametrize("kind", INTERPRETED)
def test_the_row_fixed_in_advance(kind):
    """Both losses fail and the untreated copies stay, at both depths; not said where an arm was not tried."""
    back, expected = INTERPRETED[kind]
    shallow = make_cell("shallow", (1,), failing(1))
    key = "interpretation.both_fail_untreated_stays"
    assert gather(summarise(shallow, make_cell("deep", (1,), failing(1, **back))).both)[key].value == expected
    assert key not in gather(summarise(shallow, make_cell("deep", (1,), failing(1)[1:])).both)


def test_what_became_of_the_drivers():
    """Flags in the order of the drivers: seeds 1 and 2 settled, 5 dipped and healed, 6 dipped and was still low at its end."""
    record = make_cell(unsettled=(5, 6)).drivers
    dip = Dip(seed=5, detected=15, measurements=1, lowest=1.2, healed=True)
    low = dip.model_copy(update={"seed": 6, "healed": False})
    assert value_events(record.model_copy(update={"dips": (dip, low)})) == {
        "events.driven": (1, 1, 1, 1), "events.settled": (1, 1, 0, 0), "events.dips": (0, 0, 1, 1), "events.healed": (0, 0, 1, 0),
        "events.unsettled": (0, 0, 1, 1),
    }  # fmt: skip


def test_collapses_in_numbers():
    """Loss 5 and healthy 3 beside a unigram loss of 5.25: 2 of 2.25 nats; a rank at floor is 1; a control that knows nothing has no gap."""
    cell = make_cell(seeds=(1,))
    found = reading_summary.value_collapses(cell)
    assert found["collapse.gap_over_unigram_gap"] == pytest.approx((8 / 9,)) and found["collapse.loss_minus_unigram"] == (-0.25,)
    assert (found["collapse.rank"], found["collapse.skip"], found["collapse.gap"], found["collapse.loss"]) == ((1.25,), (0.12,), (2.0,), (5.0,))
    assert found["collapse.gap_at_detection"] == (2.0,)
    floored = make_cell(seeds=(1,))
    object.__setattr__(floored, "drivers", floored.drivers.model_copy(update={"events": (event(1, at_floor=True),)}))
    assert reading_summary.value_collapses(floored)["collapse.rank"] == (1.0,) and reading_summary.value_collapses(floored)["collapse.at_floor"] == (1,)
    object.__setattr__(cell, "readings", cell.readings.model_copy(update={"unigram_loss": 2.5}))
    assert reading_summary.value_collapses(cell)["collapse.gap_over_unigram_gap"] == (0.0,)


def test_ends_in_numbers():
    """Force of four times over one at the ends of the same collapse, whatever the order of the rows; entropy from 0.97 to 0.9."""
    ends = [end("hinge_1x", 2, 0.2), end("hinge_1x", 1, 0.1), end("hinge_4x", 1, 0.5), end("hinge_4x", 2, 0.6), end("penalty_4x", 1, 0.08)]
    ends += [end("penalty_1x", 1, 0.01), end("penalty_1x", 2, 0.03), end("untreated", 1), end("untreated", 2, entropy=0.95)]
    found = reading_summary.value_ends(make_cell(ends=ends))
    assert found["force.hinge_4x_over_1x"] == pytest.approx((5, 3)) and found["force.penalty_4x_over_1x"] == pytest.approx((8,))
    assert found["force.hinge_1x.rho_end"] == (0.1, 0.2) and "force.untreated.rho_end" not in found
    assert (found["hinge_1x.rank_end_first"], found["hinge_1x.rank_end_middle"], found["hinge_1x.rank_end_last"]) == ((4, 4), (2, 2), (1.5, 1.5))
    assert found["hinge_1x.rank_end_first_over_healthy"] == (1, 1) and found["hinge_1x.rank_end_last_over_healthy"] == (0.375, 0.375)
    assert found["untreated.loss_minus_unigram_end"] == pytest.approx((-0.25, -0.25))
    assert found["untreated.entropy_start"] == pytest.approx((0.97, 0.97)) and found["untreated.entropy_end"] == pytest.approx((0.9, 0.95))
    assert found["untreated.entropy_change"] == pytest.approx((-0.07, -0.02))


def test_replays_in_numbers():
    """By event and number of updates; errors of all that were logged; a replay that is missing is refused in one line."""
    rows = [replay(seed, skip, number, 1.0 + number / 10 * seed) for seed in (1, 2) for skip in (0.3, 1.0) for number in (4, 20)]
    found = reading_summary.value_paths(make_cell(replays=[*rows[:-1], replay(2, 1.0, 20, 5.0, None)]))
    assert found["path.switch_03.rank_above_after_4"] == (0, 0) and found["path.switch_03.rank_above_after_20"] == (1, 1)
    assert found["path.replay.error"] == (0.01,) * 7 and "path.replay.error" not in reading_summary.value_paths(make_cell())
    line = refusal(reading_summary.value_paths, make_cell(replays=rows[:-1]))
    assert line == "summary deep: seed 2: its replays are not those of the first collapse; cure: run the stage switch again"


def test_what_cannot_be_summarised():
    """No event at a role, readings of other events: one line each."""
    good = make_cell("shallow")
    drivers = good.drivers.model_copy(update={"events": ()})
    records = records_of(good, make_cell("deep"))
    empty = records._replace(drivers={"shallow": good.drivers, "deep": drivers})
    line = refusal(summarise_set, provenance("summary"), SCALE, CALIBRATION, empty)
    assert line == "summary deep: no collapse of the set settled; cure: hold longer (driver.hold), or other seeds"
    other = records._replace(readings={**records.readings, "shallow": make_cell(seeds=(1, 3)).readings})
    line = refusal(summarise_set, provenance("summary"), SCALE, CALIBRATION, other)
    assert line == "summary shallow: collapses and readings differ; expected seeds 1, 2; found seeds 1, 3; cure: run the stages again"


def test_forms():
    """A median of steps may lie between two; a flag is counted; a name that the table lacks is an error of the programmer's."""
    steps = quantity_forms.form_of("delay_1.T_rec").make((10, 11), SCALE)
    assert (steps.value, steps.style, steps.digits, steps.unit, steps.tolerance) == (10.5, "fixed", 0, "steps", 0.5)
    assert quantity_forms.form_of("path.switch_03.rank_above_after_20").make((1.0, 0.0), SCALE) == Quantity(
        value=1, digits=0, style="integer", tolerance=0.0, summary="count", values=(1, 0)
    )
    assert quantity_forms.form_of("collapse.gap_over_unigram_gap").unit == "1" and quantity_forms.form_of("collapse.gap").unit == "nats"
    with pytest.raises(ValueError, match="no form for a.stranger"):
        quantity_forms.form_of("a.stranger")


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A tiny set from calibration to switches."""
    return run_in(tmp_path_factory.mktemp("set"))


@pytest.fixture(scope="module")
def summary(real):
    """Its summary."""
    return summarise_set(provenance("summary"), SCALE, real.calibration, real.records)


def split(key: str) -> tuple[str, str]:
    """A claim's key as the record has it: the tree, and the key in it."""
    key = key.removeprefix("main.").removeprefix("repl.")
    stem, _, role = key.rpartition(".")
    return (role, stem) if role in ("shallow", "deep") else ("both", key)


def test_every_key_of_the_claims_is_there(summary):
    """But for what other records hold, and times of what did not recover."""
    trees = {name: gather(getattr(summary, name)) for name in ("shallow", "deep", "both")}
    wanted = [split(key) for key in needed_readings(CLAIMS) if not key.startswith(ELSEWHERE) and not key.endswith(".rho_over_main.shallow")]
    absent = [f"{role}.{key}" for role, key in wanted if key not in trees[role] and not key.endswith("T_recovered")]
    assert absent == [f"{role}.{key}" for role, key in wanted if key.startswith("recovered.") and key not in trees[role]]
    assert len(wanted) > 150


def test_a_summary_is_read_back(summary):
    """A record of finite numbers, the same bytes as it was written with, and every value's summary follows from its values."""
    assert record_bytes(Summary.model_validate_json(record_bytes(summary))) == record_bytes(summary)
    for quantity in gather(summary.both).values():
        assert quantity.values and min(quantity.values) <= quantity.value <= max(quantity.values) or quantity.summary == "count"


def test_a_real_set_agrees_with_its_records(real, summary):
    """Times, gaps and flags of one arm, taken from the trajectories again; the ramp's steps to 0.3 are those of its schedule."""
    for role, tree in (("shallow", summary.shallow), ("deep", summary.deep)):
        found, records, own = gather(tree), real.records, getattr(real.calibration, role)
        seeds = [event.seed for event in records.drivers[role].events]
        rows = [next(row for row in records.switched[role].branches if row.arm == "delay_3" and row.seed == seed) for seed in seeds]
        controls = {row.seed: dict(zip(row.trajectory.step, row.trajectory.loss, strict=True)) for row in records.treated[role].controls}
        gaps = [row.trajectory.loss[-1] - controls[row.seed][row.trajectory.step[-1]] for row in rows]
        assert found["delay_3.loss_gap_end"].values == pytest.approx(gaps, rel=1e-12)
        assert found["delay_3.rank_end_over_threshold"].values == pytest.approx([row.trajectory.rank[-1] / own.recover_threshold.value for row in rows])
        assert found["hyst.steps_to_03_over_arithmetic"].value == pytest.approx(1, rel=1e-9) and found["path.replay.error"].value < 1e-4
        assert found["delay_0.T_rec"] == found["switch_03.T_rec"] and len(found["switch_06.T_rec"].values) == 1


def test_the_evidence_of_claims_reads_it(summary):
    """Under the names that claims use, with values of the same events side by side."""
    quantities = {f"{key}.deep": quantity for key, quantity in gather(summary.deep).items()}
    rows = Found(quantities, {}, None).rows(("force.penalty_1x.rho", "force.cosine_1x.rho", "force.hinge_4x.rho"), "deep")
    assert len(rows) == 2 and all(len(row) == 3 for row in rows)
