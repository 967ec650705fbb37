"""Measures `audit verify` on a large project and its hashing against `sha256sum`; both go to results/bench.json: `make bench`.

The project: 200 sealed registrations, each with 23 cells, one judged record and its verdicts (5,000 records with run logs), in 20,000 commits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from audit.digest import md5_bytes, sha256_bytes, sha256_file, sha256_lines
from audit.judged import Verdicts, compute_verdicts
from audit.records import Provenance, Quantity, RunLog, record_bytes
from audit.registration import Seal, derive_seeds, parse_registration, parse_seal
from audit.seal import seal_bytes

REGISTRATIONS, CELLS, COMMITS = 200, 23, 20_000
REGISTRATION = """\
id: {name}
title: Question {index}
seeds: {{from: seal, sets: {{{name}: 3}}}}
stages: [train-{name}]
primary: P1
predictions:
  - id: P1
    claim: Most runs recover.
    metric: {{file: results/analyse/{name}.json, stage: analyse-{name}, key: recovered}}
    comparator: {{op: ">=", value: 2}}
    "null": No run recovers.
readings:
  - {{when: {{P1: met}}, text: It works.}}
"""
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"kind": {"const": "result"}, "version": {}, "provenance": {"type": "object"}, "recovered": {"type": "object"}, "curve": {"type": "array"}},
}
CURVE = [index * 0.37 for index in range(300)]
LOG = {
    "command": ("python", "-m", "stages.train"), "changed": (), "outputs": {}, "code": {}, "packages": {"numpy": "2.4.6"}, "python": "3.11.2",
    "machine": "x86_64, 2 cores, Linux 6.1", "threads": 1, "started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T00:01:00+00:00", "seconds": 60.0,
}  # fmt: skip


class Importer:
    """A stream for `git fast-import`: commits with files, on one branch."""

    def __init__(self, root: Path):
        self.process = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE)
        self.commits = 0

    def commit(self, files: dict[str, bytes], after: str = "") -> None:
        """A commit on main that adds files."""
        assert self.process.stdin is not None
        write, self.commits = self.process.stdin.write, self.commits + 1
        write(b"commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 1\n.\n" % (1_700_000_000 + 60 * self.commits))
        write(f"from {after}\n".encode() if after else b"")
        for path, data in files.items():
            write(b"M 100644 inline %s\ndata %d\n" % (path.encode(), len(data)) + data + b"\n")

    def fill(self, until: int) -> None:
        """Commits of another kind of work, up to a number."""
        while self.commits < until:
            self.commit({f"notes/{self.commits % 50}/{self.commits % 1000}.md": b"%d\n" % self.commits})

    def close(self) -> None:
        """Wait until everything is written."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        if self.process.wait():
            sys.exit("git fast-import failed")


