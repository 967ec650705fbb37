"""An outcome that is known anywhere on the same seeds stops a seal; --post-hoc lets it through, and it confirms nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner
from project import Project

from audit.cli import cli
from audit.finding import Refusal, Severity
from audit.registration import derive_seeds, parse_seal
from audit.seal import main as seal_main
from audit.verify import verify

METRIC = "holds the metric arms.treated on the seeds of pilot: this seal would come after it; cure: register under a new id, or audit seal --post-hoc"


def looked(p: Project) -> None:
    """Run on the very seeds that a seal would give, as an exploratory set."""
    p.seal()
    seeds = list(derive_seeds(parse_seal(p.read("prereg/pilot.seal.json").encode(), "prereg/pilot.seal.json"), "main", 3))
    p.git("clean", "-fdq")
    p.edit("params.yaml", "main: pilot", f"main: {seeds}")
    p.train(seeds)
    p.analyse()
    p.edit("params.yaml", f"main: {seeds}", "main: pilot")


def in_the_tree(p: Project) -> str:
    looked(p)
    return "results/analyse/main.json: an outcome of pilot exists already"


def taken_back(p: Project) -> str:
    looked(p)
    p.commit("Looked")
    p.git("rm", "-rq", "results/analyse", "results/train")
    p.commit("Take it back")
    return "results/analyse/main.json: an outcome of pilot exists already"


def elsewhere(p: Project) -> str:
    looked(p)
    p.write("notes/old.json", p.read("results/analyse/main.json"))
    p.git("add", "notes")
    p.git("clean", "-fdqe", "notes")
    p.commit("Kept for later", "notes")
    return f"notes/old.json: {METRIC}"


def on_a_branch(p: Project) -> str:
    p.git("checkout", "-qb", "side")
    looked(p)
    p.commit("Looked aside")
    p.git("checkout", "-q", "main")
    return "results/analyse/main.json: an outcome of pilot exists already"


def in_the_stash(p: Project) -> str:
    looked(p)
    p.git("add", "-A")
    p.git("stash", "-q")
    return "results/analyse/main.json: an outcome of pilot exists already"


@pytest.mark.parametrize("look", [in_the_tree, taken_back, elsewhere, on_a_branch, in_the_stash])
def test_known_outcome_stops_a_seal(look: Callable[[Project], str], drafted: Project) -> None:
    """At its own path or another, in the tree, in history or on another ref: one line, and nothing is written."""
    words = look(drafted)
    before = drafted.git("status", "--short")
    with pytest.raises(Refusal) as refusal:
        drafted.seal()
    assert str(refusal.value).startswith(words) and refusal.value.code == 2
    assert drafted.git("status", "--short") == before


def other_seeds(p: Project) -> None:
    p.edit("params.yaml", "main: pilot", "main: [1, 2, 3]")
    p.train([1, 2, 3])
    p.analyse()
    p.edit("params.yaml", "main: [1, 2, 3]", "main: pilot")
    p.commit("An exploratory run")


def only_raw(p: Project) -> None:
    looked(p)
    p.git("clean", "-fdq", "results/analyse")
    p.commit("Trained, not analysed")


def junk(p: Project) -> None:
    p.write("results/analyse/main.json", '{"provenance": {"seals": [1], "seeds": "x"}, "arms": 3}')
    p.write("notes/list.json", "[1]")
    p.write("notes/broken.json", "{")
    p.commit("Nothing to read")


@pytest.mark.parametrize("honest", [other_seeds, only_raw])
def test_what_is_no_known_outcome_stops_none(honest: Callable[[Project], None], drafted: Project) -> None:
    """The metric on other seeds, or the same seeds without the metric (which the order rule judges), is no known outcome."""
    honest(drafted)
    drafted.seal()


def test_files_that_are_no_records_are_passed_over(drafted: Project) -> None:
    """Whatever lies in history as JSON, looking through it ends in no traceback."""
    junk(drafted)
    with pytest.raises(Refusal, match="no quantity at key 'arms.treated'"):
        drafted.seal()


def post_hoc(p: Project) -> None:
    """Seal the pilot after its outcome, saying so, and judge it."""
    looked(p)
    p.lock()
    p.commit("Looked")
    done = seal_by_hand(p, "--post-hoc")
    assert done.exit_code == 0, done.output
    assert "post hoc: whatever pilot comes to is labelled so, and confirms nothing" in done.output
    p.commit("Seal pilot, post hoc")
    p.evaluate()
    p.lock()
    p.commit("Judge")


def seal_by_hand(p: Project, *options: str):
    with p.inside():
        return CliRunner().invoke(cli, ["seal", *options, "pilot"])


def test_post_hoc_registration_confirms_nothing(drafted: Project) -> None:
    """The seal says so, each verdict says so, and the order is noted as not asked instead of being found right."""
    post_hoc(drafted)
    assert json.loads(drafted.read("prereg/pilot.seal.json"))["post_hoc"] is True
    rows = json.loads(drafted.read("results/evaluate/pilot.json"))["predictions"]
    assert [(row["verdict"], row["post_hoc"]) for row in rows] == [("met", True)] * 2
    report = verify(drafted.context())
    found = [finding for finding in report.findings if finding.code == "A117"]
    assert [(finding.severity, finding.place) for finding in found] == [(Severity.NOTE, "prereg/pilot.seal.json")]
    assert not [finding.line() for finding in report.findings if finding.severity != Severity.NOTE]


def test_label_cannot_be_left_out(drafted: Project) -> None:
    """A verdict of a post-hoc registration without its label does not follow."""
    post_hoc(drafted)
    record = json.loads(drafted.read("results/evaluate/pilot.json"))
    del record["predictions"][0]["post_hoc"]
    drafted.write("results/evaluate/pilot.json", json.dumps(record))
    lines = [finding.line() for finding in verify(drafted.context()).findings if finding.code == "A309"]
    assert len(lines) == 1 and "the post_hoc does not follow; expected True; found None" in lines[0]


def test_ordinary_seals_say_nothing_of_it(sealed: Project) -> None:
    """A seal made before its outcome has no such field, as those made before there was one."""
    assert "post_hoc" not in json.loads(sealed.read("prereg/pilot.seal.json"))


def test_seal_command_refuses_in_one_line(drafted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the option the command line says what to do, exits 2 and writes nothing."""
    looked(drafted)
    with drafted.inside(), pytest.raises(Refusal, match="or audit seal --post-hoc"):
        seal_main("pilot")
    assert not (drafted.root / "prereg/pilot.seal.json").exists()
