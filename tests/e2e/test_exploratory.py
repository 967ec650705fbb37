"""Another seed set: one command, exploratory, beside the registered run and not instead of it."""

from __future__ import annotations

import json

from readme import marked
from smoke import TEX, Repository


def test_another_seed_set_is_exploratory(repository: Repository) -> None:
    """`dvc exp run -S` as the README has it runs to the end, judges nothing, is listed, and leaves what is committed."""
    before, head = repository.tracked(), repository.git("rev-parse", "HEAD")
    run, show = marked("run: smoke exp")[0].commands
    done = repository.must("bash", "-c", run if TEX else f"{run} audit render")
    assert "pilot: not evaluated here (seed_sets.main is [11], registered for 'pilot')" in done.out
    record = json.loads(repository.read("results/evaluate/pilot.json"))
    assert record["evaluated"] is False and {row["verdict"] for row in record["predictions"]} == {"not evaluated here"}
    provenance = json.loads(repository.read("results/collapse/main-deep.json"))["provenance"]
    assert provenance["seeds"] == [11] and provenance["seals"] == {}
    assert "not evaluated here" in repository.read("manuscript/generated/predictions.tex")
    assert repository.git("rev-parse", "HEAD") == head
    assert_listed(repository, show)
    repository.must("git", "checkout", "-q", "--", ".")
    repository.must("dvc", "checkout", "-q")
    assert repository.tracked() == before
    held = repository.audit("verify")
    assert held.code == 0, held.text


def assert_listed(repository: Repository, show: str) -> None:
    """The experiment stands in the list with its seeds, below the commit with the registered ones."""
    repository.must("bash", "-c", show)
    rows = json.loads(repository.must("dvc", "exp", "show", "--json").out)
    commit = next(row for row in rows if row["rev"] == repository.git("rev-parse", "HEAD"))
    (experiment,) = commit["experiments"]
    seeds = [row["data"]["params"]["params.yaml"]["data"]["seed_sets"]["main"] for row in (commit, experiment["revs"][0])]
    assert seeds == ["pilot", [11]]
