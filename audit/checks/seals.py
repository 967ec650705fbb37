"""A103, A105, A106, A107: the bytes and values a seal covers are as they were sealed."""

from __future__ import annotations

from collections.abc import Iterator

from audit.amendment import is_amendment_seal
from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal, Severity
from audit.registration import Seal, digest_value, look_up, parse_seal


def check(context: Context) -> Iterator[Finding]:
    """Every seal of the working tree, against the files it covers; of a closed registration, those in `prereg/`: its code may move on."""
    for path in sorted((context.root / context.config.paths.prereg).glob("*.seal.json")):
        name = path.relative_to(context.root).as_posix()
        if is_amendment_seal(name):
            continue
        try:
            seal = parse_seal(context.bytes_of(name) or b"", name)
        except Refusal as refusal:
            what = f"is no valid seal: {str(refusal).removeprefix(f'{name}: ')}"
            yield Finding(code="A103", place=name, what=what, cure=f"git checkout HEAD -- {name}")
            continue
        newer = sorted(other for other in seal.ledger if other in context.seals and context.seals[other].version > seal.version)
        if newer:
            what = f"is of version {seal.version}, which asks for less, after {newer[0]} of version {context.seals[newer[0]].version}"
            yield Finding(code="A103", place=name, what=what, expected="a seal as the tool writes it", cure="register anew, with audit seal")
        for fault in _left_out(context, seal):
            yield Finding(code="A103", place=name, what=fault, expected="a seal as the tool writes it", cure="register anew, with audit seal")
        yield from _files(context, seal)
        if seal.id not in context.outcomes:
            yield from _parameters(context, seal)


def _left_out(context: Context, seal: Seal) -> Iterator[str]:
    """What the registration says is sealed and its seal, which somebody may have typed, does not cover."""
    path, registration = f"{context.config.paths.prereg}/{seal.id}.yaml", context.registrations.get(seal.id)
    if seal.registration != path:
        yield f"seals another text than {path}: {seal.registration}"
    freezes = registration.freezes if registration else None
    for kind, wanted, covered in (
        ("code", freezes.code, seal.files), ("outputs", freezes.outputs, seal.origins.values()), ("parameters", freezes.parameters, seal.parameters),
    ) if freezes else ():  # fmt: skip
        if missing := sorted(set(wanted) - set(covered)):
            yield f"leaves out what its registration freezes: {kind} {missing[0]}"


def count(context: Context) -> str:
    """How much the seals cover."""
    seals = context.seals.values()
    return f"{sum(len(seal.files) for seal in seals)} files, {sum(len(seal.parameters) for seal in seals)} parameters"


def _files(context: Context, seal: Seal) -> Iterator[Finding]:
    closed, folder = seal.id in context.outcomes, f"{context.config.paths.prereg}/"
    for path, digest in seal.files.items():
        if closed and not path.startswith(folder):
            continue
        data, cure = context.bytes_of(path), f"git checkout HEAD -- {path}"
        if not path.startswith(folder):  # what lies in prereg/ never changes, closed or not
            cure += f"; if it must change, audit close {seal.id} first"
        if data is None:
            yield Finding(code="A105", place=path, what=f"is sealed by {seal.id} and missing", expected=digest[:12], cure=cure)
        elif sha256_bytes(data) == digest:
            continue
        elif sha256_bytes(data.replace(b"\r\n", b"\n")) == digest:
            yield _line_endings(context, path, digest)
        else:
            observed = sha256_bytes(data)[:12]
            yield Finding(code="A105", place=path, what=f"differs from what {seal.id} sealed", expected=digest[:12], observed=observed, cure=cure)


def _line_endings(context: Context, path: str, digest: str) -> Finding:
    what = "differs from the sealed file only in line endings; the seal stands and is not made again"
    cure = f"`{path} -text` in .gitattributes, then git checkout HEAD -- {path}"
    return Finding(code="A106", severity=_weight(context, path, digest), place=path, what=what, cure=cure)


def _weight(context: Context, path: str, digest: str) -> Severity:
    """A note where the committed file has the sealed bytes (git changed them on checkout), else a finding."""
    try:
        committed = context.history.bytes_at(context.history.head, path)
    except Refusal:
        return Severity.FINDING
    return Severity.NOTE if committed is not None and sha256_bytes(committed) == digest else Severity.FINDING


def _parameters(context: Context, seal: Seal) -> Iterator[Finding]:
    registration = context.registrations.get(seal.id)
    if registration is None or not context.holds(registration):
        return
    for key, frozen in seal.parameters.items():
        value = look_up(context.parameters, key)
        if digest_value(value) != frozen.sha256:
            place, cure = context.config.paths.parameters, "restore the sealed value, or give the seed set a list for an exploratory run"
            yield Finding(
                code="A107", place=place, what=f"{key} is frozen by {seal.id}", expected=repr(frozen.value), observed=repr(value), cure=cure
            )
