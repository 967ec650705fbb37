"""Making a seal: once, over committed bytes only, refusing whatever could make two readers see different files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath

from audit.amendment import refuse_marks
from audit.config import NAME, refuse_strange_record
from audit.context import Context
from audit.digest import sha256_bytes, sha256_lines
from audit.finding import Refusal
from audit.history import LINK, SUBMODULE, WHOLE_CLONE, call_git
from audit.known import refuse_known_outcome, refuse_rivals, with_owner_seeds
from audit.lint import lint
from audit.load import parse_json, parse_yaml, write_bytes
from audit.predictions import Prediction
from audit.quantities import find_quantity
from audit.records import Quantity, log_path
from audit.registration import FrozenParameter, Registration, Seal, digest_value, look_up, parse_registration, refuse_strange_id
from audit.standing import same_but_line_endings

BYTE_CHANGING = {"text", "crlf", "eol", "ident", "filter", "working-tree-encoding"}
LFS, ANNEX = b"version https://git-lfs.github.com/spec/", b"/annex/objects/"


def main(name: str, post_hoc: bool = False) -> None:
    """Seal a registration, write the seal and the copies it covers, and say what to commit."""
    context = Context.open()
    seal, copies = make_seal(context, name, post_hoc)
    folder = context.config.paths.prereg
    for path, data in copies.items():
        write_bytes(context.root / path, data)
    write_bytes(context.root / context.seal_path(name), seal_bytes(seal))
    for warning in seal.warnings:
        print(f"warning: {warning}")
    if post_hoc:
        print(f"post hoc: whatever {name} comes to is labelled so, and confirms nothing")
    print(f"sealed {name}: {len(seal.files)} files, {len(seal.parameters)} parameters, content {seal.content}")
    print(f"now: git add {folder} && git commit -m 'Seal {name}'   (a seal is never made again, and never squashed with its run)")


def rehearse(name: str, post_hoc: bool = False) -> None:
    """Say what sealing would warn of, from the draft as it lies here, and then what it would refuse; write nothing."""
    context = Context.open()
    path = f"{context.config.paths.prereg}/{name}.yaml"
    data = context.bytes_of(path)
    if data is None:
        raise Refusal(path, "no such registration", cure=f"audit new {name}")
    for warning in lint_registration(context, parse_registration(data, path)):
        print(f"warning: {warning}")
    seal, _ = make_seal(context, name, post_hoc)
    print(f"{name} can be sealed, with {len(seal.warnings)} warnings: {len(seal.files)} files, {len(seal.parameters)} parameters; nothing was written")


def lint_registration(context: Context, registration: Registration) -> tuple[str, ...]:
    """Every warning, with the seeds of whoever owns them and the metrics as HEAD has them."""
    return lint(with_owner_seeds(context, registration), lambda prediction: committed_metric(context, prediction))


def seal_bytes(seal: Seal) -> bytes:
    """A seal as it is written; unlike a record it keeps nulls, which a frozen parameter may hold."""
    value = seal.model_dump(mode="json", exclude=None if seal.post_hoc else {"post_hoc"})
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def make_seal(context: Context, name: str, post_hoc: bool = False) -> tuple[Seal, dict[str, bytes]]:
    """The seal of a registration, and the copies of frozen outputs that it covers, by path."""
    refuse_strange_id(name)
    path = f"{context.config.paths.prereg}/{name}.yaml"
    refuse_second_seal(context, name)
    refuse_strange_text(committed_bytes(context, path), path)
    registration = parse_registration(committed_bytes(context, path), path)
    refuse_marks(committed_bytes(context, path), path)
    files = {path: sha256_bytes(committed_bytes(context, path))}
    files.update({code: sha256_bytes(committed_bytes(context, code)) for code in registration.freezes.code})
    origins = place_copies(context, registration)
    copies = {copy: committed_bytes(context, origin) for copy, origin in origins.items()}
    files.update({copy: sha256_bytes(data) for copy, data in copies.items()})
    refuse_attributes(context, [*files, context.seal_path(name)])
    for copy, data in copies.items():
        if context.bytes_of(copy) not in (None, data):
            raise Refusal(copy, "exists with other bytes than the output it would copy", cure="remove it, then seal")
    seal = Seal(
        version=2,
        id=name,
        registration=path,
        files=files,
        origins=origins,
        parameters=freeze_parameters(context, registration),
        content=sha256_lines(files),
        configuration=digest_configuration(context),
        ledger=read_ledger(context),
        warnings=lint_registration(context, registration),
        post_hoc=post_hoc,
    )
    refuse_rivals(context, registration)
    if not post_hoc:
        refuse_known_outcome(context, registration, seal)
    refuse_unknown_metrics(context, registration)
    return seal, copies


def refuse_unknown_metrics(context: Context, registration: Registration) -> None:
    """Refuse a metric that its record, where there is one, does not have, or that no stage will write."""
    place = f"{context.config.paths.prereg}/{registration.id}.yaml"
    for prediction in registration.predictions:
        file, stage = prediction.metric.file, prediction.metric.stage
        refuse_strange_record(context.config, file, place)
        record = context.records.get(file)
        if record is None and context.pipeline.stages and not context.pipeline.writes(stage, file):
            cure = "name a file that a stage of dvc.yaml writes, and that stage"
            raise Refusal(
                place, f"{prediction.id} names a metric that nothing writes", expected=f"an output of stage {stage}", observed=file, cure=cure
            )
        for key in prediction.keys() if record is not None else ():
            find_quantity(record, key, f"{place}: {prediction.id}: {file}")
        for source in prediction.comparator.sources():
            find_quantity(context.records.get(source.file), source.key, f"{place}: {prediction.id}: {source.file}")


def committed_metric(context: Context, prediction: Prediction) -> Quantity | None:
    """A metric as a record of HEAD has it, or None: what is not committed changes no seal."""
    data = context.history.bytes_at(context.history.head, prediction.metric.file)
    try:
        return None if data is None else find_quantity(parse_json(data, prediction.metric.file), prediction.metric.key, prediction.metric.file)
    except Refusal:
        return None


def refuse_strange_text(data: bytes, path: str) -> None:
    """Refuse a registration whose bytes read otherwise than they look: CRLF, or characters that do not print."""
    text = data.decode("utf-8", errors="replace")
    strange = next((letter for letter in text if not letter.isprintable() and letter != "\n"), None)
    if strange == "\r":
        raise Refusal(path, "has CRLF line ends", expected="LF", cure=f"`{path} -text` in .gitattributes, save it with LF, commit")
    if strange is not None:
        line = text[: text.index(strange)].count("\n") + 1
        raise Refusal(f"{path}:{line}", "holds a character that does not print", observed=f"U+{ord(strange):04X}", cure="remove it, commit")


def refuse_second_seal(context: Context, name: str) -> None:
    """A seal is made once: refuse where history or the working tree has one, or where history is cut off."""
    path, history = context.seal_path(name), context.history
    if history.shallow:
        raise Refusal(path, "a shallow clone cannot show that no seal was made before", cure=WHOLE_CLONE)
    if history.versions(path):
        raise Refusal(path, "was sealed before; a seal is never made again", cure="register under a new id, and say why in its title")
    if (context.root / path).exists():
        raise Refusal(path, "exists and is not committed", cure="commit it; delete it only if nothing has run under it")


def committed_bytes(context: Context, path: str) -> bytes:
    """The committed bytes of a file that is to be sealed; refuse what is no plain, clean, committed file."""
    history = context.history
    entry = history.entry(history.head, path)
    if entry is None:
        refuse_path_inside(context, path)
        raise Refusal(path, "is not committed", expected="the file in HEAD's tree", cure=f"git add {path} && git commit")
    if entry[0] in (LINK, SUBMODULE) or not entry[0].startswith("100") or (context.root / path).is_symlink():
        kind = {LINK: "a symbolic link", SUBMODULE: "a submodule"}.get(entry[0], "no plain file")
        raise Refusal(path, "cannot be sealed", expected="a plain file of this repository", observed=kind)
    data, found = history.objects.blob(entry[1]), context.bytes_of(path)
    if data.startswith(LFS) or (len(data) < 1024 and ANNEX in data):
        raise Refusal(path, "content absent: this is a pointer, not the data", cure="git lfs pull (or git annex get), and commit the data itself")
    if found is not None and same_but_line_endings(found, data):
        cure = f"put `{path} -text` into .gitattributes, then git checkout HEAD -- {path}"
        raise Refusal(path, "differs from the committed file only in line endings", cure=cure)
    if found != data or path in history.changed:
        raise Refusal(path, "is not committed as it lies here", expected="a clean file", cure=f"git commit {path}, or git checkout HEAD -- {path}")
    return data


def refuse_path_inside(context: Context, path: str) -> None:
    """Refuse a path below a link or a submodule: this repository holds no bytes of it."""
    for folder in map(str, PurePosixPath(path).parents):
        entry = context.history.entry(context.history.head, folder)
        if entry is not None and entry[0] in (LINK, SUBMODULE):
            kind = "a symbolic link" if entry[0] == LINK else "a submodule"
            raise Refusal(path, "cannot be sealed", expected="a plain file of this repository", observed=f"a path inside {folder}, {kind}")


def refuse_attributes(context: Context, paths: list[str]) -> None:
    """Refuse paths whose bytes git may change on checkout."""
    for refusal in find_attributes(context, paths):
        raise refusal


def find_attributes(context: Context, paths: list[str]) -> Iterator[Refusal]:
    """A refusal for each attribute by which git may change the bytes of one of the paths on checkout."""
    named = "".join(f"{path}\0" for path in paths).encode()
    fields = call_git(context.root, "check-attr", "-z", "-a", "--stdin", stdin=named)[1].decode().split("\0")
    for path, attribute, value in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        if attribute in BYTE_CHANGING and (attribute, value) != ("text", "unset"):
            yield Refusal(
                path, "git may change its bytes on checkout", observed=f"attribute {attribute}={value}", cure=f"`{path} -text` in .gitattributes"
            )


def place_copies(context: Context, registration: Registration) -> dict[str, str]:
    """Path of each copy of a frozen output -> the output's own path; its run log, which names cached outputs, goes with it."""
    folder, history = f"{context.config.paths.prereg}/{registration.id}", context.history
    origins: dict[str, str] = {}
    for output in registration.freezes.outputs:
        log = log_path(output)
        for path in (output, log) if log != output and history.entry(history.head, log) else (output,):
            copy = f"{folder}/{PurePosixPath(path).name}"
            if origins.get(copy, path) != path:
                raise Refusal(copy, "two frozen outputs have one file name", observed=f"{origins[copy]}, {path}", cure="rename one")
            origins[copy] = path
    return origins


