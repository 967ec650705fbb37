"""What `audit verify` does once, however many registrations there are: seeds of a set are derived, and git is started."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from project import Project
from tampering import SECOND

from audit import registration
from audit.beside import is_beside
from audit.verify import verify

MORE = ("second", "third", "fourth")


def counting(found: Counter[str], does: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
    """The same function, which counts its calls by a name."""

    def counted(*arguments: Any, **more: Any) -> Any:
        found[name(*arguments)] += 1
        return does(*arguments, **more)

    return counted


def run_under(project: Project, names: tuple[str, ...]) -> Project:
    """The pilot and other registrations, each with seeds of its own, sealed before everything runs."""
    for name in names:
        project.write(f"prereg/{name}.yaml", SECOND.replace("second", name))
        project.commit(f"Register {name}")
        project.seal(name)
        project.commit(f"Seal {name}")
    project.ran()
    return project


def count_work(project: Project, monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[str], Counter[str]]:
    """How often each seed is derived, and each command of git is started, in one verify."""
    seeds, started = Counter[str](), Counter[str]()
    with monkeypatch.context() as patched:
        patched.setattr(registration, "seed_of", counting(seeds, registration.seed_of, str))
        patched.setattr(subprocess.Popen, "__init__", counting(started, subprocess.Popen.__init__, lambda _, command, *__: " ".join(map(str, command))))
        verify(project.context())
    return seeds, started


def test_work_grows_no_faster_than_registrations(sealed: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With four registrations no seed is derived more often than with one, and no more processes of git are started."""
    one, four = run_under(sealed.copy(tmp_path / "one"), ()), run_under(sealed, MORE)
    (seeds, started), (seeds_of_four, started_of_four) = count_work(one, monkeypatch), count_work(four, monkeypatch)
    assert len(seeds) == 3 and len(seeds_of_four) == 12
    assert max(seeds_of_four.values()) <= max(seeds.values())
    assert started_of_four.total() == started.total()


def test_a_set_is_derived_once_for_all_records(sealed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose sets a record's seeds are is asked of each pair of a record and a registration: the pilot's own, and another's to the rest."""
    context, seeds = run_under(sealed, MORE).context(), Counter[str]()
    monkeypatch.setattr(registration, "seed_of", counting(seeds, registration.seed_of, str))
    asked = {(name, path): is_beside(context, name, path) for name in context.seals for path in context.records}
    assert {name: asked[name, "results/analyse/main.json"] for name in context.seals} == {"pilot": False, **dict.fromkeys(MORE, True)}
    assert set(seeds.values()) == {1} and len(seeds) == 12
