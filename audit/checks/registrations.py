"""A101, A102, A111, A115: each registration is readable, sealed before it has an outcome, and says something new."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.context import Context
from audit.finding import Finding, Severity
from audit.registration import Registration, digest_value

BESIDE = {"id": True, "claim": True, "null": True, "population": True, "metric": {"tolerance", "summary"}}
"""What makes no other question of a prediction."""


def check(context: Context) -> Iterator[Finding]:
    """Each file of `prereg/` that should be a registration."""
    for path, refusal in context.bad_registrations.items():
        yield Finding(code="A101", place=path, what=f"is no valid registration: {str(refusal).removeprefix(f'{path}: ')}")
    for registration in context.registrations.values():
        yield from _seal_state(context, registration)
    yield from _repeated(context)


def count(context: Context) -> str:
    """How many registrations."""
    return f"{len(context.registrations)} registrations, {len(context.seals)} sealed, {len(context.outcomes)} closed"


def _seal_state(context: Context, registration: Registration) -> Iterator[Finding]:
    path, unmet = f"{context.config.paths.prereg}/{registration.id}.yaml", registration.unmet(context.parameters)
    if unmet:
        yield Finding(code="A115", severity=Severity.NOTE, place=path, what=f"not evaluated here: {unmet}")
    if (context.root / context.seal_path(registration.id)).exists():
        return
    ran = sorted({item.metric.file for item in registration.predictions if (context.root / item.metric.file).exists()})
    if ran and not unmet:
        cure = "register anew, seal, commit, then run; or audit seal --post-hoc: a seal made now comes after the outcome"
        yield Finding(code="A102", place=path, what="is not sealed, and its outcome exists", observed=", ".join(ran), cure=cure)
    else:
        yield Finding(code="A102", severity=Severity.NOTE, place=path, what=f"a draft: audit seal {registration.id}")


def _repeated(context: Context) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for registration in context.registrations.values():
        asked = (_plain(item.model_dump(mode="json", exclude=BESIDE)) for item in registration.predictions)
        digest = digest_value(sorted(map(digest_value, asked)))  # in whatever order they stand
        first = seen.setdefault(digest, registration.id)
        if first != registration.id:
            place = f"{context.config.paths.prereg}/{registration.id}.yaml"
            yield Finding(
                code="A111", place=place, what=f"registers the predictions of {first} again", cure="drop it: other seeds are not a new question"
            )


def _plain(value: Any) -> Any:
    """The value with each number as a float: 2 and 2.0 ask the same."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return float(value) if type(value) is int and abs(value) < 2**53 else value
