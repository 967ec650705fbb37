"""Measures the number scanner on 1 MB of LaTeX and `audit verify` on a paper of forty pages; both go to results/bench.json: `make bench`.

The text: this repository's own paper and the lines of the labelled development set without their labels, a dozen numbers in a kilobyte and more
than most papers have, repeated.
"""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from audit.numbers.scan import scan_text

ROOT = Path(__file__).parents[1]
SIZE, PAGES, PAGE = 1_000_000, 40, 3_300
"""Characters of the text; pages of the paper, and characters of source on each, a dozen numbers in a kilobyte."""
FRAME = "\\documentclass{{article}}\n\\begin{{document}}\n{}\n\\end{{document}}\n"
SENTENCE = "In Section %d we train 12 layers for 90 epochs with a learning rate of $3\\times10^{-4}$, as in Figure %d of an earlier study \\cite{x2019}. "
PROSE = "What follows describes the apparatus and the procedure in the words of the protocol, which was agreed on beforehand and kept to throughout. " * 3 + "\n"


def read_text() -> str:
    """The body of the paper thirteen times and the development set once: about a dozen numbers in a kilobyte."""
    paper = (ROOT / "manuscript/paper.tex").read_text(encoding="utf-8")
    body = paper.partition("\\begin{document}")[2].partition("\\end{document}")[0]
    files = sorted((ROOT / "tests/audit_numbers/labelled").glob("*.tex"))
    lines = [re.sub(r"%=.*", "", line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return 13 * (body + "\n\n") + "\n\n".join(lines)


def scan_speed() -> float:
    """Megabytes a second, median of three."""
    gc.set_threshold(100_000)  # as the command does
    text = read_text()
    text, seen = text * (SIZE // len(text) + 1), []
    for _ in range(3):
        started = perf_counter()
        scan = scan_text(text, preamble=False)
        seen.append(perf_counter() - started)
    print(f"scanned {len(text) / 1e6:.2f} MB with {len(scan.numbers)} numbers")
    return len(text) / 1e6 / median(seen)


def verify_seconds() -> float:
    """Median seconds of `audit verify` on a project whose paper has forty pages and no typed result; it must hold."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        make_project(root)
        environment, seen = {**os.environ, "PYTHONPATH": str(ROOT)}, []
        for arguments in (["stage"], ["render"], ["verify"], ["verify"], ["verify"]):
            started = perf_counter()
            done = subprocess.run([sys.executable, "-m", "audit", *arguments], cwd=root, env=environment, capture_output=True, text=True)
            seen.append(perf_counter() - started)
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
    print(done.stdout.splitlines()[-1])
    return median(seen[2:])


def make_project(root: Path) -> None:
    """A git repository with a long paper."""
    lines = [SENTENCE % (index % 9, index % 7) + PROSE for index in range(PAGES * PAGE // len(SENTENCE + PROSE))]
    paragraphs = ("".join(lines[start : start + 8]) for start in range(0, len(lines), 8))
    files = {"audit.toml": "version = 1\n", "manuscript/paper.tex": FRAME.format("\n".join(paragraphs))}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "A long paper"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)


def measure_scanning() -> dict[str, float]:
    """The entries of results/bench.json."""
    return {"numbers.scan_mb_per_second": scan_speed(), "audit.verify_forty_pages_seconds": verify_seconds()}


if __name__ == "__main__":
    print(measure_scanning())
