"""Attacks that once went through, and honest acts that were once accused: each asserts the right answer."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from project import PILOT, Project, counted
from tampering import SECOND, forge, relog
from tampering_amended import DECLARED, amended, closed

from audit.finding import Severity
from audit.verify import Report, verify


def report(p: Project) -> Report:
    return verify(p.context())


def lines(found: Report) -> str:
    return "\n".join(finding.line() for finding in found.findings)


def wrong(p: Project, *codes: str) -> None:
    """Verify finds something, among it one of the codes."""
    found = report(p)
    standing = {finding.code for finding in found.findings if finding.severity == Severity.FINDING}
    assert found.code == 1, lines(found)
    assert not codes or standing & set(codes), lines(found)


def holds(p: Project) -> None:
    found = report(p)
    assert found.code == 0, lines(found)


# seals


def test_mode_of_a_seal_changed_hides_no_tuning(sealed: Project) -> None:
    """`chmod +x` of the seal gave it a second birthday, in whose tree the tuned code was `as registered`."""
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    sealed.git("update-index", "--chmod=+x", "prereg/pilot.seal.json")
    sealed.git("commit", "-q", "-m", "Mode")
    sealed.git("checkout", "-q", "--", ".")
    sealed.ran()
    wrong(sealed, "A119")


def test_seal_removed_and_added_again_hides_no_tuning(sealed: Project) -> None:
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    data = sealed.read("prereg/pilot.seal.json")
    sealed.git("rm", "-q", "prereg/pilot.seal.json")
    sealed.commit("Oops")
    sealed.write("prereg/pilot.seal.json", data)
    sealed.commit("Bring it back")
    sealed.ran()
    wrong(sealed)


def test_seal_picked_onto_a_tuned_branch_hides_no_tuning(drafted: Project) -> None:
    drafted.git("checkout", "-q", "-b", "tuned")
    drafted.write("params.yaml", drafted.read("params.yaml") + "steps: 200\n")
    drafted.commit("Longer runs")
    drafted.git("checkout", "-q", "main")
    seal = drafted.sealed()
    drafted.git("checkout", "-q", "tuned")
    drafted.git("cherry-pick", seal)
    drafted.git("checkout", "-q", "main")
    drafted.git("merge", "-q", "--no-ff", "tuned", "-m", "Merge")
    drafted.ran()
    wrong(drafted, "A119")


def test_mode_of_a_seal_changed_is_honest(ran: Project) -> None:
    """A file's mode changed (another filesystem, `chmod -R`) is no new birth of a seal."""
    ran.write("prereg/second.yaml", SECOND)
    ran.commit("Register a second")
    ran.seal("second")
    ran.commit("Seal the second")
    before = report(ran).code
    ran.git("update-index", "--chmod=+x", "prereg/pilot.seal.json")
    ran.git("commit", "-q", "-m", "Mode")
    ran.git("checkout", "-q", "--", ".")
    found = report(ran)
    assert found.code == before, lines(found)
    assert not any("ledger leaves out" in finding.what for finding in found.findings), lines(found)


def test_mode_after_closing_is_honest(ran: Project) -> None:
    closed(ran)
    ran.commit("Close")
    ran.edit("judge.py", "0.5", "0.4")
    ran.commit("The code moves on")
    holds(ran)
    ran.git("update-index", "--chmod=+x", "prereg/pilot.seal.json")
    ran.git("commit", "-q", "-m", "Mode")
    ran.git("checkout", "-q", "--", ".")
    holds(ran)


def test_nested_seal_of_the_same_name_hides_nothing(ran: Project) -> None:
    """A seal in a folder below took the place of the real one, whose bytes came after it."""
    ran.write("prereg/second.yaml", SECOND)
    ran.commit("Register a second")
    ran.seal("second")
    ran.commit("Seal", "prereg/second.seal.json")
    ran.commit("The copies, later")
    real = json.loads(ran.read("prereg/second.seal.json"))
    files = {name: digest for name, digest in real["files"].items() if not name.startswith("prereg/second/")}
    content = hashlib.sha256("".join(f"{files[name]}  {name}\n" for name in sorted(files)).encode()).hexdigest()
    ran.write("prereg/z/second.seal.json", json.dumps({**real, "files": files, "origins": {}, "content": content}))
    ran.commit("Notes")
    wrong(ran, "A109")


