"""From data to PDF: every stage ran, every number stands where it should, and doing it again changes nothing."""

from __future__ import annotations

import json
import re
import resource

import pytest
from course import SEALED, WHOLE, cells
from smoke import TEX, WITHOUT_TEX, Repository

from audit.limits import POINTER
from audit.load import read_yaml

SETS = ("main", "replication")
CELLS = [name for stage in ("collapse", "branch", "path", "switch") for name in cells(stage, *SETS)]
SOME = [
    "data", "calibrate", *cells("checks"), *CELLS, "thresholds", "forecast", "burst", "spectral", "drawn_maps", "claims",
    *(f"evaluate@{name}" for name in SEALED), "render",
]  # fmt: skip
needs_tex = pytest.mark.skipif(not TEX, reason=WITHOUT_TEX)


def stages(repository: Repository) -> list[str]:
    """Every stage of the pipeline, in its order, but what LaTeX is needed for where it is missing."""
    listed = repository.must("dvc", "stage", "list", "--name-only").out.split()
    return [name for name in listed if TEX or name != "paper"]


def verdicts(repository: Repository, name: str) -> dict[str, str]:
    """Prediction -> verdict, as the record of a registration has it."""
    record = json.loads(repository.read(f"results/evaluate/{name}.json"))
    assert record["evaluated"] is True
    return {row["id"]: row["verdict"] for row in record["predictions"]}


def test_every_stage_left_its_outputs(made: Repository) -> None:
    """Each stage is in the lock; each of its outputs is there, each record committed with its run log, and no checkpoint is left."""
    locked, tracked = read_yaml(made.root / "dvc.lock")["stages"], set(made.tracked())
    assert set(SOME) <= set(locked) and set(locked) == set(stages(made))
    outs = [out["path"] for stage in locked.values() for out in stage.get("outs", ())]
    records = [path for path in outs if path.startswith("results/") and path.endswith(".json")]
    assert all((made.root / path).exists() for path in outs) and set(records) <= tracked and len(records) > 80
    logged = {path.removesuffix(".run.json") for path in records if path.endswith(".run.json")}
    assert logged == {path.removesuffix(".json") for path in records if not path.endswith(".run.json")} - {"results/audit/findings"}
    assert {f"prereg/{name}.seal.json" for name in SEALED} <= tracked
    assert all((made.root / f"states/{name}-{role}/states.safetensors").stat().st_size > 1000 for name in SETS for role in ("shallow", "deep"))
    assert list((made.root / ".checkpoints").rglob("*.safetensors")) == []


@pytest.mark.parametrize(("name", "driven"), [("main", 2), ("replication", 4)])
def test_networks_collapsed_and_came_back(made: Repository, name: str, driven: int) -> None:
    """The study did something: every driven network settled in a collapse, no untreated one came back, and the reversed ramp brought each back."""
    both = json.loads(made.read(f"results/summary/{name}.json"))["both"]
    assert both["events"]["driven"]["value"] == both["events"]["settled"]["value"] == driven
    assert both["untreated"]["recovered_rank"]["value"] == 0 and both["ramp"]["recovered_effective"]["value"] == driven


@pytest.mark.parametrize("name", SEALED)
def test_every_prediction_was_judged(made: Repository, name: str) -> None:
    """Each registered prediction has one of the three verdicts, and stands in the table of all predictions."""
    found = verdicts(made, name)
    assert list(found) == re.findall(r"^ *- id: (\S+)$", made.read(f"prereg/{name}.yaml"), re.MULTILINE)
    assert set(found.values()) <= {"met", "missed", "undecided"}


def test_pilot_stays_closed(made: Repository) -> None:
    """The registration of the former, smaller study keeps the verdicts it was closed with."""
    assert verdicts(made, "pilot") == json.loads(made.read("prereg/pilot.outcome.json"))["verdicts"]


OWNED = [
    ("design", "collapse/main-deep"), ("path-1", "switch/replication-shallow"), ("burst-1", "bursts/excursions"), ("spectral-1", "spectral/runs"), ("spectral-2", "restart/runs"),
]  # fmt: skip


@pytest.mark.parametrize(("owner", "record"), OWNED)
def test_seeds_derive_from_the_seal(made: Repository, owner: str, record: str) -> None:
    """A record's seeds are those that `audit seeds` derives, and it names the seal they derive from."""
    provenance = json.loads(made.read(f"results/{record}.json"))["provenance"]
    shown = made.audit("seeds", owner).out
    assert provenance["seeds"] and all(f": {seed}\n" in shown for seed in provenance["seeds"])
    assert owner in provenance["seals"]


def test_verify_holds(made: Repository) -> None:
    """`audit verify` says line by line that everything holds, as text and as JSON."""
    text, report = made.audit("verify"), made.audit("verify", "--format", "json")
    assert (text.code, report.code) == (0, 0), text.text
    lines = text.out.splitlines()
    checks, notes = [line.split()[1] for line in lines if line.startswith("ok ")], [line for line in lines if " note: " in line]
    assert lines[-2:] == [POINTER, f"holds: {len(checks)} checks, 0 findings, 0 not checked, {len(notes)} notes"]
    assert notes[0] == "A115 prereg/pilot.yaml note: not evaluated here: scale is 'smoke', registered for 'laptop'"
    assert len(notes) == (1 if TEX else 2)
    value = json.loads(report.out)
    assert value["exit"] == 0 and [check["name"] for check in value["checks"]] == checks


@needs_tex
def test_pdf_shows_the_verdicts(made: Repository) -> None:
    """The PDF has pages, every prediction's verdict in a table, and no place where a value is missing."""
    pages = int(re.search(r"^Pages: +(\d+)$", made.must("pdfinfo", "manuscript/paper.pdf").out, re.MULTILINE)[1])  # type: ignore[index]
    text = made.must("pdftotext", "-layout", "manuscript/paper.pdf", "-").out
    assert 3 <= pages <= 60 and "??" not in text
    for name in SEALED:
        for prediction, verdict in verdicts(made, name).items():
            assert re.search(rf"^ *{prediction}\*? .* {verdict}$", text, re.MULTILINE), f"{name}.{prediction} {verdict}"


def test_doing_it_again_changes_nothing(repository: Repository) -> None:
    """`dvc repro` skips all but the audit, says so, takes seconds, and leaves every tracked file as it was."""
    before, begin = repository.tracked(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = repository.must("dvc", "repro", *WHOLE)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    assert re.findall(r"Running stage '(.+)'", done.out) == ["audit"]
    skipped = re.findall(r"Stage '(.+)' didn't change, skipping", done.out)
    assert len(skipped) == len(set(skipped)) and set(skipped) == set(stages(repository)) - {"audit"}
    assert repository.tracked() == before and repository.git("status", "--porcelain") == ""
    assert spent < 15, f"{spent:.1f} s of processor time"


def test_a_stage_made_again_gives_the_same_bytes(repository: Repository) -> None:
    """Forced to train again, a stage writes the same record and the same states; only its run log tells the two apart."""
    before, states = repository.tracked(), (repository.root / "states/main-shallow/states.safetensors").read_bytes()
    done = repository.must("dvc", "repro", "--force", "--single-item", "collapse@main-shallow")
    assert "Running stage 'collapse@main-shallow'" in done.out
    after = repository.tracked()
    assert {path for path in before if after.get(path) != before[path]} == {"results/collapse/main-shallow.run.json", "dvc.lock"}
    assert (repository.root / "states/main-shallow/states.safetensors").read_bytes() == states
