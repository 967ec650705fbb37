"""A210, A211, A212: what third parties say of when a seal existed, verified offline; and who signed the commit that brought it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from audit.anchoring import CURE, find_anchor, find_fault, is_installed, load_roots
from audit.context import Context
from audit.der import Malformed
from audit.digest import sha256_bytes
from audit.finding import Finding, Refusal, Severity
from audit.opentimestamps import parse_proof
from audit.registration import Registration
from audit.room import read_room
from audit.signature import describe_signature, describe_tags
from audit.timestamp import Token, parse_token, request_nonce
from audit.tokens import first_token, token_paths

REFUTED, SAID, UNREAD = "A210", "A211", "A212"


@dataclass(frozen=True)
class Witnessed:
    """A committed seal and what is said about it."""

    context: Context
    registration: Registration
    seal: bytes

    @property
    def required(self) -> bool:
        """Whether its seeds take a witness."""
        return self.registration.seeds.from_ == "seal+witness"

    @cached_property
    def paths(self) -> list[str]:
        """Its time stamps, here or in history."""
        return token_paths(self.context, self.registration.id)

    @property
    def proof_path(self) -> str:
        """Where its OpenTimestamps proof would lie."""
        return f"{self.context.config.paths.prereg}/{self.registration.id}.ots"


def check(context: Context) -> Iterator[Finding]:
    """Every committed seal's time stamps and proof, and the signature on the commit that brought it."""
    for witnessed in all_witnessed(context):
        yield from _required(witnessed)
        for path in witnessed.paths:
            yield from _token(witnessed, path)
        yield from _proof(witnessed)
        yield from _signature(witnessed)


def count(context: Context) -> str:
    """How many time stamps."""
    witnessed = all_witnessed(context)
    return f"{sum(len(each.paths) for each in witnessed)} time stamps of {len(witnessed)} seals"


def all_witnessed(context: Context) -> list[Witnessed]:
    """Every registration whose seal HEAD holds, in order."""
    history, found = context.history, []
    for name, registration in sorted(context.registrations.items()):
        seal = history.bytes_at(history.head, context.seal_path(name))
        if seal is not None:
            found.append(Witnessed(context, registration, seal))
    return found


def _required(each: Witnessed) -> Iterator[Finding]:
    """The first committed time stamp is what seeds derive from: it must be here, before anything ran on them."""
    context, name = each.context, each.registration.id
    if not each.required:
        return
    try:
        first = first_token(context, name)
    except Refusal as refusal:
        yield from_refusal(refusal)
        return
    ran = any(name in provenance.seals for provenance in context.provenance.values())
    if first is None:
        what, weight = "its seeds wait for a time stamp of the seal, and none is committed", Severity.FINDING if ran else Severity.NOTE
        cure = f"audit witness {name} --tsa URL, and commit it"
        yield Finding(code=REFUTED if ran else SAID, severity=weight, place=context.seal_path(name), what=what, cure=cure)
    elif first.token.sha256 not in _here(each):
        what = f"the first committed time stamp of the seal, from which the seeds derive, is not here (commit {first.commit[:10]} brought it)"
        yield Finding(code=REFUTED, place=first.path, what=what, cure=f"git checkout {first.commit[:10]} -- {first.path}, and commit it")


def _here(each: Witnessed) -> set[str]:
    found = set()
    for path in each.paths:
        try:
            found.add(parse_token(each.context.bytes_of(path) or b"").sha256)
        except Malformed:
            continue
    return found


def _token(each: Witnessed, path: str) -> Iterator[Finding]:
    """One time stamp of the working tree: refuted, anchored, unanchored, or not readable."""
    data, restore = each.context.bytes_of(path), f"git checkout HEAD -- {path}"
    if data is None:  # a committed file that is missing is the finding of another check
        return
    try:
        token = parse_token(data)
        if not is_installed():
            weight = Severity.UNCHECKED if each.required else Severity.NOTE
            yield Finding(code=UNREAD, severity=weight, place=path, what="signatures of time stamps cannot be verified here", cure=CURE)
            return
        fault = find_fault(token, each.seal) or _fault_of_request(each, path, token)
        if fault:
            yield Finding(code=REFUTED, place=path, what=fault, expected=f"SHA-256 {sha256_bytes(each.seal)[:12]} of the seal, signed", cure=restore)
            return
        yield from _worth(each, path, token)
    except ValueError as error:  # a malformed part: of the token, or of a certificate in it
        what = "is no readable time stamp"
        yield Finding(code=UNREAD, severity=Severity.UNCHECKED, place=path, what=what, observed=str(error)[:200], cure=restore)


