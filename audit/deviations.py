"""Registered versus run: what differed between the commit that brought a seal and the runs under it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit.config import NAME
from audit.context import Context
from audit.declared import give_reasons, read_declared
from audit.difference import Difference, Kind
from audit.digest import canonical_json, sha256_bytes, sha256_lines
from audit.finding import Refusal
from audit.load import parse_json, parse_yaml
from audit.logs import Logged, Logs, open_logs
from audit.mended import find_mended, judged_paths
from audit.order import open_order
from audit.packages import differing
from audit.pipeline import LOCKED
from audit.registration import Registration, Seal, look_up
from audit.tokens import derived_seeds

ABSENT = "absent"


@dataclass(frozen=True)
class Ran:
    """One run that a judged record comes from."""

    logged: Logged
    commit: str | None
    """The commit that brought what it made; None where no commit did."""
    log: Mapping[str, Any]
    record: Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """The runs under one seal against the commit that brought it."""

    context: Context
    registration: Registration
    seal: Seal
    at: str | None
    """Runs and configuration as of this commit; None: as they are now."""
    logs: Logs

    @cached_property
    def born(self) -> tuple[str, ...]:
        """The commits that first brought the seal; one, but for parallel branches. Bringing a dropped one back is no other birth."""
        history = self.context.history
        brought = history.introductions(history.blob_at(history.head, self.context.seal_path(self.seal.id)) or "")
        return tuple(born for born in brought if not any(other != born and other in history.ancestors(born) for other in brought))

    @cached_property
    def runs(self) -> tuple[Ran, ...]:
        """The runs of the judged records and all that they were made from, up to what the seal froze."""
        found: dict[bytes, Ran] = {}
        pending, seen = list(self._judged()) if self.born else [], set()
        while pending:
            digest = pending.pop()
            if digest in seen:
                continue
            seen.add(digest)
            for ran in self._made(digest):
                found.setdefault(ran.logged.data, ran)
                pending += [made for path, made in ran.logged.inputs.items() if not self._is_frozen(path, made)]
        return tuple(found.values())

    def _judged(self) -> Iterator[str]:
        history = self.context.history
        for path in {prediction.metric.file for prediction in self.registration.predictions} - set(self.seal.origins.values()):
            versions = [history.bytes_at(self.at or history.head, path), None if self.at else self.context.bytes_of(path)]
            digests = [sha256_bytes(data) for data in versions if data is not None]
            yield from (digest for digest in digests if any(self.seal.id in logged.seals for logged in self.logs.naming(digest)))

    def _made(self, digest: str) -> Iterator[Ran]:
        """The runs that may have made these bytes: not those that started from the commit that brought their record, or later."""
        history = self.context.history
        for logged in self.logs.naming(digest):
            place, digest_said = logged.record, str(logged.said.get("record_sha256"))
            present = self.context.record_bytes.get(place)
            is_here = present is not None and sha256_bytes(present) == digest_said
            record = present if is_here else self._find_bytes(place, digest_said)
            commits = history.introductions(history.blob_id(logged.data if record is None else record))
            before = [commit for commit in commits if not history.knows(logged.commit) or commit not in history.ancestors(logged.commit)]
            if before or not commits:
                said = self.context.records.get(place, {}) if is_here else self._parse(record)
                yield Ran(logged, before[-1] if before else None, logged.said, said)

    def _parse(self, record: bytes | None) -> Mapping[str, Any]:
        try:
            value = parse_json(record or b"{}", "record")
        except Refusal:
            value = {}
        return value if isinstance(value, Mapping) else {}

    def _find_bytes(self, path: str, digest: str) -> bytes | None:
        history = self.context.history
        present = self.context.bytes_of(path)
        if present is not None and sha256_bytes(present) == digest:
            return present
        return next((history.objects.blob(blob) for blob in history.versions(path) if history.objects.sha256(blob) == digest), None)

    @cached_property
    def _frozen(self) -> frozenset[str]:
        return open_order(self.context, self.logs, self.seal).frozen

    def _is_frozen(self, path: str, digest: str) -> bool:
        return digest in self._frozen or path in self.seal.origins.values()

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every difference once, sorted; none has a reason yet. A post-hoc seal has no runs of its own to compare."""
        if self.seal.post_hoc:
            return ()
        found: dict[Difference, None] = {}
        for ran in self.runs:
            for part in (self._parameters, self._inputs, self._code, self._seeds, self._packages):
                found.update(dict.fromkeys(part(ran)))
        found.update(dict.fromkeys(self._configuration()))
        for path in judged_paths(self.registration, self.seal):
            found.update(dict.fromkeys(mended.row for mended in find_mended(self.context, self.seal.id, path)))
        return tuple(sorted(found, key=lambda row: (row.kind, row.what, row.registered, row.run)))

    def _parameters(self, ran: Ran) -> Iterator[Difference]:
        """What `dvc.lock` says the stage was given; without it the whole file, where the stage read it."""
        given, place = [*self._locked(ran).items()], self.context.config.paths.parameters
        if (digest := ran.logged.inputs.get(place)) is not None:  # all that it read, whatever of it the stage declares
            data = self._find_bytes(place, digest)
            given += [(place, parse_yaml(data, place) or {})] if data is not None else []
            if data is None:  # a version that no commit holds
                yield self._digest_row("parameters", place, self._digests_at_seal(place), digest)
        for file, values in given:
            if not isinstance(values, Mapping):
                continue
            if not file.endswith((".yaml", ".yml", ".json", ".toml")):
                yield from self._unread_parameters(ran, str(file))
                continue
            registered = [_parse(data, file) for data in self._bytes_at_seal(file)]
            if file == place and (file, values) == given[-1] and place in ran.logged.inputs:  # what is there no more, too
                values = {**{key: None for then in registered if isinstance(then, Mapping) for key in then}, **values}
            for key, value in values.items():
                for name, old, new in (row for then in registered or [None] for row in _moved(str(key), look_up(then, str(key)), value)):
                    yield self._row("parameters", name if file == place else f"{file}:{name}", _show(old), _show(new))

    def _unread_parameters(self, ran: Ran, file: str) -> Iterator[Difference]:
        """A file of parameters whose form is not read here (`params.py`): its bytes."""
        history = self.context.history
        data = history.bytes_at(ran.commit, file) if ran.commit else self.context.bytes_of(file)
        registered = self._digests_at_seal(file)
        if data is not None and set(registered) != {sha256_bytes(data)}:
            yield self._digest_row("parameters", file, registered, sha256_bytes(data))

    def _locked(self, ran: Ran) -> Mapping[str, Any]:
        """The parameters of the stage in the `dvc.lock` that came with what it made."""
        entry = self._stages_locked(ran.commit).get(str(ran.log.get("stage")))
        params = entry.get("params") if isinstance(entry, Mapping) else None
        return params if isinstance(params, Mapping) else {}

    def _stages_locked(self, commit: str | None) -> Mapping[str, Any]:
        """The stages of a commit's `dvc.lock`, or of the one that lies here; parsed once a context."""
        history, known = self.context.history, self.context.__dict__.setdefault("_locked", {})
        if "" not in known:
            data = self.context.bytes_of(LOCKED)
            known[""] = known["" if data is None else history.blob_id(data)] = self.context.pipeline.lock
        blob = history.blob_at(commit, LOCKED) or "none" if commit else ""
        if blob not in known:
            value = {} if blob == "none" else parse_yaml(history.objects.blob(blob), LOCKED)
            stages = value.get("stages") if isinstance(value, Mapping) else None
            known[blob] = stages if isinstance(stages, Mapping) else {}
        return known[blob]

    def _inputs(self, ran: Ran) -> Iterator[Difference]:
        """Files of the checkout that it read; what a logged run made is compared through that run."""
        for path, digest in ran.logged.inputs.items():
            if self._is_frozen(path, digest) or path in (self.context.config.paths.parameters, self.context.config.paths.lock) or self.logs.naming(digest):
                continue
            registered = self._digests_at_seal(path)
            if set(registered) != {digest} and (registered or self._is_tracked(ran, path)):
                source = path.startswith(tuple(f"{folder}/" for folder in self.context.config.paths.sources))
                yield self._digest_row("code" if source else "data", path, registered, digest)

    def _is_tracked(self, ran: Ran, path: str) -> bool:
        commit = ran.commit or self.context.history.head
        return self.context.history.entry(commit, path) is not None

    def _code(self, ran: Ran) -> Iterator[Difference]:
        for path, digest in ran.logged.code.items():
            registered = self._digests_at_seal(path)
            if set(registered) != {digest}:
                yield self._digest_row("code", path, registered, digest)

    def _seeds(self, ran: Ran) -> Iterator[Difference]:
        said = ran.record.get("provenance")
        seeds = said.get("seeds") if isinstance(said, Mapping) else None
        if not isinstance(said, Mapping) or not seeds or self.seal.id not in (said.get("seals") or {}):
            return
        derived = derived_seeds(self.context, self.registration.id)
        if tuple(seeds) not in derived.values():
            registered = "; ".join(f"{len(values)} of set {name}" for name, values in derived.items())
            known = {seed for values in derived.values() for seed in values}
            yield self._row("seeds", str(ran.log.get("record")), registered, f"{len(seeds)}, of them {len(known & set(seeds))} derived")

    def _packages(self, ran: Ran) -> Iterator[Difference]:
        """Versions that a run loaded against the lock of the environment; a package that it does not name is not compared."""
        loaded = ran.log.get("packages")
        versions = {str(name): str(version) for name, version in (loaded if isinstance(loaded, Mapping) else {}).items()}
        lock = "\n".join(data.decode(errors="replace") for data in self._bytes_at_seal(self.context.config.paths.lock))
        for name, version, wanted in differing(lock, versions):
            yield self._row("packages", name, wanted, version)

    def _configuration(self) -> Iterator[Difference]:
        """What decides how the audit reads the project, as sealed: `audit.toml`, the exemptions, the schemas of these records."""
        if self.seal.version == 1:
            return
        schemas = [f"{self.context.config.paths.schemas}/{ran.record.get('kind')}.json" for ran in self.runs]
        sealed, history = self.seal.configuration, self.context.history
        for path in sorted({NAME, self.context.config.paths.exemptions, *schemas}):
            data = history.bytes_at(self.at, path) if self.at else self.context.bytes_of(path)
            found = None if data is None else {sha256_bytes(data), sha256_bytes(data.replace(b"\r\n", b"\n"))}
            wanted = sealed.get(path)
            if (found is None and wanted is not None) or (found is not None and wanted not in found):
                run = ABSENT if data is None else sha256_bytes(data)[:12]
                yield self._row("configuration", path, ABSENT if wanted is None else wanted[:12], run)

    def _bytes_at_seal(self, path: str) -> list[bytes]:
        found = (self.context.history.bytes_at(commit, path) for commit in self.born)
        return [data for data in found if data is not None]

    def _digests_at_seal(self, path: str) -> list[str]:
        found = (self._digest_at(self.context.history.entry(commit, path)) for commit in self.born)
        return [digest for digest in found if digest is not None]

    def _digest_at(self, entry: tuple[str, str] | None) -> str | None:
        """SHA-256 of a file, or of a folder's lines, in a tree of git."""
        objects = self.context.history.objects
        if entry is None or not entry[0].startswith(("100", "040")):
            return None
        return objects.sha256(entry[1]) if entry[0].startswith("100") else sha256_lines(dict(self._lines(entry[1], "")))

    def _lines(self, tree: str, folder: str) -> Iterator[tuple[str, str]]:
        objects = self.context.history.objects
        for name, (mode, entry) in objects.tree(tree).items():
            if mode == "040000":
                yield from self._lines(entry, f"{folder}{name}/")
            elif mode.startswith("100") and name != ".gitignore":
                yield f"{folder}{name}", objects.sha256(entry)

    def _digest_row(self, kind: Kind, path: str, registered: list[str], digest: str) -> Difference:
        other = next((found for found in registered if found != digest), ABSENT)
        return self._row(kind, path, other[:12], digest[:12])

    def _row(self, kind: Kind, what: str, registered: str, run: str) -> Difference:
        return Difference(kind=kind, what=what, registered=registered, run=run)


