"""*Confirmatory* is computed for each (sealed prediction, metric, seed set), never declared; seeds are what `audit seeds` prints."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from project import PILOT, Project
from tampering import forge, relog

from audit.attrition import population_of
from audit.checks import seeds
from audit.close import main as close
from audit.confirmatory import Word, is_whole, label, predicted_keys
from audit.predictions import Population
from audit.registration import derive_seeds
from audit.status import print_seeds

KEY = "main.arms.treated"


def word(project: Project, key: str = KEY) -> tuple[Word, str]:
    found = label(project.context(), key)
    return found.word, found.why


def name_verdicts(p: Project) -> None:
    p.edit("audit.toml", "[records]\n", '[records]\ncalibration = "results/calibrate/calibration.json"\npilot = "results/evaluate/pilot.json"\n')


def test_only_the_predicted_quantity_is_confirmatory(ran: Project) -> None:
    """A trivial registration buys no label for the other quantities on its seeds (R19)."""
    name_verdicts(ran)
    context = ran.context()
    found = label(context, KEY)
    assert (found.word, found.predictions, found.seed_set) == (Word.CONFIRMATORY, ("pilot.P1", "pilot.P2"), "pilot.main")
    assert label(context, "main.settled").word is Word.ON_SEEDS and label(context, "main.arms.untreated").word is Word.ON_SEEDS
    assert label(context, "calibration.line").word is Word.EXPLORATORY
    assert label(context, "pilot.met").word is Word.TALLY
    assert predicted_keys(context) == [KEY] and is_whole(context)


def other_seeds(p: Project) -> None:
    forge(p, "analyse/main", lambda record: record["provenance"].update(seeds=[7, 8, 9]))


def dropped_seed(p: Project) -> None:
    forge(p, "analyse/main", lambda record: record["provenance"]["seeds"].pop())


def no_seal(p: Project) -> None:
    forge(p, "analyse/main", lambda record: record["provenance"].update(seals={}))


def elsewhere(p: Project) -> None:
    p.edit("params.yaml", "scale: laptop", "scale: paper")


def held_back(p: Project) -> None:
    """Other bytes, whose log says that the run began before the seal."""
    forge(p, "analyse/main", lambda record: record["settled"].update(digits=1))
    relog(p, "analyse/main", commit=p.git("rev-list", "--max-parents=0", "HEAD"))


def mended(p: Project) -> None:
    p.analyse((1, 1, 0))
    p.evaluate()
    p.lock()
    p.commit("Another outcome")


def closed_then_rerun(p: Project) -> None:
    with p.inside():
        close("pilot")
    p.commit("Close")
    p.analyse((1, 1, 0))
    p.commit("Another run")


FAULTS: dict[str, tuple[Callable[[Project], None], Word, str]] = {
    "other seeds": (other_seeds, Word.EXPLORATORY, "other seeds than the registered ones"),
    "a seed dropped": (dropped_seed, Word.ON_SEEDS, "other seeds than the registered ones"),
    "no seal": (no_seal, Word.ON_SEEDS, "does not name the seal"),
    "another scale": (elsewhere, Word.ON_SEEDS, "does not hold for these parameters"),
    "run before the seal": (held_back, Word.ON_SEEDS, "A202"),
    "a second outcome": (mended, Word.ON_SEEDS, "A204"),
    "another value than the closed one": (closed_then_rerun, Word.ON_SEEDS, "not the value that the registration was closed with"),
}


@pytest.mark.parametrize(("act", "wanted", "why"), FAULTS.values(), ids=FAULTS)
def test_each_condition_can_fail(ran: Project, act: Callable[[Project], None], wanted: Word, why: str) -> None:
    """The label goes with the first condition that does not hold, and the reason says which."""
    assert word(ran)[0] is Word.CONFIRMATORY
    act(ran)
    found, reason = word(ran)
    assert found is wanted and why in reason, reason


def test_a_closed_outcome_keeps_its_label(ran: Project) -> None:
    """Closed, with the code moved on and the same values made again, the quantity is the confirmed one; post hoc it never was."""
    with ran.inside():
        close("pilot")
    ran.commit("Close")
    ran.edit("judge.py", "0.5", "0.6")
    ran.edit("params.yaml", "scale: laptop", "scale: paper")
    ran.commit("Move on")
    assert word(ran)[0] is Word.CONFIRMATORY
    context = ran.context()
    context.__dict__["seals"] = {name: _PostHoc(seal) for name, seal in context.seals.items()}
    assert "post hoc" in label(context, KEY).why


class _PostHoc:
    """A seal that says it was made after the outcome."""

    post_hoc = True

    def __init__(self, seal: object):
        self._seal = seal

    def __getattr__(self, name: str) -> object:
        return getattr(self._seal, name)


def test_without_history_nothing_is_confirmatory(ran: Project) -> None:
    """What cannot be checked gets neither label."""
    (ran.root / ".git").rename(ran.root.parent / "history")
    context = ran.context()
    assert label(context, KEY).word is Word.UNKNOWN and not is_whole(context)


def test_a_prediction_is_about_its_own_seed_set() -> None:
    """The set and the number of depths of its population, where it names one."""
    population = Population(set="main", depths=("shallow", "deep"))
    assert population_of(SimpleNamespace(population=population)) == ("main", 2)  # type: ignore[arg-type]
    assert population_of(SimpleNamespace(population=Population(set="other"))) == ("other", 1)  # type: ignore[arg-type]
    assert population_of(SimpleNamespace(population=None)) == (None, None)  # type: ignore[arg-type]


def test_seeds_of_every_set_by_the_printed_lines(drafted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Each printed line, run as it stands by a shell, gives the content or the seed printed with it, for every set."""
    drafted.write("prereg/pilot.yaml", PILOT.replace("sets: {main: 3}", "sets: {main: 3, replication: 4}"))
    drafted.commit("Two sets")
    drafted.sealed()
    capsys.readouterr()
    with drafted.inside():
        print_seeds("pilot")
    lines = capsys.readouterr().out.splitlines()
    seal, found = drafted.context().seals["pilot"], []
    assert shell(drafted, lines[1]).split()[0] == lines[2].strip() == seal.content
    for line in lines[3:]:
        if "# seed" in line:
            found.append(int(shell(drafted, line)[:16], 16) & 0x7FFFFFFFFFFFFFFF)
            assert line.endswith(f": {found[-1]}")
    assert tuple(found) == (*derive_seeds(seal, "main", 3), *derive_seeds(seal, "replication", 4))


def shell(project: Project, command: str) -> str:
    return subprocess.run(["sh", "-c", command], cwd=project.root, capture_output=True, text=True, check=True, env=dict(os.environ)).stdout


SEEDS: dict[str, tuple[Callable[[list[int]], list[int]], str]] = {
    "swapped": (lambda found: [*found[:2], 7], "1 swapped"),
    "dropped": (lambda found: found[:2], "1 dropped, 0 added"),
    "doubled": (lambda found: [*found[:2], found[0]], "one is doubled"),
    "added": (lambda found: [*found, 7], "0 dropped, 1 added"),
    "in another order": (lambda found: found[::-1], "another order"),
}


@pytest.mark.parametrize(("change", "words"), SEEDS.values(), ids=SEEDS)
def test_other_seeds_are_found(ran: Project, change: Callable[[list[int]], list[int]], words: str) -> None:
    """A swapped, dropped, doubled or added seed is A308, and the line says which it was."""
    assert list(seeds.check(ran.context())) == []
    forge(ran, "train/shallow", lambda record: record["provenance"].update(seeds=change(record["provenance"]["seeds"])))
    found = [finding.line() for finding in seeds.check(ran.context())]
    assert any(line.startswith("A308 results/train/shallow.json") and words in line for line in found), found
