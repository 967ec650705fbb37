"""Which registrations stand: sealed, committed, unaltered; read from HEAD's tree, never from the index or a file."""

from __future__ import annotations

from dataclasses import dataclass

from audit.amendment import is_registration
from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.registration import Registration, Seal, digest_value, look_up, parse_registration, parse_seal


@dataclass(frozen=True)
class Standing:
    """A registration whose seal HEAD holds and which is as it was sealed."""

    registration: Registration
    seal: Seal
    seal_sha256: str
    closed: bool


def same_but_line_endings(one: bytes, other: bytes) -> bool:
    """Whether two different byte strings are the same text with other line ends."""
    return one != other and one.replace(b"\r\n", b"\n") == other.replace(b"\r\n", b"\n")


def all_registrations(context: Context) -> dict[str, Registration]:
    """Every registration at HEAD, and those of the working tree that HEAD does not have yet."""
    folder, history = context.config.paths.prereg, context.history
    committed = [path for path in history.names_at(history.head, folder) if is_registration(path)]
    found = [parse_registration(history.bytes_at(history.head, path) or b"", path) for path in committed]
    for path, refusal in context.bad_registrations.items():
        if path not in committed:
            raise refusal
    return {**context.registrations, **{registration.id: registration for registration in found}}


def read_standing(context: Context, name: str) -> Standing:
    """The standing of one registration; what is missing or altered is refused in one line, with its cure."""
    path, history = context.seal_path(name), context.history
    committed = history.bytes_at(history.head, path)
    if committed is None:
        on_disk = (context.root / path).exists()
        sealing = f"git add {context.config.paths.prereg} && git commit" if on_disk else f"audit seal {name} && git commit"
        what = "the seal is not committed: HEAD does not hold it" if on_disk else "the registration is not sealed"
        raise Refusal(path, what, expected="the seal in HEAD's tree", cure=sealing)
    refuse_other_bytes(context, path, committed)
    seal = parse_seal(committed, path)
    closed = history.blob_at(history.head, context.outcome_path(name)) is not None
    text = history.bytes_at(history.head, seal.registration)
    if text is None or sha256_bytes(text) != seal.files[seal.registration]:
        raise Refusal(seal.registration, "is not what was sealed", cure=f"git log -- {seal.registration}; restore the sealed text")
    refuse_other_bytes(context, seal.registration, text)
    if not closed:
        refuse_drift(context, seal)
    return Standing(parse_registration(text, seal.registration), seal, sha256_bytes(committed), closed)


def refuse_other_bytes(context: Context, path: str, committed: bytes) -> None:
    """Refuse a working copy that differs from HEAD's."""
    found, restore = context.bytes_of(path), f"git checkout HEAD -- {path}"
    if found is None:
        raise Refusal(path, "is missing from the working tree", expected="the committed file", cure=restore)
    if same_but_line_endings(found, committed):
        raise Refusal(path, "differs from the committed file only in line endings", cure=f"`{path} -text` in .gitattributes, then {restore}")
    if found != committed:
        raise Refusal(path, "was edited since it was committed", cure=restore)


def refuse_drift(context: Context, seal: Seal) -> None:
    """Refuse frozen files or parameters that differ from the seal, at HEAD or in the working tree."""
    history = context.history
    for path, digest in seal.files.items():
        committed = history.bytes_at(history.head, path)
        if committed is None or sha256_bytes(committed) != digest:
            observed = "no such file at HEAD" if committed is None else sha256_bytes(committed)[:12]
            cure = f"restore it, or `audit close {seal.id}` first"
            raise Refusal(path, f"is frozen by {seal.id} and differs at HEAD", expected=digest[:12], observed=observed, cure=cure)
        refuse_other_bytes(context, path, committed)
    for key, frozen in seal.parameters.items():
        value = look_up(context.parameters, key)
        if digest_value(value) != frozen.sha256:
            cure = "restore it, or give the seed set a list for an exploratory run"
            place = context.config.paths.parameters
            raise Refusal(place, f"{key} is frozen by {seal.id}", expected=repr(frozen.value), observed=repr(value), cure=cure)
