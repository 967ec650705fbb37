"""Tables over a Dask cluster: the bytes of one process, on from the checkpoint where a worker died, and one line where it cannot work."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import distributed
import pytest
from corpora import read_folder, refusal
from interruptible import LONG, RUNS, TABLE_SETTING
from networks import same_state, write_data

from rankcollapse import checkpoint, fanout, pools
from rankcollapse.engine import Fork, Run, fresh_state
from rankcollapse.experiments import joined
from rankcollapse.params import Fanout
from rankcollapse.progress import Report
from rankcollapse.text import probe_batch

STORE = fanout.checkpoint_folder("table")
TREE = (*RUNS, Run("fork/0", 0, 10, origin=Fork("plain/0", 40)), Run("fork/1", 1, 10, origin=Fork("fork/0", 45)))
LASTING, HERE_ALONE = (replace(RUNS[0], steps=LONG),), Fanout(workers=1)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A prepared data folder, long enough for a stack to be interrupted in."""
    return write_data(tmp_path_factory.mktemp("data"), tokens=40_000)


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, each a process that its nanny starts again."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=50) as cluster:
        yield cluster
    gc.collect()  # what Dask leaves to be finalised is not left to another test


@pytest.fixture
def dask(cluster):
    """The parameters that name the cluster, once both workers have the study loaded."""
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        client.run(fanout.prepare_threads)
    return Fanout(kind="dask", scheduler=cluster.scheduler_address)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test with checkpoints of its own."""
    monkeypatch.chdir(tmp_path)


def train(data: Path, where: Fanout, runs=RUNS[:1], setting=TABLE_SETTING, *, store: Path = STORE, block: int = 1, seconds: float = 1e9):
    """Train a table; its results."""
    arguments = {"folder": str(data), "block": block, "data": {"data": "a" * 64}, "store": store, "seconds": seconds, "fanout": where}
    return fanout.train_table("table", runs, setting, probe=joined(*probe_batch(data, 2, setting.shape.context)), **arguments)


def same_results(one, other) -> bool:
    """Whether two tables agree to the last byte."""
    return all(a[0] == b[0] and same_state(a[1], b[1]) for a, b in zip(one, other, strict=True))


def wait_until(what, seconds: float = 20):
    """Wait for a function's true answer."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


def stacks() -> list[Path]:
    """Checkpoints and results that lie there."""
    return sorted(STORE.glob("*.safetensors"))


def steps_of(path: Path) -> int:
    """How far a checkpoint is."""
    return max(state.step for state in checkpoint.load_states(path)[0].values())


def kill_busy(cluster) -> None:
    """SIGKILL to the worker that has a stack."""
    [pid] = [nanny.pid for nanny in cluster.workers.values() if cluster.scheduler.workers[nanny.worker_address].processing]
    os.kill(pid, signal.SIGKILL)


