"""A304, A306, A310, A312, A313: the records are what DVC says its stages made, nothing is absent, nothing is frozen out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from audit.checks.order import judged
from audit.context import Context
from audit.digest import md5_bytes, md5_file, md5_tree
from audit.finding import Finding, Refusal, Severity
from audit.kept import is_kept
from audit.mended import judged_paths
from audit.pipeline import DEFINED, LOCKED, is_below
from audit.registration import look_up


def check(context: Context) -> Iterator[Finding]:
    """Every record against `dvc.lock`, every lock entry against `dvc.yaml` and the files that are there."""
    if not context.pipeline.lock:
        if context.record_paths:
            what, cure = "is not there or empty: which stage made the records cannot be told", "dvc repro, and commit dvc.lock"
            yield Finding(code="A304", severity=Severity.UNCHECKED, place=LOCKED, what=what, cure=cure)
        return
    yield from _producers(context)
    yield from _outputs(context)
    yield from _chain(context)
    yield from _missing(context)
    yield from _commands(context)
    yield from _parameters(context)
    yield from _frozen_stages(context)
    yield from _undeclared(context)
    yield from _unlogged(context)
    yield from _unmoved(context)


def count(context: Context) -> str:
    """How many stages and outputs."""
    return f"{len(context.pipeline.lock)} stages, {len(context.pipeline.outs)} outputs"


def _producers(context: Context) -> Iterator[Finding]:
    for path in context.record_paths:
        makers = [stage for stage, _ in context.pipeline.outs.get(path, ())]
        if len(makers) != 1:
            cure = "declare it as an out (cache: false) of the stage that writes it, or remove it"
            observed = ", ".join(makers) or "none"
            if not makers and context.records.get(path, {}).get("kind") == "verdicts":
                cure = f"declare `audit evaluate {context.records[path].get('registration')}` as a stage that writes it (README), then dvc repro"
            yield Finding(
                code="A312", place=path, what="is not the output of exactly one stage", expected="one stage in dvc.lock", observed=observed, cure=cure
            )


def _outputs(context: Context) -> Iterator[Finding]:
    paths = context.config.paths
    own = (paths.findings(), paths.generated, paths.pdf)  # what the audit itself writes, which has checks of its own
    for path, entries in context.pipeline.outs.items():
        file = context.root / path
        if path in own:
            continue
        if not file.exists():
            yield _absent(context, path, entries[0][0])
        else:
            digest = _name(context, path, file)
            if digest != entries[0][1].get("md5"):
                expected, cure = f"md5 {str(entries[0][1].get('md5'))[:12]}", _restoring(context, path, entries[0][0])
                yield Finding(
                    code="A304", place=path, what="is not the output that dvc.lock names", expected=expected, observed=digest[:12], cure=cure
                )
    yield from _deleted(context)


def _chain(context: Context) -> Iterator[Finding]:
    """A304: what a stage of a record depended on is what another stage of the lock made; the audit's own stages come after this check."""
    for stage, entry in context.pipeline.lock.items():
        made_record = any(out["path"] in context.record_bytes for out in entry.get("outs") or ())
        for dep in entry.get("deps") or () if made_record else ():
            made = context.pipeline.outs.get(dep["path"])
            if made and made[0][1].get("md5") != dep.get("md5"):
                what = f"stage {stage} names another {dep['path']} than stage {made[0][0]} made"
                expected, observed = (f"md5 {str(digest)[:12]}" for digest in (made[0][1].get("md5"), dep.get("md5")))
                yield Finding(code="A304", place=LOCKED, what=what, expected=expected, observed=observed, cure=f"dvc repro; commit {LOCKED}")


def _restoring(context: Context, path: str, stage: str) -> str:
    """How to make output and lock agree: from HEAD what differs from it, or by the stage; HEAD's copy of what is as it was is no cure."""
    try:
        changed = [name for name in (path, LOCKED) if any(is_below(other, name) for other in context.history.changed)]
    except Refusal:
        changed = [path, LOCKED]
    return f"git checkout HEAD -- {' '.join(changed)}, or dvc repro {stage}" if changed else f"dvc repro {stage}, and commit"


def _name(context: Context, path: str, file: Path) -> str:
    """What DVC would call an output."""
    data = context.record_bytes.get(path) or context.run_log_bytes.get(path)
    if data:
        return md5_bytes(data)
    return md5_tree(file) if file.is_dir() else md5_file(file)


def _absent(context: Context, path: str, stage: str) -> Finding:
    if path in context.pipeline.uncached or _is_tracked(context, path):
        return Finding(code="A306", place=path, what=f"stage {stage} made it and it is missing", cure=f"git checkout HEAD -- {path}, or dvc repro")
    return Finding(code="A306", severity=Severity.NOTE, place=path, what="not built here (git does not carry it)", cure="dvc repro")


def _is_tracked(context: Context, path: str) -> bool:
    try:
        return context.history.entry(context.history.head, path) is not None
    except Refusal:
        return path.startswith(f"{context.config.paths.results}/")


def _missing(context: Context) -> Iterator[Finding]:
    """What the lock does not name or no longer names, was there once, and is absent, even where its deletion is committed."""
    results = f"{context.config.paths.results}/"
    living = {record: said for record, said in context.provenance.items() if not is_kept(context, record)}
    made_from = {path: record for record, said in living.items() for path in said.data if path.startswith(results)}
    lock, uncached = context.pipeline.lock, context.pipeline.uncached.items()
    declared = {path: f"stage {stage} makes it" for path, stage in uncached if stage in lock or _was_there(context, path)}
    wanted = {**{path: f"{record} was made from it" for path, record in made_from.items()}, **declared}
    for path, why in sorted(wanted.items()):
        if path not in context.pipeline.outs and path != context.config.paths.findings() and not (context.root / path).exists():
            cure = f"git log -- {path}, and restore it; or dvc repro"
            yield Finding(code="A306", place=path, what=f"{why} and it is missing", cure=cure)


