"""The gate at the start of a stage, and the run log at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit.config import refuse_strange_record
from audit.context import Context
from audit.digest import canonical_json, sha256_bytes, sha256_file, sha256_tree
from audit.environment import injected, restrict_environment
from audit.finding import Refusal
from audit.history import call_git
from audit.machine import describe_command, describe_machine, describe_packages, describe_threads
from audit.modules import digest_modules, source_files
from audit.packages import describe_origins, differing, strangers
from audit.pipeline import DEFINED
from audit.records import Provenance, Record, RunLog, log_path, write_record
from audit.registration import derive_seeds, seed_counts
from audit.standing import Standing, all_registrations, read_standing
from audit.tokens import witness_line


@dataclass(frozen=True)
class Run:
    """A run that may go on: its seeds, what it stands under, and what it started from."""

    context: Context
    stage: str
    seeds: tuple[int, ...]
    exploratory: bool
    """True where a registration names the stage but does not hold here: nothing of this run is confirmatory."""
    provenance: Provenance
    standing: Mapping[str, Standing]
    inputs: Mapping[str, str]
    code: Mapping[str, str]
    changed: tuple[str, ...]
    environment: Mapping[str, str]
    resumed: Mapping[str, str] | None
    started: datetime
    clock: float

    def finish(self, record: Record, path: str | Path, outputs: Iterable[str | Path] = ()) -> str:
        """Write the record, then its run log beside it, each whole or not at all; return the record's SHA-256."""
        place = relative(self.context, path)
        refuse_strange_record(self.context.config, place, self.stage)
        produced = {name: digest_path(self.context, name) for name in (relative(self.context, output) for output in outputs)}
        for name, digest in self.inputs.items():
            if name not in produced and digest_path(self.context, name) != digest:
                raise Refusal(name, "changed while the stage ran", expected=digest[:12], cure="run the stage again")
        code = {**digest_modules(self.context), **self.code}
        foreign, altered = describe_origins(self.context.root)
        digest = write_record(self.context.root / place, record)
        log = RunLog(
            stage=self.stage,
            command=describe_command(),
            commit=self.context.history.head,
            changed=self.changed,
            record=place,
            record_sha256=digest,
            outputs=produced,
            inputs=dict(self.inputs),
            code=code,
            seals=self.provenance.seals,
            packages=describe_packages(),
            altered=altered,
            foreign=foreign,
            environment=dict(self.environment),
            resumed=self.resumed and dict(self.resumed),
            **describe_machine(),
            threads=describe_threads(),
            started=self.started.isoformat(timespec="seconds"),
            ended=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - self.clock, 3),
        )
        write_record(self.context.root / log_path(place), log)
        return digest


def start(
    *,
    stage: str,
    parameters: Any,
    inputs: Iterable[str | Path] = (),
    seed_set: str | None = None,
    set_value: Any = None,
    registrations: Iterable[str] = (),
    checkpoints: str | Path | None = None,
) -> Run:
    """Let a stage begin, or refuse in one line: every registration that names it must stand (sealed, committed, unaltered).

    `registrations` are those whose seal must stand although their `stages` do not name this stage (the judge); `checkpoints` is the folder
    that the stage may resume from. The process's environment loses what the stage may not see (see `audit.environment`).
    """
    started, clock = datetime.now(UTC), time.monotonic()
    context = Context.open()
    code = digest_modules(context)
    sources = {*source_files(context), *(context.root / name for name in code)}
    environment = restrict_environment(context.root, sources, context.config.environment)
    standing, exploratory = admit(context, stage, seed_set, set_value, registrations)
    seeds = choose_seeds(context, standing, seed_set, set_value) if seed_set is not None else ()
    digests = {name: digest_path(context, name) for name in (relative(context, path) for path in inputs)}
    provenance = Provenance(
        stage=stage,
        seals={name: stands.seal_sha256 for name, stands in sorted(standing.items())},
        parameters=sha256_bytes(canonical_json(parameters)),
        seeds=seeds,
        data={name: digest for name, digest in digests.items() if is_data(context, name)},
    )
    changed = context.history.changed
    warn_of_dirty_code(stage, standing, code, changed)
    warn_of_unpushed(context, standing)
    if standing:
        warn_of_strangers(context, stage, environment)
    resumed = digest_checkpoints(context, checkpoints) if checkpoints is not None else None
    return Run(context, stage, seeds, exploratory, provenance, standing, digests, code, changed, environment, resumed, started, clock)


