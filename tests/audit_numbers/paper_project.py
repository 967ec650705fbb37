"""A small project with records, registrations and a manuscript, in a git repository of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from audit.checks import TABLE
from audit.context import Context
from audit.render import generate, write_generated
from audit.verify import Report, verify

MINE = {
    "manuscript", "numbers", "constants", "quoted", "keys", "claims", "exemptions", "shown", "attrition", "denominator", "constructs", "templates", "rounding", "units",
    "generated", "pdf", "figures", "inputs",
}  # fmt: skip
OTHERS = frozenset(check.name for check in TABLE) - MINE

PAPER = r"""\documentclass{article}
\usepackage{booktabs}
\input{generated/macros}
\title{A gap of \val{main.untreated.gap}}\date{}
\begin{document}
\maketitle
\section{Results with \val{main.untreated.share}}
In \val[word]{main.untreated.recovered} of \val[n]{main.untreated.recovered} runs the gap fell to \val{main.untreated.gap} nats,
by \val{main.untreated.neg}, or $x = \val{main.untreated.tiny}$.
Of \val{pilot.of} predictions \val{pilot.met} was met. P1 was \verdict{pilot.P1}; \ifverdict{pilot.P2}{it held}{it failed}{it is open}.
\begin{table}[h]\caption{With \val{main.untreated.gap}.}\input{generated/arms}\end{table}
\end{document}
"""
TEMPLATE = r"""\begin{tabular}{lr}
\toprule arm & gap \\ \midrule
%% for arm in main.arms
<< arm.name | label >> & << arm.gap | val >> \\
%% endfor
\bottomrule
\end{tabular}
"""
REGISTRATION = """\
id: pilot
title: A pilot
holds_for: {scale: laptop}
seeds: {from: seal, sets: {main: 3}}
stages: [train]
primary: P1
predictions:
  - id: P1
    claim: The gap stays below a tenth.
    metric: {file: results/analyse/main.json, stage: analyse, key: untreated.gap}
    comparator: {op: "<", value: 0.0887001}
    "null": It does not.
  - id: P2
    claim: More recover.
    metric: {file: results/analyse/main.json, stage: analyse, key: untreated.recovered}
    comparator: {op: ">=", value: 9}
    "null": Fewer do.
"""


def quantity(value: float, digits: int, **more: Any) -> dict[str, Any]:
    """A plain quantity."""
    return {"value": value, "unit": "1", "digits": digits, "tolerance": 0.0, **more}


def main_record() -> dict[str, Any]:
    """The record `main`."""
    return {
        "kind": "main",
        "version": 1,
        "untreated": {
            "recovered": quantity(8, 0, style="integer", values=[1] * 8 + [0] * 2, summary="count"),
            "gap": quantity(0.0887, 4) | {"unit": "nats"},
            "neg": quantity(-0.2249, 2),
            "tiny": quantity(1.234e-05, 1, style="scientific"),
            "share": quantity(0.312, 1, style="percent"),
            "close": quantity(0.9496, 2),
        },
        "arms": [{"name": "hinge_4 & more", "gap": quantity(0.51, 2)}, {"name": "ramp", "gap": quantity(1.005, 2)}],
    }


def verdict_record() -> dict[str, Any]:
    """The record of the registration's verdicts."""
    rows = [{"id": "P1", "claim": "c", "verdict": "met"}, {"id": "P2", "claim": "d", "verdict": "missed"}]
    counts = {"met": quantity(1, 0, style="integer"), "of": quantity(2, 0, style="integer")}
    return {"kind": "verdicts", "version": 1, "registration": "pilot", "predictions": rows, **counts}


class Paper:
    """The project, with what a test does to it."""

    def __init__(self, root: Path):
        self.root = root
        self.write("audit.toml", 'version = 1\n[records]\nmain = "results/analyse/main.json"\npilot = "results/evaluate/pilot.json"\n')
        self.write("params.yaml", "scale: laptop\n")
        self.write("prereg/pilot.yaml", REGISTRATION)
        self.write("manuscript/paper.tex", PAPER)
        self.write("manuscript/tables/arms.tex.j2", TEMPLATE)
        self.record("results/analyse/main.json", main_record())
        self.record("results/evaluate/pilot.json", verdict_record())

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def record(self, path: str, value: dict[str, Any]) -> None:
        self.write(path, json.dumps(value))

    def replace(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text
        self.write(path, text.replace(old, new, 1))

    @property
    def context(self) -> Context:
        return Context.open(self.root)

    def render(self) -> None:
        write_generated(self.context, generate(self.context))

    def commit(self) -> None:
        """Commit everything in a repository of its own."""
        for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "state"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)

    def report(self, *disabled: str) -> Report:
        """My checks, without those that are disabled."""
        return verify(self.context, disabled=OTHERS | set(disabled))
