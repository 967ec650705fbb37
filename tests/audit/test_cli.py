"""The command line, each command in a process of its own at least once: lines, exit codes, no traceback, quick."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from project import Project

from audit.cli import main
from audit.limits import LIMITS, POINTER

CHECKOUT = Path(__file__).resolve().parents[2]


def audit(project: Project | Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = project.root if isinstance(project, Project) else project
    code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); from audit.cli import main; sys.exit(main())"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=root, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def call(project: Project | Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The same in this process, which has imported everything already."""
    out, err = io.StringIO(), io.StringIO()
    root = project.root if isinstance(project, Project) else project
    with contextlib.chdir(root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert "audit: stopped: " not in err.getvalue(), err.getvalue()  # what would be a traceback
    return subprocess.CompletedProcess(arguments, stopped.value.code or 0, out.getvalue(), err.getvalue())


def test_verify_says_line_by_line_why_one_may_trust(ran: Project) -> None:
    """One line a check with what was looked at, then the sum; exit 0."""
    done = audit(ran, "verify")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout
    assert lines[0].split("  ", 1)[0] == "ok" and lines[0].endswith("the whole git history is here and nothing falsifies it (4 commits)")
    assert any("judged records came after their seal" in line and "(1 judged records, 4 commits)" in line for line in lines)
    assert lines[-1].startswith("holds: ")


def test_verify_as_json(ran: Project) -> None:
    """The same report for machines: checks, findings, exit code."""
    ran.edit("judge.py", "0.5", "0.4")
    done = audit(ran, "verify", "--format", "json")
    report = json.loads(done.stdout)
    assert done.returncode == report["exit"] == 1
    found = [finding for finding in report["findings"] if finding["severity"] == "finding"]
    assert [(finding["code"], finding["place"]) for finding in found] == [("A105", "judge.py")]
    assert {check["name"]: check["state"] for check in report["checks"]}["seals"] == "FAIL"


def test_every_report_says_what_it_does_not_prove(ran: Project) -> None:
    """One line of the text names the list, `audit explain limits` prints it, and the report as JSON holds it."""
    assert call(ran, "verify").stdout.splitlines()[-2] == POINTER and POINTER.endswith("audit explain limits")
    listed = call(ran, "explain", "limits")
    assert listed.returncode == 0 and listed.stdout.splitlines() == [f"{number}. {limit}" for number, limit in enumerate(LIMITS, 1)]
    assert tuple(json.loads(call(ran, "verify", "--format", "json").stdout)["limits"]) == LIMITS and len(LIMITS) == 9


def test_every_report_says_what_it_rests_on(ran: Project) -> None:
    """The tool's own files by digest, as `sha256sum` gives it, and the history by its roots and number of commits."""
    basis = json.loads(audit(ran, "verify", "--format", "json").stdout)["basis"]
    lines = f"cd {Path(__file__).resolve().parents[2]} && find audit -name '*.py' | xargs sha256sum | LC_ALL=C sort -k2 | sha256sum"
    assert basis["tool"] == subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=True).stdout.split()[0]
    assert (basis["head"], basis["roots"], basis["commits"]) == (ran.head(), ran.git("rev-list", "--max-parents=0", "HEAD").split(), 4)
    assert f"hash to {basis['tool'][:16]}, in 4 commits from root {basis['roots'][0][:10]}" in audit(ran, "verify").stdout.splitlines()[-3]


def test_an_earlier_report_binds_the_history(ran: Project, tmp_path: Path) -> None:
    """The commit of a published report must stay an ancestor: more commits hold, an amended one is exit 1, a file that is no report exit 2."""
    report = tmp_path / "report.json"
    report.write_text(call(ran, "verify", "--format", "json").stdout)
    ran.write("notes.txt", "more\n")
    ran.commit("More")
    assert call(ran, "verify", "--since", str(report)).returncode == 0
    ran.git("reset", "-q", "--soft", "HEAD~2")
    ran.commit("Both in one")
    done = call(ran, "verify", "--since", str(report))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "rests on a commit that is not in this history" in done.stderr
    report.write_text("{}")
    done = call(ran, "verify", "--since", str(report))
    assert done.returncode == 2 and "is no report that names a commit" in done.stderr


def test_stage_writes_findings_only_and_stops_the_pipeline(ran: Project) -> None:
    """The DVC stage leaves no notes, commit or time in its record, and fails on a finding and on could-not-check."""
    done = audit(ran, "stage")
    path = "results/audit/findings.json"
    assert done.returncode == 0 and json.loads(ran.read(path)) == {"kind": "findings", "version": 1, "findings": []}
    ran.edit("judge.py", "0.5", "0.4")
    assert call(ran, "stage").returncode == 1
    assert [finding["code"] for finding in json.loads(ran.read(path))["findings"]] == ["A105"]
    ran.git("checkout", "-q", "judge.py")
    ran.git("rm", "-q", "dvc.lock")
    ran.git("commit", "-q", "-m", "Lose the lock")
    assert call(ran, "stage").returncode == 2
    assert [finding["code"] for finding in json.loads(ran.read(path))["findings"]] == ["A304"]


