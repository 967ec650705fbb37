"""What is changed by hand after the run is caught, with the code that says what it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from smoke import TEX, Repository

Change = Callable[[Repository], None]
CITED = r"\val{main.both.force.hinge_over_penalty} times"


def change_digit(path: str, pattern: str) -> Change:
    """Change the last digit of the first number that follows a pattern in a file."""

    def change(repository: Repository) -> None:
        text = repository.read(path)
        found = re.search(pattern + r"[^\d]*[\d.]*(\d)", text)
        assert found, pattern
        at = found.start(1)
        repository.write(path, f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}")

    return change


def edit_seal(repository: Repository) -> None:
    """Give the seal another content, as someone would who wants other seeds."""
    change_digit("prereg/path-1.seal.json", '"value": ')(repository)


def remove_seal(repository: Repository) -> None:
    """Remove the seal, and commit that."""
    repository.git("rm", "-q", "prereg/path-1.seal.json")
    repository.git("commit", "-q", "-m", "No seal")


@dataclass(frozen=True)
class Case:
    """One change, and the findings that must name it."""

    change: Change
    codes: frozenset[str]
    place: str


CASES = {
    "a digit in a record": Case(change_digit("results/summary/main.json", '"value": '), frozenset({"A303", "A304"}), "results/summary/main.json"),
    "a digit in a forecast": Case(change_digit("results/forecast/path.json", '"opening": '), frozenset({"A303", "A304"}), "results/forecast/path.json"),
    "a digit in a test": Case(change_digit("results/tests/path.json", '"p_networks": {'), frozenset({"A303", "A304"}), "results/tests/path.json"),
    "a digit in a trajectory": Case(change_digit("results/branch/main-deep.json", '"loss": \\['), frozenset({"A303", "A304", "A314"}), "results/branch/main-deep.json"),
    "an edited seal": Case(edit_seal, frozenset({"A103", "A104"}), "prereg/path-1.seal.json"),
    "a removed seal": Case(remove_seal, frozenset({"A102", "A104"}), "prereg/path-1.seal.json"),
    "an edited run log": Case(change_digit("results/path/main-deep.run.json", '"seconds": '), frozenset({"A304"}), "results/path/main-deep.run.json"),
    "an edited macro": Case(change_digit("manuscript/generated/macros.tex", "main.both.events.settled}{"), frozenset({"A403"}), "manuscript/generated/macros.tex"),
    "an edited registration": Case(change_digit("prereg/path-1.yaml", "op: "), frozenset({"A105"}), "prereg/path-1.yaml"),
    "an edited judge": Case(change_digit("src/rankcollapse/path_rules.py", "OPEN = 1e-"), frozenset({"A105"}), "src/rankcollapse/path_rules.py"),
    "an edited frozen parameter": Case(change_digit("params.yaml", "added_loss: "), frozenset({"A107"}), "params.yaml"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_change_is_found(repository: Repository, case: Case) -> None:
    """`audit verify` exits 1 with a finding of the right code at the right place."""
    case.change(repository)
    done = repository.audit("verify")
    found = {tuple(line.split(" ", 2)[:2]) for line in done.out.splitlines() if re.match(r"A\d{3} ", line) and " note: " not in line}
    assert done.code == 1, done.text
    assert case.codes <= {code for code, _ in found}, done.text
    assert any(place.startswith(case.place) for code, place in found if code in case.codes), done.text


def test_typed_number_stops_the_pipeline(repository: Repository) -> None:
    """A number typed over a macro: `dvc repro` fails at the audit, which names the key it stands for; the PDF is kept."""
    old = (repository.root / "manuscript/paper.pdf").read_bytes() if TEX else b""
    at = repository.read("manuscript/paper.tex")[: repository.read("manuscript/paper.tex").index(CITED)].count("\n") + 1
    repository.edit("manuscript/paper.tex", CITED, "2.5 times")
    done = repository.run("dvc", "repro", *(() if TEX else ("render",)))
    assert done.code != 0 and "failed to reproduce 'audit'" in done.err
    found = re.search(r"^A401 manuscript/paper\.tex:(\d+):\d+ typed number 2\.5; nearest: (.*)$", done.out, re.MULTILINE)
    assert found and int(found[1]) == at and r"\val" in found[2] and "cure: cite it with \\val" in found[2], done.text
    assert "Running stage 'render'" not in done.out
    assert not TEX or (repository.root / "manuscript/paper.pdf").read_bytes() == old


def test_shallow_clone_could_not_be_checked(made: Repository, tmp_path: Path) -> None:
    """In a clone without the whole history nothing is found and nothing is passed: exit 2, with the cure."""
    made.must("git", "clone", "-q", "--depth", "1", made.root.as_uri(), str(tmp_path / "shallow"))
    done = Repository(tmp_path / "shallow").audit("verify")
    assert done.code == 2 and "A205" in done.out and "git fetch --unshallow" in done.out and done.out.splitlines()[-1].startswith("could not be checked whole")


def test_full_clone_holds(made: Repository, tmp_path: Path) -> None:
    """In a fresh clone, where nothing is computed, all that git carries holds; what it does not carry is a note."""
    made.must("git", "clone", "-q", str(made.root), str(tmp_path / "clone"))
    done = Repository(tmp_path / "clone").audit("verify")
    assert done.code == 0 and done.out.splitlines()[-1].startswith("holds: "), done.text


def test_archive_could_not_be_checked(repository: Repository) -> None:
    """Without git there is no order to check: exit 2, with the cure."""
    (repository.root / ".git").rename(repository.root.parent / "history")
    done = repository.audit("verify")
    assert done.code == 2 and "A205" in done.out and "clone the repository with its history" in done.out, done.text