def warn_of_dirty_code(stage: str, standing: Mapping[str, Standing], code: Mapping[str, str], changed: tuple[str, ...]) -> None:
    """Say on stderr when a run under a seal starts with code that its start commit does not hold."""
    dirty = sorted(set(code) & set(changed))
    if standing and dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        cure = "stop and commit first, or commit it unchanged together with the results"
        print(f"audit: warning: {stage} runs {dirty[0]}{more} as HEAD does not hold it: {cure}", file=sys.stderr)


def warn_of_unpushed(context: Context, standing: Mapping[str, Standing]) -> None:
    """Say on stderr when a run under a seal starts from a commit that no remote branch holds, where there is a remote."""
    if standing and call_git(context.root, "remote")[1].strip():
        pushed = call_git(context.root, "for-each-ref", "--count=1", f"--contains={context.history.head}", "refs/remotes")[1]
        if not pushed:
            commit = context.history.head[:10]
            print(f"audit: warning: no remote branch holds HEAD ({commit}): a rebase would orphan this run; cure: push first", file=sys.stderr)


def warn_of_strangers(context: Context, stage: str, environment: Mapping[str, str]) -> None:
    """Say on stderr, before a run under a seal costs anything, what its log will have to say of code from elsewhere."""
    foreign, altered = describe_origins(context.root)
    lock = context.history.bytes_at(context.history.head, context.config.paths.lock) or b""
    strange = [f"the module {name}" for name in strangers(foreign, context.config.foreign)] + [f"an altered {name}" for name in altered]
    strange += [f"{name} {version}, locked as {wanted}" for name, version, wanted in differing(lock.decode(errors="replace"), describe_packages())]
    strange += [name for name in injected(environment) if name not in context.config.foreign]
    if strange:
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        what = f"{stage} starts under a seal with code from outside project, Python and locked packages: {strange[0]}{more}"
        print(f"audit: warning: {what}; its record will not stand: stop and remove it first", file=sys.stderr)


def digest_checkpoints(context: Context, folder: str | Path) -> dict[str, str]:
    """Path -> SHA-256 of every file in a folder of checkpoints; {} where there is none yet."""
    files = sorted(file for file in (context.root / folder).rglob("*") if file.is_file())
    return {relative(context, file): sha256_file(file) for file in files}


def admit(
    context: Context, stage: str, seed_set: str | None = None, set_value: Any = None, also: Iterable[str] = ()
) -> tuple[dict[str, Standing], bool]:
    """The registrations a run of this stage stands under, and whether it is exploratory."""
    name, wanted = stage.split("@")[0], set(also)
    registrations = all_registrations(context)
    needed: dict[str, None] = {}
    waiting = False
    for registration in registrations.values():
        claimed = seed_set in seed_counts(registration, registrations)
        if (claimed and set_value != registration.seed_owner) or not context.holds(registration):
            waiting = waiting or name in registration.stages
        elif (claimed and registration.seeds.same_as) or registration.id in wanted or _is_named(context, name, registration, judged=claimed or seed_set is None):
            needed |= {registration.id: None, registration.seed_owner: None}
    if isinstance(set_value, str) and seed_set is not None:
        needed[set_value] = None
    standing = {name: _stand(context, name) for name in needed}
    return standing, waiting and not standing


def _stand(context: Context, name: str) -> Standing:
    """The standing of a registration whose seal is of this history: made once, and after the seals it names."""
    standing, history, path = read_standing(context, name), context.history, context.seal_path(name)
    for earlier, digest in standing.seal.ledger.items():
        data = history.bytes_at(history.head, context.seal_path(earlier))
        if data is None or sha256_bytes(data) != digest:
            what, observed = f"is a seal of another history: HEAD does not hold the seal of {earlier} that its ledger names", "no such seal"
            cure = "restore the earlier seal from history, or register anew here"
            raise Refusal(path, what, expected=digest[:12], observed=observed if data is None else sha256_bytes(data)[:12], cure=cure)
    versions = history.versions(path)
    if len(versions) > 1:
        observed = ", ".join(blob[:10] for blob in versions)
        raise Refusal(path, "was sealed more than once in this history", expected="one blob", observed=observed, cure="register anew")
    witness_line(context, standing.registration)  # refuses while the seeds wait for a time stamp
    return standing