def test_crashed_stage_leaves_no_green_report(ran: Project) -> None:
    """A stage that cannot even begin removes the report of an earlier one."""
    audit(ran, "stage")
    ran.write("audit.toml", "version = 2\n")
    done = audit(ran, "stage")
    assert done.returncode == 2 and "audit.toml" in done.stderr


def test_seal_check_says_everything_and_writes_nothing(drafted: Project) -> None:
    """Warnings, then the refusal if there is one; the answer of the seal itself, and no file."""
    done = call(drafted, "seal", "pilot", "--check")
    assert done.returncode == 0 and "pilot can be sealed, with 4 warnings: 4 files, 1 parameters; nothing was written" in done.stdout, done.stdout
    assert drafted.git("status", "--short") == ""
    drafted.edit("prereg/pilot.yaml", "value: 2}", "value: 1}")
    done = call(drafted, "seal", "pilot", "--check")
    assert done.returncode == 2 and done.stdout.count("warning: ") == 4
    assert done.stderr.startswith("audit: prereg/pilot.yaml: is not committed as it lies here")
    drafted.git("checkout", "-q", ".")
    warned = [line for line in call(drafted, "seal", "--check", "pilot").stdout.splitlines() if line.startswith("warning")]
    assert warned == [line for line in call(drafted, "seal", "pilot").stdout.splitlines() if line.startswith("warning")]
    assert call(drafted, "seal", "--check", "none").stderr == "audit: prereg/none.yaml: no such registration; cure: audit new none\n"


def test_stage_that_would_miss_a_new_seal_is_noted(ran: Project) -> None:
    """A stage that a registration names depends on its seal, itself or through what it is made from; without that a note says so."""
    noted = "A313 dvc.yaml note: stage train does not depend on its seal: dvc repro would not notice a new one; cure: add prereg/pilot.seal.json to its deps"
    done = call(ran, "verify")
    assert done.returncode == 0 and noted in done.stdout.splitlines()
    own = "deps: [results/calibrate/calibration.json]", "deps: [results/calibrate/calibration.json, prereg/pilot.seal.json]"
    ran.edit("dvc.yaml", *own)
    assert "A313" not in call(ran, "verify").stdout
    ran.edit("dvc.yaml", *own[::-1])
    ran.edit("dvc.yaml", "params: [scale]\n    outs: [{results/calibrate", "deps: [prereg/pilot.seal.json]\n    outs: [{results/calibrate")
    assert "A313" not in call(ran, "verify").stdout


def test_project_without_a_lock_file_is_told_so(ran: Project) -> None:
    """Nothing is said to be locked where nothing is."""
    assert "no lock file: versions are not compared)" in call(ran, "verify").stdout


def test_seal_to_close(drafted: Project) -> None:
    """The whole life of a registration through the commands, as a person types them."""
    assert audit(drafted, "status").stdout == f"{'pilot':20} draft: audit seal pilot\n"
    assert "sealed pilot: 4 files, 1 parameters" in audit(drafted, "seal", "pilot").stdout
    stopped = audit(drafted, "gate", "train")
    assert stopped.returncode == 2
    assert stopped.stderr == (
        "audit: prereg/pilot.seal.json: the seal is not committed: HEAD does not hold it; "
        "expected the seal in HEAD's tree; cure: git add prereg && git commit\n"
    )
    drafted.commit("Seal pilot")
    assert audit(drafted, "gate", "train").returncode == 0
    drafted.train()
    drafted.analyse()
    assert "pilot: 2 met, 0 missed, 0 undecided of 2" in audit(drafted, "evaluate", "pilot").stdout
    drafted.lock()
    drafted.commit("Results")
    assert audit(drafted, "verify").returncode == 0
    assert audit(drafted, "close", "pilot").stdout.startswith("closed pilot: P1 met, P2 met\n")
    drafted.commit("Close pilot")
    assert audit(drafted, "status").stdout == f"{'pilot':20} closed\n"
    assert audit(drafted, "verify").returncode == 0


def test_printed_seed_commands_give_the_printed_seeds(sealed: Project) -> None:
    """Each line of `audit seeds` can be pasted into a shell and gives the number behind it."""
    lines = audit(sealed, "seeds", "pilot").stdout.splitlines()
    commands = [line.split("#") for line in lines if "printf" in line]
    assert len(commands) == 3
    for command, note in commands:
        digest = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
        assert int(digest[:16], 16) & 0x7FFFFFFFFFFFFFFF == int(note.split(":")[1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("seal", "nobody"), "audit: prereg/nobody.yaml: is not committed"),
        (("seeds", "nobody"), "audit: prereg/nobody.yaml: no such registration"),
        (("close", "pilot"), "audit: prereg/pilot.seal.json: the registration is not sealed"),
        (("evaluate", "pilot", "--on", "none.json"), "audit: none.json: is not there"),
        (("explain", "A999"), "audit: A999: no such finding code"),
        (("verify", "--format", "xml"), "Usage: audit verify"),
    ],
)
def test_bad_usage_is_exit_2(arguments: tuple[str, ...], words: str, drafted: Project) -> None:
    """Bad input is one line on stderr and exit 2."""
    done = call(drafted, *arguments)
    assert done.returncode == 2 and done.stderr.startswith(words) and not done.stdout


