"""Scripted repositories that are not in order, or that have lost what would show it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from scripts import RESULTS, Script, linear, same_bytes_again

GARBAGE = "0123456789" * 4


def forged_log(s: Script) -> None:
    """Held back until the seal is committed, with a log that lies about its start: no history can show this."""
    s.put(s.base)
    s.put_seal()
    s.results(s.commit("Seal", "prereg"))


def record_first(s: Script) -> None:
    s.results(s.base)
    s.seal()


def record_first_garbage(s: Script) -> None:
    s.results(GARBAGE)
    s.seal()


def backdated(s: Script) -> None:
    s.results(s.base, date="2030-01-01T00:00:00Z")
    s.seal(date="2020-01-01T00:00:00Z")


def swapped_by_rebase(s: Script) -> None:
    seal = s.seal()
    results = s.results(seal)
    s.git("reset", "-q", "--hard", s.base)
    s.git("cherry-pick", results)
    s.git("cherry-pick", seal)


def together(s: Script) -> None:
    s.put_seal()
    s.results(s.base)


def held_back(s: Script) -> None:
    s.put_seal()
    s.commit("Seal", "prereg")
    s.results(s.base)


def staged_seal(s: Script) -> None:
    s.branch("experiment")
    s.put_seal()
    s.results(s.base)
    s.main()
    s.seal()
    s.git("merge", "-q", "--no-ff", "experiment", "-m", "Merge the experiment")


def seal_edited(s: Script) -> None:
    start = s.seal()
    s.put(start)
    s.project.edit("prereg/pilot.seal.json", '"warnings": [', '"warnings":  [')
    s.commit("Edit the seal", "prereg")
    s.commit("Results")


def revert_and_add_again(s: Script) -> None:
    first = s.results(s.base)
    s.git("revert", "--no-edit", first)
    s.results(s.seal())


def seal_renamed(s: Script) -> None:
    linear(s)
    s.git("mv", "prereg/pilot.seal.json", "prereg/other.seal.json")
    s.commit("Rename the seal")


def evil_merge(s: Script) -> None:
    s.branch("other")
    start = s.other()
    s.main()
    s.seal()
    s.git("merge", "-q", "--no-ff", "--no-commit", "other")
    s.put(start)
    s.commit("Merge, and results that neither side has")


def sealed_again(s: Script) -> None:
    linear(s)
    s.git("rm", "-q", "prereg/pilot.seal.json")
    s.commit("Drop the seal")
    s.project.write("prereg/pilot.seal.json", (s.honest.root / "prereg/pilot.seal.json").read_text().replace(" \n", "\n") + "\n")
    s.commit("Seal again")


def raw_run_before(s: Script) -> None:
    s.put(s.base, RESULTS[:1])
    s.commit("Trained before the seal")
    start = s.seal()
    s.put(start, RESULTS[1:])
    s.commit("Analysed after it")


def replaced(s: Script) -> None:
    first = s.results(s.base)
    s.seal()
    innocent = s.git("commit-tree", f"{s.base}^{{tree}}", "-p", s.base, "-m", "Nothing here")
    s.git("replace", first, innocent)


def grafted(s: Script) -> None:
    s.results(s.base)
    last = s.seal()
    s.project.write(".git/info/grafts", f"{last} {s.base}\n")


def same_record_elsewhere(s: Script) -> None:
    s.project.write("notes/old.json", (s.honest.root / "results/analyse/main.json").read_bytes())
    s.commit("An innocent record")
    linear(s)


def tiny_record(s: Script) -> None:
    """A record that says nothing of what it was made from, and that an older one equals by chance."""
    s.project.write("notes/old.json", '{"arms": {"treated": {"value": 3, "unit": "1"}}}\n')
    s.commit("An innocent record")
    s.put(s.seal())
    s.project.write("results/analyse/main.json", s.project.read("notes/old.json"))
    s.commit("Results")


def squash_of_all(s: Script) -> None:
    s.branch("run")
    linear(s)
    s.squash("run")


def squash_lost_start(s: Script) -> None:
    s.seal()
    s.branch("run")
    s.results(s.other())
    s.squash("run")


def garbage_start(s: Script) -> None:
    s.seal()
    s.results(GARBAGE)


def rebased(s: Script) -> None:
    s.branch("run")
    linear(s)
    s.main()
    s.other()
    s.git("checkout", "-q", "run")
    s.git("rebase", "-q", "main")


def amended_seal(s: Script) -> None:
    start = s.seal()
    s.git("commit", "-q", "--amend", "-m", "Seal, in better words")
    s.results(start)


def orphan_snapshot(s: Script) -> None:
    linear(s)
    s.git("checkout", "-q", "--orphan", "snapshot")
    s.commit("Snapshot")
    s.git("branch", "-q", "-D", "main")


def depth(number: int):
    def script(s: Script) -> Path:
        linear(s)
        s.git("clone", "-q", "--depth", str(number), s.project.root.as_uri(), "../clone")
        return s.project.root.parent / "clone"

    script.__name__ = f"depth_{number}"
    return script


def blobless_offline(s: Script) -> Path:
    same_bytes_again(s)
    s.git("config", "uploadpack.allowFilter", "true")
    s.git("clone", "-q", "--filter=blob:none", s.project.root.as_uri(), "../clone")
    shutil.move(s.project.root, s.project.root.parent / "gone")
    return s.project.root.parent / "clone"


def archive(s: Script) -> Path:
    linear(s)
    target = s.project.root.parent / "archive"
    target.mkdir()
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=s.project.root, capture_output=True, check=True)
    subprocess.run(["tar", "-x"], cwd=target, input=packed.stdout, check=True)
    return target


FAIL = (
    record_first, record_first_garbage, backdated, swapped_by_rebase, together, held_back, staged_seal, seal_edited, revert_and_add_again,
    seal_renamed, evil_merge, sealed_again, raw_run_before, replaced, grafted, same_record_elsewhere, tiny_record,
)  # fmt: skip
CANNOT = (
    squash_of_all, squash_lost_start, garbage_start, rebased, amended_seal, orphan_snapshot, depth(1), depth(2), blobless_offline, archive,
)  # fmt: skip
