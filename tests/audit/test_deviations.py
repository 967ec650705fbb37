"""Registered versus run: every kind of difference is a row, an honest run has none, and closing waits for the reasons."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
import tampering_amended
from project import Project
from tampering import forge
from tampering_amended import DECLARED, parameter_tuned

from audit.close import main as close
from audit.deviations import find_deviations
from audit.difference import Declared, Difference, Kind, parse_declared
from audit.finding import Refusal
from audit.registration import parse_seal
from audit.verify import verify


def rows(p: Project) -> list[tuple[str, str, str, str]]:
    return [(row.kind, row.what, row.registered, row.run) for row in find_deviations(p.context(), "pilot")]


def locked_parameters(p: Project) -> None:
    """What dvc.lock says the stage was given goes before the file."""
    p.train()
    p.analyse()
    p.evaluate()
    p.lock()
    p.edit("dvc.lock", "    cmd: python -m stages.train shallow\n", "    cmd: python -m stages.train shallow\n    params: {params.yaml: {thresholds: {line: 0.4}, more: 1}}\n")
    p.commit("Results of an experiment with other parameters")


def parameters_never_committed(p: Project) -> None:
    """Run with a file that no commit holds, then put back."""
    p.write("params.yaml", p.read("params.yaml") + "steps: 200\n")
    p.train()
    p.git("checkout", "-q", "params.yaml")
    p.analyse()
    p.evaluate()
    p.lock()
    p.commit("Results")


def code_added(p: Project) -> None:
    p.write("src/study.py", "X = 1\n")
    p.commit("Code")
    p.train()
    from tampering import relog

    relog(p, "train/shallow", code={"src/study.py": "0" * 64})
    p.analyse()
    p.evaluate()
    p.lock()
    p.commit("Results")


def folder_changed(p: Project) -> None:
    p.git("reset", "-q", "--hard", "HEAD~1")
    p.write("texts/a.txt", "a")
    p.write("texts/more/b.txt", "b")
    p.commit("Texts")
    p.sealed()
    p.write("texts/more/b.txt", "c")
    p.commit("Other texts")
    trained(p, "texts")


def folder_unchanged(p: Project) -> None:
    p.git("reset", "-q", "--hard", "HEAD~1")
    p.write("texts/a.txt", "a")
    p.write("texts/more/b.txt", "b")
    p.commit("Texts")
    p.sealed()
    trained(p, "texts")


def trained(p: Project, *inputs: str) -> None:
    inputs = ("params.yaml", "results/calibrate/calibration.json", *inputs)
    p.train(run=p.start("train@shallow", inputs=inputs, seed_set="main", set_value="pilot"))
    p.analyse()
    p.evaluate()
    p.lock()
    p.commit("Results")


def schema_widened(p: Project) -> None:
    p.ran()
    schema = json.loads(p.read("schemas/training.json"))
    p.write("schemas/training.json", json.dumps({**schema, "title": "Another"}))
    p.commit("Another title")


def other_schema_widened(p: Project) -> None:
    p.ran()
    p.write("schemas/unjudged.json", "{}")
    p.commit("A schema of something else")


def records_mapped_anew(p: Project) -> None:
    p.ran()
    p.edit("audit.toml", 'main = "', 'other = "results/train/shallow.json"\nmain = "')
    p.commit("Another name")


def seed_dropped(p: Project) -> None:
    p.train()
    forge(p, "train/shallow", lambda record: record["provenance"]["seeds"].pop())
    p.analyse()
    p.evaluate()
    p.lock()
    p.commit("Results")


ROWS: list[tuple[Callable[[Project], object], list[tuple[str, str, str, str]]]] = [
    (Project.ran, []),
    (parameter_tuned, [("parameters", "steps", "absent", "200")]),
    (locked_parameters, [("parameters", "more", "absent", "1"), ("parameters", "thresholds.line", "0.5", "0.4")]),
    (parameters_never_committed, [("parameters", "params.yaml", "", "")]),
    (code_added, [("code", "src/study.py", "absent", "000000000000")]),
    (tampering_amended.import_exchanged, [("code", "src/line.py", "", "")]),
    (lambda p: tampering_amended.import_exchanged(p, "LINE = 0.5\n"), []),
    (lambda p: tampering_amended.data_exchanged(p, "1 2 3 4\n"), []),
    (tampering_amended.data_exchanged, [("data", "data.txt", "", "")]),
    (folder_changed, [("data", "texts", "", "")]),
    (folder_unchanged, []),
    (tampering_amended.package_exchanged, [("packages", "strange.lib", "2.0.0", "2.5.0+local")]),
    (lambda p: tampering_amended.package_exchanged(p, "2.5.0"), []),
    (seed_dropped, [("seeds", "results/train/shallow.json", "3 of set main", "2, of them 2 derived")]),
    (schema_widened, [("configuration", "schemas/training.json", "", "")]),
    (other_schema_widened, []),
    (records_mapped_anew, [("configuration", "audit.toml", "", "")]),
]


@pytest.mark.parametrize(("act", "wanted"), ROWS, ids=lambda value: getattr(value, "__name__", None))
def test_every_kind_of_difference_is_a_row(act: Callable[[Project], object], wanted: list[tuple[str, str, str, str]], sealed: Project) -> None:
    """Parameters, data, code, seeds, packages and configuration, each against the commit of the seal; an honest run gives no row."""
    act(sealed)
    found = rows(sealed)
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    for (_, _, *said), (_, _, *expected) in zip(found, wanted, strict=True):
        assert said[0] != said[1]
        if expected[1]:
            assert said == expected


def test_declaring_cures(sealed: Project) -> None:
    """With a reason the same difference is no finding, and the table carries it."""
    parameter_tuned(sealed)
    assert verify(sealed.context()).code == 1
    sealed.write("prereg/pilot.deviations.yaml", DECLARED)
    report = verify(sealed.context())
    assert report.code == 0, "\n".join(finding.line() for finding in report.findings)
    (row,) = find_deviations(sealed.context(), "pilot")
    assert row.why == "They had not settled."


def test_declared_before_any_run_is_a_note(sealed: Project) -> None:
    """A declaration that matches nothing is a finding only where something ran."""
    sealed.write("prereg/pilot.deviations.yaml", DECLARED)
    sealed.lock()
    sealed.commit("Declare early")
    assert verify(sealed.context()).code == 0
    sealed.ran()
    assert [finding.code for finding in verify(sealed.context()).findings if finding.severity == "finding"] == ["A120"]


def test_exploratory_version_at_the_same_path_is_no_deviation(drafted: Project) -> None:
    """What a stage makes may differ from what lay there at the seal; what it was made from counts."""
    drafted.edit("params.yaml", "main: pilot", "main: [7, 8, 9]")
    drafted.train([7, 8, 9])
    drafted.analyse()
    drafted.commit("Explore")
    drafted.edit("params.yaml", "main: [7, 8, 9]", "main: pilot")
    drafted.commit("Back")
    drafted.sealed()
    drafted.ran()
    assert rows(drafted) == []


def test_same_bytes_run_again_later_are_no_deviation(sealed: Project) -> None:
    """The outcome was made by the first run; a later one of the same bytes, under other parameters, made nothing new."""
    sealed.ran()
    sealed.write("params.yaml", sealed.read("params.yaml") + "unrelated: 1\n")
    sealed.commit("A parameter for another study")
    sealed.train()
    sealed.analyse()
    sealed.commit("The same again")
    assert rows(sealed) == []


def test_close_waits_for_reasons(sealed: Project) -> None:
    """An undeclared difference stops closing in one line with the cure; an uncommitted declaration too; then the outcome holds it."""
    parameter_tuned(sealed)
    words = "prereg/pilot.deviations.yaml: pilot cannot be closed: an undeclared difference .*cure: declare it there with why"
    with sealed.inside(), pytest.raises(Refusal, match=words):
        close("pilot")
    sealed.write("prereg/pilot.deviations.yaml", DECLARED)
    with sealed.inside(), pytest.raises(Refusal, match="prereg/pilot.deviations.yaml: is not committed"):
        close("pilot")
    assert not (sealed.root / "prereg/pilot.outcome.json").exists()
    sealed.commit("Declare")
    with sealed.inside(), contextlib.redirect_stdout(None):
        close("pilot")
    expected = {"kind": "parameters", "what": "steps", "registered": "absent", "run": "200", "why": "They had not settled."}
    assert json.loads(sealed.read("prereg/pilot.outcome.json"))["deviations"] == [expected]
    sealed.commit("Close")
    assert verify(sealed.context()).code == 0


def test_code_and_configuration_may_move_on_after_closing(ran: Project) -> None:
    """A closed registration is compared as of its outcome."""
    with ran.inside(), contextlib.redirect_stdout(None):
        close("pilot")
    ran.commit("Close")
    ran.write("params.yaml", ran.read("params.yaml") + "steps: 200\n")
    ran.edit("audit.toml", 'main = "', 'other = "results/train/shallow.json"\nmain = "')
    ran.commit("Move on")
    assert verify(ran.context()).code == 0 and rows(ran) == []


def test_seal_of_version_1_asks_for_nothing(drafted: Project) -> None:
    """An old seal parses as it did, and a difference under it is a note that closing does not wait for."""
    drafted.seal()
    value = json.loads(drafted.read("prereg/pilot.seal.json"))
    assert value["version"] == 2 and value.pop("configuration")["manuscript/exemptions.yaml"] is None
    old = json.dumps({**value, "version": 1}, sort_keys=True, indent=1) + "\n"
    drafted.write("prereg/pilot.seal.json", old)
    assert parse_seal(old.encode(), "prereg/pilot.seal.json").configuration == {}
    drafted.commit("Seal pilot")
    parameter_tuned(drafted)
    for name in ("train/shallow", "analyse/main", "evaluate/pilot"):  # logs of a tool that knew no deviations
        log = json.loads(drafted.read(f"results/{name}.run.json"))
        del log["environment"]
        drafted.write(f"results/{name}.run.json", json.dumps(log, sort_keys=True, indent=1) + "\n")
    drafted.lock()
    drafted.git("add", "-A")
    drafted.git("commit", "-q", "--amend", "--no-edit")
    report = verify(drafted.context())
    notes = [finding.line() for finding in report.findings if finding.code == "A119"]
    assert report.code == 0 and len(notes) == 1 and notes[0].endswith("asks for no declaration; found parameters steps")
    with drafted.inside(), contextlib.redirect_stdout(None):
        close("pilot")
    assert "deviations" not in json.loads(drafted.read("prereg/pilot.outcome.json"))


@pytest.mark.parametrize(
    ("change", "words"),
    [({"version": 1}, "a seal of version 1 names no configuration"), ({"configuration": {}}, "a seal of version 2 names audit.toml")],
)
def test_version_and_configuration_agree(change: dict[str, object], words: str, sealed: Project) -> None:
    """A seal cannot be read as another version to get rid of what it asks."""
    value = json.loads(sealed.read("prereg/pilot.seal.json"))
    with pytest.raises(Refusal, match=words):
        parse_seal(json.dumps({**value, **change}).encode(), "prereg/pilot.seal.json")


def test_configuration_is_not_in_the_content(drafted: Project) -> None:
    """Seeds hang on registration and frozen files alone: another audit.toml gives the same content."""
    drafted.seal()
    first = json.loads(drafted.read("prereg/pilot.seal.json"))
    drafted.git("clean", "-fdq")
    drafted.edit("audit.toml", 'main = "', 'other = "results/train/shallow.json"\nmain = "')
    drafted.commit("Another name")
    drafted.seal()
    second = json.loads(drafted.read("prereg/pilot.seal.json"))
    assert first["content"] == second["content"] and first["configuration"] != second["configuration"]


@pytest.mark.parametrize(
    ("kind", "entry", "what", "covered"),
    [
        ("code", "src", "src/a.py", True), ("code", "src/", "src/a.py", True), ("code", "src/a.py", "src/a.py", True), ("code", "src/a", "src/a.py", False),
        ("code", "sr", "src/a.py", False), ("data", "src", "src/a.py", True), ("parameters", "scales", "scales.laptop", True),
        ("parameters", "scales.lap", "scales.laptop", False), ("packages", "ruamel", "ruamel.yaml", False),
    ],
)  # fmt: skip
def test_a_folder_or_key_stands_for_what_is_below(kind: Kind, entry: str, what: str, covered: bool) -> None:
    """An entry declares its own path or key and what lies below it, never what only begins alike, and nothing of another kind."""
    declared = Declared(kind=kind, what=entry, why="x")
    assert declared.covers(Difference(kind=kind, what=what, registered="absent", run="absent")) is covered
    assert not declared.covers(Difference(kind="seeds", what=what, registered="absent", run="absent"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind: data\n", "is no list of deviations"), ("- {kind: date, what: x, why: y}\n", "kind is not valid"),
        ("- {kind: data, what: x}\n", "'why' is missing"), ("- {kind: data, what: x, why: ''}\n", "why is not valid"),
    ],
)  # fmt: skip
def test_declarations_are_a_closed_list(text: str, words: str) -> None:
    """A misspelt kind or an empty reason declares nothing."""
    with pytest.raises(Refusal, match=words):
        parse_declared(text.encode(), "prereg/pilot.deviations.yaml")


def test_the_lock_is_the_one_that_the_configuration_names(sealed: Project) -> None:
    """Versions are compared with the lock file of `audit.toml`, under whatever name."""
    sealed.write("audit.toml", sealed.read("audit.toml") + '[paths]\nlock = "env.lock"\n')
    sealed.write("env.lock", "Strange_Lib == 2.0.0\n")
    sealed.git("rm", "-q", "-r", "--cached", "prereg/pilot.seal.json", "prereg/pilot")
    sealed.git("reset", "-q", "--soft", "HEAD~1")
    (sealed.root / "prereg/pilot.seal.json").unlink()
    sealed.commit("A lock of another name")
    sealed.sealed()
    sealed.train()
    tampering_amended.relog(sealed, "train/shallow", packages={"strange.lib": "2.5.0"})
    sealed.analyse()
    sealed.commit("Results")
    assert [row[:4] for row in rows(sealed)] == [("packages", "strange.lib", "2.0.0", "2.5.0")]