@contextmanager
def extra_worker(cluster, words: Path, **environment: str):
    """One more worker, as a user starts it, which offers a GPU; what it says goes to a file."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--no-nanny", "--no-dashboard", "--nthreads", "1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    with words.open("w") as stream, subprocess.Popen([*command, "--resources", "GPU=1"], env=environment, stderr=stream) as process:
        try:
            yield
        finally:
            process.kill()


def test_a_cluster_gives_the_bytes_of_one_process(data, dask, capfd):
    """Trajectories, states and file names agree, runs that fork included; every worker's reports reach the client's terminal and file."""
    whole = train(data, HERE_ALONE, TREE, store=Path("alone"), block=2)
    capfd.readouterr()
    assert same_results(train(data, dask, TREE, block=2), whole)
    assert [path.name for path in stacks()] == sorted(path.name for path in Path("alone").glob("*.safetensors")) and len(stacks()) == 4
    finished = {f"table {number}/4: done" for number in range(1, 5)}
    lines = [line.rstrip() for line in capfd.readouterr().err.splitlines()]
    assert set(lines) == finished and len(lines) == 4
    records = [json.loads(line) for line in (STORE / "progress.jsonl").read_text().splitlines()]
    assert {f"{record['stack']}: {record['note']}" for record in records if "note" in record} == finished


REPORT = Report("table 1/1", step=3, runs=2, rate=1.5, left=2.5, ranks=[1.25, 2.75])


def speak(say, threads) -> str:
    """A job that has only something to say."""
    say(REPORT)
    return f"{threads} thread"


def test_a_report_arrives_whole(dask):
    """What a worker says reaches the client with all its numbers; a job there has one thread."""
    heard = []
    with pools.open_pool(dask, 1, STORE, heard.append) as pool:
        assert pool.submit(speak).result() == "1 thread"
        wait_until(lambda: heard, seconds=5)
    assert heard[0].record | {"time": 0} == REPORT.record | {"time": 0} and heard[0].text == REPORT.text


def test_a_killed_workers_stack_goes_on_elsewhere(data, dask, cluster, capfd):
    """SIGKILL in the middle of a stack: another worker takes it, goes on from its checkpoint and says so, and ends with the same bytes."""
    with ThreadPoolExecutor() as threads:
        table = threads.submit(train, data, dask, LASTING, seconds=0.02)
        wait_until(lambda: stacks() and steps_of(stacks()[0]) > 20)
        kill_busy(cluster)
    said = capfd.readouterr().err
    [step] = re.findall(r"^table 1/1: goes on from step (\d+) *$", said, re.MULTILINE)
    assert 20 < int(step) < LONG and said.splitlines()[-1].rstrip() == "table 1/1: done"
    assert same_results(table.result(), train(data, HERE_ALONE, LASTING, store=Path("alone")))


def test_a_stack_that_kills_its_workers_is_given_up(data, dask, cluster, monkeypatch):
    """When the scheduler sends a stack to no further worker, one line says so; its checkpoint stays."""
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with ThreadPoolExecutor() as threads:
        table = threads.submit(refusal, train, data, dask, LASTING, seconds=0)
        wait_until(stacks)
        kill_busy(cluster)
        assert table.result().startswith("fanout: a stack killed every worker that took it; found ")
    assert 0 < steps_of(stacks()[0]) < LONG


@pytest.mark.parametrize(("scheme", "listens"), [("tcp", False), ("tcp", True), ("tpc", False)])
def test_a_scheduler_that_does_not_answer_is_one_line(data, monkeypatch, scheme, listens, capfd):
    """Nobody at the address, somebody who says nothing, or a slip of the pen: refused when the time is up, and nothing is written."""
    assert pools.CONNECT_SECONDS <= 15
    monkeypatch.setattr(pools, "CONNECT_SECONDS", 1)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listens:
            server.listen()
        address, begun = f"{scheme}://127.0.0.1:{server.getsockname()[1]}", time.monotonic()
        line = refusal(train, data, Fanout(kind="dask", scheduler=address))
    assert line.startswith(f"fanout: no Dask scheduler answers; expected {address}; found ") and line.endswith("set fanout.kind: local")
    assert time.monotonic() - begun < 5 and not STORE.exists() and "Traceback" not in capfd.readouterr().err


STRANGERS = {
    "other code": ({"RANKCOLLAPSE_KERNEL": "off"}, "table 1/1: a worker runs another version of the code, or on other hardware; cure: "),
    "no code": ({"PYTHONPATH": "."}, "fanout: a worker has not this code; found ModuleNotFoundError: "),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_worker_with_other_code_is_refused(data, dask, cluster, kind):
    """A worker that would compute otherwise, or where the study is not installed, trains nothing: one line, and no traceback on its side."""
    environment, words = STRANGERS[kind]
    Path("sitecustomize.py").write_text("import sys\nsys.modules['rankcollapse'] = None\n")
    with extra_worker(cluster, Path("words"), **environment):
        assert refusal(train, data, dask.model_copy(update={"gpus": 1})).startswith(words)
    assert not stacks() and "Traceback" not in Path("words").read_text()


def test_a_stack_waits_for_the_gpu_it_asks_for(data, dask, cluster):
    """With gpus: 1 two idle workers without a GPU take no stack; one that offers a GPU does when it comes."""
    with ThreadPoolExecutor() as threads:
        table = threads.submit(train, data, dask.model_copy(update={"gpus": 1}))
        wait_until(lambda: any(task.state == "no-worker" for task in cluster.scheduler.tasks.values()))
        time.sleep(0.5)
        assert not table.done() and not stacks()
        with extra_worker(cluster, Path("words")):
            assert same_results(table.result(timeout=20), train(data, HERE_ALONE, store=Path("alone")))


LEAVING = {"Ctrl-C": (KeyboardInterrupt, 0), "a fault of the client's": (RuntimeError, 5)}


@pytest.mark.parametrize("kind", LEAVING)
def test_workers_stop_when_the_client_leaves(data, dask, cluster, monkeypatch, kind, capfd):
    """Whatever ends the client, both workers stop soon, each with a checkpoint, and begin no other stack; after Ctrl-C it waits for that."""
    fault, seconds = LEAVING[kind]

    def leave(*_, **__):
        wait_until(lambda: len(stacks()) == 2)
        raise fault

    monkeypatch.setattr(fanout, "wait", leave)
    runs = [replace(LASTING[0], name=f"lasting/{seed}", seed=seed) for seed in range(3)]
    with pytest.raises(fault):
        train(data, dask, runs, seconds=0)
    with distributed.Client(cluster, set_as_default=False) as client:
        wait_until(lambda: not any(client.run(lambda dask_worker: dask_worker.state.executing_count).values()), seconds)
    files = [path.read_bytes() for path in stacks()]
    assert not list(STORE.glob("halt-*")) and len(files) == 2 and all(0 < steps_of(path) < LONG for path in stacks())
    time.sleep(0.3)
    assert [path.read_bytes() for path in stacks()] == files and "Traceback" not in capfd.readouterr().err


ANSWERS = [("running", "executing", "digest"), ("paused", "executing", "digest"), ("running", "cancelled", None), ("closing", "executing", None)]


@pytest.mark.parametrize(("status", "state", "expected"), ANSWERS)
def test_a_stack_ends_with_whoever_it_is_for(monkeypatch, status, state, expected):
    """At its next report a stack stops that nobody waits for, or that the scheduler has given to another worker since this one ends."""
    tasks = {"key": SimpleNamespace(state=state)}
    status = distributed.core.Status[status]
    worker = SimpleNamespace(state=SimpleNamespace(tasks=tasks), status=status, log_event=print, get_current_task=lambda: "key")
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    assert pools.run_there(lambda say, _: say(Report("table 1/1")) or "digest", "topic", Path("halt")) == expected


def lose(job, say, threads) -> str:
    """Train a job and lose the result."""
    digest = fanout.work(job, say, threads)
    job.path.unlink()
    return digest


def test_a_missing_result_stops_the_stage(data, dask, monkeypatch):
    """A stack whose worker says that it is done, while its file is not there, is named."""
    monkeypatch.setattr("rankcollapse.fanout.work", lose)
    line = refusal(train, data, dask)
    assert re.fullmatch(rf"table 1/1: the result of this stack is missing; expected {STORE.resolve()}/\w+\.safetensors; cure: .*", line)


def test_a_stack_finished_twice_is_one_file(data, monkeypatch):
    """Two workers that both finish a stack leave one result, of the same bytes, and no staging file."""
    jobs = []
    monkeypatch.setattr(fanout, "run_jobs", lambda given, _: (jobs.extend(given), fanout.work(given[0], print, 1)))
    train(data, HERE_ALONE)
    files = read_folder(STORE)
    assert fanout.work(jobs[0], print, 1) == jobs[0].digest and read_folder(STORE) == files and list(files) == [jobs[0].path.name]
    jobs[0].path.unlink()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: fanout.work(jobs[0], print, 1), range(2)))
    assert read_folder(STORE) == files


def test_a_large_stack_is_sent_without_a_warning(data, dask, recwarn):
    """States that runs start from, more than 10 MB of them, go to a worker and nothing is said about it."""
    setting = replace(TABLE_SETTING, shape=replace(TABLE_SETTING.shape, vocabulary=65_000))
    origins = [fresh_state(seed, setting) for seed in range(2)]
    assert sum(12 * len(origin.weights) for origin in origins) > 12e6
    results = train(data, dask, [Run(f"large/{seed}", seed, 1, origin=origin) for seed, origin in enumerate(origins)], setting, block=2)
    assert [state.step for _, state in results] == [1, 1] and [str(warning.message) for warning in recwarn] == []


PROFILE = {"queue": "long", "memory": "3GB", "walltime": "02:00:00", "interface": "lo", "jobs": 4}


def fake_sbatch(folder: Path, monkeypatch, last: str) -> None:
    """A command sbatch that keeps the script it is given and ends with a line of shell."""
    (folder / "sbatch").write_text(f'#!/bin/sh\n[ "$*" = --test-only ] && cat > {folder}/script\n{last}\n')
    (folder / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_slurm_jobs_ask_for_what_is_given(tmp_path, monkeypatch):
    """The job script has the profile's queue and memory, a stack's GPUs and their announcement; `jobs` of them are started."""
    asked = []
    monkeypatch.setattr("dask_jobqueue.SLURMCluster.scale", lambda _, jobs: asked.append(jobs))
    fake_sbatch(tmp_path, monkeypatch, "echo Job 1 to start soon >&2")
    with pools.start_slurm(PROFILE, gpus=2) as cluster:
        script = cluster.job_script()
        assert asked == [4] and (tmp_path / "script").read_text() == script
    for words in ("#SBATCH -p long", "#SBATCH --mem=3G", "#SBATCH -t 02:00:00", "#SBATCH --gres=gpu:2", "--resources GPU=2", f"{sys.executable} -m"):
        assert words in script, script


def test_a_job_that_slurm_refuses_is_one_line(data, tmp_path, monkeypatch):
    """What sbatch says against the job is the line; without sbatch it says that; an argument that dask_jobqueue does not know is named."""
    fake_sbatch(tmp_path, monkeypatch, "echo sbatch: error: invalid partition specified: long >&2; exit 1")
    where, said = Fanout(kind="dask", slurm=PROFILE), "SLURM does not take the job; found sbatch: error: invalid partition specified: long"
    assert refusal(train, data, where) == f"fanout.slurm: {said}"
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert refusal(train, data, where).startswith("fanout.slurm: no SLURM here; expected the command sbatch; cure: ")
    line = refusal(train, data, where.model_copy(update={"slurm": {"qeue": "long", "interface": "lo"}}))
    assert line.startswith("fanout.slurm: not what dask_jobqueue.SLURMCluster takes; found ") and "qeue" in line


@pytest.mark.parametrize(("library", "where"), [("distributed", {"scheduler": "tcp://127.0.0.1:1"}), ("dask_jobqueue", {"slurm": {}})])
def test_a_library_that_is_not_there_is_one_line(data, monkeypatch, library, where):
    """Without the extra, its installation is the cure."""
    monkeypatch.setitem(sys.modules, library, None)
    assert refusal(train, data, Fanout(kind="dask", **where)).endswith("cure: pip install 'rankcollapse-audit[cluster]'")
