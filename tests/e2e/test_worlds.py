"""Each registered prediction about a seed set can lose: in a world made for it by exchanging labels it is missed.

Those that need more networks than are driven here lose their own worlds in tests/study/test_permuted.py, bursts in test_burst_registration.py,
spectra in test_spectral_registration.py.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import tarfile
from functools import cache
from pathlib import Path

import pytest
from permuted import World, arm_worlds, summary_worlds
from smoke import CHECKOUT, Repository

from audit.records import Provenance, read_json, read_model, record_bytes
from audit.registration import parse_registration
from audit.verdict import judge
from rankcollapse.arm_records import SetRecords
from rankcollapse.params import load_params
from rankcollapse.path_tests import evaluate_path, forecast_set
from rankcollapse.records_tests import MainThresholds
from rankcollapse.stage import load_calibration, load_set
from rankcollapse.summary import summarise_set

SETS = {"design": "main", "replication-1": "replication"}
OWN = ("function-1", "epsilon-1")
WORLDS = summary_worlds("ramp") | arm_worlds("ramp")
"""Of networks that hardly learn: a switch to 0.3 opens too little for their first weights, the reversed ramp ends at a skip scale of 1."""
NOWHERE = Provenance(stage="elsewhere", seals={}, parameters="0" * 64, seeds=(), data={})


def same(records):
    """The outcome as it was."""
    return records


@cache
def load_records(root: Path, name: str) -> SetRecords:
    """The records of a seed set below the folder that we are in, which no test changes; a world is a copy."""
    return load_set(name)


def summarise_world(name: str, world: World) -> dict:
    """The summary of a seed set after its records were changed, in the folder that we are in."""
    return json.loads(record_bytes(summarise_set(NOWHERE, load_params().chosen, load_calibration(), world(load_records(Path.cwd(), name)))))


def measure_world(_: str, world: World) -> dict:
    """The registered quantities of the replication after its records were changed, its forecasts made anew from what was read."""
    records, scale, main = world(load_records(Path.cwd(), "replication")), load_params().chosen, read_model(MainThresholds, Path("results/thresholds/main.json"))
    forecast = forecast_set(NOWHERE, scale, records.readings, main)
    return json.loads(record_bytes(evaluate_path(NOWHERE, scale, load_calibration(), records, main, forecast)))


def judge_world(root: Path, name: str, world: World = same) -> dict[str, str]:
    """Prediction -> verdict of a registration, after the records of a checkout were changed and summarised again."""
    with contextlib.chdir(root):
        record = (summarise_world if name in SETS else measure_world)(SETS.get(name, "replication"), world)
        registration = parse_registration(Path(f"prereg/{name}.yaml").read_bytes(), f"prereg/{name}.yaml")
        return {judgement.prediction.id: judgement.verdict for judgement in judge(registration, lambda _: record)}


def recorded_verdicts(root: Path, name: str) -> dict[str, str]:
    """Prediction -> verdict, as the record has it."""
    return {row["id"]: row["verdict"] for row in read_json(root / f"results/evaluate/{name}.json")["predictions"]}


def predictions(name: str) -> list[str]:
    """The predictions of a registration as it lies here."""
    return [row.id for row in parse_registration((CHECKOUT / f"prereg/{name}.yaml").read_bytes(), f"prereg/{name}.yaml").predictions]


CASES = [(name, prediction) for name in (*SETS, *OWN) for prediction in predictions(name)]


def test_each_prediction_has_its_world() -> None:
    """No prediction of these registrations is left out."""
    assert all(set(summary_worlds("ramp")) == set(predictions(name)) for name in SETS)
    assert set(arm_worlds("ramp")) == {prediction for name in OWN for prediction in predictions(name)}


@pytest.mark.parametrize("name", (*SETS, *OWN))
def test_the_world_as_it_is_gives_the_recorded_verdicts(made: Repository, name: str) -> None:
    """Nothing exchanged, the same way of judging gives what the pipeline recorded."""
    assert judge_world(made.root, name) == recorded_verdicts(made.root, name)


@pytest.mark.parametrize(("name", "prediction"), [case for case in CASES if case[1] != "M9"])  # a collapse seen at the ramp's first step has no order
def test_prediction_can_be_missed(made: Repository, name: str, prediction: str) -> None:
    """In its world the prediction is missed on the records of the smoke run."""
    assert judge_world(made.root, name, WORLDS[prediction])[prediction] == "missed"


MET = [("design", "M1"), ("design", "M2"), ("replication-1", "M1"), ("replication-1", "M2"), ("function-1", "R2"), ("epsilon-1", "E1")]


@pytest.mark.parametrize(("name", "prediction"), MET)
def test_exchanging_labels_is_what_does_it(made: Repository, name: str, prediction: str) -> None:
    """As the records are, these are met."""
    assert recorded_verdicts(made.root, name)[prediction] == "met"


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The committed records and registrations of this checkout, whatever a run is making of the working tree."""
    root = tmp_path_factory.mktemp("committed")
    archive = subprocess.run(["git", "archive", "HEAD", "results", "prereg", "params.yaml"], cwd=CHECKOUT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(root, filter="data")
    if not (root / "results/evaluate/replication-1.json").exists():
        pytest.skip("the whole study has no committed results at its registered scale yet")
    return root


@pytest.mark.parametrize(("name", "prediction"), [case for case in CASES if case[0] in SETS])
def test_prediction_can_be_missed_at_the_registered_scale(committed: Path, name: str, prediction: str) -> None:
    """On the committed records, with the registered targets, exchanging labels gives missed, unless too few collapses had settled."""
    wanted = "undecided" if recorded_verdicts(committed, name)[prediction] == "undecided" else "missed"
    assert judge_world(committed, name, summary_worlds("switch_03")[prediction])[prediction] == wanted
