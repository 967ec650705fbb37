"""The order rule: does a judged record stand after its seal? By ancestry and content, never by dates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit.context import Context
from audit.digest import sha256_bytes, sha256_lines
from audit.finding import Finding, Refusal, Severity
from audit.history import WHOLE_CLONE
from audit.load import parse_json
from audit.logs import Logged, Logs
from audit.quantities import differences, walk_quantities
from audit.registration import Seal

GIT, RUN, INPUT = "A201", "A202", "A203"
LOST = "if that commit still exists: git tag audit/start/1 SHA and push the tag; else run again"


@dataclass(frozen=True)
class Order:
    """The rule for one seal: its path, its one blob, and the digests that are as old as the seal."""

    context: Context
    logs: Logs
    seal: Seal
    path: str
    blob: str
    sha256: str

    @cached_property
    def frozen(self) -> frozenset[str]:
        """Digests the seal freezes, and those that a frozen manifest or run log names."""
        digests = set(self.seal.files.values())
        for path, digest in self.seal.files.items():
            data = self._find_bytes(path, digest)
            if path.endswith(".json") and data is not None:
                digests |= self._names(path, data, digest)
            elif data is not None and path.endswith((".lock", ".sha256")):
                digests.update(word for word in data.decode(errors="replace").replace(":", " ").split() if _is_digest(word))
        return frozenset(digests)

    def _names(self, path: str, data: bytes, digest: str) -> set[str]:
        """What a frozen manifest or run log names; read once a context, however many seals freeze it."""
        known: dict[str, set[str]] = self.context.__dict__.setdefault("_frozen_names", {})
        if digest not in known:
            known[digest] = set(_named(parse_json(data, path)))
        return known[digest]

    @cached_property
    def _ruled(self) -> dict[str, list[Finding]]:
        return {}

    def rule(self, place: str, data: bytes) -> list[Finding]:
        """Everything that keeps these bytes from standing after the seal; [] where they do."""
        digest = sha256_bytes(data)
        if digest not in self._ruled:
            self._ruled[digest] = []  # a run cannot be its own input; a cycle adds nothing
            self._ruled[digest] = list(self._rule(place, data, self.logs.naming(digest)))
        return self._ruled[digest]

    def _rule(self, place: str, data: bytes, logs: list[Logged]) -> Iterator[Finding]:
        history = self.context.history
        commits = history.introductions(history.blob_id(data))
        for commit in commits:
            yield from self._git_evidence(place, commit, logs)
            yield from self._run_evidence(place, commit, logs)
        if not commits:
            yield from self._run_evidence(place, None, logs)

    def _git_evidence(self, place: str, commit: str, logs: list[Logged]) -> Iterator[Finding]:
        """(a) some parent of the commit that introduces the blob holds the seal."""
        history, short = self.context.history, commit[:10]
        parents = history.objects.commit(commit)[1]
        if history.blob_at(commit, self.path) != self.blob:
            observed = f"commit {short} introduces the record and does not hold the seal"
            yield self._finding(GIT, place, "was in the history before its seal", observed, "register anew: this record came first")
        elif not any(history.blob_at(parent, self.path) == self.blob for parent in parents):
            early = [logged for logged in logs if history.knows(logged.commit) and not self._held_by(logged.commit)]
            observed = f"commit {short} introduces seal and record together"
            if early:
                yield self._finding(
                    GIT, place, "came with its seal, not after it", f"{observed}; the run started at {early[0].commit[:10]}, without it"
                )
            else:
                why = "a squash, a rebase or a cut history hides which came first"
                yield self._finding(GIT, place, why, observed, f"{LOST}, or {WHOLE_CLONE}", Severity.UNCHECKED)

    def _run_evidence(self, place: str, commit: str | None, logs: list[Logged]) -> Iterator[Finding]:
        """(b) a run log names the record and a start commit, no later than its introduction, that holds the seal; (c) no old input."""
        history = self.context.history
        logs = [logged for logged in logs if logged.committed or commit is None]
        if not logs:
            what = "no run log names it" if commit is None else "no run log in the history names it"
            yield self._finding(RUN, place, what, "", "commit the run log beside it, or run again", Severity.UNCHECKED)
            return
        known = [logged for logged in logs if history.knows(logged.commit)]
        earlier = [logged for logged in known if commit is None or commit not in history.ancestors(logged.commit)]
        for logged in logs:
            if logged not in known:
                observed = f"{logged.path} started from {logged.commit[:10]}"
                yield self._finding(RUN, place, "the commit its run started from is not in this history", observed, LOST, Severity.UNCHECKED)
        if not earlier and len(known) == len(logs):
            yield self._finding(RUN, place, "no run log could have made it: each starts from the commit that brought it, or later")
        for logged in earlier:
            yield from self._start(place, logged)
            for path, digest in sorted(logged.inputs.items()):
                yield from self._input(place, commit, logged, path, digest)

    def _start(self, place: str, logged: Logged) -> Iterator[Finding]:
        if not self._held_by(logged.commit):
            observed = f"{logged.path} started from {logged.commit[:10]}, which does not hold it"
            yield self._finding(RUN, place, f"was run before {self.path} was committed", observed, "register anew and run again")
        elif logged.seals.get(self.seal.id) != self.sha256:
            observed = f"{logged.path} names {str(logged.seals.get(self.seal.id))[:12]}"
            yield self._finding(RUN, place, "its run read another seal", observed, "run again under the committed seal", expected=self.sha256[:12])

    def _input(self, place: str, commit: str | None, logged: Logged, path: str, digest: str) -> Iterator[Finding]:
        """(c) an input is frozen, source text of the commit, or made by a run for which (a) to (c) hold."""
        if digest in self.frozen or self._is_source(commit, logged, path, digest) or self._is_reproduction(path, digest):
            return
        makers = self.logs.naming(digest)
        if not makers:
            what = f"its run read {path}, which is neither frozen, nor source text of its commit, nor made by a logged run"
            yield self._finding(
                INPUT, place, what, f"{logged.path} names {digest[:12]}", "freeze it in the registration, or make it by a logged stage"
            )
        for fault in self._made_after(path, digest, makers):
            yield fault.model_copy(update={"code": INPUT, "place": place, "what": f"its input {path} {fault.what}"})

    def _is_reproduction(self, path: str, digest: str) -> bool:
        """A frozen output computed again: every quantity of the sealed copy, within the tolerance it was sealed with."""
        copy = self.seal.copy_of(path)
        data = self._find_bytes(path, digest) if copy != path else None
        if data is None:
            return False
        sealed, again = (parse_json(found, path) for found in (self.context.history.bytes_at(self.context.history.head, copy) or b"{}", data))
        same_keys = {key for key, _ in walk_quantities(sealed)} == {key for key, _ in walk_quantities(again)}
        return same_keys and not differences(sealed, again)

    def _made_after(self, path: str, digest: str, makers: list[Logged]) -> list[Finding]:
        data = self._find_bytes(path, digest)
        if data is not None:
            return self.rule(path, data)
        if digest not in self._ruled:  # a cached output appears when the first log that names it does
            self._ruled[digest] = []
            self._ruled[digest] = [fault for logged in makers for fault in self._rule(path, logged.data, [logged])]
        return self._ruled[digest]

    def _find_bytes(self, path: str, digest: str) -> bytes | None:
        history = self.context.history
        for blob in history.versions(path):
            if history.objects.sha256(blob) == digest:
                return history.objects.blob(blob)
        data = self.context.bytes_of(path)
        return data if data is not None and sha256_bytes(data) == digest else None

    def _is_source(self, commit: str | None, logged: Logged, path: str, digest: str) -> bool:
        """Source text of the commit that brought the record; for a record in no commit, of its start or the working tree."""
        if path.startswith(f"{self.context.config.paths.results}/"):
            return False
        history = self.context.history
        versions = [history.bytes_at(commit, path)] if commit else [history.bytes_at(logged.commit, path), self.context.bytes_of(path)]
        return any(data is not None and sha256_bytes(data) == digest for data in versions)

    def _held_by(self, commit: str) -> bool:
        return self.context.history.blob_at(commit, self.path) == self.blob

    def _finding(
        self, code: str, place: str, what: str, observed: str = "", cure: str = "", severity: Severity = Severity.FINDING, expected: str = ""
    ) -> Finding:
        expected = expected or f"{self.path} committed first"
        return Finding(code=code, severity=severity, place=place, what=what, expected=expected, observed=observed, cure=cure)


def open_order(context: Context, logs: Logs, seal: Seal) -> Order:
    """The rule for the seal of a registration, as HEAD holds it; opened once a context, so that a record is ruled on once."""
    known: dict[tuple[str, str | None], Order] = context.__dict__.setdefault("_orders", {})
    if (seal.id, logs.until) not in known:
        known[seal.id, logs.until] = make_order(context, logs, seal)
    return known[seal.id, logs.until]


def make_order(context: Context, logs: Logs, seal: Seal) -> Order:
    """The rule for a seal; refuses one that is not committed."""
    path, history = context.seal_path(seal.id), context.history
    blob = history.blob_at(history.head, path)
    if blob is None:
        raise Refusal(path, "is not committed: nothing can stand after it", cure=f"git add {path} && git commit")
    return Order(context, logs, seal, path, blob, sha256_bytes(history.objects.blob(blob)))


def names_seal(data: bytes, name: str, sha256: str) -> bool:
    """Whether a record says, in its own bytes, that it was made under this seal."""
    try:
        return stands_under(parse_json(data, name), name, sha256)
    except Refusal:
        return False


def stands_under(said: Any, name: str, sha256: str) -> bool:
    """Whether a record names a seal as one that it was made under."""
    provenance = said.get("provenance") if isinstance(said, Mapping) else None
    seals = provenance.get("seals") if isinstance(provenance, Mapping) else None
    return isinstance(seals, Mapping) and seals.get(name) == sha256


def _is_digest(word: Any) -> bool:
    return isinstance(word, str) and len(word) == 64 and all(letter in "0123456789abcdef" for letter in word)


def _named(value: Any) -> Iterator[str]:
    """Every SHA-256 a manifest names, and that of each folder it lists."""
    if _is_digest(value):
        yield value
    elif isinstance(value, dict):
        if value and all(_is_digest(item) for item in value.values()):
            yield sha256_lines(value)
        for item in value.values():
            yield from _named(item)
    elif isinstance(value, list):
        for item in value:
            yield from _named(item)