def _fault_of_request(each: Witnessed, path: str, token: Token) -> str | None:
    request = each.context.bytes_of(f"{path.removesuffix('.tsr')}.tsq")
    if request is None or request_nonce(request) == token.nonce:
        return None
    return "answers another request than the one beside it: the nonces differ"


def _worth(each: Witnessed, path: str, token: Token) -> Iterator[Finding]:
    """What a token that nothing refutes is worth to this reader, and what it leaves open."""
    roots, shipped = load_roots(each.context)
    reason, moment = find_anchor(token, roots), f"{token.time:%Y-%m-%d %H:%M:%S} UTC"
    if reason is None:
        yield _note(path, f"anchored: the seal existed at {moment}, says an authority under your root; nothing says since when")
    else:
        because = f"{shipped[0]} is shipped by the audited repository and does not count" if shipped and not roots else reason
        cure = "audit verify --root FILE, with the authority's root from the authority itself"
        yield _note(path, f"unanchored: an authority unknown to you says {moment}", because, cure)
    if each.required and path == each.paths[0]:
        yield _note(path, f"results on its seeds are younger than {moment}, as far as the authority is to be believed")
    if each.context.history.blob_at(each.context.history.head, path) is None:
        yield _note(path, "is not committed and counts for nothing yet", cure=f"git add {path} && git commit")
    room = read_room(each.context, each.registration.id, token.time)
    if room:
        yield _note(path, room.text())


def _proof(each: Witnessed) -> Iterator[Finding]:
    """The OpenTimestamps proof: about this seal or not; a block is claimed, a calendar only promises."""
    path = each.proof_path
    data, restore = each.context.bytes_of(path), f"git checkout HEAD -- {path}"
    if data is None:
        return
    try:
        proof = parse_proof(data)
    except Malformed as error:
        what = "is no readable OpenTimestamps proof"
        yield Finding(code=UNREAD, severity=Severity.UNCHECKED, place=path, what=what, observed=str(error), cure=restore)
        return
    if proof.digest.hex() != sha256_bytes(each.seal):
        what = "is a proof about another file than the seal"
        yield Finding(code=REFUTED, place=path, what=what, expected=sha256_bytes(each.seal)[:12], observed=proof.digest.hex()[:12], cure=restore)
        return
    for height, root in proof.blocks:
        yield _note(path, f"unanchored: claims Bitcoin block {height}", f"Merkle root {root}", "ask a node for that block's root and time")
    if not proof.blocks:
        promised = ", ".join(proof.calendars) or "nobody"
        yield _note(path, "pending: a calendar's promise is no proof yet", f"promised by {promised}", f"ots upgrade {path}, and commit it")


def _signature(each: Witnessed) -> Iterator[Finding]:
    context, path = each.context, each.context.seal_path(each.registration.id)
    for commit in context.history.introductions(context.history.blob_at(context.history.head, path) or ""):
        said = describe_signature(context, commit)
        if said != "unsigned" or each.paths:
            yield _note(path, f"commit {commit[:10]}, which brought the seal: {said}")
        yield from (_note(path, said) for said in describe_tags(context, commit))


def _note(path: str, what: str, observed: str = "", cure: str = "") -> Finding:
    return Finding(code=SAID, severity=Severity.NOTE, place=path, what=what, observed=observed, cure=cure)


def from_refusal(refusal: Refusal) -> Finding:
    """A refusal as a finding of this check: found or not checked, as its exit code says."""
    weight = Severity.FINDING if refusal.code == 1 else Severity.UNCHECKED
    return Finding(code=REFUTED if refusal.code == 1 else UNREAD, severity=weight, place=refusal.place, what=refusal.what, cure=refusal.cure)