def test_registrations_cannot_be_moved_out_of_sight(ran: Project) -> None:
    """`paths.prereg` and `paths.results` of audit.toml name other folders: what was sealed is gone."""
    ran.git("rm", "-q", "-r", "results", "prereg", "dvc.lock")
    ran.write("audit.toml", 'version = 1\n[paths]\nprereg = "registered"\nresults = "made"\n')
    ran.write("dvc.yaml", "stages: {}\n")
    ran.write("params.yaml", "scale: laptop\n")
    ran.write("registered/README.md", "Nothing was registered.\n")
    ran.commit("Begin anew")
    wrong(ran, "A104", "A123")


def test_seal_downgraded_to_version_1_asks_for_deviations(sealed: Project) -> None:
    """A seal typed by hand as version 1, after one of version 2: nothing had to be declared under it."""
    sealed.write("prereg/second.yaml", SECOND)
    sealed.commit("Register a second")
    sealed.seal("second")
    seal = json.loads(sealed.read("prereg/second.seal.json"))
    del seal["configuration"]
    sealed.write("prereg/second.seal.json", json.dumps({**seal, "version": 1}, sort_keys=True, indent=1) + "\n")
    sealed.commit("Seal the second")
    wrong(sealed, "A103")


def test_seal_typed_as_version_1_asks_for_deviations(drafted: Project) -> None:
    """The same for the only seal: its runs are logged by a tool that knows deviations."""
    drafted.seal()
    seal = json.loads(drafted.read("prereg/pilot.seal.json"))
    del seal["configuration"]
    drafted.write("prereg/pilot.seal.json", json.dumps({**seal, "version": 1}, sort_keys=True, indent=1) + "\n")
    drafted.commit("Seal pilot")
    drafted.write("params.yaml", drafted.read("params.yaml") + "steps: 200\n")
    drafted.commit("Longer runs")
    drafted.ran()
    wrong(drafted, "A119")


# order


def missed(p: Project) -> None:
    p.train()
    p.analyse((1, 0, 0))


def met(p: Project) -> None:
    p.analyse((1, 1, 1))
    p.evaluate()
    p.lock()
    p.commit("Met")


def test_missed_outcome_elsewhere_then_met(sealed: Project) -> None:
    """The first outcome was committed at a path where nobody looks, and removed; row 19."""
    missed(sealed)
    (sealed.root / "attic").mkdir()
    (sealed.root / "results/analyse/main.json").rename(sealed.root / "attic/first.json")
    (sealed.root / "results/analyse/main.run.json").rename(sealed.root / "attic/log.json")
    sealed.commit("Missed")
    sealed.git("rm", "-q", "-r", "attic")
    sealed.commit("Tidy")
    met(sealed)
    wrong(sealed, "A204")


def test_missed_outcome_renamed_in_results_then_met(sealed: Project) -> None:
    missed(sealed)
    (sealed.root / "results/analyse/main.json").rename(sealed.root / "results/analyse/first.json")
    (sealed.root / "results/analyse/main.run.json").rename(sealed.root / "results/analyse/other.run.json")
    sealed.commit("Missed")
    sealed.git("rm", "-q", "results/analyse/first.json", "results/analyse/other.run.json")
    sealed.commit("Tidy")
    met(sealed)
    wrong(sealed, "A204")


def test_wide_tolerance_of_the_record_hides_no_other_verdict(sealed: Project) -> None:
    """No tolerance is sealed and the code's own is wide from the start: missed, then met, is another outcome all the same."""
    from project import Analysis, Arms

    from audit.records import Quantity

    def analyse(treated: tuple[int, ...]) -> None:
        run = sealed.start("analyse", inputs=["results/train/shallow.json"], seed_set="main", set_value="pilot")
        wide = Quantity(value=sum(treated), digits=0, style="integer", tolerance=9, summary="count", values=treated)
        arms = Arms(treated=wide, untreated=counted([0, 0, 0]))
        with sealed.inside():
            run.finish(Analysis(provenance=run.provenance, arms=arms, settled=counted([1, 1, 1])), "results/analyse/main.json")
        sealed.evaluate()
        sealed.lock()

    sealed.train()
    analyse((1, 0, 0))
    sealed.commit("Missed")
    analyse((1, 1, 1))
    sealed.commit("Met")
    wrong(sealed, "A204")


