"""A second computation elsewhere: a clone of the project with other seeds and an empty cache, and `dvc repro` in it."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from audit.config import load_config
from audit.context import Context
from audit.finding import Refusal
from audit.history import clone
from audit.load import parse_yaml, read_bytes, write_bytes
from audit.pipeline import LOCKED
from audit.registration import look_up

MARK = Path(".git", "audit-rerun")
"""Where a clone says which rerun it was made for."""
LOCAL = "[core]\n    analytics = false\n    autostage = false\n[cache]\n    dir = cache\n"
"""DVC's nearest configuration: the cache inside the clone, whatever a committed or a user's configuration names."""
PATIENCE = 30
"""Seconds that an interrupted DVC has to end before it is killed."""
SeedSets = Mapping[str, Collection[int]]


def prepare(context: Context, commit: str, fresh: SeedSets, files: Iterable[str], work: Path, mark: str) -> Context:
    """The project at a commit in a clone of the whole history, without cache, lock and outputs; a clone with the same mark is gone on with."""
    find_dvc()
    staging = work.with_name(f".{work.name}.part")
    if (work / MARK).is_file() and (work / MARK).read_text() == mark:
        return _open(context, work)
    if work.exists() and (not work.is_dir() or any(work.iterdir())):
        raise Refusal(work, "holds something else than the clone of this rerun", cure="remove it, or name another folder with --work")
    work.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(staging, ignore_errors=True)
    try:
        clone(context.root, commit, staging)
        project = _open(context, staging)
        write_seeds(project, fresh)
        empty(project, files)
        (staging / MARK).write_text(mark)
        os.replace(staging, work)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return _open(context, work)


def _open(context: Context, work: Path) -> Context:
    root = work / context.history.prefix
    return Context(root, load_config(root))


def write_seeds(project: Context, fresh: SeedSets) -> None:
    """Give each seed set its list in the parameters' file, and leave every other line as it is."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedSeq

    path = project.config.paths.parameters
    wanted = parse_yaml(read_bytes(project.root / path), path)
    reader, stream = YAML(), io.StringIO()
    reader.preserve_quotes, reader.width = True, 1 << 16
    value = reader.load(read_bytes(project.root / path).decode())
    for name, seeds in fresh.items():
        if look_up(wanted, f"seed_sets.{name}") is None:
            raise Refusal(path, f"has no seed set {name!r} to be replaced", expected=f"seed_sets.{name}")
        value["seed_sets"][name] = listed = CommentedSeq(seeds)
        listed.fa.set_flow_style()
        wanted["seed_sets"][name] = list(seeds)
    reader.dump(value, stream)
    if parse_yaml(stream.getvalue(), path) != wanted:
        raise Refusal(path, "cannot be written again with other seeds and nothing else changed", cure="write it in plain block style")
    write_bytes(project.root / path, stream.getvalue().encode())


def empty(project: Context, files: Iterable[str]) -> None:
    """Remove every lock, every output that git carries, and whatever could lead DVC to a cache outside the clone."""
    top, folder = top_of(project.root), dvc_folder(project.root)
    carried = [project.root / path for path in (*project.pipeline.uncached, *files)]
    for path in (*carried, *top.rglob(LOCKED), folder / "cache", folder / "tmp"):
        remove(path, top)
    refuse_outside(folder, top)
    write_bytes(folder / "config.local", LOCAL.encode())


def top_of(root: Path) -> Path:
    """The folder of the clone that a project stands in."""
    return next(place for place in (root, *root.parents) if (place / ".git").is_dir())


def dvc_folder(root: Path) -> Path:
    """DVC's folder in a clone: the project's own, or one above it."""
    top = top_of(root)
    for place in (root, *root.parents):
        if (place / ".dvc").is_dir():
            return place / ".dvc"
        if place == top:
            break
    raise Refusal(".dvc", "is not in git, so that a clone is no DVC project", cure="dvc init, then commit .dvc/config")


def remove(path: Path, root: Path) -> None:
    """Remove a file, a link or a folder that lies in the clone."""
    refuse_outside(path.parent, root)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def refuse_outside(path: Path, root: Path) -> None:
    """Refuse to follow a link or `..` out of the clone."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise Refusal(path, "leads out of the clone", observed=str(path.resolve()), cure="keep the project's files inside it, without links")


def reproduce(project: Context, origin: Path, stages: Iterable[str]) -> None:
    """Run the stages and all that they depend on, with what they say on stderr; any failure is refused in one line."""
    code = run_group([find_dvc(), "repro", "--no-run-cache", *stages], project.root, rerun_environment(project.root, origin))
    if code:
        cure = "its own line is above; after the cure the same command goes on where this one stopped"
        raise Refusal(project.root, "a stage stopped in the clone", observed=f"dvc repro ended with {code}", cure=cure)


def search_path() -> str:
    """Where programs are looked for: beside this interpreter first, so that stages run with the libraries of this one."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def find_dvc() -> str:
    """The command `dvc`."""
    found = shutil.which("dvc", path=search_path())
    if found is None:
        raise Refusal("dvc", "is not installed", expected="the command `dvc`", cure="install the project's requirements")
    return found


def rerun_environment(root: Path, origin: Path) -> dict[str, str]:
    """The caller's environment without git's and DVC's variables; code of the original checkout is found in the clone instead."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "DVC_"))}
    places = [_moved(Path(place), root, origin) for place in kept.pop("PYTHONPATH", "").split(os.pathsep) if place]
    own = {"DVC_NO_ANALYTICS": "1", "DVC_SITE_CACHE_DIR": str(dvc_folder(root) / "tmp" / "site"), "PATH": search_path()}
    return {**kept, **own, **({"PYTHONPATH": os.pathsep.join(places)} if places else {})}


def _moved(place: Path, root: Path, origin: Path) -> str:
    resolved = place.resolve()
    return str(root / resolved.relative_to(origin.resolve())) if resolved.is_relative_to(origin.resolve()) else str(resolved)


def run_group(command: list[str], folder: Path, environment: dict[str, str]) -> int:
    """Run a command in a process group of its own that an interruption ends as a whole; all it says goes to stderr."""
    sys.stderr.flush()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=2, start_new_session=True)
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        return process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
