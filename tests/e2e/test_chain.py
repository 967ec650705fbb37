"""From data to PDF: every stage ran, every number stands where it should, and doing it again changes nothing."""

from __future__ import annotations

import json
import re
import resource

import pytest
from smoke import TEX, WITHOUT_TEX, Repository

from audit.limits import POINTER

CELLS = [f"{stage}@main-{role}" for stage in ("collapse", "branch", "path") for role in ("shallow", "deep")]
STAGES = ["data", "calibrate", *CELLS, "analyse", "evaluate", "audit", "render", *(["paper"] if TEX else [])]
RECORDS = [
    "results/data/data.json", "results/calibrate/calibration.json", "results/analyse/main.json", "results/evaluate/pilot.json",
    *(f"results/{stage}/main-{role}.json" for stage in ("collapse", "branch", "path") for role in ("shallow", "deep")),
]  # fmt: skip
needs_tex = pytest.mark.skipif(not TEX, reason=WITHOUT_TEX)


def verdicts(repository: Repository) -> dict[str, str]:
    """Prediction -> verdict, as the record has it."""
    record = json.loads(repository.read("results/evaluate/pilot.json"))
    return {row["id"]: row["verdict"] for row in record["predictions"]}


def test_every_stage_left_its_outputs(made: Repository) -> None:
    """Records with their run logs, saved states, figures, macros and tables are there and committed."""
    tracked = set(made.tracked())
    assert {*RECORDS, *(path.replace(".json", ".run.json") for path in RECORDS), "dvc.lock", "prereg/pilot.seal.json"} <= tracked
    assert {path.stem for path in (made.root / "results/figures").iterdir()} >= {"treatments", "path", "hysteresis"}
    assert all((made.root / f"states/main-{role}/states.safetensors").stat().st_size > 1000 for role in ("shallow", "deep"))
    assert {path.name for path in (made.root / "manuscript/generated").iterdir()} >= {"macros.tex", "predictions.tex", "arms.tex", "calibration.tex"}
    assert list((made.root / ".checkpoints").rglob("*.safetensors")) == []


def test_networks_collapsed_and_came_back(made: Repository) -> None:
    """The study did something: both networks settled in a collapse, and the full switch brought both back."""
    both = json.loads(made.read("results/analyse/main.json"))["both"]
    assert both["events"]["driven"]["value"] == both["events"]["settled"]["value"] == 2
    assert both["arms"]["untreated"]["recovered_rank"]["value"] == 0 and both["arms"]["switch_1"]["recovered_effective"]["value"] == 2


def test_every_prediction_was_judged(made: Repository) -> None:
    """Each registered prediction has one of the three verdicts, on the seed that derives from the seal, and stands in the table."""
    found = verdicts(made)
    assert list(found) == re.findall(r"^ *- id: (\S+)$", made.read("prereg/pilot.yaml"), re.MULTILINE) and set(found.values()) <= {"met", "missed", "undecided"}
    table = made.read("manuscript/generated/predictions.tex")
    assert all(re.search(rf"^{name} & .* & {verdict} \\\\", table, re.MULTILINE) for name, verdict in found.items())
    seeds = made.audit("seeds", "pilot").out
    assert [f": {seed}\n" in seeds for seed in json.loads(made.read("results/collapse/main-deep.json"))["provenance"]["seeds"]] == [True]


def test_verify_holds(made: Repository) -> None:
    """`audit verify` says line by line that everything holds, as text and as JSON."""
    text, report = made.audit("verify"), made.audit("verify", "--format", "json")
    assert (text.code, report.code) == (0, 0), text.text
    lines = text.out.splitlines()
    assert lines[-3].startswith("read: ") and lines[-2:] == [POINTER, f"holds: {len(lines) - 3} checks, 0 findings, 0 not checked, {0 if TEX else 1} notes"]
    assert all(line.startswith("ok ") for line in lines[:-3])
    value = json.loads(report.out)
    assert value["exit"] == 0 and [check["name"] for check in value["checks"]] == [line.split()[1] for line in lines[:-3]]


@needs_tex
def test_pdf_shows_the_verdicts(made: Repository) -> None:
    """The PDF has pages, every prediction's verdict in the table, and no place where a value is missing."""
    pages = int(re.search(r"^Pages: +(\d+)$", made.must("pdfinfo", "manuscript/paper.pdf").out, re.MULTILINE)[1])  # type: ignore[index]
    text = made.must("pdftotext", "-layout", "manuscript/paper.pdf", "-").out
    assert 3 <= pages <= 12 and "??" not in text
    for name, verdict in verdicts(made).items():
        assert re.search(rf"^ *{name} .* {verdict}$", text, re.MULTILINE), f"{name} {verdict}"


def test_doing_it_again_changes_nothing(repository: Repository) -> None:
    """`dvc repro` skips all but the audit, says so, takes seconds, and leaves every tracked file as it was."""
    before, begin = repository.tracked(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = repository.must("dvc", "repro", *(() if TEX else ("audit", "render")))
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    assert re.findall(r"Running stage '(.+)'", done.out) == ["audit"]
    assert re.findall(r"Stage '(.+)' didn't change, skipping", done.out) == [stage for stage in STAGES if stage != "audit"]
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
