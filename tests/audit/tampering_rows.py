"""Forgeries that are one more way to the findings of `tampering.py`: of a registration, of a seal's history, of seeds, of records."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from project import PILOT, Project
from tampering import forge


def prediction_byte(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "No run recovers.", "No run recovers!")


def dropped_registration(p: Project) -> None:
    p.git("rm", "-q", "-r", "prereg/pilot.yaml", "prereg/pilot.seal.json")
    p.commit("Nothing was registered")


def ambiguous(name: str, change: Callable[[str], str]) -> Callable[[Project], None]:
    """A second registration that two readers could understand differently."""

    def tamper(p: Project) -> None:
        p.write("prereg/second.yaml", change(PILOT.replace("id: pilot", "id: second")))

    tamper.__name__ = name
    return tamper


duplicate_key = ambiguous("duplicate_key", lambda text: text + "primary: P1\n")
alias = ambiguous("alias", lambda text: text.replace("[train]", "&a [train]") + "---\n")
second_document = ambiguous("second_document", lambda text: text + "---\nid: other\n")


def shallow(p: Project) -> None:
    p.write(".git/shallow", p.head() + "\n")


def digit(p: Project) -> None:
    p.edit("results/analyse/main.json", '"value": 3', '"value": 4')


def record_and_log(p: Project) -> None:
    lock = p.read("dvc.lock")
    forge(p, "train/shallow", lambda record: record["score"].update(unit="points"))
    p.write("dvc.lock", lock)


def repeated_value(p: Project) -> None:
    forge(p, "evaluate/pilot", lambda record: record["predictions"][0]["observed"].update(digits=1))


def lock_entry(p: Project) -> None:
    md5 = hashlib.md5((p.root / "results/train/shallow.run.json").read_bytes()).hexdigest()
    p.edit("dvc.lock", md5, "0" * 32)


def swapped_seed(p: Project) -> None:
    forge(p, "train/shallow", lambda record: record["provenance"]["seeds"].__setitem__(0, 7))


def doubled_seed(p: Project) -> None:
    forge(p, "train/shallow", lambda record: record["provenance"]["seeds"].__setitem__(0, record["provenance"]["seeds"][1]))


def cell_gone(p: Project) -> None:
    (p.root / "results/train/shallow.json").unlink()


def hidden_edit(p: Project) -> None:
    p.write("src/model.py", "RATE = 1\n")
    p.commit("A model")
    p.git("update-index", "--skip-worktree", "src/model.py")
    p.edit("src/model.py", "1", "2")
    assert not p.git("status", "--porcelain")


def registration_line_endings(p: Project) -> None:
    p.edit("prereg/pilot.yaml", "\n", "\r\n")
    p.commit("Another editor")


def widened_tolerance(p: Project) -> None:
    """A missed outcome, then a met one that says it is the same within its own tolerance."""
    p.train()
    p.analyse((1, 0, 0))
    p.evaluate()
    p.lock()
    p.commit("Missed")
    p.analyse((1, 1, 1))
    forge(p, "analyse/main", lambda record: [arm.update(tolerance=1e9) for arm in (*record["arms"].values(), record["settled"])])
    p.evaluate()
    p.lock()
    p.commit("Met")
