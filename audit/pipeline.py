"""The pipeline as DVC wrote it down: stages and commands of `dvc.yaml`, what ran by `dvc.lock`; DVC is not imported."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from audit.finding import Refusal
from audit.load import parse_yaml, read_bytes
from audit.registration import look_up

DEFINED, LOCKED = "dvc.yaml", "dvc.lock"


@dataclass(frozen=True)
class Pipeline:
    """The stages of `dvc.yaml` and the entries of `dvc.lock`; {} where the file is absent."""

    stages: Mapping[str, Mapping[str, Any]]
    lock: Mapping[str, Mapping[str, Any]]
    parameters: Any

    @cached_property
    def outs(self) -> dict[str, list[tuple[str, Mapping[str, Any]]]]:
        """Path -> (stage, entry) of everything the lock says was made."""
        found: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for stage, entry in self.lock.items():
            for out in entry.get("outs", ()):
                found.setdefault(out["path"], []).append((stage, out))
        return found

    def definition(self, stage: str) -> Mapping[str, Any]:
        """The definition behind a stage of the lock (`collapse@main-deep` -> `collapse`)."""
        return self.stages.get(stage.split("@")[0], {})

    @cached_property
    def commands(self) -> dict[str, str]:
        """Stage as the lock names it -> its command by `dvc.yaml`, where no open template is left in it."""
        resolved = {}
        for name, definition in self.stages.items():
            for suffix, scope in self._cells(definition):
                command = self._fill(str(body(definition).get("cmd", "")), scope)
                if command and "${" not in command:
                    resolved[name + suffix] = command
        return resolved

    def judge_of(self, registration: str) -> str | None:
        """The stage whose command judges a registration (`audit evaluate ID`), or None."""
        judging = re.compile(rf"audit evaluate (?:--\S+ \S+ )*{re.escape(registration)}(?![\w.-])")
        return next((stage for stage, command in self.commands.items() if judging.search(command)), None)

    def writes(self, stage: str, path: str) -> bool:
        """Whether `dvc.yaml` lets a stage write a path, as far as its templates can be filled."""
        filled = {name for _, name, _ in self._declared(stage.split("@")[0])}
        return path in filled or any("${" in name for name in filled)

    @cached_property
    def uncached(self) -> dict[str, str]:
        """Path -> stage of everything `dvc.yaml` declares with `cache: false`: git carries it, or nothing does."""
        declared = ((path, stage, options) for name in self.stages for stage, path, options in self._declared(name))
        return {path: stage for path, stage, options in declared if options.get("cache") is False and "${" not in path}

    @cached_property
    def dependencies(self) -> set[str]:
        """Every path that a stage of `dvc.yaml` depends on, as far as its templates can be filled."""
        return set().union(*self._dependencies.values())

    def dependencies_of(self, stage: str) -> set[str]:
        """Every path that any cell of a stage of `dvc.yaml` depends on, as far as its templates can be filled."""
        return self._dependencies.get(stage, set())

    @cached_property
    def _dependencies(self) -> dict[str, set[str]]:
        return {name: {path for _, path, _ in self._declared(name, "deps")} for name in self.stages}

    @cached_property
    def _makers(self) -> dict[str, set[str]]:
        """Path of an out -> the stages that write it; under each folder on the way to an out, too, with a slash behind it."""
        makers: dict[str, set[str]] = {}
        for name in self.stages:
            for _, path, _ in self._declared(name):
                for place in (path, *(f"{folder}/" for folder in folders_of(path))):
                    makers.setdefault(place, set()).add(name)
        return makers

    def depends(self, stage: str) -> set[str] | None:
        """What makes a stage, as a run names it, stale by a change, files of parameters too; None where that cannot be told."""
        name = stage.partition("@")[0]
        found = {path for cell, path, _ in self._declared(name, "deps") if cell == stage}
        if stage not in {name + suffix for suffix, _ in self._cells(self.definition(stage))} or any("${" in path for path in found):
            return None
        for entry in body(self.definition(stage)).get("params") or ():
            found |= {place(self.definition(stage), str(file)) for file in entry} if isinstance(entry, Mapping) else {"params.yaml"}
        return found

    def names(self, stage: str) -> bool:
        """Whether `dvc.yaml` has a stage, or a cell of it (`collapse@main-deep`), as far as its cells can be told."""
        name, _, _ = stage.partition("@")
        cells = {name + suffix for suffix, _ in self._cells(self.stages.get(name, {}))}
        return name in self.stages and (stage == name or not cells or stage in cells)

    def is_frozen(self, stage: str) -> bool:
        """Whether `dvc.yaml` freezes a stage of the lock, in its cells too."""
        definition = self.definition(stage)
        return bool(definition.get("frozen") or body(definition).get("frozen"))

    def _declared(self, name: str, kind: str = "outs") -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Stage as the lock names it, path and options of each out, or dependency, of a definition."""
        definition = self.stages.get(name, {})
        for suffix, scope in self._cells(definition):
            for out in body(definition).get(kind) or ():
                path, options = next(iter(out.items())) if isinstance(out, Mapping) and out else (str(out), {})
                yield name + suffix, place(definition, self._fill(str(path), scope)), options if isinstance(options, Mapping) else {}

    def upstream(self, paths: Iterator[str] | list[str]) -> set[str]:
        """Every stage of the lock that the paths depend on."""
        pending, found = list(paths), set()
        while pending:
            for stage, _ in self.outs.get(pending.pop(), ()):
                if stage not in found:
                    found.add(stage)
                    pending.extend(dep["path"] for dep in self.lock[stage].get("deps", ()))
        return found

    def ancestors(self, stage: str) -> set[str]:
        """Every stage of `dvc.yaml` (without cells) whose outs a stage depends on, directly or not; no run is needed for it."""
        pending, found = [stage.partition("@")[0]], set()
        while pending:
            for dep in self.dependencies_of(pending.pop()):
                places = (dep, f"{dep}/", *folders_of(dep))  # the out itself, outs below it, and outs that hold it
                new = set().union(*(self._makers.get(place, set()) for place in places)) - found
                found |= new
                pending.extend(new)
        return found

    def _cells(self, definition: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        matrix, each = definition.get("matrix"), definition.get("foreach")
        if matrix:
            axes = [self._values(axis) for axis in matrix.values()]
            for cell in itertools.product(*axes):
                yield "@" + "-".join(map(str, cell)), {f"item.{name}": value for name, value in zip(matrix, cell, strict=True)}
        elif each:
            if isinstance(each, Mapping):
                for key, item in each.items():
                    inner = {f"item.{name}": value for name, value in item.items()} if isinstance(item, Mapping) else {"item": item}
                    yield f"@{key}", {"key": str(key), **inner}
            for item in self._values(each):
                yield f"@{item}", {"item": item}
        else:
            yield "", {}

    def _values(self, axis: Any) -> list[Any]:
        if isinstance(axis, str) and (whole := re.fullmatch(r"\$\{([\w.]+)\}", axis)):
            axis = look_up(self.parameters, whole[1])
        return [value for value in axis if not isinstance(value, dict | list)] if isinstance(axis, list) else []

    def _fill(self, template: str, scope: dict[str, Any]) -> str:
        def value(match: re.Match[str]) -> str:
            found = scope.get(match[1], look_up(self.parameters, match[1]))
            return match[0] if found is None or isinstance(found, dict | list) else str(found)

        return " ".join(re.sub(r"\$\{\s*([\w.]+)\s*\}", value, template).split())


def place(definition: Mapping[str, Any], path: str) -> str:
    """A path of a stage relative to the project: it is written relative to the stage's `wdir`."""
    folder = body(definition).get("wdir")
    return posixpath.normpath(posixpath.join(folder, path)) if isinstance(folder, str) and "${" not in folder + path else path


def body(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a stage does: with `foreach` it stands under `do`."""
    done = definition.get("do")
    return done if isinstance(done, Mapping) else definition


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or file, or lies below it; both are relative to the project."""
    return path == folder or folder in ("", ".") or path.startswith(folder.rstrip("/") + "/")


def folders_of(path: str) -> list[str]:
    """The folders on the way to a path, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]


def read_pipeline(root: Path, parameters: Any) -> Pipeline:
    """Read both files strictly."""
    written = {name: parse_yaml(read_bytes(root / name), name) if (root / name).is_file() else None for name in (DEFINED, LOCKED)}
    defined, locked = (_read_stages(value, name) for name, value in written.items())
    parameters = {**(parameters if isinstance(parameters, Mapping) else {}), **_read_vars(root, written[DEFINED])}
    for stage, entry in locked.items():
        for out in [*_list(entry, "outs"), *_list(entry, "deps")]:
            if not isinstance(out, Mapping) or not isinstance(out.get("path"), str):
                raise Refusal(
                    LOCKED, f"stage {stage} names an output or dependency without a path", cure=f"git checkout HEAD -- {LOCKED}, or dvc repro"
                )
            if body(defined.get(stage.split("@")[0], {})).get("wdir"):
                out.update(path=place(defined[stage.split("@")[0]], out["path"]))
    return Pipeline(defined, locked, parameters)


def _read_stages(value: Any, name: str) -> dict[str, Mapping[str, Any]]:
    stages = (value.get("stages") if isinstance(value, Mapping) else value) or {}
    if not isinstance(stages, Mapping) or not all(isinstance(stage, Mapping) for stage in stages.values()):
        raise Refusal(name, "holds no stages in the form that DVC writes", expected="stages: {name: {cmd: ...}}", cure=f"git checkout HEAD -- {name}")
    for stage, definition in stages.items():
        if not isinstance(definition.get("matrix") or {}, Mapping):
            raise Refusal(name, f"the matrix of stage {stage} has no axes", expected="matrix: {axis: [value, ...]}", cure=f"correct {name}")
    return {str(stage): definition for stage, definition in stages.items()}


def _read_vars(root: Path, value: Any) -> dict[str, Any]:
    """What `vars` of `dvc.yaml` adds to the parameters: mappings, and files of YAML, whole or by keys."""
    found: dict[str, Any] = {}
    for part in _list(value, "vars") if isinstance(value, Mapping) else ():
        if isinstance(part, str) and (root / part.partition(":")[0]).is_file():
            file, _, keys = part.partition(":")
            loaded = parse_yaml(read_bytes(root / file), file) if file.endswith((".yaml", ".yml", ".json")) else None
            part = {key: look_up(loaded, key) for key in keys.split(",")} if keys else loaded
        found |= {str(key): item for key, item in part.items()} if isinstance(part, Mapping) else {}
    return found


def _list(entry: Mapping[str, Any], key: str) -> list[Any]:
    found = entry.get(key, [])
    return found if isinstance(found, list) else [found]
