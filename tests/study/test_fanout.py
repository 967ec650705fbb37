"""Tables over processes: the number of workers changes nothing, and an impossible table is refused before anything is trained."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from corpora import refusal
from interruptible import TABLE_SETTING, train_runs
from networks import same_state, write_data

from audit.records import Refusal
from rankcollapse import fanout
from rankcollapse.engine import Run, Stack, fresh_state
from rankcollapse.machines import Fanout
from rankcollapse.progress import Progress, Report
from rankcollapse.schedule import constant
from rankcollapse.text import probe_batch

SHORT = tuple(Run(f"run/{seed}", seed, 6 + seed, constant(0.2 * seed), "hinge", 0.1) for seed in range(5))


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test with checkpoints of its own."""
    monkeypatch.chdir(tmp_path)


def with_workers(monkeypatch, number: int) -> None:
    """Let the machine have so many cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(number)))


def test_two_workers_give_the_bytes_of_one(data, monkeypatch, capfd):
    """Trajectories and states agree to the last byte, come back in the table's order, and leave checkpoints of the same names."""
    results, files = [], []
    for number in (1, 2):
        with_workers(monkeypatch, number)
        results.append(train_runs(data, SHORT, block=2))
        files.append(sorted(path.name for path in fanout.checkpoint_folder("table").glob("*.safetensors")))
        shutil.rmtree(".checkpoints")
    assert len(files[0]) == 3 and files[0] == files[1]
    for run, (trajectory, state), (other, again) in zip(SHORT, *results, strict=True):
        assert trajectory == other and same_state(state, again) and state.step == run.steps
    lines = capfd.readouterr().err.splitlines()
    assert sum(line.rstrip() == "table 3/3: done" for line in lines) == 2


def test_blocks_are_fixed_stretches_of_the_table(data, monkeypatch):
    """Each block is trained as a table of its own would be, bit for bit."""
    with_workers(monkeypatch, 1)
    whole = train_runs(data, SHORT[:4], block=2)
    shutil.rmtree(".checkpoints")
    for start in (0, 2):
        for (trajectory, state), (other, again) in zip(whole[start : start + 2], train_runs(data, SHORT[start : start + 2], block=2), strict=True):
            assert trajectory == other and same_state(state, again)


def stacks(stage: str = "table") -> dict[str, int]:
    """Every finished or interrupted stack of a stage, and when it was written."""
    return {path.name: path.stat().st_mtime_ns for path in fanout.checkpoint_folder(stage).glob("*")}


def test_an_added_run_costs_its_own_block(data, monkeypatch):
    """Finished stacks stay when a stage is tidied: with one run more, only the block that it joins is trained; the block it was is gone then."""
    with_workers(monkeypatch, 1)
    monkeypatch.setattr(fanout, "KEPT", set())
    few = train_runs(data, SHORT[:3], block=2)
    fanout.tidy_checkpoints("table")
    before = stacks()
    monkeypatch.setattr(fanout, "KEPT", set())
    more = train_runs(data, SHORT[:4], block=2)
    fanout.tidy_checkpoints("table")
    after = stacks()
    assert len(before) == len(after) == 2 and len(before.items() & after.items()) == 1, "one block as it lay there, one anew"
    for (trajectory, state), (other, again) in zip(few, more, strict=False):
        assert trajectory == other and same_state(state, again)


def test_tidying_leaves_what_this_process_finished(data, monkeypatch):
    """Interrupted stacks, other tables' and the progress file go; nothing stays where `keep` is off; other stages are left alone."""
    with_workers(monkeypatch, 1)
    monkeypatch.setattr(fanout, "KEPT", set())
    for stage in ("branch@main-deep", "branch@main-deeper"):
        train_runs(data, SHORT[:2], block=1, stage=stage)
    folder = fanout.checkpoint_folder("branch@main-deep")
    (folder / "0123.part.safetensors").write_bytes(b"")
    (folder / "4567.safetensors").write_bytes(b"")
    other, finished = stacks("branch@main-deeper"), {name: when for name, when in stacks("branch@main-deep").items() if name in fanout.KEPT}
    for _ in range(2):
        fanout.tidy_checkpoints("branch@main-deep")
        assert stacks("branch@main-deep") == finished and len(finished) == 2 and stacks("branch@main-deeper") == other
    monkeypatch.setattr(fanout, "KEPT", set())
    train_runs(data, SHORT[:2], block=1, stage="branch@main-deep", fanout=Fanout(keep=False))
    fanout.tidy_checkpoints("branch@main-deep")
    assert stacks("branch@main-deep") == {}


