"""Ways to tamper with a project: one function each."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from typing import Any

import scripts
from project import PILOT, Project

from audit.close import main as close
from audit.records import Quantity

SECOND = PILOT.replace("id: pilot", "id: second").replace("results/analyse/main.json", "results/train/shallow.json")
SECOND = SECOND.replace("stage: analyse", "stage: train").replace("key: arms.treated", "key: score").replace("than: arms.untreated", "value: 0.5")
SECOND = SECOND.replace("sets: {main: 3}", "sets: {second: 3}")
SECOND = SECOND.replace('    undecided: {key: settled, op: "<", value: 2}\n', "")
ELSEWHERE = "holds_for: {scale: paper}"


def forge(project: Project, name: str, change: Callable[[Any], None]) -> None:
    """Change a record, its run log and dvc.lock together."""
    record = json.loads(project.read(f"results/{name}.json"))
    change(record)
    data = json.dumps(record, sort_keys=True, indent=1) + "\n"
    project.write(f"results/{name}.json", data)
    relog(project, name, record_sha256=hashlib.sha256(data.encode()).hexdigest())


def relog(project: Project, name: str, **changed: Any) -> None:
    """Change a run log and dvc.lock."""
    log = json.loads(project.read(f"results/{name}.run.json"))
    project.write(f"results/{name}.run.json", json.dumps({**log, **changed}, sort_keys=True, indent=1) + "\n")
    project.lock()


def bad_parameters(p: Project) -> None:
    p.write("params.yaml", "scale: [laptop\n")


def bad_registration(p: Project) -> None:
    p.write("prereg/second.yaml", SECOND.replace("primary: P1", "primary: P9"))


def outcome_without_seal(p: Project) -> None:
    p.write("results/analyse/main.json", "{}")


def seal_content(p: Project) -> None:
    p.edit("prereg/pilot.seal.json", '"content": "', '"content": "0')


def seal_bytes(p: Project) -> None:
    p.edit("prereg/pilot.seal.json", '"warnings": [', '"warnings":  [')


def frozen_code(p: Project) -> None:
    p.edit("judge.py", "0.5", "0.4")


def committed_line_endings(p: Project) -> None:
    p.edit("judge.py", "\n", "\r\n")
    p.commit("Another editor")


def frozen_parameter(p: Project) -> None:
    p.edit("params.yaml", "line: 0.5", "line: 0.4")


def ledger_left_out(p: Project) -> None:
    p.write("prereg/second.yaml", SECOND)
    p.commit("Register a second")
    p.seal("second")
    seal = json.loads(p.read("prereg/second.seal.json"))
    assert seal["ledger"], "the honest ledger names the first seal"
    p.write("prereg/second.seal.json", json.dumps({**seal, "ledger": {}}))
    p.commit("Seal the second")


def seal_before_its_bytes(p: Project) -> None:
    p.write("prereg/second.yaml", SECOND)
    p.commit("Register a second")
    p.seal("second")
    p.commit("Seal", "prereg/second.seal.json")
    p.commit("The copies, later")


def attributes(p: Project) -> None:
    p.write(".gitattributes", "prereg/** text=auto\n")


def same_predictions(p: Project) -> None:
    p.write("prereg/second.yaml", PILOT.replace("id: pilot", "id: second").replace("holds_for: {scale: laptop, seed_sets.main: pilot}", ELSEWHERE))


def other_calibration(p: Project) -> None:
    run = p.start("calibrate", inputs=["params.yaml"])
    from project import Calibration

    with p.inside():
        run.finish(Calibration(provenance=run.provenance, line=Quantity(value=0.9, digits=1, tolerance=0.01)), "results/calibrate/calibration.json")
    p.lock()
    p.commit("Calibrate again")


def unknown_metric(p: Project) -> None:
    p.write("prereg/second.yaml", SECOND.replace("results/train/shallow.json", "results/none/none.json"))


def edited_outcome(p: Project) -> None:
    with p.inside():
        close("pilot")
    p.commit("Close")
    p.edit("prereg/pilot.outcome.json", '"P1": "met"', '"P1": "missed"')


def moved_log(p: Project) -> None:
    with p.inside():
        close("pilot")
    path = "prereg/pilot.outcome.json"
    outcome = json.loads(p.read(path))
    outcome["records"]["results/analyse/main.run.json"] = outcome["logs"].pop("results/analyse/main.run.json")
    p.write(path, json.dumps(outcome))
    p.commit("Close, a log among the records")


def outcome_without_record(p: Project) -> None:
    with p.inside():
        close("pilot")
    path = "prereg/pilot.outcome.json"
    outcome = json.loads(p.read(path))
    del outcome["records"]["results/evaluate/pilot.json"]
    p.write(path, json.dumps(outcome))
    p.commit("Close, without the verdicts' record")


def lost_object(p: Project) -> None:
    blob = p.git("rev-parse", "HEAD:results/train/shallow.run.json")
    scripts.Script(p, p).put(p.head())
    p.commit("Run again")
    (p.root / ".git/objects" / blob[:2] / blob[2:]).unlink()


def mended(p: Project) -> None:
    p.train()
    p.analyse((1, 0, 0))
    p.evaluate()
    p.lock()
    p.commit("Missed")
    p.analyse((1, 1, 1))
    p.evaluate()
    p.lock()
    p.commit("Met")


def better_after_closing(p: Project) -> None:
    p.train()
    p.analyse((1, 0, 0))
    p.evaluate()
    p.lock()
    p.commit("Missed")
    with p.inside():
        close("pilot")
    p.commit("Close")
    p.analyse((1, 1, 1))
    p.evaluate()
    p.lock()
    p.commit("Met")


def no_history(p: Project) -> None:
    shutil.rmtree(p.root / ".git")


def replace_ref(p: Project) -> None:
    p.git("replace", "HEAD", "HEAD~1")


def grafts_file(p: Project) -> None:
    p.write(".git/info/grafts", f"{p.head()}\n")


def hidden_from_git(p: Project) -> None:
    p.git("update-index", "--skip-worktree", "audit.toml")


def assumed_unchanged(p: Project) -> None:
    p.git("update-index", "--assume-unchanged", "audit.toml")


def bad_lock(p: Project) -> None:
    p.write("dvc.lock", "schema: '2.0'\nstages: {a: 1, a: 2}\n")


def not_a_number(p: Project) -> None:
    p.edit("results/train/shallow.json", '"tolerance": 1.0', '"tolerance": NaN')


def repeated_key(p: Project) -> None:
    p.edit("results/train/shallow.json", '"tolerance": 1.0', '"tolerance": 1.0,\n  "tolerance": 2.0')


def extra_key(p: Project) -> None:
    forge(p, "train/shallow", lambda record: record.update(comment="fine"))


def no_schema(p: Project) -> None:
    p.git("rm", "-q", "schemas/training.json")
    p.commit("Drop a schema")


def loose_schema(p: Project) -> None:
    p.write("schemas/training.json", '{"type": "object"}')
    p.commit("Anything goes")


def schema_elsewhere(p: Project) -> None:
    schema = json.loads(p.read("schemas/training.json"))
    schema["properties"]["provenance"] = {"$ref": (p.root / "anything.json").as_uri()}
    p.write("anything.json", "true")
    p.write("schemas/training.json", json.dumps(schema))
    p.commit("Part of the schema lies elsewhere")


def no_provenance(p: Project) -> None:
    schema = json.loads(p.read("schemas/training.json"))
    schema["required"].remove("provenance")
    p.write("schemas/training.json", json.dumps(schema))
    forge(p, "train/shallow", lambda record: record.pop("provenance"))


def log_of_another(p: Project) -> None:
    relog(p, "evaluate/pilot", record_sha256="0" * 64)


def edited_log(p: Project) -> None:
    p.edit("results/evaluate/pilot.run.json", '"threads": ', '"threads": 1')


def edited_record(p: Project) -> None:
    p.edit("results/train/shallow.json", '"tolerance": 1.0', '"tolerance": 2.0')


def no_lock(p: Project) -> None:
    p.git("rm", "-q", "dvc.lock")
    p.commit("Drop the lock")


def no_log(p: Project) -> None:
    p.git("rm", "-q", "results/evaluate/pilot.run.json")
    p.commit("Drop a log")


def typed_summary(p: Project) -> None:
    forge(p, "train/shallow", lambda record: record["score"].update(value=1.0))


def dropped_seed(p: Project) -> None:
    forge(p, "train/shallow", lambda record: record["provenance"]["seeds"].pop())


def flipped_verdict(p: Project) -> None:
    forge(p, "evaluate/pilot", lambda record: record["predictions"][0].update(verdict="missed"))


def typed_count(p: Project) -> None:
    forge(p, "evaluate/pilot", lambda record: record["met"].update(value=3))


def frozen_stage(p: Project) -> None:
    p.edit("dvc.yaml", "  analyse:\n", "  analyse:\n    frozen: true\n")


def frozen_cells(p: Project) -> None:
    p.edit("dvc.yaml", "    matrix: {role: [shallow]}\n", "    matrix: {role: [shallow]}\n    frozen: true\n")


def frozen_each(p: Project) -> None:
    old = p.read("dvc.yaml").partition("  train:\n")[2].partition("  analyse:\n")[0]
    body = "".join(f"  {line}\n" for line in old.splitlines()[1:]).replace("item.role", "item")
    p.edit("dvc.yaml", old, f"    foreach: [shallow]\n    do:\n      frozen: true\n{body}")


def other_parameters(p: Project) -> None:
    p.edit("dvc.lock", "    cmd: python -m stages.train shallow\n", "    cmd: python -m stages.train shallow\n    params: {params.yaml: {thresholds: {line: 0.4}}}\n")


def other_code(p: Project) -> None:
    relog(p, "train/shallow", code={"src/model.py": "0" * 64})
    p.commit("A log that names strange code")


def unproduced(p: Project) -> None:
    p.write("results/extra/calibration.json", p.read("results/calibrate/calibration.json"))


def other_command(p: Project) -> None:
    p.edit("dvc.yaml", "python -m stages.train ${item.role}", "python -m stages.train ${item.role} --quick")


def stale_source(p: Project) -> None:
    forge(p, "train/shallow", lambda record: record["score"].update(tolerance=2.0))


def script(function: Callable[[scripts.Script], object]) -> Callable[[Project], None]:
    """A scripted history as a tampering; `honest` stands beside the project."""

    def tamper(p: Project) -> None:
        function(scripts.Script(p, Project(p.root.parent / "honest")))

    tamper.__name__ = function.__name__
    return tamper
