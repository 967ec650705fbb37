"""Attacks that once went through, and honest acts that were once accused, each with the right answer: outcomes."""

from __future__ import annotations

import hashlib
import json

import pytest
from attacks import holds, lines, locked_parameters, report, typed_seal, wrong
from project import PILOT, Project
from tampering import forge, relog


@pytest.mark.parametrize(("name", "text"), [("conf.toml", "steps = {}\n"), ("conf.py", "steps = {}\n")])
def test_parameter_in_another_file_is_compared(drafted: Project, name: str, text: str) -> None:
    drafted.write(name, text.format(100))
    drafted.edit("dvc.yaml", "    params: [scale]\n    outs: [{\"results/train", "    params: [scale, {" + name + ": [steps]}]\n    outs: [{\"results/train")
    drafted.commit("Steps")
    drafted.sealed()
    drafted.write(name, text.format(200))
    drafted.commit("Longer runs")
    drafted.train()
    drafted.analyse()
    drafted.evaluate()
    drafted.lock()
    locked_parameters(drafted, "steps: 200", name)
    drafted.commit("Results")
    wrong(drafted, "A119")


@pytest.mark.parametrize("why", [" ", "EDIT-ME why", "-"])
def test_deviation_without_words_has_no_reason(sealed: Project, why: str) -> None:
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    sealed.write("prereg/pilot.deviations.yaml", f'- {{kind: parameters, what: steps, why: "{why}"}}\n')
    sealed.ran()
    wrong(sealed, "A119", "A120")


@pytest.mark.parametrize("what", ["/", "*", ".", "steps.", "s"])
def test_deviation_for_everything_covers_nothing(sealed: Project, what: str) -> None:
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    sealed.write("prereg/pilot.deviations.yaml", f'- {{kind: parameters, what: "{what}", why: Whatever.}}\n')
    sealed.ran()
    wrong(sealed, "A119")


def test_same_predictions_with_other_spelling(ran: Project) -> None:
    """2 and 2.0 are one number, and the order of predictions asks nothing new; R5."""
    text = PILOT.replace("id: pilot", "id: second").replace("holds_for: {scale: laptop, seed_sets.main: pilot}", "holds_for: {scale: paper}")
    ran.write("prereg/second.yaml", text.replace("value: 2}\n    undecided", "value: 2.0}\n    undecided"))
    wrong(ran, "A111")


def test_command_with_vars_is_compared(ran: Project) -> None:
    """`vars` of dvc.yaml are not read: a command that names one was compared with nothing."""
    ran.edit("dvc.yaml", "stages:\n", "vars: [{flags: --quick}]\nstages:\n")
    ran.edit("dvc.yaml", "python -m stages.train ${item.role}", "python -m stages.train ${item.role} ${flags}")
    ran.commit("A flag")
    wrong(ran, "A313")


def test_each_of_a_mapping_is_compared(ran: Project) -> None:
    """`foreach` over a mapping: its cells are its keys, its values `item.name`."""
    old = ran.read("dvc.yaml").partition("  train:\n")[2].partition("  analyse:\n")[0]
    body = "".join(f"  {line}\n" for line in old.splitlines()[1:])
    ran.edit("dvc.yaml", old, f"    foreach: {{shallow: {{role: shallow}}}}\n    do:\n{body}")
    ran.commit("foreach")
    holds(ran)
    ran.edit("dvc.yaml", "python -m stages.train ${item.role}", "python -m stages.train ${item.role} --quick")
    ran.commit("A flag")
    wrong(ran, "A313")


def test_dependency_edited_in_the_lock(ran: Project) -> None:
    """Row 26: the digest of a dependency that another stage of the lock made."""
    md5 = hashlib.md5((ran.root / "results/train/shallow.json").read_bytes()).hexdigest()
    before, cut, after = ran.read("dvc.lock").rpartition(f"md5: {md5}")
    first, _, rest = ran.read("dvc.lock").partition("  analyse:\n")
    ran.write("dvc.lock", f"{first}  analyse:\n{rest.replace(md5, '0' * 32, 1)}")
    ran.commit("Lock")
    wrong(ran, "A304", "A313")


def test_folder_named_as_a_record_hides_no_forgery(ran: Project) -> None:
    ran.write("results/aaa/odd.json/note.txt", "nothing\n")
    ran.edit("results/analyse/main.json", '"value": 3', '"value": 4')
    ran.commit("A digit, and a folder")
    wrong(ran)


