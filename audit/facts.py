"""What is known of one registration when it is shown elsewhere: its text, its seal, and whether anything ran under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.context import Context
from audit.digest import canonical_json, sha256_bytes
from audit.finding import Refusal
from audit.registration import Prediction, Registration, Seal, parse_registration, parse_seal
from audit.standing import all_registrations
from audit.tokens import derived_seeds

SHOWN = frozenset({"id", "claim", "metric", "comparator", "undecided", "null"})
"""Fields of a prediction that have a place of their own in every form."""


@dataclass(frozen=True)
class Sealed:
    """A registration's seal as HEAD holds it."""

    seal: Seal
    sha256: str
    commit: str
    """The commit that brought the seal; of several the earliest."""
    time: int
    """That commit's own time, in seconds since 1970: what its author's clock said."""
    records: tuple[str, ...]
    """Records whose run logs, in history or here, name the seal."""
    seeds: Mapping[str, tuple[int, ...]]
    """The derived seeds, by set."""


@dataclass(frozen=True)
class Facts:
    """A registration and, where it is sealed, its seal."""

    registration: Registration
    sealed: Sealed | None

    def is_primary(self, prediction: Prediction) -> bool:
        """Whether this is the primary prediction."""
        return prediction.id == self.registration.primary


def read_facts(context: Context, name: str) -> Facts:
    """The registration as it was sealed, or the draft where it is not."""
    registrations, history, path = all_registrations(context), context.history, context.seal_path(name)
    if name not in registrations:
        raise Refusal(f"{context.config.paths.prereg}/{name}.yaml", "no such registration", cure="audit status lists them")
    data = history.bytes_at(history.head, path)
    if data is None:
        return Facts(context.registrations.get(name, registrations[name]), None)
    seal = parse_seal(data, path)
    text = history.bytes_at(history.head, seal.registration)
    if text is None or sha256_bytes(text) != seal.files[seal.registration]:
        raise Refusal(seal.registration, "is not what was sealed", cure=f"git log -- {seal.registration}; restore the sealed text")
    time, commit = min((history.date(new), new) for new in history.introductions(history.blob_id(data)))
    digest = sha256_bytes(data)
    sealed = Sealed(seal, digest, commit, time, records_under(context, digest), derived_seeds(context, name))
    return Facts(parse_registration(text, seal.registration), sealed)


def records_under(context: Context, digest: str) -> tuple[str, ...]:
    """Paths of the records whose run logs name the seal of this digest, in any commit or here."""
    history, word = context.history, digest.encode()
    ever = history.paths_ever(context.config.paths.results, ".run.json")
    logs = {path for path in ever if any(word in history.objects.blob(blob) for blob in history.versions(path))}
    logs |= {path for path in context.run_logs if word in (context.bytes_of(path) or b"")}
    return tuple(sorted(path.removesuffix(".run.json") + ".json" for path in logs))


def further_fields(prediction: Prediction) -> dict[str, str]:
    """What a prediction states beyond the fields that every form has a place for, as JSON."""
    stated: dict[str, Any] = prediction.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {name: canonical_json(value).decode() for name, value in sorted(stated.items()) if name not in SHOWN}