def test_amendment_after_an_outcome_elsewhere_is_after(sealed: Project) -> None:
    """The outcome was committed in another folder before the amendment; row 9's neighbour, R15."""
    from audit.chain import standing_amendments

    missed(sealed)
    (sealed.root / "attic").mkdir()
    for path in ("train/shallow", "analyse/main"):
        for suffix in (".json", ".run.json"):
            (sealed.root / f"results/{path}{suffix}").rename(sealed.root / f"attic/{path.replace('/', '-')}{suffix.replace('.run', '-log')}")
    sealed.commit("A look")
    sealed.git("rm", "-q", "-r", "attic")
    sealed.commit("Tidy")
    amended(sealed)
    sealed.ran()
    assert [link.sealed for link in standing_amendments(sealed.context(), "pilot")] == ["after outcome"]


def test_seeds_dropped_altogether(sealed: Project) -> None:
    """Stages that ask the gate for no seed set may run on any seeds: the records name none, and nothing is compared; row 27."""
    inputs = ["params.yaml", "results/calibrate/calibration.json"]
    from project import Analysis, Arms, Training

    from audit.records import Quantity

    run = sealed.start("train@shallow", inputs=inputs)
    with sealed.inside():
        run.finish(Training(provenance=run.provenance, score=Quantity(value=1.0, digits=1, tolerance=1.0)), "results/train/shallow.json")
    run = sealed.start("analyse", inputs=["results/train/shallow.json"])
    arms = Arms(treated=counted([1, 1, 1]), untreated=counted([0, 0, 0]))
    with sealed.inside():
        run.finish(Analysis(provenance=run.provenance, arms=arms, settled=counted([1, 1, 1])), "results/analyse/main.json")
    sealed.evaluate()
    sealed.lock()
    sealed.commit("Results")
    wrong(sealed, "A308")


# registered versus run


def locked_parameters(p: Project, value: str, file: str = "params.yaml") -> None:
    p.edit("dvc.lock", "    cmd: python -m stages.train shallow\n", f"    cmd: python -m stages.train shallow\n    params: {{{file}: {{{value}}}}}\n")


def test_parameter_read_and_not_locked_is_compared(sealed: Project) -> None:
    """The stage reads all of params.yaml and declares one key of it: another one was tuned."""
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    sealed.train()
    sealed.analyse()
    sealed.evaluate()
    sealed.lock()
    locked_parameters(sealed, "scale: laptop")
    sealed.commit("Results")
    wrong(sealed, "A119")


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


# pipeline


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


# malformed


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


# git


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


# what a seal typed by hand leaves out


def typed_seal(p: Project, **changed: Any) -> None:
    """Seal the pilot, and commit another seal than the tool's, consistent in itself."""
    p.seal()
    seal = {**json.loads(p.read("prereg/pilot.seal.json")), **changed}
    listed = sorted(seal["files"].items(), key=lambda item: item[0].encode())
    seal["content"] = hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in listed).encode()).hexdigest()
    p.write("prereg/pilot.seal.json", json.dumps(seal, sort_keys=True, indent=1) + "\n")
    p.commit("Seal pilot")


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


def test_seal_without_the_frozen_parameters(drafted: Project) -> None:
    typed_seal(drafted, parameters={})
    drafted.ran()
    wrong(drafted, "A103", "A105")


def test_seal_without_the_frozen_outputs(drafted: Project) -> None:
    drafted.seal()
    files = json.loads(drafted.read("prereg/pilot.seal.json"))["files"]
    (drafted.root / "prereg/pilot.seal.json").unlink()
    typed_seal(drafted, origins={}, files={name: digest for name, digest in files.items() if not name.startswith("prereg/pilot/")})
    wrong(drafted, "A103", "A105")


# more of order


def test_run_without_a_log_before_a_shared_seal(sealed: Project) -> None:
    """A look at the seeds that left a record and no log; then another registration shares the seeds; R20."""
    from test_sharing import SHARED

    sealed.train()
    sealed.write("attic/look.json", sealed.read("results/train/shallow.json"))
    (sealed.root / "results/train/shallow.json").rename(sealed.root / "results/train/look.json")
    (sealed.root / "results/train/shallow.run.json").unlink()
    sealed.git("add", "results/train/look.json")
    sealed.git("commit", "-q", "-m", "A look")
    sealed.git("rm", "-q", "results/train/look.json")
    sealed.git("commit", "-q", "-m", "Tidy")
    __import__("shutil").rmtree(sealed.root / "attic")
    sealed.write("prereg/shared.yaml", SHARED)
    sealed.commit("Register another")
    from unittest import mock

    import audit.seal

    with mock.patch.object(audit.seal, "refuse_known_outcome"):
        sealed.seal("shared")
    sealed.commit("Seal it")
    sealed.ran()
    with sealed.inside():
        from audit.context import Context
        from audit.evaluate import evaluate

        context = Context.open()
        evaluate(context, context.registrations["shared"], "results/evaluate/shared.json")
    found = report(sealed)
    assert any(finding.code == "A122" and finding.severity == Severity.FINDING for finding in found.findings), lines(found)


