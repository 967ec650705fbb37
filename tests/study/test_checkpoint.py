"""Killed anywhere, training goes on to the same bytes; a checkpoint that does not belong is named and left unread."""

from __future__ import annotations

import ast
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from corpora import refusal
from interruptible import LONG, RUNS, STEPS, TABLE_SETTING, train_runs
from networks import SETTING, draw_tokens, make_stack, make_stream, same_state, write_data

from rankcollapse import checkpoint, fanout
from rankcollapse.engine import Run, Stack, fresh_state, train_stack
from rankcollapse.schedule import constant

HERE = Path(__file__).parent
PROBE = draw_tokens(2, SETTING.shape.context + 1).numpy()
ROOT = HERE.parent.parent
STORE = fanout.checkpoint_folder("table")


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    """Each test in a folder and with checkpoints of its own, on one core."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})


@pytest.fixture(scope="module")
def uninterrupted(data, tmp_path_factory):
    """The table's results in one go."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("whole"))
    try:
        return train_runs(data, seconds=1e9)
    finally:
        os.chdir(before)


def same_results(one, other) -> bool:
    """Whether two tables' trajectories and states agree to the last byte."""
    return all(a[0] == b[0] and repr(a[0]) == repr(b[0]) and same_state(a[1], b[1]) for a, b in zip(one, other, strict=True))


def stop_process(data: Path, number: int, table: str = "one block", blocks: int = 1) -> tuple[int, str]:
    """Start a table in a process of its own, send it alone a signal once each block has a checkpoint; its exit code and last words."""
    places = os.pathsep.join(map(str, (ROOT, ROOT / "src", HERE)))
    command = [sys.executable, str(HERE / "interruptible.py"), str(data), table]
    environment = os.environ | {"PYTHONPATH": places, "OMP_NUM_THREADS": "1"}
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a test run in the background ignores Ctrl-C, and its children would too
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=listening) as process:
        deadline = time.monotonic() + 120
        while len(list(STORE.glob("*.safetensors"))) < blocks:
            assert process.poll() is None and time.monotonic() < deadline, process.stderr.read()
            time.sleep(0.005)
        process.send_signal(number)
        _, words = process.communicate(timeout=60)  # until every process that inherited it has ended
    return process.returncode, words


