"""A reader's challenge of the study: fresh seeds, everything from the corpus on computed again in a clone, verdicts side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path

from smoke import Repository

from audit.load import read_yaml


def test_reader_challenges_the_study(made: Repository, tmp_path: Path) -> None:
    """All of design's verdicts stand beside the registered ones, no trained quantity is what it was, and the checkout is as it was."""
    before, status, work = made.tracked(), made.git("status", "--porcelain"), tmp_path / "clone"
    done = made.audit("challenge", "design", "--nonce", "reader's own words", "--work", str(work), "--keep")
    registered = {row["id"]: row["verdict"] for row in json.loads(made.read("results/evaluate/design.json"))["predictions"]}
    shown = {name: (old, new) for name, old, new in re.findall(r"^(M\d) +(met|missed|undecided) .*? (met|missed|undecided) ", done.out, re.MULTILINE)}
    assert {name: old for name, (old, _) in shown.items()} == registered and len(shown) == 9, done.text
    assert done.code == (0 if all(old == new for old, new in shown.values()) else 1), done.text
    seeds = [int(seed) for seed in re.findall(r"# seed \d+: (\d+)$", done.out, re.MULTILINE)]
    record = json.loads((work / "results/summary/main.json").read_text())
    assert record["provenance"]["seeds"] == seeds and len(seeds) == 1 and record["provenance"]["seals"] == {}
    assert read_yaml(work / "params.yaml")["seed_sets"]["main"] == seeds
    unmoved = re.findall(r"^  did not move: (\S+) = ", done.out, re.MULTILINE)
    assert not [key for key in unmoved if key.endswith(("rank", "residual", "loss_gap"))], done.text
    for stage in ("data", "calibrate", "collapse@main-shallow", "switch@main-deep", "summary@main"):
        assert f"Running stage '{stage}'" in done.err
    assert made.tracked() == before and made.git("status", "--porcelain") == status
