"""Seeds that nobody registered: one command, exploratory, beside the registered run and not instead of it."""

from __future__ import annotations

import json
from pathlib import Path

from course import SEALED, WHOLE
from readme import marked
from smoke import WARM_DVC, Repository, rewrite

QUICKLY = f'dvc() {{ python "{WARM_DVC}" "$@"; }};'
LISTS = {"main": [11], "replication": [12], "bursts": [13], "spectral": [14], "restart": [15]}
OUTCOMES = {"bursts": "bursts/excursions", "spectral": "spectral/runs", "restart": "restart/runs"}
"""Where the seeds of a set stand that has no switches."""


def test_another_seed_set_is_exploratory(repository: Repository) -> None:
    """`dvc exp run -S` as the README has it, as far as main's summary, judges nothing, is listed, and leaves what is committed."""
    before, head = repository.tracked(), repository.git("rev-parse", "HEAD")
    run, show = marked("run: smoke exp")[0].commands
    done = repository.must("bash", "-c", f"{QUICKLY} {run} evaluate@design")
    assert "design: not evaluated here (seed_sets.main is [11], registered for 'design')" in done.out
    record = json.loads(repository.read("results/evaluate/design.json"))
    assert record["evaluated"] is False and {row["verdict"] for row in record["predictions"]} == {"not evaluated here"}
    provenance = json.loads(repository.read("results/collapse/main-deep.json"))["provenance"]
    assert provenance["seeds"] == [11] and provenance["seals"] == {}
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
    assert seeds == ["design", [11]]


def test_whole_study_on_lists_of_seeds(made: Repository, tmp_path: Path) -> None:
    """With a list in the place of every registration the whole graph runs to its end in one `dvc repro` and confirms nothing."""
    study = made.copy(tmp_path / "study")
    rewrite(study, "params.yaml", lambda params: params["seed_sets"].update(LISTS))
    study.commit("Lists of seeds")
    done = study.reproduce(*WHOLE, dvc=WARM_DVC)
    assert "Running stage 'switch@replication-deep'" in done.out and "Running stage 'calibrate'" not in done.out
    for name in SEALED:
        record = json.loads(study.read(f"results/evaluate/{name}.json"))
        assert f"{name}: not evaluated here (seed_sets." in done.out, done.out
        assert record["evaluated"] is False and {row["verdict"] for row in record["predictions"]} == {"not evaluated here"}
    for name, seeds in LISTS.items():
        provenance = json.loads(study.read(f"results/{OUTCOMES.get(name, f'switch/{name}-deep')}.json"))["provenance"]
        assert provenance["seeds"] == seeds and provenance["seals"] == {}
    assert "not evaluated here" in study.read("manuscript/generated/predictions.tex")
