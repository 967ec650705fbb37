"""Who trains the stacks: this process, processes beside it, or the workers of a Dask cluster, all behind `submit`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any, Protocol
from uuid import uuid4

from audit.records import Refusal
from rankcollapse.engine import Interrupted
from rankcollapse.params import Fanout
from rankcollapse.progress import Report

Call = Callable[[Callable[[Report], None], int], str]
"""A job: given where to report to and how many threads it may use, it returns its digest."""


class Pool(Protocol):
    """Where jobs are trained."""

    def submit(self, call: Call) -> Future: ...


@contextmanager
def open_pool(fanout: Fanout, jobs: int, store: Path, say: Callable[[Report], None]) -> Iterator[Pool]:
    """The pool that the parameters name; one process needs none. Workers times threads never exceed the cores."""
    if fanout.kind == "dask":
        with open_cluster(fanout, store, say) as pool:
            yield pool
        return
    cores = len(os.sched_getaffinity(0))
    workers = min(jobs, fanout.workers or cores, cores)
    if workers == 1:
        yield Here(say, cores)
        return
    with open_processes(workers, cores // workers, say) as pool:
        yield pool


class Here:
    """This process."""

    def __init__(self, say: Callable[[Report], None], threads: int):
        self.say, self.threads = say, threads

    def submit(self, call: Call) -> Future:
        """Run at once."""
        future: Future = Future()
        future.set_result(call(self.say, self.threads))
        return future


class Processes:
    """Processes beside this one."""

    def __init__(self, pool: ProcessPoolExecutor):
        self.pool = pool

    def submit(self, call: Call) -> Future:
        """Run when a process is free."""
        return self.pool.submit(run_here, call)


@contextmanager
def open_processes(workers: int, threads: int, say: Callable[[Report], None]) -> Iterator[Processes]:
    """A pool of processes that save and stop when this one is told to, or is gone."""
    context = get_context("spawn")
    lines = context.SimpleQueue()
    Thread(target=lambda: [say(report) for report in iter(lines.get, None)], daemon=True).start()
    pool = ProcessPoolExecutor(workers, context, initializer=Worker.start, initargs=(lines, threads))
    before = signal.signal(signal.SIGTERM, interrupt) if current_thread() is main_thread() else None
    try:
        yield Processes(pool)
    except KeyboardInterrupt:
        for child in active_children():
            os.kill(child.pid or 0, signal.SIGINT)  # a signal to this process alone must reach its workers too
        raise
    except BrokenProcessPool:
        raise Refusal("fanout", "a worker process was killed", cure="run the same command again; it goes on from the checkpoints") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        lines.put(None)
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def interrupt(*_: object) -> None:
    """SIGTERM to the parent of a pool is an interruption like Ctrl-C: its workers must not train on alone."""
    raise KeyboardInterrupt


class Worker:
    """What a worker process keeps between jobs: its queue for reports, its threads, and whether it was asked to stop."""

    lines: Any = None
    threads = 1
    parent = 0
    stopped = False

    @classmethod
    def start(cls, lines: Any, threads: int) -> None:
        """Set a worker up; between jobs it leaves Ctrl-C to the parent."""
        cls.lines, cls.threads, cls.parent = lines, threads, os.getppid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    @classmethod
    def report(cls, report: Report) -> None:
        """Pass a report on; with the parent gone, stop, so that no two processes share a checkpoint."""
        if cls.parent != os.getppid():
            raise Interrupted
        cls.lines.put(report)


def run_here(call: Call) -> str:
    """Train one job inside a worker; a worker that was interrupted takes no other job."""
    if Worker.stopped:
        raise Interrupted
    try:
        return call(Worker.report, Worker.threads)
    except Interrupted:
        Worker.stopped = True
        raise


class Cluster:
    """The workers of a Dask cluster; a stack whose worker dies goes to another and on from its checkpoint."""

    def __init__(self, executor: Any, topic: str, halt: Path):
        self.executor, self.topic, self.halt = executor, topic, halt

    def submit(self, call: Call) -> Future:
        """Run when a worker with the resources is free."""
        return self.executor.submit(run_there, call, self.topic, self.halt)


@contextmanager
def open_cluster(fanout: Fanout, store: Path, say: Callable[[Report], None]) -> Iterator[Cluster]:
    """A running Dask cluster, or one started through SLURM for this table."""
    try:
        import distributed
    except ImportError:
        raise Refusal("fanout", "Dask is not installed", cure="pip install 'rankcollapse-audit[cluster]'") from None
    cluster = start_slurm(fanout.slurm) if fanout.slurm else None
    try:
        client = distributed.Client(cluster or fanout.scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise Refusal("fanout", "no Dask scheduler answers", expected=fanout.scheduler, observed=why, cure="start one, or set fanout.kind: local") from None
    topic, halt = f"rankcollapse-{uuid4().hex}", store / f"halt-{uuid4().hex}"
    with client:
        client.subscribe_topic(topic, lambda event: say(event[1]))
        try:
            yield Cluster(client.get_executor(pure=False, resources={"GPU": fanout.gpus} if fanout.gpus else None), topic, halt)
        except KeyboardInterrupt:
            halt.parent.mkdir(parents=True, exist_ok=True)
            halt.touch()
            raise
        except distributed.KilledWorker as error:
            raise Refusal("fanout", "a stack killed every worker that took it", observed=str(error).splitlines()[0]) from None
        finally:
            if cluster:
                cluster.close()


def start_slurm(profile: dict[str, str | int]) -> Any:
    """A Dask cluster of SLURM jobs."""
    from dask_jobqueue import SLURMCluster

    arguments = {"cores": 1, "processes": 1, "memory": "8GB"} | {name: value for name, value in profile.items() if name != "jobs"}
    cluster = SLURMCluster(**arguments)
    cluster.scale(jobs=int(profile.get("jobs", 1)))
    return cluster


def run_there(call: Call, topic: str, halt: Path) -> str:
    """Train one job inside a Dask worker; it stops where the halt file appears beside its checkpoint."""
    from distributed import get_worker

    worker = get_worker()

    def report(report: Report) -> None:
        if halt.exists():
            raise Interrupted
        worker.log_event(topic, report)

    return call(report, 1)