def test_judged_record_in_a_submodule(ran: Project, tmp_path) -> None:
    """Nothing of a submodule is in this history: its record could be exchanged at will."""
    inner = Project(tmp_path / "inner")
    inner.root.mkdir()
    inner.git("init", "-q", "-b", "main")
    for key, value in {"user.name": "Nobody", "user.email": "nobody@example.org"}.items():
        inner.git("config", key, value)
    for name in ("main.json", "main.run.json"):
        inner.write(name, ran.read(f"results/analyse/{name}"))
    inner.commit("Results")
    ran.git("reset", "-q", "--hard", "HEAD~1")
    seal = ran.head()
    assert seal
    ran.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "results/analyse")
    ran.commit("A submodule")
    ran.ran()
    sub = Project(ran.root / "results/analyse")
    sub.git("config", "user.name", "Nobody")
    sub.git("config", "user.email", "nobody@example.org")
    sub.commit("Results")
    ran.commit("Newer")
    wrong(ran, "A201", "A301")


def test_missed_outcome_leaves_by_other_parameters(sealed: Project) -> None:
    """After a missed outcome the parameters are others: the registration does not hold here, and its verdicts are gone."""
    sealed.train()
    sealed.analyse((1, 0, 0))
    sealed.evaluate()
    sealed.lock()
    sealed.commit("Missed")
    sealed.write("params.yaml", sealed.read("params.yaml").replace("main: pilot", "main: [1, 2, 3]"))
    sealed.commit("Other seeds")
    sealed.train([1, 2, 3])
    sealed.analyse((1, 1, 1))
    sealed.evaluate()
    sealed.lock()
    sealed.commit("Exploratory")
    wrong(sealed, "A123")


def test_registered_parameter_removed_is_compared(drafted: Project) -> None:
    drafted.write("params.yaml", drafted.read("params.yaml") + "steps: 200\n")
    drafted.commit("Steps")
    drafted.sealed()
    drafted.edit("params.yaml", "steps: 200\n", "")
    drafted.commit("By default")
    drafted.ran()
    wrong(drafted, "A119")


# DVC


def test_stage_in_a_folder_is_honest(ran: Project) -> None:
    """`wdir`: paths of dvc.yaml and dvc.lock are relative to it."""
    ran.write("stages/keep", "\n")
    for path in ("dvc.yaml", "dvc.lock"):
        text = ran.read(path)
        head, mark, tail = text.partition("  analyse:\n")
        body, cut, rest = tail.partition("  evaluate:\n")
        body = re.sub(r"(?<![\w/])results/", "../results/", body)
        ran.write(path, head + mark + ("    wdir: stages\n" if path == "dvc.yaml" else "") + body + cut + rest)
    ran.commit("wdir")
    holds(ran)


def test_root_of_the_surrounding_repository_anchors_nothing(tmp_path) -> None:
    """A root certificate that the repository carries outside of the project's folder is the author's all the same; row 22."""
    from authority import local
    from tampering_witness import SEAL

    from audit.config import load_config
    from audit.context import Context

    top = tmp_path / "top"
    p = Project.create(top / "inner")
    __import__("shutil").move(top / "inner/.git", top / ".git")
    Project(top).git("read-tree", "--empty")
    Project(top).commit("Move")
    p.sealed()
    authority = local("rsa")
    p.write("prereg/pilot.tsr", authority.stamp((p.root / SEAL).read_bytes()))
    root = next(path for path in authority.folder.rglob("*.pem") if "root" in path.name or "ca" in path.name)
    Project(top).commit("Witness")
    Project(top).write("roots/root.pem", root.read_bytes() + b"\n")  # as a submodule would bring it
    found = verify(Context(p.root, load_config(p.root), (top / "roots/root.pem",)))
    assert not any(finding.what.startswith("anchored") for finding in found.findings), lines(found)


