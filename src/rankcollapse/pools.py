"""Who trains the stacks: this process, processes beside it, or the workers of a Dask cluster, all behind `submit`."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import astuple
from functools import partial
from multiprocessing import active_children, get_context, parent_process
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
INSTALL = "pip install 'rankcollapse-audit[cluster]'"
CONNECT_SECONDS = 10
ENDING = {"closing", "closed", "failed"}
"""What Dask says of a worker whose stack may already be another's."""
STOP_SECONDS = 5


QUIET = "ignore::UserWarning:multiprocessing.resource_tracker"
"""Python's own tracker of semaphores sometimes warns, after an interruption, that one it looks for is gone already: no line for a user."""


class Pool(Protocol):
    """Where jobs are trained; a future's result is the job's digest, or an exception that was not raised there."""

    def submit(self, call: Call) -> Future: ...


@contextmanager
def open_pool(fanout: Fanout, jobs: int, store: Path, say: Callable[[Report], None]) -> Iterator[Pool]:
    """The pool that the parameters name; one process needs none. Workers times threads never exceed the cores."""
    if fanout.kind == "dask":
        with terminable(), open_cluster(fanout, store, say) as pool:
            yield pool
        return
    cores = len(os.sched_getaffinity(0))
    workers = min(jobs, fanout.workers or cores, cores)
    if workers == 1:
        yield Here(say, cores)
        return
    with terminable(), open_processes(workers, cores // workers, say) as pool:
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
    """A pool of processes that save and stop when this one is told to, or is gone.

    They are forked from a server that loads PyTorch once for all of a stage's pools. A fork of this process could take no gradients where it has taken some.
    """
    os.environ.setdefault("PYTHONWARNINGS", QUIET)
    context = get_context("forkserver")
    context.set_forkserver_preload(["rankcollapse.fanout"])
    lines = context.SimpleQueue()
    Thread(target=lambda: [say(report) for report in iter(lines.get, None)], daemon=True).start()
    pool = ProcessPoolExecutor(workers, context, initializer=Worker.start, initargs=(lines, threads))
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


@contextmanager
def terminable() -> Iterator[None]:
    """Within it SIGTERM is an interruption like Ctrl-C: workers must not train on alone."""
    before = signal.signal(signal.SIGTERM, interrupt) if current_thread() is main_thread() else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def interrupt(*_: object) -> None:
    """What SIGTERM does to the owner of a pool."""
    raise KeyboardInterrupt


class Worker:
    """What a worker process keeps between jobs: its queue for reports, its threads, whether it has a job, and whether it was asked to stop."""

    lines: Any = None
    threads = 1
    busy = stopped = orphaned = False

    @classmethod
    def start(cls, lines: Any, threads: int) -> None:
        """Set a worker up; between jobs it leaves Ctrl-C to the parent."""
        cls.lines, cls.threads = lines, threads
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        Thread(target=cls.watch, daemon=True).start()

    @classmethod
    def watch(cls) -> None:
        """End with the parent, after a job that it has; nobody else would end a worker that waits for its next."""
        if owner := parent_process():
            owner.join()
            cls.orphaned = True
            if not cls.busy:
                os._exit(1)

    @classmethod
    def report(cls, report: Report) -> None:
        """Pass a report on; with the parent gone, stop, so that no two processes share a checkpoint."""
        if cls.orphaned:
            raise Interrupted
        cls.lines.put(report)


def run_here(call: Call) -> str:
    """Train one job inside a worker; a worker that was interrupted takes no other job."""
    if Worker.stopped:
        raise Interrupted
    Worker.busy = True
    try:
        return call(Worker.report, Worker.threads)
    except Interrupted:
        Worker.stopped = True
        raise
    finally:
        Worker.busy = False
        if Worker.orphaned:
            os._exit(1)


class Cluster:
    """The workers of a Dask cluster; a stack whose worker dies goes to another and on from its checkpoint."""

    def __init__(self, executor: Any, topic: str, halt: Path):
        self.executor, self.topic, self.halt, self.futures = executor, topic, halt, []

    def submit(self, call: Call) -> Future:
        """Run when a worker with the resources is free.

        The job travels as a parcel: Dask itself would end a worker that cannot read it, and say nothing.
        """
        parcel = pickle.dumps(partial(run_there, call, self.topic, self.halt))

        def unpack() -> object:
            try:
                job = pickle.loads(parcel)
            except Exception as error:
                return pickle.UnpicklingError(f"{type(error).__name__}: {error}")
            return job()

        self.futures.append(self.executor.submit(unpack))
        return self.futures[-1]

    def stop(self) -> None:
        """Have the workers save and stop; they get a moment for it, since those of SLURM end with this process."""
        self.halt.parent.mkdir(parents=True, exist_ok=True)
        self.halt.touch()
        if not wait(self.futures, timeout=STOP_SECONDS).not_done:
            self.halt.unlink()


@contextmanager
def open_cluster(fanout: Fanout, store: Path, say: Callable[[Report], None]) -> Iterator[Cluster]:
    """A running Dask cluster, or one started through SLURM for this table."""
    try:
        import dask
        from distributed import KilledWorker
    except ImportError:
        raise Refusal("fanout", "Dask is not installed", cure=INSTALL) from None
    topic, halt = f"rankcollapse-{uuid4().hex}", store / f"halt-{uuid4().hex}"
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # a lost scheduler is refused in one line below
    quiet = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})  # a stack carries the states its runs start from
    with quiet, connect(fanout) as client:
        client.subscribe_topic(topic, lambda event: say(Report(*event[1])))
        pool = Cluster(client.get_executor(pure=False, resources={"GPU": fanout.gpus} if fanout.gpus else None), topic, halt)
        try:
            yield pool
        except KeyboardInterrupt:
            pool.stop()
            raise
        except KilledWorker as error:
            raise Refusal("fanout", "a stack killed every worker that took it", observed=str(error).splitlines()[0]) from None
        except pickle.UnpicklingError as error:
            cure = "give all workers this checkout and environment"
            raise Refusal("fanout", "a worker has not this code", observed=str(error), cure=cure) from None
        except CancelledError:
            raise Refusal("fanout", "the Dask scheduler is gone", cure="start it and run the same command: it goes on from the checkpoints") from None