@pytest.mark.parametrize("number", ["1e400", "-1e999", "1" + "0" * 400])
def test_number_out_of_range_is_a_finding(ran: Project, number: str) -> None:
    """JSON's 1e400 is infinity to Python; row 29."""
    ran.edit("results/train/shallow.json", '"tolerance": 1.0', f'"tolerance": {number}')
    wrong(ran, "A301", "A302")


def test_number_out_of_range_as_value(ran: Project) -> None:
    text = ran.read("results/analyse/main.json")
    ran.write("results/analyse/main.json", text.replace('"value": 3', '"value": 1' + "0" * 400, 1))
    wrong(ran, "A302", "A307", "A301")


def test_deep_nesting_is_a_finding(ran: Project) -> None:
    forge(ran, "train/shallow", lambda record: record.update(comment=json.loads("[" * 700 + "{}" + "]" * 700)))
    ran.commit("Deep")
    wrong(ran, "A301", "A302")


def test_byte_order_mark_and_utf16_are_findings(ran: Project) -> None:
    data = ran.read("results/train/shallow.json")
    forge(ran, "train/shallow", lambda record: None)
    ran.write("results/train/shallow.json", data.encode("utf-16"))
    digest = hashlib.sha256((ran.root / "results/train/shallow.json").read_bytes()).hexdigest()
    relog(ran, "train/shallow", record_sha256=digest)
    found = report(ran)
    assert "A301" in {finding.code for finding in found.findings}, lines(found)


def test_dates_beyond_the_calendar_decide_nothing(sealed: Project) -> None:
    sealed.train()
    sealed.write("notes.md", "a note\n")
    sealed.git("add", "notes.md")
    sealed.git("commit", "-q", "-m", "Far away", date="@999999999999 +0000")
    sealed.analyse()
    sealed.evaluate()
    sealed.lock()
    sealed.commit("Results")
    holds(sealed)


def test_local_configuration_hides_no_history(tmp_path, templates) -> None:
    """`diff.relative` of the local configuration, with the project in a folder of its repository."""
    import shutil

    top = tmp_path / "top"
    templates["ran"].copy(top)
    p = Project(top)
    names = [path.name for path in top.iterdir() if path.name != ".git"]
    (top / "inner").mkdir()
    for name in names:
        shutil.move(top / name, top / "inner" / name)
    p.commit("Into a folder")
    inner = Project(top / "inner")
    before = report(inner)
    p.git("config", "diff.relative", "true")
    after = report(inner)
    assert lines(before) == lines(after)


@pytest.mark.parametrize("name", ["a folder", "naïve ü", "new\nline", "sep\u2028arator", "-dash"])
def test_odd_folder_of_a_repository_is_honest(tmp_path, name: str) -> None:
    top = tmp_path / "top"
    p = Project.create(top / name)
    import shutil

    shutil.move(top / name / ".git", top / ".git")
    Project(top).git("read-tree", "--empty")
    Project(top).commit("Move")
    p.sealed()
    p.ran()
    holds(p)


def test_repository_of_sha256_is_honest(tmp_path, monkeypatch) -> None:
    original = Project.git

    def git(self, *arguments, **more):
        return original(self, *(("init", "-q", "-b", "main", "--object-format=sha256") if arguments[0] == "init" else arguments), **more)

    monkeypatch.setattr(Project, "git", git)
    p = Project.create(tmp_path / "sha256")
    p.sealed()
    p.ran()
    holds(p)


def test_detached_head_and_worktree_are_honest(ran: Project, tmp_path) -> None:
    ran.git("checkout", "-q", "--detach")
    holds(ran)
    ran.git("worktree", "add", "-q", str(tmp_path / "tree"), "HEAD")
    holds(Project(tmp_path / "tree"))


def test_seal_of_another_text_than_the_judged_one(drafted: Project) -> None:
    """The sealed text lies elsewhere, and the registration that is judged can be written later; row 1."""
    drafted.write("notes/pilot.yaml", drafted.read("prereg/pilot.yaml"))
    drafted.commit("Notes")
    drafted.seal()
    files = json.loads(drafted.read("prereg/pilot.seal.json"))["files"]
    files["notes/pilot.yaml"] = files.pop("prereg/pilot.yaml")
    typed = drafted.read("prereg/pilot.seal.json")
    (drafted.root / "prereg/pilot.seal.json").unlink()
    assert typed
    typed_seal(drafted, registration="notes/pilot.yaml", files=files)
    drafted.train()
    drafted.analyse((1, 0, 0))
    drafted.edit("prereg/pilot.yaml", 'op: ">=", value: 2', 'op: ">=", value: 1')
    drafted.evaluate()
    drafted.lock()
    drafted.commit("Met")
    wrong(drafted, "A103", "A105")
