"""What came first: seals before runs, forecasts before outcomes; in another order a stage refuses in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from course import ROLES, SHARED
from smoke import Done, Repository


def brought(repository: Repository, path: str) -> str:
    """The commit that brought a file, the last time where the pilot had one there."""
    return repository.git("log", "--diff-filter=A", "--format=%H", "--", path).split()[0]


def came_before(repository: Repository, first: str, then: str) -> bool:
    """Whether one file lies in a commit before the one that brought another."""
    one, other = brought(repository, first), brought(repository, then)
    return one != other and repository.run("git", "merge-base", "--is-ancestor", one, other).code == 0


PAIRS = [
    *(("prereg/design.seal.json", f"results/collapse/main-{role}.json") for role in ROLES),
    *(("results/thresholds/main.json", f"prereg/{name}.seal.json") for name in SHARED),
    *((f"prereg/{name}.seal.json", f"results/collapse/replication-{role}.json") for name in SHARED for role in ROLES),
    *(("results/forecast/path.json", f"results/switch/replication-{role}.json") for role in ROLES),
    ("results/bursts/development.json", "prereg/burst-1.seal.json"),
    ("prereg/burst-1.seal.json", "results/bursts/excursions.json"),
    ("results/bursts/forecast.json", "results/bursts/continuations.json"),
    ("results/spectral/development.json", "prereg/spectral-1.seal.json"),
    ("results/power/power.json", "prereg/spectral-1.seal.json"),
    ("prereg/spectral-1.seal.json", "results/spectral/runs.json"),
    ("results/restart/development.json", "prereg/spectral-2.seal.json"),
    ("results/power/power.json", "prereg/spectral-2.seal.json"),
    ("prereg/spectral-2.seal.json", "results/restart/runs.json"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "then"), PAIRS, ids=lambda path: path.removeprefix("results/").removesuffix(".json"))
def test_one_commit_came_before_the_other(made: Repository, first: str, then: str) -> None:
    """In history, not by what a file says of itself."""
    assert came_before(made, first, then) and not came_before(made, then, first)


@pytest.mark.parametrize(
    ("forecast", "outcome"),
    [("forecast/path", "switch/replication-shallow"), ("forecast/path", "switch/replication-deep"), ("bursts/forecast", "bursts/continuations")],
)
def test_outcomes_were_made_from_a_commit_that_holds_the_forecast(made: Repository, forecast: str, outcome: str) -> None:
    """The run of an outcome names the commit it started from, which has the forecast as it is now, and the forecast among its inputs."""
    log = json.loads(made.read(f"results/{outcome}.run.json"))
    assert made.git("rev-parse", f"{log['commit']}:results/{forecast}.json") == made.git("rev-parse", f"HEAD:results/{forecast}.json")
    assert f"results/{forecast}.json" in log["inputs"]


@pytest.fixture
def back(made: Repository, tmp_path: Path) -> Iterator:
    """The study as it was at the commit of a title, what git ignores as it is now."""

    def go(title: str) -> Repository:
        past = made.copy(tmp_path / "past")
        past.git("reset", "-q", "--hard", past.git("log", "--format=%H", f"--grep=^{title}$"))
        return past

    return go


def assert_refused(done: Done, *words: str) -> None:
    """One line with all words, exit code 2."""
    assert done.code == 2 and len(done.err.splitlines()) == 1 and all(word in done.err for word in words), done.text


@pytest.mark.parametrize(("title", "stage"), [("Main", "collapse"), ("Main", "switch"), ("Seal path-1", "collapse"), ("Seal function-1", "branch")])
def test_replication_waits_for_every_seal(back, title: str, stage: str) -> None:
    """Before path-1 is sealed its seeds do not exist, and while one that shares them is not sealed nothing of the replication runs."""
    past = back(title)
    done = past.run("python", "-m", f"stages.{stage}", "replication", "shallow")
    assert_refused(done, "the registration is not sealed; expected the seal in HEAD's tree; cure: audit seal ")
    waiting = [name for name in SHARED if not (past.root / f"prereg/{name}.seal.json").exists()]
    assert waiting and done.err.partition(".seal.json: ")[0].removeprefix("prereg/") in waiting
    assert not (past.root / f"results/{stage}/replication-shallow.json").exists()


@pytest.mark.parametrize("role", ROLES)
def test_switches_wait_for_their_forecast(back, role: str) -> None:
    """With readings and without a forecast no switch of the replication is trained."""
    past = back("Forecasts of the replication")
    past.git("rm", "-q", "results/forecast/path.json")
    past.commit("No forecast")
    assert_refused(past.run("python", "-m", "stages.switch", "replication", role), "results/forecast/path.json", "is not there")
    assert not (past.root / f"results/switch/replication-{role}.json").exists()


def test_a_late_registration_of_the_replication_is_refused(back) -> None:
    """Once the replication's seeds have run, no other registration can share them."""
    past = back("Forecasts of the replication")
    text = past.read("prereg/order-1.yaml").replace("id: order-1", "id: order-2")
    past.write("prereg/order-2.yaml", text)
    past.commit("Another registration")
    assert_refused(past.audit("seal", "order-2"), "has run already on the seeds of path-1: this seal would come after it")
    assert not (past.root / "prereg/order-2.seal.json").exists()


@pytest.mark.parametrize(("stage", "name"), [("burst", "burst-1"), ("spectral spectral", "spectral-1"), ("spectral restart", "spectral-2")])
def test_what_was_developed_waits_for_its_seal(back, stage: str, name: str) -> None:
    """Development ran, the registered networks do not."""
    past = back("Tests")
    assert_refused(past.run("python", "-m", *f"stages.{stage}".split()), f"prereg/{name}.seal.json", "not sealed", f"cure: audit seal {name}")