def trained_so_far() -> list[int]:
    """Steps of the longest run in each checkpoint that lies there."""
    return [max(state.step for state in checkpoint.load_states(path)[0].values()) for path in STORE.glob("*.safetensors")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_and_resumed_is_uninterrupted(data, uninterrupted, number):
    """A process told to stop or killed in the middle leaves a checkpoint; the same call then ends with the same bytes."""
    code, words = stop_process(data, number)
    if number == signal.SIGKILL:
        assert code == -signal.SIGKILL
    else:
        assert code == 130 and words.splitlines()[-1] == "interrupted; the same command goes on from the checkpoint"
        assert "Traceback" not in words
    [steps] = trained_so_far()
    assert 0 < steps < STEPS
    assert same_results(train_runs(data), uninterrupted)


def test_a_signal_to_the_parent_alone_stops_its_workers(tmp_path):
    """SIGINT that reaches only the process that owns the pool stops both workers in the middle of their blocks, each with a checkpoint."""
    code, words = stop_process(write_data(tmp_path / "long", tokens=40_000), signal.SIGINT, "two blocks", blocks=2)
    assert (code, words.splitlines()[-1]) == (130, "interrupted; the same command goes on from the checkpoint")
    assert "Traceback" not in words
    steps = trained_so_far()
    assert len(steps) == 2 and all(0 < step < LONG for step in steps)


def test_workers_end_with_their_parent(tmp_path):
    """SIGKILL to the process that owns the pool: both workers save, stop in the middle, and are gone, as the end of their stderr shows."""
    code, words = stop_process(write_data(tmp_path / "long", tokens=40_000), signal.SIGKILL, "two blocks", blocks=2)
    assert code == -signal.SIGKILL and "Traceback" not in words
    steps = trained_so_far()
    assert len(steps) == 2 and all(0 < step < LONG for step in steps)


def count_steps(monkeypatch) -> list[int]:
    """A list that grows with each training step."""
    taken, step = [], Stack.step
    monkeypatch.setattr(Stack, "step", lambda stack: (taken.append(stack.clock[stack.alive[0]]), step(stack)))
    return taken


def test_a_finished_table_is_not_trained_again(data, uninterrupted, monkeypatch):
    """The second call with the same table takes no step and returns the same bytes."""
    first = train_runs(data)
    taken = count_steps(monkeypatch)
    assert same_results(train_runs(data), first) and same_results(first, uninterrupted) and not taken


def test_a_full_disk_leaves_the_checkpoint_before(data, uninterrupted, monkeypatch, capsys):
    """When the third checkpoint stops fitting in the middle of being written, one line says so, the second is whole, and the same bytes come of it."""
    save, calls, hard = fanout.save_stack, [], resource.getrlimit(resource.RLIMIT_FSIZE)[1]

    def fill(path, stack, digest):
        calls.append(stack.clock[0])
        if len(calls) == 3:
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
        save(path, stack, digest)

    monkeypatch.setattr(fanout, "save_stack", fill)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        line = refusal(train_runs, data)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        signal.signal(signal.SIGXFSZ, before)
    [path] = STORE.glob("*.safetensors")
    cure = "make room and run the same command again: it goes on from the checkpoint before"
    assert line == f"{path}: checkpoint cannot be written; found File too large; cure: {cure}"
    assert path.stat().st_size > 8192 and not [each for each in STORE.iterdir() if each.name.startswith(f".{path.name}")]
    monkeypatch.setattr(fanout, "save_stack", save)
    assert same_results(train_runs(data), uninterrupted)
    assert f"goes on from step {calls[1]}" in capsys.readouterr().err


SPOILT = {
    "truncated": lambda bytes_: bytes_[: len(bytes_) // 2],
    "empty": lambda bytes_: b"",
    "foreign": lambda bytes_: b"{} not a state file",
}


@pytest.mark.parametrize("kind", SPOILT)
def test_an_unreadable_checkpoint_is_named_and_ignored(data, monkeypatch, capsys, kind):
    """One line names the file; training starts over and ends with the same bytes."""
    first = train_runs(data, RUNS[2:], seconds=1e9)
    [path] = STORE.glob("*.safetensors")
    path.write_bytes(SPOILT[kind](path.read_bytes()))
    taken = count_steps(monkeypatch)
    assert same_results(train_runs(data, RUNS[2:], seconds=1e9), first) and taken[0] == 0
    assert f"table 1/1: checkpoint ignored: {path}: not a readable state file; found " in capsys.readouterr().err


def test_another_configurations_checkpoint_is_named_and_ignored(data, monkeypatch, capsys):
    """A readable checkpoint of another table under this one's name is not gone on from."""
    first = train_runs(data, RUNS[2:], seconds=1e9)
    [path] = STORE.glob("*.safetensors")
    states, note = checkpoint.load_states(path)
    checkpoint.save_states(path, states, note | {"digest": "0" * 64})
    taken = count_steps(monkeypatch)
    assert same_results(train_runs(data, RUNS[2:], seconds=1e9), first) and taken[0] == 0
    assert f"checkpoint ignored: {path}: checkpoint of another configuration" in capsys.readouterr().err


def test_a_checkpoint_without_its_directions_is_named_and_ignored(data, monkeypatch, capsys):
    """States without the vectors that belong to them are no checkpoint: training starts over and ends with the same bytes."""
    runs = (replace(RUNS[0], steps=6), RUNS[1])
    whole = train_runs(data, runs, seconds=1e9)
    [path] = STORE.glob("*.safetensors")
    digest = checkpoint.load_states(path)[1]["digest"]
    part = Stack(runs, TABLE_SETTING, make_stream(), draw_tokens(2, SETTING.shape.context + 1))
    checkpoint.save_stack(path, part, digest)
    checkpoint.save_states(path, *checkpoint.load_states(path))
    taken = count_steps(monkeypatch)
    assert same_results(train_runs(data, runs, seconds=1e9), whole) and taken[0] == 0
    assert f"checkpoint ignored: {path}: not a whole checkpoint; found " in capsys.readouterr().err


CHANGES = {
    "a run's seed": lambda runs, setting: ((replace(runs[0], seed=9), *runs[1:]), setting),
    "a run's length": lambda runs, setting: ((replace(runs[0], steps=7), *runs[1:]), setting),
    "a skip scale": lambda runs, setting: ((replace(runs[0], skip=constant(0.5)), *runs[1:]), setting),
    "a term": lambda runs, setting: ((replace(runs[1], term="penalty"), *runs[:1], *runs[2:]), setting),
    "an added loss": lambda runs, setting: ((replace(runs[1], added=0.3), *runs[:1], *runs[2:]), setting),
    "when to measure": lambda runs, setting: ((replace(runs[0], measure_every=3), *runs[1:]), setting),
    "a stop rule": lambda runs, setting: ((*runs[:3], replace(runs[3], stop=None)), setting),
    "the order": lambda runs, setting: (runs[::-1], setting),
    "an origin": lambda runs, setting: ((replace(runs[0], origin=fresh_state(0, setting)), *runs[1:]), setting),
    "the batch": lambda runs, setting: (runs, replace(setting, batch=3)),
    "the healthy value": lambda runs, setting: (runs, replace(setting, healthy_q=2.0)),
    "the learning rate": lambda runs, setting: (runs, replace(setting, optimiser=setting.optimiser.model_copy(update={"learning_rate": 1e-3}))),
    "the heads": lambda runs, setting: (runs, replace(setting, shape=replace(setting.shape, heads=4))),
}


@pytest.mark.parametrize("name", CHANGES)
def test_everything_that_decides_a_result_is_in_its_digest(name):
    """Two stacks that differ in one value never share a checkpoint."""
    digest = lambda runs, setting, data="a": checkpoint.digest_stack(list(runs), setting, PROBE, {"data": data})  # noqa: E731
    plain = digest(RUNS, TABLE_SETTING)
    assert digest(*CHANGES[name](RUNS, TABLE_SETTING)) != plain
    assert digest(RUNS, TABLE_SETTING) == plain != digest(RUNS, TABLE_SETTING, "b")


def test_origins_count_by_content():
    """An origin that differs in one bit of one moment gives another digest."""
    origin = fresh_state(0, SETTING)
    other = replace(origin, moment2=origin.moment2.clone())
    other.moment2[5] = 1e-20
    one, two = (checkpoint.digest_stack([Run("a", 0, 5, origin=state)], SETTING, PROBE, {}) for state in (origin, other))
    assert one != two


def test_the_probe_batch_is_in_the_digest(data):
    """A table measured on another probe batch does not go on from this one's checkpoint."""
    arguments = {"folder": str(data), "block": 1, "data": {}, "store": STORE, "seconds": 1e9}
    few, more = (draw_tokens(n, SETTING.shape.context + 1).numpy() for n in (2, 3))
    results = [fanout.train_table("table", [Run("a", 0, 5)], TABLE_SETTING, probe=probe, **arguments)[0][0].loss for probe in (few, more)]
    assert results[0] != results[1]


@pytest.fixture
def copied_code(tmp_path, monkeypatch):
    """A copy of the study's modules, which the digest reads in place of the real ones."""
    folder = shutil.copytree(Path(checkpoint.__file__).parent, tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(checkpoint, "__file__", str(folder / "checkpoint.py"))
    return folder


@pytest.mark.parametrize("name", checkpoint.CODE)
def test_code_is_in_the_digest(copied_code, name):
    """A checkpoint of other code than today's, by one byte in one module, is not gone on from; what a plan costs decides nothing."""
    digest = lambda: checkpoint.digest_stack(list(RUNS), TABLE_SETTING, PROBE, {})  # noqa: E731
    plain = digest()
    assert (copied_code / "costs.py").is_file() and "costs.py" not in checkpoint.CODE
    with (copied_code / "costs.py").open("a") as stream:
        stream.write(" ")
    assert digest() == plain
    with (copied_code / name).open("a") as stream:
        stream.write(" ")
    assert digest() != plain


def test_the_librarys_version_is_in_the_digest(monkeypatch):
    """A checkpoint made with another release of torch is not gone on from."""
    plain = checkpoint.digest_stack(list(RUNS), TABLE_SETTING, PROBE, {})
    monkeypatch.setattr(torch, "__version__", "0.0.1")
    assert checkpoint.digest_stack(list(RUNS), TABLE_SETTING, PROBE, {}) != plain


def test_the_digest_covers_what_the_engine_imports():
    """The engine, and what it imports of the study, is in the digest, but for parameters, whose values are in it, and what carries data."""
    source = ROOT / "src" / "rankcollapse"
    seen, todo = set(), ["engine/runs.py", "engine/stack.py"]
    while todo:
        name = todo.pop()
        seen.add(name)
        tree = ast.parse((source / name).read_text())
        imported = {node.module + "." + alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names if node.module}
        for target in imported:
            parts = target.split(".")[1:] if target.startswith("rankcollapse") else []
            found = [f"{'/'.join(parts[:length])}.py" for length in (1, 2, 3) if (source / f"{'/'.join(parts[:length])}.py").is_file()]
            todo += [file for file in found if file not in seen]
    assert len(seen) > 9 and seen - {"params.py", "groups.py", "fields.py", "machines.py"} <= {*checkpoint.CODE, "corpus.py", "manifest.py", "vocabulary.py"}


def test_the_same_states_are_the_same_bytes(tmp_path):
    """States written many times give one file content, since records name its digest."""
    states = {f"event-{seed}": fresh_state(seed, SETTING) for seed in range(4)}
    contents = set()
    for _ in range(8):
        checkpoint.save_states(tmp_path / "states.safetensors", states)
        contents.add((tmp_path / "states.safetensors").read_bytes())
    assert len(contents) == 1


def test_states_survive_the_disk(tmp_path):
    """Names, steps, notes and every bit come back; a broken file is refused in one line."""
    path = tmp_path / "states.safetensors"
    states = {"event-3": fresh_state(3, SETTING), "control/0": replace(fresh_state(0, SETTING), step=655)}
    checkpoint.save_states(path, states, {"digest": "x"})
    again, note = checkpoint.load_states(path)
    assert note == {"digest": "x"} and set(again) == set(states) and all(same_state(again[name], states[name]) for name in states)
    path.write_bytes(path.read_bytes()[:-8])
    line = refusal(checkpoint.load_states, path)
    assert line.startswith(f"{path}: not a readable state file; found ") and line.endswith("cure: delete it and run `dvc repro` again")
    assert refusal(checkpoint.load_states, tmp_path / "none").startswith(f"{tmp_path}/none: not a readable state file; found ")


@pytest.mark.parametrize("cut", range(1, 13, 2))
def test_a_stack_resumes_from_any_step(tmp_path, cut):
    """Saved after any step, with runs of three lengths, a stack goes on to the same bytes."""
    runs = [Run("a", 0, 12, measure_every=3), Run("b", 1, 4, constant(0.2), "hinge", 0.1), Run("c", 2, 8, constant(0.5))]
    whole = train_stack(make_stack(runs))
    path, part = tmp_path / "part.safetensors", make_stack(runs)
    part.solve_weights()
    for _ in range(cut):
        part.measure()
        part.retire()
        part.step()
    checkpoint.save_stack(path, part, "digest")
    again = Stack(runs, SETTING, make_stream(), draw_tokens(4, SETTING.shape.context + 1, seed=1))
    assert checkpoint.resume_stack(path, again, "digest") == ""
    assert [again.clock[i] for i in again.alive] == [part.clock[i] for i in part.alive] and torch.equal(again.flat, part.flat)
    assert same_results(train_stack(again), whole)
