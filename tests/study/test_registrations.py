"""The registrations of the replication, judged on a study made by hand: every key is there, and each prediction comes out as it must."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
from test_path_tests import TESTS

from audit.load import read_yaml
from audit.records import record_bytes
from audit.registration import parse_registration
from audit.verdict import judge, reading_of
from rankcollapse.chances import chance_of_count, chance_of_difference, chance_of_page, delay_chances, path_chances

ROOT = Path(__file__).parents[2]
PREREG = ROOT / "prereg"
NAMES = ("path-1", "delay-1", "ageing-1", "order-1", "function-1", "epsilon-1")
REGISTRATIONS = {
    name: parse_registration((PREREG / f"{name}.yaml").read_bytes(), f"prereg/{name}.yaml") for name in (*NAMES, "design", "replication-1")
}
RECORD = json.loads(record_bytes(TESTS))
VERDICTS = {
    "path-1": {"P1": "missed", "P2": "met", "P3": "met", "P4": "met"},
    "delay-1": {"D1": "met", "D2": "met", "D3": "met", "D4": "met"},
    "ageing-1": {"A1": "met", "A2": "met", "A3": "met"},
    "order-1": {"O1": "met", "O2": "met", "O3": "met"},
    "function-1": {"R1": "missed", "R2": "missed", "R3": "missed"},
    "epsilon-1": {"E1": "undecided", "E2": "undecided"},
}
"""By what stands beside the study: six of eight right, one opening not restored, one rank without function, two of four far from unigram;
four copies with a smaller epsilon are too few."""


def put(record: dict, key: str, **values) -> dict:
    """A copy of a record with one quantity changed."""
    changed = json.loads(json.dumps(record))
    place = changed
    for part in key.split("."):
        place = place[part]
    place.update(values)
    return changed


def verdicts_of(name: str, record: dict) -> dict[str, str]:
    """What a registration says of a record."""
    return {judgement.prediction.id: judgement.verdict for judgement in judge(REGISTRATIONS[name], lambda _: record)}


@pytest.mark.parametrize("name", NAMES)
def test_verdicts(name):
    """As they follow from the study made by hand; and some reading fixed in advance fits."""
    assert verdicts_of(name, RECORD) == VERDICTS[name] and reading_of(REGISTRATIONS[name], VERDICTS[name])


@pytest.mark.parametrize(
    ("name", "prediction", "key", "values", "verdict"),
    [
        ("path-1", "P1", "test1.classified.correct", {"value": 7, "values": [1, 1, 1, 1, 1, 1, 1, 0]}, "met"),
        ("path-1", "P1", "test1.classified.least_class", {"value": 1}, "undecided"),
        ("path-1", "P1", "test1.classified.fitted", {"value": 1}, "undecided"),
        ("path-1", "P2", "test1.opening.p_networks", {"value": 0.051}, "missed"),
        ("path-1", "P2", "test1.opening.rho", {"value": -0.42}, "missed"),
        ("path-1", "P2", "test1.opening.strata", {"value": 3}, "undecided"),
        ("path-1", "P4", "test1.residual.rho", {"value": -0.96}, "missed"),
        ("path-1", "P3", "test1.rho_hinge.rho", {"value": -0.96}, "missed"),
        ("delay-1", "D1", "delay.deep.p", {"value": 0.051}, "missed"),
        ("delay-1", "D1", "delay.deep.seeds", {"value": 2}, "undecided"),
        ("delay-1", "D2", "delay.deep.returns", {"value": 1, "values": [1, 0, 0, 0]}, "missed"),
        ("delay-1", "D2", "delay.mixed.deep", {"value": 0, "values": [0, 0, 0, 0]}, "undecided"),
        ("delay-1", "D3", "delay.deep.lost", {"value": 1, "values": [1, 0, 0, 0]}, "missed"),
        ("delay-1", "D4", "delay.slowing_difference", {"value": 0.0}, "missed"),
        ("ageing-1", "A1", "ageing.unrestored.embeddings_mlp", {"value": 2}, "missed"),
        ("ageing-1", "A2", "ageing.restored.query_key", {"value": 2}, "missed"),
        ("ageing-1", "A2", "ageing.fallen", {"value": 3}, "undecided"),
        ("ageing-1", "A3", "ageing.falls_L", {"value": 200}, "missed"),
        ("order-1", "O1", "order.short", {"value": 2}, "missed"),
        ("order-1", "O2", "order.events", {"value": 3}, "undecided"),
        ("order-1", "O2", "order.healthy_ordered", {"value": 2}, "missed"),
        ("order-1", "O3", "order.beaten", {"value": 2}, "missed"),
        ("function-1", "R1", "function.shallow.rank_alone", {"value": 2}, "met"),
        ("function-1", "R2", "function.shallow.recovered_effective", {"value": 0}, "met"),
        ("function-1", "R3", "function.shallow.events", {"value": 2}, "undecided"),
        ("epsilon-1", "E1", "epsilon.events", {"value": 7}, "missed"),
        ("epsilon-1", "E2", "epsilon.events", {"value": 7}, "met"),
    ],
)
def test_each_can_come_out_otherwise(name, prediction, key, values, verdict):
    """One quantity changed, and one prediction with it: at the target's edge, and where too little is there to decide."""
    assert verdicts_of(name, put(RECORD, key, **values))[prediction] == verdict


