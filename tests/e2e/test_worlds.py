"""Each registered prediction can lose: in a world made for it by exchanging labels it is missed."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from permuted import WORLDS
from ruamel.yaml import YAML
from smoke import CHECKOUT, Repository

from audit.records import Provenance, read_json, read_model
from audit.registration import Registration, parse_registration
from audit.verdict import judge
from rankcollapse.analysis import analyse
from rankcollapse.manifest import DataManifest
from rankcollapse.params import ROLES, load_params
from rankcollapse.records import Branch, Calibration, Collapse
from rankcollapse.records import Path as PathRecord

PREDICTIONS = [row["id"] for row in YAML(typ="safe").load(CHECKOUT / "prereg/pilot.yaml")["predictions"]]
NOWHERE = Provenance(stage="analyse", seals={}, parameters="0" * 64, seeds=(), data={})


def read_registration(root: Path) -> Registration:
    """The registration as it lies in a checkout."""
    return parse_registration((root / "prereg/pilot.yaml").read_bytes(), "prereg/pilot.yaml")


def judge_world(root: Path, change_branches: Callable = lambda record: record, change_paths: Callable = lambda record: record) -> dict[str, str]:
    """Prediction -> verdict, after a checkout's records were changed and analysed again."""
    results = root / "results"
    collapsed = {role: read_model(Collapse, results / f"collapse/main-{role}.json") for role in ROLES}
    branched = {role: change_branches(read_model(Branch, results / f"branch/main-{role}.json")) for role in ROLES}
    paths = {role: change_paths(read_model(PathRecord, results / f"path/main-{role}.json")) for role in ROLES}
    calibration = read_model(Calibration, results / "calibrate/calibration.json")
    unigram = float(read_model(DataManifest, results / "data/data.json").unigram_entropy.value)
    main = analyse(NOWHERE, load_params(root / "params.yaml").chosen, calibration, collapsed, branched, paths, unigram)
    plain = main.model_dump(mode="json", exclude_none=True)
    return {judgement.prediction.id: judgement.verdict for judgement in judge(read_registration(root), lambda _: plain)}


def recorded_verdicts(root: Path) -> dict[str, str]:
    """Prediction -> verdict, as the record has it."""
    return {row["id"]: row["verdict"] for row in read_json(root / "results/evaluate/pilot.json")["predictions"]}


def test_each_prediction_has_its_world() -> None:
    """No prediction of the registration is left out."""
    assert set(WORLDS) == set(PREDICTIONS)


def test_the_world_as_it_is_gives_the_recorded_verdicts(made: Repository) -> None:
    """Nothing exchanged, the same way of judging gives what the pipeline recorded."""
    assert judge_world(made.root) == recorded_verdicts(made.root)


@pytest.mark.parametrize("name", PREDICTIONS)
def test_prediction_can_be_missed(made: Repository, name: str) -> None:
    """In its world the prediction is missed on the records of the smoke run."""
    assert judge_world(made.root, *WORLDS[name])[name] == "missed"


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The committed records and registration of this checkout, whatever a run is making of the working tree."""
    root = tmp_path_factory.mktemp("committed")
    archive = subprocess.run(["git", "archive", "HEAD", "results", "prereg", "params.yaml"], cwd=CHECKOUT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(root, filter="data")
    return root


@pytest.mark.parametrize("name", PREDICTIONS)
def test_prediction_can_be_missed_at_the_registered_scale(committed: Path, name: str) -> None:
    """On the committed records, with the registered targets, exchanging labels gives missed."""
    assert judge_world(committed, *WORLDS[name])[name] == "missed"


def test_exchanging_labels_is_what_does_it(committed: Path) -> None:
    """On the committed records as they are, the verdicts are the recorded ones, and some are met that are missed in their worlds."""
    here = judge_world(committed)
    assert here == recorded_verdicts(committed)
    assert "met" in here.values()
