"""The honest twins of runs with guests: what is admitted by name, what is ignored and matters to nobody, what no lock pins."""

from __future__ import annotations

from pathlib import Path

import pytest
import tampering_runs
from project import Project
from tampering import relog

from audit.checks.ignored import find_hidden
from audit.finding import Severity
from audit.verify import verify

FILES = ["data/a.csv", "data/deep/b.csv", "data/deep/c d.txt", "params.yaml", "src/x.py"]


def notes(p: Project) -> list[str]:
    """The report's notes; it must hold."""
    report = verify(p.context())
    assert report.code == 0, [finding.line() for finding in report.findings]
    return [finding.line() for finding in report.findings if finding.severity == Severity.NOTE]


def test_old_logs_say_nothing(ran: Project) -> None:
    """A log from before these things were written down holds, and the report says how many logs name what they loaded."""
    assert not [line for line in notes(ran) if line[:4] in ("A317", "A318", "A319", "A320")]
    relog(ran, "calibrate/calibration", foreign=None, altered=None, environment=None)
    counts = {row.check.name: row.counted for row in verify(ran.context()).checked}
    assert counts["foreign"] == "3 of 4 run logs name what they loaded" and counts["environment"] == "3 of 4 run logs show it"


def test_admitted_variable_is_a_note(ran: Project) -> None:
    """An allocator that is named in `audit.toml` is no finding."""
    ran.edit("audit.toml", "version = 1\n", 'version = 1\nforeign = ["LD_PRELOAD"]\n')
    ran.write("prereg/pilot.deviations.yaml", "- {kind: configuration, what: audit.toml, why: An allocator is admitted that the machine preloads.}\n")
    tampering_runs.preloaded(ran)
    assert [line for line in notes(ran) if line.startswith("A319 results/train/shallow.run.json note:") and "LD_PRELOAD" in line]


@pytest.mark.parametrize("tamper", [tampering_runs.foreign_module, tampering_runs.altered_package, tampering_runs.preloaded])
def test_without_a_seal_it_is_a_note(tamper, ran: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exploratory runs may load what they like; the report says it."""
    monkeypatch.setattr(tampering_runs, "logged", lambda p, **changed: relog(p, "calibrate/calibration", **changed))
    tamper(ran)
    assert [line for line in notes(ran) if line[:4] in ("A317", "A318", "A319") and "calibration.run.json note:" in line]


def test_unpinned_packages_are_a_note(sealed: Project) -> None:
    """What a lock file leaves open is named, once, without the project itself."""
    sealed.write("requirements.lock", "click==0.0.0\n")
    sealed.write("pyproject.toml", '[project]\nname = "Py.Dantic"\n')
    sealed.commit("A lock that pins nothing that runs")
    sealed.train()
    relog(sealed, "train/shallow", packages={"py-dantic": "1", "numpy": "2.0"})
    sealed.analyse()
    relog(sealed, "analyse/main", packages={"numpy": "2.0"})
    sealed.evaluate()
    relog(sealed, "evaluate/pilot", packages={})
    sealed.commit("Results")
    [line] = [line for line in notes(sealed) if line.startswith("A318")]
    assert line == "A318 requirements.lock note: does not pin packages that runs under a seal loaded; found numpy"


def test_patterns_that_hide_nothing_pass(ran: Project) -> None:
    """What is ignored and neither tracked nor depended on is nobody's loss; a pattern that is taken back hides nothing."""
    ran.write(".dvcignore", "*.tmp\njudge.py\n/build/\nresults/train/*.json\n!results/train/*.json\n# results\n")
    notes(ran)


@pytest.mark.parametrize(
    ("where", "patterns", "hidden"),
    [
        (".dvcignore", "data/", ["data/a.csv", "data/deep/b.csv", "data/deep/c d.txt"]),
        (".dvcignore", "data/**/*.csv", ["data/a.csv", "data/deep/b.csv"]),
        (".dvcignore", "/data/*.csv", ["data/a.csv"]),
        (".dvcignore", "*.csv\n!b.csv", ["data/a.csv"]),
        (".dvcignore", "data/deep\n!data/deep/b.csv", ["data/deep/b.csv", "data/deep/c d.txt"]),
        ("data/.dvcignore", "*.csv\n/params.yaml", ["data/a.csv", "data/deep/b.csv"]),
        ("data/deep/.dvcignore", "c\\ d.txt", ["data/deep/c d.txt"]),
        (".dvcignore", "a.csv/", []),
        (".dvcignore", "\\#x\n[ps]*\n", ["params.yaml", "src/x.py"]),
    ],
)
def test_patterns_are_read_as_git_reads_them(tmp_path: Path, where: str, patterns: str, hidden: list[str]) -> None:
    """Folders, anchors, stars, nesting and negation, whatever the user's own git ignores; the line that hides a file is named."""
    (tmp_path / where).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / where).write_text(patterns)
    (tmp_path / ".gitignore").write_text("!*\n")
    found = list(find_hidden(tmp_path, FILES))
    assert [path for path, _, _ in found] == hidden
    assert all(source.startswith(f"{where}:") for _, source, _ in found)