def open_comparison(context: Context, name: str, at: str | None = None) -> Comparison:
    """The comparison for a sealed registration, made once a context: of a closed one, as of its outcome."""
    outcome = context.outcomes.get(name)
    commit = at or (outcome.commit if outcome else None)
    opened: dict[tuple[str, str | None], Comparison] = context.__dict__.setdefault("_comparisons", {})
    if (name, commit) not in opened:
        opened[name, commit] = Comparison(context, context.registrations[name], context.seals[name], commit, open_logs(context, commit))
    return opened[name, commit]


def asks_for_reasons(comparison: Comparison) -> bool:
    """Whether each difference must be declared: under a seal of version 1 only of runs whose logs are of a tool that knows deviations."""
    return comparison.seal.version > 1 or any(ran.log.get("environment") is not None for ran in comparison.runs)


def find_deviations(context: Context, name: str) -> tuple[Difference, ...]:
    """Every difference of the runs under a seal, with its reason; of a closed registration, as its outcome says."""
    outcome = context.outcomes.get(name)
    if outcome is not None and outcome.deviations is not None:
        return outcome.deviations
    return give_reasons(open_comparison(context, name).differences, read_declared(context, name))


def _parse(data: bytes, file: str) -> Any:
    try:
        return tomllib.loads(data.decode()) if file.endswith(".toml") else parse_yaml(data, file)
    except ValueError as error:
        raise Refusal(file, "not readable as TOML", observed=str(error)) from None


def _moved(key: str, registered: Any, run: Any) -> Iterator[tuple[str, Any, Any]]:
    """The deepest keys at which two values differ."""
    if isinstance(registered, Mapping) and isinstance(run, Mapping):
        for name in sorted({*registered, *run}, key=str):
            yield from _moved(f"{key}.{name}", registered.get(name), run.get(name))
    elif type(registered) is not type(run) or registered != run:
        yield key, registered, run


def _show(value: Any) -> str:
    if value is None:
        return ABSENT
    text = canonical_json(value)
    return text.decode() if len(text) <= 60 else sha256_bytes(text)[:12]