def _was_there(context: Context, path: str) -> bool:
    try:
        return bool(context.history.versions(path))
    except Refusal:
        return False


def _deleted(context: Context) -> Iterator[Finding]:
    """Whatever else is committed and absent."""
    try:
        changed = context.history.changed
    except Refusal:
        return
    for path in changed:
        if path not in context.pipeline.outs and path != context.config.paths.findings() and not (context.root / path).exists():
            if not (context.root / path).is_symlink():
                yield Finding(code="A306", place=path, what="is committed and missing from the working tree", cure=f"git checkout HEAD -- {path}")


def _commands(context: Context) -> Iterator[Finding]:
    pipeline = context.pipeline
    for stage, entry in pipeline.lock.items():
        if not pipeline.definition(stage):
            yield Finding(code="A313", place=LOCKED, what=f"names stage {stage}, which {DEFINED} does not define", cure="dvc repro; commit dvc.lock")
            continue
        wanted, found = pipeline.commands.get(stage), " ".join(str(entry.get("cmd", "")).split())
        if wanted is not None and wanted != found:
            yield Finding(
                code="A313",
                place=LOCKED,
                what=f"stage {stage} ran another command than {DEFINED} gives",
                expected=wanted,
                observed=found,
                cure="dvc repro",
            )


def _parameters(context: Context) -> Iterator[Finding]:
    """A313: the parameters that the stages of records ran with are those of `params.yaml`, where a registration holds for them."""
    registrations, file = context.registrations.values(), context.config.paths.parameters
    if registrations and not any(context.holds(registration) for registration in registrations):
        return
    makers = {stage for path in context.record_paths for stage, _ in context.pipeline.outs.get(path, ())}
    for stage in sorted(makers):
        params = context.pipeline.lock[stage].get("params")
        ran = params.get(file) if isinstance(params, Mapping) else None
        for key, value in (ran if isinstance(ran, Mapping) else {}).items():
            now = look_up(context.parameters, str(key))
            if now is not None and now != value:
                what = f"stage {stage} ran with another {key} than {file} gives"
                yield Finding(code="A313", place=LOCKED, what=what, expected=repr(now)[:60], observed=repr(value)[:60], cure="dvc repro")


def _frozen_stages(context: Context) -> Iterator[Finding]:
    paths = [path for registration, seal in judged(context) for path in judged_paths(registration, seal)]
    for stage in sorted(context.pipeline.upstream(paths)):
        if context.pipeline.is_frozen(stage):
            what = f"stage {stage} is frozen: DVC would not notice that a judged record is stale"
            yield Finding(code="A310", place=DEFINED, what=what, cure=f"dvc unfreeze {stage}, then dvc repro")


def _undeclared(context: Context) -> Iterator[Finding]:
    """A313: what a run under a seal read is a dependency of its stage, or DVC would not notice that it changed; sealed files cannot change."""
    for log in context.readable_logs.values():
        stage = log.stage if context.pipeline.definition(log.stage) else context.pipeline.uncached.get(log.record, "")
        wanted = context.pipeline.depends(stage) if stage else None  # what no stage writes is A312
        read = [name for name in log.inputs if not name.startswith(f"{context.config.paths.prereg}/") and wanted is not None and name not in wanted]
        missed = [name for name in read if not any(is_below(name, dep) for dep in wanted or ())]
        if log.seals and missed:
            what = f"stage {stage} read a file that is none of its dependencies: a change would not make {log.record} stale"
            cure = f"add it to the stage's deps in {DEFINED}, then dvc commit {stage}"
            yield Finding(code="A313", place=DEFINED, what=what, observed=", ".join(missed[:3]), cure=cure)


def _unlogged(context: Context) -> Iterator[Finding]:
    """A313: a record that a stage under a seal depends on is an input of its run, or the order rule would never ask whence it came."""
    for log in context.readable_logs.values():
        entry = context.pipeline.lock.get(log.stage) or context.pipeline.lock.get(log.stage.split("@")[0]) or {}
        records = [dep["path"] for dep in entry.get("deps") or () if dep["path"] in context.record_bytes] if log.seals else []
        frozen = {path for name in log.seals if name in context.seals for path in context.seals[name].origins.values()}  # read as sealed copies
        missed = sorted(path for path in {*records} - frozen if not any(is_below(path, name) for name in log.inputs))
        if missed:
            what = f"stage {log.stage} depends on a record that the run of {log.record} does not name as an input"
            cure = "name it in `inputs` at the gate and run again, or drop the dependency"
            yield Finding(code="A313", place=DEFINED, what=what, observed=", ".join(missed[:3]), cure=cure)


def _unmoved(context: Context) -> Iterator[Finding]:
    """A313, a note: a stage that a registration names goes stale with its seal, directly or by what it is made from."""
    pipeline, closed = context.pipeline, context.outcomes
    for registration, seal in judged(context):
        path = context.seal_path(seal.id)
        for stage in registration.stages if seal.id not in closed else ():
            if stage in pipeline.stages and not any(path in pipeline.dependencies_of(name) for name in (stage, *pipeline.ancestors(stage))):
                what, cure = f"stage {stage} does not depend on its seal: dvc repro would not notice a new one", f"add {path} to its deps"
                yield Finding(code="A313", severity=Severity.NOTE, place=DEFINED, what=what, cure=cure)
