"""Stacks over processes of this machine or of a cluster: fixed blocks of a table, finished blocks kept by digest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch

from audit.records import Refusal
from rankcollapse.checkpoint import digest_stack, load_finished, resume_stack, save_stack
from rankcollapse.engine import Fork, Run, Setting, Stack, State, Trajectory, check_table, prepare_threads, train_stack
from rankcollapse.params import STORE, Fanout
from rankcollapse.plan import check_memory
from rankcollapse.pools import open_pool
from rankcollapse.progress import Progress, Report
from rankcollapse.text import load_stream, require_tokens

Results = list[tuple[Trajectory, State]]
KEPT: set[str] = set()
"""Names of the finished stacks that this process's tables consist of: a stage is one process."""


@dataclass(frozen=True)
class Job:
    """One stack to train, as a worker receives it: plain values, and places on a disk that it shares."""

    label: str
    runs: tuple[Run, ...]
    setting: Setting
    folder: Path
    probe: np.ndarray
    data: dict[str, str]
    store: Path
    """Where checkpoints and finished stacks of this table lie."""
    seconds: float
    keep: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Steps of runs whose states other runs fork from."""
    parents: dict[str, str] = field(default_factory=dict)
    """Digest of the job that trains each run which this one's runs fork from."""
    digest: str = ""

    @property
    def path(self) -> Path:
        """The finished stack."""
        return path_of(self.store, self.digest)

    @property
    def part(self) -> Path:
        """The stack's checkpoint: a name of its own, so that a worker that was given up on cannot write over a result."""
        return self.path.with_suffix(".part.safetensors")

    def compute_digest(self) -> str:
        """What determines the result, by the code that asks."""
        return digest_stack(self.runs, self.setting, self.probe, self.data, self.keep, self.parents)


def path_of(store: Path, digest: str) -> Path:
    """Where the stack of a digest lies."""
    return store / f"{digest[:24]}.safetensors"


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
    fanout: Fanout = Fanout(),  # noqa: B008
) -> Results:
    """Train a table of runs in fixed blocks, each as soon as the runs it forks from are there; results in the table's order.

    Killed anywhere, the next call with the same table goes on from the checkpoints of its blocks in the folder `store`.
    """
    check_table(label, runs, setting.shape)
    check_stream(runs, setting, folder)
    check_memory(label, setting, min(block, len(runs)))
    store = store if fanout.kind == "local" else store.resolve()
    jobs = cut_table(label, runs, block, setting=setting, folder=Path(folder).resolve(), probe=probe, data=data, store=store, seconds=seconds)
    run_jobs(jobs, fanout)
    if fanout.keep:
        KEPT.update(job.path.name for job in jobs)
    results = {}
    for job in jobs:
        results |= load_finished(job.path, job.digest)
    return [(results[run.name].trajectory, results[run.name].state) for run in runs]


def check_stream(runs: Sequence[Run], setting: Setting, folder: str) -> None:
    """Refuse a table longer than the stream before anything is trained."""
    require_tokens(load_stream(Path(folder), "train"), max(run.end for run in runs), setting.batch, setting.shape.context)


def cut_table(label: str, runs: Sequence[Run], block: int, **shared: Any) -> list[Job]:
    """Jobs of at most `block` runs in the table's order: first the runs without a fork, then those that fork from them, and so on."""
    generation: dict[str, int] = {}
    by_name = {run.name: run for run in runs}

    def depth(run: Run) -> int:
        if run.name not in generation:
            generation[run.name] = depth(by_name[run.origin.run]) + 1 if isinstance(run.origin, Fork) else 0
        return generation[run.name]

    forks = [run.origin for run in runs if isinstance(run.origin, Fork)]
    blocks = []
    for level in sorted({depth(run) for run in runs}):
        rows = [run for run in runs if depth(run) == level]
        blocks += [tuple(rows[start : start + block]) for start in range(0, len(rows), block)]
    jobs, trained_by = [], {}
    for index, rows in enumerate(blocks):
        keep = {run.name: tuple(sorted({fork.step for fork in forks if fork.run == run.name})) for run in rows}
        parents = {run.origin.run: trained_by[run.origin.run] for run in rows if isinstance(run.origin, Fork)}
        job = Job(f"{label} {index + 1}/{len(blocks)}", rows, keep={name: steps for name, steps in keep.items() if steps}, parents=parents, **shared)
        job = replace(job, digest=job.compute_digest())
        trained_by |= {run.name: job.digest for run in rows}
        jobs.append(job)
    return jobs


