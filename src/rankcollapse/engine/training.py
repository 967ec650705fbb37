"""The loop that trains a stack to its end, or until somebody asks it to stop."""

from __future__ import annotations

import signal
from collections.abc import Callable
from time import monotonic

import torch

from rankcollapse import kernel
from rankcollapse.engine.runs import State, Trajectory
from rankcollapse.engine.stack import Stack


class Interrupted(KeyboardInterrupt):
    """A signal asked the engine to stop; its state is in the checkpoint."""


def prepare_threads(threads: int = 1) -> None:
    """PyTorch on one thread, so that results do not depend on how many cores there are; the kernel on as many as given; denormals flushed."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    kernel.Threads.use(threads)


def train_stack(
    stack: Stack,
    *,
    save: Callable[[Stack], None] | None = None,
    save_seconds: float = 20.0,
    say: Callable[[Stack], None] | None = None,
) -> list[tuple[Trajectory, State]]:
    """Train until every run has ended; return trajectories and final states in the table's order.

    `save` is called every `save_seconds`, and when a signal, or `say` by `Interrupted`, asks to stop; then `Interrupted` is raised.
    """
    stopping: list[int] = []
    with signals_to(stopping):
        saved = shown = monotonic()
        stack.solve_weights()
        while stack.alive:
            stack.measure()
            stack.keep_states()
            stack.retire()
            if not stack.alive:
                break
            stack.step()
            now = monotonic()
            if save and (stopping or now - saved >= save_seconds):
                save(stack)
                saved = monotonic()
            if stopping:
                raise Interrupted
            if say and now - shown >= 1:
                try:
                    say(stack)
                except Interrupted:  # whoever listens has gone
                    stopping.append(0)
                shown = now
        if stopping:
            if save:
                save(stack)
            raise Interrupted
    return [(stack.trajectories[i], stack.final[i]) for i in range(len(stack.runs))]


class signals_to:
    """Within it SIGINT and SIGTERM are noted in a list instead of breaking a step in the middle."""

    def __init__(self, noted: list[int]):
        self.noted = noted

    def __enter__(self) -> None:
        try:
            self.before = {number: signal.signal(number, lambda number, _: self.noted.append(number)) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not in the main thread: the process that owns the signals decides
            self.before = {}

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
