"""Ways to tamper with amendments, with deviations, and with what closes them; and the honest acts they imitate."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from project import Project
from tampering import SECOND, forge, relog
from tampering_files import link

from audit.amend import main as amend
from audit.close import main as close
from audit.digest import sha256_bytes

DECLARED = "- {kind: parameters, what: steps, why: They had not settled.}\n"
AMENDMENT = """\
amends: pilot
number: 1
why: Two of three is too easily met.
known: Nothing had run.
predictions:
  - id: P1
    claim: All runs recover.
    metric: {file: results/analyse/main.json, stage: analyse, key: arms.treated}
    comparator: {op: ">=", value: 4}
    "null": No run recovers.
  - id: P3
    claim: All runs settle.
    metric: {file: results/analyse/main.json, stage: analyse, key: settled}
    comparator: {op: "==", value: 3}
    "null": Some do not.
"""


def write_amendment(p: Project, number: int = 1, value: int = 4) -> str:
    """A draft in the project's tree, written by hand."""
    text = AMENDMENT.replace("number: 1", f"number: {number}").replace(">=\", value: 4", f">=\", value: {value}").replace("==\", value: 3", f"==\", value: {number + 2}")
    p.write(f"prereg/pilot.amendment-{number}.yaml", text)
    return text


def amended(p: Project, number: int = 1, value: int = 4) -> None:
    """An honest amendment: drafted, committed, sealed, committed."""
    write_amendment(p, number, value)
    p.commit(f"Draft amendment {number}")
    seal_amendment(p)
    p.commit(f"Seal amendment {number}")


def seal_amendment(p: Project) -> None:
    with p.inside(), contextlib.redirect_stdout(None):
        amend("pilot")


def judged_again(p: Project) -> None:
    """The verdicts after an amendment, committed."""
    p.evaluate()
    p.lock()
    p.commit("Judge again")


def closed(p: Project) -> dict[str, Any]:
    """The outcome as closing writes it, not committed."""
    with p.inside(), contextlib.redirect_stdout(None):
        close("pilot")
    outcome: dict[str, Any] = json.loads(p.read("prereg/pilot.outcome.json"))
    return outcome


def registration_dropped(p: Project) -> None:
    p.write("prereg/second.yaml", SECOND)
    p.commit("Register a second")
    p.seal("second")
    p.commit("Seal the second")
    p.git("rm", "-q", "-r", "prereg/second", "prereg/second.yaml", "prereg/second.seal.json")
    p.commit("Forget the second")


def forged_seal(p: Project, number: int, predecessor: str, **changed: Any) -> None:
    """The seal of an amendment as nobody's tool would write it."""
    text, first = p.read(f"prereg/pilot.amendment-{number}.yaml").encode(), p.read("prereg/pilot.seal.json").encode()
    seal = {
        "kind": "amendment-seal", "version": 1, "amends": "pilot", "number": number, "amendment": f"prereg/pilot.amendment-{number}.yaml",
        "sha256": sha256_bytes(text), "predecessor": predecessor, "ledger": {"pilot": sha256_bytes(first)},
    }  # fmt: skip
    p.write(f"prereg/pilot.amendment-{number}.seal.json", json.dumps({**seal, **changed}, sort_keys=True, indent=1) + "\n")


def seal_digest(p: Project, name: str = "pilot") -> str:
    return sha256_bytes(p.read(f"prereg/{name}.seal.json").encode())


def second_on_one_predecessor(p: Project) -> None:
    amended(p)
    write_amendment(p, 2, 2)
    forged_seal(p, 2, seal_digest(p))
    p.commit("Another amendment of the registration itself")
    judged_again(p)


def fork_given_up(p: Project) -> None:
    """Two amendments on one predecessor on two branches; the luckier one is kept, the other lives in history alone."""
    p.git("checkout", "-q", "-b", "other")
    write_amendment(p, 1, 2)
    p.commit("Draft")
    seal_amendment(p)
    p.commit("Seal")
    p.git("checkout", "-q", "main")
    amended(p)
    p.git("merge", "-q", "-s", "ours", "other", "-m", "Keep ours")
    judged_again(p)


def gap(p: Project) -> None:
    amended(p)
    write_amendment(p, 3, 2)
    forged_seal(p, 3, seal_digest(p, "pilot.amendment-1"))
    p.commit("Number three")
    judged_again(p)


def text_edited(p: Project) -> None:
    amended(p)
    p.edit("prereg/pilot.amendment-1.yaml", "value: 4", "value: 1")
    p.commit("A little easier")
    judged_again(p)


def seal_edited(p: Project) -> None:
    amended(p)
    judged_again(p)
    p.edit("prereg/pilot.amendment-1.seal.json", '"version": 1', '"version":  1')


def sealed_twice(p: Project) -> None:
    amended(p)
    p.edit("prereg/pilot.amendment-1.yaml", "value: 4", "value: 1")
    forged_seal(p, 1, seal_digest(p))
    p.commit("Seal it again")
    judged_again(p)


def amendment_dropped(p: Project) -> None:
    amended(p)
    p.git("rm", "-q", "prereg/pilot.amendment-1.yaml", "prereg/pilot.amendment-1.seal.json")
    p.commit("It never was")


def seal_before_its_text(p: Project) -> None:
    text = write_amendment(p)
    forged_seal(p, 1, seal_digest(p))
    p.write("prereg/pilot.amendment-1.yaml", text + "# to be written\n")
    p.commit("Seal")
    p.write("prereg/pilot.amendment-1.yaml", text)
    p.commit("The text that fits")
    judged_again(p)


