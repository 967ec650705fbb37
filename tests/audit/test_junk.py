"""Whatever stands in a file of the project, the audit answers with findings and never with a traceback."""

from __future__ import annotations

import os
import threading

import pytest
from project import Project

from audit.close import main as close
from audit.verify import verify

FILES = (
    "results/train/shallow.json", "results/analyse/main.json", "results/evaluate/pilot.json", "results/train/shallow.run.json",
    "prereg/pilot.seal.json", "prereg/pilot.outcome.json", "prereg/pilot.yaml", "schemas/training.json", "dvc.lock", "dvc.yaml", "params.yaml",
    "prereg/pilot/calibration.json",
)  # fmt: skip
JUNK = {
    "nothing": b"",
    "list": b"[]\n",
    "object": b"{}\n",
    "number": b"7\n",
    "bytes": b"\xff\xfe\x00",
    "shapes": b'{"kind": "verdicts", "provenance": {"data": [1], "seals": 3, "seeds": "x"}, "predictions": 3, "stages": [1], "value": {}, "unit": 1}\n',
    "deeper": b'{"kind": "training", "score": {"value": "3", "unit": 1}, "stages": {"a": {"outs": [1], "cmd": 3}}, "provenance": null}\n',
}


@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_a_finding(junk: str, ran: Project) -> None:
    """Each file in turn holds junk: the answer is a finding or could-not-check, with a place, in one line each."""
    with ran.inside():
        close("pilot")
    ran.commit("Close")
    for path in FILES:
        before = ran.read(path)
        ran.write(path, JUNK[junk])
        report = verify(ran.context())
        assert report.code in (1, 2), f"{junk} in {path} passes"
        assert all("\n" not in finding.line() and finding.place for finding in report.findings)
        ran.write(path, before)
    assert verify(ran.context()).code == 0


@pytest.mark.parametrize("path", ["results/analyse/main.json", "results/analyse/other.json", "prereg/pilot.seal.json", "params.yaml", "dvc.yaml"])
def test_a_pipe_is_not_waited_for(path: str, ran: Project) -> None:
    """A named pipe in place of a file, or beside it, does not stop the audit for ever."""
    (ran.root / path).unlink(missing_ok=True)
    os.mkfifo(ran.root / path)
    answers: list[int] = []
    asked = threading.Thread(target=lambda: answers.append(verify(ran.context()).code), daemon=True)
    asked.start()
    asked.join(60)
    assert answers and answers[0] in (1, 2)


def test_a_matrix_of_no_axes(ran: Project) -> None:
    """What DVC refuses to read is a finding here too, and no traceback."""
    ran.edit("dvc.yaml", "matrix: {role: [shallow]}", "matrix: [1]")
    assert verify(ran.context()).code in (1, 2)