@pytest.mark.parametrize("out", ["prereg/pilot.yaml", "judge.py", "../away.json", "results/x.run.json", "results/analyse/main.json", "results/audit/findings.json", "results/train"])
def test_verdicts_are_written_over_nothing_else(out: str, ran: Project) -> None:
    """`audit evaluate --out` refuses a target outside the results, and one that holds something else; the tree stays as it was."""
    done = call(ran, "evaluate", "pilot", "--out", out)
    assert done.returncode == 2 and done.stderr.startswith(f"audit: {out}: ") and done.stderr.count("\n") == 1
    assert not ran.git("status", "--short") and not (ran.root.parent / "away.json").exists()


def test_verdicts_elsewhere_below_the_results(ran: Project) -> None:
    """A new place below the results is taken, and verdicts are written over verdicts."""
    assert audit(ran, "evaluate", "pilot", "--out", "results/again/pilot.json").returncode == 0
    assert call(ran, "evaluate", "pilot", "--out", "results/again/pilot.json").returncode == 0
    assert json.loads(ran.read("results/again/pilot.json"))["kind"] == "verdicts"


@pytest.mark.parametrize(("stage", "code"), [("train", 0), ("train@shallow", 0), ("analyse", 0), ("trian", 2), ("train@deep", 2), ("analyse@x", 2), ("", 2)])
def test_gate_knows_the_stages(stage: str, code: int, ran: Project) -> None:
    """A stage that dvc.yaml does not have may not run."""
    done = call(ran, "gate", stage)
    assert done.returncode == code
    assert code == 0 or done.stderr.startswith(f"audit: dvc.yaml: has no stage {stage!r}; expected one of calibrate, train, analyse, evaluate;")


def test_outside_a_project(tmp_path: Path) -> None:
    """Without audit.toml there is one line with the cure."""
    done = audit(tmp_path, "verify")
    assert done.returncode == 2 and "no audit.toml here or above; cure: run inside a project" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 1\n[paths]\nresutls = 'x'\n", "unknown key 'paths.resutls'; expected one of prereg, results, schemas, parameters, manuscript, generated, pdf, exemptions,"),
        ("version = 2\n", "version is not valid"),
        ("version = \n", "not readable as TOML"),
        ("version = 1\n[records]\nmain = '/etc/passwd'\n", "a path leaves the project"),
        ("version = 1\n[paths]\nresults = '../elsewhere'\n", "a path leaves the project"),
    ],
)
def test_bad_configuration(text: str, words: str, ran: Project) -> None:
    """audit.toml is a closed schema; nothing can be switched off in it by a typo."""
    ran.write("audit.toml", text)
    done = call(ran, "verify")
    assert done.returncode == 2 and done.stderr.startswith("audit: audit.toml") and words in done.stderr


def test_a_refusal_does_not_leave_in_the_middle_of_an_import(ran: Project) -> None:
    """What is imported beside the work has ended when the process does: an interpreter that goes away under an import crashes."""
    ran.write("audit.toml", "version = 2\n")
    finder = "type('Slow', (), {'find_spec': lambda self, name, *_: name == 'jsonschema_rs' and (time.sleep(0.5), print('ended', flush=True)) and None or None})()"
    code = f"import sys, time; sys.path.insert(0, {str(CHECKOUT)!r}); sys.meta_path.insert(0, {finder}); from audit.cli import main; sys.exit(main(['verify']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ran.root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "ended\n"), done.stderr


def test_closed_pipe_is_no_traceback(ran: Project) -> None:
    """`audit verify | head -1` ends quietly."""
    code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); from audit.cli import main; sys.exit(main())"
    command = f"{sys.executable} -c '{code.replace(chr(39), chr(34))}' explain | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=ran.root, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("A100") and "Traceback" not in done.stderr


def test_help_is_quick() -> None:
    """`audit --help` imports nothing heavy: less than 0.15 s of processor time more than Python itself."""
    code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); from audit.cli import main; main(['--help'])"
    assert min(processor_time(code) for _ in range(4)) - min(processor_time("pass") for _ in range(4)) < 0.15


def processor_time(code: str) -> float:
    """Seconds of user time of a Python process, whoever else is busy on the machine."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin


def test_schemas_are_published(ran: Project) -> None:
    """`audit schema` writes the schemas of the audit's own files, that of the verdicts among them."""
    assert audit(ran, "schema").returncode == 0
    schema = json.loads(ran.read("schemas/verdicts.json"))
    assert schema["additionalProperties"] is False and {"met", "missed", "undecided", "of", "predictions"} <= set(schema["required"])
    assert audit(ran, "verify").returncode == 0


def test_committed_schemas_are_those_of_the_models() -> None:
    """The schemas in this repository are what `audit schema` writes now."""
    from audit.schema import MODELS

    for kind, model in MODELS.items():
        committed = json.loads((CHECKOUT / "schemas" / f"{kind}.json").read_text())
        assert committed == json.loads(json.dumps(model.model_json_schema())), f"run `audit schema`: schemas/{kind}.json"
