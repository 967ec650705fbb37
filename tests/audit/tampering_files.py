"""Ways to tamper with files rather than with what stands in them: links, deletions, folders."""

from __future__ import annotations

import hashlib
import shutil

from project import Project

from audit.close import main as close


def link(p: Project, path: str) -> None:
    """Put a symbolic link to a copy outside the project in the place of a file or folder."""
    file, away = p.root / path, p.root.parent / "away"
    shutil.move(file, away)
    file.symlink_to(away)


def linked_registration(p: Project) -> None:
    link(p, "prereg/pilot.yaml")


def linked_seal(p: Project) -> None:
    link(p, "prereg/pilot.seal.json")


def linked_outcome(p: Project) -> None:
    with p.inside():
        close("pilot")
    p.commit("Close")
    link(p, "prereg/pilot.outcome.json")


def linked_record(p: Project) -> None:
    link(p, "results/train/shallow.json")


def linked_folder(p: Project) -> None:
    p.write("results/train/deep/note.txt", "nothing")
    link(p, "results/train/deep")


def linked_log(p: Project) -> None:
    link(p, "results/evaluate/pilot.run.json")


def truncated(p: Project) -> None:
    p.write("results/train/shallow.json", p.read("results/train/shallow.json")[:100])


def pointer(p: Project) -> None:
    p.write("results/train/shallow.json", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n")


def record_gone(p: Project) -> None:
    (p.root / "results/calibrate/calibration.json").unlink()


def deletion_committed(p: Project) -> None:
    p.git("rm", "-q", "results/calibrate/calibration.run.json", "results/calibrate/calibration.json")
    p.commit("Drop the calibration")


def deletion_unlocked(p: Project) -> None:
    p.git("rm", "-q", "results/evaluate/pilot.run.json", "results/evaluate/pilot.json")
    p.lock()
    p.commit("Drop the verdicts, and from the lock")


def figures(p: Project) -> None:
    """A folder of figures, declared, locked and committed."""
    folder_of(p, "results/figures", "{results/figures: {cache: false}}")


def states(p: Project) -> None:
    """A folder that only DVC's cache carries, declared and locked."""
    folder_of(p, "states", "states")


def folder_of(p: Project, folder: str, declared: str) -> None:
    p.write(f"{folder}/plot.svg", "<svg/>")
    p.write(f"{folder}/more/a.svg", "<svg></svg>")
    p.edit("dvc.yaml", "results/analyse/main.run.json: {cache: false}}]", f"results/analyse/main.run.json: {{cache: false}}}}, {declared}]")
    names = {"more/a.svg": "<svg></svg>", "plot.svg": "<svg/>"}
    listed = ", ".join(f'{{"md5": "{hashlib.md5(text.encode()).hexdigest()}", "relpath": "{name}"}}' for name, text in names.items())
    digest = hashlib.md5(f"[{listed}]".encode()).hexdigest()
    lock = p.read("dvc.lock")
    before, cut, after = lock.partition("    - path: results/analyse/main.json\n")
    before, outs, rest = (before + cut + after).partition("  analyse:\n")
    head, mark, tail = rest.partition("    outs:\n")
    p.write("dvc.lock", f"{before}{outs}{head}{mark}    - path: {folder}\n      hash: md5\n      md5: {digest}.dir\n{tail}")
    p.commit("A folder")


def edited_in_the_cache(p: Project) -> None:
    """With DVC's links of type hardlink an edit in place changes the cache's object too, so that DVC sees nothing."""
    states(p)
    cached = p.root / ".dvc/cache/files/md5/ab/cdef"
    cached.parent.mkdir(parents=True)
    cached.hardlink_to(p.root / "states/plot.svg")
    p.edit("states/plot.svg", "<svg/>", "<svg />")
    assert cached.read_text() == "<svg />"


def edited_figure(p: Project) -> None:
    figures(p)
    p.edit("results/figures/plot.svg", "<svg/>", "<svg />")


def dropped_figure(p: Project) -> None:
    figures(p)
    p.git("rm", "-q", "results/figures/more/a.svg")
    p.commit("Drop a figure")


def source_gone(p: Project) -> None:
    (p.root / ".gitignore").unlink()
