"""The project as the checks see it: every file is read at most once, and nothing is written."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.config import Config, find_root, load_config
from audit.finding import FOUND, Refusal
from audit.load import parse_json, parse_yaml, read_bytes

if TYPE_CHECKING:
    from audit.history import History
    from audit.pipeline import Pipeline
    from audit.records import Provenance, RunLog
    from audit.registration import Outcome, Registration, Seal


@dataclass(frozen=True)
class Context:
    """A project's root and configuration, with lazily read and cached contents."""

    root: Path
    config: Config
    roots: tuple[Path, ...] = ()
    """Root certificates of time-stamping authorities that whoever verifies brought along."""

    @classmethod
    def open(cls, start: Path | None = None, roots: tuple[Path, ...] = ()) -> Context:
        """The project that holds `start` (default: the current folder)."""
        root = find_root(start)
        return cls(root, load_config(root), roots)

    def bytes_of(self, path: str) -> bytes | None:
        """The bytes of a file of the project, or None where it is absent."""
        self.refuse_link(path)
        file = f"{self.root}/{path}"
        return read_bytes(file) if os.path.isfile(file) else None

    def refuse_link(self, path: str) -> None:
        """Refuse a registration, seal, outcome, record or run log that lies behind a symbolic link: git commits the link, not the bytes."""
        if not path.startswith((f"{self.config.paths.prereg}/", f"{self.config.paths.results}/")):
            return
        folder = path.rpartition("/")[0]
        if folder not in self._linked:
            folders = [folder[: place.start()] for place in re.finditer("/|$", folder)]
            self._linked[folder] = next((name for name in folders if os.path.islink(f"{self.root}/{name}")), None)
        link = self._linked[folder] or (path if os.path.islink(f"{self.root}/{path}") else None)
        if link is not None:
            what = "is a symbolic link" if link == path else f"lies behind the symbolic link {link}"
            raise Refusal(path, what, expected="the file itself", cure=f"git checkout HEAD -- {link}, or put the file itself there", code=FOUND)

    @cached_property
    def _linked(self) -> dict[str, str | None]:
        """Folder -> the first symbolic link on the way to it, or None; filled as folders are met."""
        return {}

    def is_linked(self, path: str) -> bool:
        """Whether a path lies behind a symbolic link that is refused."""
        return isinstance(_attempt(self.refuse_link, path), Refusal)

    @cached_property
    def linked_folders(self) -> tuple[str, ...]:
        """Folders of the results that are symbolic links: no record is looked for in them."""
        below = (os.path.join(folder, name) for folder, names, _ in os.walk(self.root / self.config.paths.results) for name in names)
        return tuple(sorted(Path(path).relative_to(self.root).as_posix() for path in below if os.path.islink(path)))

    @cached_property
    def history(self) -> History:
        """The git history the project stands in; refuses where there is none."""
        from audit.history import History

        return History.open(self.root, (self.config.paths.results, self.config.paths.prereg))

    @cached_property
    def parameters(self) -> Any:
        """`params.yaml` as a plain value; {} where the project has none."""
        data = self.bytes_of(self.config.paths.parameters)
        return {} if data is None else parse_yaml(data, self.config.paths.parameters) or {}

    @cached_property
    def record_paths(self) -> tuple[str, ...]:
        """Every record's path: all of `results/<stage>/**.json`, and of `results/*.json` those that `is_record` knows."""
        return tuple(path for path in self._json_files if self.is_record(path))

    @cached_property
    def _json_files(self) -> list[str]:
        top, start = self.root / self.config.paths.results, len(self.root.as_posix().rstrip("/")) + 1
        return sorted(f"{folder}/{name}"[start:] for folder, _, names in os.walk(top.as_posix()) for name in names if name.endswith(".json"))

    def is_record(self, path: str, files: Collection[str] | None = None) -> bool:
        """Whether a JSON file of the results is a record: not a run log, nor the audit's own output, nor, directly in `results/`,
        what neither `audit.toml` nor a registration names and no run log stands beside (timings, say). `files` are all those of a
        commit, for one of these."""
        if path.endswith(".run.json") or path == self.config.paths.findings():
            return False
        if path.rpartition("/")[0] != self.config.paths.results or path in self.config.records.values():
            return True
        judged = (prediction.metric.file for registration in self.registrations.values() for prediction in registration.predictions)
        log = path.removesuffix(".json") + ".run.json"
        return (log in files if files is not None else (self.root / log).is_file()) or path in judged

    @cached_property
    def record_bytes(self) -> dict[str, bytes]:
        """Bytes of every record, by path; none of one that is a symbolic link."""
        return {path: b"" if self.is_linked(path) else read_bytes(f"{self.root}/{path}") for path in self.record_paths}

    @cached_property
    def _parsed(self) -> dict[str, Any]:
        read = {path: _attempt(self.refuse_link, path) or data for path, data in self.record_bytes.items()}
        return {path: data if isinstance(data, Refusal) else _attempt(parse_json, data, path) for path, data in read.items()}

    @cached_property
    def records(self) -> dict[str, dict[str, Any]]:
        """Every readable record as a plain value, by path."""
        return {path: value for path, value in self._parsed.items() if isinstance(value, dict)}

    @cached_property
    def quantities(self) -> dict[str, tuple[tuple[str, Mapping[str, Any]], ...]]:
        """(key, plain value) of every quantity of each readable record, by path."""
        from audit.quantities import walk_quantities

        return {path: tuple(walk_quantities(record)) for path, record in self.records.items()}

    @cached_property
    def provenance(self) -> dict[str, Provenance]:
        """What each record says it was made from, by path, where it says so in the right form."""
        from audit.records import Provenance, parse_model

        said = {path: _attempt(parse_model, Provenance, record.get("provenance"), path) for path, record in self.records.items()}
        return {path: value for path, value in said.items() if isinstance(value, Provenance)}

    @cached_property
    def unreadable(self) -> dict[str, Refusal]:
        """What is no JSON object, by path, with the reason."""
        other = {path: value for path, value in self._parsed.items() if not isinstance(value, dict)}
        return {
            path: value if isinstance(value, Refusal) else Refusal(path, "not a JSON object", observed=type(value).__name__)
            for path, value in other.items()
        }

    @cached_property
    def run_logs(self) -> dict[str, Any]:
        """Every run log of the working tree, by path: a RunLog, or the Refusal that says why not."""
        from audit.records import RunLog, parse_model

        read = {path: _attempt(self.refuse_link, path) or data for path, data in self.run_log_bytes.items()}
        return {path: data if isinstance(data, Refusal) else _attempt(lambda d, p: parse_model(RunLog, parse_json(d, p), p), data, path) for path, data in read.items()}

    @cached_property
    def run_log_bytes(self) -> dict[str, bytes]:
        """Bytes of every run log, by path; none of one that is a symbolic link."""
        paths = (path for path in self._json_files if path.endswith(".run.json"))
        return {path: b"" if self.is_linked(path) else read_bytes(f"{self.root}/{path}") for path in paths}

    @cached_property
    def readable_logs(self) -> dict[str, RunLog]:
        """The run logs that can be read, by path."""
        return {path: log for path, log in self.run_logs.items() if not isinstance(log, Refusal)}

    def prereg_files(self, start: str, end: str) -> list[str]:
        """The files directly in `prereg/` whose names start and end so, sorted; the folder is listed once."""
        return [f"{self.config.paths.prereg}/{name}" for name in self._prereg_names if name.startswith(start) and name.endswith(end)]

    @cached_property
    def _prereg_names(self) -> list[str]:
        try:
            return sorted(os.listdir(self.root / self.config.paths.prereg))
        except OSError:
            return []

    @cached_property
    def _registration_files(self) -> dict[str, Any]:
        from audit.amendment import is_registration
        from audit.registration import parse_registration

        top = self.root / self.config.paths.prereg
        files = sorted(path for file in top.glob("*.yaml") if is_registration(path := file.relative_to(self.root).as_posix()))
        return {path: _attempt(lambda p: parse_registration(self.bytes_of(p) or b"", p), path) for path in files}

    @cached_property
    def registrations(self) -> dict[str, Registration]:
        """Every readable registration of the working tree, by id."""
        return {value.id: value for value in self._registration_files.values() if not isinstance(value, Refusal)}

    @cached_property
    def bad_registrations(self) -> dict[str, Refusal]:
        """What lies in `prereg/` as YAML and is no registration, with the reason."""
        return {path: value for path, value in self._registration_files.items() if isinstance(value, Refusal)}

    def seal_path(self, registration: str) -> str:
        """Where the seal of a registration lies."""
        return f"{self.config.paths.prereg}/{registration}.seal.json"

    def token_path(self, registration: str, number: int = 1) -> str:
        """Where a time stamp of a seal lies; a second and later one bears its number."""
        return f"{self.config.paths.prereg}/{registration}{'' if number == 1 else f'.{number}'}.tsr"

    def verdicts_path(self, registration: str) -> str:
        """Where `audit evaluate` writes the verdicts of a registration, if not told otherwise."""
        return f"{self.config.paths.results}/evaluate/{registration}.json"

    def outcome_path(self, registration: str) -> str:
        """Where the outcome of a closed registration lies."""
        return f"{self.config.paths.prereg}/{registration}.outcome.json"

    @cached_property
    def pipeline(self) -> Pipeline:
        """What `dvc.yaml` and `dvc.lock` say."""
        from audit.pipeline import read_pipeline

        return read_pipeline(self.root, self.parameters)

    def judging(self, registration: str, *, amended: bool = False) -> str:
        """The command that judges a registration: its stage of `dvc.yaml` where there is one, forced where it may not know an amendment."""
        stage = _attempt(lambda: self.pipeline.judge_of(registration))
        return f"dvc repro {'--force --single-item ' if amended else ''}{stage}" if isinstance(stage, str) else f"audit evaluate {registration}"

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """The readable outcome of each closed registration, by id: HEAD holds it, and the working tree the same bytes."""
        from audit.records import parse_model
        from audit.registration import Outcome

        found = {name: self._settled(self.outcome_path(name)) for name in self.registrations}
        parsed = {
            name: _attempt(lambda d, p: parse_model(Outcome, parse_json(d, p), p), data, self.outcome_path(name))
            for name, data in found.items()
            if data is not None
        }
        return {name: value for name, value in parsed.items() if not isinstance(value, Refusal)}

    @cached_property
    def seals(self) -> dict[str, Seal]:
        """The readable seal of each registration that has one in the working tree, by id."""
        from audit.registration import parse_seal

        found = {name: _attempt(self.bytes_of, self.seal_path(name)) for name in self.registrations}
        read = {name: _attempt(parse_seal, data, self.seal_path(name)) for name, data in found.items() if isinstance(data, bytes)}
        return {name: value for name, value in read.items() if not isinstance(value, Refusal)}

    def _settled(self, path: str) -> bytes | None:
        """Bytes of the working tree that HEAD holds too; without a history, which is a finding of its own, those that are there."""
        data = _attempt(self.bytes_of, path)
        committed = _attempt(lambda: self.history.bytes_at(self.history.head, path))
        return data if isinstance(data, bytes) and (isinstance(committed, Refusal) or committed == data) else None

    def lacks_history(self) -> bool:
        """Whether there is no git history here, or it is cut off."""
        try:
            return self.history.shallow
        except Refusal:
            return True

    def holds(self, registration: Registration) -> bool:
        """Whether the registration is to be judged under the present `params.yaml`."""
        return not registration.unmet(self.parameters)


def _attempt(read: Any, *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except Refusal as refusal:
        return refusal