def another_record(p: Project) -> None:
    text = write_amendment(p).replace("file: results/analyse/main.json, stage: analyse, key: settled", "file: results/train/shallow.json, stage: train, key: score")
    p.write("prereg/pilot.amendment-1.yaml", text)
    forged_seal(p, 1, seal_digest(p))
    p.commit("An amendment about another record")
    judged_again(p)


def linked_amendment(p: Project) -> None:
    amended(p)
    judged_again(p)
    link(p, "prereg/pilot.amendment-1.yaml")


def linked_amendment_seal(p: Project) -> None:
    amended(p)
    judged_again(p)
    link(p, "prereg/pilot.amendment-1.seal.json")


def linked_declaration(p: Project) -> None:
    parameter_tuned(p)
    p.write("prereg/pilot.deviations.yaml", DECLARED)
    link(p, "prereg/pilot.deviations.yaml")


def ledger_without_the_amendment(p: Project) -> None:
    amended(p)
    judged_again(p)
    p.write("prereg/second.yaml", SECOND)
    p.commit("Register a second")
    p.seal("second")
    seal = json.loads(p.read("prereg/second.seal.json"))
    assert set(seal["ledger"]) == {"pilot", "pilot.amendment-1"}, "the honest ledger names the amendment"
    del seal["ledger"]["pilot.amendment-1"]
    p.write("prereg/second.seal.json", json.dumps(seal))
    p.commit("Seal the second")


def called_before_the_outcome(p: Project) -> None:
    amended(p)
    p.evaluate()
    forge(p, "evaluate/pilot", lambda record: record["predictions"][0]["amended"].update(sealed="before outcome"))


def amended_verdict_flipped(p: Project) -> None:
    amended(p)
    p.evaluate()
    forge(p, "evaluate/pilot", lambda record: record["predictions"][0]["amended"].update(verdict="met"))


def parameter_tuned(p: Project) -> None:
    """A parameter that the registration leaves open, changed after the seal."""
    p.write("params.yaml", p.read("params.yaml") + "steps: 200\n")
    p.commit("Longer runs")
    p.ran()


def import_exchanged(p: Project, changed: str = "LINE = 0.4\n") -> None:
    """The frozen file stays; a module that the run loads beside it is another one than at the seal."""
    p.git("reset", "-q", "--hard", "HEAD~1")
    p.write("src/line.py", "LINE = 0.5\n")
    p.commit("What the judge imports")
    p.sealed()
    p.write("src/line.py", changed)
    p.git("commit", "-q", "--allow-empty", "-a", "-m", "Another line")
    p.train()
    relog(p, "train/shallow", code={"src/line.py": sha256_bytes(changed.encode())})
    p.analyse()
    p.evaluate()
    p.lock()
    p.commit("Results")


def data_exchanged(p: Project, sealed_bytes: str = "1 2 3\n") -> None:
    """A data file that lay there at the seal and has other bytes in the run."""
    p.git("reset", "-q", "--hard", "HEAD~1")
    p.write("data.txt", sealed_bytes)
    p.commit("Data")
    p.sealed()
    p.write("data.txt", "1 2 3 4\n")
    p.git("commit", "-q", "--allow-empty", "-a", "-m", "More data")
    run = p.start("train@shallow", inputs=["params.yaml", "data.txt", "results/calibrate/calibration.json"], seed_set="main", set_value="pilot")
    p.train(run=run)
    p.analyse()
    p.evaluate()
    p.lock()
    p.commit("Results")


def package_exchanged(p: Project, locked: str = "2.0.0") -> None:
    """A package in another version than the lock of the environment named at the seal."""
    p.git("reset", "-q", "--hard", "HEAD~1")
    p.write("requirements.lock", f"# locked\nStrange_Lib=={locked}\n")
    p.commit("Lock")
    p.sealed()
    p.train()
    relog(p, "train/shallow", packages={"strange.lib": "2.5.0+local", "unlocked": "1"})
    p.analyse()
    p.evaluate()
    p.lock()
    p.commit("Results")


def exemption_added(p: Project) -> None:
    p.write("manuscript/exemptions.yaml", "version: 1\nexemptions: []\n")
    p.commit("Room for exemptions")


def declared_for_nothing(p: Project) -> None:
    p.write("prereg/pilot.deviations.yaml", "- {kind: data, what: data.txt, why: It was longer.}\n")


def declared_badly(p: Project) -> None:
    p.write("prereg/pilot.deviations.yaml", "- {kind: data, what: data.txt, because: It was longer.}\n")


def declared_for_nobody(p: Project) -> None:
    p.write("prereg/pilto.deviations.yaml", "- {kind: data, what: data.txt, why: It was longer.}\n")


def deviation_left_out(p: Project) -> None:
    parameter_tuned(p)
    p.write("prereg/pilot.deviations.yaml", DECLARED)
    p.commit("Declare it")
    outcome = closed(p)
    assert len(outcome["deviations"]) == 1
    p.write("prereg/pilot.outcome.json", json.dumps({**outcome, "deviations": []}))
    p.commit("Close")


def deviation_made_up(p: Project) -> None:
    row = {"kind": "data", "what": "data.txt", "registered": "absent", "run": "absent", "why": "Who knows."}
    p.write("prereg/pilot.outcome.json", json.dumps({**closed(p), "deviations": [row]}))
    p.commit("Close")
