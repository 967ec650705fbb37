"""Attacks that once went through, and honest acts that were once accused, each with the right answer: junk."""

from __future__ import annotations

import json
import re

import pytest
from attacks import holds, lines, report, typed_seal, wrong
from project import PILOT, Project, counted
from tampering import SECOND
from tampering_amended import DECLARED, amended, closed

from audit.finding import Severity


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