def make_project(root: Path) -> None:
    """Write the project and its history."""
    git(root, "init", "-q", "-b", "main")
    names = [f"r{index:03}" for index in range(REGISTRATIONS)]
    stream = Importer(root)
    stream.commit({
        "audit.toml": b"version = 1\n", ".gitattributes": b"prereg/** -text\nresults/** -text\n", "schemas/result.json": json.dumps(SCHEMA).encode(),
        "schemas/verdicts.json": json.dumps(Verdicts.model_json_schema()).encode(),
        "dvc.yaml": json.dumps({"stages": {stage: define(stage) for name in names for stage in stages(name)}}).encode(),
    })  # fmt: skip
    seals: dict[str, Seal] = {}
    for index, name in enumerate(names):
        data = REGISTRATION.format(name=name, index=index).encode()
        seals[name] = seal = make_seal(name, data, seals)
        stream.commit({f"prereg/{name}.yaml": data, f"prereg/{name}.seal.json": seal_bytes(seal)})
        stream.fill(COMMITS * (index + 1) // (2 * REGISTRATIONS))
    stream.close()
    start = git(root, "rev-parse", "main")
    stream, done = Importer(root), stream.commits
    stream.commits, lock = done, []
    for index, name in enumerate(names):
        text = REGISTRATION.format(name=name, index=index).encode()
        files = dict(make_results(name, text, seals[name], start))
        lock += locked(name, files | {f"prereg/{name}.yaml": text})
        last = {"dvc.lock": "".join(["schema: '2.0'\nstages:\n", *lock]).encode()} if index == REGISTRATIONS - 1 else {}
        stream.commit(files | last, after=start if index == 0 else "")
        stream.fill(done + (COMMITS - done) * (index + 1) // REGISTRATIONS)
    stream.close()
    git(root, "reset", "-q", "--hard", "main")


def git(root: Path, *arguments: str) -> str:
    """Run git; its output without the last line end."""
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def stages(name: str) -> tuple[str, str, str]:
    """The stages of a registration."""
    return f"train-{name}", f"analyse-{name}", f"evaluate-{name}"


def define(stage: str) -> dict[str, object]:
    """A stage of `dvc.yaml`."""
    kind, name = stage.split("-")
    cells, judged = [f"results/train/{name}/{cell}.json" for cell in range(CELLS)], f"results/analyse/{name}.json"
    deps = {"train": [], "analyse": cells, "evaluate": [f"prereg/{name}.yaml", judged]}[kind]
    paths = {"train": cells, "analyse": [judged], "evaluate": [f"results/evaluate/{name}.json"]}[kind]
    return {"cmd": f"python -m stages.{stage}", "deps": deps, "outs": [{path: {"cache": False}} for record in paths for path in both(record)]}


def both(record: str) -> tuple[str, str]:
    """A record and its run log."""
    return record, record.removesuffix(".json") + ".run.json"


def make_seal(name: str, registration: bytes, earlier: dict[str, Seal]) -> Seal:
    """The seal that `audit seal` would write."""
    path = f"prereg/{name}.yaml"
    files = {path: sha256_bytes(registration)}
    ledger = {other: sha256_bytes(seal_bytes(seal)) for other, seal in earlier.items()}
    value = {"id": name, "registration": path, "files": files, "origins": {}, "parameters": {}, "ledger": ledger, "warnings": []}
    return parse_seal(json.dumps({**value, "content": sha256_lines(files)}).encode(), f"prereg/{name}.seal.json")


def make_results(name: str, registration: bytes, seal: Seal, start: str) -> Iterator[tuple[str, bytes]]:
    """Records and run logs of a registration, by path."""
    under, seeds, made = {name: sha256_bytes(seal_bytes(seal))}, derive_seeds(seal, name, 3), {}
    recovered = Quantity(value=2, digits=0, style="integer", tolerance=0, summary="count", values=(1, 0, 1)).model_dump(mode="json")
    train, analyse, evaluate = stages(name)
    judged = f"results/analyse/{name}.json"
    for path in [*(f"results/train/{name}/{cell}.json" for cell in range(CELLS)), judged]:
        stage, inputs = (analyse, dict(made)) if path == judged else (train, {})
        provenance = Provenance(stage=stage, seals=under, parameters=sha256_bytes(path.encode()), seeds=seeds, data=inputs)
        record = {"kind": "result", "version": 1, "provenance": provenance.model_dump(mode="json"), "recovered": recovered, "curve": CURVE}
        data = (json.dumps(record, sort_keys=True, indent=1) + "\n").encode()
        made[path] = sha256_bytes(data)
        yield from logged(path, data, provenance, inputs, start)
    inputs = {f"prereg/{name}.yaml": sha256_bytes(registration), judged: made[judged]}
    provenance = Provenance(stage=evaluate, seals=under, parameters=sha256_bytes(b""), seeds=(), data={judged: made[judged]})
    verdicts = compute_verdicts(parse_registration(registration, f"prereg/{name}.yaml"), provenance, None, lambda _: record, seal)
    yield from logged(f"results/evaluate/{name}.json", record_bytes(verdicts), provenance, inputs, start)


def logged(path: str, data: bytes, provenance: Provenance, inputs: dict[str, str], start: str) -> Iterator[tuple[str, bytes]]:
    """A record and the log of the run that made it, by path."""
    log = RunLog(**LOG, stage=provenance.stage, commit=start, record=path, record_sha256=sha256_bytes(data), inputs=inputs, seals=provenance.seals)
    yield path, data
    yield both(path)[1], record_bytes(log)


def locked(name: str, files: dict[str, bytes]) -> list[str]:
    """The entries of `dvc.lock` for a registration's stages, in DVC's form."""
    lines = []
    for stage in stages(name):
        shown = define(stage)
        lines += [f"  {stage}:\n    cmd: {shown['cmd']}\n", "    deps:\n" if shown["deps"] else "", *(entry(path, files) for path in shown["deps"])]
        lines += ["    outs:\n", *(entry(path, files) for out in shown["outs"] for path in out)]
    return lines


def entry(path: str, files: dict[str, bytes]) -> str:
    """An output or dependency in `dvc.lock`."""
    return f"    - path: {path}\n      hash: md5\n      md5: {md5_bytes(files[path])}\n      size: {len(files[path])}\n"


def time_verify(root: Path) -> float:
    """Median seconds of `audit verify`, which must hold."""
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    seen = []
    for _ in range(4):
        started = perf_counter()
        done = subprocess.run([sys.executable, "-m", "audit", "verify"], cwd=root, env=environment, capture_output=True, text=True)
        seen.append(perf_counter() - started)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    print(done.stdout.splitlines()[-1])
    return median(seen[1:])


def compare_hashing(folder: Path) -> float:
    """Rate of our hashing over that of `sha256sum`, one thread each, in turn on the same files."""
    files = [folder / f"{index}.bin" for index in range(16)]
    for file in files:
        file.write_bytes(os.urandom(32 * 2**20))
    ratios = []
    for _ in range(4):
        started = perf_counter()
        for file in files:
            sha256_file(file)
        ours = perf_counter() - started
        started = perf_counter()
        subprocess.run(["sha256sum", *files], check=True, capture_output=True)
        ratios.append((perf_counter() - started) / ours)
    return median(ratios[1:])


def measure_audit() -> dict[str, float]:
    """Both measures by the names they have in results/bench.json."""
    with TemporaryDirectory() as folder:
        hashing = compare_hashing(Path(folder))
    with TemporaryDirectory() as folder:
        make_project(Path(folder))
        return {"audit.verify_large_seconds": time_verify(Path(folder)), "audit.hash_vs_sha256sum": hashing}


if __name__ == "__main__":
    for name, value in measure_audit().items():
        print(f"{name:<40} {value:.2f}")