def declared(name: str) -> dict[str, float]:
    """The chances that a registration states."""
    found = {prediction.id: prediction.null.chance for prediction in REGISTRATIONS[name].predictions}
    return {prediction: chance for prediction, chance in found.items() if chance is not None}


def test_declared_chances():
    """Each is the chance of four seeds at two depths by the library, rounded up at the fourth digit; P2's is the level of its exact p."""
    path, delay, seven_of_eight, three_of_four, eleven_of_twelve = path_chances(4, 2, 3, -0.43), delay_chances(4, 4), chance_of_count(8, 7), chance_of_count(4, 3), chance_of_count(12, 11)
    wanted = {
        "path-1": {"P1": path["P1"].value, "P2": 0.05},
        "delay-1": {"D1": delay["D1"].value, "D2": 1 / 4, "D3": chance_of_difference(4, 2), "D4": delay["D4"].value},
        "ageing-1": {"A1": three_of_four, "A2": three_of_four, "A3": chance_of_page(8, 4)},
        "order-1": {"O1": 1e-6, "O2": three_of_four, "O3": three_of_four},
        "function-1": {"R1": chance_of_count(4, 2), "R2": 0.5**4, "R3": 0.5**4},
        "epsilon-1": {"E1": 0.5**7},
        "replication-1": {"M1": 0.5**8, "M2": 0.5**8, "M3": 0.5**4, "M4": seven_of_eight, "M9": seven_of_eight},
        "design": {"M1": 0.5**12, "M2": 0.5**12, "M3": 0.5**6, "M4": eleven_of_twelve, "M9": eleven_of_twelve},
    }  # fmt: skip
    assert path["P2"].value == pytest.approx(0.0383, abs=1e-4) and path["P2"].value < 0.05
    for name, chances in wanted.items():
        found = declared(name)
        assert found.keys() == chances.keys(), name
        for prediction, chance in chances.items():
            assert -1e-5 < found[prediction] - chance < 1.1e-4, (name, prediction)


def test_the_replication_repeats_the_design():
    """Word for word, but for the record, the seed set and how many networks there are: all of them but one, of twelve and of eight."""
    one, other = (REGISTRATIONS[name] for name in ("design", "replication-1"))
    assert one.readings == other.readings
    for mine, again in zip(one.predictions, other.predictions, strict=True):
        assert (mine.id, mine.claim, mine.metric.key, mine.comparator.keys()) == (again.id, again.claim, again.metric.key, again.comparator.keys())
        assert [part.op for part in mine.comparator.parts()] == [part.op for part in again.comparator.parts()]
        for registered, driven in ((mine, 12), (again, 8)):
            least = registered.comparator.units or (registered.comparator.value if registered.comparator.op == ">=" else None)
            assert least in (None, driven - 1), registered.id
            assert registered.undecided[0].value == (driven - 1 if registered.id != "M3" else driven // 2 - 1)


def test_runs_of_main_wait_for_the_design_alone():
    """No stage of main is named by what is sealed after it; what shares seeds freezes the same outputs."""
    design, path = REGISTRATIONS["design"], REGISTRATIONS["path-1"]
    for name in (*NAMES, "replication-1"):
        own = REGISTRATIONS[name]
        assert not set(own.stages) & {*design.stages, "thresholds", "summary"} and own.freezes.outputs == path.freezes.outputs
        assert own.seed_owner == "path-1" and own.holds_for == path.holds_for
    assert set(design.freezes.outputs) < set(path.freezes.outputs)


def test_too_few_collapses_leave_the_classification_open():
    """With six events seven cannot be right: that is undecided by the count of events, and not missed."""
    few = put(put(RECORD, "test1.classified.events", value=6), "test1.classified.correct", value=6, values=[1] * 6)
    assert verdicts_of("path-1", few)["P1"] == "undecided"


def test_the_pipeline_forecasts_before_it_trains():
    """What is forecast is an input of what it is about: of the replication's switches, and of what follows the bursts."""
    plan = read_yaml(ROOT / "dvc.yaml")["stages"]
    after = {name: item["after"] for name, item in plan["switch"]["foreach"].items()}
    assert {after["replication-shallow"], after["replication-deep"]} == {"results/forecast/path.json"}
    assert "${item.after}" in plan["switch"]["do"]["deps"] and "results/bursts/forecast.json" in plan["continuation"]["deps"]


@pytest.fixture
def load():
    """Imports a stage, and forgets it afterwards: the gate refuses a process that has loaded one of another checkout."""
    yield importlib.import_module
    for name in [name for name in sys.modules if name.partition(".")[0] == "stages"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("module", "words", "forecast"),
    [
        ("stages.switch", ("replication", "deep"), "results/forecast/path.json"),
        ("stages.switch", ("main", "deep"), None),
        ("stages.continuation", (), "results/bursts/forecast.json"),
    ],
)
def test_run_logs_name_the_forecast(module, words, forecast, monkeypatch, load):
    """The gate asks for it, so that nothing is trained without it, and its digest stands in the run log; main has none."""
    asked = []

    def stop(*values, **more):
        asked.extend(str(path) for value in values if isinstance(value, list) for path in value)
        raise InterruptedError

    stage = load(module)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(stage, "cell" if words else "open_gate", stop)
    with pytest.raises(InterruptedError):
        stage.body(*words)
    assert [path for path in asked if "forecast" in path] == ([forecast] if forecast else [])
