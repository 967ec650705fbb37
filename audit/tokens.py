"""The time stamps of a seal: where they lie in history, and which of them its seeds take."""

from __future__ import annotations

import re
from dataclasses import dataclass

from audit.context import Context
from audit.der import Malformed
from audit.finding import FOUND, Refusal
from audit.history import WHOLE_CLONE
from audit.registration import NO_WITNESS, Registration, derive_seeds
from audit.timestamp import Token, parse_token


@dataclass(frozen=True)
class Committed:
    """A readable time stamp of the seal in one commit that introduced it."""

    commit: str
    path: str
    token: Token


def token_paths(context: Context, name: str) -> list[str]:
    """Paths of the seal's time stamps, here or anywhere in history; the unnumbered one first, then by number."""
    folder = context.config.paths.prereg
    here = set(context.prereg_files(name, ".tsr"))
    paths = here | set(context.history.paths_ever(folder, ".tsr"))
    return sorted((path for path in paths if re.fullmatch(rf"{re.escape(folder)}/{name}(\.\d+)?\.tsr", path)), key=_number)


def _number(path: str) -> int:
    numbered = re.search(r"\.(\d+)\.tsr$", path)
    return int(numbered[1]) if numbered else 1


def committed_tokens(context: Context, name: str) -> list[Committed]:
    """Every readable time stamp of the committed seal, once for each commit that introduced it."""
    history = context.history
    seal, found = history.bytes_at(history.head, context.seal_path(name)), []
    for path in token_paths(context, name):
        for blob in history.versions(path):
            try:
                token = parse_token(history.objects.blob(blob))
            except Malformed:
                continue
            if seal is not None and token.stamps(seal):
                found += [Committed(commit, path, token) for commit in history.introductions(blob)]
    return found


def first_token(context: Context, name: str) -> Committed | None:
    """The time stamp in the first commit that holds any; a second one never counts. Two on parallel branches are refused."""
    history = context.history
    if history.shallow:
        raise Refusal(context.token_path(name), "a shallow clone cannot show which time stamp came first", cure=WHOLE_CLONE)
    found = committed_tokens(context, name)
    for one in sorted(found, key=lambda one: _number(one.path)):
        others = [other for other in found if other.token.sha256 != one.token.sha256]
        same = [other.commit for other in found if other.token.sha256 == one.token.sha256]
        if all(any(commit in history.ancestors(other.commit) for commit in same) for other in others):
            return one
    if found:
        what = "two time stamps of this seal were committed on parallel branches: neither is the first"
        raise Refusal(context.token_path(name), what, cure="register anew", code=FOUND)
    return None


def witness_line(context: Context, registration: Registration) -> str:
    """The fourth line of a seed's text: `-`, or the SHA-256 of the signed content of the seal's first committed time stamp."""
    if registration.seeds.from_ != "seal+witness":
        return NO_WITNESS
    first = first_token(context, registration.id)
    if first is None:
        path = context.token_path(registration.id)
        cure = f"audit witness {registration.id} --tsa URL, then commit {path}"
        raise Refusal(path, "the seeds wait for a time stamp of the seal, and none is committed", expected="a token in HEAD's history", cure=cure)
    return first.token.sha256


def derived_seeds(context: Context, name: str) -> dict[str, tuple[int, ...]]:
    """The seeds of a sealed registration, by set, its own or shared; {} while the seal that they derive from is not there, refused while
    they wait for a time stamp."""
    owner = context.registrations[name].seed_owner
    seal, registration = context.seals.get(owner), context.registrations.get(owner)
    if seal is None or registration is None:
        return {}
    witness = witness_line(context, registration)
    return {drawn: derive_seeds(seal, drawn, count, witness) for drawn, count in registration.seeds.sets.items()}
