"""Ways to claim the seeds of others, and to leave a result where no history shows it: one function each."""

from __future__ import annotations

from unittest.mock import patch

from project import Project
from tampering import SECOND


def rival_seeds(p: Project) -> None:
    """A second registration that claims the pilot's seed set, as an older tool sealed it."""
    p.write("prereg/second.yaml", SECOND.replace("sets: {second: 3}", "sets: {main: 3}"))
    p.commit("Register a second")
    with patch("audit.seal.refuse_rivals"):
        p.seal("second")
    p.commit("Seal the second")


def shared_after_the_run(p: Project) -> None:
    """Predictions about the pilot's seeds, sealed when its runs are there."""
    p.write("prereg/second.yaml", SECOND.replace("{from: seal, sets: {second: 3}}", "{same_as: pilot}"))
    p.commit("Register a second")
    with patch("audit.seal.refuse_known_outcome"):
        p.seal("second")
    p.commit("Seal the second")


def shown_elsewhere_first(p: Project) -> None:
    """An abandoned branch holds the judged record and no seal."""
    record = p.read("results/analyse/main.json")
    p.git("checkout", "-q", "-b", "abandoned", "HEAD~2")
    p.write("results/analyse/main.json", record)
    p.commit("What came out")
    p.git("checkout", "-q", "main")
