"""Bad input at the command line: one line with place, expectation, observation and cure; the right exit code; nothing overwritten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from smoke import TEX, WITHOUT_TEX, Repository

Change = Callable[[Repository], None]
CITED = r"\val{main.both.events.settled}"


def replaced(path: str, old: str, new: str) -> Change:
    """A file with one text replaced."""
    return lambda repository: repository.edit(path, old, new)


def cut(path: str) -> Change:
    """A file of which the second half is lost."""

    def change(repository: Repository) -> None:
        data = (repository.root / path).read_bytes()
        repository.write(path, data[: len(data) // 2])

    return change


def without_history(repository: Repository) -> None:
    """An unpacked archive instead of a clone."""
    (repository.root / ".git").rename(repository.root.parent / "history")


def without_seal(repository: Repository) -> None:
    """A registration whose seal was never made."""
    repository.git("rm", "-q", "prereg/design.seal.json")
    repository.git("commit", "-q", "-m", "No seal")


def unknown_metric(repository: Repository) -> None:
    """A committed registration that asks for a quantity that no record has."""
    repository.git("rm", "-q", "prereg/design.seal.json")
    repository.edit("prereg/design.yaml", "key: both.hyst.ratio", "key: both.hyst.ratoi")
    repository.commit("Another draft")


@dataclass(frozen=True)
class Bad:
    """What is spoilt, what is typed then, and what the one line has to say."""

    change: Change
    command: tuple[str, ...]
    words: tuple[str, ...]
    code: int = 2


DATA, COLLAPSE, PATH = ("stages.data",), ("stages.collapse", "main", "shallow"), ("stages.path", "main", "deep")
SMOKE = "params.yaml: scales.smoke."
CASES = {
    "unknown key": Bad(replaced("params.yaml", "scale: smoke", "scale: smoke\nsclae: smoke"), DATA, ("params.yaml: unknown key 'sclae'", "cure: remove it or correct its spelling")),
    "misspelt key": Bad(replaced("params.yaml", "{collapse: 0.45", "{colapse: 0.45"), DATA, ("params.yaml: unknown key 'scales.smoke.rules.colapse'", "expected collapse", "cure: write collapse")),
    "depth 0": Bad(replaced("params.yaml", "{shallow: 3", "{shallow: 0"), DATA, (f"{SMOKE}depths.shallow is not valid", "expected greater than or equal to 1", "found 0")),
    "duplicate seeds": Bad(replaced("params.yaml", "calibration: [5]", "calibration: [5, 5]"), DATA, ("params.yaml: seed_sets.calibration is not valid", "expected each seed once (twice: 5)")),
    "a number as text": Bad(
        replaced("params.yaml", "learning_rate: 0.0001", 'learning_rate: "1e-3"'), DATA, (f"{SMOKE}optimiser.learning_rate is not valid", "expected a valid number", "found '1e-3'")
    ),
    "an unknown scale": Bad(replaced("params.yaml", "scale: smoke", "scale: smoek"), DATA, ("params.yaml: scale is not valid", "'smoke', 'laptop' or 'paper'", "found 'smoek'")),
    "NaN in a record": Bad(
        replaced("results/calibrate/calibration.json", '"healthy_q": ', '"healthy_q": NaN, "was": '), COLLAPSE, ("results/calibrate/calibration.json: ", "NaN")
    ),
    "a truncated record": Bad(cut("results/collapse/main-deep.json"), PATH, ("results/collapse/main-deep.json: not readable as JSON", "cure: the file may be truncated")),
    "a truncated state file": Bad(
        cut("states/main-deep/states.safetensors"), PATH, ("states/main-deep/states.safetensors: not a readable state file", "cure: delete it and run `dvc repro` again")
    ),
    "a missing seal": Bad(without_seal, COLLAPSE, ("prereg/design.seal.json: the registration is not sealed", "expected the seal in HEAD's tree", "cure: audit seal design && git commit")),
    "an unknown role": Bad(lambda _: None, ("stages.collapse", "main", "middle"), ("role: no such role", "expected shallow or deep", "found middle")),
    "an unknown metric": Bad(unknown_metric, ("audit", "evaluate", "design", "--on", "results/summary/main.json"), ("results/summary/main.json", "both.hyst.ratoi", "ratio")),
    "an unknown key in the manuscript": Bad(
        replaced("manuscript/paper.tex", CITED, r"\val{main.both.events.setled}"), ("audit", "render"), ("A402 manuscript/paper.tex:", "both.events.setled", "both.events.settled"), code=1
    ),
    "no history": Bad(without_history, DATA, ("no git history to check the order in", "cure: clone the repository with its history")),
}  # fmt: skip


def lying_there(repository: Repository) -> dict[Path, bytes]:
    """Every file of the working tree and its bytes."""
    files = (path for path in repository.root.rglob("*") if path.is_file() and not {".git", "__pycache__", ".dvc"} & set(path.parts))
    return {path: path.read_bytes() for path in files}


def assert_one_line(repository: Repository, bad: Bad) -> None:
    """The command says one line, exits as it should, and writes nothing."""
    before = lying_there(repository)
    done = repository.run("python", "-m", *bad.command)
    assert done.code == bad.code, done.text
    assert len(done.err.splitlines()) == 1 and all(word in done.err for word in bad.words), done.err
    assert lying_there(repository) == before


@pytest.mark.parametrize("bad", CASES.values(), ids=CASES)
def test_bad_input_is_one_line(repository: Repository, bad: Bad) -> None:
    """Each case of the table."""
    bad.change(repository)
    assert_one_line(repository, bad)


@pytest.mark.skipif(not TEX, reason=WITHOUT_TEX)
def test_latex_error_is_one_line(repository: Repository) -> None:
    """The first LaTeX error, with file and line; the old PDF stays."""
    repository.edit("manuscript/paper.tex", r"\maketitle", r"\maketitel")
    line = repository.read("manuscript/paper.tex").split(r"\maketitel")[0].count("\n") + 1
    assert_one_line(repository, Bad(lambda _: None, ("audit", "pdf"), (f"manuscript/paper.tex:{line}: LaTeX: Undefined control sequence", "cure: repair the source; the old PDF is kept")))


def test_shallow_clone_cannot_be_sealed_in(made: Repository, tmp_path: Path) -> None:
    """Where history is cut off nobody can tell whether a seal was made before."""
    made.must("git", "clone", "-q", "--depth", "1", made.root.as_uri(), str(tmp_path / "shallow"))
    words = ("prereg/design.seal.json: a shallow clone cannot show that no seal was made before", "cure: git fetch --unshallow")
    assert_one_line(Repository(tmp_path / "shallow"), Bad(lambda _: None, ("audit", "seal", "design"), words))
