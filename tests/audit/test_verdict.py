"""The judge: every comparator at, above and below its target, and nothing else in between."""

from __future__ import annotations

import json

import pytest
from project import Project

from audit.close import main as close
from audit.context import Context
from audit.evaluate import main as evaluate_main
from audit.finding import Refusal, Severity
from audit.judged import compute_verdicts
from audit.quantities import find_quantity, summarise, summary_fault
from audit.records import Provenance, Quantity
from audit.registration import Comparator, Metric, Prediction, Reading, Undecided
from audit.verdict import judge_prediction, reading_of
from audit.verify import verify


def quantity(value: float, values: list[float] | None = None) -> dict[str, object]:
    return {"value": value, "unit": "1", "digits": 1, "tolerance": 0} | ({"values": values} if values else {})


RECORD = {
    "three": quantity(3, [1, 3, 5]),
    "two": quantity(2, [0, 3, 3]),
    "settled": quantity(4),
    "short": quantity(1, [1]),
    "text": {"value": "3", "unit": "1", "digits": 0, "tolerance": 0},
}


def prediction(key: str = "three", undecided: Undecided | None = None, **comparator: object) -> Prediction:
    metric = Metric(file="results/a/a.json", stage="a", key=key)
    return Prediction(id="P1", claim="It is so.", metric=metric, comparator=Comparator(**comparator), undecided=undecided, null="It is not.")


CASES = [
    ({"op": ">=", "value": 3}, "met"),
    ({"op": ">=", "value": 3.0000001}, "missed"),
    ({"op": ">", "value": 3}, "missed"),
    ({"op": ">", "value": 2.9}, "met"),
    ({"op": "<=", "value": 3}, "met"),
    ({"op": "<", "value": 3}, "missed"),
    ({"op": "==", "value": 3}, "met"),
    ({"op": "==", "value": 4}, "missed"),
    ({"op": "in", "low": 3, "high": 4}, "met"),
    ({"op": "in", "low": 3.5, "high": 4}, "missed"),
    ({"op": ">=", "value": 3, "units": 2}, "met"),
    ({"op": ">=", "value": 3, "units": 3}, "missed"),
    ({"op": "in", "low": 0, "high": 4, "units": 2}, "met"),
    ({"op": "in", "low": 0, "high": 4, "units": 3}, "missed"),
    ({"op": ">", "than": "two"}, "met"),
    ({"op": "<", "than": "two"}, "missed"),
    ({"op": ">", "than": "two", "units": 2}, "met"),
    ({"op": ">", "than": "two", "units": 3}, "missed"),
]


@pytest.mark.parametrize(("comparator", "wanted"), CASES, ids=str)
def test_comparators(comparator: dict[str, object], wanted: str) -> None:
    """Each comparator, on the edge and beside it."""
    assert judge_prediction(prediction(**comparator), RECORD).verdict == wanted


def test_undecided_comes_before_met() -> None:
    """A validity count below its line leaves the prediction undecided, whatever the metric says."""
    rule = Undecided(key="settled", op="<", value=5)
    assert judge_prediction(prediction(op=">=", value=3, undecided=rule), RECORD).verdict == "undecided"
    assert judge_prediction(prediction(op=">=", value=9, undecided=rule), RECORD).verdict == "undecided"
    enough = Undecided(key="settled", op="<", value=4)
    assert judge_prediction(prediction(op=">=", value=3, undecided=enough), RECORD).verdict == "met"


@pytest.mark.parametrize(
    ("key", "comparator", "words"),
    [
        ("threee", {"op": ">", "value": 1}, "no quantity at key 'threee'; found nearest keys: three"),
        ("text", {"op": ">", "value": 1}, "is not valid"),
        ("settled", {"op": ">", "value": 1, "units": 1}, "a comparison per unit needs one value per unit"),
        ("three", {"op": ">", "than": "short", "units": 1}, "a comparison per unit needs one value per unit"),
        ("three", {"op": ">", "than": "none"}, "no quantity at key 'none'"),
        ("three.value", {"op": ">", "value": 1}, "key 'three.value' ends at no quantity"),
    ],
)
def test_metric_that_no_record_has(key: str, comparator: dict[str, object], words: str) -> None:
    """A key that resolves to nothing, to text or to too few values is refused, with the nearest keys."""
    with pytest.raises(Refusal) as refusal:
        judge_prediction(prediction(key, **comparator), RECORD)
    assert words in str(refusal.value)


