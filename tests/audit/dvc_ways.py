"""The ways of DVC to run a stage and to bring its result home, as scripted repositories with the real `dvc`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from project import Project, Training

HOUSE = Path(__file__).resolve().parents[2]
PARAMETERS = "scale: laptop\nseed_sets: {main: pilot}\nrate: 1\n"
REGISTRATION = """\
id: pilot
title: A pilot under DVC
holds_for: {scale: laptop, seed_sets.main: pilot}
seeds: {from: seal, sets: {main: 2}}
stages: [train]
primary: P1
predictions:
  - id: P1
    claim: The score is positive.
    metric: {file: results/train/main.json, stage: train, key: score}
    comparator: {op: ">", value: 0}
    "null": It is not.
"""
DVC = """\
stages:
  train:
    cmd: python train.py
    deps: [train.py, params.yaml]
    outs: [{results/train/main.json: {cache: false}}, {results/train/main.run.json: {cache: false}}]
"""
TRAIN = '''\
"""A stage: it asks the gate, measures, and writes its record and run log."""
from pathlib import Path
from typing import Literal

from audit import gate
from audit.history import History
from audit.load import read_yaml
from audit.records import Quantity, Record

if Path("careless").exists():  # a gate that believes the file where HEAD has none, as the rule must not
    believed = History.bytes_at
    here = lambda path: Path(path).read_bytes() if path.startswith("prereg/") and Path(path).is_file() else None
    History.bytes_at = lambda history, commit, path: believed(history, commit, path) or here(path)


class Training(Record):
    kind: Literal["training"] = "training"
    version: Literal[1] = 1
    score: Quantity


parameters = read_yaml(Path("params.yaml"))
run = gate.start(stage="train", parameters=parameters["rate"], inputs=["params.yaml", "train.py"], seed_set="main",
                 set_value=parameters["seed_sets"]["main"])
score = Quantity(value=sum(run.seeds) / len(run.seeds), digits=1, tolerance=1, summary="mean", values=run.seeds)
run.finish(Training(provenance=run.provenance, score=score), "results/train/main.json")
'''
WORKER = """\
import dvc_task.proc.tasks
from dvc.repo import Repo
from dvc.repo.experiments.queue.tasks import run_exp

queue = Repo().experiments.celery_queue
queue.celery.set_current()
queue.celery.set_default()
for entry in list(queue.iter_queued()):
    run_exp(entry.asdict())
"""


class Piped(Project):
    """A project whose only stage DVC runs."""

    @classmethod
    def create(cls, root: Path, date: str | None = None) -> Piped:
        """A committed draft of a registration, a stage, and nothing run."""
        root.mkdir(parents=True)
        project = cls(root, date)
        project.git("init", "-q", "-b", "main", "--template=")
        for key, value in {"user.name": "Nobody", "user.email": "nobody@example.org", "commit.gpgsign": "false", "gc.auto": "0"}.items():
            project.git("config", key, value)
        project.dvc("init", "-q")
        project.dvc("config", "core.analytics", "false")
        project.write("audit.toml", "version = 1\n")
        project.write(".gitattributes", "prereg/** -text\nresults/** -text\n")
        project.write(".gitignore", "careless\n")
        project.write("params.yaml", PARAMETERS)
        project.write("dvc.yaml", DVC)
        project.write("train.py", TRAIN)
        project.write("schemas/training.json", json.dumps(Training.model_json_schema()))
        project.write("prereg/pilot.yaml", REGISTRATION)
        project.commit("Begin, with a draft")
        return project

    def copy(self, root: Path) -> Piped:
        return Piped(super().copy(root).root)

    def at(self, root: Path) -> Piped:
        return Piped(root)

    def dvc(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run dvc here; the caller looks whether it had to succeed."""
        return self._run("-m", "dvc", *arguments)

    def start_queue(self) -> None:
        """What a worker does with each queued experiment, without the daemon, which goes on waiting for more."""
        self._run("-c", WORKER)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        bin_folder = str(Path(sys.executable).parent)
        env = {
            "PATH": f"{bin_folder}:/usr/bin:/bin:/usr/local/bin",
            "HOME": str(self.root.parent),
            "PYTHONPATH": str(HOUSE),
            "DVC_NO_ANALYTICS": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "LANG": os.environ.get("LANG", "C.UTF-8"),
        }
        return subprocess.run([sys.executable, *arguments], cwd=self.root, env=env, capture_output=True, text=True, check=False, timeout=100)

    def ok(self, *arguments: str) -> str:
        done = self.dvc(*arguments)
        assert done.returncode == 0, f"dvc {' '.join(arguments)}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
        return done.stdout

    def stage_seal(self) -> None:
        """The seal lies in the index, in no commit."""
        self.seal()
        self.git("add", "prereg")

    def experiment(self) -> str:
        """The name of the one experiment."""
        names = [ref.rsplit("/", 1)[1] for ref in self.git("for-each-ref", "--format=%(refname)", "refs/exps").split()]
        (name,) = [name for name in names if name not in ("EXEC_HEAD", "EXEC_BASELINE", "EXEC_BRANCH", "EXEC_CHECKPOINT", "EXEC_APPLY", "stash")]
        return name

    def bring(self, name: str) -> None:
        """The way home that is recommended: a branch of the experiment, merged."""
        self.ok("exp", "branch", name, "found")
        self.git("merge", "-q", "--no-ff", "found", "-m", "Merge the experiment")

    def move_main(self) -> None:
        self.write("notes.md", "Main has moved.\n")
        self.commit("A note", "notes.md")