@contextmanager
def connect(fanout: Fanout) -> Iterator[Any]:
    """A client of the cluster; one started through SLURM ends with it."""
    from distributed import Client

    with start_slurm(fanout.slurm, fanout.gpus) if fanout.slurm is not None else nullcontext(fanout.scheduler) as cluster:
        try:
            if fanout.scheduler:
                asyncio.run(asyncio.wait_for(knock(fanout.scheduler), CONNECT_SECONDS))
            client = Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            why = str(error).partition("\n")[0] or f"nothing in {CONNECT_SECONDS} s"
            cure = "start one, or set fanout.kind: local"
            raise Refusal("fanout", "no Dask scheduler answers", expected=fanout.scheduler or "", observed=why, cure=cure) from None
        with client:
            yield client


async def knock(scheduler: str) -> None:
    """See whether a scheduler answers: a client would wait for the first word of another server for ever."""
    from distributed import Security
    from distributed.comm import connect as call_up

    comm = await call_up(scheduler, timeout=CONNECT_SECONDS, **Security().get_connection_args("client"))
    await comm.close()


def start_slurm(profile: dict[str, str | int | list[str]], gpus: int = 0) -> Any:
    """A Dask cluster of SLURM jobs, one worker each, which ask for the GPUs of a stack and announce them."""
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise Refusal("fanout", "dask-jobqueue is not installed", cure=INSTALL) from None
    arguments: dict[str, Any] = {"cores": 1, "processes": 1, "memory": "8GB", "scheduler_options": {"dashboard_address": ":0"}}
    arguments |= {name: value for name, value in profile.items() if name != "jobs"}
    if gpus:
        arguments |= {"job_extra_directives": [f"--gres=gpu:{gpus}"], "worker_extra_args": ["--resources", f"GPU={gpus}"]}
    try:
        cluster = SLURMCluster(**arguments)
    except (TypeError, ValueError) as error:
        raise Refusal("fanout.slurm", "not what dask_jobqueue.SLURMCluster takes", observed=str(error).splitlines()[0]) from None
    try:
        ask_slurm(cluster.job_script())
    except Refusal:
        cluster.close()
        raise
    cluster.scale(jobs=int(profile.get("jobs", 1)))
    return cluster


def ask_slurm(script: str) -> None:
    """Refuse a job that SLURM would not take: dask_jobqueue would log a traceback and leave the table waiting."""
    try:
        answer = subprocess.run(["sbatch", "--test-only"], input=script, capture_output=True, text=True)
    except OSError:
        raise Refusal("fanout.slurm", "no SLURM here", expected="the command sbatch", cure="start this where jobs can be submitted") from None
    if answer.returncode:
        said = (answer.stderr or answer.stdout).strip() or f"exit code {answer.returncode}"
        raise Refusal("fanout.slurm", "SLURM does not take the job", observed=said.splitlines()[-1])


def run_there(call: Call, topic: str, halt: Path) -> str | Refusal | None:
    """Train one job inside a Dask worker; it saves and stops where the halt file appears, nobody waits for it any more, or the worker ends.

    Dask logs an exception with its traceback and ends the worker at an interruption, so neither that nor a refusal is raised.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def report(report: Report) -> None:
        task = worker.state.tasks.get(key)
        if halt.exists() or task is None or task.state == "cancelled" or worker.status.name in ENDING:
            raise Interrupted
        worker.log_event(topic, astuple(report))

    try:
        return None if halt.exists() else call(report, 1)
    except Refusal as refusal:
        return refusal
    except Interrupted:
        return None