def test_record_of_another_stage_than_registered(sealed: Project) -> None:
    """P28: the sealed metric names file, stage and key; another stage now writes the file."""
    from project import Analysis, Arms

    sealed.edit("dvc.yaml", "  analyse:\n", "  polish:\n")
    sealed.edit("dvc.yaml", "stages.analyse", "stages.polish")
    sealed.commit("Another stage")
    sealed.train()
    run = sealed.start("polish", inputs=["results/train/shallow.json"], seed_set="main", set_value="pilot")
    arms = Arms(treated=counted([1, 1, 1]), untreated=counted([0, 0, 0]))
    with sealed.inside():
        run.finish(Analysis(provenance=run.provenance, arms=arms, settled=counted([1, 1, 1])), "results/analyse/main.json")
    sealed.evaluate()
    sealed.lock()
    sealed.edit("dvc.lock", "  analyse:\n", "  polish:\n")
    sealed.edit("dvc.lock", "stages.analyse", "stages.polish")
    sealed.commit("Results")
    wrong(sealed, "A113", "A314", "A312")


@pytest.mark.parametrize(
    "setting",
    [
        "color.ui=always", "i18n.logOutputEncoding=UTF-16", "diff.submodule=log", "log.showRoot=false", "diff.ignoreSubmodules=all", "log.follow=true",
        "core.abbrev=5", "diff.renames=copies", "log.decorate=full", "core.quotePath=true", "diff.noprefix=true", "log.diffMerges=off",
        "core.ignoreCase=true", "core.precomposeUnicode=true", "format.pretty=oneline", "log.showSignature=true", "core.fileMode=false", "log.mailmap=true",
        "diff.orderFile=/dev/null", "core.attributesFile=/dev/null", "diff.algorithm=histogram", "log.abbrevCommit=true", "core.bare=true",
    ],
)  # fmt: skip
def test_local_configuration_changes_no_answer(ran: Project, setting: str) -> None:
    before = lines(report(ran))
    ran.git("config", *setting.split("="))
    found = report(ran)
    if found.code != 2:  # an answer that git refuses is no answer
        assert lines(found) == before


def test_worktree_setting_hides_no_edit(ran: Project, tmp_path) -> None:
    """`core.worktree` of the local configuration points git at an honest copy."""
    ran.copy(tmp_path / "away")
    ran.write("src/model.py", "x = 1\n")
    ran.commit("A model")
    ran.git("config", "core.worktree", str(tmp_path / "away"))
    ran.edit("results/train/shallow.json", '"tolerance": 1.0', '"tolerance": 2.0')
    assert report(ran).code in (1, 2)


@pytest.mark.parametrize("name", [b"b\xe9.json", "naïve.json".encode(), b"new\nline.json", b"a b.json", b"quo\"te.json", b"\x01odd.json"])
def test_odd_names_crash_nothing(ran: Project, name: bytes) -> None:
    import os

    folder = os.fsencode(ran.root / "results/train")
    with open(os.path.join(folder, name), "wb") as stream:
        stream.write(ran.read("results/train/shallow.json").encode())
    ran.commit("Odd")
    found = report(ran)
    assert found.code == 1 and not any("stopped" in finding.what for finding in found.findings), lines(found)
    for line in (finding.line() for finding in found.findings):
        line.encode()


def test_conflict_markers_stop_nothing_else(ran: Project) -> None:
    text = ran.read("dvc.lock")
    ran.write("dvc.lock", "<<<<<<< HEAD\n" + text + "=======\n" + text + ">>>>>>> other\n")
    assert report(ran).code == 2
    ran.edit("prereg/pilot.yaml", "value: 2}", "value: 1}")
    wrong(ran, "A105")


def test_post_hoc_verdicts_are_no_registered_ones(ran: Project) -> None:
    """A registration sealed after its outcome adds nothing to the count of what was registered and met."""
    import contextlib

    from audit.denominator import count_all, registered
    from audit.evaluate import evaluate
    from audit.seal import main as seal

    before = dict(count_all(registered(ran.context()).values()))
    text = PILOT.replace("id: pilot", "id: after").replace("value: 2}\n    undecided", "value: 1}\n    undecided").replace("{from: seal, sets: {main: 3}}", "{from: seal, sets: {other: 3}}")
    ran.write("prereg/after.yaml", text)
    ran.commit("Register after")
    with ran.inside(), contextlib.redirect_stdout(None):
        seal("after", post_hoc=True)
    ran.commit("Seal after")
    with ran.inside():
        context = ran.context()
        evaluate(context, context.registrations["after"], "results/evaluate/after.json")
    after = dict(count_all(registered(ran.context()).values()))
    assert after["met"] == before["met"], (before, after)


