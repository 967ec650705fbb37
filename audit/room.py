"""How many tries fit between a registration's first commit and its witness: what a witness does not exclude."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from audit.context import Context
from audit.records import RunLog


@dataclass(frozen=True)
class Room:
    """What one try costs and how long there was time for tries."""

    cost: timedelta
    """Sum of the run logs under the seal: one try on one such machine."""
    span: timedelta
    """From the first commit of the registration, by its typed date, to the witness."""

    @property
    def tries(self) -> int:
        """How many tries fit."""
        return int(self.span / self.cost)

    def text(self) -> str:
        """The line of the report."""
        start = "from the first commit of the registration (its date is typed) to its witness"
        if self.span < timedelta(0):
            return f"one try costs about {describe(self.cost)}; {start} lies less than nothing: the typed date is later than the witness"
        tried = f"room for about {self.tries} tries on one such machine"
        return f"one try costs about {describe(self.cost)}; {start} lie {describe(self.span)}: {tried}"


def compute_room(first: datetime, witness: datetime, seconds: float) -> Room | None:
    """The room between a typed first date and a witness's time, at `seconds` a try; None where no run says what a try costs."""
    return Room(timedelta(seconds=seconds), witness - first) if seconds > 0 else None


def read_room(context: Context, name: str, witness: datetime) -> Room | None:
    """The room of a registration, from its first commit and the run logs that stand under its seal."""
    seconds = sum(log.seconds for log in context.run_logs.values() if isinstance(log, RunLog) and name in log.seals)
    return compute_room(first_date(context, name), witness, seconds)


def first_date(context: Context, name: str) -> datetime:
    """The earliest typed date of a commit that introduced a version of the registration."""
    history = context.history
    blobs = history.versions(f"{context.config.paths.prereg}/{name}.yaml")
    commits = {commit for blob in blobs for commit in history.introductions(blob)} or {history.head}
    return datetime.fromtimestamp(min(map(history.date, commits)), UTC)


def describe(span: timedelta) -> str:
    """A span in the unit that suits it."""
    seconds = span.total_seconds()
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
