"""A tiny project in a real git repository, with two stages, for tests that need a history."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from unittest import mock

from audit import gate
from audit.config import load_config
from audit.context import Context
from audit.evaluate import evaluate
from audit.judged import Verdicts
from audit.records import Frozen, Quantity, Record
from audit.seal import main as seal_main

PILOT = """\
id: pilot
title: A pilot of the tool
holds_for: {scale: laptop, seed_sets.main: pilot}
seeds: {from: seal, sets: {main: 3}}
stages: [train]
freezes: {code: [judge.py], outputs: [results/calibrate/calibration.json], parameters: [thresholds]}
primary: P1
predictions:
  - id: P1
    claim: Most runs recover.
    metric: {file: results/analyse/main.json, stage: analyse, key: arms.treated}
    comparator: {op: ">=", value: 2}
    undecided: {key: settled, op: "<", value: 2}
    "null": No run recovers.
  - id: P2
    claim: Treated runs recover more often than untreated ones.
    metric: {file: results/analyse/main.json, stage: analyse, key: arms.treated}
    comparator: {op: ">", than: arms.untreated}
    "null": Both arms are equal.
readings:
  - {when: {P1: met, P2: met}, text: The treatment works.}
"""
PARAMETERS = "scale: laptop\nseed_sets: {main: pilot}\nthresholds: {line: 0.5}\n"
DVC = """\
stages:
  calibrate:
    cmd: python -m stages.calibrate
    params: [scale]
    outs: [{results/calibrate/calibration.json: {cache: false}}, {results/calibrate/calibration.run.json: {cache: false}}]
  train:
    matrix: {role: [shallow]}
    cmd: python -m stages.train ${item.role}
    deps: [results/calibrate/calibration.json]
    params: [scale]
    outs: [{"results/train/${item.role}.json": {cache: false}}, {"results/train/${item.role}.run.json": {cache: false}}]
  analyse:
    cmd: python -m stages.analyse
    deps: [results/train/shallow.json]
    outs: [{results/analyse/main.json: {cache: false}}, {results/analyse/main.run.json: {cache: false}}]
  evaluate:
    cmd: python -m audit evaluate pilot
    deps: [results/analyse/main.json]
    outs: [{results/evaluate/pilot.json: {cache: false}}, {results/evaluate/pilot.run.json: {cache: false}}]