def test_first_token_elsewhere(drafted: Project) -> None:
    """O16: of two time stamps the first committed counts, whatever it is called."""
    from tampering_witness import demand, stamp

    demand(drafted)
    stamp(drafted, "prereg/pilot.9.tsr")
    stamp(drafted, "prereg/pilot.tsr")
    from audit.tokens import first_token

    first = first_token(drafted.context(), "pilot")
    assert first is not None and first.path == "prereg/pilot.9.tsr"


def test_amended_to_better_before_and_after(ran: Project) -> None:
    amended(ran)
    ran.evaluate()
    row = json.loads(ran.read("results/evaluate/pilot.json"))["predictions"][0]["amended"]
    assert row["sealed"] == "after outcome"


def test_closed_with_a_reason_without_words(sealed: Project) -> None:
    sealed.write("params.yaml", sealed.read("params.yaml") + "steps: 200\n")
    sealed.commit("Longer runs")
    sealed.write("prereg/pilot.deviations.yaml", DECLARED)
    sealed.ran()
    outcome = closed(sealed)
    outcome["deviations"][0]["why"] = " "
    sealed.write("prereg/pilot.outcome.json", json.dumps(outcome))
    sealed.commit("Close")
    wrong(sealed, "A121")


def test_seal_of_parameters_that_no_commit_had(drafted: Project) -> None:
    from audit.registration import digest_value

    value = {"line": 0.9}
    typed_seal(drafted, parameters={"thresholds": {"sha256": digest_value(value), "value": value}})
    drafted.edit("params.yaml", "line: 0.5", "line: 0.9")
    drafted.commit("As sealed")
    drafted.ran()
    wrong(drafted, "A109")


def test_prediction_about_what_its_seal_freezes(drafted: Project) -> None:
    """The metric stands in a frozen output, which was there before the seal: its verdict was known; section 2."""
    drafted.edit(
        "prereg/pilot.yaml",
        '    metric: {file: results/analyse/main.json, stage: analyse, key: arms.treated}\n    comparator: {op: ">", than: arms.untreated}',
        '    metric: {file: results/calibrate/calibration.json, stage: calibrate, key: line}\n    comparator: {op: ">", value: 0.4}',
    )
    drafted.commit("A safe prediction")
    drafted.sealed()
    drafted.ran()
    wrong(drafted)


@pytest.mark.parametrize("what", ["HEAD:judge.py", "HEAD^{tree}"])
def test_start_tag_on_no_commit_is_survived(ran: Project, what: str) -> None:
    ran.git("tag", "audit/start/odd", what)
    assert report(ran).code in (0, 2)
    ran.edit("prereg/pilot.yaml", "value: 2}", "value: 1}")
    wrong(ran, "A105")


def test_two_seals_at_once_accuse_nobody(drafted: Project) -> None:
    """Two seals made from one commit, before either is committed: the second is refused, or both stand."""
    from audit.finding import Refusal

    drafted.write("prereg/second.yaml", SECOND)
    drafted.commit("Register a second")
    drafted.seal()
    with pytest.raises(Refusal):
        drafted.seal("second")
    drafted.commit("Seal")
    drafted.seal("second")
    drafted.commit("Seal the second")
    assert not any(finding.code == "A108" for finding in report(drafted).findings)


def test_killed_while_sealing_goes_on(drafted: Project) -> None:
    """The copies are written, the seal is not; staging files lie about."""
    drafted.seal()
    (drafted.root / "prereg/pilot.seal.json").rename(drafted.root / "prereg/.pilot.seal.json.abcd")
    drafted.seal()
    drafted.commit("Seal, and a staging file")
    drafted.ran()
    holds(drafted)


