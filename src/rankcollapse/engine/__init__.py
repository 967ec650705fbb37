"""Trains tables of runs: many networks at once along a model axis, resumable at any step."""

from rankcollapse.engine.runs import Fork, Run, Setting, State, Trajectory, check_table, describe_runs, fresh_state
from rankcollapse.engine.stack import Stack
from rankcollapse.engine.training import Interrupted, prepare_threads, train_stack

__all__ = [
    "Fork", "Interrupted", "Run", "Setting", "Stack", "State", "Trajectory", "check_table", "describe_runs", "fresh_state", "prepare_threads",
    "train_stack",
]  # fmt: skip
