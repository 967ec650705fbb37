"""Attacks that once went through, and honest acts that were once accused, each with the right answer: places."""

from __future__ import annotations

import json
import re

import pytest
from attacks import holds, lines, report, typed_seal, wrong
from project import Project, counted

from audit.finding import Severity
from audit.verify import verify


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