def _is_named(context: Context, name: str, registration: Any, *, judged: bool) -> bool:
    """By its stages, or as the stage of a metric: of a seed set that is not the registration's own, such a stage gives none of its metrics."""
    sealed = context.history.blob_at(context.history.head, context.seal_path(registration.id)) is not None
    return name in registration.stages or (judged and sealed and name in registration.judged_stages())


def choose_seeds(context: Context, standing: Mapping[str, Standing], seed_set: str, set_value: Any) -> tuple[int, ...]:
    """The seeds of a set: the list itself, or derived from the seal of the registration it names."""
    place = f"{context.config.paths.parameters}:seed_sets.{seed_set}"
    if isinstance(set_value, str):
        owner = standing[set_value].registration.seed_owner
        if owner != set_value:
            raise Refusal(place, f"{set_value} shares the seeds of {owner}", expected=owner, observed=set_value, cure=f"write {owner}")
        count = standing[set_value].registration.seeds.sets.get(seed_set)
        if count is None:
            raise Refusal(place, f"registration {set_value} has no seed set {seed_set!r}", cure="name it under seeds.sets, or give a list")
        witness = witness_line(context, standing[set_value].registration)
        return derive_seeds(standing[set_value].seal, seed_set, count, witness)
    if not isinstance(set_value, list | tuple) or not set_value:
        raise Refusal(place, "is no seed set", expected="a list of whole numbers or a registration's id", observed=repr(set_value))
    for seed in set_value:
        if type(seed) is not int or not 0 <= seed < 2**63:
            raise Refusal(place, "holds something that is no seed", expected="whole numbers from 0 to 2**63 - 1", observed=repr(seed))
    repeated = sorted({seed for seed in set_value if list(set_value).count(seed) > 1})
    if repeated:
        raise Refusal(place, "names a seed twice", observed=", ".join(map(str, repeated)), expected="each seed once")
    return tuple(set_value)


def relative(context: Context, path: str | Path) -> str:
    """A path as it stands in records: relative to the root, with forward slashes."""
    try:
        return (context.root / path).resolve().relative_to(context.root.resolve()).as_posix()
    except ValueError:
        raise Refusal(path, "lies outside the project", expected=f"a path below {context.root.name}/") from None


def digest_path(context: Context, name: str) -> str:
    """SHA-256 of a file, or of a folder's `sha256sum` lines."""
    path = context.root / name
    if not path.exists():
        raise Refusal(name, "is not there", expected="an input or output of the stage", cure="run the stage that writes it (dvc repro)")
    return sha256_tree(path) if path.is_dir() else sha256_file(path)


def is_data(context: Context, name: str) -> bool:
    """Whether an input is a record, a folder or a file outside git, and not source text."""
    if (context.root / name).is_dir() or name.startswith(f"{context.config.paths.results}/"):
        return True
    return context.history.entry(context.history.head, name) is None


def refuse_unknown_stage(context: Context, stage: str) -> None:
    """Refuse a stage that `dvc.yaml` does not have: no registration can name it, so that the answer would mean nothing."""
    if not context.pipeline.names(stage):
        known = ", ".join(context.pipeline.stages) or "none"
        cure = "correct the name, or declare the stage"
        raise Refusal(DEFINED, f"has no stage {stage!r}", expected=f"one of {known}", cure=cure)


def main(stage: str) -> None:
    """Say in one line whether a stage may run now."""
    context = Context.open()
    refuse_unknown_stage(context, stage)
    standing, exploratory = admit(context, stage)
    warn_of_unpushed(context, standing)
    under = ", ".join(f"{name} (seal {stands.seal_sha256[:12]})" for name, stands in standing.items())
    if exploratory:
        print(f"{stage} may run as exploratory: the registrations that name it do not hold under these parameters")
    else:
        print(f"{stage} may run; it stands under {under or 'no registration'}")
