"""`audit new` writes a draft that parses as it is and seals once its marked places are written."""

from __future__ import annotations

import json

import pytest
from project import Project

from audit.amendment import MARK
from audit.finding import Refusal
from audit.lint import lint
from audit.new import main as new
from audit.registration import parse_registration
from audit.schema import main as schema
from audit.verify import verify


def draft(p: Project, name: str = "second", title: str | None = None) -> str:
    with p.inside():
        new(name, title)
    return p.read(f"prereg/{name}.yaml")


def test_draft_is_valid_and_guessed_from_the_project(ran: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Metric, stage and seed set are those of the pipeline and its records; the next command is printed."""
    text = draft(ran, title='A "second" look: again')
    registration = parse_registration(text.encode(), "prereg/second.yaml")
    (prediction,) = registration.predictions
    assert registration.title == 'A "second" look: again'
    assert (prediction.metric.file, prediction.metric.stage, prediction.metric.key) == ("results/analyse/main.json", "analyse", "arms.treated")
    assert registration.seeds.sets == {"main": 3} and registration.holds_for == {"seed_sets.main": "second", "scale": "laptop"}
    shown = capsys.readouterr().out
    assert "commit params.yaml as registered: seed_sets.main is 'pilot', registered for 'second'\n" in shown
    assert "depends on prereg/second.seal.json: add it to its deps in dvc.yaml\n" in shown
    assert shown.endswith("then: git add prereg/second.yaml && git commit -m 'Register second' && audit seal second\n")
    report = verify(ran.context())
    assert report.code == 0, "\n".join(finding.line() for finding in report.findings)


def test_draft_seals_once_it_is_written(drafted: Project) -> None:
    """Unwritten it is refused; with its marks written over, and the parameters saying so, it is sealed."""
    text = draft(drafted)
    drafted.edit("params.yaml", "main: pilot", "main: second")
    drafted.commit("Register a second")
    with pytest.raises(Refusal, match=f"a place marked {MARK}"):
        drafted.seal("second")
    drafted.write("prereg/second.yaml", text.replace(MARK, "Written:"))
    drafted.commit("Write it")
    drafted.seal("second")
    assert (drafted.root / "prereg/second.seal.json").exists()


def test_editors_find_the_schema(drafted: Project) -> None:
    """Where `audit schema` has written the schema of registrations, the draft names it for editors; it parses and seals with that line."""
    assert draft(drafted, "second").startswith("# The draft")
    with drafted.inside():
        schema()
    text = draft(drafted, "third")
    assert text.startswith("# yaml-language-server: $schema=../schemas/registration.json\n# The draft")
    assert (drafted.root / "prereg" / text.split("=")[1].split("\n")[0]).is_file()
    assert parse_registration(text.encode(), "prereg/third.yaml").id == "third"


def test_waiting_stages_and_what_they_read(ran: Project) -> None:
    """Stages that depend on a seal must wait for this one too; the records they read and do not write are frozen."""
    ran.edit("dvc.yaml", "deps: [results/calibrate/calibration.json]", "deps: [results/calibrate/calibration.json, prereg/pilot.seal.json]")
    registration = parse_registration(draft(ran).encode(), "prereg/second.yaml")
    assert registration.stages == ("train",) and registration.freezes.outputs == ("results/calibrate/calibration.json",)


BEFORE = """\
stages:
  calibrate: {cmd: a, frozen: true, params: [seed_sets.main], outs: [results/calibrate/main.json: {cache: false}]}
  train: {cmd: b, deps: [results/calibrate], params: [seed_sets.main], outs: [states]}
  measure: {matrix: {set: [main]}, cmd: c, deps: [states/last], params: ["seed_sets.${item.set}"], outs: ["results/measure/${item.set}.json": {cache: false}]}
  other: {cmd: d, params: [seed_sets.main], outs: [results/other/main.json: {cache: false}]}
  analyse: {cmd: e, deps: [results/measure/main.json, results/other/main.json], outs: [results/analyse/main.json: {cache: false}]}
  unrelated: {cmd: f, params: [seed_sets.main], outs: [notes]}
"""


@pytest.mark.parametrize(
    ("edit", "stages"),
    [(("", ""), ("train", "measure", "other")), (("seed_sets", "sizes"), ("train", "measure", "other", "analyse")), (("analyse", "last"), ("train", "measure", "other"))],
    ids=["those that take the seeds", "all where none says so", "whatever its name"],
)
def test_waiting_stages_are_known_before_any_run(edit: tuple[str, str], stages: tuple[str, ...], drafted: Project) -> None:
    """From dvc.yaml alone: everything up to the metric's stage that is not frozen, through folders and cells, and nothing beside it."""
    drafted.git("rm", "-rq", "prereg", "results")
    drafted.write("dvc.yaml", BEFORE.replace(*edit))
    registration = parse_registration(draft(drafted).encode(), "prereg/second.yaml")
    assert registration.stages == stages and registration.freezes.outputs == ()


def test_draft_asks_for_what_the_linter_asks_for(drafted: Project) -> None:
    """A draft that is filled in where it says so is sealed without a warning; left as drafted, the chance of 1 is warned of."""
    drafted.git("rm", "-rq", "prereg", "results")
    drafted.write("dvc.yaml", BEFORE)
    text = draft(drafted, title="A second")
    drafted.edit("params.yaml", "main: pilot", "main: second")
    drafted.write("prereg/second.yaml", text.replace(f"{MARK} ", "").replace(MARK, "deeper"))
    assert lint(parse_registration(drafted.read("prereg/second.yaml").encode(), "prereg/second.yaml")) == ("P1 cannot fail under the null: its chance of being met is 1 (declared)",)
    drafted.edit("prereg/second.yaml", "chance: 1}", "chance: 0.01}")
    drafted.commit("Register a second")
    drafted.seal("second")
    assert json.loads(drafted.read("prereg/second.seal.json"))["warnings"] == []


def test_empty_project_gives_a_draft_too(drafted: Project) -> None:
    """Without a pipeline everything that cannot be guessed is marked."""
    drafted.write("dvc.yaml", "stages: {}\n")
    text = draft(drafted)
    assert parse_registration(text.encode(), "prereg/second.yaml").predictions[0].metric.stage == MARK


@pytest.mark.parametrize(
    ("name", "words"),
    [("Second", "is no id of a registration"), ("a.amendment-1", "is no id of a registration"), ("pilot", "exists already"), ("old", "was registered before")],
)
def test_new_refuses(name: str, words: str, ran: Project) -> None:
    """An id that cannot be one, that is taken, or that history knows; nothing is written."""
    ran.write("prereg/old.yaml", "id: old\n")
    ran.commit("Once")
    ran.git("rm", "-q", "prereg/old.yaml")
    ran.commit("And gone")
    with ran.inside(), pytest.raises(Refusal, match=words):
        new(name, None)
    assert ran.git("status", "--short") == ""
