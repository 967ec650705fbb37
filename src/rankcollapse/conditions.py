"""Two relations with an answer less: what a counterexample can meet and nothing refute, and what can be judged only where something else holds."""

from __future__ import annotations

from dataclasses import dataclass

from rankcollapse.evidence import ALONE, Finding, Readings, Roles, describe_count, full_key, show_roles
from rankcollapse.relations import Comparison, Every


@dataclass(frozen=True)
class Found:
    """One event that compares is enough; that none does is evidence of nothing."""

    comparison: Comparison
    roles: Roles = ALONE

    def judge(self, readings: Readings) -> Finding:
        """True or open, never false."""
        flags = {role: self.comparison.flags(readings, role) for role in self.roles}
        key = self.comparison.key
        evidence = tuple(describe_count(key, role, readings.find(key, role), own) for role, own in flags.items())
        met = any(flag for own in flags.values() for flag in own)
        return Finding(True, "one is enough", evidence) if met else Finding(None, "none was met, which refutes nothing", evidence)

    def keys(self) -> list[str]:
        """With roles."""
        return [full_key(key, role) for key in self.comparison.keys() for role in self.roles]

    def text(self) -> str:
        """As a reader sees it."""
        return f"{self.comparison.text()} in one event at least{show_roles(self.roles)}"


@dataclass(frozen=True)
class Where(Every):
    """The first part says whether the others can be judged: open unless it holds."""

    def judge(self, readings: Readings) -> Finding:
        """As all parts together where the first holds."""
        first = self.parts[0].judge(readings)
        found = super().judge(readings)
        return found if first.truth else Finding(None, first.reason, found.evidence)

    def text(self) -> str:
        """As a reader sees it."""
        return f"where {self.parts[0].text()}: {'; and '.join(part.text() for part in self.parts[1:])}"
