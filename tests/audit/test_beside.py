"""A stage that a registration names, run on another known seed set: beside the registration, unless what is judged was made from it."""

from __future__ import annotations

import pytest
from project import Analysis, Project, Training, counted

from audit.beside import is_beside
from audit.verify import verify

DEEP = "results/train/deep.json"


@pytest.fixture
def beside(ran: Project) -> Project:
    """After the pilot's runs its stage is run on a list of seeds of its own."""
    ran.edit("params.yaml", "seed_sets: {", "seed_sets: {other: [7, 8, 9], ")
    ran.commit("Another set")
    run = ran.start("train@deep", inputs=["params.yaml"], seed_set="other", set_value=[7, 8, 9])
    assert "pilot" in run.provenance.seals and run.seeds == (7, 8, 9)
    with ran.inside():
        run.finish(Training(provenance=run.provenance, score=counted([1, 1, 1])), DEEP)
    return ran


def seeds_found(project: Project) -> list[str]:
    """The findings about this record's seeds."""
    report = verify(project.context(), disabled=("pipeline",))
    return [finding.line() for finding in report.findings if finding.code == "A308" and finding.place.startswith(DEEP)]


def test_another_known_set_is_no_finding(beside: Project) -> None:
    """The parameters list these very seeds, and nothing judged comes from the record."""
    assert seeds_found(beside) == []


def test_a_metrics_stage_on_another_set_stands_under_nothing(beside: Project) -> None:
    """The pilot names the stage of its metric, not as one that waits: on a set that is not its own it does not hold the run back."""
    other = beside.start("analyse", inputs=["results/train/shallow.json"], seed_set="other", set_value=[7, 8, 9])
    own = beside.start("analyse", inputs=["results/train/shallow.json"], seed_set="main", set_value="pilot")
    assert other.provenance.seals == {} and list(own.provenance.seals) == ["pilot"]


def test_seeds_that_nobody_lists_are(beside: Project) -> None:
    """With another list in the parameters the same record has seeds from nowhere."""
    beside.edit("params.yaml", "other: [7, 8, 9]", "other: [7, 8, 10]")
    assert "are not those of pilot" in seeds_found(beside)[0]


def test_a_source_of_what_is_judged_has_the_registered_seeds(beside: Project) -> None:
    """An analysis that reads the other set's record brings it under the registration: its seeds are asked for."""
    run = beside.start("analyse", inputs=["results/train/shallow.json", DEEP], seed_set="main", set_value="pilot")
    record = beside.read("results/analyse/main.json")
    assert is_beside(beside.context(), "pilot", DEEP)
    with beside.inside():
        old = Analysis.model_validate_json(record)
        run.finish(old.model_copy(update={"provenance": run.provenance}), "results/analyse/main.json")
    assert not is_beside(beside.context(), "pilot", DEEP) and "are not those of pilot" in seeds_found(beside)[0]
