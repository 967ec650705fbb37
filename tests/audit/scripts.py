"""Scripted repositories that are in order: one function a history, from a drafted project and an honest run's files."""

from __future__ import annotations

import json
from pathlib import Path

from project import Project

RESULTS = ("train/shallow", "analyse/main", "evaluate/pilot")


class Script:
    """A drafted project, and seal and results of an honest run to be put into its history in any order."""

    def __init__(self, project: Project, honest: Project):
        self.project, self.honest, self.git, self.commit = project, honest, project.git, project.commit
        self.base = project.head()

    def seal(self, date: str | None = None) -> str:
        self.put_seal()
        return self.commit("Seal", date=date)

    def put_seal(self) -> None:
        for path in ("prereg/pilot.seal.json", "prereg/pilot/calibration.json", "prereg/pilot/calibration.run.json"):
            self.project.write(path, (self.honest.root / path).read_bytes())

    def put(self, start: str, names: tuple[str, ...] = RESULTS) -> None:
        """Results of the honest run, whose logs say that they started from another commit."""
        for name in names:
            self.project.write(f"results/{name}.json", (self.honest.root / f"results/{name}.json").read_bytes())
            log = json.loads(self.honest.read(f"results/{name}.run.json"))
            self.project.write(f"results/{name}.run.json", json.dumps({**log, "commit": start}, sort_keys=True, indent=1) + "\n")
        self.project.lock()

    def results(self, start: str, date: str | None = None) -> str:
        self.put(start)
        return self.commit("Results", date=date)

    def other(self, name: str = "notes.md") -> str:
        self.project.write(name, f"{name}: a note.\n")
        return self.commit(f"Write {name}", name)

    def branch(self, name: str, at: str = "HEAD") -> None:
        self.git("checkout", "-q", "-b", name, at)

    def main(self) -> None:
        self.git("checkout", "-q", "main")

    def squash(self, name: str) -> None:
        self.main()
        self.git("merge", "-q", "--squash", name)
        self.git("commit", "-q", "-m", "Squashed")
        self.git("branch", "-q", "-D", name)


def linear(s: Script) -> None:
    s.results(s.seal())


def no_ff_merge(s: Script) -> None:
    start = s.seal()
    s.branch("run")
    s.results(start)
    s.main()
    s.other()
    s.git("merge", "-q", "--no-ff", "run", "-m", "Merge")


def amended_message(s: Script) -> None:
    linear(s)
    s.git("commit", "-q", "--amend", "-m", "Better words")


def cherry_pick(s: Script) -> None:
    start = s.seal()
    s.branch("run")
    picked = s.results(start)
    s.main()
    s.other()
    s.git("cherry-pick", picked)


def merged_twice(s: Script) -> None:
    cherry_pick(s)
    s.git("merge", "-q", "--no-ff", "run", "-m", "Merge")


def renamed_later(s: Script) -> None:
    start = s.seal()
    s.put(start)
    (s.project.root / "results/old").mkdir()
    (s.project.root / "results/analyse/main.json").rename(s.project.root / "results/old/main.json")
    s.commit("Results under another name")
    s.git("mv", "results/old/main.json", "results/analyse/main.json")
    s.commit("Rename")


def same_bytes_again(s: Script) -> None:
    s.results(s.results(s.seal()))


def exploratory_first(s: Script) -> None:
    s.project.edit("params.yaml", "main: pilot", "main: [7, 8, 9]")
    s.project.train([7, 8, 9])
    s.project.analyse()
    s.commit("Explore")
    s.project.edit("params.yaml", "main: [7, 8, 9]", "main: pilot")
    s.commit("Back to the registered seeds")
    s.results(s.seal())


def during_a_merge(s: Script) -> None:
    s.branch("other")
    s.other()
    s.main()
    start = s.seal()
    s.git("merge", "-q", "--no-ff", "--no-commit", "other")
    s.put(start)
    s.commit("Merge and results")


def squashed_results(s: Script) -> None:
    start = s.seal()
    s.branch("run")
    s.put(start, RESULTS[:1])
    s.commit("Trained")
    s.results(start)
    s.squash("run")


def squashed_with_tag(s: Script) -> None:
    s.seal()
    s.branch("run")
    start = s.other()
    s.results(start)
    s.git("tag", "audit/start/1", start)
    s.squash("run")


def dates_reversed(s: Script) -> None:
    s.results(s.seal(date="2034-01-01T00:00:00Z"), date="2024-01-01T00:00:00Z")


def chain_of_runs(s: Script) -> None:
    start = s.seal()
    s.put(start, RESULTS[:1])
    start = s.commit("Trained")
    s.put(start, RESULTS[1:])
    s.commit("Analysed")


def worktree(s: Script) -> Path:
    linear(s)
    s.git("worktree", "add", "-q", "../worktree", "HEAD")
    return s.project.root.parent / "worktree"


PASS = (
    linear, no_ff_merge, amended_message, cherry_pick, merged_twice, renamed_later, same_bytes_again, exploratory_first, during_a_merge,
    squashed_results, squashed_with_tag, dates_reversed, chain_of_runs, worktree,
)  # fmt: skip