def test_reading_is_the_first_that_fits(ran: Project) -> None:
    """The reading fixed in advance is chosen by the verdicts, and by nothing else."""
    registration = ran.context().registrations["pilot"]
    both = registration.model_copy(update={"readings": (Reading(when={"P1": "met"}, text="one"), Reading(when={"P2": "met"}, text="two"))})
    assert reading_of(both, {"P1": "met", "P2": "met"}) == "one"
    assert reading_of(both, {"P1": "missed", "P2": "met"}) == "two"
    assert reading_of(both, {"P1": "missed", "P2": "missed"}) is None


SUMMARIES = [("median", [3, 1, 2], 2), ("mean", [1, 2], 1.5), ("min", [2, 1], 1), ("max", [2, 1], 2), ("sum", [1, 2], 3), ("count", [0, 1, 2], 2), ("share", [0, 1], 0.5)]


@pytest.mark.parametrize(("summary", "values", "wanted"), SUMMARIES)
def test_summaries_are_computed_again(summary: str, values: list[float], wanted: float) -> None:
    """A summary that follows passes, one that is off by a little does not."""
    assert summarise(summary, values) == wanted
    assert summary_fault(Quantity(value=wanted, digits=1, tolerance=0, summary=summary, values=tuple(values))) is None
    assert summary_fault(Quantity(value=wanted + 1e-6, digits=1, tolerance=0, summary=summary, values=tuple(values))) == repr(summarise(summary, values))


def test_quantity_in_a_list_is_found_by_index() -> None:
    """List items are named by their index."""
    assert find_quantity({"a": [quantity(1), quantity(2)]}, "a.1", "here").value == 2