def repro(p: Piped) -> None:
    p.sealed()
    p.ok("repro", "-q")
    p.commit("Results")


def in_the_workspace(p: Piped) -> None:
    p.sealed()
    p.ok("exp", "run", "-q", "-S", "rate=2")
    p.commit("Results of an experiment")


def temp_and_apply(p: Piped) -> None:
    p.sealed()
    p.ok("exp", "run", "-q", "--temp", "-S", "rate=2")
    p.ok("exp", "apply", "-q", p.experiment())
    p.commit("Results of an experiment")


def queue_while_main_moves(p: Piped) -> None:
    p.sealed()
    p.ok("exp", "run", "-q", "--queue", "-S", "rate=2")
    p.move_main()
    p.start_queue()
    p.bring(p.experiment())


def in_a_worktree(p: Piped) -> None:
    p.sealed()
    p.git("worktree", "add", "-q", "-b", "side", "../side")
    side = p.at(p.root.parent / "side")
    side.ok("exp", "run", "-q", "-S", "rate=2")
    side.commit("Results of an experiment")
    p.move_main()
    p.git("merge", "-q", "--no-ff", "side", "-m", "Merge the worktree's branch")


def plain_outs(p: Piped, kind: str = "outs") -> None:
    """A careless run while the seal is staged; then its outputs are gone, the seal is committed, and DVC is asked again."""
    p.stage_seal()
    p.edit("dvc.yaml", "    outs: [", f"    {kind}: [")
    p.write("careless", "")
    p.ok("repro", "-q")
    for path in ("dvc.lock", "results/train/main.json", "results/train/main.run.json", "careless"):
        (p.root / path).unlink()
    p.commit("Seal", "prereg", "dvc.yaml")
    p.ok("repro", "-q")
    p.commit("Results")


def metrics_from_the_run_cache(p: Piped) -> None:
    plain_outs(p, "metrics")


def staged_experiment(p: Piped) -> None:
    """A careless experiment while the seal is staged; the seal is committed after it."""
    p.stage_seal()
    p.write("train.py", p.read("train.py").replace('Path("careless").exists()', "True"))
    p.ok("exp", "run", "-q", "--temp", "-S", "rate=2")
    p.git("checkout", "-q", "train.py")
    p.commit("Seal", "prereg")


def staged_seal_then_apply(p: Piped) -> None:
    p.ok("exp", "apply", "-q", p.experiment())
    p.commit("Results of an experiment")


def staged_seal_then_merge(p: Piped) -> None:
    p.bring(p.experiment())


def queued_before_the_seal(p: Piped) -> None:
    p.stage_seal()
    p.write("train.py", p.read("train.py").replace('Path("careless").exists()', "True"))
    p.ok("exp", "run", "-q", "--queue", "-S", "rate=2")
    p.git("checkout", "-q", "train.py")
    p.commit("Seal", "prereg")
    p.start_queue()
    p.bring(p.experiment())


PASS = (repro, in_the_workspace, temp_and_apply, queue_while_main_moves, in_a_worktree, plain_outs)
FAIL = (metrics_from_the_run_cache, queued_before_the_seal)
FAIL_STAGED = (staged_seal_then_apply, staged_seal_then_merge)