def test_seal_in_parallel_on_two_branches_is_honest(drafted: Project) -> None:
    """Two registrations sealed on two branches name not each other, and nothing is wrong with that."""
    drafted.write("prereg/second.yaml", SECOND)
    drafted.commit("Register a second")
    drafted.git("checkout", "-q", "-b", "other")
    drafted.seal("second")
    drafted.commit("Seal the second")
    drafted.git("checkout", "-q", "main")
    drafted.sealed()
    drafted.git("merge", "-q", "--no-ff", "other", "-m", "Merge")
    assert not any(finding.severity == Severity.FINDING for finding in report(drafted).findings), lines(report(drafted))


def test_record_with_a_new_mode_is_honest(ran: Project) -> None:
    ran.git("update-index", "--chmod=+x", "results/analyse/main.json", "results/train/shallow.json")
    ran.git("commit", "-q", "-m", "Mode")
    ran.git("checkout", "-q", "--", ".")
    holds(ran)


def test_registration_in_another_spelling_of_its_folder(ran: Project) -> None:
    ran.write("Prereg/pilot.yaml", "id: pilot\n")
    ran.write("prereg/PILOT.yaml", ran.read("prereg/pilot.yaml"))
    ran.commit("Case")
    wrong(ran, "A101")


@pytest.mark.parametrize("text", ["\ufeff{}", "{}" * 2, "", "null", "[]", '{"kind": "seal"}', "\x00", '{"a": ' * 5000])
def test_malformed_seal_is_a_finding(ran: Project, text: str) -> None:
    ran.write("prereg/pilot.seal.json", text)
    wrong(ran, "A103")


@pytest.mark.parametrize("text", ["{" * 3000, "- a\n" * 10, "a: " + "9" * 5000, "? [a]\n: b", "\t- a", "a: 2001-99-99", "&a a", "%YAML 1.1\n---\na: 1\n", "a: 1\r\nb: 2\r\n"])
@pytest.mark.parametrize("path", ["params.yaml", "prereg/pilot.deviations.yaml", "prereg/x.yaml", "dvc.yaml"])
def test_malformed_yaml_is_an_answer(ran: Project, text: str, path: str) -> None:
    ran.write(path, text)
    found = report(ran)
    assert found.code in (1, 2) or path == "params.yaml", lines(found)
    assert not any("stopped:" in finding.what for finding in found.findings), lines(found)


def test_post_hoc_verdict_is_printed_as_one(ran: Project) -> None:
    """What the paper prints for a verdict sealed after its outcome says so."""
    import contextlib

    from audit.evaluate import evaluate
    from audit.render import generate
    from audit.seal import main as seal

    text = PILOT.replace("id: pilot", "id: after").replace("value: 2}\n    undecided", "value: 1}\n    undecided").replace("{from: seal, sets: {main: 3}}", "{from: seal, sets: {other: 3}}")
    ran.write("prereg/after.yaml", text)
    ran.write("manuscript/paper.tex", "\\documentclass{article}\n\\input{generated/macros}\n\\begin{document}\n\\verdict{after.P1}\n\\end{document}\n")
    ran.commit("Register after")
    with ran.inside(), contextlib.redirect_stdout(None):
        seal("after", post_hoc=True)
    ran.commit("Seal after")
    with ran.inside():
        evaluate(ran.context(), ran.context().registrations["after"], "results/evaluate/after.json")
    macros = generate(ran.context()).files["macros.tex"].decode()
    assert re.search(r"audit@verdict@after\.P1.*post.hoc", macros), macros


def test_input_that_only_dvc_knows_of(drafted: Project) -> None:
    """Rows 18, R18: the raw run came before the seal; the judged stage depends on it in dvc.lock and names no input to the gate."""
    from project import Analysis, Arms

    drafted.edit("params.yaml", "main: pilot", "main: [1, 2, 3]")
    drafted.train([1, 2, 3])
    drafted.edit("params.yaml", "main: [1, 2, 3]", "main: pilot")
    drafted.edit("prereg/pilot.yaml", "stages: [train]", "stages: [analyse]")
    drafted.commit("A raw run")
    drafted.sealed()
    run = drafted.start("analyse", seed_set="main", set_value="pilot")
    arms = Arms(treated=counted([1, 1, 1]), untreated=counted([0, 0, 0]))
    with drafted.inside():
        run.finish(Analysis(provenance=run.provenance, arms=arms, settled=counted([1, 1, 1])), "results/analyse/main.json")
    drafted.evaluate()
    drafted.lock()
    drafted.commit("Results")
    wrong(drafted)