def test_every_prediction_can_be_missed_on_another_record(ran: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """`audit evaluate --on FILE` judges a permuted outcome and writes nothing."""
    record = json.loads(ran.read("results/analyse/main.json"))
    record["arms"]["treated"], record["arms"]["untreated"] = record["arms"]["untreated"], record["arms"]["treated"]
    ran.write("permuted.json", json.dumps(record))
    before = ran.git("status", "--short")
    with ran.inside():
        evaluate_main("pilot", "permuted.json", None)
    out = capsys.readouterr().out
    assert "P1   missed" in out and "P2   missed" in out and "0 of 2 met on this record (nothing written)" in out
    assert ran.git("status", "--short") == before


def test_evaluation_is_deterministic(ran: Project) -> None:
    """Judging again writes the same bytes."""
    before = ran.read("results/evaluate/pilot.json")
    ran.evaluate()
    assert ran.read("results/evaluate/pilot.json") == before


UNITS = [
    ({"op": ">=", "value": 3, "units": 2}, (0, 1, 1), "met"),
    ({"op": ">=", "value": 3, "units": 3}, (0, 1, 1), "missed"),
    ({"op": ">", "than": "two", "units": 2}, (1, 0, 1), "met"),
    ({"op": ">=", "value": 3}, None, "met"),
]


@pytest.mark.parametrize(("comparator", "flags", "verdict"), UNITS, ids=str)
def test_verdicts_show_how_many_units(ran: Project, comparator: dict[str, object], flags: tuple[int, ...] | None, verdict: str) -> None:
    """Where a prediction is about units its row counts those that compare as registered, decided or not; elsewhere there is no count."""
    rule = Undecided(key="settled", op="<", value=5)
    pair = (prediction(**comparator), prediction(**comparator, undecided=rule).model_copy(update={"id": "P2"}))
    registration = ran.context().registrations["pilot"].model_copy(update={"predictions": pair, "readings": ()})
    provenance = Provenance(stage="evaluate", seals={}, parameters="0" * 64, seeds=(), data={})
    rows = compute_verdicts(registration, provenance, None, lambda _: RECORD).predictions
    assert [row.verdict for row in rows] == [verdict, "undecided"]
    for row in rows:
        found = row.units
        assert found is None if flags is None else (found.value, found.values, found.summary) == (sum(flags), flags, "count")


def test_evaluate_waits_for_the_seal(drafted: Project) -> None:
    """Without a committed seal there is no verdict, and no file."""
    drafted.write("results/analyse/main.json", "{}")
    with pytest.raises(Refusal, match="the registration is not sealed"):
        drafted.evaluate()
    assert not (drafted.root / "results/evaluate").exists()


def test_judging_reads_the_sealed_copy(ran: Project) -> None:
    """A metric in a frozen output is read from the copy under the seal, whatever the live record says."""
    from audit.evaluate import metric_files

    context = ran.context()
    registration = context.registrations["pilot"]
    moved = registration.model_copy(
        update={"predictions": (prediction("line", op=">=", value=0).model_copy(update={"metric": Metric(file="results/calibrate/calibration.json", stage="c", key="line")}),)}
    )
    assert metric_files(context, moved) == {"results/calibrate/calibration.json": "prereg/pilot/calibration.json"}


def test_closed_registration_lets_the_code_move_on(ran: Project) -> None:
    """After `audit close` frozen code may change and records may be made anew, verdicts standing; before, the same change is a finding."""
    ran.edit("judge.py", "0.5", "0.4")
    assert verify(ran.context()).code == 1
    ran.git("checkout", "-q", "judge.py")
    with ran.inside():
        close("pilot")
    ran.commit("Close the pilot")
    assert json.loads(ran.read("prereg/pilot.outcome.json"))["verdicts"] == {"P1": "met", "P2": "met"}
    ran.edit("judge.py", "0.5", "0.4")
    ran.commit("The next engine")
    ran.analyse((1, 1, 0))
    ran.evaluate()
    ran.lock()
    ran.commit("Other results")
    report = verify(ran.context())
    assert report.code == 0, [finding.line() for finding in report.findings]


def test_outcome_counts_once_committed(ran: Project) -> None:
    """An outcome that no commit holds frees no code: it is noted, and the frozen code is still checked."""
    with ran.inside():
        close("pilot")
    report = verify(ran.context())
    assert report.code == 0 and [finding.what for finding in report.findings if finding.code == "A114"] == ["is not committed and counts for nothing yet"]
    ran.edit("judge.py", "0.5", "0.4")
    report = verify(ran.context())
    assert [finding.code for finding in report.findings if finding.severity == Severity.FINDING] == ["A105"]
    assert not ran.context().outcomes


def test_closing_is_refused_twice_and_while_dirty(ran: Project) -> None:
    """An outcome is written once, from committed records that give its verdicts."""
    (ran.root / "results/evaluate/pilot.json").write_text(ran.read("results/evaluate/pilot.json").replace('"met"', '"missed"'))
    with ran.inside(), pytest.raises(Refusal, match="results/evaluate/pilot.json: differs from the committed file"):
        close("pilot")
    ran.git("checkout", "-q", "results")
    with ran.inside():
        close("pilot")
        with pytest.raises(Refusal, match="the registration is closed already"):
            close("pilot")


def test_wrong_verdict_cannot_be_closed(ran: Project) -> None:
    """A committed verdict that the records do not give stops the closing."""
    ran.edit("results/evaluate/pilot.json", '"verdict": "met"', '"verdict": "missed"')
    ran.commit("A typed verdict")
    with ran.inside(), pytest.raises(Refusal, match="is not what the committed records give"):
        close("pilot")
    assert not (ran.root / "prereg/pilot.outcome.json").exists()


def test_unknown_registration_is_named(ran: Project) -> None:
    """A misspelt id names those there are."""
    with ran.inside(), pytest.raises(Refusal, match="no such registration; found registered: pilot"):
        evaluate_main("pilto", None, None)
    assert Context.open(ran.root).registrations.keys() == {"pilot"}
