"""The first version is the outcome: of later and parallel ones, each that differs beyond the first's tolerance is found."""

from __future__ import annotations

import zlib

import pytest
import tampering
from project import Project

from audit import history
from audit.finding import Severity
from audit.verify import Report, verify
from audit.versions import moved_quantities


def lines(report: Report) -> str:
    return "\n".join(finding.line() for finding in report.findings)


def failing(report: Report) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity == Severity.FINDING}


def quantity(value: float, tolerance: float = 0.1, values: list[float] | None = None) -> dict[str, object]:
    return {"score": {"value": value, "unit": "1", "tolerance": tolerance, **({"values": values} if values else {})}}


@pytest.mark.parametrize(
    ("first", "later", "sealed", "moved"),
    [
        (quantity(1.0), quantity(1.05), {}, []),
        (quantity(1.0), quantity(1.2), {}, ["score"]),
        (quantity(1.0), quantity(9.0, tolerance=1e9), {}, ["score"]),
        (quantity(1.0, tolerance=1e9), quantity(9.0), {}, []),
        (quantity(1.0, tolerance=1e9), quantity(9.0), {"score": 0.5}, ["score"]),
        (quantity(1.0, 0, [1, 0, 0]), quantity(1.0, 0, [0, 1, 0]), {}, ["score"]),
        (quantity(1.0, 0, [1, 0, 0]), quantity(1.0, 0, [1, 0]), {}, ["score"]),
    ],
)
def test_difference_is_by_the_first_version(first, later, sealed, moved) -> None:
    """A widened tolerance of the later version excuses nothing; a sealed tolerance holds before both; values count one by one."""
    assert moved_quantities(first, later, sealed) == moved


def outcome(p: Project, treated: tuple[int, ...], message: str) -> None:
    p.analyse(treated)
    p.evaluate()
    p.lock()
    p.commit(message)


def test_parallel_outcomes_are_both_first(sealed: Project) -> None:
    """Two branches with two outcomes: the merge keeps the better one, and the other still stands in history."""
    sealed.train()
    sealed.lock()
    sealed.commit("Trained")
    sealed.git("checkout", "-q", "-b", "side")
    outcome(sealed, (1, 0, 0), "Missed")
    sealed.git("checkout", "-q", "main")
    outcome(sealed, (1, 1, 1), "Met")
    sealed.git("merge", "-q", "-s", "ours", "side", "-m", "Merge")
    report = verify(sealed.context())
    assert failing(report) == {"A204", "A309"}, lines(report)  # the other branch's outcome is the less favourable one
    assert "A309 results/evaluate/pilot.json:P1 the verdict does not follow; expected missed; found met" in lines(report)


def test_restoring_the_first_does_not_hide_the_later(sealed: Project) -> None:
    """Missed, mended, missed again: the mended version stays found, with the first named as first."""
    tampering.mended(sealed)
    first = sealed.git("rev-parse", "HEAD~1:results/analyse/main.json")
    sealed.git("checkout", "HEAD~1", "--", "results", "dvc.lock")
    sealed.commit("Restore the first")
    report = verify(sealed.context())
    assert f"arms.treated as in blob {first[:10]}, committed first" in lines(report), lines(report)


def test_outcome_under_another_name(sealed: Project) -> None:
    """A missed outcome that was moved away before it was committed is found by its run log."""
    sealed.train()
    sealed.analyse((1, 0, 0))
    (sealed.root / "results/old").mkdir()
    for name in ("main.json", "main.run.json"):
        (sealed.root / "results/analyse" / name).rename(sealed.root / "results/old" / name)
    sealed.commit("Missed, elsewhere")
    outcome(sealed, (1, 1, 1), "Met")
    order = lines(verify(sealed.context(), disabled=("pipeline", "runs")))
    assert "A204 results/analyse/main.json another outcome under this seal stands in history" in order


def test_uncommitted_recomputation_is_no_version(ran: Project) -> None:
    """A run that is in no commit is a reproduction, even where it differs."""
    ran.analyse((1, 0, 0))
    assert "A204" not in lines(verify(ran.context()))


def test_uncommitted_log_is_no_evidence(sealed: Project) -> None:
    """A committed record whose run log was left out could not be checked: nobody else has the log."""
    sealed.train()
    sealed.analyse()
    sealed.lock()
    sealed.commit("Records alone", "results/train", "results/analyse/main.json", "dvc.lock")
    (order,) = [checked for checked in verify(sealed.context()).checked if checked.check.name == "order"]
    assert [(finding.code, finding.severity) for finding in order.findings] == [("A202", Severity.UNCHECKED)]
    assert "no run log in the history names it" in order.findings[0].line()


@pytest.mark.parametrize("few", [history.FEW, 0], ids=["one by one", "at once"])
@pytest.mark.parametrize("kind", ["commit", "tree"])
def test_forged_object_could_not_be_checked(kind: str, few: int, ran: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object whose bytes were exchanged, which git log reads without a word, is seen: every id is recomputed."""
    monkeypatch.setattr(history, "FEW", few)
    name = ran.git("rev-parse", "HEAD~1" if kind == "commit" else "HEAD~1:results")
    other = ran.git("rev-parse", "HEAD~2" if kind == "commit" else "HEAD~2:prereg")
    file, source = (ran.root / ".git/objects" / found[:2] / found[2:] for found in (name, other))
    file.chmod(0o644)
    file.write_bytes(zlib.compress(zlib.decompress(source.read_bytes())))
    ran.git("log", "--raw", "HEAD")
    report = verify(ran.context())
    assert report.code == 2, lines(report)
    assert "A205 .git could not check: its bytes do not give its id" in lines(report)
