"""What stacks say of themselves: a line each in a terminal, plain lines in a pipe, and a file that another terminal can follow."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, time

FILE = "progress.jsonl"


@dataclass(frozen=True)
class Report:
    """How far one stack is."""

    stack: str
    step: int = 0
    """Of its first live run's clock."""
    runs: int = 0
    """Live runs."""
    rate: float = 0.0
    """Network-steps per second since this process took the stack."""
    left: float = 0.0
    """Seconds to the end at this rate."""
    ranks: Sequence[float] = ()
    """Latest stable rank of every live run."""
    note: str = ""
    """Something to be said at once instead: done, or a checkpoint that is ignored."""

    @property
    def text(self) -> str:
        """The report as a line."""
        span = f"{min(self.ranks):.2f}-{max(self.ranks):.2f}" if self.ranks else "-"
        return self.note or f"step {self.step:>5}  {self.runs} runs  {self.rate:5.1f} network-steps/s  {self.left:4.0f} s left  rank {span}"

    @property
    def record(self) -> dict[str, object]:
        """The report as plain values."""
        if self.note:
            return {"time": round(time(), 1), "stack": self.stack, "note": self.note}
        ranks = [round(min(self.ranks), 3), round(max(self.ranks), 3)] if self.ranks else None
        return {"time": round(time(), 1), "stack": self.stack, "step": self.step, "runs": self.runs, "rate": round(self.rate, 1),
                "seconds_left": round(self.left), "rank": ranks}  # fmt: skip


class Progress:
    """Shows reports: redrawn in a terminal, every ten seconds in a pipe; all of them go to the file."""

    def __init__(self, folder: Path):
        self.file, self.shown, self.width = folder / FILE, {}, 0
        self.terminal = sys.stderr.isatty()

    def say(self, report: Report) -> None:
        """Show one report."""
        self.write(report)
        last = self.shown.get(report.stack, -1e9)
        if report.note or monotonic() - last >= (1 if self.terminal else 10):
            self.shown[report.stack] = monotonic()
            end = "\r" if self.terminal and not report.note else "\n"
            print(f"{report.stack}: {report.text}".ljust(self.width), end=end, file=sys.stderr, flush=True)
            self.width = max(self.width, len(report.stack) + len(report.text) + 2)

    def write(self, report: Report) -> None:
        """Append one report to the file; a full disk is the checkpoint's matter, not this file's."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a") as stream:
                stream.write(json.dumps(report.record) + "\n")
        except OSError:
            pass