def freeze_parameters(context: Context, registration: Registration) -> dict[str, FrozenParameter]:
    """The named parameters as HEAD has them; the working file must agree, and the registration must hold."""
    place, history = context.config.paths.parameters, context.history
    committed = parse_yaml(history.bytes_at(history.head, place) or b"", place) or {}
    unmet = registration.unmet(committed)
    if unmet:
        raise Refusal(registration.id, "does not hold under the committed parameters", observed=unmet, cure=f"commit {place} with these values")
    frozen = {}
    for key in registration.freezes.parameters:
        value = look_up(committed, key)
        if value is None:
            raise Refusal(place, f"key {key!r}, which {registration.id} freezes, is not there", cure="correct the key")
        if look_up(context.parameters, key) != value:
            raise Refusal(place, f"key {key!r} differs from HEAD's", observed=repr(look_up(context.parameters, key)), cure=f"git commit {place}")
        frozen[key] = FrozenParameter(sha256=digest_value(value), value=value)
    return frozen


def digest_configuration(context: Context) -> dict[str, str | None]:
    """SHA-256 of what decides how the audit reads the project, as committed: `audit.toml`, the exemptions, the schemas of records."""
    history, exemptions = context.history, context.config.paths.exemptions
    schemas = [path for path in history.names_at(history.head, context.config.paths.schemas) if path.endswith(".json")]
    found: dict[str, str | None] = {path: sha256_bytes(committed_bytes(context, path)) for path in (NAME, *schemas)}
    absent = history.entry(history.head, exemptions) is None and context.bytes_of(exemptions) is None
    return {**found, exemptions: None if absent else sha256_bytes(committed_bytes(context, exemptions))}


def read_ledger(context: Context) -> dict[str, str]:
    """Id -> SHA-256 of every seal made before; each must be at HEAD."""
    history, folder = context.history, context.config.paths.prereg
    on_disk = {path.relative_to(context.root).as_posix() for path in (context.root / folder).glob("*.seal.json")}
    ledger = {}
    for path in sorted(on_disk | set(history.paths_ever(folder, ".seal.json"))):
        data = history.bytes_at(history.head, path)
        if data is None:
            raise Refusal(path, "an earlier seal is not at HEAD", cure="commit it (or restore it from history) before sealing another")
        ledger[PurePosixPath(path).name.removesuffix(".seal.json")] = sha256_bytes(data)
    return ledger