"""
OUTS = {
    "calibrate": ("python -m stages.calibrate", "results/calibrate/calibration", ()),
    "train@shallow": ("python -m stages.train shallow", "results/train/shallow", ("results/calibrate/calibration.json",)),
    "analyse": ("python -m stages.analyse", "results/analyse/main", ("results/train/shallow.json",)),
    "evaluate": ("python -m audit evaluate pilot", "results/evaluate/pilot", ("results/analyse/main.json",)),
}
CONFIGURATION = """\
[user]
\tname = Nobody
\temail = nobody@example.org
[commit]
\tgpgsign = false
[gc]
\tauto = 0
[core]
\tfsync = none
"""


class Calibration(Record):
    kind: Literal["calibration"] = "calibration"
    version: Literal[1] = 1
    line: Quantity


class Training(Record):
    kind: Literal["training"] = "training"
    version: Literal[1] = 1
    score: Quantity


class Arms(Frozen):
    treated: Quantity
    untreated: Quantity


class Analysis(Record):
    kind: Literal["analysis"] = "analysis"
    version: Literal[1] = 1
    arms: Arms
    settled: Quantity


def counted(values: list[int]) -> Quantity:
    return Quantity(value=sum(values), digits=0, style="integer", tolerance=0, summary="count", values=tuple(values))


class Project:
    """A project under test: its root, its git, and its stages."""

    def __init__(self, root: Path, date: str | None = None):
        self.root, self.date = root, date

    @classmethod
    def create(cls, root: Path, date: str | None = None) -> Project:
        """A project with a committed draft of its registration and a calibration made before; `date` is that of every commit."""
        project = cls(root, date)
        root.mkdir(parents=True, exist_ok=True)
        project.git("init", "-q", "-b", "main", "--template=")
        project.write(".git/config", project.read(".git/config") + CONFIGURATION)
        project.write("audit.toml", 'version = 1\n[records]\nmain = "results/analyse/main.json"\n')
        project.write(".gitattributes", "prereg/** -text\nresults/** -text\n")
        project.write(".gitignore", "states/\nmanuscript/generated/\n")
        project.write("params.yaml", PARAMETERS)
        project.write("dvc.yaml", DVC)
        project.write("judge.py", "LINE = 0.5\n")
        for model in (Calibration, Training, Analysis, Verdicts):
            name = model.model_fields["kind"].default
            project.write(f"schemas/{name}.json", json.dumps(model.model_json_schema()))
        project.commit("Begin")
        project.calibrate()
        project.write("prereg/pilot.yaml", PILOT)
        project.commit("Calibrate and draft a registration")
        return project

    def copy(self, root: Path) -> Project:
        shutil.copytree(self.root, root, symlinks=True)
        return Project(root, self.date)

    def git(self, *arguments: str, date: str | None = None) -> str:
        env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.root.parent), "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
        date = date or self.date
        if date:
            env |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = subprocess.run(["git", *arguments], cwd=self.root, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
        return done.stdout.strip()

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def edit(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text, f"{old!r} is not in {path}"
        self.write(path, text.replace(old, new))

    def commit(self, message: str, *paths: str, date: str | None = None) -> str:
        self.git("add", *(paths or ("-A",)))
        said = self.git("-c", "core.abbrev=no", "commit", "-m", message, date=date)
        found = re.match(r"\[.*?\b([0-9a-f]{40,64})\]", said)
        assert found, said
        return found[1]

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def context(self) -> Context:
        return Context(self.root, load_config(self.root))

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """In the project's folder, where a run sees neither the test's own modules, which are no project's, nor its environment."""
        with contextlib.chdir(self.root), mock.patch.multiple(gate, describe_origins=lambda _: ({}, {}), restrict_environment=lambda *_: {}):
            yield

    def seal(self, name: str = "pilot") -> None:
        with self.inside(), contextlib.redirect_stdout(None):
            seal_main(name)

    def start(self, stage: str, **more: object) -> gate.Run:
        with self.inside():
            return gate.start(stage=stage, parameters={"stage": stage}, **more)  # type: ignore[arg-type]

    def calibrate(self) -> None:
        run = self.start("calibrate", inputs=["params.yaml"])
        line = Quantity(value=0.5, digits=1, tolerance=0.01)
        with self.inside():
            run.finish(Calibration(provenance=run.provenance, line=line), "results/calibrate/calibration.json")

    def train(self, set_value: object = "pilot", run: gate.Run | None = None) -> None:
        run = run or self.start_training(set_value)
        score = Quantity(value=sum(run.seeds) / len(run.seeds), digits=1, tolerance=1, summary="mean", values=run.seeds)
        with self.inside():
            run.finish(Training(provenance=run.provenance, score=score), "results/train/shallow.json")

    def start_training(self, set_value: object = "pilot") -> gate.Run:
        inputs = ["params.yaml", "results/calibrate/calibration.json"]
        return self.start("train@shallow", inputs=inputs, seed_set="main", set_value=set_value)

    def analyse(self, treated: tuple[int, ...] = (1, 1, 1)) -> None:
        run = self.start("analyse", inputs=["results/train/shallow.json"], seed_set="main", set_value=self.set_value())
        arms = Arms(treated=counted(list(treated)), untreated=counted([0, 0, 0]))
        with self.inside():
            run.finish(Analysis(provenance=run.provenance, arms=arms, settled=counted([1, 1, 1])), "results/analyse/main.json")

    def set_value(self) -> object:
        return self.context().parameters["seed_sets"]["main"]

    def evaluate(self) -> None:
        with self.inside():
            context = Context.open()
            evaluate(context, context.registrations["pilot"], "results/evaluate/pilot.json")

    def lock(self) -> None:
        """Write `dvc.lock` for every record that is there, as DVC would."""
        import io

        from ruamel.yaml import YAML

        stages = {}
        for name, (command, stem, deps) in OUTS.items():
            if (self.root / f"{stem}.json").exists():
                outs = [self._entry(f"{stem}{suffix}") for suffix in (".json", ".run.json")]
                stages[name] = {"cmd": command, "deps": [self._entry(path) for path in deps], "outs": outs}
        stream = io.StringIO()
        YAML().dump({"schema": "2.0", "stages": stages}, stream)
        self.write("dvc.lock", stream.getvalue())

    def _entry(self, path: str) -> dict[str, object]:
        data = (self.root / path).read_bytes()
        return {"path": path, "hash": "md5", "md5": hashlib.md5(data).hexdigest(), "size": len(data)}

    def sealed(self) -> str:
        """Seal the pilot and commit the seal."""
        self.seal()
        return self.commit("Seal pilot")

    def ran(self) -> str:
        """Run everything and commit the results."""
        self.train()
        self.analyse()
        self.evaluate()
        self.lock()
        return self.commit("Results")


def make_templates(root: Path, date: str | None = None) -> dict[str, Project]:
    """A project at three points of its life: drafted, sealed, ran."""
    drafted = Project.create(root / "drafted", date)
    sealed = drafted.copy(root / "sealed")
    sealed.sealed()
    ran = sealed.copy(root / "ran")
    ran.ran()
    return {"drafted": drafted, "sealed": sealed, "ran": ran}