def test_a_refusal_survives_pickling():
    """Line, parts and exit code are the same on the other side."""
    parts = {"expected": "a", "observed": "b", "cure": "c", "code": 1}
    for given in ({}, parts):
        here = Refusal(Path("x.json"), "is odd", **given)
        there = pickle.loads(pickle.dumps(here))
        assert type(there) is Refusal and str(there) == str(here) and vars(there) == vars(here)


def test_a_workers_refusal_comes_home(data, monkeypatch, tmp_path):
    """What a worker refuses, here data that vanished after the table was checked, is the line that the parent refuses with."""
    with_workers(monkeypatch, 2)
    monkeypatch.setattr(fanout, "check_stream", lambda *_: None)
    monkeypatch.setattr("interruptible.probe_batch", lambda *_: probe_batch(data, 2, TABLE_SETTING.shape.context))
    assert refusal(train_runs, tmp_path / "gone", SHORT[:2], block=1).startswith(f"{tmp_path}/gone/")


TABLES = {
    "two of one name": ((SHORT[0], replace(SHORT[1], name="run/0")), "table: a table needs runs of different names; found run/0"),
    "none": ((), "table: a table needs runs of different names; found no run"),
    "longer than the stream": (
        (replace(SHORT[0], steps=401),),
        "train span: stream is shorter than the run needs; expected 4813 tokens (401 steps of 2 sequences of 6, and one); found 4800 tokens; "
        "cure: raise data.documents, or lower steps, batch or context",
    ),
    "longer from its origin on": (
        (replace(SHORT[0], steps=2, origin=replace(fresh_state(0, TABLE_SETTING), step=399)),),
        "train span: stream is shorter than the run needs; expected 4813 tokens (401 steps of 2 sequences of 6, and one); found 4800 tokens; "
        "cure: raise data.documents, or lower steps, batch or context",
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_an_impossible_table_is_refused_in_one_line(data, monkeypatch, kind):
    """The line says what is wrong before a step is taken or a file is written."""
    monkeypatch.setattr(Stack, "step", lambda stack: pytest.fail("a step was taken"))
    runs, expected = TABLES[kind]
    assert refusal(train_runs, data, runs) == expected
    assert not Path(".checkpoints").exists()


def test_the_longest_table_that_fits_is_taken(data, monkeypatch):
    """One step fewer than refused above is accepted."""
    fanout.check_stream([replace(SHORT[0], steps=399)], TABLE_SETTING, str(data))


def test_a_stream_that_changed_is_refused(data, tmp_path, monkeypatch):
    """Tokens that are not those of the index stop the table, with the file's name."""
    other = write_data(tmp_path / "other")
    tokens = other / "tokens.npy"
    tokens.write_bytes(tokens.read_bytes()[:-2] + b"\x01\x00")
    assert refusal(train_runs, other, SHORT).startswith(f"{tokens}: content differs from the index; expected SHA-256 ")


def test_progress_is_quiet_in_a_pipe(capsys, tmp_path):
    """Without a terminal a stack speaks at most every ten seconds, but always when it is done or ignores a checkpoint; the file has all of it."""
    show = Progress(tmp_path)
    reports = [Report("table 1/1", step=step, runs=2, rate=3.0, left=4.0, ranks=[1.5, 2.5]) for step in (1, 2, 3)]
    for report in (*reports[:2], Report("table 1/1", note="checkpoint ignored: x"), reports[2], Report("table 1/1", note="done")):
        show.say(report)
    lines = [line.rstrip() for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "table 1/1: step     1  2 runs    3.0 network-steps/s     4 s left  rank 1.50-2.50",
        "table 1/1: checkpoint ignored: x",
        "table 1/1: done",
    ]
    records = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    assert [record.get("step", record.get("note")) for record in records] == [1, 2, "checkpoint ignored: x", 3, "done"]
    assert {name: records[0][name] for name in ("stack", "runs", "rate", "seconds_left", "rank")} == {
        "stack": "table 1/1", "runs": 2, "rate": 3.0, "seconds_left": 4, "rank": [1.5, 2.5]
    }  # fmt: skip


def test_pythons_tracker_adds_no_line(tmp_path):
    """A semaphore that is gone when Python's tracker looks for it, as happens after an interruption, is not the user's matter."""
    code = """
from multiprocessing import resource_tracker
from rankcollapse import pools
if __name__ == "__main__":
    with pools.open_processes(2, 1, print):
        resource_tracker.register("/not-there", "semaphore")
"""
    (script := tmp_path / "leak.py").write_text(code)
    places = os.pathsep.join(str(Path(__file__).parents[2] / part) for part in ("", "src"))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"} | {"PYTHONPATH": places}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