def run_jobs(jobs: Sequence[Job], fanout: Fanout) -> None:
    """Train all jobs in a pool of workers, none before those it waits for."""
    show = Progress(jobs[0].store)
    with open_pool(fanout, len(jobs), jobs[0].store, show.say) as pool:
        waiting, done, running = list(jobs), set(), {}
        while waiting or running:
            for job in [job for job in waiting if set(job.parents.values()) <= done]:
                waiting.remove(job)
                running[pool.submit(partial(work, job))] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job, answer = running.pop(future), future.result()
                if isinstance(answer, Exception):
                    raise answer
                if answer != job.digest or not job.path.is_file():
                    raise Refusal(job.label, "the result of this stack is missing", expected=str(job.path), cure="run the same command again")
                done.add(job.digest)


def work(job: Job, say: Callable[[Report], None], threads: int) -> str:
    """Train one job in a worker, from its checkpoint where there is one; the result lies in the store under the digest that is returned."""
    if job.compute_digest() != job.digest:
        cure = "give all workers this checkout and environment"
        raise Refusal(job.label, "a worker runs another version of the code, or on other hardware", cure=cure)
    prepare_threads(threads)
    runs, lost = resolve_origins(job)
    stack = Stack(runs, job.setting, load_stream(job.folder, "train"), torch.from_numpy(job.probe), job.keep)
    for i, parent in lost.items():
        stack.trajectories[i].diverged_at = parent.diverged_at
    for place in (job.path, job.part):
        why = resume_stack(place, stack, job.digest)
        if why not in ("", "none"):
            say(Report(job.label, note=f"checkpoint ignored: {why}"))
        if not why:
            break
    if not why and stack.alive:
        say(Report(job.label, note=f"goes on from step {stack.clock[stack.alive[0]]}"))
    watch = Stopwatch(job.label, stack, say)
    train_stack(stack, save=partial(save, job.part, job.digest), save_seconds=job.seconds, say=watch)
    if why or place != job.path:
        save(job.path, job.digest, stack)
        job.part.unlink(missing_ok=True)
    say(Report(job.label, note="done"))
    return job.digest


def save(path: Path, digest: str, stack: Stack) -> None:
    """Write a stack as it is; a disk that is full leaves the file before."""
    try:
        save_stack(path, stack, digest)
    except OSError as error:
        cure = "make room and run the same command again: it goes on from the checkpoint before"
        raise Refusal(path, "checkpoint cannot be written", observed=error.strerror or str(error), cure=cure) from None


def resolve_origins(job: Job) -> tuple[list[Run], dict[int, Trajectory]]:
    """The runs with the states they fork from; and by number the trajectories of origins that diverged before: nothing is left to train."""
    stacks = {digest: load_finished(path_of(job.store, digest), digest) for digest in set(job.parents.values())}
    runs, lost = [], {}
    for index, run in enumerate(job.runs):
        if isinstance(run.origin, Fork):
            origin = stacks[job.parents[run.origin.run]][run.origin.run]
            state = origin.kept.get(run.origin.step)
            if state is None:
                state, lost[index] = replace(origin.state, step=run.origin.step), origin.trajectory
            run = replace(run, origin=state)
        runs.append(run)
    return runs, lost


class Stopwatch:
    """Says how far a stack is and how fast it goes."""

    def __init__(self, label: str, stack: Stack, say: Callable[[Report], None]):
        self.label, self.say, self.started = label, say, monotonic()
        self.begun = self.trained(stack)

    @staticmethod
    def trained(stack: Stack) -> int:
        """Network-steps so far."""
        return sum(trajectory.trained for trajectory in stack.trajectories)

    def __call__(self, stack: Stack) -> None:
        rate = (self.trained(stack) - self.begun) / max(monotonic() - self.started, 1e-9)
        left = sum(stack.runs[i].end - stack.clock[i] for i in stack.alive)
        ranks = [stack.trajectories[i].rank[-1] for i in stack.alive if stack.trajectories[i].rank]
        self.say(Report(self.label, step=stack.clock[stack.alive[0]], runs=len(stack.alive), rate=rate, left=left / max(rate, 1e-9), ranks=ranks))


def checkpoint_folder(stage: str) -> Path:
    """Where a stage keeps its checkpoints."""
    return STORE / stage


def tidy_checkpoints(stage: str) -> None:
    """Leave of a stage's checkpoints, once its record is written, the finished stacks of this process's tables alone.

    A run that joins such a table later costs its own block and no other.
    """
    for path in checkpoint_folder(stage).glob("*"):
        if path.name not in KEPT:
            path.unlink()
