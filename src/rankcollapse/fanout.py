"""Stacks over local processes: fixed blocks of a table, one thread each, finished blocks kept by digest."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import Thread, current_thread, main_thread
from time import monotonic
from typing import Any

import numpy as np
import torch

from audit.records import Refusal
from rankcollapse.checkpoint import digest_stack, resume_stack, save_stack
from rankcollapse.engine import Interrupted, Run, Setting, Stack, State, Trajectory, prepare_threads, train_stack
from rankcollapse.text import load_stream, require_tokens

STORE = Path(".checkpoints")


@dataclass(frozen=True)
class Job:
    """One stack to train, as a worker receives it."""

    label: str
    runs: tuple[Run, ...]
    setting: Setting
    folder: str
    probe: np.ndarray
    digest: str
    store: Path
    seconds: float


def train_table(
    label: str,
    runs: Sequence[Run],
    setting: Setting,
    *,
    folder: str,
    probe: np.ndarray,
    block: int,
    data: dict[str, str],
    store: Path,
    seconds: float,
) -> list[tuple[Trajectory, State]]:
    """Train a table of runs in fixed blocks over the machine's cores; results come back in the table's order.

    Killed anywhere, the next call with the same table goes on from the checkpoints of its blocks in the folder `store`.
    """
    check_table(label, runs, setting, folder)
    blocks = [tuple(runs[start : start + block]) for start in range(0, len(runs), block)]
    jobs = []
    for index, rows in enumerate(blocks):
        digest = digest_stack(list(rows), setting, probe, data)
        jobs.append(Job(f"{label} {index + 1}/{len(blocks)}", rows, setting, folder, probe, digest, store / f"{digest[:24]}.safetensors", seconds))
    results = run_jobs(jobs)
    return [row for job in jobs for row in results[job.digest]]


def check_table(label: str, runs: Sequence[Run], setting: Setting, folder: str) -> None:
    """Refuse a table with two runs of one name, or longer than the stream, before anything is trained."""
    names = [run.name for run in runs]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins or not names:
        raise Refusal(label, "a table needs runs of different names", observed=", ".join(twins) or "no run")
    last = max((run.origin.step if run.origin else 0) + run.steps for run in runs)
    require_tokens(load_stream(Path(folder), "train"), last, setting.batch, setting.shape.context)


def run_jobs(jobs: list[Job]) -> dict[str, list[tuple[Trajectory, State]]]:
    """Train all jobs, in as many processes as there are cores; one process needs no pool."""
    workers = min(len(jobs), len(os.sched_getaffinity(0)))
    show = Progress(len(jobs))
    if workers == 1:
        return {job.digest: train_job(job, show.say) for job in jobs}
    context = get_context("spawn")
    lines = context.SimpleQueue()
    Thread(target=show.follow, args=(lines,), daemon=True).start()
    pool = ProcessPoolExecutor(workers, context, initializer=start_worker, initargs=(lines,))
    before = signal.signal(signal.SIGTERM, interrupt) if current_thread() is main_thread() else None
    try:
        futures = {pool.submit(work, job): job for job in jobs}
        return {futures[future].digest: future.result() for future in as_completed(futures)}
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
    """What a worker process keeps between jobs: its queue for progress, and whether it was asked to stop."""

    report: Any = None
    stopped = False
    parent: int | None = None


def start_worker(lines: Any) -> None:
    """Set a worker up; between jobs it leaves Ctrl-C to the parent."""
    Worker.report, Worker.parent = lines.put, os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def work(job: Job) -> list[tuple[Trajectory, State]]:
    """Train one job inside a worker; a worker that was interrupted takes no other job."""
    if Worker.stopped:
        raise Interrupted
    try:
        return train_job(job, Worker.report)
    except Interrupted:
        Worker.stopped = True
        raise


def train_job(job: Job, say: Any) -> list[tuple[Trajectory, State]]:
    """Train one stack, from its checkpoint where there is one, and leave its finished state behind."""
    prepare_threads()
    stack = Stack(job.runs, job.setting, load_stream(Path(job.folder), "train"), torch.from_numpy(job.probe))
    why = resume_stack(job.store, stack, job.digest)
    if why not in ("", "none"):
        say((job.label, f"checkpoint ignored: {why}"))
    started, begun = monotonic(), sum(trajectory.trained for trajectory in stack.trajectories)

    def describe(stack: Stack) -> None:
        if Worker.parent not in (None, os.getppid()):
            os.kill(os.getpid(), signal.SIGTERM)  # the parent was killed: save and stop, so that no two processes share a checkpoint
        trained = sum(trajectory.trained for trajectory in stack.trajectories)
        rate = (trained - begun) / max(monotonic() - started, 1e-9)
        left = sum(stack.end[i] - stack.clock[i] for i in stack.alive) / max(rate, 1e-9)
        ranks = [t.rank[-1] for t in stack.trajectories if t.rank]
        span = f"{min(ranks):.2f}-{max(ranks):.2f}" if ranks else "-"
        say(
            (
                job.label,
                f"step {stack.clock[stack.alive[0]]:>5}  {len(stack.alive)} runs  {rate:5.1f} network-steps/s  {left:4.0f} s left  rank {span}",
            )
        )

    train_stack(stack, save=lambda stack: save_stack(job.store, stack, job.digest), save_seconds=job.seconds, say=describe)
    save_stack(job.store, stack, job.digest)
    say((job.label, "done"))
    return [(stack.trajectories[i], stack.final[i]) for i in range(len(job.runs))]


class Progress:
    """Shows what stacks report: one line each, redrawn in a terminal, every ten seconds in a pipe."""

    def __init__(self, jobs: int):
        self.jobs, self.shown, self.width = jobs, {}, 0
        self.terminal = sys.stderr.isatty()

    def follow(self, lines: Any) -> None:
        """Show lines from a queue until None comes."""
        while (line := lines.get()) is not None:
            self.say(line)

    def say(self, line: tuple[str, str]) -> None:
        """Show one stack's line."""
        label, text = line
        last = self.shown.get(label, -1e9)
        if text == "done" or text.startswith("checkpoint") or monotonic() - last >= (1 if self.terminal else 10):
            self.shown[label] = monotonic()
            end = "\r" if self.terminal and text != "done" else "\n"
            print(f"{label}: {text}".ljust(self.width), end=end, file=sys.stderr, flush=True)
            self.width = max(self.width, len(label) + len(text) + 2)


def checkpoint_folder(stage: str) -> Path:
    """Where a stage keeps its checkpoints."""
    return STORE / stage


def clear_checkpoints(stage: str) -> None:
    """Remove a stage's checkpoints once the record they led to is written."""
    shutil.rmtree(checkpoint_folder(stage), ignore_errors=True)
