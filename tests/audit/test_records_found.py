"""A record is looked at wherever the project may keep one, and no project can keep one where nobody looks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project import Project, Training, counted

from audit import gate
from audit.config import load_config
from audit.context import Context
from audit.finding import Refusal
from audit.verify import verify

NAMED = 'version = 1\n[records]\nmain = "results/analyse/main.json"\ntop = "results/top.json"\n'


@pytest.fixture
def with_top(ran: Project) -> Project:
    """A project that also keeps a record directly in `results/`, and timings beside it."""
    with ran.inside():
        run = gate.start(stage="calibrate", parameters={})
        run.finish(Training(provenance=run.provenance, score=counted([1, 1])), "results/top.json")
    ran.write("results/bench.json", '{"seconds": 1}')
    ran.commit("A record at the top")
    return ran


def test_a_record_directly_in_results_is_checked(with_top: Project) -> None:
    """It is counted, and an extra key in it is found; timings without a run log are no record."""
    assert "results/top.json" in Context.open(with_top.root).record_paths
    assert "results/bench.json" not in Context.open(with_top.root).record_paths
    record = json.loads(with_top.read("results/top.json"))
    with_top.write("results/top.json", json.dumps(record | {"extra": 1}))
    found = {(finding.code, finding.place) for finding in verify(Context.open(with_top.root)).findings}
    assert ("A302", "results/top.json") in found


def test_a_named_record_stays_one_without_its_run_log(with_top: Project) -> None:
    """Taking its run log away does not take it out of sight: `audit.toml` names it."""
    with_top.write("audit.toml", NAMED)
    with_top.git("rm", "-q", "results/top.run.json")
    with_top.commit("No run log")
    found = {(finding.code, finding.place) for finding in verify(Context.open(with_top.root)).findings}
    assert "results/top.json" in Context.open(with_top.root).record_paths and ("A305", "results/top.run.json") in found


@pytest.mark.parametrize("path", ["out/main.json", "results/main.txt", "main.json"])
def test_nobody_can_keep_a_record_out_of_sight(ran: Project, path: str) -> None:
    """`audit.toml` and a finishing run that name such a place are refused in one line, with the place that is looked at."""
    with ran.inside():
        run = gate.start(stage="calibrate", parameters={})
        with pytest.raises(Refusal, match=r"names a record where no check looks; expected results/\*\*\.json; found .*; cure: write it there"):
            run.finish(Training(provenance=run.provenance, score=counted([1])), path)
    assert not (ran.root / path).exists()
    ran.write("audit.toml", f'version = 1\n[records]\nmain = "{path}"\n')
    with pytest.raises(Refusal, match="names a record where no check looks"):
        load_config(Path(ran.root))
